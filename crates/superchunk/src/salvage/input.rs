//! The bytes of a damaged file, of which only a part is in memory at a time.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::store::ReadAt;
use crate::wire;

/// How much is read at once, or more if more is asked for.
const WINDOW: usize = 1 << 20;
/// Where the disk fails, this much is given up at once.
const SECTOR: usize = 4096;

/// A file whose bytes can be looked at in any order. Bytes that the disk does not give are zeros.
pub(super) struct Input<'a> {
    store: &'a dyn ReadAt,
    len: u64,
    window: Vec<u8>,
    /// Where the window is in the file.
    start: u64,
    unreadable: Vec<(Range<u64>, Error)>,
    /// How many bytes there was no memory for.
    too_many: Option<usize>,
}

impl<'a> Input<'a> {
    pub(super) fn new(store: &'a dyn ReadAt) -> Result<Self> {
        let len = store.len()?;
        let (window, unreadable) = (Vec::new(), Vec::new());
        Ok(Self { store, len, window, start: 0, unreadable, too_many: None })
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The ranges that could not be read so far, and why.
    pub(super) fn unreadable(&self) -> &[(Range<u64>, Error)] {
        &self.unreadable
    }

    /// `len` bytes from `at` on; fewer at the end of the file.
    pub(super) fn get(&mut self, at: u64, len: usize) -> &[u8] {
        wire::at_most(self.ahead(at, len), len)
    }

    /// A range; what lies behind the end of the file is missing.
    pub(super) fn range(&mut self, range: &Range<u64>) -> &[u8] {
        self.get(range.start, usize::try_from(range.end - range.start).unwrap_or(usize::MAX))
    }

    /// All bytes of a range; an error if the file does not have them, or the disk does not give
    /// them.
    pub(super) fn whole(&mut self, range: &Range<u64>) -> Result<&[u8]> {
        let found = self.range(range).len() as u64;
        self.check_read(range)?;
        if found < range.end - range.start {
            return Err(Error::truncated("the file ends before it"));
        }
        Ok(self.range(range))
    }

    /// Makes sure that the disk gives all bytes of a range, without taking memory for it.
    pub(super) fn check_readable(&mut self, range: &Range<u64>) -> Result<()> {
        let mut at = range.start;
        while at < range.end {
            at = self.skip_hole(at, 1);
            let found = self.ahead(at, 1).len() as u64;
            if found == 0 {
                break;
            }
            at += found;
        }
        self.check_read(range)
    }

    /// Makes sure that what was read of a range is what the file holds.
    fn check_read(&self, range: &Range<u64>) -> Result<()> {
        if let Some(bytes) = self.too_many {
            return Err(Error::limit(format!("there is no memory for {bytes} bytes")));
        }
        let overlaps = |lost: &Range<u64>| lost.start < range.end && range.start < lost.end;
        let lost = self.unreadable.iter().find(|(lost, _)| overlaps(lost));
        lost.map_or(Ok(()), |(lost, error)| {
            let words = format!("bytes {} to {} cannot be read: {error}", lost.start, lost.end);
            Err(Error::corrupt(words))
        })
    }

    /// A few bytes, without moving the window; `None` if they cannot be read, or are not there.
    pub(super) fn peek<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.store.read_exact_at(at, &mut bytes).ok().map(|()| bytes)
    }

    /// All bytes from `at` on that are in memory, `least` at least; fewer at the end of the file.
    pub(super) fn ahead(&mut self, at: u64, least: usize) -> &[u8] {
        if self.store.as_bytes().is_none() {
            let end = at.saturating_add(least as u64).min(self.len);
            if at < self.start || end > self.start + self.window.len() as u64 {
                self.fill(at, least);
            }
        }
        let (bytes, start) = match self.store.as_bytes() {
            Some(bytes) => (bytes, 0),
            None => (self.window.as_slice(), self.start),
        };
        let from = at.checked_sub(start).and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| bytes.get(from..)).unwrap_or_default()
    }

    /// Where the last byte of a range ends that is not zero; the start if there is none.
    pub(super) fn end_of_bytes(&mut self, range: Range<u64>) -> u64 {
        let (mut at, mut used) = (range.start, range.start);
        loop {
            at = self.skip_hole(at, 1);
            if at >= range.end.min(self.len) {
                break;
            }
            let left = usize::try_from(range.end - at).unwrap_or(usize::MAX);
            let part = wire::at_most(self.ahead(at, 1), left);
            if part.is_empty() {
                break;
            }
            if let Some(last) = part.iter().rposition(|byte| *byte != 0) {
                used = at + last as u64 + 1;
            }
            at += part.len() as u64;
        }
        used
    }

    /// The first place from `at` on that may hold a byte other than zero; `at` itself if `least`
    /// bytes are in memory there.
    fn skip_hole(&self, at: u64, least: usize) -> u64 {
        let end = self.start + self.window.len() as u64;
        let is_read = at >= self.start && at.saturating_add(least as u64) <= end;
        if is_read || self.store.as_bytes().is_some() {
            return at;
        }
        self.store.next_data(at).map_or(at, |data| data.clamp(at, self.len.max(at)))
    }

    /// The first place of a range where a pattern begins, which does not begin with a zero.
    pub(super) fn position_of<const N: usize>(
        &mut self,
        range: Range<u64>,
        is_pattern: impl Fn(&[u8; N]) -> bool,
    ) -> Option<u64> {
        let mut from = range.start;
        loop {
            from = self.skip_hole(from, N);
            if from >= range.end {
                return None;
            }
            let ahead = self.ahead(from, N);
            let mut places = ahead.windows(N);
            let found = places.position(|place| place.first_chunk().is_some_and(&is_pattern));
            if let Some(found) = found {
                return Some(from + found as u64).filter(|at| *at < range.end);
            }
            if ahead.len() < N {
                return None;
            }
            // The last bytes may be the first ones of it.
            from += (ahead.len() - (N - 1)) as u64;
        }
    }

    /// Moves the window to `at`. It holds more than is asked for: places close by are asked for next.
    fn fill(&mut self, at: u64, least: usize) {
        // What the disk does not give is given up by sectors.
        self.start = at - at % SECTOR as u64;
        let left = usize::try_from(self.len.saturating_sub(self.start)).unwrap_or(usize::MAX);
        self.window.clear();
        let len = least.saturating_add(WINDOW).min(left);
        if self.window.try_reserve_exact(len).is_err() {
            self.too_many = Some(len);
            return;
        }
        self.window.resize(len, 0);
        match self.store.read_at(self.start, &mut self.window) {
            // The file has become shorter.
            Ok(found) => self.window.truncate(found),
            Err(error) if error.kind() == ErrorKind::Interrupted => self.window.clear(),
            Err(_) => self.fill_by_sectors(),
        }
    }

    /// Reads what can be read.
    fn fill_by_sectors(&mut self) {
        for (number, sector) in self.window.chunks_mut(SECTOR).enumerate() {
            let at = self.start + (number * SECTOR) as u64;
            let range = at..at + sector.len() as u64;
            if let Err(error) = self.store.read_exact_at(at, sector) {
                sector.fill(0);
                note(&mut self.unreadable, range, error);
            }
        }
    }
}

/// Notes a range that cannot be read, as part of the one before where it follows that.
fn note(unreadable: &mut Vec<(Range<u64>, Error)>, range: Range<u64>, error: Error) {
    if unreadable.iter().any(|(known, _)| known.start <= range.start && range.end <= known.end) {
        return;
    }
    match unreadable.last_mut() {
        Some((last, _)) if last.end == range.start => last.end = range.end,
        _ => unreadable.push((range, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three windows and a half, with a hole in which reading fails.
    struct Disk {
        bytes: Vec<u8>,
        broken: Range<u64>,
    }

    impl ReadAt for Disk {
        fn len(&self) -> Result<u64> {
            Ok(self.bytes.len() as u64)
        }

        fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
            let end = position + dst.len() as u64;
            if position < self.broken.end && end > self.broken.start {
                return Err(Error::io("cannot read it", std::io::Error::other("broken")));
            }
            let from = usize::try_from(position).unwrap();
            let part = self.bytes.get(from..).unwrap_or_default();
            let count = part.len().min(dst.len());
            dst[..count].copy_from_slice(&part[..count]);
            Ok(count)
        }
    }

    fn disk(broken: Range<u64>) -> Disk {
        let bytes = (1..=251).cycle().take(WINDOW * 7 / 2).collect();
        Disk { bytes, broken }
    }

    #[test]
    fn every_part_is_what_the_file_holds() {
        let disk = disk(0..0);
        let mut input = Input::new(&disk).unwrap();
        let len = disk.bytes.len();
        for (at, wanted) in [(0, 10), (len - 3, 10), (5, 2 * WINDOW), (WINDOW - 1, 2), (len, 1)] {
            let expected = &disk.bytes[at..(at + wanted).min(len)];
            assert!(input.get(at as u64, wanted) == expected, "{wanted} bytes at {at}");
        }
        assert!(input.get(u64::MAX, 8).is_empty());
    }

    #[test]
    fn a_pattern_is_found_across_windows() {
        let mut disk = disk(0..0);
        disk.bytes.fill(0);
        let place = WINDOW + 3 - 2;
        disk.bytes[place..place + 4].copy_from_slice(b"here");
        let mut input = Input::new(&disk).unwrap();
        let (place, end) = (place as u64, input.len());
        assert_eq!(input.position_of(0..end, |found| found == b"here"), Some(place));
        assert_eq!(input.position_of(0..place, |found| found == b"here"), None);
        assert_eq!(input.position_of(place + 1..end, |found| found == b"here"), None);
        assert_eq!(input.end_of_bytes(0..place), 0);
        assert_eq!(input.end_of_bytes(7..end), place + 4);
    }

    /// A tebibyte of zeros, but for four bytes.
    struct Holes(u64);

    impl ReadAt for Holes {
        fn len(&self) -> Result<u64> {
            Ok(1 << 40)
        }

        fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
            dst.fill(0);
            for (at, byte) in (self.0..).zip(b"here") {
                let place = at.checked_sub(position).and_then(|at| usize::try_from(at).ok());
                if let Some(place) = place.and_then(|place| dst.get_mut(place)) {
                    *place = *byte;
                }
            }
            Ok(dst.len())
        }

        fn next_data(&self, position: u64) -> Result<u64> {
            let block = self.0 / 4096 * 4096;
            let next = if position < block { block } else { 1 << 40 };
            Ok(if (block..block + 8192).contains(&position) { position } else { next })
        }
    }

    #[test]
    fn more_than_there_is_memory_for_is_no_damage() {
        let disk = Holes(0);
        let mut input = Input { len: u64::MAX >> 1, ..Input::new(&disk).unwrap() };
        let kind = |result: Result<&[u8]>| result.map(<[u8]>::len).map_err(|error| error.kind());
        assert_eq!(kind(input.whole(&(0..4))), Ok(4));
        let all = 0..u64::MAX >> 2;
        assert_eq!(kind(input.whole(&all)), Err(ErrorKind::LimitExceeded));
    }

    #[test]
    fn holes_are_not_read() {
        for place in [0, 4094, 3 << 30, (7 << 30) + 4093, (1 << 40) - 4] {
            let disk = Holes(place);
            let mut input = Input::new(&disk).unwrap();
            let found = |input: &mut Input<'_>, range| input.position_of(range, |at| at == b"here");
            assert_eq!(found(&mut input, 0..1 << 40), Some(place));
            assert_eq!(found(&mut input, place + 1..1 << 40), None);
            assert_eq!(input.end_of_bytes(0..1 << 40), place + 4);
            assert_eq!(input.end_of_bytes(place + 4..1 << 40), place + 4);
        }
    }

    #[test]
    fn what_the_disk_does_not_give_is_zero_and_noted_once() {
        let disk = disk(10_000..20_000);
        let mut input = Input::new(&disk).unwrap();
        for _ in 0..2 {
            assert_eq!(input.get(0, 8192), &disk.bytes[..8192]);
            assert_eq!(input.get(8192, 12_288), [0; 12_288]);
            assert_eq!(input.get(20_480, 10), &disk.bytes[20_480..20_490]);
            assert!(input.get(3 << 20, 10) == &disk.bytes[3 << 20..(3 << 20) + 10]);
            for (range, is_given) in [(0..8192, true), (20_480..9 << 20, true), (0..8193, false)] {
                assert_eq!(input.check_readable(&range).is_ok(), is_given, "{range:?}");
            }
            assert!(input.whole(&(20_479..20_481)).is_err());
        }
        let ranges: Vec<_> = input.unreadable().iter().map(|(range, _)| range.clone()).collect();
        assert!(matches!(ranges.as_slice(), [Range { start: 8192, end: 20_480 }]), "{ranges:?}");
    }
}
