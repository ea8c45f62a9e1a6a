//! JSON texts to values: one parser for two dialects and for whatever the values become.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::error::{Error, OrBug, Result};

/// What the parser makes of a text. What can fail tells why; the parser adds where.
pub(crate) trait Build: From<bool> + From<String> + From<Vec<Self>> {
    /// The value of `null`.
    fn null() -> Self;

    /// The value of a number, which is one by the grammar.
    fn number(text: &str) -> Result<Self>;

    /// The value of an object, whose keys are distinct.
    fn object(entries: Vec<(String, Self)>) -> Result<Self>;
}

/// What is JSON, where that is disputed.
pub(crate) struct Dialect {
    /// RFC 8259 and nothing else: no `NaN` or `Infinity`. Otherwise what Python takes, too.
    pub(crate) is_strict: bool,
    /// Nothing of the text is lost: a key twice and half of a surrogate pair are errors.
    pub(crate) is_exact: bool,
    /// How many arrays and objects may stand inside each other.
    pub(crate) max_depth: usize,
    /// What errors call the text.
    pub(crate) field: &'static str,
}

impl Dialect {
    /// What Python's `json.loads` takes.
    pub(super) const PYTHON: Self =
        Self { is_strict: false, is_exact: false, max_depth: 128, field: "text" };
    /// The same, unless it would lose something.
    pub(super) const EXACT: Self = Self { is_exact: true, ..Self::PYTHON };
}

/// The value of a text, which must hold nothing else.
pub(crate) fn parse<T: Build>(text: &str, dialect: &Dialect) -> Result<T> {
    let mut parser = Parser { text, position: 0, depth: 0, dialect };
    let value = parser.value()?;
    parser.skip_space();
    if parser.position < text.len() {
        return Err(parser.error("nothing may follow the value"));
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    position: usize,
    /// How many arrays and objects are open.
    depth: usize,
    dialect: &'a Dialect,
}

impl<'a> Parser<'a> {
    fn value<T: Build>(&mut self) -> Result<T> {
        self.skip_space();
        match self.peek() {
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::array),
            Some('"') => self.string().map(T::from),
            _ if self.takes_word("null") => Ok(T::null()),
            _ if self.takes_word("true") => Ok(true.into()),
            _ if self.takes_word("false") => Ok(false.into()),
            _ => self.number(),
        }
    }

    /// What `part` reads, one container deeper.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let max_depth = self.dialect.max_depth;
        if self.depth == max_depth {
            let message = format!("more than {max_depth} arrays and objects are inside each other");
            return Err(self.place(Error::limit(message), self.position));
        }
        self.depth += 1;
        let value = part(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array<T: Build>(&mut self) -> Result<T> {
        self.expect('[', "'[' is expected")?;
        let mut items = Vec::new();
        if self.takes(']') {
            return Ok(items.into());
        }
        loop {
            items.push(self.value()?);
            if self.takes(']') {
                return Ok(items.into());
            }
            self.expect(',', "',' or ']' is expected")?;
        }
    }

    fn object<T: Build>(&mut self) -> Result<T> {
        let start = self.position;
        self.expect('{', "'{' is expected")?;
        let mut entries: Vec<(String, T)> = Vec::new();
        let mut places = HashMap::new();
        let mut is_closed = self.takes('}');
        while !is_closed {
            self.skip_space();
            let name = self.string()?;
            let place = match places.entry(name.clone()) {
                Entry::Vacant(free) => *free.insert(entries.len()),
                Entry::Occupied(_) if self.dialect.is_exact => {
                    return Err(self.error("the object has this key already"));
                }
                Entry::Occupied(taken) => *taken.get(),
            };
            self.expect(':', "':' is expected")?;
            let value = self.value()?;
            match entries.get_mut(place) {
                Some((_, earlier)) => *earlier = value,
                None => entries.push((name, value)),
            }
            is_closed = self.takes('}');
            if !is_closed {
                self.expect(',', "',' or '}' is expected")?;
            }
        }
        T::object(entries).map_err(|error| self.place(error, start))
    }

    fn number<T: Build>(&mut self) -> Result<T> {
        let start = self.position;
        let is_named = !self.dialect.is_strict
            && ["NaN", "Infinity", "-Infinity"].into_iter().any(|name| self.takes_word(name));
        if !is_named {
            if !matches!(self.peek(), Some('-' | '0'..='9')) {
                return Err(self.error("a JSON value is expected"));
            }
            let end = |c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E');
            let len = self.rest().find(end).unwrap_or(self.rest().len());
            if !self.rest().get(..len).is_some_and(is_json_number) {
                return Err(self.error("this is not a JSON number"));
            }
            self.position += len;
        }
        let text = self.text.get(start..self.position);
        let text = text.or_bug("a number begins before it ends")?;
        T::number(text).map_err(|error| self.place(error, start))
    }

    fn string(&mut self) -> Result<String> {
        if !self.takes('"') {
            return Err(self.error("'\"' is expected"));
        }
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(|c| matches!(c, '"' | '\\' | '\0'..='\x1f'));
            let plain = plain.unwrap_or(rest.len());
            text.push_str(rest.get(..plain).or_bug("the letter was found in this text")?);
            self.position += plain;
            match self.next() {
                None => return Err(self.error("the text has no closing '\"'")),
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(_) => return Err(self.error("a control character must be escaped")),
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
            Some('u') => return self.character(),
            _ => return Err(self.error("JSON has no such escape")),
        })
    }

    /// The character behind `\u`: one code unit, or the two of a surrogate pair.
    fn character(&mut self) -> Result<char> {
        let first = self.code_unit()?;
        let after_first = self.position;
        let mut units = vec![first];
        if matches!(first, 0xd800..=0xdbff) && self.takes_word("\\u") {
            units.push(self.code_unit()?);
        }
        let mut characters = char::decode_utf16(units);
        match (characters.next(), characters.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ if self.dialect.is_exact => {
                Err(self.error("half of a surrogate pair is no character"))
            }
            _ => {
                // The escape behind it, if there is one, is a character of its own.
                self.position = after_first;
                Ok(char::REPLACEMENT_CHARACTER)
            }
        }
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

    /// Whether this word is next; if so, goes past it.
    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.position += word.len();
        }
        found
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
        self.place(Error::invalid(message), self.position)
    }

    #[cold]
    fn place(&self, error: Error, position: usize) -> Error {
        error.at("json", self.dialect.field, position)
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
