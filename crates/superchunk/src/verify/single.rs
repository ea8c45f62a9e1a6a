//! Things of one part: a chunk, a NumPy file, a Bloscpack file.

use std::path::Path;

use super::report::{Level, Verdict};
use super::walk::{Walk, verdict_of};
use crate::chunk::{Decoder, Header};
use crate::container::Integrity;
use crate::error::{Error, Result};
use crate::npy;
use crate::place::Place;
use crate::schunk::Depth;

/// The most of a NumPy file that its header takes.
const NPY_HEADER: u64 = 1 << 20;

/// Looks at a chunk that is all of a file.
pub(super) fn chunk(walk: &mut Walk<'_>, path: &Path) -> Result<()> {
    let file = Place::Path(path).store(walk.options.open.offset)?;
    let limits = walk.options.open.limits;
    let len = usize::try_from(file.len()?).unwrap_or(usize::MAX);
    limits.check_decoded(len)?;
    let mut bytes = vec![0; len];
    file.read_exact_at(0, &mut bytes)?;
    let Some(header) = walk.report.result(Level::Structure, Header::parse(&bytes)) else {
        return Ok(());
    };
    walk.choose(1);
    if !walk.report.wants(Level::Decode) {
        return Ok(());
    }
    walk.expect(header.byte_len() as u64, 1);
    limits.check_decoded(header.byte_len())?;
    if !walk.goes_on(header.byte_len()) {
        return Ok(());
    }
    let decoder =
        Decoder::new().with_limits(limits).with_executor(walk.options.open.executor.clone());
    let mut decoder = decoder.with_registry(walk.options.open.registry.clone());
    match decoder.decompress(&bytes).and_then(|_| decoder.check_marks(&bytes)) {
        Ok(()) => {
            walk.report.count(Level::Decode, Verdict::Verified);
            walk.report.by_decoding += 1;
        }
        Err(error) => {
            let verdict = verdict_of(&error, Depth::Decode, Integrity::None);
            let error = error.within(path.display().to_string());
            walk.report.tell(Level::Decode, verdict, Some(0), error);
        }
    }
    Ok(())
}

/// Looks at the header of a NumPy file, and whether as many items follow.
pub(super) fn numpy(walk: &mut Walk<'_>, path: &Path) -> Result<()> {
    let file = Place::Path(path).store(walk.options.open.offset)?;
    let len = file.len()?;
    let mut start = vec![0; usize::try_from(len.min(NPY_HEADER)).unwrap_or(0)];
    file.read_exact_at(0, &mut start)?;
    let header = npy::read_header(&start).map_err(|error| error.within(path.display().to_string()));
    let Some(header) = walk.report.result(Level::Structure, header) else { return Ok(()) };
    let needed =
        header.data_len().map(|data| (header.data_offset as u64).saturating_add(data as u64));
    let fits = needed.and_then(|needed| match needed <= len {
        true => Ok(()),
        false => Err(Error::truncated(format!("{needed} bytes are stated, {len} are here"))
            .within(path.display().to_string())),
    });
    walk.report.result(Level::Structure, fits);
    Ok(())
}

/// Looks at a Bloscpack file.
#[cfg(feature = "bloscpack")]
pub(super) fn pack(walk: &mut Walk<'_>, path: &Path) -> Result<()> {
    use crate::bloscpack::{Checksum, Pack};
    let open = walk.options.open.clone().with_unchecked_digests(false);
    let pack = match Pack::open_with(path, &open.clone().with_lenient(false)) {
        Ok(pack) => {
            walk.report.count(Level::Structure, Verdict::Verified);
            pack
        }
        Err(error) if super::is_damage(&error) => {
            walk.report.tell(Level::Structure, Verdict::Corrupt, None, &error);
            // Where the header contradicts the chunks, these can be looked at nevertheless.
            match Pack::open_with(path, &open.with_lenient(true)) {
                Ok(pack) => pack,
                Err(_) => return Ok(()),
            }
        }
        Err(error) => return Err(error),
    };
    let Some(data) = walk.report.result(Level::Index, pack.superchunk()) else { return Ok(()) };
    walk.expect(data.byte_len(), data.chunk_count() as u64);
    walk.chunks(data);
    let checksum = pack.header().checksum;
    walk.report.checksums = if checksum == Checksum::None { "none" } else { checksum.name() };
    if let (Some(array), true) = (pack.array(), walk.report.wants(Level::Files)) {
        let fits = match array.byte_len() == Some(data.byte_len()) {
            true => Ok(()),
            false => Err(Error::corrupt(format!(
                "the metadata says an array of another length than the {} bytes there are",
                data.byte_len()
            ))
            .within(path.display().to_string())),
        };
        walk.report.result(Level::Files, fits);
    }
    Ok(())
}
