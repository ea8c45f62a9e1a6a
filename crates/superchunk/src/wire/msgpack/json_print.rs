//! Values to JSON, on one line. [`Value::to_json`] describes the notation.

use std::collections::HashSet;
use std::fmt;
use std::fmt::Write;

use super::Value;
use crate::wire::json::write_string;

/// The JSON text of a value.
pub(super) fn print(value: &Value) -> String {
    Json(value).to_string()
}

/// Displays a value as JSON.
struct Json<'a>(&'a Value);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Nil => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Uint(value) => write!(f, "{value}"),
            Value::Float(value) => float(f, *value),
            Value::Str(text) => string(f, text),
            Value::Bin(bytes) => write!(f, "{{\"$bin\": \"{}\"}}", Hex(bytes)),
            Value::Array(items) => list(f, items),
            Value::Tuple(items) => tagged_list(f, "$tuple", items),
            Value::Set(items) => tagged_list(f, "$set", items),
            Value::Map(entries) => map(f, entries),
            Value::Ext(number, bytes) => {
                write!(f, "{{\"$ext\": [{number}, \"{}\"]}}", Hex(bytes))
            }
            Value::Complex(real, imaginary) => {
                f.write_str("{\"$complex\": [")?;
                float(f, *real)?;
                f.write_str(", ")?;
                float(f, *imaginary)?;
                f.write_str("]}")
            }
        }
    }
}

/// Displays bytes as hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn float(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    match value {
        // The debug form is the shortest that reads back equal, and never looks like an integer.
        _ if value.is_finite() => write!(f, "{value:?}"),
        _ if value.is_nan() => f.write_str(r#"{"$float": "nan"}"#),
        _ => write!(f, r#"{{"$float": "{value}"}}"#),
    }
}

fn string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    // Control characters of both kinds could steer the terminal they are shown on.
    write_string(f, text, char::is_control)
}

fn list(f: &mut fmt::Formatter<'_>, items: &[Value]) -> fmt::Result {
    f.write_char('[')?;
    for (index, item) in items.iter().enumerate() {
        write!(f, "{}{}", separator(index), Json(item))?;
    }
    f.write_char(']')
}

fn tagged_list(f: &mut fmt::Formatter<'_>, tag: &str, items: &[Value]) -> fmt::Result {
    write!(f, "{{\"{tag}\": ")?;
    list(f, items)?;
    f.write_char('}')
}

fn map(f: &mut fmt::Formatter<'_>, entries: &[(Value, Value)]) -> fmt::Result {
    let Some(names) = names(entries) else {
        f.write_str("{\"$map\": [")?;
        for (index, (key, value)) in entries.iter().enumerate() {
            write!(f, "{}[{}, {}]", separator(index), Json(key), Json(value))?;
        }
        return f.write_str("]}");
    };
    f.write_char('{')?;
    for (index, (name, (_, value))) in names.iter().zip(entries).enumerate() {
        f.write_str(separator(index))?;
        string(f, name)?;
        write!(f, ": {}", Json(value))?;
    }
    f.write_char('}')
}

fn separator(index: usize) -> &'static str {
    if index == 0 { "" } else { ", " }
}

/// The keys of a map that can be a JSON object: distinct texts, and no single one with a `$`.
fn names(entries: &[(Value, Value)]) -> Option<Vec<&str>> {
    let names: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect::<Option<_>>()?;
    let mut seen = HashSet::new();
    let distinct = names.iter().all(|name| seen.insert(*name));
    let looks_tagged = matches!(names.as_slice(), [only] if only.starts_with('$'));
    (distinct && !looks_tagged).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_has_its_notation() {
        let value = Value::Array(vec![
            Value::Nil,
            true.into(),
            Value::Int(-5),
            u64::MAX.into(),
            2.0f64.into(),
            1e300f64.into(),
            f64::NAN.into(),
            f64::NEG_INFINITY.into(),
            "a\"\\\n\u{1}\u{9b}é".into(),
            b"\x00\xff"[..].into(),
            Value::Tuple(vec![]),
            Value::Set(vec![1u8.into(), 2u8.into()]),
            Value::Complex(0.5, f64::INFINITY),
            Value::Ext(-1, vec![16]),
        ]);
        let expected = concat!(
            r#"[null, true, -5, 18446744073709551615, 2.0, 1e300, {"$float": "nan"}, {"$float": "-inf"}, "#,
            r#""a\"\\\n\u0001\u009bé", {"$bin": "00ff"}, {"$tuple": []}, {"$set": [1, 2]}, "#,
            r#"{"$complex": [0.5, {"$float": "inf"}]}, {"$ext": [-1, "10"]}]"#,
        );
        assert_eq!(print(&value), expected);
    }

    #[test]
    fn a_map_that_is_no_object_is_a_list_of_pairs() {
        let entry = |key: &str| (Value::from(key), Value::Nil);
        assert_eq!(print(&Value::Map(vec![entry("a"), entry("$b")])), r#"{"a": null, "$b": null}"#);
        assert_eq!(print(&Value::Map(vec![entry("$b")])), r#"{"$map": [["$b", null]]}"#);
        let twice = Value::Map(vec![entry("a"), entry("a")]);
        assert_eq!(print(&twice), r#"{"$map": [["a", null], ["a", null]]}"#);
        let number = Value::Map(vec![(1u8.into(), Value::Nil)]);
        assert_eq!(print(&number), r#"{"$map": [[1, null]]}"#);
    }
}
