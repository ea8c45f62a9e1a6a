//! JSON texts, as the metadata of Bloscpack, bcolz and blsk holds them: [`parse`] reads, [`print`]
//! writes, [`Json`] is what both speak of.
//!
//! ```text
//! value    null | true | false | number | string | array | object
//! number   -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
//!          NaN | Infinity | -Infinity                  Python's own, refused by the strict dialect
//! string   " characters, \" \\ \/ \b \f \n \r \t \uXXXX "
//! array    [ value, … ]
//! object   { string: value, … }
//! ```
//!
//! The files come from Python's `json`, so that is the measure both ways: what it writes is read,
//! and what is written is equal to what it would write.

mod parse;
mod print;
#[cfg(test)]
mod tests;

pub(crate) use parse::{Build, Dialect, parse};
pub(crate) use print::write_string;

use crate::error::{Error, Result};

/// A JSON value. Numbers keep their text and objects their order, so that what was read is written
/// again as it was.
///
/// ```
/// use superchunk::{Json, JsonStyle};
///
/// let mut json = Json::parse(r#"{"dtype": "<f8", "expectedlen": 100, "dflt": NaN}"#)?;
/// assert_eq!(json.get("expectedlen").and_then(Json::as_u64), Some(100));
///
/// json.set("expectedlen", 200u64)?;
/// json.remove("dtype");
/// assert_eq!(json.to_text(JsonStyle::Compact), r#"{"expectedlen":200,"dflt":NaN}"#);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number as it is written, of any length; also `NaN`, `Infinity` and `-Infinity`. Two are
    /// equal when their texts are.
    Number(String),
    /// Text.
    Str(String),
    /// A list.
    Array(Vec<Json>),
    /// Keys with their values, in the order of the text. No key is twice in what was parsed.
    Object(Vec<(String, Json)>),
}

/// How much space the text of a [`Json`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// None: Python's `separators=(",", ":")`.
    Compact,
    /// One blank after each comma and colon: Python's default.
    Spaced,
}

impl Json {
    /// The value of a JSON text as Python's `json.loads` understands it: RFC 8259, and the numbers
    /// `NaN`, `Infinity` and `-Infinity`.
    ///
    /// Of equal keys of an object the last one's value counts, at the place of the first. Half of a
    /// surrogate pair, which Python may write as an escape, becomes U+FFFD.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` with the byte at which the text is no JSON; `LimitExceeded` when more than
    /// 128 arrays and objects stand inside each other.
    pub fn parse(text: &str) -> Result<Self> {
        parse(text, &Dialect::PYTHON)
    }

    /// Parses a JSON text like [`parse`](Self::parse), but refuses what that would change silently.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse), and `InvalidArgument` when an object has a key twice or a text
    /// has half of a surrogate pair.
    pub fn parse_exact(text: &str) -> Result<Self> {
        parse(text, &Dialect::EXACT)
    }

    /// The value on one line, equal to what Python's `json.dumps` gives: printable
    /// ASCII, all else in escapes.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        print::print(self, style)
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number, if it is written as an integer and fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Number(text) = self { text.parse().ok() } else { None }
    }

    /// The number, if it is written as an integer and fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        let Self::Number(text) = self else { return None };
        // Rust takes no sign here, not even that of `-0`.
        text.parse().ok().or_else(|| u64::try_from(self.as_i64()?).ok())
    }

    /// The number as the nearest float, if it is a number; infinite when it is too large for one.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        // Rust knows `NaN` and `Infinity` by the same names.
        if let Self::Number(text) = self { text.parse().ok() } else { None }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(value) = self { Some(value) } else { None }
    }

    /// The items of a list.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The keys and values of an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&[(String, Json)]> {
        if let Self::Object(entries) = self { Some(entries) } else { None }
    }

    /// What an object holds under this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Puts a value under a key of an object: in place of the one that is there, or at the end.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` when it is not an object.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<Json>) -> Result<()> {
        let Self::Object(entries) = self else {
            return Err(Error::invalid("only a JSON object has keys to set"));
        };
        let (key, value) = (key.into(), value.into());
        match entries.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => entries.push((key, value)),
        }
        Ok(())
    }

    /// Takes a key out of an object and gives what was there.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let Self::Object(entries) = self else { return None };
        let index = entries.iter().position(|(name, _)| name == key)?;
        Some(entries.remove(index).1)
    }
}

impl Build for Json {
    fn null() -> Self {
        Self::Null
    }

    fn number(text: &str) -> Result<Self> {
        Ok(Self::Number(text.to_owned()))
    }

    fn object(entries: Vec<(String, Self)>) -> Result<Self> {
        Ok(Self::Object(entries))
    }
}

/// `From` for types that one variant holds.
macro_rules! from {
    ($($type:ty => |$value:ident| $made:expr;)*) => {$(
        impl From<$type> for Json {
            fn from($value: $type) -> Self {
                $made
            }
        }
    )*};
}

from! {
    bool => |value| Self::Bool(value);
    i32 => |value| Self::Number(value.to_string());
    i64 => |value| Self::Number(value.to_string());
    u32 => |value| Self::Number(value.to_string());
    u64 => |value| Self::Number(value.to_string());
    usize => |value| Self::Number(value.to_string());
    f64 => |value| Self::Number(print::float(value));
    &str => |value| Self::Str(value.to_owned());
    String => |value| Self::Str(value);
    Vec<Json> => |value| Self::Array(value);
    Vec<(String, Json)> => |value| Self::Object(value);
}
