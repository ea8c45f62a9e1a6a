//! A super-chunk as [`std::io`] sees it: a stream of its bytes, and something to write to.

use std::borrow::{Borrow, BorrowMut};
use std::fmt;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};

use super::SuperChunk;
use crate::error::{Error, Result};

/// The decoded bytes of a super-chunk as [`Read`], [`BufRead`] and [`Seek`].
///
/// `S` is how the super-chunk is held: [`SuperChunk::reader`] borrows it, [`SuperChunk::into_reader`]
/// takes it, and with an `Arc` many readers share one handle.
///
/// One chunk at a time is decoded and kept. A read that follows a seek, and one of a chunk or more,
/// goes straight into the caller's buffer and decodes only the blocks that it needs. No read passes
/// the end of a chunk, so that all bytes before a damaged one are read. A failed read changes
/// nothing: the [`Error`] is in the [`io::Error`], for [`io::Error::downcast`].
///
/// ```
/// use std::io::{BufRead, Read, Seek, SeekFrom};
/// use superchunk::{CompressOptions, FrameOptions, SuperChunk};
///
/// let mut lines = SuperChunk::in_memory(&FrameOptions::new(CompressOptions::new(1)))?;
/// lines.append(b"first\nsecond\nthird\n")?;
///
/// let mut reader = lines.reader();
/// assert_eq!(reader.by_ref().lines().nth(1).unwrap()?, "second");
/// reader.seek(SeekFrom::End(-6))?;
/// assert_eq!(std::io::read_to_string(reader)?, "third\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ByteReader<S> {
    source: S,
    position: u64,
    /// A decoded chunk, and the position of its first byte.
    chunk: Vec<u8>,
    chunk_start: u64,
    /// Whether the last call was no seek: then the rest of the chunk will probably be read, too.
    is_sequential: bool,
}

impl<S: Borrow<SuperChunk>> ByteReader<S> {
    /// Reads from the first byte on.
    pub fn new(source: S) -> Self {
        Self { source, position: 0, chunk: Vec::new(), chunk_start: 0, is_sequential: true }
    }

    /// The super-chunk that is read.
    pub fn get_ref(&self) -> &SuperChunk {
        self.source.borrow()
    }

    /// What the reader was made of.
    pub fn into_inner(self) -> S {
        self.source
    }

    /// The number of bytes from the position to the end; 0 if the position is past it.
    fn left(&self) -> u64 {
        self.get_ref().byte_len().saturating_sub(self.position)
    }

    /// The decoded bytes from the position on; none if its chunk is not the one that is kept.
    fn kept(&self) -> &[u8] {
        let within = self.position.checked_sub(self.chunk_start);
        let within = within.and_then(|within| usize::try_from(within).ok());
        within.and_then(|within| self.chunk.get(within..)).unwrap_or_default()
    }

    /// The number of bytes from the position to the end of its chunk, and where the chunk starts.
    fn chunk_at_position(&self) -> Result<(usize, usize, u64)> {
        let source = self.get_ref();
        let (number, within) = source.locate(self.position)?;
        let rest = source.decoded_len(number)?.checked_sub(within).filter(|rest| *rest > 0);
        let rest = rest.ok_or_else(|| {
            source.told(number, Error::corrupt("the chunk is shorter than the index says"))
        })?;
        Ok((number, rest, self.position - within as u64))
    }

    /// Decodes chunk `number`, which starts at byte `start`.
    fn keep_chunk(&mut self, number: usize, start: u64) -> Result<()> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let source = self.get_ref();
        let len = source.decoded_len(number)?;
        source.limits.check_decoded(len).map_err(|error| source.told(number, error))?;
        chunk.resize(len, 0);
        source.read_chunk_into(number, &mut chunk)?;
        (self.chunk, self.chunk_start) = (chunk, start);
        Ok(())
    }

    /// Reads into the start of `dst`; returns how many bytes.
    fn read_some(&mut self, dst: &mut [u8]) -> Result<usize> {
        if self.kept().is_empty() && self.left() > 0 && !dst.is_empty() {
            let (number, rest, start) = self.chunk_at_position()?;
            if !self.is_sequential || dst.len() >= rest {
                // No further than this chunk: the next one may be damaged, this one is read then.
                let len = rest.min(dst.len());
                self.get_ref().read_bytes(self.position..self.position + len as u64, dst)?;
                self.advance(len);
                return Ok(len);
            }
            self.keep_chunk(number, start)?;
        }
        let len = self.kept().read(dst).unwrap_or(0);
        self.advance(len);
        Ok(len)
    }

    fn advance(&mut self, len: usize) {
        self.position += len as u64;
        self.is_sequential = true;
    }
}

impl<S: Borrow<SuperChunk>> Read for ByteReader<S> {
    fn read(&mut self, dst: &mut [u8]) -> io::Result<usize> {
        Ok(self.read_some(dst)?)
    }
}

impl<S: Borrow<SuperChunk>> BufRead for ByteReader<S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.kept().is_empty() && self.left() > 0 {
            let (number, _, start) = self.chunk_at_position()?;
            self.keep_chunk(number, start)?;
        }
        Ok(self.kept())
    }

    fn consume(&mut self, len: usize) {
        self.advance(len.min(self.kept().len()));
    }
}

impl<S: Borrow<SuperChunk>> Seek for ByteReader<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(distance) => self.get_ref().byte_len().checked_add_signed(distance),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
        };
        let position = position.ok_or_else(|| {
            Error::invalid(format!("expected a position from 0 to 2^64 - 1, got {to:?}"))
        })?;
        self.is_sequential &= position == self.position;
        self.position = position;
        Ok(position)
    }
}

impl<S: Borrow<SuperChunk>> fmt::Debug for ByteReader<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteReader")
            .field("source", self.get_ref())
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

/// A super-chunk as [`Write`]: what is written is appended.
///
/// [`flush`](Write::flush) does nothing and does **not** commit: the bytes are seen by this handle
/// at once, and by everyone else after [`SuperChunk::commit`] or [`SuperChunk::close`]. An error
/// means that nothing of this write was appended; it carries the [`Error`].
///
/// Where chunks have no fixed size, every write makes one. Programs that write a few bytes at a
/// time put a [`BufWriter`](io::BufWriter) before it.
///
/// ```
/// use std::io::Write;
/// use superchunk::{CompressOptions, FrameOptions, SuperChunk};
///
/// let mut log = SuperChunk::in_memory(&FrameOptions::new(CompressOptions::new(1)))?;
/// writeln!(log.appender(), "started")?;
/// std::io::copy(&mut &b"stopped\n"[..], &mut log.appender())?;
/// log.commit()?;
/// assert_eq!(log.to_vec()?, b"started\nstopped\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Appender<S> {
    target: S,
}

impl<S: BorrowMut<SuperChunk>> Appender<S> {
    /// Appends to this super-chunk.
    pub fn new(target: S) -> Self {
        Self { target }
    }

    /// What the appender was made of: to commit or close it.
    pub fn into_inner(self) -> S {
        self.target
    }
}

impl<S: BorrowMut<SuperChunk>> Write for Appender<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.target.borrow_mut().append(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: Borrow<SuperChunk>> fmt::Debug for Appender<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Appender").field("target", self.target.borrow()).finish()
    }
}

impl SuperChunk {
    /// The decoded bytes as a stream with positions.
    #[must_use]
    pub fn reader(&self) -> ByteReader<&Self> {
        ByteReader::new(self)
    }

    /// The decoded bytes as a stream with positions that owns the super-chunk.
    #[must_use]
    pub fn into_reader(self) -> ByteReader<Self> {
        ByteReader::new(self)
    }

    /// Something to write to; what is written is appended, and not committed.
    #[must_use]
    pub fn appender(&mut self) -> Appender<&mut Self> {
        Appender::new(self)
    }

    /// Something to write to that owns the super-chunk; [`Appender::into_inner`] returns it.
    #[must_use]
    pub fn into_appender(self) -> Appender<Self> {
        Appender::new(self)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufWriter;
    use std::sync::Arc;

    use super::*;
    use crate::error::ErrorKind;
    use crate::limits::Limits;
    use crate::options::CompressOptions;
    use crate::schunk::{FrameOptions, OpenOptions};
    use crate::store::{Dir, MemoryFolder};

    fn options() -> FrameOptions {
        FrameOptions::new(CompressOptions::new(4)).with_chunk_size(1000)
    }

    /// Bytes that differ from place to place, in chunks of 1000 and a tail of 500.
    fn sample() -> (Vec<u8>, SuperChunk) {
        let bytes: Vec<u8> = (0..2375u32).flat_map(|i| (i * 7919).to_le_bytes()).collect();
        let mut chunks = SuperChunk::in_memory(&options()).unwrap();
        chunks.append(&bytes).unwrap();
        (bytes, chunks)
    }

    /// Steps that a cursor over the plain bytes answers, too.
    fn compare(chunks: &SuperChunk, bytes: &[u8]) {
        let (mut reader, mut cursor) = (chunks.reader(), io::Cursor::new(bytes));
        let len = i64::try_from(bytes.len()).unwrap();
        let mut state = 1u32;
        for round in 0..2000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = i64::from(state >> 8);
            match round % 7 {
                0 => {
                    let to = SeekFrom::Start(u64::try_from(number % (len + 50)).unwrap());
                    assert_eq!(reader.seek(to).unwrap(), cursor.seek(to).unwrap());
                }
                1 => {
                    let to = SeekFrom::Current(number % 3000 - 1500);
                    assert_eq!(reader.seek(to).ok(), cursor.seek(to).ok());
                }
                2 => {
                    let to = SeekFrom::End(-(number % len));
                    assert_eq!(reader.seek(to).unwrap(), cursor.seek(to).unwrap());
                }
                3 => {
                    let found = reader.fill_buf().unwrap();
                    let count = found.len().min(usize::try_from(number % 300).unwrap());
                    let expected = cursor.fill_buf().unwrap();
                    assert_eq!(found.is_empty(), expected.is_empty());
                    assert_eq!(found[..count], expected[..count]);
                    reader.consume(count);
                    cursor.consume(count);
                }
                _ => {
                    let mut dst = vec![0; usize::try_from(number % 2500).unwrap()];
                    let mut expected = dst.clone();
                    let found = reader.read(&mut dst).unwrap();
                    cursor.read_exact(&mut expected[..found]).unwrap();
                    assert_eq!(dst, expected);
                    let at_end = cursor.position() >= bytes.len() as u64;
                    assert!(found > 0 || dst.is_empty() || at_end);
                }
            }
            assert_eq!(reader.stream_position().unwrap(), cursor.position());
        }
    }

    #[test]
    fn a_reader_is_like_a_cursor_over_the_bytes() {
        let (bytes, mut chunks) = sample();
        compare(&chunks, &bytes);
        chunks.commit().unwrap();
        compare(&chunks, &bytes);
        // Where every append makes a chunk, the last one is shorter.
        let mut options = options();
        options.variable = true;
        let mut chunks = SuperChunk::in_memory(&options).unwrap();
        for piece in bytes.chunks(777) {
            chunks.append(piece).unwrap();
        }
        compare(&chunks, &bytes);
        let empty = SuperChunk::in_memory(&options).unwrap();
        assert_eq!(empty.reader().read(&mut [0; 9]).unwrap(), 0);
        assert!(empty.reader().fill_buf().unwrap().is_empty());
    }

    #[test]
    fn many_readers_share_one_handle_and_one_gives_it_back() {
        let (bytes, chunks) = sample();
        let shared = Arc::new(chunks);
        let readers: Vec<_> = (0..3).map(|_| ByteReader::new(Arc::clone(&shared))).collect();
        for reader in readers {
            assert_eq!(reader.get_ref().byte_len(), bytes.len() as u64);
            let reading = std::thread::spawn(move || {
                let mut reader = reader;
                let mut found = Vec::new();
                reader.read_to_end(&mut found).map(|_| found)
            });
            assert_eq!(reading.join().unwrap().unwrap(), bytes);
        }
        let mut reader = Arc::into_inner(shared).unwrap().into_reader();
        io::copy(&mut reader, &mut io::sink()).unwrap();
        assert_eq!(reader.into_inner().to_vec().unwrap(), bytes);
    }

    #[test]
    fn one_chunk_is_kept_and_its_memory_used_again() {
        let (bytes, chunks) = sample();
        let mut reader = chunks.reader();
        for expected in bytes.chunks(10) {
            let mut found = [0; 10];
            reader.read_exact(&mut found).unwrap();
            assert_eq!(found, expected);
            assert!(reader.chunk.capacity() <= 1000, "{}", reader.chunk.capacity());
        }
    }

    #[test]
    fn errors_carry_their_kind_and_change_nothing() {
        let (bytes, mut chunks) = sample();
        let error = chunks.reader().seek(SeekFrom::Current(-1)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        chunks.set_limits(Limits { max_decoded: 999, ..Limits::default() });
        let mut reader = chunks.reader();
        let error = reader.read(&mut [0; 10]).unwrap_err();
        assert_eq!(error.downcast::<Error>().unwrap().kind(), ErrorKind::LimitExceeded);
        assert_eq!(reader.stream_position().unwrap(), 0);

        chunks.set_limits(Limits::default());
        let mut stored = chunks.to_bytes().unwrap();
        let chunk = chunks.compressed_chunk(4).unwrap();
        let start = stored.windows(chunk.len()).position(|window| window == chunk).unwrap();
        stored[start + 4] ^= 1; // a byte of its length
        let damaged = SuperChunk::from_bytes(stored).unwrap();
        let mut reader = damaged.reader();
        let mut found = Vec::new();
        let error = reader.read_to_end(&mut found).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert_eq!(error.downcast::<Error>().unwrap().kind(), ErrorKind::Corrupt);
        assert!(found == bytes[..4000], "{} bytes", found.len());
        // The reader stands before the damaged chunk, and the next one can be read.
        assert_eq!(reader.seek(SeekFrom::Current(1000)).unwrap(), 5000);
        found.clear();
        reader.read_to_end(&mut found).unwrap();
        assert!(found == bytes[5000..], "{} bytes", found.len());
    }

    #[test]
    fn what_is_written_is_appended_and_not_committed() {
        let (bytes, _) = sample();
        let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
        let committed = || {
            SuperChunk::open_in_dir(Arc::clone(&dir), Some("x"), &OpenOptions::new())
                .unwrap()
                .to_vec()
                .unwrap()
        };
        let mut chunks =
            SuperChunk::create_in_dir(Arc::clone(&dir), Some("x"), &options()).unwrap();
        chunks.commit().unwrap();
        let mut writer = BufWriter::new(chunks.appender());
        for piece in bytes.chunks(13) {
            writer.write_all(piece).unwrap();
        }
        writer.flush().unwrap();
        drop(writer);
        assert_eq!((chunks.to_vec().unwrap(), committed()), (bytes.clone(), Vec::new()));
        let mut appender = chunks.into_appender();
        assert_eq!(appender.write(&[]).unwrap(), 0);
        appender.into_inner().close().unwrap();
        assert_eq!(committed(), bytes);
    }
}
