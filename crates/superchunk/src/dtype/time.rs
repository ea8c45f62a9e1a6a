//! Units of moments and durations, and moments as text.

use std::fmt;

/// What a datetime or timedelta counts: `step` times a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeUnit {
    /// How many of the base make one.
    pub step: u32,
    /// The base.
    pub base: TimeBase,
}

/// The bases of time units.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TimeBase {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Picosecond,
    Femtosecond,
    Attosecond,
    /// Not told.
    Generic,
}

use TimeBase as B;

/// The code of each base, its name, and how many of them make a second (from the second on).
const BASES: [(B, &str, &str); 14] = [
    (B::Year, "Y", "years"),
    (B::Month, "M", "months"),
    (B::Week, "W", "weeks"),
    (B::Day, "D", "days"),
    (B::Hour, "h", "hours"),
    (B::Minute, "m", "minutes"),
    (B::Second, "s", "seconds"),
    (B::Millisecond, "ms", "milliseconds"),
    (B::Microsecond, "us", "microseconds"),
    (B::Nanosecond, "ns", "nanoseconds"),
    (B::Picosecond, "ps", "picoseconds"),
    (B::Femtosecond, "fs", "femtoseconds"),
    (B::Attosecond, "as", "attoseconds"),
    (B::Generic, "generic", "generic time units"),
];

impl TimeUnit {
    /// A unit that is not told.
    pub const GENERIC: Self = Self { step: 1, base: TimeBase::Generic };

    /// Reads what stands between the brackets: a step, if it is not 1, and a code.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|c: char| !c.is_ascii_digit())?;
        let (step, code) = text.split_at_checked(digits)?;
        let step = if step.is_empty() { 1 } else { step.parse().ok()? };
        let code = if code == "μs" { "us" } else { code };
        let (base, ..) = BASES.iter().find(|(_, known, _)| *known == code)?;
        (step > 0).then_some(Self { step, base: *base })
    }

    /// The moment that lies `count` units after 1970 began, as ISO 8601 writes it, as exact as the
    /// unit is.
    pub(super) fn moment(self, count: i64) -> String {
        let count = i128::from(count) * i128::from(self.step);
        match self.base {
            B::Generic => count.to_string(),
            B::Year => format!("{:04}", 1970 + count),
            B::Month => {
                format!("{:04}-{:02}", 1970 + count.div_euclid(12), 1 + count.rem_euclid(12))
            }
            B::Week => date(count * 7),
            B::Day => date(count),
            B::Hour => format!("{}T{:02}", date(count.div_euclid(24)), count.rem_euclid(24)),
            B::Minute => {
                let of_day = count.rem_euclid(1440);
                format!("{}T{:02}:{:02}", date(count.div_euclid(1440)), of_day / 60, of_day % 60)
            }
            _ => {
                let digits = self.fraction_digits();
                let per_second = 10i128.pow(digits);
                let (seconds, fraction) =
                    (count.div_euclid(per_second), count.rem_euclid(per_second));
                let of_day = seconds.rem_euclid(86_400);
                let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
                let day = date(seconds.div_euclid(86_400));
                let whole = format!("{day}T{hour:02}:{minute:02}:{second:02}");
                match digits {
                    0 => whole,
                    _ => format!("{whole}.{fraction:0width$}", width = digits as usize),
                }
            }
        }
    }

    /// A duration in words.
    pub(super) fn duration(self, count: i64) -> String {
        let count = i128::from(count) * i128::from(self.step);
        let name = BASES.iter().find(|(base, ..)| *base == self.base).map_or("", |base| base.2);
        format!("{count} {name}")
    }

    /// The digits behind the point of a second.
    fn fraction_digits(self) -> u32 {
        match self.base {
            B::Millisecond => 3,
            B::Microsecond => 6,
            B::Nanosecond => 9,
            B::Picosecond => 12,
            B::Femtosecond => 15,
            B::Attosecond => 18,
            _ => 0,
        }
    }
}

impl TimeBase {
    /// The base of a code or a name, in the singular or the plural: `s`, `second`, `seconds`.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        let named = |name: &str| name == word || name.strip_suffix('s') == Some(word);
        let found = BASES.iter().find(|(_, code, name)| *code == word || named(name));
        found.map(|(base, ..)| *base).filter(|base| *base != Self::Generic)
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = BASES.iter().find(|(base, ..)| *base == self.base).map_or("", |base| base.1);
        match (self.base, self.step) {
            (B::Generic, _) => Ok(()),
            (_, 1) => write!(f, "[{code}]"),
            (_, step) => write!(f, "[{step}{code}]"),
        }
    }
}

/// The date that lies `days` after 1 January 1970, in the Gregorian calendar: years are counted from
/// March, in eras of 400 years, so that the leap day is the last of its year.
fn date(days: i128) -> String {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i128::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
