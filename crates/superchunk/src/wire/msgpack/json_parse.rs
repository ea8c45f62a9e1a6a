//! JSON to values: RFC 8259 and nothing else, with the `$` notation on top.

use super::{MAX_DEPTH, Value, json_tags};
use crate::error::{Error, Result};
use crate::wire::json::{self, Build, Dialect};

/// A map that is written as a list of pairs takes three JSON arrays and objects.
const STRICT: Dialect =
    Dialect { is_strict: true, is_exact: true, max_depth: 3 * MAX_DEPTH + 3, field: "value" };

/// The value a JSON text stands for.
pub(super) fn parse(text: &str) -> Result<Value> {
    let value: Value = json::parse(text, &STRICT)?;
    value.check_depth()?;
    Ok(value)
}

impl Build for Value {
    fn null() -> Self {
        Self::Nil
    }

    fn number(text: &str) -> Result<Self> {
        let value = if text.contains(['.', 'e', 'E']) {
            text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Self::Float)
        } else {
            let signed = text.parse::<i64>().ok().map(Self::Int);
            signed.or_else(|| text.parse::<u64>().ok().map(Self::Uint))
        };
        value.ok_or_else(|| Error::invalid("the number is out of range"))
    }

    /// A map, or what its `$` notation stands for.
    fn object(entries: Vec<(String, Self)>) -> Result<Self> {
        if let [(tag, content)] = entries.as_slice()
            && tag.starts_with('$')
        {
            return json_tags::meaning(tag, content)
                .ok_or_else(|| Error::invalid(format!("this is not what {tag} stands before")));
        }
        let entries = entries.into_iter().map(|(name, value)| (Self::Str(name), value));
        Ok(Self::Map(entries.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn json_is_read_as_it_is_meant() {
        let value = parse(" { \"a\" : [ 1 , -0, 1.5e+3, 1E2 ] ,\n\"\" : {} }\t").unwrap();
        let items = vec![1i64.into(), 0i64.into(), 1500.0f64.into(), 100.0f64.into()];
        let entries = vec![("a".into(), Value::Array(items)), ("".into(), Value::Map(vec![]))];
        assert_eq!(value, Value::Map(entries));
        let escapes = parse(r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#).unwrap();
        assert_eq!(escapes, "\"\\/\u{8}\u{c}\n\r\té😀".into());
        assert_eq!(parse("9223372036854775808").unwrap(), Value::Uint(1 << 63));
        assert_eq!(parse("-9223372036854775808").unwrap(), Value::Int(i64::MIN));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let bad = [
            "",
            " ",
            "nul",
            "nulll",
            "01",
            "-",
            "+1",
            ".5",
            "1.",
            "1e",
            "1e+",
            "0x1",
            "1 2",
            "[1,]",
            "[1 2]",
            "[",
            "{",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "{\"a\":1,}",
            "{\"a\":1,\"a\":2}",
            "\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\\udc00\"",
            "\"\n\"",
            "'a'",
            "NaN",
            "18446744073709551616",
            "-9223372036854775809",
            "1e999",
            "\u{a0}1",
            "1--2",
            "1e5e5",
        ];
        for text in bad {
            assert_eq!(parse(text).unwrap_err().kind(), ErrorKind::InvalidArgument, "{text}");
        }
        let error = parse("[1, x]").unwrap_err();
        assert_eq!(error.to_string(), "json value: a JSON value is expected, at byte 4");
        let error = parse(r#"[1, {"$set": 2}]"#).unwrap_err();
        let expected = "json value: this is not what $set stands before, at byte 4";
        assert_eq!(error.to_string(), expected);
        let error = parse("[1, 1e999]").unwrap_err();
        assert_eq!(error.to_string(), "json value: the number is out of range, at byte 4");
    }

    #[test]
    fn deep_nesting_is_refused_before_the_stack_ends() {
        for open in ["[", "{\"a\":"] {
            let error = parse(&open.repeat(1_000_000)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        }
    }
}
