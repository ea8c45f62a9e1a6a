//! Items for other programs: texts as they are stored, and JSON by one rule.

use super::value::rest_from;
use super::{DKind, DType, Field};
use crate::error::{Error, Result};
use crate::wire;
use crate::wire::msgpack::Value;

impl DType {
    /// An array of items as JSON: nested lists by `shape`, which is empty for a single item.
    ///
    /// | item | JSON |
    /// |---|---|
    /// | truth value, integer, finite number | `true`, `-7`, `0.1` with the fewest digits that read back equal |
    /// | NaN, infinity | `{"$float": "nan"}`, `{"$float": "-inf"}` |
    /// | complex number | `{"$complex": [0.5, -1.0]}` |
    /// | text, bytes that are UTF-8 | `"text"`, without the zeros that fill it up |
    /// | other bytes, floats of more than 8 bytes | `{"$bin": "00ff"}`, as they are stored |
    /// | moment, duration | `"2024-02-29"`, `"90 minutes"`, `"NaT"` |
    /// | structure | `{"field": …}` |
    ///
    /// ```
    /// use superchunk::DType;
    ///
    /// assert_eq!(DType::parse("<i2")?.to_json(&[1, 0, 2, 0], &[1, 2]), "[[1, 2]]");
    /// assert_eq!(DType::parse("|S4")?.to_json(b"a\"b\0", &[]), r#""a\"b""#);
    /// assert_eq!(DType::parse("|S2")?.to_json(&[0xff, 0], &[]), r#"{"$bin": "ff"}"#);
    /// # Ok::<(), superchunk::Error>(())
    /// ```
    #[must_use]
    pub fn to_json(&self, bytes: &[u8], shape: &[usize]) -> String {
        nested(bytes, shape, self.item_size, &|item| self.json_item(item))
    }

    /// An array of items as text that is read back equal: a text is as it is stored, lists of texts,
    /// and structures, are JSON, and all else is as [`DType::format_item`] prints it.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](crate::ErrorKind::Unsupported) where bytes of a text are not UTF-8, also in a
    /// list or a structure.
    pub fn to_text(&self, bytes: &[u8], shape: &[usize]) -> Result<String> {
        let is_text = matches!(self.kind, DKind::Bytes | DKind::Unicode);
        match shape.is_empty() {
            true if is_text => self.text(bytes).map_err(|_| self.no_text(bytes)),
            _ if is_text || self.kind == DKind::Struct => {
                self.check_texts(bytes, shape)?;
                Ok(self.to_json(bytes, shape))
            }
            _ => Ok(nested(bytes, shape, self.item_size, &|item| self.format_item(item))),
        }
    }

    /// Refuses bytes that are no text where there is to be one.
    fn check_texts(&self, bytes: &[u8], shape: &[usize]) -> Result<()> {
        if !self.has_texts() {
            return Ok(());
        }
        let count: usize = shape.iter().product();
        for item in bytes.chunks(self.item_size.max(1)).take(count) {
            for field in &self.fields {
                field.dtype.check_texts(rest_from(item, field.offset), &field.shape)?;
            }
            if self.kind != DKind::Struct && self.text(item).is_err() {
                return Err(self.no_text(item));
            }
        }
        Ok(())
    }

    fn no_text(&self, item: &[u8]) -> Error {
        Error::unsupported(format!("{} is no text", self.to_json(item, &[])))
    }

    /// Whether an item is or holds a text.
    fn has_texts(&self) -> bool {
        let holds = |field: &Field| field.dtype.has_texts();
        matches!(self.kind, DKind::Bytes | DKind::Unicode) || self.fields.iter().any(holds)
    }

    /// The text of an item, without the zeros behind it, or its bytes if they are none.
    pub(super) fn text(&self, item: &[u8]) -> std::result::Result<String, Vec<u8>> {
        let item = wire::at_most(item, self.item_size);
        let end = item.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        match self.kind {
            DKind::Unicode => {
                let letters = item.chunks_exact(4).map(|letter| {
                    char::from_u32(u32::try_from(self.number(letter)).unwrap_or(u32::MAX))
                });
                let text = letters.collect::<Option<String>>().ok_or_else(|| item.to_vec())?;
                Ok(text.trim_end_matches('\0').to_owned())
            }
            _ => String::from_utf8(item.iter().take(end).copied().collect())
                .map_err(|error| error.into_bytes()),
        }
    }

    fn json_item(&self, item: &[u8]) -> String {
        let json = |value: Value| value.to_json();
        match self.kind {
            DKind::Bool => self.format_item(item).to_lowercase(),
            DKind::Int | DKind::Uint => self.format_item(item),
            // No number of JSON has as many digits.
            DKind::Float if self.item_size > 8 => json(Value::Bin(item.to_vec())),
            DKind::Complex if self.item_size > 16 => json(Value::Bin(item.to_vec())),
            DKind::Float => json_float(self.format_item(item)),
            DKind::Complex => {
                let (real, imaginary) = self.complex_parts(item);
                format!("{{\"$complex\": [{}, {}]}}", json_float(real), json_float(imaginary))
            }
            DKind::Bytes | DKind::Unicode => self
                .text(item)
                .map_or_else(|bytes| json(Value::Bin(bytes)), |text| json(text.into())),
            DKind::Datetime { .. } | DKind::Timedelta { .. } => json(self.format_item(item).into()),
            DKind::Void => json(Value::Bin(item.to_vec())),
            DKind::Struct => {
                let fields = self.fields.iter().map(|field| {
                    let bytes = rest_from(item, field.offset);
                    let value = field.dtype.to_json(bytes, &field.shape);
                    format!("{}: {value}", json(field.name.as_str().into()))
                });
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// A number of JSON, which has no NaN and no infinity.
fn json_float(text: String) -> String {
    match text.parse::<f64>().is_ok_and(f64::is_finite) {
        true => text,
        false => format!("{{\"$float\": \"{text}\"}}"),
    }
}

/// Items in nested lists.
fn nested(bytes: &[u8], shape: &[usize], item: usize, text: &dyn Fn(&[u8]) -> String) -> String {
    let Some((side, inner)) = shape.split_first() else {
        return text(wire::at_most(bytes, item));
    };
    let len = inner.iter().fold(item, |len, side| len.saturating_mul(*side));
    let parts = (0..*side)
        .map(|part| nested(rest_from(bytes, part.saturating_mul(len)), inner, item, text));
    format!("[{}]", parts.collect::<Vec<_>>().join(", "))
}
