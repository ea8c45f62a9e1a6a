//! Bytes of a column as numbers: one place that knows sizes, byte order and nulls.

use std::borrow::Cow;

use superchunk_kernels::{Extremes, extremes};

use super::bounds::{BoundRange, Bounds};
use crate::dtype::{ByteOrder, DKind, DType, half};

/// A number as it lies in a column, little endian.
pub(crate) trait Native: Copy + PartialOrd + Send + Sync + 'static {
    /// All of its values as they come, in order.
    fn each(bytes: &[u8]) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone;
    /// The bounds of all of them.
    fn bounds(bytes: &[u8]) -> Bounds;
    /// Its value, if it is an integer.
    fn int(self) -> i128;
    /// Its value, if it is an integer that fits.
    fn long(self) -> i64;
    /// Its value, rounded if it is a large integer.
    fn float(self) -> f64;
}

macro_rules! integers {
    ($($rust:ty: $long:expr;)*) => {$(
        impl Native for $rust {
            fn each(
                bytes: &[u8],
            ) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                bytes.as_chunks::<{ size_of::<$rust>() }>().0.iter().map(|b| <$rust>::from_le_bytes(*b))
            }
            fn long(self) -> i64 {
                $long(self)
            }
            fn bounds(bytes: &[u8]) -> Bounds {
                let (items, _) = bytes.as_chunks::<{ size_of::<$rust>() }>();
                let start = [<$rust>::MAX, <$rust>::MIN];
                let Extremes { min, max, .. } = extremes(items, <$rust>::from_le_bytes, start);
                let range = (min <= max)
                    .then(|| BoundRange::Int { min: min.int(), max: max.int() });
                Bounds { range, nulls: 0 }
            }
            fn int(self) -> i128 {
                i128::from(self)
            }
            fn float(self) -> f64 {
                self as f64
            }
        }
    )*};
}

integers! {
    i8: i64::from;
    i16: i64::from;
    i32: i64::from;
    i64: i64::from;
    u8: i64::from;
    u16: i64::from;
    u32: i64::from;
    u64: u64::cast_signed;
}

macro_rules! floats {
    ($($rust:ty)*) => {$(
        impl Native for $rust {
            fn each(
                bytes: &[u8],
            ) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                bytes.as_chunks::<{ size_of::<$rust>() }>().0.iter().map(|b| <$rust>::from_le_bytes(*b))
            }
            fn bounds(bytes: &[u8]) -> Bounds {
                let (items, _) = bytes.as_chunks::<{ size_of::<$rust>() }>();
                let start = [<$rust>::INFINITY, <$rust>::NEG_INFINITY];
                float_bounds(extremes(items, <$rust>::from_le_bytes, start))
            }
            fn int(self) -> i128 {
                0
            }
            fn long(self) -> i64 {
                0
            }
            fn float(self) -> f64 {
                f64::from(self)
            }
        }
    )*};
}

floats! { f32 f64 }

/// A truth: one byte, zero or not.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Truth(pub(crate) bool);

/// A 16-bit float.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Half(pub(crate) f32);

/// A moment or a duration; the least integer is no value.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(crate) struct Tick(pub(crate) i64);

impl Native for Truth {
    fn each(bytes: &[u8]) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        bytes.iter().map(|byte| Self(*byte != 0))
    }
    fn bounds(bytes: &[u8]) -> Bounds {
        let truth = |byte: &u8| i128::from(*byte != 0);
        let ends = bytes.iter().map(truth).min().zip(bytes.iter().map(truth).max());
        Bounds { range: ends.map(|(min, max)| BoundRange::Int { min, max }), nulls: 0 }
    }
    fn int(self) -> i128 {
        self.0.into()
    }
    fn long(self) -> i64 {
        self.0.into()
    }
    fn float(self) -> f64 {
        f64::from(u8::from(self.0))
    }
}

impl Native for Half {
    fn each(bytes: &[u8]) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        bytes.as_chunks::<2>().0.iter().map(|b| Self(half(u16::from_le_bytes(*b))))
    }
    fn bounds(bytes: &[u8]) -> Bounds {
        let value = |b: [u8; 2]| half(u16::from_le_bytes(b));
        float_bounds(extremes(bytes.as_chunks().0, value, [f32::INFINITY, f32::NEG_INFINITY]))
    }
    fn int(self) -> i128 {
        0
    }
    fn long(self) -> i64 {
        0
    }
    fn float(self) -> f64 {
        self.0.into()
    }
}

impl Native for Tick {
    fn each(bytes: &[u8]) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        i64::each(bytes).map(Self)
    }
    fn bounds(bytes: &[u8]) -> Bounds {
        let counts = i64::each(bytes).filter(|count| *count != i64::MIN);
        let nulls = i64::each(bytes).filter(|count| *count == i64::MIN).count() as u64;
        let ends = counts.clone().min().zip(counts.max());
        let range = ends.map(|(min, max)| BoundRange::Int { min: min.into(), max: max.into() });
        Bounds { range, nulls }
    }
    fn int(self) -> i128 {
        self.0.into()
    }
    fn long(self) -> i64 {
        self.0
    }
    fn float(self) -> f64 {
        self.0 as f64
    }
}

/// What the extremes of floats say; those that are no numbers count as nulls.
fn float_bounds<T: Into<f64> + PartialOrd>(found: Extremes<T>) -> Bounds {
    let Extremes { min, max, unordered: nulls } = found;
    let range = (min <= max).then(|| BoundRange::Float { min: min.into(), max: max.into() });
    Bounds { range, nulls }
}

/// Runs an expression with `T` being the native type of a column, or another one for types that are
/// no numbers.
macro_rules! with_native {
    ($dtype:expr, $t:ident => $body:expr, else $other:expr) => {{
        use $crate::dtype::DKind as K;
        macro_rules! run {
            ($rust:ty) => {{
                type $t = $rust;
                $body
            }};
        }
        match ($dtype.kind(), $dtype.item_size()) {
            (K::Bool, 1) => run!($crate::table::values::Truth),
            (K::Int, 1) => run!(i8),
            (K::Int, 2) => run!(i16),
            (K::Int, 4) => run!(i32),
            (K::Int, 8) => run!(i64),
            (K::Uint, 1) => run!(u8),
            (K::Uint, 2) => run!(u16),
            (K::Uint, 4) => run!(u32),
            (K::Uint, 8) => run!(u64),
            (K::Float, 2) => run!($crate::table::values::Half),
            (K::Float, 4) => run!(f32),
            (K::Float, 8) => run!(f64),
            (K::Datetime { .. } | K::Timedelta { .. }, 8) => run!($crate::table::values::Tick),
            _ => $other,
        }
    }};
}
pub(crate) use with_native;

/// The values of a column in little endian: as they are, or turned round.
pub(crate) fn numbers<'a>(dtype: &DType, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    in_order(dtype, bytes, ByteOrder::Little)
}

/// The values of a column in a byte order.
pub(crate) fn in_order<'a>(dtype: &DType, bytes: &'a [u8], order: ByteOrder) -> Cow<'a, [u8]> {
    let found = dtype.byte_order();
    if found == order || found == ByteOrder::Irrelevant {
        return Cow::Borrowed(bytes);
    }
    let width = match dtype.kind() {
        DKind::Unicode => 4,
        DKind::Complex => dtype.item_size() / 2,
        _ => dtype.item_size(),
    };
    Cow::Owned(match width {
        2 => turned(bytes, |b: [u8; 2]| u16::from_be_bytes(b).to_le_bytes()),
        4 => turned(bytes, |b: [u8; 4]| u32::from_be_bytes(b).to_le_bytes()),
        8 => turned(bytes, |b: [u8; 8]| u64::from_be_bytes(b).to_le_bytes()),
        _ => {
            let mut turned = bytes.to_vec();
            turned.chunks_exact_mut(width.max(1)).for_each(<[u8]>::reverse);
            turned
        }
    })
}

fn turned<const N: usize>(bytes: &[u8], turn: impl Fn([u8; N]) -> [u8; N]) -> Vec<u8> {
    let mut turned = bytes.to_vec();
    turned.as_chunks_mut::<N>().0.iter_mut().for_each(|item| *item = turn(*item));
    turned
}
