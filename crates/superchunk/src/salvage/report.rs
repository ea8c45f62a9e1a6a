//! What a salvage has found, and how sure it is.

use std::fmt;
use std::ops::Range;

/// The attribute of a salvaged container that lists, in words, what is lost or uncertain in it.
pub const ATTRIBUTE: &str = "salvaged";
/// The most lines of such a list, about.
const MOST_LINES: usize = 1000;

/// How sure it is that the bytes of a piece are those that were written.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Certainty {
    /// Nothing speaks against it, but nothing vouches for it either: they are stored as they are,
    /// without a checksum.
    Assumed,
    /// They decode.
    Decoded,
    /// They have the checksum that they were written with.
    Verified,
}

/// Where something was found.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundAt {
    /// In these bytes of the file.
    Bytes(Range<u64>),
    /// In the file of this name.
    File(String),
    /// In these bytes of the file of this name.
    FileBytes(String, Range<u64>),
    /// In the index alone: a run of one value.
    Index,
    /// Nowhere.
    Nowhere,
}

/// A chunk that was recovered.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its number in the result.
    pub chunk: usize,
    /// Where it was found.
    pub source: FoundAt,
    /// The decoded length.
    pub len: usize,
    /// How sure its bytes are.
    pub certainty: Certainty,
}

/// Something that could not be recovered.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Hole {
    /// The number of the chunk in the result, which reads as zeros, or has the value of new rows in bcolz's
    /// arrays, or is Python's `None` among objects; `None` if its place is not known, or it is no chunk.
    pub chunk: Option<usize>,
    /// Where it was, or should be.
    pub source: FoundAt,
    /// Why it is lost.
    pub reason: String,
}

/// What tells in which order the chunks belong.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChunkOrder {
    /// The index of the last commit.
    Index,
    /// An index that was found, of this commit or an earlier one; what it does not know comes last.
    FoundIndex,
    /// Nothing: they are in the order in which they were stored. After chunks were changed or
    /// inserted this may be another than they had.
    Storage,
}

/// What was found, and what not.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct SalvageReport {
    /// What the container is: `frame`, `sparse frame`, `bloscpack`, `bcolz array`, `bcolz objects` (an array
    /// of Python objects), `bcolz table`, `blsk array`, `blsk table`,
    /// `folder of columns`.
    pub format: &'static str,
    /// What tells the order of the chunks.
    pub order: ChunkOrder,
    /// Whether a checksum vouches for header, index and metadata.
    pub sealed: bool,
    /// Every chunk of the result that holds recovered bytes, in order.
    pub pieces: Vec<Piece>,
    /// Every loss that can be named.
    pub holes: Vec<Hole>,
    /// Chunks that were found but belong to earlier states; they are not in the result.
    pub superseded: usize,
    /// What else is to be known.
    pub notes: Vec<String>,
    /// What was found of each column of a table.
    pub columns: Vec<(String, SalvageReport)>,
}

impl SalvageReport {
    pub(super) fn new(format: &'static str, order: ChunkOrder) -> Self {
        Self {
            format,
            order,
            sealed: false,
            pieces: Vec::new(),
            holes: Vec::new(),
            superseded: 0,
            notes: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// Notes a loss that has no place among the chunks.
    pub(super) fn lose(&mut self, source: FoundAt, reason: String) {
        self.holes.push(Hole { chunk: None, source, reason });
    }

    /// Notes a chunk that is lost, whose place is known.
    pub(super) fn miss(&mut self, chunk: u64, source: FoundAt, reason: String) {
        self.holes.push(Hole { chunk: usize::try_from(chunk).ok(), source, reason });
    }

    /// Notes a chunk that was recovered.
    pub(super) fn keep(&mut self, chunk: u64, source: FoundAt, len: usize, certainty: Certainty) {
        let chunk = usize::try_from(chunk).unwrap_or(usize::MAX);
        self.pieces.push(Piece { chunk, source, len, certainty });
    }

    /// Whether everything is there and in its place.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let columns = self.columns.iter().all(|(_, column)| column.is_whole());
        columns && self.holes.is_empty() && self.order == ChunkOrder::Index
    }

    /// What is lost or uncertain, in words: a line for neighbours that have the same fate. Nothing
    /// if everything is there, in its place, and a checksum vouches for it.
    #[must_use]
    pub fn uncertain(&self) -> Vec<String> {
        self.lines(MOST_LINES)
    }

    /// The same in about `most` lines, of which the last may be one for all chunks that it leaves
    /// no room for.
    fn lines(&self, most: usize) -> Vec<String> {
        let mut lines = Vec::new();
        if self.order != ChunkOrder::Index {
            lines.push(format!("the order of the chunks is that of: {}", self.order));
        }
        let lost = self.holes.iter().map(|hole| match hole.chunk {
            Some(chunk) => (Some(chunk), format!("lost: {}", hole.reason)),
            None => (None, format!("lost: {}: {}", hole.source, hole.reason)),
        });
        let unsure = self.pieces.iter().filter(|piece| piece.certainty != Certainty::Verified);
        let unsure = unsure.map(|piece| {
            let words = match piece.certainty {
                Certainty::Decoded => "decoded, no checksum vouches for it",
                _ => "assumed, nothing vouches for it",
            };
            (Some(piece.chunk), words.to_owned())
        });
        let mut groups = merged(lost);
        groups.extend(merged(unsure));
        lines.extend(shortened(groups, most).iter().map(Group::line));
        if !lines.is_empty() || !self.is_whole() {
            lines.extend(self.notes.iter().take(most).map(|note| format!("note: {note}")));
        }
        let most = most.checked_div(self.columns.len()).unwrap_or(most).max(1);
        for (name, column) in &self.columns {
            let of_column = column.lines(most);
            lines.extend(of_column.iter().map(|line| format!("column {name}: {line}")));
        }
        lines
    }

    /// How many pieces, those of all columns included, have this certainty.
    #[must_use]
    pub fn count(&self, certainty: Certainty) -> usize {
        let columns = self.columns.iter().map(|(_, column)| column.count(certainty));
        let pieces = self.pieces.iter().filter(|piece| piece.certainty == certainty);
        columns.sum::<usize>() + pieces.count()
    }
}

/// Chunks in a row of which the same is to be said, or something that has no place among them.
struct Group {
    chunks: Option<(usize, usize)>,
    words: String,
}

impl Group {
    fn line(&self) -> String {
        let words = &self.words;
        match self.chunks {
            Some((first, last)) if first == last => format!("chunk {first}: {words}"),
            Some((first, last)) => format!("chunks {first} to {last}: {words}"),
            None => words.clone(),
        }
    }
}

fn merged(chunks: impl Iterator<Item = (Option<usize>, String)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (chunk, words) in chunks {
        match (groups.last_mut(), chunk) {
            (Some(Group { chunks: Some((_, last)), words: same }), Some(chunk))
                if *last + 1 == chunk && *same == words =>
            {
                *last = chunk;
            }
            _ => groups.push(Group { chunks: chunk.map(|chunk| (chunk, chunk)), words }),
        }
    }
    groups
}

/// At most `most` groups, and one for all others. No chunk of theirs stays unnamed.
fn shortened(mut groups: Vec<Group>, most: usize) -> Vec<Group> {
    if groups.len() <= most {
        return groups;
    }
    let others = groups.split_off(most);
    let places = || others.iter().filter_map(|group| group.chunks);
    let first = places().map(|(first, _)| first).min();
    let last = places().map(|(_, last)| last).max();
    let words = format!("some are lost or uncertain, which would take {} lines", others.len());
    groups.push(Group { chunks: first.zip(last), words });
    groups
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Assumed => "assumed",
            Self::Decoded => "decoded",
            Self::Verified => "verified",
        })
    }
}

impl fmt::Display for ChunkOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Index => "index",
            Self::FoundIndex => "found index",
            Self::Storage => "storage",
        })
    }
}

impl fmt::Display for FoundAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(range) => write!(f, "bytes {} to {}", range.start, range.end),
            Self::File(name) => write!(f, "file {name}"),
            Self::FileBytes(name, range) => {
                write!(f, "file {name}, bytes {} to {}", range.start, range.end)
            }
            Self::Index => f.write_str("index"),
            Self::Nowhere => f.write_str("nowhere"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of pieces none of which is like its neighbours.
    fn report(count: usize) -> SalvageReport {
        let mut report = SalvageReport::new("frame", ChunkOrder::Index);
        let certainties = [Certainty::Assumed, Certainty::Decoded].into_iter().cycle();
        for (chunk, certainty) in certainties.take(count).enumerate() {
            report.keep(chunk as u64, FoundAt::Nowhere, 1, certainty);
        }
        report
    }

    #[test]
    fn no_chunk_stays_unnamed_however_many_lines_it_would_take() {
        assert_eq!(report(MOST_LINES).uncertain().len(), MOST_LINES);
        let lines = report(3000).uncertain();
        assert_eq!(lines.len(), MOST_LINES + 1);
        let last = "chunks 1000 to 2999: some are lost or uncertain, which would take 2000 lines";
        assert_eq!(lines.last().map(String::as_str), Some(last));
        let mut table = SalvageReport::new("table", ChunkOrder::Index);
        table.columns = (0..4).map(|number| (format!("c{number}"), report(3000))).collect();
        let lines = table.uncertain();
        assert_eq!(lines.len(), MOST_LINES + 4);
        let last = "column c3: chunks 250 to 2999: some are lost or uncertain, ";
        assert!(lines.last().is_some_and(|line| line.starts_with(last)));
    }
}
