//! The little of YAML that the `meta` files of a `blsk` tree need, and nothing else.
//!
//! ```text
//! document = mapping
//! mapping  = (indent key ":" (scalar | list | newline deeper-mapping | nothing))*
//! list     = "[" (scalar | list) ("," …)* "]"           may go over several lines
//! scalar   = plain text up to the end of the line or " #" | 'it''s' | "tab: \t, \u00e9"
//! ```
//!
//! Indentation is made of spaces, `#` begins a comment. Anchors, aliases, tags, merge keys, block
//! scalars, block lists, flow mappings and several documents are refused: they are what makes YAML of
//! strangers dangerous, and no such file needs them.

use crate::error::{Error, OrBug, Result};

/// How deep mappings and lists may stand inside each other.
const MAX_DEPTH: usize = 32;
/// What a plain scalar cannot begin with.
const INDICATORS: &str = ",[]{}#&*!|>'\"%@`";

/// A value of such a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Yaml {
    /// A key without a value.
    Null,
    /// Text without quotes: a number, a name, or anything else that a reader makes of it.
    Plain(String),
    /// Text in quotes, which is never anything but text.
    Quoted(String),
    /// A list in brackets.
    List(Vec<Yaml>),
    /// Keys in the order of the file, each once.
    Map(Vec<(String, Yaml)>),
}

impl Yaml {
    /// Reads a whole file, which is a mapping; an empty one is an empty mapping.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, position: 0 };
        let Some(indent) = parser.next_line()? else { return Ok(Self::Map(Vec::new())) };
        let map = parser.map(indent, 0)?;
        match parser.next_line()? {
            None => Ok(map),
            Some(_) => Err(parser.corrupt("indent", "this line belongs to no mapping")),
        }
    }

    /// The value of a key of a mapping.
    pub(crate) fn get(&self, key: &str) -> Option<&Yaml> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text of a scalar.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Plain(text) | Self::Quoted(text) => Some(text),
            _ => None,
        }
    }

    /// A mapping as a file.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        if let Self::Map(entries) = self {
            write_map(entries, 0, &mut out);
        }
        out
    }
}

/// Why a part of a line is there.
const IN_LINE: &str = "the end was found in this line";

struct Parser<'a> {
    text: &'a str,
    position: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes to the start of the next line that says something, and returns its indentation.
    fn next_line(&mut self) -> Result<Option<usize>> {
        loop {
            let line = self.rest().split('\n').next().unwrap_or_default();
            let indent = line.len() - line.trim_start_matches(' ').len();
            let said = line.trim_start_matches(' ').trim_end();
            if said.starts_with('\t') {
                return Err(self.corrupt("indent", "tabs cannot indent: use spaces"));
            }
            if !said.is_empty() && !said.starts_with('#') {
                if indent == 0 && ["---", "..."].iter().any(|mark| said.starts_with(mark)) {
                    return Err(self.unsupported("marks of documents"));
                }
                return Ok(Some(indent));
            }
            match self.rest().find('\n') {
                Some(end) => self.position += end + 1,
                None => return Ok(None),
            }
        }
    }

    fn map(&mut self, indent: usize, depth: usize) -> Result<Yaml> {
        self.check_depth(depth)?;
        let mut entries: Vec<(String, Yaml)> = Vec::new();
        while let Some(found) = self.next_line()? {
            if found < indent {
                break;
            }
            if found > indent {
                return Err(self.corrupt("indent", "this line is indented and belongs to no key"));
            }
            self.position += indent;
            let key = self.key()?;
            if entries.iter().any(|(name, _)| *name == key) {
                return Err(self.corrupt("key", format!("`{key}` is there twice")));
            }
            let value = self.value(indent, depth)?;
            entries.push((key, value));
        }
        Ok(Yaml::Map(entries))
    }

    /// Reads a key and the colon behind it.
    fn key(&mut self) -> Result<String> {
        let key = match self.peek() {
            Some(quote @ ('\'' | '"')) => self.quoted(quote)?,
            _ => {
                let line = self.rest().split('\n').next().unwrap_or_default();
                let end = line.match_indices(':').find(|(at, _)| {
                    line.get(at + 1..).is_some_and(|behind| {
                        behind.is_empty() || behind.starts_with([' ', '\t', '\r'])
                    })
                });
                let Some((end, _)) = end else {
                    self.check_plain(line.trim_end())?;
                    return Err(self.corrupt("key", "a line without `key: value`"));
                };
                let key = line.get(..end).or_bug(IN_LINE)?.trim_end().to_owned();
                self.check_plain(&key)?;
                if key == "<<" {
                    return Err(self.unsupported("merge keys"));
                }
                self.position += end;
                key
            }
        };
        self.skip_blanks();
        if key.is_empty() || self.peek() != Some(':') {
            return Err(self.corrupt("key", "a key and a colon were expected"));
        }
        self.position += 1;
        Ok(key)
    }

    /// Reads what follows a colon, to the end of its last line.
    fn value(&mut self, indent: usize, depth: usize) -> Result<Yaml> {
        self.skip_blanks();
        let value = match self.peek() {
            None | Some('\n' | '\r' | '#') => {
                self.end_of_line()?;
                return match self.next_line()? {
                    Some(deeper) if deeper > indent => self.map(deeper, depth + 1),
                    _ => Ok(Yaml::Null),
                };
            }
            Some('[') => self.list(depth + 1)?,
            Some(quote @ ('\'' | '"')) => Yaml::Quoted(self.quoted(quote)?),
            Some(_) => {
                let line = self.rest().split('\n').next().unwrap_or_default();
                let end = line.find(" #").unwrap_or(line.len());
                let text = line.get(..end).or_bug(IN_LINE)?.trim_end().to_owned();
                self.check_plain(&text)?;
                if text.contains(": ") || text.ends_with(':') {
                    return Err(self.unsupported("mappings on one line"));
                }
                self.position += end;
                Yaml::Plain(text)
            }
        };
        self.end_of_line()?;
        Ok(value)
    }

    fn list(&mut self, depth: usize) -> Result<Yaml> {
        self.check_depth(depth)?;
        self.position += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space_and_comments();
            match self.peek() {
                Some(']') => break,
                Some('[') => items.push(self.list(depth + 1)?),
                Some(quote @ ('\'' | '"')) => items.push(Yaml::Quoted(self.quoted(quote)?)),
                Some(_) => {
                    let rest = self.rest();
                    let end = rest.find([',', '[', ']', '{', '}', '\n']).unwrap_or(rest.len());
                    let item = rest.get(..end).or_bug(IN_LINE)?;
                    let end = item.find(" #").unwrap_or(end);
                    let item = item.get(..end).or_bug(IN_LINE)?.trim_end().to_owned();
                    self.check_plain(&item)?;
                    self.position += end;
                    items.push(Yaml::Plain(item));
                }
                None => return Err(self.truncated("list", "ends before its `]`")),
            }
            self.skip_space_and_comments();
            match self.peek() {
                Some(',') => self.position += 1,
                Some(']') => break,
                None => return Err(self.truncated("list", "ends before its `]`")),
                Some(_) => return Err(self.corrupt("list", "`,` or `]` was expected")),
            }
        }
        self.position += 1;
        Ok(Yaml::List(items))
    }

    fn quoted(&mut self, quote: char) -> Result<String> {
        let mut text = String::new();
        self.position += 1;
        loop {
            let Some(c) = self.peek() else {
                return Err(self.truncated("value", "ends before its closing quote"));
            };
            self.position += c.len_utf8();
            match c {
                '\n' => return Err(self.unsupported("quoted text of several lines")),
                '\'' if quote == '\'' && self.peek() == Some('\'') => {
                    self.position += 1;
                    text.push('\'');
                }
                '\\' if quote == '"' => text.push(self.escaped()?),
                c if c == quote => return Ok(text),
                c => text.push(c),
            }
        }
    }

    /// The character of an escape, behind its backslash.
    fn escaped(&mut self) -> Result<char> {
        let c = self.peek().unwrap_or('\n');
        self.position += c.len_utf8();
        let digits = match c {
            'n' => return Ok('\n'),
            't' => return Ok('\t'),
            'r' => return Ok('\r'),
            '0' => return Ok('\0'),
            '\\' | '"' | '/' | ' ' => return Ok(c),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return Err(self.unsupported("this escape")),
        };
        let code = self.rest().get(..digits).filter(|code| !code.starts_with('+'));
        let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        let c = code.and_then(char::from_u32);
        let c = c.ok_or_else(|| self.corrupt("value", "no character has this number"))?;
        self.position += digits;
        Ok(c)
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    fn skip_space_and_comments(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            let comment = match trimmed.starts_with('#') {
                true => trimmed.find('\n').unwrap_or(trimmed.len()),
                false => 0,
            };
            self.position += rest.len() - trimmed.len() + comment;
            if comment == 0 {
                return;
            }
        }
    }

    /// Makes sure that only a comment follows on this line, and goes behind it.
    fn end_of_line(&mut self) -> Result<()> {
        self.skip_blanks();
        let line = self.rest().split('\n').next().unwrap_or_default();
        if !line.trim_end().is_empty() && !line.starts_with('#') {
            return Err(self.corrupt("value", "more follows the value on its line"));
        }
        self.position = self.text.len().min(self.position + line.len() + 1);
        Ok(())
    }

    /// Refuses text that is not plain to YAML.
    fn check_plain(&self, text: &str) -> Result<()> {
        let lone = |mark: &str| text == mark || text.starts_with(&format!("{mark} "));
        if text.is_empty() {
            return Err(self.corrupt("value", "a value is missing"));
        }
        if lone("-") || lone("?") || text.starts_with(|c| INDICATORS.contains(c)) {
            return Err(self.unsupported("lists by lines, tags, anchors, aliases, blocks, braces"));
        }
        Ok(())
    }

    fn check_depth(&self, depth: usize) -> Result<()> {
        if depth < MAX_DEPTH {
            return Ok(());
        }
        Err(Error::limit(format!("more than {MAX_DEPTH} levels")).at(
            "yaml",
            "depth",
            self.position,
        ))
    }

    fn corrupt(&self, field: &'static str, words: impl Into<String>) -> Error {
        Error::corrupt(words.into()).at("yaml", field, self.position)
    }

    fn truncated(&self, field: &'static str, words: &'static str) -> Error {
        Error::truncated(words).at("yaml", field, self.position)
    }

    fn unsupported(&self, what: &str) -> Error {
        Error::unsupported(format!("{what}: not part of the YAML that is read here")).at(
            "yaml",
            "value",
            self.position,
        )
    }
}

fn write_map(entries: &[(String, Yaml)], indent: usize, out: &mut String) {
    for (key, value) in entries {
        out.extend(std::iter::repeat_n(' ', indent));
        write_scalar(key, is_plain(key), out);
        out.push(':');
        match value {
            Yaml::Null => {}
            Yaml::Map(inner) => {
                out.push('\n');
                write_map(inner, indent + 2, out);
                continue;
            }
            value => {
                out.push(' ');
                write_value(value, out);
            }
        }
        out.push('\n');
    }
}

fn write_value(value: &Yaml, out: &mut String) {
    match value {
        Yaml::Plain(text) => write_scalar(text, is_plain(text), out),
        Yaml::Quoted(text) => write_scalar(text, false, out),
        Yaml::List(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    out.push_str(", ");
                }
                match item {
                    Yaml::Plain(text) => {
                        write_scalar(
                            text,
                            is_plain(text) && !text.contains([',', '[', ']', '{', '}']),
                            out,
                        );
                    }
                    item => write_value(item, out),
                }
            }
            out.push(']');
        }
        // Neither has a place on a line of its own.
        Yaml::Null | Yaml::Map(_) => out.push_str("''"),
    }
}

fn write_scalar(text: &str, plain: bool, out: &mut String) {
    if plain {
        out.push_str(text);
    } else if text.contains(char::is_control) {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => out.push(c),
            }
        }
        out.push('"');
    } else {
        out.push('\'');
        out.push_str(&text.replace('\'', "''"));
        out.push('\'');
    }
}

/// Whether a text reads back as it is without quotes.
fn is_plain(text: &str) -> bool {
    let odd_start = text.starts_with(|c: char| INDICATORS.contains(c) || c.is_whitespace());
    let lone = |mark: &str| text == mark || text.starts_with(&format!("{mark} "));
    let document = text.starts_with("---") || text.starts_with("...");
    !(text.is_empty()
        || odd_start
        || lone("-")
        || lone("?")
        || document
        || text == "<<"
        || text.ends_with(|c: char| c == ':' || c.is_whitespace())
        || [": ", ":\t", " #"].iter().any(|mark| text.contains(mark))
        || text.contains(char::is_control))
}

#[cfg(test)]
mod tests;
