//! A type from its spelling.

use std::str::FromStr;

use super::literal::Literal;
use super::structure;
use super::time::TimeUnit;
use super::{ByteOrder, DKind, DType, MAX_ITEM};
use crate::error::{Error, Result};

/// Names that stand for a plain type: NumPy's words and its one-letter codes.
const NAMES: [(&str, &str); 36] = [
    ("bool", "b1"),
    ("?", "b1"),
    ("int8", "i1"),
    ("int16", "i2"),
    ("int32", "i4"),
    ("int64", "i8"),
    ("uint8", "u1"),
    ("uint16", "u2"),
    ("uint32", "u4"),
    ("uint64", "u8"),
    ("float16", "f2"),
    ("float32", "f4"),
    ("float64", "f8"),
    ("float", "f8"),
    ("int", "i8"),
    ("complex64", "c8"),
    ("complex128", "c16"),
    ("complex", "c16"),
    ("b", "i1"),
    ("B", "u1"),
    ("h", "i2"),
    ("H", "u2"),
    ("i", "i4"),
    ("I", "u4"),
    ("l", "i8"),
    ("L", "u8"),
    ("q", "i8"),
    ("Q", "u8"),
    ("e", "f2"),
    ("f", "f4"),
    ("d", "f8"),
    ("F", "c8"),
    ("D", "c16"),
    ("S", "S0"),
    ("U", "U0"),
    ("V", "V0"),
];

/// As [`DType::parse`].
impl FromStr for DType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl DType {
    /// Reads the spelling of NumPy: `dtype.str` of a plain type, `str(dtype)` of a structure. The
    /// names of plain types (`float32`, `datetime64[ns]`) are understood, too.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        // A record array says what it is around the structure.
        let text = match text.strip_prefix("(numpy.record,").and_then(|t| t.strip_suffix(')')) {
            Some(inner) => inner.trim(),
            None => text,
        };
        if text.starts_with(['[', '{']) {
            return structure::from_literal(&Literal::parse(text)?, 0);
        }
        Self::parse_plain(text)
    }

    /// The same type in the other byte order; a type without one is as it was.
    #[must_use]
    pub fn with_order(mut self, order: ByteOrder) -> Self {
        if self.order != ByteOrder::Irrelevant && order != ByteOrder::Irrelevant {
            self.order = order;
        }
        self
    }

    /// Reads a plain type: an optional order, a code, its size and its unit.
    pub(super) fn parse_plain(text: &str) -> Result<Self> {
        let (order, body) = match text.split_at_checked(1) {
            Some(("<", body)) => (ByteOrder::Little, body),
            Some((">", body)) => (ByteOrder::Big, body),
            Some(("|" | "=", body)) => (ByteOrder::native(), body),
            _ => (ByteOrder::native(), text),
        };
        let (body, unit) = split_unit(body).ok_or_else(|| unknown(text))?;
        let body = match body {
            "datetime64" => "M8",
            "timedelta64" => "m8",
            body => NAMES.iter().find(|(name, _)| *name == body).map_or(body, |(_, code)| code),
        };
        let (code, digits) = body.split_at_checked(1).ok_or_else(|| unknown(text))?;
        if matches!(code, "O" | "T") {
            return Err(Error::unsupported(format!(
                "`{text}` items are Python objects, which are no data of fixed size"
            ))
            .at("dtype", "text", 0));
        }
        let size = digits.parse::<usize>().map_err(|_| unknown(text))?;
        let kind = kind_of(code, size, unit).ok_or_else(|| unknown(text))?;
        let item_size = if code == "U" { size.saturating_mul(4) } else { size };
        if item_size > MAX_ITEM {
            return Err(Error::limit(format!("an item of {item_size} bytes, at most {MAX_ITEM}"))
                .at("dtype", "text", 0));
        }
        Ok(Self::plain(kind, item_size).with_order(order))
    }
}

/// Cuts `[unit]` off.
fn split_unit(body: &str) -> Option<(&str, TimeUnit)> {
    match body.split_once('[') {
        Some((body, rest)) => Some((body, TimeUnit::parse(rest.strip_suffix(']')?)?)),
        None => Some((body, TimeUnit::GENERIC)),
    }
}

fn kind_of(code: &str, size: usize, unit: TimeUnit) -> Option<DKind> {
    let kind = match (code, size) {
        ("b", 1) => DKind::Bool,
        ("i", 1 | 2 | 4 | 8) => DKind::Int,
        ("u", 1 | 2 | 4 | 8) => DKind::Uint,
        ("f", 2 | 4 | 8 | 12 | 16) => DKind::Float,
        ("c", 8 | 16 | 24 | 32) => DKind::Complex,
        ("S" | "a", _) => DKind::Bytes,
        ("U", _) => DKind::Unicode,
        ("V", _) => DKind::Void,
        ("M", 8) => DKind::Datetime { unit },
        ("m", 8) => DKind::Timedelta { unit },
        _ => return None,
    };
    let timed = matches!(kind, DKind::Datetime { .. } | DKind::Timedelta { .. });
    (timed || unit == TimeUnit::GENERIC).then_some(kind)
}

fn unknown(text: &str) -> Error {
    let shown: String = text.chars().take(60).collect();
    Error::corrupt(format!("`{shown}` is no type that NumPy knows")).at("dtype", "text", 0)
}
