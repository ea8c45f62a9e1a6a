//! Values as bytes that compare like them: what sorting and grouping work on.
//!
//! ```text
//! integers  big endian, the sign bit turned
//! floats    big endian; negative ones with all bits turned, others with the sign bit turned
//! moments   as integers, less one
//! texts     as they are; Unicode in big endian
//! nulls     all bits set: behind everything
//! ```

use super::source::Column;
use super::values::{Half, Native, Tick, Truth, numbers, with_native};
use crate::dtype::DKind;
use crate::error::{Error, Result};

/// A column of keys, each of the same length.
pub(super) struct Keys {
    pub(super) bytes: Vec<u8>,
    pub(super) width: usize,
}

/// A number's place in the order of all of its type.
trait Ordered: Native {
    /// `None` for nulls.
    fn place(self) -> Option<u64>;
}

macro_rules! ordered {
    ($($rust:ty: $place:expr;)*) => {$(
        impl Ordered for $rust {
            fn place(self) -> Option<u64> {
                $place(self)
            }
        }
    )*};
}

ordered! {
    i8: |x| Some(signed(i64::from(x)));
    i16: |x| Some(signed(i64::from(x)));
    i32: |x| Some(signed(i64::from(x)));
    i64: |x| Some(signed(x));
    u8: |x| Some(u64::from(x));
    u16: |x| Some(u64::from(x));
    u32: |x| Some(u64::from(x));
    u64: Some;
    f32: |x| float(f64::from(x));
    f64: float;
    Half: |x: Half| float(f64::from(x.0));
    Truth: |x: Truth| Some(u64::from(x.0));
    Tick: |x: Tick| (x.0 != i64::MIN).then(|| signed(x.0) - 1);
}

fn signed(value: i64) -> u64 {
    value.cast_unsigned() ^ (1 << 63)
}

fn float(value: f64) -> Option<u64> {
    // Adding zero makes one of the two zeros.
    let bits = (value + 0.0).to_bits();
    let place = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    (!value.is_nan()).then_some(place)
}

impl Keys {
    /// The keys of a column. Nulls come last in both directions.
    pub(super) fn of(column: &Column, bytes: &[u8], descending: bool) -> Result<Self> {
        if !column.row_shape.is_empty() {
            return Err(refused(column));
        }
        match column.dtype.kind() {
            DKind::Bytes | DKind::Unicode => Ok(Self::of_text(column, bytes, descending)),
            _ => Self::of_numbers(column, bytes, descending),
        }
    }

    fn of_numbers(column: &Column, bytes: &[u8], descending: bool) -> Result<Self> {
        let integers = matches!(column.dtype.kind(), DKind::Int | DKind::Uint | DKind::Bool);
        // Types with nulls do not use the last place.
        let last = if integers { u64::MAX } else { u64::MAX - 1 };
        let turned = |place: u64| if descending { last - place } else { place };
        let bytes = numbers(&column.dtype, bytes);
        let keys = with_native!(column.dtype, T => {
            let places = T::each(&bytes).map(|x| x.place().map_or(u64::MAX, turned));
            places.flat_map(u64::to_be_bytes).collect()
        }, else return Err(refused(column)));
        Ok(Self { bytes: keys, width: 8 })
    }

    fn of_text(column: &Column, bytes: &[u8], descending: bool) -> Self {
        let mut keys = numbers(&column.dtype, bytes).into_owned();
        if column.dtype.kind() == DKind::Unicode {
            keys.as_chunks_mut::<4>().0.iter_mut().for_each(|letter| letter.reverse());
        }
        if descending {
            keys.iter_mut().for_each(|byte| *byte = !*byte);
        }
        Self { bytes: keys, width: column.dtype.item_size() }
    }

    pub(super) fn get(&self, row: usize) -> &[u8] {
        let start = row.saturating_mul(self.width);
        self.bytes.get(start..start.saturating_add(self.width)).unwrap_or_default()
    }

    /// The keys as numbers, if they are.
    pub(super) fn numbers(&self) -> Option<impl Iterator<Item = u64> + '_> {
        let numbers = self.bytes.as_chunks::<8>().0.iter().map(|key| u64::from_be_bytes(*key));
        (self.width == 8).then_some(numbers)
    }
}

fn refused(column: &Column) -> Error {
    Error::unsupported(format!(
        "column `{}` has rows of type {} and shape {:?}, which have no order",
        column.name, column.dtype, column.row_shape
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;

    /// Whether the keys of ascending values ascend, and those of descending ones with the direction.
    fn ascend(dtype: &str, bytes: &[u8], nulls: usize) {
        let column = Column::new("a", DType::parse(dtype).unwrap());
        for descending in [false, true] {
            let keys = Keys::of(&column, bytes, descending).unwrap();
            let count = bytes.len() / column.row_size();
            let values = count - nulls;
            for row in 1..values {
                let (before, here) = (keys.get(row - 1), keys.get(row));
                assert!((before < here) != descending, "{dtype} {row}");
            }
            for null in values..count {
                assert!((0..values).all(|row| keys.get(row) < keys.get(null)), "{dtype}");
            }
        }
    }

    #[test]
    fn keys_compare_like_values() {
        let le =
            |values: &[i64]| -> Vec<u8> { values.iter().flat_map(|x| x.to_le_bytes()).collect() };
        ascend("<i8", &le(&[i64::MIN, -1, 0, 7, i64::MAX]), 0);
        ascend("<M8[s]", &le(&[i64::MIN + 1, -1, 0, i64::MAX, i64::MIN]), 1);
        ascend("|i1", &[0x80, 0xff, 0, 0x7f], 0);
        ascend("|u1", &[0, 0x7f, 0xff], 0);
        ascend("?", &[0, 1], 0);
        let floats = [f64::NEG_INFINITY, -1.5, -1e-300, 0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN];
        ascend(">f8", &floats.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<_>>(), 1);
        ascend("S2", b"\0\0a\0abb\0", 0);
        let letters = ['a', 'ÿ', 'Ā', '𐀀'].map(u32::from);
        ascend("<U1", &letters.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>(), 0);
        ascend(">U1", &letters.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<_>>(), 0);
    }

    #[test]
    fn both_zeros_are_one_and_other_types_have_no_order() {
        let column = |dtype| Column::new("a", DType::parse(dtype).unwrap());
        let zeros = [0.0f64, -0.0].map(f64::to_le_bytes).concat();
        let keys = Keys::of(&column("<f8"), &zeros, false).unwrap();
        assert_eq!(keys.get(0), keys.get(1));
        for dtype in ["<c8", "V3", "[('a', 'u1')]"] {
            assert!(Keys::of(&column(dtype), &[], false).is_err());
        }
        assert!(Keys::of(&column("u1").with_row_shape(&[2]), &[], false).is_err());
    }
}
