//! Looking for chunks of Blosc1 and the digests behind them.

use std::ops::Range;

use crate::chunk::Header;
use crate::error::{Error, ErrorKind, Result};
use crate::pack::Checksum;

use super::super::input::Input;
use super::super::rebuild::check_count;
use super::super::report::Certainty;
use super::super::scan::{Judge, blosc1_header, next_blosc1, refusal};

const DAMAGED: &str = "it does not decode, or does not have its digest";

/// A chunk, or what was one.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Where it is, without its digest.
    pub(super) range: Range<u64>,
    /// Where its digest ends.
    pub(super) end: u64,
    pub(super) decoded_len: usize,
    pub(super) item_size: usize,
    /// How sure it is, or why it is lost; then only its header can be read.
    pub(super) certainty: std::result::Result<Certainty, String>,
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
        self.found.iter().filter(|found| found.certainty.is_ok())
    }
}

/// Looks through a whole file. `stated` is the digest that a header speaks of; it may be damaged, so that
/// every other one is tried, too. Where no digest is right anywhere, and chunks leave no room for the one that
/// is stated, those count that decode.
pub(super) fn search(stated: Option<Checksum>, judge: &mut Judge<'_>) -> Result<Search> {
    let verified = Walk { judge, stated, by_digest: true }.run()?;
    let states_digests = stated.is_some_and(|stated| stated != Checksum::None);
    if verified.whole().next().is_some() || states_digests && !verified.found.is_empty() {
        return Ok(verified);
    }
    let mut decoded = Walk { judge, stated: None, by_digest: false }.run()?;
    decoded.checksum = None;
    Ok(decoded)
}

struct Walk<'w, 'b> {
    judge: &'w mut Judge<'b>,
    /// The digest to try first: the one stated, or that of the last chunk that had one.
    stated: Option<Checksum>,
    by_digest: bool,
}

impl Walk<'_, '_> {
    fn run(mut self) -> Result<Search> {
        let mut search = Search::default();
        let (mut from, len) = (0, self.judge.input.len());
        while let Some(at) = next_blosc1(&mut self.judge.input, from..len) {
            from = at + 1;
            let Some(header) = blosc1_header(&mut self.judge.input, at, len) else { continue };
            let range = at..at + header.compressed_len() as u64;
            let certainty = self.certainty(&header, at);
            let end = match certainty {
                Ok(Certainty::Verified) => Some(range.end + self.digest_len()),
                Ok(_) => Some(self.end_before_next(range.end).unwrap_or(range.end)),
                Err(_) => self.end_before_next(range.end),
            };
            // Else a header inside of bytes that are none.
            let Some(end) = end else { continue };
            let certainty = match certainty {
                // It may be whole: that there is too little memory must not make it a hole.
                Err(error) if error.is_no_damage() => return Err(error),
                Err(error) if error.kind() == ErrorKind::Unsupported => Err(refusal(&error)),
                certainty => certainty.map_err(|_| DAMAGED.to_owned()),
            };
            let (decoded_len, item_size) = (header.byte_len(), header.item_size());
            search.found.push(Found { range, end, decoded_len, item_size, certainty });
            check_count(search.found.len(), &self.judge.limits)?;
            from = end;
        }
        search.checksum = self.stated.filter(|checksum| *checksum != Checksum::None);
        Ok(search)
    }

    fn digest_len(&self) -> u64 {
        self.stated.map_or(0, Checksum::len) as u64
    }

    /// How sure a chunk is.
    fn certainty(&mut self, header: &Header, at: u64) -> Result<Certainty> {
        if !self.by_digest {
            return self.judge.certainty_of(header, at);
        }
        let len = header.compressed_len();
        self.judge.limits.check_decoded(len)?;
        self.judge.input.whole(&(at..at + len as u64))?;
        let first = self.stated.into_iter();
        let others = Checksum::ALL.into_iter().filter(|other| Some(*other) != self.stated);
        for checksum in first.chain(others).filter(|checksum| *checksum != Checksum::None) {
            let stored = self.judge.input.get(at, len + checksum.len());
            let Some((chunk, behind)) = stored.split_at_checked(len) else { break };
            if checksum.compare(chunk, behind).is_ok() {
                self.stated = Some(checksum);
                self.judge.check_known(header)?;
                return Ok(Certainty::Verified);
            }
            self.judge.spend(len);
            self.judge.check_budget()?;
        }
        Err(Error::corrupt(DAMAGED))
    }

    /// Where a chunk and its digest end, if another one or the end of the file follows: else it was none.
    fn end_before_next(&mut self, end: u64) -> Option<u64> {
        let input = &mut self.judge.input;
        match self.stated {
            Some(checksum) => follows(input, end + checksum.len() as u64),
            None => Checksum::ALL.iter().find_map(|other| follows(input, end + other.len() as u64)),
        }
    }
}

/// The place, if it is the end of the file or that of another chunk.
fn follows(input: &mut Input<'_>, at: u64) -> Option<u64> {
    let len = input.len();
    (at == len || blosc1_header(input, at, len).is_some()).then_some(at)
}
