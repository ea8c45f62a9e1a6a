//! Writing to something that cannot seek, such as a pipe.
//!
//! The header comes first, so what is not known yet is −1 in it: the number of chunks, and then there are
//! no offsets; or, of objects, whose number must be known, the offsets. Who can seek completes them in
//! place; who cannot leaves a file that this library reads by walking. The real bloscpack takes a file
//! with an unknown number of chunks for an empty one.

use std::fmt;
use std::io::{Seek, SeekFrom, Write};

use super::PackOptions;
use crate::chunk::Encoder;
use crate::error::{Error, Result};
use crate::pack::{Checksum, StreamStart};

/// A file that is written from its start to its end.
///
/// ```
/// use superchunk::bloscpack::{Pack, PackOptions, PackStream};
///
/// let mut pipe = Vec::new();
/// let mut stream = PackStream::new(&mut pipe, &PackOptions::new())?;
/// stream.append(&[7; 3_000_000])?;
/// stream.finish()?;
/// assert_eq!(Pack::from_bytes(pipe)?.superchunk()?.byte_len(), 3_000_000);
/// # Ok::<(), superchunk::Error>(())
/// ```
pub struct PackStream<W: Write> {
    out: W,
    start: StreamStart,
    encoder: Encoder,
    /// The bytes of a chunk; `None` where each is an object.
    size: Option<usize>,
    checksum: Checksum,
    tail: Vec<u8>,
    chunk: Vec<u8>,
    /// Where each object is; the last number is the end of what is written.
    positions: Vec<u64>,
    end: u64,
    count: u64,
    last: usize,
}

impl<W: Write> fmt::Debug for PackStream<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackStream")
            .field("checksum", &self.checksum)
            .field("chunks", &self.count)
            .field("written", &self.end)
            .finish_non_exhaustive()
    }
}

impl<W: Write> PackStream<W> {
    /// Begins a file of version 3: header and metadata are written.
    pub fn new(out: W, options: &PackOptions) -> Result<Self> {
        if options.varlen {
            return Err(Error::invalid("how many objects are there? use PackStream::objects"));
        }
        Self::begin(out, options, None)
    }

    /// Begins a file of `count` objects: header, metadata and offsets of −1 are written.
    pub fn objects(out: W, options: &PackOptions, count: u64) -> Result<Self> {
        if !options.varlen {
            return Err(Error::invalid("these options are not for objects: PackOptions::objects"));
        }
        if options.reserve > 0 {
            return Err(Error::invalid(
                "objects of a stream follow each other: nothing is left free",
            ));
        }
        Self::begin(out, options, Some(count))
    }

    fn begin(mut out: W, options: &PackOptions, count: Option<u64>) -> Result<Self> {
        let encoder = Encoder::new(&options.compress)?;
        let start = StreamStart::new(
            options.header()?,
            options.metadata.as_ref(),
            &options.metadata_options,
            count,
        )?;
        let end = start.write(|bytes| put(&mut out, bytes))?;
        let size = if options.varlen { None } else { Some(options.cut()?) };
        let (tail, chunk, positions) = (Vec::new(), Vec::new(), Vec::new());
        let checksum = options.checksum;
        let (count, last) = (0, 0);
        Ok(Self { out, start, encoder, size, checksum, tail, chunk, positions, end, count, last })
    }

    /// Appends bytes, any number of them.
    pub fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        let Some(size) = self.size else {
            return Err(Error::invalid("this file holds objects: append each with append_object"));
        };
        while !bytes.is_empty() {
            // A full tail is written when more comes: the last chunk may be full as well.
            if self.tail.len() == size {
                self.write_tail()?;
            }
            let room = size - self.tail.len();
            let (now, later) = bytes.split_at_checked(room).map_or((bytes, &[][..]), |parts| parts);
            self.tail.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// Appends an object, which may be empty.
    pub fn append_object(&mut self, object: &[u8]) -> Result<()> {
        if self.size.is_some() {
            return Err(Error::invalid("this file holds bytes, no objects: use append"));
        }
        if self.start.count().is_some_and(|count| self.count >= count) {
            return Err(Error::invalid(format!("only {} objects were announced", self.count)));
        }
        self.tail.extend_from_slice(object);
        self.write_tail()
    }

    /// Writes what is left, and returns what was written to.
    pub fn finish(mut self) -> Result<W> {
        self.finish_chunks()?;
        Ok(self.out)
    }

    fn finish_chunks(&mut self) -> Result<()> {
        if let Some(announced) = self.start.count().filter(|count| *count != self.count) {
            return Err(Error::invalid(format!(
                "{announced} objects were announced, {} came",
                self.count
            )));
        }
        if self.size.is_some() && (!self.tail.is_empty() || self.count == 0) {
            self.write_tail()?;
        }
        self.out.flush().map_err(cannot_write)
    }

    fn write_tail(&mut self) -> Result<()> {
        self.chunk.clear();
        let made = self.encoder.compress_into(&self.tail, &mut self.chunk);
        made.map_err(|error| error.within(format!("chunk {}", self.count)))?;
        let mut digest = Vec::new();
        self.checksum.append(&self.chunk, &mut digest);
        self.chunk.extend(digest);
        put(&mut self.out, &self.chunk)?;
        if self.size.is_none() {
            self.positions.push(self.end);
        }
        self.end += self.chunk.len() as u64;
        self.count += 1;
        self.last = self.tail.len();
        self.tail.clear();
        Ok(())
    }
}

impl<W: Write + Seek> PackStream<W> {
    /// Writes what is left, and then what was not known before: the counts, or the positions of objects.
    /// The file must begin where `out` begins. Bloscpack reads the result, unless it holds objects.
    pub fn finish_in_place(mut self) -> Result<W> {
        self.finish_chunks()?;
        let end = self.out.stream_position().map_err(cannot_write)?;
        for (place, bytes) in self.start.complete(self.count, self.last, &self.positions) {
            self.out.seek(SeekFrom::Start(place)).map_err(cannot_write)?;
            put(&mut self.out, &bytes)?;
        }
        self.out.seek(SeekFrom::Start(end)).map_err(cannot_write)?;
        self.out.flush().map_err(cannot_write)?;
        Ok(self.out)
    }
}

fn put(out: &mut impl Write, bytes: &[u8]) -> Result<()> {
    out.write_all(bytes).map_err(cannot_write)
}

fn cannot_write(error: std::io::Error) -> Error {
    Error::io("cannot write the file", error)
}
