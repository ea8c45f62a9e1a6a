//! Whatever is at a path, into a new file or folder.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;

use super::report::Report;
use super::{bcolz, blsk, columns, frame, sparse};
use crate::detect::{self, Format};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::Kind;
use crate::limits::Limits;
use crate::schunk::{FrameOptions, SuperChunk};
use crate::store::{FileReader, Folder, ReadAt};

/// Recovers what can be recovered of the file or folder `from` into a new one at `to`, of the same
/// format; returns what was found and the number of bytes that the result holds.
///
/// After an error there may be something at `to` that is of no use.
pub fn path(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    limits: &Limits,
) -> Result<(Report, u64)> {
    let (from, to) = (from.as_ref(), to.as_ref());
    if from.is_dir() { folder(from, to, limits) } else { file(from, to, limits) }
}

/// A tree of `blsk` and a folder of bcolz have no file in common by which they could be taken for
/// each other; the index of a sparse frame may be what is missing.
fn folder(from: &Path, to: &Path, limits: &Limits) -> Result<(Report, u64)> {
    let dir = Folder::open(from)?;
    match detect::path(from).map(|found| found.format) {
        Ok(Format::SparseFrame) => return sparse_folder(&dir, to, limits),
        Ok(Format::Columns) => return columns(from, to, limits).map(counted),
        _ => {}
    }
    let mut refusal = None;
    for rebuild in [blsk, bcolz] {
        match rebuild(&dir, Arc::new(Folder::create(to)?), limits) {
            Ok(report) => return Ok(counted(report)),
            Err(error) if is_of_another_format(&error) => {
                let removed = fs::remove_dir_all(to);
                removed.map_err(|error| named(to, "cannot remove it", error))?;
                refusal = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    sparse_folder(&dir, to, limits).map_err(|error| match refusal {
        Some(first) if is_of_another_format(&error) => first,
        _ => error,
    })
}

fn sparse_folder(dir: &Folder, to: &Path, limits: &Limits) -> Result<(Report, u64)> {
    let create = &mut |options: &FrameOptions| {
        SuperChunk::create(to, &options.clone().with_kind(Kind::Sparse))
    };
    close(sparse(dir, create, limits)?)
}

/// Without its start nobody knows what a file was: the chunks of frames are not those of Bloscpack
/// files.
fn file(from: &Path, to: &Path, limits: &Limits) -> Result<(Report, u64)> {
    let source = FileReader::open(from)?;
    let mut start = [0; 4];
    let is_pack = source.read_at(0, &mut start).is_ok() && start == *b"blpk";
    if is_pack {
        return pack_file(&source, to, limits);
    }
    let create = &mut |options: &FrameOptions| SuperChunk::create(to, options);
    match frame(&source, create, limits) {
        Err(first) if is_of_another_format(&first) => pack_file(&source, to, limits)
            .map_err(|error| if is_of_another_format(&error) { first } else { error }),
        saved => close(saved?),
    }
}

#[cfg(feature = "bloscpack")]
fn pack_file(source: &FileReader, to: &Path, limits: &Limits) -> Result<(Report, u64)> {
    let failed = |error: io::Error| named(to, "cannot write", error);
    let mut out = BufWriter::new(File::create(to).map_err(failed)?);
    let report = super::pack(source, &mut out, limits)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    let bytes = recovered(&report);
    Ok((report, bytes))
}

#[cfg(not(feature = "bloscpack"))]
fn pack_file(_source: &FileReader, _to: &Path, _limits: &Limits) -> Result<(Report, u64)> {
    Err(Error::corrupt("nothing of a frame can be read").within("salvage"))
}

/// Whether a salvage has found nothing of what it looks for. A failed write or a limit does not mean
/// that the input has another format.
fn is_of_another_format(error: &Error) -> bool {
    error.kind() == ErrorKind::Corrupt
}

fn close((saved, report): (SuperChunk, Report)) -> Result<(Report, u64)> {
    let bytes = saved.len();
    saved.close()?;
    Ok((report, bytes))
}

fn counted(report: Report) -> (Report, u64) {
    let bytes = recovered(&report);
    (report, bytes)
}

/// The bytes of all chunks that were found, those of all columns included.
fn recovered(report: &Report) -> u64 {
    let own = report.pieces.iter().map(|piece| piece.len as u64);
    own.chain(report.columns.iter().map(|(_, column)| recovered(column))).sum()
}

fn named(path: &Path, words: &str, error: io::Error) -> Error {
    Error::io(words, error).within(path.display().to_string())
}
