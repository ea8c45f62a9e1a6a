//! MessagePack values, as metalayers and objects of python-blosc2 hold them.
//!
//! A value is one byte that tells its type, perhaps a length, and its content; all integers are
//! **big endian**, unlike those of a chunk:
//!
//! | first byte | value |
//! |---|---|
//! | `00..7f`, `e0..ff` | the integers 0..127 and -32..-1 |
//! | `80..8f`, `de`, `df` | map: count in the low nibble, 16 or 32 bits; then key, value, key … |
//! | `90..9f`, `dc`, `dd` | array: count likewise; then the items |
//! | `a0..bf`, `d9`, `da`, `db` | UTF-8 string: length in the low five bits, 8, 16 or 32 bits |
//! | `c0`, `c2`, `c3` | nil, false, true |
//! | `c4`, `c5`, `c6` | bytes: length in 8, 16 or 32 bits |
//! | `c7`, `c8`, `c9` | extension: length in 8, 16 or 32 bits, then its number, then its bytes |
//! | `ca`, `cb` | float of 32 or 64 bits |
//! | `cc..cf`, `d0..d3` | unsigned, signed integer of 8, 16, 32, 64 bits |
//! | `d4..d8` | extension of 1, 2, 4, 8, 16 bytes: its number, then its bytes |
//!
//! On top of it python-blosc2 has three conventions: a tuple is an array whose first item is the
//! string `__tuple__`; extension 44 is a complex number, two floats of 64 bits; extension 45 is a
//! set, its bytes being one array. See `docs/formats/metalayers.md`.

mod decode;
mod encode;
mod json_parse;
mod json_print;
mod json_tags;
mod skim;

pub(crate) use encode::{write_array_head, write_bytes, write_text};
pub(crate) use skim::{Head, Skim};

use std::fmt;

use crate::error::{Error, Result};
use crate::text::Bytes;

/// What errors call it.
const FORMAT: &str = "msgpack";

/// How many containers may stand around a value. The deepest known file needs six.
const MAX_DEPTH: usize = 64;

/// The first item of an array that stands for a tuple.
const TUPLE_MARK: &str = "__tuple__";

/// The extension number of a complex number.
const EXT_COMPLEX: i8 = 44;

/// The extension number of a set.
const EXT_SET: i8 = 45;

/// A MessagePack value, with the tuples, sets and complex numbers of python-blosc2.
///
/// ```
/// use superchunk::Value;
///
/// let value = Value::from_json(r#"{"unit": "K", "range": [0, 500.5]}"#)?;
/// assert_eq!(value.get("unit").and_then(Value::as_str), Some("K"));
///
/// let bytes = value.encode()?;
/// assert_eq!(Value::decode(&bytes)?, value);
/// assert_eq!(value.to_json(), r#"{"unit": "K", "range": [0, 500.5]}"#);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Nil,
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer above `i64::MAX`. Smaller ones are equal to their [`Int`](Value::Int) once
    /// stored, so write them so; `From` does.
    Uint(u64),
    /// A number with a fraction. Stored in 64 bits; floats of 32 bits are widened when read.
    Float(f64),
    /// Text.
    Str(String),
    /// Bytes.
    Bin(Vec<u8>),
    /// A list. It becomes a tuple when read again, if its first item is the text `__tuple__`.
    Array(Vec<Value>),
    /// Keys with their values, in stored order. Keys may be any value and may repeat.
    Map(Vec<(Value, Value)>),
    /// An extension that has no variant of its own: its number and its bytes.
    Ext(i8, Vec<u8>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A set, in stored order; nothing is done about equal items.
    Set(Vec<Value>),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("Nil"),
            Self::Bool(value) => f.debug_tuple("Bool").field(value).finish(),
            Self::Int(value) => f.debug_tuple("Int").field(value).finish(),
            Self::Uint(value) => f.debug_tuple("Uint").field(value).finish(),
            Self::Float(value) => f.debug_tuple("Float").field(value).finish(),
            Self::Str(text) => f.debug_tuple("Str").field(text).finish(),
            Self::Bin(bytes) => f.debug_tuple("Bin").field(&Bytes(bytes)).finish(),
            Self::Array(values) => f.debug_tuple("Array").field(values).finish(),
            Self::Map(entries) => f.debug_tuple("Map").field(entries).finish(),
            Self::Ext(id, bytes) => f.debug_tuple("Ext").field(id).field(&Bytes(bytes)).finish(),
            Self::Tuple(values) => f.debug_tuple("Tuple").field(values).finish(),
            Self::Set(values) => f.debug_tuple("Set").field(values).finish(),
            Self::Complex(real, imaginary) => {
                f.debug_tuple("Complex").field(real).field(imaginary).finish()
            }
        }
    }
}

impl Value {
    /// The value stored in `bytes`, which must hold nothing else.
    ///
    /// # Errors
    ///
    /// `Truncated` when the bytes end early, `Corrupt` when they are no MessagePack, are followed
    /// by others, or hold text that is not UTF-8, and `LimitExceeded` when more than 64 containers
    /// stand inside each other.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        decode::decode(bytes)
    }

    /// The value as MessagePack, each part in its shortest form, floats in 64 bits.
    ///
    /// # Errors
    ///
    /// `LimitExceeded` when a length does not fit 32 bits, or when more than 64 containers stand
    /// inside each other.
    pub fn encode(&self) -> Result<Vec<u8>> {
        encode::encode(self)
    }

    /// The value as one line of JSON.
    ///
    /// What JSON does not have is an object with one key that begins with `$`:
    ///
    /// | value | JSON |
    /// |---|---|
    /// | bytes | `{"$bin": "00ff"}` |
    /// | tuple, set | `{"$tuple": [1, 2]}`, `{"$set": [1, 2]}` |
    /// | NaN, infinities | `{"$float": "nan"}`, `{"$float": "inf"}`, `{"$float": "-inf"}` |
    /// | complex number | `{"$complex": [1.0, 0.5]}` |
    /// | extension | `{"$ext": [42, "00ff"]}` |
    /// | map whose keys are not all text and distinct, or that looks like one of these | `{"$map": [[1, "one"]]}` |
    ///
    /// [`from_json`](Value::from_json) restores all of it as it was.
    #[must_use]
    pub fn to_json(&self) -> String {
        json_print::print(self)
    }

    /// The value that a JSON text stands for, in the notation of [`to_json`](Value::to_json).
    ///
    /// Numbers with a fraction or an exponent are floats, others are integers of 64 bits.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` when the text is not exactly one JSON value, has a key twice in an object,
    /// a number out of range, or a `$` notation with the wrong content; `LimitExceeded` when more
    /// than 64 containers stand inside each other.
    pub fn from_json(text: &str) -> Result<Self> {
        json_parse::parse(text)
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The integer, if it is one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Uint(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The integer, if it is one that is not negative.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok(),
            Self::Uint(value) => Some(*value),
            _ => None,
        }
    }

    /// The float, if it is one.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        if let Self::Float(value) = self { Some(*value) } else { None }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(value) = self { Some(value) } else { None }
    }

    /// The bytes, if it is bytes.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Self::Bin(value) = self { Some(value) } else { None }
    }

    /// The items of a list, a tuple or a set.
    #[must_use]
    pub fn as_slice(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) | Self::Tuple(items) | Self::Set(items) => Some(items),
            _ => None,
        }
    }

    /// What a map holds under this text; the first, if it is there twice.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// Refuses more than [`MAX_DEPTH`] containers inside each other.
    fn check_depth(&self) -> Result<()> {
        if self.is_shallow(MAX_DEPTH) { Ok(()) } else { Err(too_deep()) }
    }

    /// Whether at most `left` containers stand inside each other. Looks no deeper than that.
    fn is_shallow(&self, left: usize) -> bool {
        let Some(below) = left.checked_sub(1) else {
            return self.as_slice().is_none() && !matches!(self, Self::Map(_));
        };
        match self {
            Self::Map(entries) => {
                entries.iter().all(|(key, value)| key.is_shallow(below) && value.is_shallow(below))
            }
            _ => {
                self.as_slice().is_none_or(|items| items.iter().all(|item| item.is_shallow(below)))
            }
        }
    }
}

fn too_deep() -> Error {
    Error::limit(format!("more than {MAX_DEPTH} containers stand inside each other"))
}

/// `From` for types that one variant holds.
macro_rules! from {
    ($($type:ty => |$value:ident| $made:expr;)*) => {$(
        impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $made
            }
        }
    )*};
}

from! {
    bool => |value| Self::Bool(value);
    i8 => |value| Self::Int(value.into());
    i16 => |value| Self::Int(value.into());
    i32 => |value| Self::Int(value.into());
    i64 => |value| Self::Int(value);
    u8 => |value| Self::Int(value.into());
    u16 => |value| Self::Int(value.into());
    u32 => |value| Self::Int(value.into());
    u64 => |value| i64::try_from(value).map_or(Self::Uint(value), Self::Int);
    f32 => |value| Self::Float(value.into());
    f64 => |value| Self::Float(value);
    &str => |value| Self::Str(value.to_owned());
    String => |value| Self::Str(value);
    &[u8] => |value| Self::Bin(value.to_vec());
    Vec<u8> => |value| Self::Bin(value);
    Vec<Value> => |value| Self::Array(value);
    Vec<(Value, Value)> => |value| Self::Map(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn accessors_answer_only_for_their_own_type() {
        let map = Value::from(vec![
            (Value::from(1u8), Value::Nil),
            ("n".into(), Value::from(u64::MAX)),
            ("n".into(), 2i64.into()),
            ("list".into(), Value::Tuple(vec![true.into(), 0.5f32.into(), b"xy"[..].into()])),
        ]);
        assert_eq!(map.get("n").and_then(Value::as_u64), Some(u64::MAX));
        assert_eq!(map.get("n").and_then(Value::as_i64), None);
        assert_eq!(map.get("missing"), None);
        let items = map.get("list").and_then(Value::as_slice).unwrap();
        assert_eq!(items[0].as_bool(), Some(true));
        assert_eq!(items[1].as_f64(), Some(0.5));
        assert_eq!(items[2].as_bytes(), Some(&b"xy"[..]));
        assert!(items.iter().all(|item| item.as_str().is_none() && item.get("n").is_none()));
    }

    #[test]
    fn unsigned_integers_take_the_signed_variant_when_they_fit() {
        let edge = i64::MAX as u64;
        assert_eq!(Value::from(edge), Value::Int(i64::MAX));
        assert_eq!(Value::from(edge + 1), Value::Uint(edge + 1));
        assert_eq!(Value::Uint(7).as_i64(), Some(7));
        assert_eq!(Value::Int(-1).as_u64(), None);
    }

    #[test]
    fn the_depth_limit_is_the_same_both_ways_and_in_json() {
        let wrap: [fn(Value) -> Value; 4] = [
            |value| Value::Array(vec![value]),
            |value| Value::Tuple(vec![value]),
            |value| Value::Set(vec![value]),
            |value| Value::Map(vec![(value, Value::Nil)]),
        ];
        for wrap in wrap {
            let mut value = Value::Nil;
            for _ in 0..MAX_DEPTH {
                value = wrap(value);
            }
            assert_eq!(Value::decode(&value.encode().unwrap()).unwrap(), value);
            assert_eq!(Value::from_json(&value.to_json()).unwrap(), value);
            let deeper = wrap(value);
            assert_eq!(deeper.encode().unwrap_err().kind(), ErrorKind::LimitExceeded);
            let error = Value::from_json(&deeper.to_json()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        }
    }
}
