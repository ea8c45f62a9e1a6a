//! Moments as text, for datasets and bench reports.

/// Seconds since 1970 as `2021-03-01T00:00:00Z`.
#[must_use]
pub fn iso_time(seconds: u64) -> String {
    let (mut day, second) = (seconds / 86400, seconds % 86400);
    let is_leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_times_pass_month_and_leap_year_ends() {
        assert_eq!(iso_time(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso_time(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(iso_time(1_614_556_799), "2021-02-28T23:59:59Z");
        assert_eq!(iso_time(1_614_556_800), "2021-03-01T00:00:00Z");
        assert_eq!(iso_time(1_640_995_199), "2021-12-31T23:59:59Z");
    }
}
