//! Sizes and JSON in the words of Python, which `blpk` has always spoken.

use superchunk::Json;

/// A size in the largest unit that it fills: `369.69K`.
pub(super) fn pretty(bytes: u64) -> String {
    let units = [('T', 40), ('G', 30), ('M', 20), ('K', 10), ('B', 0)];
    let unit = units.iter().find(|(_, shift)| bytes >> shift > 0);
    let Some((letter, shift)) = unit else { return "0B".to_owned() };
    let size = bytes as f64 / (1_u64 << shift) as f64;
    format!("{:?}{letter}", (size * 100.0).round() / 100.0)
}

/// The same, and the number of bytes.
pub(super) fn double_pretty(bytes: u64) -> String {
    format!("{} ({bytes}B)", pretty(bytes))
}

/// A JSON value as Python shows what it has read: keys in order, `None` for null.
pub(super) fn python(json: &Json) -> String {
    match json {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Number(text) => number(text),
        Json::Str(text) => quoted(text),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", "))
        }
        Json::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|one, other| one.0.cmp(&other.0));
            let entry =
                |(key, value): &&(String, Json)| format!("{}: {}", quoted(key), python(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

fn number(text: &str) -> String {
    match text {
        "NaN" => "nan".to_owned(),
        "Infinity" => "inf".to_owned(),
        "-Infinity" => "-inf".to_owned(),
        plain => plain.to_owned(),
    }
}

/// A text in single quotes, or in double ones if it has only single ones itself.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut shown = String::from(quote);
    for letter in text.chars() {
        match letter {
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            letter if letter == quote => shown.extend(['\\', letter]),
            letter if letter.is_control() && u32::from(letter) < 0x100 => {
                shown.push_str(&format!("\\x{:02x}", u32::from(letter)));
            }
            letter => shown.push(letter),
        }
    }
    shown.push(quote);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_as_python_rounds_them() {
        // From the output of bloscpack 0.16.
        let known =
            [(3_000_000, "2.86M"), (524_288, "512.0K"), (378_560, "369.69K"), (37, "37.0B")];
        for (bytes, words) in known {
            assert_eq!(pretty(bytes), words);
        }
        assert_eq!(double_pretty(0), "0B (0B)");
    }

    #[test]
    fn values_are_as_python_shows_them() {
        let json = Json::parse(r#"{"b": [1, 2.5, null, true], "a": {"x": "it's\n"}}"#).unwrap();
        assert_eq!(python(&json), r#"{'a': {'x': "it's\n"}, 'b': [1, 2.5, None, True]}"#);
    }
}
