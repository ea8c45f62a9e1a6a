//! Looking for chunks of Blosc1 and the digests behind them.

use std::ops::Range;

use crate::chunk::Header;
use crate::pack::Checksum;

use super::super::report::Certainty;
use super::super::scan::{Judge, blosc1_header};

/// A chunk, or what was one.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Where it is, without its digest.
    pub(super) range: Range<usize>,
    /// Where its digest ends.
    pub(super) end: usize,
    pub(super) decoded_len: usize,
    pub(super) item_size: usize,
    /// How sure it is; `None` if it is damaged, and only its header can be read.
    pub(super) certainty: Option<Certainty>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Chunks, whole or damaged, in the order of the file.
    pub(super) found: Vec<Found>,
    /// The digest that most of them have.
    pub(super) checksum: Option<Checksum>,
}

impl Search {
    /// The chunks that can be read.
    pub(super) fn whole(&self) -> impl Iterator<Item = &Found> {
        self.found.iter().filter(|found| found.certainty.is_some())
    }
}

/// Looks through a whole file. `stated` is the digest that a header speaks of; it may be damaged, so that
/// every other one is tried, too. Where no digest is right anywhere, chunks count that decode.
pub(super) fn search<'b>(
    bytes: &'b [u8],
    stated: Option<Checksum>,
    judge: &mut Judge<'b>,
) -> Search {
    let verified = Walk { bytes, judge, stated, by_digest: true }.run();
    if verified.whole().next().is_some() {
        return verified;
    }
    let mut decoded = Walk { bytes, judge, stated: None, by_digest: false }.run();
    decoded.checksum = None;
    decoded
}

struct Walk<'w, 'b> {
    bytes: &'b [u8],
    judge: &'w mut Judge<'b>,
    /// The digest to try first: the one stated, or that of the last chunk that had one.
    stated: Option<Checksum>,
    by_digest: bool,
}

impl Walk<'_, '_> {
    fn run(mut self) -> Search {
        let mut search = Search::default();
        let mut at = 0;
        while at < self.bytes.len() {
            let Some(header) = blosc1_header(self.bytes, at) else {
                at += 1;
                continue;
            };
            let range = at..at + header.compressed_len();
            let mut found = Found {
                range: range.clone(),
                end: range.end,
                decoded_len: header.len(),
                item_size: header.item_size(),
                certainty: self.certainty(&header, range),
            };
            let end = match found.certainty {
                Some(Certainty::Verified) => Some(found.range.end + self.digest_len()),
                Some(_) => Some(self.end_before_next(found.range.end).unwrap_or(found.range.end)),
                None => self.end_before_next(found.range.end),
            };
            // A header inside of bytes that are none.
            let Some(end) = end else {
                at += 1;
                continue;
            };
            found.end = end;
            search.found.push(found);
            at = end;
        }
        search.checksum = self.stated.filter(|checksum| *checksum != Checksum::None);
        search
    }

    fn digest_len(&self) -> usize {
        self.stated.map_or(0, Checksum::len)
    }

    /// How sure a chunk is; `None` if it is damaged.
    fn certainty(&mut self, header: &Header, range: Range<usize>) -> Option<Certainty> {
        let chunk = self.bytes.get(range.clone())?;
        if !self.by_digest {
            return self.judge.certainty_of_known(header, chunk).ok();
        }
        let behind = self.bytes.get(range.end..).unwrap_or_default();
        let first = self.stated.into_iter();
        let others = Checksum::ALL.into_iter().filter(|other| Some(*other) != self.stated);
        for checksum in first.chain(others).filter(|checksum| *checksum != Checksum::None) {
            if checksum.compare(chunk, behind).is_ok() {
                self.stated = Some(checksum);
                return Some(Certainty::Verified);
            }
            self.judge.spend(chunk.len()).ok()?;
        }
        None
    }

    /// Where a chunk and its digest end, if another one or the end of the file follows: else it was none.
    fn end_before_next(&self, end: usize) -> Option<usize> {
        let follows = |len: &usize| {
            end + len == self.bytes.len() || blosc1_header(self.bytes, end + len).is_some()
        };
        match self.stated {
            Some(checksum) => Some(checksum.len()).filter(follows),
            None => Checksum::ALL.into_iter().map(Checksum::len).find(follows),
        }
        .map(|len| end + len)
    }
}
