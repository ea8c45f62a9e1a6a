//! Invariants that fail loudly: what cannot be absent, unless this library has a bug.
//!
//! Where one part of the library relies on another (a range that was computed to lie inside of a
//! buffer, an entry that was counted before), a plain default for what is absent would turn a
//! mistake into wrong bytes and `Ok(())`. These methods turn it into [`ErrorKind::Bug`], and into a
//! panic where debug assertions are on: in tests and under the fuzzer. They are not for untrusted
//! bytes: what an input can make absent is `Corrupt` or `Truncated`.

use std::fmt;
use std::panic::Location;
use std::slice::SliceIndex;

use super::{Error, ErrorKind, Result};

impl Error {
    /// The library has broken a rule of its own.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(crate) fn bug(rule: impl fmt::Display) -> Self {
        let error = Self::bug_at(Location::caller(), rule);
        debug_assert!(false, "{error}");
        error
    }

    fn bug_at(place: &Location<'_>, rule: impl fmt::Display) -> Self {
        let (file, line, version) = (place.file(), place.line(), env!("CARGO_PKG_VERSION"));
        Self::new(
            ErrorKind::Bug,
            format!(
                "{rule} ({file}:{line}): this is a bug in superchunk {version}, please report it with \
                 this message and the command or call that led to it"
            ),
        )
    }
}

/// What must be there.
pub(crate) trait OrBug<T> {
    /// The value, or [`ErrorKind::Bug`] with the rule that says why it must be there.
    fn or_bug(self, rule: &str) -> Result<T>;
}

impl<T> OrBug<T> for Option<T> {
    #[inline]
    #[track_caller]
    fn or_bug(self, rule: &str) -> Result<T> {
        match self {
            Some(value) => Ok(value),
            None => Err(Error::bug(rule)),
        }
    }
}

impl<T> OrBug<T> for std::result::Result<T, std::num::TryFromIntError> {
    #[inline]
    #[track_caller]
    fn or_bug(self, rule: &str) -> Result<T> {
        self.ok().or_bug(rule)
    }
}

/// Parts of a slice that must lie inside of it.
pub(crate) trait MustGet<T> {
    /// The item or the range at `place`.
    fn must_get<I: SliceIndex<[T]>>(&self, place: I) -> Result<&I::Output>;

    /// The item or the range at `place`, to be changed.
    fn must_get_mut<I: SliceIndex<[T]>>(&mut self, place: I) -> Result<&mut I::Output>;

    /// The first `count` items and the others.
    fn must_split_at(&self, count: usize) -> Result<(&[T], &[T])>;

    /// The first `count` items and the others, to be changed.
    fn must_split_at_mut(&mut self, count: usize) -> Result<(&mut [T], &mut [T])>;
}

impl<T> MustGet<T> for [T] {
    #[inline]
    #[track_caller]
    fn must_get<I: SliceIndex<[T]>>(&self, place: I) -> Result<&I::Output> {
        match self.get(place) {
            Some(part) => Ok(part),
            None => Err(outside(self.len())),
        }
    }

    #[inline]
    #[track_caller]
    fn must_get_mut<I: SliceIndex<[T]>>(&mut self, place: I) -> Result<&mut I::Output> {
        let len = self.len();
        match self.get_mut(place) {
            Some(part) => Ok(part),
            None => Err(outside(len)),
        }
    }

    #[inline]
    #[track_caller]
    fn must_split_at(&self, count: usize) -> Result<(&[T], &[T])> {
        match self.split_at_checked(count) {
            Some(parts) => Ok(parts),
            None => Err(outside(self.len())),
        }
    }

    #[inline]
    #[track_caller]
    fn must_split_at_mut(&mut self, count: usize) -> Result<(&mut [T], &mut [T])> {
        let len = self.len();
        match self.split_at_mut_checked(count) {
            Some(parts) => Ok(parts),
            None => Err(outside(len)),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside(len: usize) -> Error {
    Error::bug(format_args!("a computed place lies outside of its {len} items"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_given_back() {
        let mut items = [1, 2, 3];
        assert_eq!(items.must_get(1..).unwrap(), [2, 3]);
        assert_eq!(*items.must_get_mut(2).unwrap(), 3);
        assert_eq!(items.must_split_at(3).unwrap(), (&[1, 2, 3][..], &[][..]));
        assert_eq!(items.must_split_at_mut(1).unwrap().0, [1]);
        assert_eq!(Some(5).or_bug("").unwrap(), 5);
        assert_eq!(u8::try_from(7u32).or_bug("").unwrap(), 7);
    }

    #[test]
    fn a_bug_says_where_it_is_and_what_to_do() {
        let error = Error::bug_at(Location::caller(), "every block has a start");
        assert_eq!(error.kind(), ErrorKind::Bug);
        let words = error.to_string();
        for part in ["every block has a start", "must.rs:", "please report it", "superchunk 0"] {
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn a_bug_is_no_damage_and_stays_a_bug() {
        let bug = || Error::bug_at(Location::caller(), "");
        assert!(bug().is_no_damage());
        assert_eq!(bug().of_kind(ErrorKind::Corrupt).kind(), ErrorKind::Bug);
    }

    /// Tests and fuzz targets stop at the first one.
    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "outside of its 3 items")]
    fn a_bug_panics_where_assertions_are_on() {
        drop([1, 2, 3].must_get(2..4));
    }

    #[test]
    #[cfg(not(debug_assertions))]
    fn a_bug_is_an_error_where_assertions_are_off() {
        let kinds = [
            [1, 2, 3].must_get(2..4).unwrap_err().kind(),
            [1, 2, 3].must_get_mut(3).unwrap_err().kind(),
            [1, 2, 3].must_split_at(4).unwrap_err().kind(),
            [1, 2, 3].must_split_at_mut(4).unwrap_err().kind(),
            None::<()>.or_bug("it is there").unwrap_err().kind(),
        ];
        assert_eq!(kinds, [ErrorKind::Bug; 5]);
    }
}
