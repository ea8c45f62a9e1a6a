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
//! | store of python-blosc2 in a folder | a folder with an `embed.b2e` |
//! | store of python-blosc2 in a zip archive | `PK`, and a file `embed.b2e` in the archive's directory |
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
use crate::column_list;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::INDEX;
#[cfg(any(unix, windows))]
use crate::store::FileReader;
#[cfg(any(unix, windows))]
use crate::store::Window;
use crate::store::{Dir, ReadAt};
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
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// The start of an entry of a zip archive's directory.
const ZIP_ENTRY: &[u8] = b"PK\x01\x02";
/// The bytes of such an entry before the name of its file.
const ZIP_ENTRY_LEN: usize = 46;
/// The bytes at the end of a zip archive in which its directory is looked for. The entry of
/// `embed.b2e` is the last one in what python-blosc2 writes.
const ZIP_TAIL: u64 = 64 << 10;
/// The file that every store of python-blosc2 has.
const EMBEDDED: &str = "embed.b2e";

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
    /// A folder of python-blosc2 with a `DictStore`, a `TreeStore` or a `CTable` (`.b2d`).
    Blosc2Folder,
    /// The same in a zip archive (`.b2z`).
    Blosc2Zip,
    /// Bytes of no known format.
    Raw,
}

impl Format {
    /// What it is, as part of a sentence.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Frame => "a contiguous frame",
            Self::SparseFrame => "a sparse frame",
            Self::BcolzArray => "a bcolz array",
            Self::BcolzTable => "a bcolz table",
            Self::Chunk => "a single chunk",
            Self::Bloscpack => "a Bloscpack file",
            Self::Npy => "a .npy file",
            Self::Blsk => "a blsk tree",
            Self::BlskFile => "a file of chunks of a blsk tree",
            Self::Columns => "a folder of columns",
            Self::Blosc2Folder => "a store of python-blosc2 in a folder",
            Self::Blosc2Zip => "a store of python-blosc2 in a zip archive",
            Self::Raw => "of no known format",
        }
    }

    /// The type or function of this library that opens it, as part of a sentence; `None` if there
    /// is none.
    #[must_use]
    pub const fn opened_by(self) -> Option<&'static str> {
        match self {
            Self::Frame | Self::SparseFrame => Some("SuperChunk::open"),
            Self::BcolzArray => Some("bcolz::Array::open"),
            Self::BcolzTable => Some("bcolz::Table::open"),
            Self::Chunk => Some("chunk::decompress"),
            Self::Bloscpack => Some("bloscpack::Pack::open"),
            Self::Npy => Some("npy::read_header"),
            Self::Blsk => Some("blsk::Array::open or blsk::Table::open"),
            Self::Columns => Some("columns::ColumnFolder::open"),
            Self::BlskFile | Self::Blosc2Folder | Self::Blosc2Zip | Self::Raw => None,
        }
    }
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

impl Detected {
    /// A format that was recognised by what its files have in common.
    pub(crate) const fn of(format: Format) -> Self {
        let reason = match format {
            Format::Frame => "it says `b2frame` in its header",
            Format::SparseFrame => "a folder with a file chunks.b2frame",
            Format::BcolzArray => "a folder with the files meta/sizes and meta/storage",
            Format::BcolzTable => "a folder with a file __rootdirs__",
            Format::Chunk => "it begins with a valid chunk header, which states this length",
            Format::Bloscpack => "it begins with `blpk` and a version",
            Format::Npy => "it begins as NumPy files do",
            Format::Blsk => "a folder with a file meta/nrows and a folder data",
            Format::BlskFile => "it begins with `blsk`, as files of chunks in a blsk tree do",
            Format::Columns => "a folder with a file columns.json and an array for each column",
            Format::Blosc2Folder => "a folder with a file embed.b2e",
            Format::Blosc2Zip => "it is a zip archive with a file embed.b2e",
            Format::Raw => "it has the marks of no known format",
        };
        Self { format, reason }
    }
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
    folder(|name| path.join(name).exists()).or_else(|error| match column_list::are_in(path) {
        true => Ok(Detected::of(Format::Columns)),
        false => Err(error.within(path.display().to_string())),
    })
}

/// Tells what stands at byte `offset` of a file, or what a folder is.
#[cfg(any(unix, windows))]
pub(crate) fn path_at(at: &Path, offset: u64) -> Result<Detected> {
    match offset {
        0 => path(at),
        _ => store(&Window::new(FileReader::open(at)?, offset, None)),
    }
}

/// Tells what any folder is.
///
/// # Errors
///
/// `Unsupported` for a folder of no known format.
pub fn dir(dir: &dyn Dir) -> Result<Detected> {
    let has = |dir: &dyn Dir, name: &str| dir.open(name).is_ok() || dir.open_folder(name).is_ok();
    folder(|name| match name.split_once('/') {
        Some((inner, name)) => dir.open_folder(inner).is_ok_and(|inner| has(inner.as_ref(), name)),
        None => has(dir, name),
    })
}

/// Tells what a folder is in which these files are.
fn folder(has: impl Fn(&str) -> bool) -> Result<Detected> {
    let found = |format| Ok(Detected::of(format));
    // A table may have columns called `meta` and `data`.
    if has("__rootdirs__") {
        return found(Format::BcolzTable);
    }
    if has(INDEX) {
        return found(Format::SparseFrame);
    }
    if has("meta/sizes") && has("meta/storage") {
        return found(Format::BcolzArray);
    }
    if has("meta/nrows") && has("data") {
        return found(Format::Blsk);
    }
    if has(EMBEDDED) {
        let reason = match has("_meta.b2f") {
            true => "a folder with the files embed.b2e and _meta.b2f: a CTable of python-blosc2",
            false => "a folder with a file embed.b2e: a DictStore or TreeStore of python-blosc2",
        };
        return Ok(Detected { format: Format::Blosc2Folder, reason });
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
            "this folder is of no known format: it has no `{INDEX}`, `__rootdirs__`, `meta/sizes`, \
             `meta/nrows` or `columns.json`"
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
    let start = wire::filled(&start, found)?;
    if start.starts_with(ZIP_MAGIC) && is_zipped_store(store)? {
        return Ok(Detected::of(Format::Blosc2Zip));
    }
    Ok(bytes(start, store.len()?))
}

/// Whether the directory at the end of a zip archive names the file that every store has.
fn is_zipped_store(store: &dyn ReadAt) -> Result<bool> {
    let len = store.len()?;
    let mut tail = vec![0; usize::try_from(len.min(ZIP_TAIL)).unwrap_or_default()];
    store.read_exact_at(len - tail.len() as u64, &mut tail)?;
    let is_its_entry =
        |entry: &[u8]| entry.starts_with(ZIP_ENTRY) && entry.ends_with(EMBEDDED.as_bytes());
    Ok(tail.windows(ZIP_ENTRY_LEN + EMBEDDED.len()).any(is_its_entry))
}

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameContent {
    /// Bytes.
    Bytes,
    /// An N-d array.
    Array,
    /// Objects in batches.
    Objects,
    /// What only python-blosc2 reads; these words say what it is.
    Foreign(&'static str),
}

/// The metalayers by which python-blosc2 knows what a frame holds, in the order in which it asks.
const CONTENTS: [(&str, FrameContent); 12] = [
    ("b2remote_store", FrameContent::Foreign("a remote store of python-blosc2")),
    ("b2embed", FrameContent::Foreign("an EmbedStore of python-blosc2")),
    ("b2dict", FrameContent::Foreign("the index of a DictStore of python-blosc2")),
    ("b2tree", FrameContent::Foreign("the index of a TreeStore of python-blosc2")),
    ("proxy-source", FrameContent::Foreign("a cache of remote data, a Proxy of python-blosc2")),
    ("b2o", FrameContent::Foreign("a recipe of python-blosc2, which has no data of its own")),
    ("LazyArray", FrameContent::Foreign("a recipe of python-blosc2, which has no data of its own")),
    ("vlarray", FrameContent::Bytes),
    ("batcharray", FrameContent::Objects),
    ("superchunk_objects", FrameContent::Objects),
    ("b2nd", FrameContent::Array),
    ("caterva", FrameContent::Array),
];

/// What a frame with these metalayers holds.
pub(crate) fn frame_content(has: impl Fn(&str) -> bool) -> FrameContent {
    let found = CONTENTS.iter().find(|(name, _)| has(name));
    found.map_or(FrameContent::Bytes, |(_, content)| *content)
}

/// Says of a frame that does not hold what `wanted` opens what it holds and what opens it.
pub(crate) fn other_content(wanted: &str, has: impl Fn(&str) -> bool) -> Error {
    Error::not_found(match frame_content(has) {
        FrameContent::Bytes => format!("this frame holds bytes, not {wanted}: SuperChunk opens it"),
        FrameContent::Array => format!("this frame holds an array, not {wanted}: NdArray opens it"),
        FrameContent::Objects => {
            format!("this frame holds objects, not {wanted}: Objects opens it")
        }
        FrameContent::Foreign(what) => format!("this frame holds {what}, not {wanted}"),
    })
}

/// An error of a type that opens only some formats: if something of another known format is there,
/// it says what that is and what opens it.
pub(crate) fn explained(
    error: Error,
    formats: &[Format],
    look: impl FnOnce() -> Result<Detected>,
) -> Error {
    // These do not depend on the format.
    let is_of_any = matches!(
        error.kind(),
        ErrorKind::LimitExceeded
            | ErrorKind::Interrupted
            | ErrorKind::Locked
            | ErrorKind::Changed
            | ErrorKind::DurabilityUnknown
    );
    if is_of_any {
        return error;
    }
    match look() {
        Ok(found) if !formats.contains(&found.format) && found.format != Format::Raw => {
            let found = found.format;
            let words = match found.opened_by() {
                Some(opener) => format!("this is {}: {opener} opens it", found.description()),
                None => format!("this is {}, which cannot be opened", found.description()),
            };
            let named = Error::invalid(words);
            match error.subject() {
                Some(subject) => named.within(subject.to_owned()),
                None => named,
            }
        }
        _ => error,
    }
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
    if TEXTURES.iter().any(|magic| start.starts_with(magic)) {
        let reason = "it is a texture of Blizzard's games, no Bloscpack file";
        return Detected { format: Format::Raw, reason };
    }
    let is_bloscpack = start.starts_with(BLOSCPACK_MAGIC)
        && start.get(4).is_some_and(|version| (1..=BLOSCPACK_VERSION).contains(version));
    Detected::of(if start.get(2..10) == Some(FRAME_MAGIC) {
        Format::Frame
    } else if is_bloscpack {
        Format::Bloscpack
    } else if start.starts_with(NPY_MAGIC) {
        Format::Npy
    } else if start.starts_with(superfile::MAGIC) {
        Format::BlskFile
    } else if Header::parse(start).is_ok_and(|header| header.compressed_len() as u64 == len) {
        Format::Chunk
    } else {
        Format::Raw
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{ChunkFormat, CompressOptions};

    fn format_of(content: &[u8]) -> Format {
        let start = &content[..content.len().min(START)];
        bytes(start, content.len() as u64).format
    }

    #[test]
    fn every_format_is_known_by_its_bytes() {
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
