//! What is asked of a verification.

use super::report::Level;
use crate::schunk::OpenOptions;

/// How far and how much is looked at.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// The last level to look at.
    pub level: Level,
    /// Which chunks are looked at.
    pub sample: Sample,
    /// The column, or group of columns, to look at; all of them if there is none.
    pub column: Option<String>,
    /// How things are opened: limits, threads, codecs.
    pub open: OpenOptions,
}

/// Which chunks are looked at. A sample is spread evenly from the first chunk to the last, and the same
/// every time.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sample {
    /// All of them.
    #[default]
    All,
    /// This many of each list of chunks.
    Count(u64),
    /// This many of a million, rounded up.
    PartsPerMillion(u64),
}

impl VerifyOptions {
    /// Everything is looked at.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same up to this level.
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// The same with a sample of the chunks.
    #[must_use]
    pub fn with_sample(mut self, sample: Sample) -> Self {
        self.sample = sample;
        self
    }

    /// The same of one column of a table, or one group of columns.
    #[must_use]
    pub fn with_column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }

    /// The same with limits, threads and codecs of the caller.
    #[must_use]
    pub fn with_open(mut self, open: OpenOptions) -> Self {
        self.open = open;
        self
    }

    /// Whether this column is to be looked at.
    #[cfg(any(unix, windows))]
    pub(super) fn wants_column(&self, name: &str) -> bool {
        self.column.as_ref().is_none_or(|wanted| {
            name.strip_prefix(wanted.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

impl Sample {
    /// How many of `total` chunks are looked at.
    pub(super) fn count(self, total: u64) -> u64 {
        match self {
            Self::All => total,
            Self::Count(count) => count.min(total),
            Self::PartsPerMillion(parts) => {
                let count = u128::from(total) * u128::from(parts);
                u64::try_from(count.div_ceil(1_000_000)).unwrap_or(total).min(total)
            }
        }
    }

    /// The numbers of the chunks that are looked at, in order.
    pub(super) fn numbers(self, total: u64) -> impl Iterator<Item = u64> {
        let count = self.count(total);
        (0..count).map(move |at| match count {
            0 | 1 => 0,
            _ => {
                let number = u128::from(at) * u128::from(total - 1) / u128::from(count - 1);
                u64::try_from(number).unwrap_or(u64::MAX)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_from_the_first_chunk_to_the_last() {
        let numbers = |sample: Sample, total| sample.numbers(total).collect::<Vec<_>>();
        assert_eq!(numbers(Sample::All, 4), [0, 1, 2, 3]);
        assert_eq!(numbers(Sample::Count(3), 101), [0, 50, 100]);
        assert_eq!(numbers(Sample::Count(1), 101), [0]);
        assert_eq!(numbers(Sample::Count(9), 3), [0, 1, 2]);
        assert_eq!(numbers(Sample::PartsPerMillion(100_000), 15), [0, 14]);
        assert_eq!(numbers(Sample::PartsPerMillion(1), 1000), [0]);
        assert_eq!(numbers(Sample::PartsPerMillion(5), 0), [0; 0]);
        for total in 1..50 {
            for count in 1..=total {
                let mut numbers = numbers(Sample::Count(count), total);
                numbers.dedup();
                assert_eq!(numbers.len() as u64, count, "{count} of {total}");
            }
        }
    }

    #[test]
    #[cfg(any(unix, windows))]
    fn a_column_stands_for_what_is_below_it() {
        let all = VerifyOptions::new();
        assert!(all.wants_column("place/x"));
        let some = VerifyOptions::new().with_column("place");
        assert!(some.wants_column("place/x") && some.wants_column("place"));
        assert!(!some.wants_column("places") && !some.wants_column("id"));
    }
}
