//! What the fuzz targets do with their inputs.
//!
//! The package `fuzz` hands the inputs of libFuzzer to these functions; the tests of this crate
//! hand them the seeds and everything that was ever found. A target fails by panicking. What holds
//! for all of them: no input makes the library panic, break a rule of its own
//! ([`ErrorKind::Bug`](superchunk::ErrorKind::Bug)), take more memory than its
//! [`Limits`](superchunk::Limits) allow, or take long.
//!
//! | target | input | what must hold |
//! |---|---|---|
//! | `chunk_decode` | a chunk | whole, part, mask and block agree; so does the real C-Blosc2 where both accept |
//! | `chunk1_decode` | a Blosc1 chunk | the same, and the plain decoder of the test kit agrees too |
//! | `blosclz` | a stream or data of BloscLZ and LZ4 | a prefix is that of the whole; data come back, also a few bytes by marks |
//! | `zlib_zstd` | the same of Zlib and Zstandard | the same |
//! | `filters_roundtrip` | options and data | data come back, wholly and in part |
//! | `frame_open` | a contiguous frame | from memory and from elsewhere alike |
//! | `frame_file_ops` | changes of a super-chunk | always what a plain list of vectors holds |
//! | `sframe_dir` | the files of a sparse frame | |
//! | `b2nd_meta` | the metalayer of an array | |
//! | `vlmeta_msgpack` | a msgpack value | written and read again it is the same, also as JSON |
//! | `blp` | a Bloscpack file | from memory and from elsewhere alike |
//! | `bcolz_meta_json` | the files of a bcolz array and table | |
//! | `salvage` | remains of a frame, of a bcolz folder, of a blsk tree | what is recovered can be read |

#![expect(clippy::panic, reason = "a target fails by panicking")]

mod bcolz;
mod bounds;
mod c_blosc2;
mod chunks;
mod codecs;
mod entropy;
mod files;
mod filters;
mod frames;
mod input;
mod marks;
mod operations;
mod packs;
mod salvaging;
pub mod seeds;
mod values;

use superchunk_testkit::alloc::CountingAllocator;

/// Counts what every input makes the library take.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A fuzz target: its name and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 13] = [
    ("chunk_decode", chunks::chunk_decode),
    ("chunk1_decode", chunks::chunk1_decode),
    ("blosclz", codecs::blosclz),
    ("zlib_zstd", entropy::zlib_zstd),
    ("filters_roundtrip", filters::filters_roundtrip),
    ("frame_open", frames::frame_open),
    ("frame_file_ops", operations::frame_file_ops),
    ("sframe_dir", frames::sframe_dir),
    ("b2nd_meta", frames::b2nd_meta),
    ("vlmeta_msgpack", values::vlmeta_msgpack),
    ("blp", packs::blp),
    ("bcolz_meta_json", bcolz::bcolz_meta_json),
    ("salvage", salvaging::salvage),
];

/// Runs a target on an input.
///
/// # Panics
///
/// When the target finds something wrong, or there is none of that name.
pub fn run(target: &str, input: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    let (_, work) = found.unwrap_or_else(|| panic!("there is no fuzz target {target}"));
    work(input);
}
