//! Writing to something that cannot seek, such as a pipe.
//!
//! The header comes first, so counts that are not known yet are −1 in it, and there are no offsets. Who
//! can seek completes the header in place; who cannot leaves a file that this library reads to its end.
//! The real bloscpack takes such a file for an empty one.

use std::io::{Seek, SeekFrom, Write};

use super::PackOptions;
use crate::chunk::Encoder;
use crate::error::{Error, Result};
use crate::pack::{Checksum, Header, write_metadata};

/// A file of version 3 that is written from its start to its end.
///
/// ```
/// use superchunk::bloscpack::{Pack, PackOptions, PackStream};
///
/// let mut pipe = Vec::new();
/// let mut stream = PackStream::new(&mut pipe, &PackOptions::new())?;
/// stream.append(&[7; 3_000_000])?;
/// stream.finish()?;
/// assert_eq!(Pack::from_bytes(pipe)?.data()?.len(), 3_000_000);
/// # Ok::<(), superchunk::Error>(())
/// ```
pub struct PackStream<W: Write> {
    out: W,
    header: Header,
    encoder: Encoder,
    size: usize,
    checksum: Checksum,
    tail: Vec<u8>,
    chunk: Vec<u8>,
    count: u64,
    last: usize,
}

impl<W: Write> PackStream<W> {
    /// Begins a file: header and metadata are written.
    pub fn new(mut out: W, options: &PackOptions) -> Result<Self> {
        if options.varlen {
            return Err(Error::invalid(
                "a file of objects lists their positions before them: it cannot be streamed",
            ));
        }
        let mut header = options.header()?;
        header.offsets = false;
        header.metadata = options.metadata.is_some();
        let encoder = Encoder::new(&options.compress)?;
        put(&mut out, &header.to_bytes())?;
        if let Some(json) = &options.metadata {
            put(&mut out, &write_metadata(json, &options.metadata_options)?)?;
        }
        let (size, checksum) = (options.cut()?, options.checksum);
        let (tail, chunk) = (Vec::new(), Vec::new());
        Ok(Self { out, header, encoder, size, checksum, tail, chunk, count: 0, last: 0 })
    }

    /// Appends bytes, any number of them.
    pub fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            // A full tail is written when more comes: the last chunk may be full as well.
            if self.tail.len() == self.size {
                self.write_tail()?;
            }
            let room = self.size - self.tail.len();
            let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            self.tail.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// Writes what is left, and returns what was written to.
    pub fn finish(mut self) -> Result<W> {
        self.end()?;
        Ok(self.out)
    }

    fn end(&mut self) -> Result<()> {
        if !self.tail.is_empty() || self.count == 0 {
            self.write_tail()?;
        }
        self.out.flush().map_err(|error| Error::io("cannot write the file", error))
    }

    fn write_tail(&mut self) -> Result<()> {
        self.chunk.clear();
        self.encoder.compress_into(&self.tail, &mut self.chunk)?;
        let mut digest = Vec::new();
        self.checksum.append(&self.chunk, &mut digest);
        put(&mut self.out, &self.chunk)?;
        put(&mut self.out, &digest)?;
        self.count += 1;
        self.last = self.tail.len();
        self.tail.clear();
        Ok(())
    }
}

impl<W: Write + Seek> PackStream<W> {
    /// Writes what is left, and then the counts into the header, which is where the stream was when it
    /// began: at the start of what it can seek in. Bloscpack reads the result.
    pub fn finish_in_place(mut self) -> Result<W> {
        self.end()?;
        self.header.chunk_count = Some(self.count);
        self.header.last_chunk = Some(self.last);
        let told = |error| Error::io("cannot complete the header", error);
        let end = self.out.stream_position().map_err(told)?;
        self.out.seek(SeekFrom::Start(0)).map_err(told)?;
        put(&mut self.out, &self.header.to_bytes())?;
        self.out.seek(SeekFrom::Start(end)).map_err(told)?;
        self.out.flush().map_err(told)?;
        Ok(self.out)
    }
}

fn put(out: &mut impl Write, bytes: &[u8]) -> Result<()> {
    out.write_all(bytes).map_err(|error| Error::io("cannot write the file", error))
}
