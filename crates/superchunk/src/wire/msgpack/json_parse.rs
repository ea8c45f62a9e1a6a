//! JSON to values: a small parser that takes RFC 8259 and nothing else.

use std::collections::HashSet;

use super::{MAX_DEPTH, Value, json_tags, too_deep};
use crate::error::{Error, Result};

/// JSON arrays and objects inside each other: a map that is written as a list of pairs takes three.
const MAX_NESTING: usize = 3 * MAX_DEPTH + 3;

/// The value a JSON text stands for.
pub(super) fn parse(text: &str) -> Result<Value> {
    let mut parser = Parser { text, position: 0 };
    let value = parser.value(0)?;
    parser.skip_space();
    if parser.position < text.len() {
        return Err(parser.error("nothing may follow the value"));
    }
    value.check_depth()?;
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: usize) -> Result<Value> {
        if depth > MAX_NESTING {
            return Err(too_deep());
        }
        self.skip_space();
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.array(depth).map(Value::Array),
            Some('"') => self.string().map(Value::Str),
            Some('-' | '0'..='9') => self.number(),
            _ => {
                let words = [("null", Value::Nil), ("true", true.into()), ("false", false.into())];
                for (word, value) in words {
                    if self.rest().starts_with(word) {
                        self.position += word.len();
                        return Ok(value);
                    }
                }
                Err(self.error("a JSON value is expected"))
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Value>> {
        self.expect('[', "'[' is expected")?;
        let mut items = Vec::new();
        if self.takes(']') {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.takes(']') {
                return Ok(items);
            }
            self.expect(',', "',' or ']' is expected")?;
        }
    }

    /// An object: a map, or what its `$` notation stands for.
    fn object(&mut self, depth: usize) -> Result<Value> {
        let start = self.position;
        self.expect('{', "'{' is expected")?;
        let mut entries: Vec<(Value, Value)> = Vec::new();
        let mut seen = HashSet::new();
        if self.takes('}') {
            return Ok(Value::Map(entries));
        }
        loop {
            self.skip_space();
            let name = self.string()?;
            if !seen.insert(name.clone()) {
                return Err(self.error("the object has this key already"));
            }
            self.expect(':', "':' is expected")?;
            entries.push((Value::Str(name), self.value(depth + 1)?));
            if self.takes('}') {
                break;
            }
            self.expect(',', "',' or '}' is expected")?;
        }
        if let [(Value::Str(tag), content)] = entries.as_slice()
            && tag.starts_with('$')
        {
            let message = format!("this is not what {tag} stands before");
            return json_tags::meaning(tag, content)
                .ok_or_else(|| Error::invalid(message).at("json", "value", start));
        }
        Ok(Value::Map(entries))
    }

    fn number(&mut self) -> Result<Value> {
        let rest = self.rest();
        let len = rest
            .find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'))
            .unwrap_or(rest.len());
        let number = rest.get(..len).unwrap_or_default();
        if !is_json_number(number) {
            return Err(self.error("this is not a JSON number"));
        }
        let value = if number.contains(['.', 'e', 'E']) {
            number.parse::<f64>().ok().filter(|value| value.is_finite()).map(Value::Float)
        } else {
            let signed = number.parse::<i64>().ok().map(Value::Int);
            signed.or_else(|| number.parse::<u64>().ok().map(Value::Uint))
        };
        let value = value.ok_or_else(|| self.error("the number is out of range"))?;
        self.position += len;
        Ok(value)
    }

    fn string(&mut self) -> Result<String> {
        if !self.takes('"') {
            return Err(self.error("'\"' is expected"));
        }
        let mut text = String::new();
        loop {
            let Some(character) = self.next() else {
                return Err(self.error("the text has no closing '\"'"));
            };
            match character {
                '"' => return Ok(text),
                '\\' => text.push(self.escape()?),
                '\0'..='\x1f' => return Err(self.error("a control character must be escaped")),
                _ => text.push(character),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        Ok(match self.next() {
            Some(plain @ ('"' | '\\' | '/')) => plain,
            Some('b') => '\x08',
            Some('f') => '\x0c',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let mut units = vec![self.code_unit()?];
                if matches!(units.first(), Some(0xd800..=0xdbff)) && self.rest().starts_with("\\u")
                {
                    self.position += 2;
                    units.push(self.code_unit()?);
                }
                let mut characters = char::decode_utf16(units);
                match (characters.next(), characters.next()) {
                    (Some(Ok(character)), None) => character,
                    _ => return Err(self.error("half of a surrogate pair is no character")),
                }
            }
            _ => return Err(self.error("JSON has no such escape")),
        })
    }

    /// The four hexadecimal digits of `\u`.
    fn code_unit(&mut self) -> Result<u16> {
        let digits = self.rest().get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.error("four hexadecimal digits are expected"))?;
        self.position += 4;
        Ok(unit)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += next.len_utf8();
        Some(next)
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    /// Whether this character is next; if so, goes past it and the space before it.
    fn takes(&mut self, wanted: char) -> bool {
        self.skip_space();
        let found = self.peek() == Some(wanted);
        if found {
            self.position += wanted.len_utf8();
        }
        found
    }

    fn expect(&mut self, wanted: char, message: &'static str) -> Result<()> {
        if self.takes(wanted) { Ok(()) } else { Err(self.error(message)) }
    }

    #[cold]
    fn error(&self, message: &'static str) -> Error {
        Error::invalid(message).at("json", "value", self.position)
    }
}

/// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`: Rust takes more than that.
fn is_json_number(number: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let number = number.strip_prefix('-').unwrap_or(number);
    let (number, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && is_digits(fraction)
        && is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
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
    }

    #[test]
    fn deep_nesting_is_refused_before_the_stack_ends() {
        for open in ["[", "{\"a\":"] {
            let error = parse(&open.repeat(1_000_000)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        }
    }
}
