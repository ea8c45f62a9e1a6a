//! Is it still what was written? Any container, level by level.
//!
//! | level | what is looked at |
//! |---|---|
//! | [`Structure`](Level::Structure) | headers, trailers and metadata can be read |
//! | [`Index`](Level::Index) | the index leads to valid chunk headers that fit their places |
//! | [`Checksums`](Level::Checksums) | fingerprints and checksums are right, where there are any |
//! | [`Decode`](Level::Decode) | every chunk decodes |
//! | [`Files`](Level::Files) | shapes and numbers of chunks, lengths of columns, files and folders agree |
//!
//! Every level takes in those before it. Chunks are read once, however many levels look at them. A
//! [`Sample`] looks at some chunks only.
//!
//! ```
//! use superchunk::verify::{self, VerifyOptions};
//! use superchunk::{CompressOptions, FrameOptions, SuperChunk};
//! # let folder = std::env::temp_dir().join(format!("superchunk-verify-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # let path = folder.join("numbers.b2frame");
//!
//! let mut numbers = SuperChunk::create(&path, &FrameOptions::new(CompressOptions::of::<u32>()))?;
//! numbers.append_items(&(0..1_000_000u32).map(|i| i % 1000).collect::<Vec<_>>())?;
//! numbers.close()?;
//!
//! let report = verify::path(&path, &VerifyOptions::new())?;
//! assert!(report.is_good());
//! assert_eq!((report.checksums, report.by_checksum), ("sealed", report.chunks));
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), superchunk::Error>(())
//! ```

#[cfg(any(unix, windows))]
mod column_files;
#[cfg(any(unix, windows))]
mod columns;
#[cfg(any(unix, windows))]
mod frames;
mod options;
mod report;
#[cfg(any(unix, windows))]
mod single;
#[cfg(any(unix, windows))]
mod stamp;
mod walk;

pub use options::{Sample, VerifyOptions};
pub use report::{Finding, Level, LevelReport, Verdict, VerifyReport};

#[cfg(any(unix, windows))]
use std::path::Path;

#[cfg(any(unix, windows))]
use crate::detect;
use crate::detect::Format;
use crate::error::Result;
#[cfg(any(unix, windows))]
use crate::error::{Error, ErrorKind};
use crate::schunk::SuperChunk;
use walk::Walk;

/// Looks at a super-chunk that is open, wherever it is kept; not at what its chunks are chunks of.
///
/// # Errors
///
/// [`ErrorKind::Interrupted`] if an observer has stopped it.
pub fn super_chunk(chunks: &SuperChunk, options: &VerifyOptions) -> Result<VerifyReport> {
    let mut walk = Walk::new(options, Format::Frame);
    walk.frame(chunks);
    walk.finish()
}

/// Looks at the file or folder `path`. The [observer](crate::Executor::with_observer) of the
/// executor is asked before each chunk, and learns how many bytes are to be looked at in all.
///
/// # Errors
///
/// Damage is no error but a finding of the report. Errors are what keeps from looking: files that cannot
/// be read, limits, codecs that this build does not have, formats that hold nothing to compare.
/// Where there seems to be damage and a writer was at work meanwhile, the error is
/// [`ErrorKind::Changed`].
#[cfg(any(unix, windows))]
pub fn path(path: impl AsRef<Path>, options: &VerifyOptions) -> Result<VerifyReport> {
    let path = path.as_ref();
    let before = stamp::stamp(path);
    let looked = look_at(path, options);
    let is_damaged = match &looked {
        Ok(report) => !report.is_good(),
        Err(error) => error.kind() != ErrorKind::Interrupted,
    };
    if is_damaged && stamp::stamp(path) != before {
        let words = "a writer has changed it while it was looked at: look again";
        return Err(Error::new(ErrorKind::Changed, words).within(path.display().to_string()));
    }
    looked
}

#[cfg(any(unix, windows))]
fn look_at(path: &Path, options: &VerifyOptions) -> Result<VerifyReport> {
    let detected = detect::path_at(path, options.open.offset)?;
    // It is asked here whether it goes on; nothing that is opened asks again.
    let mut quiet = options.clone();
    quiet.open.executor = options.open.executor.unobserved();
    let mut walk = Walk::new(&quiet, detected.format).asking(&options.open.executor);
    match detected.format {
        Format::Frame | Format::SparseFrame => frames::frame(&mut walk, path)?,
        Format::BcolzArray => columns::array(&mut walk, path)?,
        Format::BcolzTable => columns::table(&mut walk, path)?,
        Format::Blsk => columns::blsk(&mut walk, path)?,
        Format::Columns => column_files::folder(&mut walk, path)?,
        Format::Chunk => single::chunk(&mut walk, path)?,
        Format::Npy => single::numpy(&mut walk, path)?,
        #[cfg(feature = "bloscpack")]
        Format::Bloscpack => single::pack(&mut walk, path)?,
        _ => {
            let words = format!("it cannot be checked: {}", detected.reason);
            return Err(Error::unsupported(words).within(path.display().to_string()));
        }
    }
    walk.finish()
}

/// Whether an error tells of damage, and not of what keeps from looking.
#[cfg(any(unix, windows))]
fn is_damage(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated)
}
