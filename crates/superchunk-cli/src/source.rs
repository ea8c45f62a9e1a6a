//! Bytes that come from front to back, from a file or from stdin, in memory that does not grow.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use superchunk::detect::{self, Detected};

use crate::failure::{Failure, Outcome};
use crate::progress::Progress;

/// A file or stdin.
pub(crate) struct Source {
    reader: Box<dyn Read>,
    name: String,
    /// Bytes that were looked at before they are read.
    start: Vec<u8>,
    /// The number of bytes that were read.
    taken: u64,
    /// The length, where it is known.
    pub(crate) total: Option<u64>,
}

impl Source {
    /// Opens a file; `None` is stdin.
    pub(crate) fn open(path: Option<&Path>) -> Outcome<Self> {
        let Some(path) = path else {
            let reader = Box::new(io::stdin());
            let name = "stdin".to_owned();
            return Ok(Self { reader, name, start: Vec::new(), taken: 0, total: None });
        };
        let failed = |error| Failure::io("open it for reading", path, error);
        let file = File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        if found.is_dir() {
            let words = format!("`{}` is a folder", path.display());
            return Err(Failure::usage(words).with_help("pack it as `tar -I superchunk -cf …`"));
        }
        let total = found.is_file().then_some(found.len());
        let name = path.display().to_string();
        Ok(Self { reader: Box::new(file), name, start: Vec::new(), taken: 0, total })
    }

    /// How to call it in a sentence.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The number of bytes that are still to be read, where it is known.
    pub(crate) fn left(&self) -> Option<u64> {
        self.total.map(|total| total.saturating_sub(self.taken))
    }

    /// What the bytes are, as far as their start tells.
    pub(crate) fn detect(&mut self) -> Outcome<Detected> {
        self.peek(detect::START)?;
        Ok(detect::bytes(&self.start, self.total.unwrap_or(u64::MAX)))
    }

    /// The first bytes, at least `len` of them if there are as many; they are still to be read.
    pub(crate) fn peek(&mut self, len: usize) -> Outcome<&[u8]> {
        let have = self.start.len();
        if have < len {
            self.start.resize(len, 0);
            let mut start = std::mem::take(&mut self.start);
            let found = self.fill_from_reader(start.get_mut(have..).unwrap_or_default())?;
            start.truncate(have + found);
            self.start = start;
        }
        Ok(&self.start)
    }

    /// Fills the buffer as far as bytes come; fewer only at the end.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> Outcome<usize> {
        let known = self.start.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(self.start.drain(..known)) {
            *to = from;
        }
        let found = known + self.fill_from_reader(buffer.get_mut(known..).unwrap_or_default())?;
        self.taken += found as u64;
        Ok(found)
    }

    /// Calls `take` with all bytes, in pieces of this length.
    pub(crate) fn pieces(
        &mut self,
        piece: usize,
        progress: &mut Progress,
        mut take: impl FnMut(&[u8]) -> Outcome,
    ) -> Outcome {
        let mut buffer = vec![0; piece.max(1)];
        loop {
            let found = self.fill(&mut buffer)?;
            let part = buffer.get(..found).unwrap_or_default();
            if part.is_empty() {
                return Ok(());
            }
            take(part)?;
            progress.add(found);
        }
    }

    fn fill_from_reader(&mut self, buffer: &mut [u8]) -> Outcome<usize> {
        let mut filled = 0;
        while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
            match self.reader.read(room) {
                Ok(0) => break,
                Ok(found) => filled += found,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::io("read it", Path::new(&self.name), error)),
            }
        }
        Ok(filled)
    }
}
