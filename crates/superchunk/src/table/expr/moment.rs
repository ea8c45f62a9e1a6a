//! Moments and durations as they are written: `2024-02-29T12:30:00.25`, `90 minutes`.

use super::range::Threshold;
use crate::dtype::{TimeBase, TimeUnit};

/// One second.
const SECOND: i128 = 1_000_000_000_000_000_000;
const DAY: i128 = 86_400 * SECOND;

/// A moment, exactly: attoseconds, of which a day has 8.64 × 10²².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) struct Moment {
    year: i128,
    month: i128,
    day: i128,
    of_day: i128,
}

impl Moment {
    /// Reads ISO 8601: a year, and as much of month, day, hour, minute, second and fraction as there
    /// is. A `Z` at the end changes nothing, since moments have no time zone.
    pub(in crate::table) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (date, time) = match text.find(['T', ' ']) {
            Some(at) => (text.get(..at)?, Some(text.get(at + 1..)?)),
            None => (text, None),
        };
        let (sign, date) = match date.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, date),
        };
        let mut parts = date.split('-');
        let year = sign * number(parts.next()?, 4..=9)?;
        let month = parts.next().map_or(Some(1), |part| number(part, 2..=2))?;
        let day = parts.next().map_or(Some(1), |part| number(part, 2..=2))?;
        let valid = parts.next().is_none() && (1..=12).contains(&month) && day >= 1;
        let in_month = valid && day <= days_in(year, month);
        let of_day = time.map_or(Some(0), of_day)?;
        in_month.then_some(Self { year, month, day, of_day })
    }

    /// Where it lies on the scale of a unit.
    pub(in crate::table) fn threshold(self, unit: TimeUnit) -> Option<Threshold> {
        let whole_day = self.of_day == 0;
        let whole_month = whole_day && self.day == 1;
        let (count, exact) = match unit.base {
            TimeBase::Year => (self.year - 1970, whole_month && self.month == 1),
            TimeBase::Month => ((self.year - 1970) * 12 + self.month - 1, whole_month),
            base => {
                let total = days(self.year, self.month, self.day) * DAY + self.of_day;
                return Some(on_scale(total, attoseconds(base)? * i128::from(unit.step)));
            }
        };
        let step = i128::from(unit.step);
        let exact = exact && count.rem_euclid(step) == 0;
        Some(Threshold { floor: count.div_euclid(step), exact })
    }
}

/// Reads a whole number and a unit, `90s` or `3 days`, onto the scale of another unit.
pub(in crate::table) fn duration(text: &str, unit: TimeUnit) -> Option<Threshold> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '-' && c != '+')?;
    let (count, word) = text.split_at_checked(digits)?;
    let count: i64 = count.parse().ok()?;
    let base = TimeBase::of_word(word.trim())?;
    let (own, other) = match (months(base), months(unit.base)) {
        (Some(own), Some(other)) => (own, other),
        (None, None) => (attoseconds(base)?, attoseconds(unit.base)?),
        _ => return None,
    };
    Some(on_scale(i128::from(count).checked_mul(own)?, other * i128::from(unit.step)))
}

/// By what the counts of two units are multiplied to be compared; `None` for those that have no
/// common measure.
pub(super) fn common_scale(a: TimeUnit, b: TimeUnit) -> Option<(i128, i128)> {
    let (own, other) = match (months(a.base), months(b.base)) {
        (Some(own), Some(other)) => (own, other),
        (None, None) if a.base == b.base => (1, 1),
        (None, None) => (attoseconds(a.base)?, attoseconds(b.base)?),
        _ => return None,
    };
    let (own, other) = (own * i128::from(a.step), other * i128::from(b.step));
    let (mut x, mut y) = (own, other);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    Some((own / x, other / x))
}

fn on_scale(total: i128, unit: i128) -> Threshold {
    Threshold { floor: total.div_euclid(unit), exact: total.rem_euclid(unit) == 0 }
}

fn months(base: TimeBase) -> Option<i128> {
    match base {
        TimeBase::Year => Some(12),
        TimeBase::Month => Some(1),
        _ => None,
    }
}

fn attoseconds(base: TimeBase) -> Option<i128> {
    use TimeBase as B;
    Some(match base {
        B::Week => 7 * DAY,
        B::Day => DAY,
        B::Hour => 3600 * SECOND,
        B::Minute => 60 * SECOND,
        B::Second => SECOND,
        B::Millisecond => SECOND / 1000,
        B::Microsecond => SECOND / 1_000_000,
        B::Nanosecond => SECOND / 1_000_000_000,
        B::Picosecond => 1_000_000,
        B::Femtosecond => 1000,
        B::Attosecond => 1,
        _ => return None,
    })
}

/// Digits, as many as there may be.
fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i128> {
    let good = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    good.then(|| text.parse().ok())?
}

/// `hh[:mm[:ss[.fraction]]]` in attoseconds.
fn of_day(text: &str) -> Option<i128> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.split(':');
    let mut part = |below: i128| {
        let value = parts.next().map(|part| number(part, 2..=2))?;
        value.filter(|value| *value < below)
    };
    let hour = part(24)?;
    let (minute, second) = (part(60), part(60));
    let count = clock.split(':').count();
    let found = 1 + usize::from(minute.is_some()) + usize::from(second.is_some());
    let fraction = match fraction {
        "" => (!text.contains('.')).then_some(0)?,
        digits if count == 3 && digits.len() <= 18 => {
            number(digits, 1..=18)? * 10i128.pow(18 - u32::try_from(digits.len()).ok()?)
        }
        _ => return None,
    };
    let seconds = hour * 3600 + minute.unwrap_or(0) * 60 + second.unwrap_or(0);
    (count == found).then_some(seconds * SECOND + fraction)
}

fn days_in(year: i128, month: i128) -> i128 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i128::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 of a date; years are counted from March, so that the leap day is the last.
fn days(year: i128, month: i128, day: i128) -> i128 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::{DKind, DType};

    fn unit(dtype: &str) -> TimeUnit {
        match DType::parse(dtype).unwrap().kind() {
            DKind::Datetime { unit } | DKind::Timedelta { unit } => unit,
            kind => panic!("{kind:?}"),
        }
    }

    fn at(text: &str, dtype: &str) -> (i128, bool) {
        let threshold = Moment::parse(text).unwrap().threshold(unit(dtype)).unwrap();
        (threshold.floor, threshold.exact)
    }

    #[test]
    fn moments_are_read_as_they_are_printed() {
        for name in
            ["<M8[Y]", "<M8[M]", "<M8[W]", "<M8[D]", "<M8[h]", "<M8[m]", "<M8[s]", "<M8[25us]"]
        {
            let dtype = DType::parse(name).unwrap();
            for count in [-100_000i64, -719, -1, 0, 1, 59, 1000, 20_000, 29_000] {
                let text = dtype.format_item(&count.to_le_bytes());
                // Years before 0 have other digits.
                if !text.starts_with('-') {
                    assert_eq!(at(&text, name), (count.into(), true), "{text} {name}");
                }
            }
        }
    }

    #[test]
    fn what_lies_between_two_counts_is_not_exact() {
        assert_eq!(at("2024-02-29", "M8[D]"), (19_782, true));
        assert_eq!(at("2024-02-29T00:00:01", "M8[D]"), (19_782, false));
        assert_eq!(at("2024-02-29", "M8[M]"), (649, false));
        assert_eq!(at("1969-12-31T23:59:59.5Z", "M8[s]"), (-1, false));
        assert_eq!(at("1970-01-01T00:00:00.000000001", "M8[ns]"), (1, true));
        assert_eq!(at("2000", "M8[7D]"), (1565, false));
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in
            ["", "24", "2023-02-29", "2024-13", "2024-1-1", "2024-01-01T25", "2024-01-01T1:1"]
        {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
        for text in
            ["2024-01-01T10:00.5", "2024-01-01T", "2024-01-01-01", "x", "2024-01-01T10:00:00."]
        {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }

    #[test]
    fn durations_have_a_unit() {
        let of = |text, dtype| duration(text, unit(dtype)).map(|t| (t.floor, t.exact));
        assert_eq!(of("90 minutes", "m8[h]"), Some((1, false)));
        assert_eq!(of("-2h", "m8[s]"), Some((-7200, true)));
        assert_eq!(of("1 year", "m8[M]"), Some((12, true)));
        assert_eq!(of("1 year", "m8[D]"), None);
        assert_eq!(of("5", "m8[s]"), None);
        assert_eq!(of("5 parsecs", "m8[s]"), None);
        assert_eq!(common_scale(unit("m8[h]"), unit("m8[25m]")), Some((12, 5)));
        assert_eq!(common_scale(unit("m8[Y]"), unit("m8[s]")), None);
    }
}
