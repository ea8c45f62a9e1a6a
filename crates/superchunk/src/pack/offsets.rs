//! The positions of chunks: 64-bit, absolute, −1 where nobody has filled one in yet.
//!
//! ```text
//! │ chunk 0 │ chunk 1 │ … │ chunk n−1 │ −1 │ −1 │ …     nchunks + max_app_chunks
//! ```
//!
//! A writer puts −1 everywhere first. All −1, or −1 from one position on, is what an interrupted writer
//! leaves; −1 before a known position is damage.

use super::ahead::Ahead;
use crate::error::{Error, Result};
use crate::store::ReadAt;

/// The bytes of a position.
pub(super) const WIDTH: u64 = 8;

/// The positions of a file, in order.
pub(super) struct Positions<'s> {
    ahead: Ahead<'s>,
    start: u64,
    /// An unknown position has been seen.
    unknown: bool,
    number: u64,
}

impl<'s> Positions<'s> {
    pub(super) fn new(store: &'s dyn ReadAt, start: u64) -> Self {
        Self { ahead: Ahead::new(store), start, unknown: false, number: 0 }
    }

    /// The next position, if it is known. `strict` refuses what no writer leaves.
    pub(super) fn next(&mut self, strict: bool) -> Result<Option<u64>> {
        let at = self.start.saturating_add(self.number.saturating_mul(WIDTH));
        self.number += 1;
        let wrong = |words: String| {
            Err(Error::corrupt(words).at("bloscpack", "offsets", usize::try_from(at).unwrap_or(0)))
        };
        let Some(bytes) = self.ahead.array(at)? else {
            return Err(Error::truncated("the file ends inside of the offsets").at(
                "bloscpack",
                "offsets",
                usize::try_from(at).unwrap_or(0),
            ));
        };
        match i64::from_le_bytes(bytes) {
            -1 => {
                self.unknown = true;
                Ok(None)
            }
            stored => match u64::try_from(stored) {
                Err(_) if strict => wrong(format!("{stored} is no position")),
                Ok(_) if self.unknown && strict => wrong(
                    "a known position follows unknown ones, which no writer leaves".to_owned(),
                ),
                found => Ok(found.ok()),
            },
        }
    }
}

/// Positions as they are stored.
pub(super) fn to_bytes(positions: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let stored = positions.into_iter().map(|position| i64::try_from(position).unwrap_or(-1));
    stored.flat_map(i64::to_le_bytes).collect()
}

/// Room for positions that are not known.
pub(super) fn unknown(count: usize) -> Vec<u8> {
    vec![0xff; count.saturating_mul(8)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::store::Bytes;

    fn all(stored: &[i64], strict: bool) -> Result<Vec<Option<u64>>> {
        let bytes: Vec<u8> = stored.iter().flat_map(|position| position.to_le_bytes()).collect();
        let store = Bytes::new(bytes);
        let mut positions = Positions::new(&store, 0);
        stored.iter().map(|_| positions.next(strict)).collect()
    }

    #[test]
    fn known_positions_come_first() {
        assert_eq!(all(&[40, 60, -1, -1], true).unwrap(), [Some(40), Some(60), None, None]);
        for wrong in [&[40, -1, 60][..], &[-5], &[i64::MIN]] {
            assert_eq!(all(wrong, true).unwrap_err().kind(), ErrorKind::Corrupt);
            all(wrong, false).unwrap();
        }
    }

    #[test]
    fn positions_end_with_the_file() {
        let many: Vec<i64> = (0..2000).collect();
        assert_eq!(all(&many, true).unwrap().len(), 2000);
        let store = Bytes::new(vec![0; 12]);
        let mut positions = Positions::new(&store, 0);
        positions.next(true).unwrap();
        assert_eq!(positions.next(true).unwrap_err().kind(), ErrorKind::Truncated);
        let stored = [to_bytes([1, 1 << 40]), unknown(1)].concat();
        assert_eq!(stored.len(), 24);
        assert_eq!(stored[16..], [0xff; 8]);
    }
}
