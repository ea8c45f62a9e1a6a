//! The few Python literals that NumPy spells structures with: texts, integers, `True`, `False`,
//! `None`, lists, tuples and dictionaries. Nothing is evaluated.

use super::{MAX_DEPTH, MAX_TEXT};
use crate::error::{Error, Result};

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Text(String),
    Integer(u64),
    Bool(bool),
    None,
    List(Vec<Literal>),
    Tuple(Vec<Literal>),
    Dict(Vec<(Literal, Literal)>),
}

impl Literal {
    /// Reads a text that is one value.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if text.len() > MAX_TEXT {
            return Err(Error::limit(format!(
                "a spelling of {} bytes, the longest is {MAX_TEXT}",
                text.len()
            ))
            .at("dtype", "text", 0));
        }
        let mut parser = Parser { text, position: 0, depth: 0 };
        let value = parser.value()?;
        match parser.peek() {
            None => Ok(value),
            Some(_) => Err(parser.wrong("nothing more")),
        }
    }

    /// The value of a key of a dictionary.
    pub(crate) fn get(&self, key: &str) -> Option<&Literal> {
        let Self::Dict(entries) = self else { return None };
        let found =
            entries.iter().find(|(name, _)| matches!(name, Self::Text(name) if name == key));
        found.map(|(_, value)| value)
    }
}

struct Parser<'t> {
    text: &'t str,
    position: usize,
    depth: usize,
}

impl Parser<'_> {
    fn value(&mut self) -> Result<Literal> {
        match self.peek() {
            Some('\'' | '"') => self.string().map(Literal::Text),
            Some('[') => Ok(Literal::List(self.nested(|this| this.items(']', Self::value))?.0)),
            Some('(') => self.tuple(),
            Some('{') => Ok(Literal::Dict(self.nested(|this| this.items('}', Self::entry))?.0)),
            Some('0'..='9') => self.integer(),
            Some(letter) if letter.is_ascii_alphabetic() => self.word(),
            _ => Err(self.wrong("a value")),
        }
    }

    /// Goes one level down, not endlessly.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        // A field is a tuple in a list, so a level of a structure is two levels of literals.
        if self.depth >= 3 * MAX_DEPTH {
            return Err(Error::limit("the structure is nested too deeply").at(
                "dtype",
                "text",
                self.position,
            ));
        }
        self.depth += 1;
        let found = inner(self);
        self.depth -= 1;
        found
    }

    /// `(x)` is x; `()`, `(x,)` and `(x, y)` are tuples.
    fn tuple(&mut self) -> Result<Literal> {
        let (mut items, comma) = self.nested(|this| this.items(')', Self::value))?;
        match items.len() {
            1 if !comma => items.pop().ok_or_else(|| self.wrong("a value")),
            _ => Ok(Literal::Tuple(items)),
        }
    }

    /// What stands between an opening bracket and `end`, and whether a comma ended it.
    fn items<T>(
        &mut self,
        end: char,
        item: impl Fn(&mut Self) -> Result<T>,
    ) -> Result<(Vec<T>, bool)> {
        self.bump();
        let (mut items, mut comma) = (Vec::new(), false);
        while !self.take(end) {
            if !items.is_empty() && !comma {
                return Err(self.wrong("a comma or a closing bracket"));
            }
            items.push(item(self)?);
            comma = self.take(',');
        }
        Ok((items, comma))
    }

    fn entry(&mut self) -> Result<(Literal, Literal)> {
        let key = self.value()?;
        if !self.take(':') {
            return Err(self.wrong("a colon"));
        }
        Ok((key, self.value()?))
    }

    fn integer(&mut self) -> Result<Literal> {
        let rest = self.rest();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let value = rest.get(..digits).and_then(|digits| digits.parse().ok());
        let value = value.ok_or_else(|| self.wrong("a smaller integer"))?;
        self.position += digits;
        Ok(Literal::Integer(value))
    }

    fn word(&mut self) -> Result<Literal> {
        for (word, value) in [
            ("True", Literal::Bool(true)),
            ("False", Literal::Bool(false)),
            ("None", Literal::None),
        ] {
            if self.rest().starts_with(word) {
                self.position += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("a text, a number, a list, True, False or None"))
    }

    fn string(&mut self) -> Result<String> {
        let quote = self.bump();
        let mut out = String::new();
        loop {
            match self.bump() {
                None => return Err(self.wrong("a closing quote")),
                found if found == quote => return Ok(out),
                Some('\\') => out.push(self.escape()?),
                Some(letter) => out.push(letter),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let digits = match self.bump() {
            Some('n') => return Ok('\n'),
            Some('t') => return Ok('\t'),
            Some('r') => return Ok('\r'),
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some(letter @ ('\\' | '\'' | '"')) => return Ok(letter),
            _ => return Err(self.wrong("a known escape")),
        };
        let digits_at = self.rest().get(..digits);
        let code = digits_at.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let letter = code.and_then(char::from_u32).ok_or_else(|| self.wrong("a character"))?;
        self.position += digits;
        Ok(letter)
    }

    fn rest(&self) -> &str {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    /// Takes `wanted` if it comes next.
    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.bump();
        }
        found
    }

    fn bump(&mut self) -> Option<char> {
        let letter = self.rest().chars().next()?;
        self.position += letter.len_utf8();
        Some(letter)
    }

    fn wrong(&self, wanted: &str) -> Error {
        Error::corrupt(format!("{wanted} was expected")).at("dtype", "text", self.position)
    }
}

/// A text as Python's `repr` writes it.
pub(crate) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for letter in text.chars() {
        match letter {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            letter if letter == quote => out.extend(['\\', letter]),
            letter if letter.is_control() && u32::from(letter) < 0x100 => {
                out.push_str(&format!("\\x{:02x}", u32::from(letter)));
            }
            letter => out.push(letter),
        }
    }
    out.push(quote);
    out
}
