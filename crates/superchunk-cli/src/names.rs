//! Sizes and extensions as words: what users type, and what they read.

use std::ffi::OsStr;
use std::path::Path;

/// The extensions that packing gives, and unpacking takes away.
const PACKED: [&str; 5] = ["b2frame", "b2nd", "b2b", "b2", "blp"];

/// Whether a file is called like something that was packed.
pub(crate) fn is_packed_name(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|suffix| PACKED.contains(&suffix))
}

/// A length: a number of bytes, or with `K`, `M`, `G`, `T` of 1024 of them; `max` for no bound.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    if text == "max" {
        return Ok(u64::MAX);
    }
    let upper = text.to_ascii_uppercase();
    let upper = upper.trim_end_matches("IB").trim_end_matches('B');
    let (digits, shift) = match upper.chars().last() {
        Some('K') => (upper.trim_end_matches('K'), 10),
        Some('M') => (upper.trim_end_matches('M'), 20),
        Some('G') => (upper.trim_end_matches('G'), 30),
        Some('T') => (upper.trim_end_matches('T'), 40),
        _ => (upper, 0),
    };
    let number = digits.parse::<u64>().ok();
    number
        .and_then(|number| number.checked_mul(1 << shift))
        .filter(|size| *size > 0)
        .ok_or_else(|| "a size is like 4096, 128K, 8M, 2G or max".to_owned())
}

/// The same for lengths that must fit the memory.
pub(crate) fn parse_length(text: &str) -> Result<usize, String> {
    let size = parse_size(text)?;
    Ok(usize::try_from(size).unwrap_or(usize::MAX))
}

/// A number that is not negative.
pub(crate) fn parse_count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a whole number, 0 or more".to_owned())
}

/// The length of an axis; -1 stands for what is left.
pub(crate) fn parse_side(text: &str) -> Result<i64, String> {
    let side = text.parse().ok().filter(|side| *side >= -1);
    side.ok_or_else(|| "expected a length, or -1 for what is left".to_owned())
}

/// A length for people, in powers of 1000.
pub(crate) fn human(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes as f64;
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut unit = "B";
    for next in units {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if value < 9.995 { format!("{value:.2} {unit}") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("8M"), Ok(8 << 20));
        assert_eq!(parse_size("128KiB"), Ok(128 << 10));
        assert_eq!(parse_size("2gb"), Ok(2 << 30));
        assert_eq!(parse_size("max"), Ok(u64::MAX));
        for bad in ["", "0", "x", "1.5M", "-1", "99999999T", "M"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lengths_are_told_in_three_digits() {
        assert_eq!(human(999), "999 B");
        assert_eq!(human(1000), "1.00 kB");
        assert_eq!(human(12_345_678), "12.3 MB");
        assert_eq!(human(999_999), "1.00 MB");
    }
}
