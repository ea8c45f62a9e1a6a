//! Numbers of any column, as they are given back.

use crate::dtype::{ByteOrder, DKind, DType};

/// A number: exact if it is an integer, a truth (0 or 1), or a count of moments and durations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
}

impl Number {
    /// As a float; integers above 2⁵³ are rounded.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// As an item of a column; `None` where it does not fit. Floats are rounded to the size of the type.
    #[must_use]
    pub fn to_item(self, dtype: &DType) -> Option<Vec<u8>> {
        let mut bytes = match (self, dtype.kind()) {
            (Self::Int(value), DKind::Bool) => vec![u8::from(value != 0)],
            (Self::Int(value), DKind::Uint) => low_bytes(value, 0, dtype.item_size())?,
            (Self::Int(value), DKind::Int | DKind::Datetime { .. } | DKind::Timedelta { .. }) => {
                low_bytes(value, 1, dtype.item_size())?
            }
            (value, DKind::Float) => match dtype.item_size() {
                4 => single(value.to_f64()).to_le_bytes().to_vec(),
                8 => value.to_f64().to_le_bytes().to_vec(),
                _ => return None,
            },
            _ => return None,
        };
        if dtype.byte_order() == ByteOrder::Big {
            bytes.reverse();
        }
        Some(bytes)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is what it is for")]
fn single(value: f64) -> f32 {
    value as f32
}

/// The lowest bytes of an integer, if the others only repeat its sign.
fn low_bytes(value: i128, sign_bits: usize, size: usize) -> Option<Vec<u8>> {
    let bits = u32::try_from((8 * size).checked_sub(sign_bits)?).ok()?;
    let fits = match sign_bits {
        0 => value >= 0 && value.checked_shr(bits).unwrap_or(0) == 0,
        _ => {
            let above = value.checked_shr(bits).unwrap_or(value >> 127);
            above == 0 || above == -1
        }
    };
    fits.then(|| value.to_le_bytes().get(..size).map(<[u8]>::to_vec))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(number: Number, dtype: &str) -> Option<String> {
        let dtype = DType::parse(dtype).unwrap();
        number.to_item(&dtype).map(|bytes| dtype.format_item(&bytes))
    }

    #[test]
    fn numbers_become_items_where_they_fit() {
        let int = Number::Int;
        assert_eq!(item(int(-128), "i1").as_deref(), Some("-128"));
        assert_eq!(item(int(128), "i1"), None);
        assert_eq!(item(int(255), "u1").as_deref(), Some("255"));
        assert_eq!(item(int(-1), "u8"), None);
        assert_eq!(item(int(u64::MAX.into()), ">u8").as_deref(), Some("18446744073709551615"));
        assert_eq!(item(int(i64::MIN.into()), "<i8").as_deref(), Some("-9223372036854775808"));
        assert_eq!(item(int(1 << 63), "<i8"), None);
        assert_eq!(item(int(19_782), "<M8[D]").as_deref(), Some("2024-02-29"));
        assert_eq!(item(Number::Float(1.5), ">f4").as_deref(), Some("1.5"));
        assert_eq!(item(int(3), "<f8").as_deref(), Some("3.0"));
        assert_eq!(item(int(1), "?").as_deref(), Some("True"));
        assert_eq!(item(Number::Float(1.5), "<i8"), None);
        assert_eq!(item(int(1), "S3"), None);
    }
}
