//! What a file, a folder or a buffer is, by content and never by name, with the reason.
//!
//! | format | told by |
//! |---|---|
//! | contiguous frame | `b2frame` and a zero byte from byte 2 on |
//! | sparse frame | a folder with a `chunks.b2frame` |
//! | Bloscpack file | `blpk` and a version of at most 4 |
//! | superchunk file | the four bytes `blsk` |
//! | blsk tree | a folder with `meta/nrows` and a folder `data` |
//! | bcolz table | a folder with a `__rootdirs__` |
//! | bcolz array | a folder with `meta/sizes` and `meta/storage` |
//! | folder of columns | a folder with a `columns.json` and arrays in `.b2nd` files |
//! | NumPy file | the six bytes `93 'NUMPY'` |
//! | chunk | nothing but itself: the header is valid and its `cbytes` is the length of the whole |
//! | raw | none of these |
//!
//! A chunk has no magic, so the others are tried first. A format that is recognised may still be
//! damaged: opening it tells.

mod names;

#[cfg(any(unix, windows))]
use std::path::Path;

use crate::chunk::Header;
#[cfg(any(unix, windows))]
use crate::columns;
#[cfg(any(unix, windows))]
use crate::error::Error;
use crate::error::Result;
#[cfg(any(unix, windows))]
use crate::frame::INDEX;
#[cfg(any(unix, windows))]
use crate::store::FileReader;
use crate::store::ReadAt;
use crate::superfile;
use crate::wire;

/// How many bytes of the start are looked at.
pub const START: usize = 64;

const FRAME_MAGIC: &[u8] = b"b2frame\0";
const BLOSCPACK_MAGIC: &[u8] = b"blpk";
/// The last version of Bloscpack that is known.
const BLOSCPACK_VERSION: u8 = 4;
/// Textures of Blizzard's games have the extension of Bloscpack files.
const TEXTURES: [&[u8]; 2] = [b"BLP1", b"BLP2"];
const NPY_MAGIC: &[u8] = b"\x93NUMPY";

/// What something is.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A contiguous frame of any revision.
    Frame,
    /// A folder with a sparse frame.
    SparseFrame,
    /// A folder with an array of bcolz, carray or BLZ.
    BcolzArray,
    /// A folder with a table of bcolz, carray or BLZ.
    BcolzTable,
    /// One Blosc1 or Blosc2 chunk and nothing else.
    Chunk,
    /// A Bloscpack file of any version.
    Bloscpack,
    /// An array as NumPy stores it.
    Npy,
    /// A folder with an array or a table of the carray proposal.
    Blsk,
    /// A file of such a folder: some of its chunks.
    BlskFile,
    /// A folder with an array in a frame for each column of a table.
    Columns,
    /// Bytes of no known format.
    Raw,
}

/// A format, and why it is thought to be that.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    /// What it is.
    pub format: Format,
    /// Why, as half a sentence.
    pub reason: &'static str,
}

/// Tells what a file or folder is.
///
/// # Errors
///
/// `NotFound` or `Io` when it cannot be read, `Unsupported` for a folder of no known format.
#[cfg(any(unix, windows))]
pub fn path(path: impl AsRef<Path>) -> Result<Detected> {
    let path = path.as_ref();
    if !path.is_dir() {
        return store(&FileReader::open(path)?);
    }
    folder(|name| path.join(name).exists()).or_else(|error| match columns::are_in(path) {
        true => Ok(Detected {
            format: Format::Columns,
            reason: "a folder with a file columns.json and an array for each column",
        }),
        false => Err(error.within(path.display().to_string())),
    })
}

/// Tells what a folder is in which these files are.
#[cfg(any(unix, windows))]
fn folder(has: impl Fn(&str) -> bool) -> Result<Detected> {
    let found = |format, reason| Ok(Detected { format, reason });
    // A table may have columns called `meta` and `data`.
    if has("__rootdirs__") {
        return found(Format::BcolzTable, "a folder with a file __rootdirs__");
    }
    if has(INDEX) {
        return found(Format::SparseFrame, "a folder with a file chunks.b2frame");
    }
    if has("meta/sizes") && has("meta/storage") {
        return found(Format::BcolzArray, "a folder with the files meta/sizes and meta/storage");
    }
    if has("meta/nrows") && has("data") {
        return found(Format::Blsk, "a folder with a file meta/nrows and a folder data");
    }
    let words = if has("metadata.json") {
        "this folder looks like Zipline's minute bars, which are a table for each asset: name one of \
         them, such as 00/00/000001.bcolz"
            .to_owned()
    } else if has("meta/storage") {
        "this folder is a bcolz array whose making was interrupted: it has no `meta/sizes`"
            .to_owned()
    } else {
        format!(
            "this folder is of no known format: it has no `{INDEX}`, `__rootdirs__` or `meta/sizes`"
        )
    };
    Err(Error::unsupported(words))
}

/// Tells what a store holds.
///
/// # Errors
///
/// When it cannot be read.
pub fn store(store: &dyn ReadAt) -> Result<Detected> {
    let mut start = [0; START];
    let found = store.read_at(0, &mut start)?;
    Ok(bytes(wire::filled(&start, found)?, store.len()?))
}

/// Tells what `len` bytes are that begin with `start`, of which [`START`] bytes are enough.
///
/// ```
/// use superchunk::detect::{self, Format};
/// use superchunk::{chunk, CompressOptions};
///
/// let chunk = chunk::compress(b"some bytes", &CompressOptions::new(1))?;
/// assert_eq!(detect::bytes(&chunk, chunk.len() as u64).format, Format::Chunk);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[must_use]
pub fn bytes(start: &[u8], len: u64) -> Detected {
    let (format, reason) = if start.get(2..10) == Some(FRAME_MAGIC) {
        (Format::Frame, "it says `b2frame` in its header")
    } else if start.starts_with(BLOSCPACK_MAGIC)
        && start.get(4).is_some_and(|version| (1..=BLOSCPACK_VERSION).contains(version))
    {
        (Format::Bloscpack, "it begins with `blpk` and a version")
    } else if TEXTURES.iter().any(|magic| start.starts_with(magic)) {
        (Format::Raw, "it is a texture of Blizzard's games, no Bloscpack file")
    } else if start.starts_with(NPY_MAGIC) {
        (Format::Npy, "it begins as NumPy files do")
    } else if start.starts_with(superfile::MAGIC) {
        (Format::BlskFile, "it begins with `blsk`, as files of chunks in a blsk tree do")
    } else if Header::parse(start).is_ok_and(|header| header.compressed_len() as u64 == len) {
        (Format::Chunk, "it begins with a valid chunk header, which states this length")
    } else {
        (Format::Raw, "it has the marks of no known format")
    };
    Detected { format, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{ChunkFormat, CompressOptions};
    use crate::schunk::{FrameOptions, SuperChunk};

    fn format_of(content: &[u8]) -> Format {
        let start = &content[..content.len().min(START)];
        bytes(start, content.len() as u64).format
    }

    #[test]
    fn every_format_is_known_by_its_bytes() {
        let options = FrameOptions::new(CompressOptions::new(4));
        let mut frame = SuperChunk::in_memory(&options).unwrap();
        frame.append(&[7; 4000]).unwrap();
        assert_eq!(format_of(&frame.to_bytes().unwrap()), Format::Frame);
        for generation in [ChunkFormat::Blosc1, ChunkFormat::Blosc2] {
            let options = CompressOptions::new(4).with_format(generation);
            for content in [&[][..], b"0123456789", &[7; 4000]] {
                let chunk = crate::chunk::compress(content, &options).unwrap();
                assert_eq!(format_of(&chunk), Format::Chunk, "{generation:?}");
            }
        }
        assert_eq!(format_of(b"\x93NUMPY\x01\x00"), Format::Npy);
        assert_eq!(format_of(b"blpk\x03\x01"), Format::Bloscpack);
        assert_eq!(format_of(b"blpk\x05\x01"), Format::Raw);
        assert_eq!(format_of(b"BLP2\x01\x00"), Format::Raw);
        assert_eq!(format_of(b"blsk\x01\x00\x00\x00"), Format::BlskFile);
        assert_eq!(format_of(b"just text"), Format::Raw);
        assert_eq!(format_of(b""), Format::Raw);
    }

    #[test]
    fn a_chunk_with_a_byte_more_or_less_is_raw() {
        let mut chunk = crate::chunk::compress(&[7; 4000], &CompressOptions::new(4)).unwrap();
        chunk.push(0);
        assert_eq!(format_of(&chunk), Format::Raw);
        chunk.truncate(chunk.len() - 2);
        assert_eq!(format_of(&chunk), Format::Raw);
    }

    #[test]
    #[cfg(any(unix, windows))]
    fn folders_are_known_by_their_files() {
        let of = |files: &[&str]| folder(|name| files.contains(&name)).map(|found| found.format);
        assert_eq!(of(&[INDEX]).unwrap(), Format::SparseFrame);
        assert_eq!(of(&["meta/sizes", "meta/storage"]).unwrap(), Format::BcolzArray);
        let table = ["meta/sizes", "meta/storage", "__rootdirs__"];
        assert_eq!(of(&table).unwrap(), Format::BcolzTable);
        for (files, words) in [
            (&[][..], "no known format"),
            (&["metadata.json"], "Zipline"),
            (&["meta/storage"], "making"),
        ] {
            let error = of(files).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn a_damaged_frame_is_still_a_frame() {
        let mut start = [0xff; START];
        start[2..10].copy_from_slice(FRAME_MAGIC);
        assert_eq!(format_of(&start), Format::Frame);
    }
}
