//! Items as people write them: the way back from [`DType::format_item`].

use super::expr::moment::{self, Moment};
use crate::dtype::{ByteOrder, DKind, DType, nearest_half, printable};
use crate::error::{Error, Result};

/// The bytes of an item that is written as text, as [`DType::format_item`] writes it. An empty text is
/// a missing value where the type has one: not a number, no moment, no letters.
///
/// ```
/// use superchunk::DType;
/// use superchunk::table::parse_item;
///
/// assert_eq!(parse_item(&DType::parse("<i2")?, "-2")?, [0xfe, 0xff]);
/// assert_eq!(parse_item(&DType::parse("<M8[D]")?, "1970-01-03")?, [2, 0, 0, 0, 0, 0, 0, 0]);
/// assert!(parse_item(&DType::parse("|u1")?, "256").is_err());
/// # Ok::<(), superchunk::Error>(())
/// ```
pub fn parse_item(dtype: &DType, text: &str) -> Result<Vec<u8>> {
    let bytes = match dtype.kind() {
        DKind::Bytes | DKind::Unicode => letters(dtype, text),
        _ => parse_plain(dtype, text.trim()),
    };
    bytes.ok_or_else(|| {
        let (found, room, unit) = match dtype.kind() {
            DKind::Bytes => (text.len(), dtype.item_size(), "bytes"),
            DKind::Unicode => (text.chars().count(), dtype.item_size() / 4, "characters"),
            _ => (0, 0, ""),
        };
        if found > room {
            return Error::invalid(format!("the text has {found} {unit}, the column holds {room}"));
        }
        if found > 0 && text.ends_with('\0') {
            return Error::invalid("a zero at its end would be lost");
        }
        let shown = printable(&text.chars().take(40).collect::<String>());
        Error::invalid(format!("`{shown}` is no value of type {dtype}"))
    })
}

fn parse_plain(dtype: &DType, text: &str) -> Option<Vec<u8>> {
    let size = dtype.item_size();
    let mut bytes = match dtype.kind() {
        DKind::Bool => vec![u8::from(truth(text)?)],
        DKind::Int => integer(text, size, true)?,
        DKind::Uint => integer(text, size, false)?,
        DKind::Float => float(text, size)?,
        DKind::Complex => return complex(text, dtype),
        DKind::Datetime { unit } => {
            let moment = |text: &str| Moment::parse(text)?.threshold(unit);
            ticks(text, moment)?
        }
        DKind::Timedelta { unit } => ticks(text, |text| moment::duration(text, unit))?,
        _ => return None,
    };
    if dtype.byte_order() == ByteOrder::Big {
        bytes.reverse();
    }
    Some(bytes)
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// An integer of so many bytes, the lowest first. Floats that are whole, such as `1e6`, are some, too.
fn integer(text: &str, size: usize, is_signed: bool) -> Option<Vec<u8>> {
    let bits = u32::try_from(size.checked_mul(8)?).ok().filter(|bits| (8..=64).contains(bits))?;
    let value = text.parse::<i128>().ok().or_else(|| whole(text))?;
    let (low, high) = match is_signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    let fits = (low..=high).contains(&value);
    fits.then(|| value.to_le_bytes().get(..size).map(<[u8]>::to_vec))?
}

#[expect(clippy::cast_possible_truncation, reason = "whole floats below 2^53 are exact")]
fn whole(text: &str) -> Option<i128> {
    let value: f64 = text.parse().ok()?;
    (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i128)
}

fn float(text: &str, size: usize) -> Option<Vec<u8>> {
    let text = if text.is_empty() { "nan" } else { text };
    match size {
        2 => Some(nearest_half(text.parse().ok()?).to_le_bytes().to_vec()),
        4 => Some(text.parse::<f32>().ok()?.to_le_bytes().to_vec()),
        8 => Some(text.parse::<f64>().ok()?.to_le_bytes().to_vec()),
        _ => None,
    }
}

/// Two floats as Python writes them, `(1.5-2j)`; the sign of the second one separates them.
fn complex(text: &str, dtype: &DType) -> Option<Vec<u8>> {
    let text = if text.is_empty() { "nan+nanj" } else { text };
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let parts = inner.strip_suffix('j')?;
    let is_between = |at: &usize| {
        let before = parts.get(..*at);
        before.is_some_and(|before| !before.is_empty() && !before.ends_with(['e', 'E']))
    };
    let at = parts.rmatch_indices(['+', '-']).map(|(at, _)| at).find(is_between)?;
    let (real, imaginary) = parts.split_at_checked(at)?;
    let half = dtype.item_size() / 2;
    let mut bytes = [float(real, half)?, float(imaginary, half)?];
    if dtype.byte_order() == ByteOrder::Big {
        bytes.iter_mut().for_each(|part| part.reverse());
    }
    Some(bytes.concat())
}

/// Counts of a unit: whole ones, and the word for none.
fn ticks(
    text: &str,
    parse: impl Fn(&str) -> Option<super::expr::range::Threshold>,
) -> Option<Vec<u8>> {
    let count = match text {
        "" | "NaT" | "nat" => i64::MIN,
        _ => {
            let place = parse(text)?;
            i64::try_from(place.floor).ok().filter(|_| place.exact)?
        }
    };
    Some(count.to_le_bytes().to_vec())
}

/// Text in the room that the type has for it.
fn letters(dtype: &DType, text: &str) -> Option<Vec<u8>> {
    let mut bytes: Vec<u8> = match (dtype.kind(), dtype.byte_order()) {
        (DKind::Bytes, _) => text.bytes().collect(),
        (_, ByteOrder::Big) => text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect(),
        _ => text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
    };
    // Zeros fill a text up: one that ends with some would come back without them.
    let fits = bytes.len() <= dtype.item_size() && !text.ends_with('\0');
    bytes.resize(dtype.item_size(), 0);
    fits.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        let cases: [(&str, &[&str]); 16] = [
            ("|b1", &["True", "False"]),
            ("|i1", &["-128", "127"]),
            (">i4", &["-2147483648", "7"]),
            ("<u8", &["18446744073709551615", "0"]),
            ("<i8", &["-9223372036854775808"]),
            ("<f4", &["1.5", "-0.1", "nan", "inf"]),
            (">f8", &["1e300", "-inf", "0.1"]),
            ("<f2", &["0.1", "65500.0", "-inf", "nan", "6e-8", "-0.0"]),
            (">f2", &["0.3333", "inf"]),
            ("<c8", &["(0.1-2.5j)", "(-1e-30+1e30j)", "(nan+infj)"]),
            (">c16", &["(1.5-1e-300j)", "(-0.0+0.0j)"]),
            ("|S4", &["abcd", "", "ä"]),
            (">U3", &["äöü", "x"]),
            ("<M8[s]", &["2016-01-04T12:30:01", "1969-12-31T23:59:59", "NaT"]),
            ("<M8[D]", &["2024-02-29", "NaT"]),
            ("<m8[m]", &["90 minutes", "NaT"]),
        ];
        for (dtype, texts) in cases {
            let dtype = DType::parse(dtype).unwrap();
            for text in texts {
                let bytes = parse_item(&dtype, text).unwrap();
                assert_eq!(bytes.len(), dtype.item_size());
                assert_eq!(dtype.format_item(&bytes), *text, "{dtype}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let cases = [
            ("|i1", "128"),
            ("|u1", "-1"),
            ("<i8", "1.5"),
            ("<i4", ""),
            ("<f8", "one"),
            ("|b1", "2"),
            ("<M8[D]", "2024-02-30"),
            ("<M8[D]", "2024-02-29T01:00:00"),
            ("|V3", "abc"),
            ("<c8", "1.5"),
            ("<c8", "1e-3j"),
        ];
        for (dtype, text) in cases {
            let error = parse_item(&DType::parse(dtype).unwrap(), text).unwrap_err();
            assert!(error.to_string().contains("no value of type"), "{dtype} {text}: {error}");
        }
        let error = parse_item(&DType::parse("|S2").unwrap(), "a\0").unwrap_err();
        assert!(error.to_string().contains("a zero at its end would be lost"), "{error}");
        for (dtype, words) in [
            ("|S2", "the text has 4 bytes, the column holds 2"),
            ("<U1", "the text has 3 characters, the column holds 1"),
        ] {
            let error = parse_item(&DType::parse(dtype).unwrap(), "abé").unwrap_err();
            assert!(error.to_string().contains(words), "{dtype}: {error}");
        }
        // Halfway between two, the even one; beyond the largest, infinity.
        for (text, bits) in [
            ("1.00048828125", 0x3c00u16),
            ("1.00146484375", 0x3c02),
            ("65519", 0x7bff),
            ("-65520", 0xfc00),
            ("2.9e-8", 0),
            ("3e-8", 1),
        ] {
            let half = parse_item(&DType::parse("<f2").unwrap(), text).unwrap();
            assert_eq!(half, bits.to_le_bytes(), "{text}");
        }
        let million = parse_item(&DType::parse("<i4").unwrap(), "1e6").unwrap();
        assert_eq!(million, 1_000_000i32.to_le_bytes());
    }
}
