//! What the tests and benches of superchunk share; never published.
//!
//! - [`naive`]: a plain chunk decoder written from the format documents, the second opinion;
//! - [`peers`]: the real Blosc libraries, as processes;
//! - [`frame_peer`]: python-blosc2's super-chunks, as a process;
//! - [`nd_peer`]: python-blosc2's N-d arrays, as a process;
//! - [`objects_peer`]: python-blosc2's stores of objects, as a process;
//! - [`legacy_peer`]: bloscpack and bcolz, as a process;
//! - [`table_peer`]: NumPy as the judge of expressions, as a process;
//! - [`vectors`]: the conformance vectors and their indexes;
//! - [`datasets`]: the data that benches and size tests run on;
//! - [`samples`]: small buffers that reach every path of an encoder;
//! - [`scratch`]: folders for the files of a test;
//! - [`model`]: random changes of a super-chunk, beside a plain list of vectors;
//! - [`crash`]: a simulated disk that is cut off at any moment;
//! - [`corrupt`]: every truncation and mutation of a buffer;
//! - [`covering`]: fewer combinations of options that still hold every pair;
//! - [`entry_widths`]: frames whose index has entries of another width;
//! - [`trees`]: folders as lists of files, and random damages of them;
//! - [`alloc`]: how much memory a call takes at most;
//! - [`faulty`]: a codec and a filter that make mistakes;
//! - `fork`: a check in a forked child (Unix);
//! - `inject`: a process whose system calls fail, are cut short or are its last (Linux, x86-64);
//! - [`marks`]: the marks of chunks, and false ones;
//! - [`rng`], [`time`]: a deterministic generator, moments as text.

pub mod alloc;
pub mod corrupt;
pub mod covering;
pub mod crash;
pub mod datasets;
pub mod entry_widths;
pub mod faulty;
#[cfg(unix)]
pub mod fork;
mod fourier;
pub mod frame_peer;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod inject;
pub mod legacy_peer;
pub mod machine;
pub mod marks;
pub mod model;
pub mod naive;
pub mod nd_peer;
pub mod objects_peer;
pub mod peers;
mod process;
pub mod rng;
pub mod salvaged;
pub mod samples;
pub mod scratch;
pub mod table_peer;
mod talk;
pub mod time;
pub mod trees;
pub mod vectors;

use std::path::{Path, PathBuf};

/// The root of this repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
