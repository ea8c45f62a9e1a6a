//! What a location holds, opened for reading: frames, Bloscpack files, chunks, arrays, objects, plain
//! bytes.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use superchunk::bloscpack::Pack;
use superchunk::detect::{Detected, Format};
use superchunk::store::{FileReader, ReadAt};
use superchunk::{DType, Opened, StoredChunk, SuperChunk, Value};

use crate::arrays::{self, Array};
use crate::attributes;
use crate::context::Context;
use crate::decoding::Decoding;
use crate::failure::{Exit, Failure, Outcome};
use crate::foreign;
use crate::location::Location;
use crate::memory::{Memory, to_usize};
use crate::objects::ObjectList;
use crate::opened::{Found, Held};
use crate::scratch::Scratch;
use crate::sizes::stored_of_path;
use crate::span::Span;
use crate::values::{guess, parse_dtype};

/// How much of plain bytes is read at once.
const PIECE: usize = 1 << 20;

/// Something opened.
pub(crate) struct Input {
    /// How to call it.
    pub(crate) name: String,
    /// How a document calls it.
    pub(crate) value: Value,
    /// Where it is, which for stdin is a temporary file.
    pub(crate) path: PathBuf,
    /// What it was recognised as.
    pub(crate) detected: Detected,
    /// What it holds.
    pub(crate) content: Content,
    /// The slice that was asked for.
    pub(crate) slice: Option<String>,
    /// How much of it may be held at once.
    pub(crate) memory: Memory,
    /// Keeps the bytes of stdin.
    _spool: Option<Scratch>,
}

/// What something holds.
pub(crate) enum Content {
    /// A frame that is no array.
    Frame(Box<SuperChunk>),
    /// A chunk, whole.
    Chunk(Box<StoredChunk>),
    /// An array of any number of axes.
    Array(Array),
    /// A Bloscpack file of bytes.
    Pack(Box<Pack>),
    /// Texts, bytes or values of any length, in a frame or a Bloscpack file.
    Objects(ObjectList),
    /// Plain bytes.
    Raw(RawFile),
}

/// A file of plain bytes.
pub(crate) struct RawFile {
    reader: FileReader,
    len: u64,
}

impl Input {
    /// Opens a location.
    pub(crate) fn open(location: &Location, context: &Context) -> Outcome<Self> {
        Self::of(Found::at(location)?, context)
    }

    /// Opens what was found, which is not a table.
    pub(crate) fn of(found: Found, context: &Context) -> Outcome<Self> {
        if found.is_table() {
            return Err(found.refuse("a file or a sparse frame"));
        }
        let memory = context.memory();
        let content = match found.open(context)? {
            Held::Opened(opened) => content_of(opened, &found.path, memory)?,
            Held::Raw(reader) => {
                let len = reader.len()?;
                Content::Raw(RawFile { reader, len })
            }
        };
        let (name, value) = (found.location.name(), found.location.value());
        let (path, detected) = (found.path.clone(), found.detected.clone());
        let slice = found.location.slice.clone();
        let _spool = found.into_spool();
        Ok(Self { name, value, path, detected, content, slice, memory, _spool })
    }

    /// The super-chunk behind it, if there is one.
    pub(crate) fn frame(&self) -> Option<&SuperChunk> {
        match &self.content {
            Content::Frame(frame) => Some(frame),
            Content::Array(array) => array.frame(),
            Content::Objects(list) => list.frame(),
            Content::Chunk(_) | Content::Pack(_) | Content::Raw(_) => None,
        }
    }

    /// The Bloscpack file that it is, if it is one.
    pub(crate) fn pack(&self) -> Option<&Pack> {
        match &self.content {
            Content::Pack(pack) => Some(pack),
            Content::Array(array) => array.pack(),
            Content::Objects(list) => list.pack(),
            Content::Frame(_) | Content::Chunk(_) | Content::Raw(_) => None,
        }
    }

    /// The same, or a failure that says that it is none.
    pub(crate) fn need_pack(&self) -> Outcome<&Pack> {
        self.pack().ok_or_else(|| self.refuse("a Bloscpack file"))
    }

    /// The chunks of a frame or a Bloscpack file.
    pub(crate) fn chunks(&self) -> Outcome<Option<&SuperChunk>> {
        match self.pack() {
            Some(pack) => Ok(Some(pack.superchunk()?)),
            None => Ok(self.frame()),
        }
    }

    /// The values that travel with the data, by name.
    pub(crate) fn attributes(&self) -> Outcome<Vec<(String, Value)>> {
        if let Some(pack) = self.pack() {
            return Ok(attributes::of_pack(pack));
        }
        let Some(frame) = self.frame() else { return Ok(Vec::new()) };
        let mut decoding = self.decoding();
        let mut value =
            |name: &str| Ok((name.to_owned(), decoding.value(&frame.attribute_bytes(name)?)?));
        frame.attribute_names().map(&mut value).collect()
    }

    /// The same without what says how the data is to be understood: what goes along into other
    /// formats.
    pub(crate) fn free_attributes(&self) -> Outcome<Vec<(String, Value)>> {
        match (self.pack(), &self.content) {
            (Some(pack), _) => Ok(attributes::free_of_pack(pack)),
            (None, Content::Objects(_)) => Ok(attributes::free_of_objects(self.attributes()?)),
            (None, _) => self.attributes(),
        }
    }

    /// Decodes its metalayers and attributes.
    pub(crate) fn decoding(&self) -> Decoding<'_> {
        Decoding::new(&self.name, self.memory)
    }

    /// The super-chunk behind it, or a failure that says that there is none.
    pub(crate) fn need_frame(&self) -> Outcome<&SuperChunk> {
        self.frame().ok_or_else(|| self.refuse("a frame"))
    }

    /// Refuses plain bytes: there is nothing to unpack.
    pub(crate) fn need_packed(&self) -> Outcome {
        match &self.content {
            Content::Raw(_) => Err(self.refuse("packed")),
            _ => Ok(()),
        }
    }

    /// Refuses it, because a table is needed.
    pub(crate) fn refuse_as_table(&self) -> Failure {
        foreign::refuse_as_table(&self.name, &self.path, &self.detected)
    }

    /// Refuses it, because the command takes something else.
    pub(crate) fn refuse(&self, wanted: &str) -> Failure {
        foreign::refuse(&self.name, &self.path, &self.detected, wanted)
    }

    /// The bytes of one item.
    pub(crate) fn item_size(&self) -> usize {
        match &self.content {
            Content::Frame(frame) => frame.item_size(),
            Content::Chunk(chunk) => chunk.header().item_size().max(1),
            Content::Array(array) => array.item_size(),
            Content::Pack(pack) => pack.superchunk().map_or(1, SuperChunk::item_size),
            Content::Objects(_) | Content::Raw(_) => 1,
        }
    }

    /// The decoded length.
    pub(crate) fn len(&self) -> u64 {
        match &self.content {
            Content::Frame(frame) => frame.byte_len(),
            Content::Chunk(chunk) => chunk.header().byte_len() as u64,
            Content::Array(array) => array.len(),
            Content::Pack(pack) => pack.superchunk().map_or(0, SuperChunk::byte_len),
            Content::Objects(list) => list.data().map_or(0, SuperChunk::byte_len),
            Content::Raw(file) => file.len,
        }
    }

    /// The decoded length of the slice, or of all.
    pub(crate) fn selected_len(&self) -> Outcome<u64> {
        let size = self.item_size() as u64;
        Ok(match (&self.content, &self.slice) {
            (_, None) => self.len(),
            (Content::Array(array), Some(slice)) => {
                let sides = array.shape_of(Some(slice))?;
                sides.into_iter().fold(size, u64::saturating_mul)
            }
            (Content::Objects(list), slice) => list.len_of(list.span(slice.as_deref())?.count())?,
            (_, Some(slice)) => Span::parse(slice, self.len() / size)?.count().saturating_mul(size),
        })
    }

    /// The number of items of this type that the slice, or all of it, consists of.
    pub(crate) fn item_count(&self, dtype: &DType) -> Outcome<u64> {
        let (len, size) = (self.selected_len()?, dtype.item_size().max(1) as u64);
        if len.is_multiple_of(size) {
            return Ok(len / size);
        }
        let words = format!(
            "`{}` has {len} bytes, items of type {dtype} need a multiple of {size}: {} left over",
            self.name,
            len % size
        );
        Err(Failure::usage(words)
            .with_help("`cat --format hex` and `unpack --raw` take any number of bytes"))
    }

    /// Refuses to decode, all or the slice, what is out of proportion to what is stored.
    pub(crate) fn check_expansion(&self, context: &Context) -> Outcome {
        self.check_expansion_to(self.selected_len()?, context)
    }

    /// Refuses to decode this many bytes if they are out of proportion to what is stored.
    pub(crate) fn check_expansion_to(&self, len: u64, context: &Context) -> Outcome {
        context.check_output(&self.name, len, stored_of_path(&self.path))
    }

    /// Whether it is an array whose items have fields, and so a table.
    pub(crate) fn has_fields(&self) -> bool {
        let Content::Array(array) = &self.content else { return false };
        let is_structure =
            DType::parse(&array.dtype()).is_ok_and(|dtype| !dtype.fields().is_empty());
        is_structure && array.shape().len() == 1
    }

    /// How items are to be printed, if the data tells.
    pub(crate) fn dtype(&self) -> Option<String> {
        match &self.content {
            Content::Array(array) => Some(array.dtype()),
            Content::Frame(frame) => frame.attribute("dtype").ok()?.as_str().map(str::to_owned),
            Content::Pack(pack) => {
                // Others may mean something else by the word.
                let text = pack.metadata()?.get("dtype")?.as_str()?;
                DType::parse(text).is_ok().then(|| text.to_owned())
            }
            Content::Chunk(_) | Content::Objects(_) | Content::Raw(_) => None,
        }
    }

    /// What an array of the same items is; those of no axes lie along one.
    pub(crate) fn type_and_shape(&self) -> Outcome<(DType, Vec<u64>)> {
        let dtype = match self.dtype() {
            Some(text) => parse_dtype(&text)?,
            None => guess(self.item_size())?,
        };
        let shape = match &self.content {
            Content::Array(array) => array.shape().to_vec(),
            _ => vec![self.item_count(&dtype)?],
        };
        Ok((dtype, shape))
    }

    /// A good number of bytes to read at once, a multiple of what can be read.
    pub(crate) fn piece(&self) -> usize {
        match &self.content {
            Content::Frame(frame) => frame.chunk_size().unwrap_or(PIECE),
            Content::Array(array) => array.piece(self.memory),
            Content::Pack(pack) => {
                pack.superchunk().ok().and_then(SuperChunk::chunk_size).unwrap_or(PIECE).max(1)
            }
            Content::Chunk(_) | Content::Objects(_) | Content::Raw(_) => PIECE,
        }
    }

    /// What can be read at once is a multiple of this many bytes: a row of an array, else an item.
    pub(crate) fn unit(&self) -> usize {
        match &self.content {
            Content::Array(array) => array.row(),
            _ => self.item_size(),
        }
    }

    /// Reads decoded bytes, in C order; an array only whole rows of its first axis.
    pub(crate) fn read(&self, range: Range<u64>, dst: &mut [u8]) -> Outcome {
        match &self.content {
            Content::Frame(frame) => Ok(frame.read_bytes(range, dst)?),
            Content::Array(array) => array.read(range, dst),
            Content::Pack(pack) => Ok(pack.superchunk()?.read_bytes(range, dst)?),
            Content::Objects(list) => Ok(list.data()?.read_bytes(range, dst)?),
            Content::Raw(file) => Ok(file.reader.read_exact_at(range.start, dst)?),
            Content::Chunk(chunk) => {
                let range = to_usize(range.start)?..to_usize(range.end)?;
                chunk.read_bytes(range, dst)?;
                Ok(())
            }
        }
    }

    /// Calls `take` with the decoded bytes, or those of the slice, piece by piece.
    pub(crate) fn pieces(&self, take: &mut dyn FnMut(&[u8]) -> Outcome) -> Outcome {
        match (&self.content, &self.slice) {
            (Content::Array(array), Some(slice)) => array.pieces_of(slice, take),
            (_, Some(slice)) => {
                let span = Span::parse(slice, self.len() / self.item_size() as u64)?;
                self.items(span, take)
            }
            (_, None) => self.bytes(0..self.len(), take),
        }
    }

    /// Calls `take` with some of the items, piece by piece. Not for arrays.
    pub(crate) fn items(&self, span: Span, take: &mut dyn FnMut(&[u8]) -> Outcome) -> Outcome {
        let size = self.item_size() as u64;
        if span.step == 1 {
            return self.bytes(span.start * size..span.stop * size, take);
        }
        self.check_held(size)?;
        let mut item = vec![0; self.item_size()];
        let mut at = span.start;
        while at < span.stop {
            self.read(at * size..(at + 1) * size, &mut item)?;
            take(&item)?;
            at = at.saturating_add(span.step);
        }
        Ok(())
    }

    /// Refuses to hold `len` bytes of it at once if that is beyond the limits.
    pub(crate) fn check_held(&self, len: u64) -> Outcome {
        self.memory.check(&self.name, len)
    }

    fn bytes(&self, range: Range<u64>, take: &mut dyn FnMut(&[u8]) -> Outcome) -> Outcome {
        let piece = self.piece().max(1) as u64;
        let longest = piece.min(range.end - range.start);
        self.check_held(longest)?;
        let mut buffer = vec![0; to_usize(longest)?];
        let mut at = range.start;
        while at < range.end {
            // Up to where a chunk ends: whole chunks decode fastest.
            let end = ((at / piece + 1) * piece).min(range.end);
            let part = buffer.get_mut(..to_usize(end - at)?).unwrap_or_default();
            self.read(at..end, part)?;
            take(part)?;
            at = end;
        }
        Ok(())
    }
}

fn content_of(opened: Opened, path: &Path, memory: Memory) -> Outcome<Content> {
    Ok(match opened {
        Opened::SuperChunk(frame) => Content::Frame(frame),
        Opened::Array(array) => Content::Array(Array::Frame(array)),
        Opened::Objects(list) => Content::Objects(ObjectList::Frame(list)),
        Opened::Chunk(chunk) => Content::Chunk(chunk),
        Opened::Pack(pack) => content_of_pack(pack, memory)?,
        Opened::Npy(file) => Content::Array(arrays::of_npy(file, path, memory)?),
        other => {
            let words = format!("`{}` is {other}", path.display());
            return Err(Failure::said(Exit::Unsupported, words));
        }
    })
}

/// What a Bloscpack file holds.
fn content_of_pack(pack: Box<Pack>, memory: Memory) -> Outcome<Content> {
    if pack.has_objects() {
        return Ok(Content::Objects(ObjectList::Pack(pack)));
    }
    Ok(match arrays::of_pack(pack, memory)? {
        Ok(array) => Content::Array(array),
        Err(pack) => Content::Pack(pack),
    })
}

/// Whether an input can be read only once: stdin, a pipe or a device.
pub(crate) fn is_stream(input: &OsStr) -> bool {
    let found = Path::new(input).metadata();
    input == "-" || found.is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// An input that is packed itself: what is in it is decoded and appended, unless it is out of
/// proportion to what is stored.
pub(crate) fn packed(input: &OsString, context: &Context) -> Outcome<Option<Input>> {
    let packed = opened(input, context)?;
    packed.as_ref().map_or(Ok(()), |packed| packed.check_expansion(context))?;
    Ok(packed)
}

/// An input that is packed itself.
pub(crate) fn opened(input: &OsString, context: &Context) -> Outcome<Option<Input>> {
    if is_stream(input) {
        return Ok(None);
    }
    let found = Found::at_path(Path::new(input))?;
    if found.format() == Format::Raw {
        return Ok(None);
    }
    Input::of(found, context).map(Some)
}
