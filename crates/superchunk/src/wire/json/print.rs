//! JSON values to text, byte for byte as Python's `json.dumps` writes them.

use std::fmt;
use std::fmt::Write;

use super::{Json, Style};

/// The text of a value.
pub(super) fn print(value: &Json, style: Style) -> String {
    Text { value, style }.to_string()
}

/// A float as Python's `repr` shows it: the shortest digits that read back equal, never like an
/// integer, with a signed exponent of two digits or more outside 1e-4 to 1e16.
pub(super) fn float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let text = shortest(value);
    match text.split_once('e') {
        None => text,
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
    }
}

/// Writes a text in quotes. `"`, `\`, the control characters below a blank and what `is_escaped`
/// adds to them are escapes.
pub(crate) fn write_string(
    f: &mut fmt::Formatter<'_>,
    text: &str,
    is_escaped: impl Fn(char) -> bool,
) -> fmt::Result {
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            '\x08' => f.write_str("\\b")?,
            '\x0c' => f.write_str("\\f")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            _ if character < ' ' || is_escaped(character) => {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    write!(f, "\\u{unit:04x}")?;
                }
            }
            _ => f.write_char(character)?,
        }
    }
    f.write_char('"')
}

/// The shortest digits of a finite float, with Rust's way to write the exponent.
fn shortest(value: f64) -> String {
    // The debug form is as short, and turns to exponents at the same sizes. But where two such texts
    // are equally near, it takes the larger and Python the even one, as does rounding to a number of
    // digits. At powers of two, below which floats are denser, rounding may meet a neighbour: then
    // the debug form is right.
    let text = format!("{value:?}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, ""));
    let places = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let even = match exponent {
        "" => format!("{value:.places$}"),
        _ => format!("{value:.places$e}"),
    };
    if even.parse() == Ok(value) { even } else { text }
}

/// Displays a value in a style.
struct Text<'a> {
    value: &'a Json,
    style: Style,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let style = self.style;
        let (comma, colon) = match style {
            Style::Compact => (",", ":"),
            Style::Spaced => (", ", ": "),
        };
        match self.value {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(text) => f.write_str(text),
            Json::Str(text) => ascii(f, text),
            Json::Array(items) => {
                f.write_char('[')?;
                for (index, value) in items.iter().enumerate() {
                    let separator = if index == 0 { "" } else { comma };
                    write!(f, "{separator}{}", Text { value, style })?;
                }
                f.write_char(']')
            }
            Json::Object(entries) => {
                f.write_char('{')?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { comma })?;
                    ascii(f, key)?;
                    write!(f, "{colon}{}", Text { value, style })?;
                }
                f.write_char('}')
            }
        }
    }
}

/// A text with all but the printable characters of ASCII as escapes.
fn ascii(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    // Python counts the last of ASCII, DEL, among the others.
    write_string(f, text, |character| character > '~')
}
