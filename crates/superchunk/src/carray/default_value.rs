//! `dflt`: the value of rows that nobody has set, as JSON and as bytes.

use crate::dtype::{ByteOrder, DKind, DType};
use crate::wire::json::Json;

/// What bcolz writes when nobody has chosen a default.
pub(crate) fn zero_default(dtype: &DType) -> Json {
    match dtype.kind() {
        DKind::Bool => Json::Bool(false),
        DKind::Float => Json::from(0.0),
        DKind::Bytes | DKind::Unicode => Json::from(""),
        DKind::Void => Json::from("\0".repeat(dtype.item_size())),
        DKind::Struct => {
            Json::Array(dtype.fields().iter().map(|field| zero_default(field.dtype())).collect())
        }
        _ => Json::from(0u64),
    }
}

/// The bytes of one item of this value; `None` when the type has no such value.
pub(crate) fn default_bytes(dtype: &DType, value: &Json) -> Option<Vec<u8>> {
    let size = dtype.item_size();
    let ordered = |little: &[u8]| {
        let mut bytes = little.get(..size)?.to_vec();
        if dtype.byte_order() == ByteOrder::Big {
            bytes.reverse();
        }
        Some(bytes)
    };
    match dtype.kind() {
        _ if value.is_null() => Some(vec![0; size]),
        DKind::Bool => {
            Some(vec![u8::from(value.as_bool().or_else(|| Some(value.as_f64()? != 0.0))?)])
        }
        DKind::Int | DKind::Datetime { .. } | DKind::Timedelta { .. } => {
            let number = integer(value)?;
            let bits = u32::try_from(8 * size).ok()?;
            let bound = 1i128 << (bits - 1);
            (-bound..bound).contains(&number).then(|| ordered(&number.to_le_bytes()))?
        }
        DKind::Uint => {
            let number = integer(value)?;
            let bits = u32::try_from(8 * size).ok()?;
            (0..1i128 << bits).contains(&number).then(|| ordered(&number.to_le_bytes()))?
        }
        DKind::Float => float(value.as_f64()?, size).and_then(|bytes| ordered(&bytes)),
        DKind::Bytes | DKind::Void => {
            let bytes = value.as_str()?.chars().map(|c| u8::try_from(u32::from(c)).ok());
            padded(bytes.collect::<Option<_>>()?, size)
        }
        DKind::Unicode => {
            let letters = value.as_str()?.chars().flat_map(|c| match dtype.byte_order() {
                ByteOrder::Big => u32::from(c).to_be_bytes(),
                _ => u32::from(c).to_le_bytes(),
            });
            padded(letters.collect(), size)
        }
        DKind::Struct => structure(dtype, value),
        DKind::Complex => None,
    }
}

fn structure(dtype: &DType, value: &Json) -> Option<Vec<u8>> {
    let parts = value.as_array().filter(|parts| parts.len() == dtype.fields().len())?;
    let mut bytes = vec![0; dtype.item_size()];
    for (field, part) in dtype.fields().iter().zip(parts) {
        if !field.shape().is_empty() {
            return None;
        }
        let item = default_bytes(field.dtype(), part)?;
        bytes.get_mut(field.offset()..field.offset() + item.len())?.copy_from_slice(&item);
    }
    Some(bytes)
}

fn padded(mut bytes: Vec<u8>, size: usize) -> Option<Vec<u8>> {
    (bytes.len() <= size).then(|| {
        bytes.resize(size, 0);
        bytes
    })
}

fn integer(value: &Json) -> Option<i128> {
    match value {
        Json::Bool(value) => Some(i128::from(*value)),
        Json::Number(text) => text.strip_suffix(".0").unwrap_or(text).parse().ok(),
        _ => None,
    }
}

/// The bits of a float of this size, lowest byte first.
fn float(value: f64, size: usize) -> Option<Vec<u8>> {
    Some(match size {
        2 => half(value).to_le_bytes().to_vec(),
        #[expect(clippy::cast_possible_truncation, reason = "the nearest value is what is meant")]
        4 => (value as f32).to_le_bytes().to_vec(),
        8 => value.to_le_bytes().to_vec(),
        _ => return None,
    })
}

/// The nearest 16-bit float.
fn half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let size = value.abs();
    if size.is_nan() {
        return sign | 0x7e00;
    }
    // The unit of the last place; below 2^-14 all numbers share one.
    let exponent = (-14..=15).rev().find(|exponent| size >= 2f64.powi(*exponent)).unwrap_or(-14);
    let units = (size / 2f64.powi(exponent - 10)).round_ties_even();
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    // 1024 units and more carry the exponent along, also when rounding made them 2048.
    let base = u16::try_from(exponent + 14).unwrap_or(0) << 10;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2048")]
    let units = units as u16;
    sign | (base + units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(dtype: &str, json: &str) -> Option<Vec<u8>> {
        default_bytes(&DType::parse(dtype).unwrap(), &Json::parse(json).unwrap())
    }

    #[test]
    fn a_default_becomes_an_item() {
        assert_eq!(bytes("<i4", "-2").unwrap(), (-2i32).to_le_bytes());
        assert_eq!(bytes(">i4", "-2").unwrap(), (-2i32).to_be_bytes());
        assert_eq!(bytes("<u8", "18446744073709551615").unwrap(), [0xff; 8]);
        assert_eq!(bytes("|b1", "true").unwrap(), [1]);
        assert_eq!(bytes("<f8", "7").unwrap(), 7f64.to_le_bytes());
        assert!(f64::from_le_bytes(bytes("<f8", "NaN").unwrap().try_into().unwrap()).is_nan());
        assert_eq!(bytes("S3", "\"ab\"").unwrap(), b"ab\0");
        assert_eq!(bytes("<U2", "\"é\"").unwrap(), [0xe9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes("V2", "\"\\u0000\\u00ff\"").unwrap(), [0, 255]);
        assert_eq!(bytes("<M8[ns]", "5").unwrap(), 5i64.to_le_bytes());
        assert_eq!(bytes("[('a', '<i2'), ('b', '|b1')]", "[1, true]").unwrap(), [1, 0, 1]);
        assert_eq!(bytes("<i4", "null").unwrap(), [0; 4]);
    }

    #[test]
    fn values_that_a_type_does_not_have_are_none() {
        for (dtype, json) in [
            ("<i1", "200"),
            ("<u1", "-1"),
            ("<i4", "\"x\""),
            ("<i4", "1.5"),
            ("S1", "\"ab\""),
            ("S1", "\"€\""),
            ("<f8", "\"1\""),
            ("[('a', '<i2')]", "[1, 2]"),
            ("<c8", "1"),
        ] {
            assert_eq!(bytes(dtype, json), None, "{dtype} {json}");
        }
    }

    #[test]
    fn half_precision_is_rounded_to_the_nearest() {
        for (value, bits) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.5, 0xc100),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (f64::NEG_INFINITY, 0xfc00),
            (6e-8, 1),
            (6.09e-5, 0x3fe),
            (0.333_333, 0x3555),
            (2047.9, 0x6800),
            (2.9e-8, 0),
        ] {
            assert_eq!(half(value), bits, "{value}");
        }
    }

    #[test]
    fn zeros_are_the_defaults_of_bcolz() {
        for (dtype, text) in [
            ("<i4", "0"),
            ("<f4", "0.0"),
            ("|b1", "false"),
            ("S4", "\"\""),
            ("<M8[ns]", "0"),
            ("V1", "\"\\u0000\""),
            ("[('a', '<i4'), ('b', '<f8')]", "[0, 0.0]"),
        ] {
            let dtype = DType::parse(dtype).unwrap();
            assert_eq!(zero_default(&dtype), Json::parse(text).unwrap());
            let zeros = default_bytes(&dtype, &zero_default(&dtype)).unwrap();
            assert!(zeros.iter().all(|byte| *byte == 0) && zeros.len() == dtype.item_size());
        }
    }
}
