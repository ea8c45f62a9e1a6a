//! What a verification has found: how many of what, on which level, and what is wrong where.

use std::fmt;

use crate::detect::Format;

/// How far something is looked at. Each level takes in those before it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Headers, trailers and metadata can be read.
    Structure,
    /// The index leads to chunks whose headers are valid and fit their places.
    Index,
    /// Header, index and chunks have the checksums that they were written with, where there are any.
    Checksums,
    /// Chunks decode.
    Decode,
    /// What several parts or files say agrees: shapes and numbers of chunks, lengths of columns, names
    /// of files, numbers of objects.
    #[default]
    Files,
}

/// What is thought of something that was looked at.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is as it should be.
    Verified,
    /// Nothing vouches for it: there never was a checksum, or another program has changed it since.
    Unverified,
    /// It could not be looked at: a limit, or a codec that this build does not have.
    Unchecked,
    /// It belongs to nothing. An interrupted writer leaves such files; they do no harm.
    Stray,
    /// It is damaged.
    Corrupt,
}

/// How many things were looked at on a level, and what is thought of them.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelReport {
    /// Which level.
    pub level: Level,
    /// How many parts or chunks are as they should be.
    pub verified: u64,
    /// For how many nothing vouches, or that could not be looked at.
    pub unverified: u64,
    /// How many are damaged.
    pub corrupt: u64,
}

/// Something that is to be told.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// On which level it was found.
    pub level: Level,
    /// How bad it is.
    pub verdict: Verdict,
    /// The number of the chunk, if it is about one.
    pub chunk: Option<u64>,
    /// What it is, with the place where it is.
    pub words: String,
}

/// What was found.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct VerifyReport {
    /// What it is.
    pub format: Format,
    /// What vouches for the content: `sealed`, `unverified`, `none`, or the name of a digest.
    pub checksums: &'static str,
    /// How many chunks there are, and how many of them were looked at.
    pub chunks: u64,
    /// How many of the chunks were chosen: all, or a sample.
    pub chosen: u64,
    /// How many chunks have the checksum that they were written with, and are good in every respect
    /// that was looked at.
    pub by_checksum: u64,
    /// How many chunks decode, but have no checksum to compare with.
    pub by_decoding: u64,
    /// The levels that were looked at, in order.
    pub levels: Vec<LevelReport>,
    /// All that is to be told.
    pub findings: Vec<Finding>,
}

impl VerifyReport {
    pub(super) fn new(format: Format, deepest: Level) -> Self {
        let levels = Level::ALL.into_iter().filter(|level| *level <= deepest);
        let empty = |level| LevelReport { level, verified: 0, unverified: 0, corrupt: 0 };
        Self {
            format,
            checksums: "none",
            chunks: 0,
            chosen: 0,
            by_checksum: 0,
            by_decoding: 0,
            levels: levels.map(empty).collect(),
            findings: Vec::new(),
        }
    }

    /// Whether nothing is damaged.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.corrupt().next().is_none()
    }

    /// Whether only some of the chunks were looked at.
    #[must_use]
    pub fn is_sample(&self) -> bool {
        self.chosen < self.chunks
    }

    /// Whether all that was chosen could be looked at.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.findings.iter().all(|finding| finding.verdict != Verdict::Unchecked)
    }

    /// What is damaged.
    pub fn corrupt(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.verdict == Verdict::Corrupt)
    }

    pub(super) fn wants(&self, level: Level) -> bool {
        self.levels.iter().any(|found| found.level == level)
    }

    /// Counts something that was looked at, if the level is wanted.
    pub(super) fn count(&mut self, level: Level, verdict: Verdict) {
        let Some(counts) = self.levels.iter_mut().find(|found| found.level == level) else {
            return;
        };
        match verdict {
            Verdict::Verified => counts.verified += 1,
            Verdict::Unverified | Verdict::Unchecked => counts.unverified += 1,
            Verdict::Corrupt => counts.corrupt += 1,
            Verdict::Stray => {}
        }
    }

    /// Counts something, and tells of it.
    pub(super) fn tell(
        &mut self,
        level: Level,
        verdict: Verdict,
        chunk: Option<u64>,
        words: impl fmt::Display,
    ) {
        self.count(level, verdict);
        self.findings.push(Finding { level, verdict, chunk, words: words.to_string() });
    }

    /// Counts a part that was looked at with this result.
    pub(super) fn result<T, E: fmt::Display>(
        &mut self,
        level: Level,
        result: Result<T, E>,
    ) -> Option<T> {
        match result {
            Ok(value) => {
                self.count(level, Verdict::Verified);
                Some(value)
            }
            Err(error) => {
                self.tell(level, Verdict::Corrupt, None, error);
                None
            }
        }
    }
}

impl Level {
    /// All levels, in order.
    pub const ALL: [Self; 5] =
        [Self::Structure, Self::Index, Self::Checksums, Self::Decode, Self::Files];

    /// Its name in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::Index => "index",
            Self::Checksums => "checksums",
            Self::Decode => "decode",
            Self::Files => "files",
        }
    }
}

impl Verdict {
    /// Its name in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Unverified => "unverified",
            Self::Unchecked => "unchecked",
            Self::Stray => "stray",
            Self::Corrupt => "corrupt",
        }
    }
}

impl LevelReport {
    /// How many things were looked at.
    #[must_use]
    pub fn checked(&self) -> u64 {
        self.verified + self.unverified + self.corrupt
    }
}
