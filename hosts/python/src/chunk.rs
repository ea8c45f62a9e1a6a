//! `compress`, `decompress` and `Compressor`: one buffer each way.
//!
//! Encoders and decoders are those that the calling thread keeps, so that the functions are as fast
//! as the object, and the object has nothing that threads would have to share.

use std::ops::Range;

use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use superchunk::chunk::{Content, Header};
use superchunk::detect::{self, Format};
use superchunk::{ChunkFormat, Error, FrameOptions, OpenOptions, Opened, SuperChunk};

use crate::buffers::{Input, Memory, new_bytes};
use crate::errors::Outcome;
use crate::options::{Choice, Filters};
use crate::signals::Watch;
use crate::threads;

/// The most bytes of a chunk.
const MAX_CHUNK: usize = i32::MAX as usize - 32;
/// The first byte of frames.
const FRAME_START: u8 = 0x9e;
/// The first byte of Bloscpack files.
const PACK_START: u8 = b'b';
/// The chunk size of a frame that is made because the bytes do not fit one chunk.
const FRAME_CHUNK: usize = 64 << 20;

/// Compresses the bytes of `data` into a chunk, which has the size of its items and needs nothing
/// else to be decompressed. More than 2 GiB become a frame.
///
/// With `out` the chunk is written to the start of that buffer, and its length is returned.
#[pyfunction]
#[pyo3(
    signature = (data, /, *, out = None, **options),
    text_signature = "(data, /, *, codec='lz4', level=5, filters='shuffle', typesize=None, \
                      blocksize=None, split='auto', dictionary=False, format='blosc2', \
                      marks=False, check=False, nthreads=None, cparams=None, out=None)"
)]
pub(crate) fn compress<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> Outcome<Bound<'py, PyAny>> {
    encode(py, &choice(options)?, data, out)
}

fn choice(options: Option<&Bound<'_, PyDict>>) -> Outcome<Choice> {
    let choice = Choice::from_all(options)?;
    if choice.filters == Some(Filters::Auto) {
        let words = "filters='auto' is for arrays: name the filters of a chunk";
        return Err(Error::invalid(words).into());
    }
    Ok(choice)
}

fn encode<'py>(
    py: Python<'py>,
    choice: &Choice,
    data: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
) -> Outcome<Bound<'py, PyAny>> {
    let input = Input::of(data)?;
    let (src, item_size) = (input.as_slice(), choice.item_size.unwrap_or(input.item_size()));
    let finish = |made: &[u8]| match out {
        None => Ok(PyBytes::new(py, made).into_any()),
        Some(out) => {
            let mut memory = Memory::of(out)?.apart_from(src)?;
            let room = memory.as_mut_slice().len();
            let place = memory.as_mut_slice().get_mut(..made.len()).ok_or_else(|| {
                Error::invalid(format!("out has {room} bytes, the result {}", made.len()))
            })?;
            place.copy_from_slice(made);
            Ok(made.len().into_pyobject(py).map_err(PyErr::from)?.into_any())
        }
    };
    if src.len() <= MAX_CHUNK {
        return threads::encode(py, choice, item_size, src, finish);
    }
    if choice.format == Some(ChunkFormat::Blosc1) {
        let words = format!(
            "{} bytes do not fit a Blosc1 chunk, which has at most {MAX_CHUNK}: cut them into \
             several, or use format='blosc2'",
            src.len()
        );
        return Err(PyOverflowError::new_err(words).into());
    }
    finish(&threads::run(py, src.len(), || frame(choice, item_size, src))?)
}

/// A frame of bytes that do not fit one chunk.
fn frame(choice: &Choice, item_size: usize, src: &[u8]) -> Outcome<Vec<u8>> {
    let chunk_size = FRAME_CHUNK / item_size.max(1) * item_size;
    let options = FrameOptions::new(choice.compress_options(item_size)).with_chunk_size(chunk_size);
    let mut frame = SuperChunk::in_memory(&options)?;
    let watch = Watch::new(None);
    for piece in src.chunks(chunk_size) {
        frame.append(piece)?;
        watch.step(frame.byte_len(), src.len() as u64)?;
    }
    Ok(frame.to_bytes()?)
}

/// Decompresses a chunk, a frame or a Bloscpack file to the bytes that it holds.
///
/// With `out` they are written to the start of that buffer, which is returned.
#[pyfunction]
#[pyo3(signature = (data, /, *, out = None, nthreads = None))]
pub(crate) fn decompress<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    nthreads: Option<usize>,
) -> Outcome<Bound<'py, PyAny>> {
    if let Some(out) = out {
        decompress_into(py, data, out, nthreads)?;
        return Ok(out.clone());
    }
    let input = Input::of(data)?;
    let bytes = input.as_slice();
    match Stored::of(bytes, nthreads)? {
        Stored::Chunk(len) => Ok(new_bytes(py, len, |memory| {
            threads::run(py, len, || decode(bytes, memory, nthreads).map(drop))
        })?
        .into_any()),
        Stored::Frame(frame) => {
            let len = length(&frame)?;
            Ok(new_bytes(py, len, |memory| threads::run(py, len, || read_all(&frame, memory)))?
                .into_any())
        }
    }
}

/// Decompresses into the start of a writable buffer, and returns the number of bytes.
#[pyfunction]
#[pyo3(signature = (data, out, /, *, nthreads = None))]
pub(crate) fn decompress_into<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
    nthreads: Option<usize>,
) -> Outcome<usize> {
    let input = Input::of(data)?;
    let bytes = input.as_slice();
    let mut memory = Memory::of(out)?.apart_from(bytes)?;
    let dst = memory.as_mut_slice();
    match Stored::of(bytes, nthreads)? {
        Stored::Chunk(len) => threads::run(py, len, || decode(bytes, dst, nthreads)),
        Stored::Frame(frame) => {
            let (len, room) = (length(&frame)?, dst.len());
            let dst = dst.get_mut(..len).ok_or_else(|| {
                Error::invalid(format!("there are {len} bytes, the buffer has {room}"))
            })?;
            threads::run(py, len, || read_all(&frame, dst))?;
            Ok(len)
        }
    }
}

fn decode(chunk: &[u8], dst: &mut [u8], nthreads: Option<usize>) -> Outcome<usize> {
    threads::with_decoder(nthreads, |decoder| Ok(decoder.decompress_into(chunk, dst)?))
}

/// Something compressed.
enum Stored {
    /// A chunk that decodes to so many bytes.
    Chunk(usize),
    /// A container that is a file.
    Frame(Box<Opened>),
}

impl Stored {
    fn of(bytes: &[u8], nthreads: Option<usize>) -> Outcome<Self> {
        // The first byte of a chunk is a small number.
        let starts_as_container = matches!(bytes.first(), Some(&(FRAME_START | PACK_START)));
        let is_container = || {
            let found = detect::bytes(bytes, bytes.len() as u64).format;
            matches!(found, Format::Frame | Format::Bloscpack)
        };
        if starts_as_container && is_container() {
            let options = OpenOptions::new().with_executor(threads::executor(nthreads));
            return Ok(Self::Frame(Box::new(options.open_bytes(bytes.to_vec())?)));
        }
        Ok(Self::Chunk(Header::parse(bytes)?.byte_len()))
    }
}

fn length(frame: &Opened) -> Outcome<usize> {
    let len = match frame {
        Opened::Array(array) => array.item_count().saturating_mul(array.item_size() as u64),
        Opened::SuperChunk(frame) => frame.byte_len(),
        Opened::Pack(pack) => pack.superchunk()?.byte_len(),
        other => {
            let what = other.format().description();
            let words =
                format!("this is {what} of more than plain bytes: superchunk.open reads it");
            return Err(Error::unsupported(words).into());
        }
    };
    usize::try_from(len).map_err(|_| Error::limit("more bytes than fit the memory").into())
}

/// Reads piece by piece, so that Ctrl-C is heard.
fn read_all(frame: &Opened, dst: &mut [u8]) -> Outcome {
    let chunks = match frame {
        Opened::Array(array) => {
            let (start, stop) = (vec![0; array.ndim()], array.shape());
            return Ok(array.read_box(&start, stop, dst)?);
        }
        Opened::Pack(pack) => pack.superchunk()?,
        other => other.superchunk().ok_or_else(|| Error::unsupported("these are no bytes"))?,
    };
    let (watch, mut done, all) = (Watch::new(None), 0, dst.len() as u64);
    for piece in dst.chunks_mut(FRAME_CHUNK) {
        let len = piece.len() as u64;
        chunks.read_bytes(done..done + len, piece)?;
        done += len;
        watch.step(done, all)?;
    }
    Ok(())
}

/// Compresses with the same options again and again.
#[pyclass(frozen, module = "superchunk")]
#[derive(Debug)]
pub(crate) struct Compressor {
    choice: Choice,
    options: Py<PyDict>,
}

#[pymethods]
impl Compressor {
    #[new]
    #[pyo3(
        signature = (**options),
        text_signature = "(*, codec='lz4', level=5, filters='shuffle', typesize=None, \
                          blocksize=None, split='auto', dictionary=False, format='blosc2', \
                          marks=False, check=False, nthreads=None, cparams=None)"
    )]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> Outcome<Self> {
        let choice = choice(options)?;
        // Finds out now what is wrong with the options.
        threads::encode(py, &choice, choice.item_size.unwrap_or(1), &[], |_| Ok(()))?;
        let options = options.cloned().unwrap_or_else(|| PyDict::new(py)).unbind();
        Ok(Self { choice, options })
    }

    /// Compresses the bytes of `data` into a chunk.
    #[pyo3(signature = (data, /, *, out = None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> Outcome<Bound<'py, PyAny>> {
        encode(py, &self.choice, data, out)
    }

    /// Decompresses a chunk, a frame or a Bloscpack file; see `decompress`.
    #[pyo3(signature = (data, /, out = None))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> Outcome<Bound<'py, PyAny>> {
        decompress(py, data, out, self.choice.nthreads)
    }

    /// Decompresses `count` items of a chunk from the item `start` on. Only the blocks that hold
    /// them are decoded.
    fn getitem<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        start: usize,
        count: usize,
    ) -> Outcome<Bound<'py, PyBytes>> {
        let input = Input::of(data)?;
        let chunk = input.as_slice();
        let header = Header::parse(chunk)?;
        let items = checked(start, count, header.byte_len() / header.item_size())?;
        let len = items.len() * header.item_size();
        new_bytes(py, len, |memory| {
            // A few items may need a whole block.
            let work = len.max(header.block_size().unwrap_or(header.byte_len()));
            threads::run(py, work, || {
                threads::with_decoder(self.choice.nthreads, |decoder| {
                    decoder.read_items(chunk, items, memory)?;
                    Ok(())
                })
            })
        })
    }

    fn __repr__(&self, py: Python<'_>) -> Outcome<String> {
        let mut words = Vec::new();
        for (name, value) in self.options.bind(py) {
            words.push(format!("{name}={}", value.repr()?));
        }
        Ok(format!("superchunk.Compressor({})", words.join(", ")))
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> ((), Bound<'py, PyDict>) {
        ((), self.options.bind(py).clone())
    }
}

fn checked(start: usize, count: usize, items: usize) -> Outcome<Range<usize>> {
    match start.checked_add(count).filter(|stop| *stop <= items) {
        Some(stop) => Ok(start..stop),
        None => {
            let words = format!("{count} items from {start} on: the chunk has {items}");
            Err(PyIndexError::new_err(words).into())
        }
    }
}

/// What the header of a chunk says.
#[pyclass(frozen, get_all, module = "superchunk")]
#[derive(Debug)]
pub(crate) struct ChunkInfo {
    /// The bytes that it decodes to.
    nbytes: usize,
    /// The bytes of the chunk.
    cbytes: usize,
    /// The bytes of an item.
    typesize: usize,
    /// The bytes of a block; None where blocks have lengths of their own.
    blocksize: Option<usize>,
    /// The name of the codec; None for those that have none here.
    codec: Option<String>,
    /// The names of the filters, in order.
    filters: Vec<String>,
    /// The version of the format: 2 in Blosc1, 5 in Blosc2.
    version: u8,
    /// What it is without compressed blocks: 'stored', 'zeros', 'nans', 'value' or 'uninit'.
    special: Option<&'static str>,
}

#[pymethods]
impl ChunkInfo {
    /// The bytes of data for each byte of the chunk.
    #[getter]
    fn cratio(&self) -> f64 {
        self.nbytes as f64 / self.cbytes as f64
    }

    fn __repr__(&self) -> String {
        format!(
            "ChunkInfo(nbytes={}, cbytes={}, typesize={}, blocksize={}, codec={}, filters={:?}, \
             version={}, special={})",
            self.nbytes,
            self.cbytes,
            self.typesize,
            self.blocksize.map_or("None".to_owned(), |size| size.to_string()),
            self.codec.as_ref().map_or("None".to_owned(), |name| format!("'{name}'")),
            self.filters,
            self.version,
            self.special.map_or("None".to_owned(), |name| format!("'{name}'")),
        )
    }
}

/// Reads the header of a chunk, of which the first 32 bytes are enough.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub(crate) fn chunk_info(data: &Bound<'_, PyAny>) -> Outcome<ChunkInfo> {
    let header = Header::parse(Input::of(data)?.as_slice())?;
    Ok(ChunkInfo {
        nbytes: header.byte_len(),
        cbytes: header.compressed_len(),
        typesize: header.item_size(),
        blocksize: header.block_size(),
        codec: header.codec().map(|codec| codec.to_string()),
        filters: header.filters().iter().map(ToString::to_string).collect(),
        version: header.version(),
        special: match header.content() {
            Content::Stored => Some("stored"),
            Content::Zeros => Some("zeros"),
            Content::Nans => Some("nans"),
            Content::Value { .. } => Some("value"),
            Content::Uninitialised => Some("uninit"),
            _ => None,
        },
    })
}
