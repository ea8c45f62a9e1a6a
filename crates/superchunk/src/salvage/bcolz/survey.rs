//! What the files of a carray still say. Chunks are decoded here and once more when they are copied: what
//! does not decode must not have a say in how long chunks are.

use std::collections::BTreeMap;

use super::super::rebuild::{majority, most_padding, unless_limit};
use super::super::report::{Certainty, FoundAt, SalvageReport};
use super::super::scan::{HEADER, Judge};
use crate::carray::{Attrs, HEADER_LEN, Sizes, Storage, chunk_name};
use crate::chunk::Header;
use crate::container::{SUFFIX, check_suffix};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::store::Dir;

/// The most bytes of a small file.
const MAX_SMALL: u64 = 1 << 20;

/// Decoded length and item size of every chunk file; `None` where it does not decode.
type Peeks = BTreeMap<u64, Option<(usize, usize)>>;

/// A column, as far as it can be read without its chunks.
pub(super) struct Survey {
    pub(super) sizes: Result<Sizes>,
    pub(super) storage: Result<Storage>,
    pub(super) attrs: Result<Attrs>,
    pub(super) chunks: Peeks,
    /// How many chunk files have numbers that are far from those of all others.
    far: usize,
    most_padding: u64,
}

/// A chunk file that can be read.
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    pub(super) len: usize,
    pub(super) item_size: usize,
    /// How sure it is; an error if it decodes, but does not have its checksum.
    pub(super) certainty: Result<Certainty>,
}

impl Survey {
    /// Looks at all files of a folder; only limits that are too small for it are an error.
    pub(super) fn of(root: &dyn Dir, limits: &Limits) -> Result<Self> {
        let meta = |file: &str| {
            let folder = root.open_folder("meta")?;
            match folder.open(file)?.len()? {
                len if len > MAX_SMALL => Err(Error::corrupt(format!("the file has {len} bytes"))),
                _ => text(folder.as_ref(), file, limits),
            }
        };
        let attrs = match root.open(Attrs::FILE) {
            Ok(_) => unless_limit(text(root, Attrs::FILE, limits))?
                .and_then(|text| Attrs::parse(Some(&text))),
            // bcolz needs the file, but the values are what counts.
            Err(_) => Err(Error::not_found("the file is missing")),
        };
        let (chunks, far) = match root.open_folder("data") {
            Ok(data) => peek(data.as_ref(), limits)?,
            Err(_) => (BTreeMap::new(), 0),
        };
        Ok(Self {
            sizes: unless_limit(meta("sizes"))?.and_then(|text| Sizes::parse(&text)),
            storage: unless_limit(meta("storage"))?.and_then(|text| Storage::parse(&text)),
            attrs,
            chunks,
            far,
            most_padding: most_padding(limits),
        })
    }

    /// Whether it looks like a carray at all.
    pub(super) fn is_something(&self) -> bool {
        self.sizes.is_ok() || self.storage.is_ok() || !self.chunks.is_empty()
    }

    /// Tells which of its small files are lost.
    pub(super) fn tell_losses(&self, report: &mut SalvageReport) {
        for (file, error) in [
            ("meta/sizes", self.sizes.as_ref().err()),
            ("meta/storage", self.storage.as_ref().err()),
            (Attrs::FILE, self.attrs.as_ref().err()),
        ] {
            if let Some(error) = error {
                report.lose(FoundAt::File(file.to_owned()), error.to_string());
            }
        }
        if self.far > 0 {
            let words = format!("{} chunk files have numbers far from all others", self.far);
            report.lose(FoundAt::File("data".to_owned()), words);
        }
    }

    /// Behind the number of the last chunk file.
    pub(super) fn end(&self) -> u64 {
        self.chunks.last_key_value().map_or(0, |(last, _)| last + 1)
    }

    /// Whether this many chunks are not many more than there are: a damaged length may be any number.
    pub(super) fn has_nearly(&self, chunks: u64) -> bool {
        chunks <= self.end().saturating_add(self.most_padding)
    }

    /// Tells of chunk files that are not needed.
    pub(super) fn tell_beyond(&self, needed: u64, report: &mut SalvageReport) {
        let beyond = self.chunks.range(needed..).count();
        report.superseded += beyond;
        if beyond > 0 {
            report.notes.push(format!("{beyond} chunk files lie beyond the last row"));
        }
    }

    /// The decoded length that most chunks have which are not the last.
    pub(super) fn full_len(&self) -> Option<usize> {
        let last = self.chunks.last_key_value().map(|(number, _)| *number);
        let others = self.chunks.iter().filter(|(number, _)| Some(**number) != last);
        majority(others.filter_map(|(_, peek)| Some((*peek)?.0)))
    }

    /// The item size that most chunks have.
    pub(super) fn usual_item(&self) -> Option<usize> {
        majority(self.chunks.values().flatten().map(|(_, item)| *item))
    }

    /// The bytes that all chunk files hold, if each but the last has `chunk_size`.
    pub(super) fn bytes_of_files(&self, chunk_size: u64) -> u64 {
        let Some((last, peek)) = self.chunks.last_key_value() else { return 0 };
        let len = peek.map_or(chunk_size, |(len, _)| len as u64);
        last.saturating_mul(chunk_size).saturating_add(len)
    }
}

/// The numbers of chunk files and what is in them, but for those that are far from all others; and how many
/// these are.
fn peek(data: &dyn Dir, limits: &Limits) -> Result<(Peeks, usize)> {
    let names = data.names().unwrap_or_default();
    let number = |name: &String| {
        let number = name.strip_prefix("__")?.strip_suffix(".blp")?.parse().ok()?;
        (chunk_name(number) == *name).then_some(number)
    };
    let look = |number: u64| {
        let chunk = unless_limit(read_chunk(Some(data), number, limits))?.ok();
        Ok((number, chunk.map(|chunk| (chunk.len, chunk.item_size))))
    };
    let numbers: Vec<u64> = names.iter().filter_map(number).collect();
    let most = (numbers.len() as u64).saturating_add(most_padding(limits));
    let near = numbers.iter().copied().filter(|number| *number < most);
    let chunks: Peeks = near.map(look).collect::<Result<_>>()?;
    let far = numbers.len() - chunks.len();
    Ok((chunks, far))
}

/// Where chunk `number` is, or should be.
pub(super) fn source_of(number: u64) -> FoundAt {
    FoundAt::File(format!("data/{}", chunk_name(number)))
}

/// The chunk of a file of the folder `data`, if there is one and it decodes.
pub(super) fn read_chunk(data: Option<&dyn Dir>, number: u64, limits: &Limits) -> Result<Chunk> {
    let data = data.ok_or_else(|| Error::not_found("there is no folder `data`"))?;
    let file = data.open(&chunk_name(number))?;
    let (mut judge, at) = (Judge::new(file.as_ref(), limits)?, HEADER_LEN as u64);
    let header = Header::parse(judge.input.get(at, HEADER))?;
    let (len, rest) = (header.compressed_len(), judge.input.len().saturating_sub(at));
    if len as u64 > rest {
        return Err(Error::truncated(format!("of {len} bytes only {rest} are here")));
    }
    let decoded = judge.certainty_of(&header, at)?;
    let behind = judge.input.peek::<SUFFIX>(at + len as u64);
    let chunk = judge.input.whole(&(at..at + len as u64))?;
    let certainty = match behind.and_then(|behind| check_suffix(chunk, &behind)) {
        Some(verdict) => verdict.map(|()| Certainty::Verified),
        None => Ok(decoded),
    };
    Ok(Chunk {
        bytes: chunk.to_vec(),
        len: header.byte_len(),
        item_size: header.item_size(),
        certainty,
    })
}

/// The text of a file.
pub(super) fn text(dir: &dyn Dir, file: &str, limits: &Limits) -> Result<String> {
    let store = dir.open(file)?;
    let len = store.len()?;
    limits.check_parsed("file", len)?;
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    store.read_exact_at(0, &mut bytes)?;
    String::from_utf8(bytes).map_err(|error| Error::corrupt("this is no text").because(error))
}
