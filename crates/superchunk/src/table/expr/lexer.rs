//! The words of an expression.
//!
//! ```text
//! name    = letter { letter | digit } { "." name }  |  "`" any but ` "`"
//! number  = digits [ "." digits ] [ e [+-] digits ] |  0x… 0o… 0b…        _ between digits
//! text    = 'it''s'  "quoted"  b'bytes'                                   \\ \' \" \n \t \r \0 \xhh \u{h…}
//! param   = ":" name  |  "$" digits
//! ```

use super::MAX_TEXT;
use crate::error::{Error, OrBug, Result};

/// One word and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) at: usize,
}

/// What a word can be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    /// A name that may be a keyword.
    Name(String),
    /// A name in backticks, which is always a column.
    Quoted(String),
    Int(i128),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    Param(String),
    Sign(&'static str),
    End,
}

/// Signs, longer ones first.
const SIGNS: [&str; 24] = [
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "%", "&", "|",
    "^", "~", "(", ")", ",", "[", "]",
];

/// What other languages write, and what is written here.
const FOREIGN: [(&str, &str); 7] = [
    ("&&", "and"),
    ("||", "or"),
    ("<>", "!="),
    ("===", "=="),
    ("=", "=="),
    ("!", "not"),
    (";", "nothing"),
];

/// All words of a text; the last one is the end.
pub(super) fn words(text: &str) -> Result<Vec<Token>> {
    if text.len() > MAX_TEXT {
        return Err(Error::limit(format!(
            "the expression has {} bytes, at most {MAX_TEXT} are read",
            text.len()
        )));
    }
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip(char::is_whitespace);
        let at = lexer.at;
        let word = lexer.word()?;
        let ended = word == Word::End;
        tokens.push(Token { word, at });
        if ended {
            return Ok(tokens);
        }
    }
}

/// An error at a place of an expression.
pub(super) fn wrong(at: usize, message: impl Into<String>) -> Error {
    Error::invalid(message.into()).at("expression", "text", at)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes on as long as letters are of a kind, and returns them.
    fn skip(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let tail = rest.trim_start_matches(&wanted);
        self.at += rest.len() - tail.len();
        rest.strip_suffix(tail).unwrap_or(rest)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    fn word(&mut self) -> Result<Word> {
        let at = self.at;
        let Some(first) = self.peek() else { return Ok(Word::End) };
        let second = self.rest().chars().nth(1);
        match (first, second) {
            ('b' | 'B', Some('\'' | '"')) => {
                self.at += 1;
                self.quoted().map(Word::Bytes)
            }
            ('\'' | '"', _) => {
                let bytes = self.quoted()?;
                let text = String::from_utf8(bytes);
                text.map(Word::Text).map_err(|_| wrong(at, "a text is UTF-8: write b'…' for bytes"))
            }
            ('`', _) => self.backticks().map(Word::Quoted),
            (':' | '$', _) => self.parameter().map(Word::Param),
            ('.', Some('0'..='9')) | ('0'..='9', _) => self.number(),
            _ if is_letter(first) => self.name().map(Word::Name),
            _ => self.sign(),
        }
    }

    /// A name, with further ones behind dots.
    fn name(&mut self) -> Result<String> {
        let start = self.at;
        self.skip(|c| is_letter(c) || c.is_ascii_digit());
        while self.rest().starts_with('.') && self.rest().chars().nth(1).is_some_and(is_letter) {
            self.at += 1;
            self.skip(|c| is_letter(c) || c.is_ascii_digit());
        }
        let name = self.text.get(start..self.at).or_bug("a name begins before it ends")?;
        Ok(name.to_owned())
    }

    fn backticks(&mut self) -> Result<String> {
        let at = self.at;
        self.at += 1;
        let name = self.skip(|c| c != '`').to_owned();
        if self.eat("`") && !name.is_empty() {
            return Ok(name);
        }
        Err(wrong(at, "a name in backticks has no end, or no letters"))
    }

    fn parameter(&mut self) -> Result<String> {
        let at = self.at;
        let dollar = self.eat("$");
        if !dollar {
            self.at += 1;
        }
        let name = self.skip(|c| is_letter(c) || c.is_ascii_digit());
        let good = match dollar {
            true => !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()),
            false => name.starts_with(is_letter),
        };
        if good {
            return Ok(name.to_owned());
        }
        Err(wrong(at, "a parameter is `:` and a name, or `$` and a number"))
    }

    /// The content of a text, with what stands for other bytes replaced.
    fn quoted(&mut self) -> Result<Vec<u8>> {
        let at = self.at;
        let unclosed = || wrong(at, "this text has no end");
        let quote = self.peek().ok_or_else(unclosed)?;
        self.at += 1;
        let mut content = Vec::new();
        loop {
            let plain = self.skip(|c| c != quote && c != '\\');
            content.extend_from_slice(plain.as_bytes());
            match self.peek().ok_or_else(unclosed)? {
                '\\' => self.escape(&mut content)?,
                _ => {
                    self.at += 1;
                    // A doubled quote is one quote, as in SQL.
                    if self.peek() != Some(quote) {
                        return Ok(content);
                    }
                    self.at += 1;
                    content.push(if quote == '"' { b'"' } else { b'\'' });
                }
            }
        }
    }

    fn escape(&mut self, content: &mut Vec<u8>) -> Result<()> {
        let at = self.at;
        let unknown = || wrong(at, r#"known are \\ \' \" \n \t \r \0 \xhh and \u{h…}"#);
        self.at += 1;
        let letter = self.peek().ok_or_else(unknown)?;
        self.at += letter.len_utf8();
        let byte = match letter {
            '\\' | '\'' | '"' => u8::try_from(letter).unwrap_or(b'?'),
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            '0' => 0,
            'x' => {
                let digits = self.rest().get(..2).ok_or_else(unknown)?;
                self.at += 2;
                u8::from_str_radix(digits, 16).map_err(|_| unknown())?
            }
            'u' if self.eat("{") => {
                let digits = self.skip(|c| c.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                let letter = code.filter(|_| self.eat("}")).ok_or_else(unknown)?;
                content.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(unknown()),
        };
        content.push(byte);
        Ok(())
    }

    fn number(&mut self) -> Result<Word> {
        let start = self.at;
        for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0b", 2)] {
            if self.eat(prefix) {
                let digits = self.skip(|c| c.is_ascii_alphanumeric() || c == '_').replace('_', "");
                let value = i128::from_str_radix(&digits, radix);
                let message = format!("no integer of base {radix} that fits 127 bits");
                return value.map(Word::Int).map_err(|_| wrong(start, message));
            }
        }
        let digit = |c: char| c.is_ascii_digit() || c == '_';
        self.skip(digit);
        let mut whole = true;
        if self.rest().starts_with('.') {
            self.at += 1;
            self.skip(digit);
            whole = false;
        }
        if self.rest().starts_with(['e', 'E']) {
            self.at += 1;
            if self.rest().starts_with(['+', '-']) {
                self.at += 1;
            }
            self.skip(digit);
            whole = false;
        }
        let tail = self.skip(|c| is_letter(c) || c.is_ascii_digit());
        let text = self.text.get(start..self.at).or_bug("a number begins before it ends")?;
        let digits = text.replace('_', "");
        let value = match whole {
            true => digits.parse().map(Word::Int).ok(),
            false => digits.parse().map(Word::Float).ok(),
        };
        value.filter(|_| tail.is_empty()).ok_or_else(|| match tail {
            "" if whole => wrong(start, "an integer has at most 127 bits: write it as 1e40"),
            _ => wrong(start, format!("`{text}` is no number")),
        })
    }

    fn sign(&mut self) -> Result<Word> {
        let at = self.at;
        let rest = self.rest();
        let foreign = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign));
        let known = SIGNS.iter().find(|sign| rest.starts_with(**sign));
        match (known, foreign) {
            (Some(sign), None) => {
                self.at += sign.len();
                Ok(Word::Sign(sign))
            }
            // `==` begins with `=`, `!=` with `!`.
            (Some(sign), Some((other, _))) if sign.len() > other.len() => {
                self.at += sign.len();
                Ok(Word::Sign(sign))
            }
            (_, Some((other, ours))) => Err(wrong(at, format!("for `{other}`, write {ours}"))),
            (None, None) => {
                let letter = self.peek().unwrap_or(' ');
                Err(wrong(at, format!("{letter:?} means nothing here")))
            }
        }
    }
}

fn is_letter(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Word> {
        let mut words: Vec<Word> = words(text).unwrap().into_iter().map(|t| t.word).collect();
        assert_eq!(words.pop(), Some(Word::End));
        words
    }

    #[test]
    fn numbers_names_texts_and_signs_are_told_apart() {
        use Word as W;
        assert_eq!(
            of("1_000 0xff .5 1e3 2."),
            [W::Int(1000), W::Int(255), W::Float(0.5), W::Float(1000.0), W::Float(2.0)]
        );
        assert_eq!(
            of("a.b`x y`:p$12"),
            [
                W::Name("a.b".into()),
                W::Quoted("x y".into()),
                W::Param("p".into()),
                W::Param("12".into())
            ]
        );
        assert_eq!(
            of(r#"'it''s' "\u{e4}" b'\xff\0'"#),
            [W::Text("it's".into()), W::Text("ä".into()), W::Bytes(vec![255, 0])]
        );
        let signs = of("a<=b**-2//3");
        assert_eq!(signs.iter().filter(|w| matches!(w, W::Sign(_))).count(), 4);
    }

    #[test]
    fn errors_tell_the_place_and_what_to_write() {
        let error = |text: &str| {
            let error = words(text).unwrap_err();
            (error.message().to_owned(), error.place().unwrap().offset.unwrap())
        };
        assert_eq!(error("a = 1"), ("for `=`, write ==".into(), 2));
        assert_eq!(error("a && b"), ("for `&&`, write and".into(), 2));
        assert_eq!(error("a > 'x"), ("this text has no end".into(), 4));
        assert_eq!(error("12ab"), ("`12ab` is no number".into(), 0));
        assert_eq!(error("€"), ("'€' means nothing here".into(), 0));
        assert!(error("1".repeat(60).as_str()).0.contains("127 bits"));
        assert!(words(&" ".repeat(MAX_TEXT + 1)).is_err());
    }
}
