//! One item as text.

use std::fmt::Write;

use super::{ByteOrder, DKind, DType, Field};
use crate::wire;

impl DType {
    /// One item as text: numbers in full, moments as ISO 8601, text as it is, structures in
    /// parentheses. Too few bytes read as if zeros followed.
    #[must_use]
    pub fn format_item(&self, bytes: &[u8]) -> String {
        let mut item = wire::at_most(bytes, self.item_size).to_vec();
        item.resize(self.item_size, 0);
        match self.kind {
            DKind::Bool => if item == [0] { "False" } else { "True" }.to_owned(),
            DKind::Int => signed(self.number(&item), self.item_size).to_string(),
            DKind::Uint => self.number(&item).to_string(),
            DKind::Float => float(self.number(&item), self.item_size),
            DKind::Complex => {
                let (real, imaginary) = self.complex_parts(&item);
                let plus = if imaginary.starts_with('-') { "" } else { "+" };
                format!("({real}{plus}{imaginary}j)")
            }
            DKind::Bytes => {
                let text = self.text(&item);
                printable(
                    &text.unwrap_or_else(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                )
            }
            DKind::Unicode => printable(&self.text(&item).unwrap_or_else(|_| self.lossy(&item))),
            DKind::Datetime { unit } => {
                self.time(&item).map_or("NaT".to_owned(), |count| unit.moment(count))
            }
            DKind::Timedelta { unit } => {
                self.time(&item).map_or("NaT".to_owned(), |count| unit.duration(count))
            }
            DKind::Void => item.iter().fold("0x".to_owned(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            }),
            DKind::Struct => {
                let fields = self.fields.iter().map(|field| field.format(&item));
                format!("({})", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The texts of the two parts of a complex number.
    pub(super) fn complex_parts(&self, item: &[u8]) -> (String, String) {
        let half = self.item_size / 2;
        let part = |bytes: &[u8]| float(self.number(bytes), half);
        (part(wire::at_most(item, half)), part(rest_from(item, half)))
    }

    /// Up to 16 bytes as an integer.
    pub(super) fn number(&self, bytes: &[u8]) -> u128 {
        let join = |value: u128, byte: &u8| value << 8 | u128::from(*byte);
        match self.order {
            ByteOrder::Big => bytes.iter().fold(0, join),
            _ => bytes.iter().rev().fold(0, join),
        }
    }

    fn time(&self, item: &[u8]) -> Option<i64> {
        let count = i64::try_from(signed(self.number(item), 8)).ok();
        count.filter(|count| *count != i64::MIN)
    }

    /// Letters, those that are none replaced.
    fn lossy(&self, item: &[u8]) -> String {
        let letters = item.chunks_exact(4).map(|letter| {
            let code = u32::try_from(self.number(letter)).unwrap_or(0);
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
        });
        letters.collect::<String>().trim_end_matches('\0').to_owned()
    }
}

impl Field {
    fn format(&self, item: &[u8]) -> String {
        self.format_array(rest_from(item, self.offset), &self.shape)
    }

    fn format_array(&self, bytes: &[u8], shape: &[usize]) -> String {
        let Some((side, inner)) = shape.split_first() else { return self.dtype.format_item(bytes) };
        let len = inner.iter().fold(self.dtype.item_size, |len, side| len.saturating_mul(*side));
        let parts = (0..*side)
            .map(|part| self.format_array(rest_from(bytes, part.saturating_mul(len)), inner));
        format!("[{}]", parts.collect::<Vec<_>>().join(", "))
    }
}

/// The bytes of an item from `at` on. Items that are too short read as if zeros followed.
pub(super) fn rest_from(item: &[u8], at: usize) -> &[u8] {
    item.get(at..).unwrap_or_default()
}

/// The two's complement of `size` bytes.
fn signed(value: u128, size: usize) -> i128 {
    let bits = u32::try_from(8 * size.min(8)).unwrap_or(64);
    let value = i128::try_from(value & ((1 << bits) - 1)).unwrap_or(0);
    if value >> (bits - 1) == 1 { value - (1 << bits) } else { value }
}

fn float(bits: u128, size: usize) -> String {
    let low = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or(0);
    let text = match size {
        2 => short_half(u16::try_from(bits).unwrap_or(0)),
        4 => short(&f32::from_bits(u32::try_from(bits).unwrap_or(0))),
        8 => short(&f64::from_bits(low(bits))),
        _ => return format!("0x{bits:0width$x}", width = 2 * size),
    };
    text.replace("NaN", "nan")
}

/// The shortest digits that read back as the same value.
fn short(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

/// Prints 16 bits with the fewest digits that are closer to this value than to its neighbours.
/// Digits halfway between two values read back as the one whose last bit is 0.
fn short_half(bits: u16) -> String {
    let exact = f64::from(half(bits));
    if !exact.is_finite() {
        return short(&exact);
    }
    let magnitude = bits & 0x7fff;
    let next = Some(f64::from(half(magnitude + 1))).filter(|next| next.is_finite());
    let (above, value) = (next.unwrap_or(BEYOND), exact.abs());
    let below = magnitude.checked_sub(1).map_or(-above, |bits| f64::from(half(bits)));
    let is_read_back = |text: &f64| {
        let (low, high) = (below + value, above + value);
        let is_halfway = 2.0 * text == low || 2.0 * text == high;
        2.0 * text > low && 2.0 * text < high || is_halfway && magnitude.is_multiple_of(2)
    };
    let found = (0..6).flat_map(|digits| near(value, digits)).find(is_read_back);
    short(&found.unwrap_or(value).copysign(exact))
}

/// The number of this many digits after the first one that is closest to `value`, and those before
/// and after it.
fn near(value: f64, digits: usize) -> impl Iterator<Item = f64> {
    let text = format!("{value:.digits$e}").replace('.', "");
    let (mantissa, exponent) = text.split_once('e').unwrap_or_default();
    let mantissa: i64 = mantissa.parse().unwrap_or(0);
    let exponent = exponent.parse::<i64>().unwrap_or(0) - i64::try_from(digits).unwrap_or(0);
    let read = move |mantissa: i64| format!("{mantissa}e{exponent}").parse().ok();
    [mantissa, mantissa - 1, mantissa + 1].into_iter().filter_map(read)
}

/// The value that would follow the largest 16-bit float.
const BEYOND: f64 = 65_536.0;

/// The bits of the nearest 16-bit float; of two that are equally near, the even one.
pub(crate) fn nearest_half(value: f64) -> u16 {
    const INFINITY: u16 = 0x7c00;
    const NAN: u16 = 0x7e00;
    let magnitude = value.abs();
    let exact = |bits: u16| if bits == INFINITY { BEYOND } else { f64::from(half(bits)) };
    let (mut low, mut high) = (0, INFINITY);
    while high - low > 1 {
        let middle = low.midpoint(high);
        *(if exact(middle) <= magnitude { &mut low } else { &mut high }) = middle;
    }
    let (below, above) = (magnitude - exact(low), exact(high) - magnitude);
    let bits = match below < above || (below == above && low.is_multiple_of(2)) {
        _ if value.is_nan() => NAN,
        true => low,
        false => high,
    };
    bits | u16::from(value.is_sign_negative()) << 15
}

/// A 16-bit float, exactly.
pub(crate) fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 0x1f, bits & 0x3ff);
    let magnitude = match exponent {
        0 => f32::from(fraction) * 2f32.powi(-24),
        0x1f if fraction == 0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => f32::from(fraction + 0x400) * 2f32.powi(i32::from(exponent) - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

/// Text without what would disturb a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
}
