//! Byte kernels of the Blosc formats: the only crate of this project that contains `unsafe`.
//!
//! A kernel is a safe function over slices (`fn(&[u8], &mut [u8])`). It performs no I/O, keeps no
//! global state but the CPU's detected features, and never panics on any input. Every kernel has a
//! scalar definition; each instruction set is a sibling file that is tested equal to it.
//!
//! | module | what it does |
//! |---|---|
//! | [`shuffle`] | transposes items into byte planes and back |
//! | [`bitshuffle`] | transposes items into bit planes and back |
//! | [`bytedelta`] | differences of neighbouring bytes, channel by channel |
//! | [`delta`] | XOR against the previous word or a reference block |
//! | [`truncate`] | clears low bits of words |
//! | [`extremes`] | finds the least and the greatest number |
//! | [`is_noise`], [`repetitions`] | tells what no codec can shorten, and what repeats itself |
//! | [`copy_far`], [`append_far`] | copy past the caches |
//! | [`boxes`] | copies rows that lie apart |
//! | [`runs`] | finds buffers that repeat one byte or one item |
//! | [`lz4`] | LZ4 blocks: fast encoder, high-compression encoder, decoder |
//! | [`blosclz`] | BloscLZ streams: encoder and decoder |
//! | [`deflate`], [`inflate`] | zlib streams: encoder, decoder |
//! | [`zstd`] | Zstandard frames: encoder and decoder |
//! | [`adler32()`] | the checksum of zlib streams |
//! | [`Wanted`] | which bytes of a stream are to be decoded |
//! | [`Marker`], [`Tracer`] | marks places of a stream, finds a few bytes by them |
//! | [`spoil()`] | nothing; in tests of this project a wrong byte, for what must notice it |
//! | `pool` | a fork-safe thread pool (feature `pool`) |

#![cfg_attr(not(any(feature = "pool", feature = "__internal-test", test)), no_std)]

extern crate alloc;

mod adler32;
pub mod bitshuffle;
pub mod blosclz;
pub mod boxes;
pub mod bytedelta;
mod common;
mod copy;
pub mod cpu;
pub mod deflate;
pub mod delta;
mod extremes;
mod far;
pub mod inflate;
pub mod lz4;
mod malformed;
mod marks;
mod noise;
#[cfg(feature = "pool")]
pub mod pool;
#[cfg(target_arch = "x86_64")]
mod rows512;
pub mod runs;
pub mod shuffle;
mod spoil;
mod trace;
pub mod truncate;
mod wanted;
pub mod zstd;

pub use adler32::adler32;
pub use extremes::{Extremes, extremes};
pub use far::{append_far, copy_far};
pub use malformed::Malformed;
pub use marks::{Mark, Marker};
pub use noise::{is_noise, repetitions};
pub use spoil::spoil;
pub use trace::Tracer;
pub use wanted::Wanted;
