//! Plain values out of a pickle, without ever running it.
//!
//! A pickle is a program for a stack machine. The few operations that only make `None`, booleans,
//! numbers, texts, bytes, lists, tuples and dictionaries are done here; those that import, call or
//! build anything are refused, and so is everything unknown.
//!
//! ```text
//! 80 04  95 ·8 bytes·  5d 94 28 4b 01 4b 02 65 2e        [1, 2] in protocol 4
//! PROTO  FRAME         [  memo (  1     2   append all, stop
//! ```

use crate::error::{Error, MustGet, Result};
use crate::wire::Reader;
use crate::wire::msgpack::Value;

/// How many containers may stand around a value.
const MAX_DEPTH: usize = 64;
/// How many values a pickle may make. References can make many out of few bytes.
const MAX_VALUES: usize = 1 << 20;

/// The value that a pickle of plain values stands for.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value> {
    let mut machine = Machine::new(bytes);
    while !machine.step()? {}
    let top = machine.pop()?;
    let mut budget = MAX_VALUES;
    machine.value(top, 0, &mut budget)
}

/// A value whose parts are numbers of other values, since lists are shared before they are full.
enum Node {
    Plain(Value),
    List(Vec<usize>),
    Tuple(Vec<usize>),
    Dict(Vec<(usize, usize)>),
}

struct Machine<'a> {
    reader: Reader<'a>,
    nodes: Vec<Node>,
    stack: Vec<usize>,
    marks: Vec<usize>,
    memo: Vec<(u64, usize)>,
}

impl<'a> Machine<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let reader = Reader::new("pickle", bytes);
        Self { reader, nodes: Vec::new(), stack: Vec::new(), marks: Vec::new(), memo: Vec::new() }
    }

    /// Does one operation; true when it was the last.
    fn step(&mut self) -> Result<bool> {
        let at = self.reader.position();
        let code = self.reader.u8("opcode")?;
        match code {
            b'.' => return Ok(true),
            0x80 => drop(self.reader.u8("protocol")?),
            0x95 => drop(self.reader.take("frame", 8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_mark()?),
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }
            b'p' | b'q' | b'r' | 0x94 | b'g' | b'h' | b'j' => self.memorise(code)?,
            b']' | b'}' | b')' | 0x85..=0x87 | b'l' | b't' | b'd' | b'a' | b'e' | b's' | b'u' => {
                self.contain(code)?;
            }
            _ => {
                let value = self.plain(code, at)?;
                self.push(Node::Plain(value))?;
            }
        }
        Ok(false)
    }

    /// Values without parts.
    fn plain(&mut self, code: u8, at: usize) -> Result<Value> {
        Ok(match code {
            b'N' => Value::Nil,
            0x88 => Value::Bool(true),
            0x89 => Value::Bool(false),
            b'J' => Value::Int(self.reader.i32("integer")?.into()),
            b'K' => Value::Int(self.reader.u8("integer")?.into()),
            b'M' => Value::Int(u16::from_le_bytes(self.reader.array("integer")?).into()),
            b'I' | b'L' => self.decimal(at)?,
            0x8a | 0x8b => self.long(code, at)?,
            b'F' => {
                let text = self.line()?;
                Value::Float(text.parse().map_err(|_| corrupt("this is no number", at))?)
            }
            b'G' => Value::Float(f64::from_be_bytes(self.reader.array("float")?)),
            b'X' | 0x8c | 0x8d => {
                let len = self.len(code, at)?;
                let text = self.reader.take("text", len)?;
                let text = std::str::from_utf8(text);
                Value::Str(text.map_err(|_| corrupt("the text is not UTF-8", at))?.to_owned())
            }
            b'B' | b'C' | 0x8e | 0x96 | b'T' | b'U' => {
                let len = self.len(code, at)?;
                Value::Bin(self.reader.take("bytes", len)?.to_vec())
            }
            other => {
                return Err(Error::unsupported(format!(
                    "the object is more than a plain value (operation {other:#04x}); objects are never \
                     brought to life here, read its bytes instead"
                ))
                .at("pickle", "opcode", at));
            }
        })
    }

    /// The length that goes before bytes and texts.
    fn len(&mut self, code: u8, at: usize) -> Result<usize> {
        let len = match code {
            0x8c | b'C' | b'U' => u64::from(self.reader.u8("length")?),
            0x8d | 0x8e | 0x96 => u64::from_le_bytes(self.reader.array("length")?),
            _ => u64::from(u32::from_le_bytes(self.reader.array("length")?)),
        };
        usize::try_from(len).map_err(|_| corrupt("a length past the end of anything", at))
    }

    /// An integer in decimal digits; `00` and `01` are the booleans of the first protocols.
    fn decimal(&mut self, at: usize) -> Result<Value> {
        let text = self.line()?;
        match text.trim_end_matches('L') {
            "00" => Ok(Value::Bool(false)),
            "01" => Ok(Value::Bool(true)),
            text => text.parse().map(Value::Int).map_err(|_| too_large(at)),
        }
    }

    /// An integer as two's complement of any length.
    fn long(&mut self, code: u8, at: usize) -> Result<Value> {
        let len = match code {
            0x8a => usize::from(self.reader.u8("length")?),
            _ => self.len(b'T', at)?,
        };
        let bytes = self.reader.take("integer", len)?;
        let fill = if bytes.last().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 };
        let mut wide = [fill; 16];
        if bytes.len() > wide.len() {
            return Err(too_large(at));
        }
        wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let number = i128::from_le_bytes(wide);
        match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => Ok(Value::Int(number)),
            (_, Ok(number)) => Ok(Value::Uint(number)),
            _ => Err(too_large(at)),
        }
    }

    /// Lists, tuples and dictionaries: made, and filled.
    fn contain(&mut self, code: u8) -> Result<()> {
        match code {
            b']' => self.push(Node::List(Vec::new())),
            b'}' => self.push(Node::Dict(Vec::new())),
            b')' => self.push(Node::Tuple(Vec::new())),
            0x85..=0x87 => {
                let count = usize::from(code - 0x84);
                let from = self.stack.len().checked_sub(count).ok_or_else(|| self.empty())?;
                let parts = self.stack.split_off(from);
                self.push(Node::Tuple(parts))
            }
            b'l' => {
                let parts = self.pop_mark()?;
                self.push(Node::List(parts))
            }
            b't' => {
                let parts = self.pop_mark()?;
                self.push(Node::Tuple(parts))
            }
            b'd' => {
                let parts = self.pop_mark()?;
                self.push(Node::Dict(pairs(&parts)))
            }
            _ => {
                let parts = match code {
                    b'a' => vec![self.pop()?],
                    b's' => {
                        let value = self.pop()?;
                        vec![self.pop()?, value]
                    }
                    _ => self.pop_mark()?,
                };
                let top = self.top()?;
                match (self.nodes.get_mut(top), code) {
                    (Some(Node::List(items)), b'a' | b'e') => items.extend(parts),
                    (Some(Node::Dict(items)), b's' | b'u') => items.extend(pairs(&parts)),
                    _ => {
                        return Err(corrupt(
                            "this is no container of that kind",
                            self.reader.position(),
                        ));
                    }
                }
                Ok(())
            }
        }
    }

    /// Keeps the top of the stack for later, or fetches what was kept.
    fn memorise(&mut self, code: u8) -> Result<()> {
        let at = self.reader.position();
        let key = match code {
            b'p' | b'g' => self.line()?.parse().map_err(|_| corrupt("this is no number", at))?,
            b'q' | b'h' => u64::from(self.reader.u8("memo")?),
            b'r' | b'j' => u64::from(u32::from_le_bytes(self.reader.array("memo")?)),
            _ => self.memo.len() as u64,
        };
        let known = self.memo.binary_search_by_key(&key, |(key, _)| *key);
        if matches!(code, b'g' | b'h' | b'j') {
            let found = known.ok().and_then(|place| self.memo.get(place));
            let (_, node) =
                found.ok_or_else(|| corrupt("nothing was kept under this number", at))?;
            self.stack.push(*node);
            return Ok(());
        }
        let top = self.top()?;
        match known {
            Ok(place) => self.memo.must_get_mut(place)?.1 = top,
            Err(place) => self.memo.insert(place, (key, top)),
        }
        Ok(())
    }

    fn line(&mut self) -> Result<&'a str> {
        let (mut ahead, at) = (self.reader.clone(), self.reader.position());
        let mut len = 0;
        while ahead.u8("line")? != b'\n' {
            len += 1;
        }
        let text = self.reader.take("line", len)?;
        self.reader.take("line", 1)?;
        std::str::from_utf8(text).map_err(|_| corrupt("the text is not ASCII", at))
    }

    fn push(&mut self, node: Node) -> Result<()> {
        if self.nodes.len() >= MAX_VALUES {
            return Err(too_many());
        }
        self.stack.push(self.nodes.len());
        self.nodes.push(node);
        Ok(())
    }

    fn pop(&mut self) -> Result<usize> {
        self.stack.pop().ok_or_else(|| self.empty())
    }

    fn top(&self) -> Result<usize> {
        self.stack.last().copied().ok_or_else(|| self.empty())
    }

    fn pop_mark(&mut self) -> Result<Vec<usize>> {
        let from = self.marks.pop().filter(|from| *from <= self.stack.len());
        let from = from.ok_or_else(|| self.empty())?;
        Ok(self.stack.split_off(from))
    }

    fn empty(&self) -> Error {
        corrupt("the stack is empty", self.reader.position())
    }

    /// A node with all its parts.
    fn value(&self, node: usize, depth: usize, budget: &mut usize) -> Result<Value> {
        *budget = budget.checked_sub(1).ok_or_else(too_many)?;
        if depth > MAX_DEPTH {
            return Err(Error::limit(format!(
                "more than {MAX_DEPTH} containers inside each other"
            ))
            .at("pickle", "value", 0));
        }
        let mut part = |node: &usize| self.value(*node, depth + 1, budget);
        Ok(match self.nodes.get(node) {
            Some(Node::Plain(value)) => {
                // Long texts count by their length, as they are copied.
                let len = match value {
                    Value::Str(text) => text.len(),
                    Value::Bin(bytes) => bytes.len(),
                    _ => 0,
                };
                *budget = budget.checked_sub(len / 64).ok_or_else(too_many)?;
                value.clone()
            }
            Some(Node::List(items)) => Value::Array(items.iter().map(part).collect::<Result<_>>()?),
            Some(Node::Tuple(items)) => {
                Value::Tuple(items.iter().map(part).collect::<Result<_>>()?)
            }
            Some(Node::Dict(items)) => {
                let items = items.iter().map(|(key, value)| Ok((part(key)?, part(value)?)));
                Value::Map(items.collect::<Result<_>>()?)
            }
            None => return Err(corrupt("there is no such value", 0)),
        })
    }
}

fn pairs(parts: &[usize]) -> Vec<(usize, usize)> {
    parts.as_chunks::<2>().0.iter().map(|[key, value]| (*key, *value)).collect()
}

fn corrupt(words: &'static str, at: usize) -> Error {
    Error::corrupt(words).at("pickle", "value", at)
}

fn too_large(at: usize) -> Error {
    Error::unsupported("an integer of more than 64 bits").at("pickle", "integer", at)
}

fn too_many() -> Error {
    Error::limit(format!("the pickle makes more than {MAX_VALUES} values")).at("pickle", "value", 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn json(pickle: &[u8]) -> String {
        parse(pickle).unwrap().to_json()
    }

    #[test]
    fn plain_values_of_every_protocol_are_read() {
        // What pickle.dumps of Python gives, by protocol.
        assert_eq!(json(b"\x80\x04\x95\x0b\0\0\0\0\0\0\0]\x94(K\x01K\x02e."), "[1, 2]");
        assert_eq!(json(b"(lp0\nI1\naI-2\naI01\na."), "[1, -2, true]");
        assert_eq!(json(b"\x80\x02}q\0X\x01\0\0\0aq\x01G?\xf8\0\0\0\0\0\0s."), "{\"a\": 1.5}");
        assert_eq!(
            json(b"\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0."),
            u64::MAX.to_string()
        );
        assert_eq!(json(b"\x80\x02\x8a\x01\xfe."), "-2");
        assert_eq!(json(b"\x80\x04N."), "null");
        assert_eq!(
            json(b"\x80\x04\x95\x06\0\0\0\0\0\0\0K\x01\x88\x86\x94."),
            "{\"$tuple\": [1, true]}"
        );
        assert_eq!(json(b"\x80\x04C\x02\0\xff."), "{\"$bin\": \"00ff\"}");
        // A list that holds the same list twice, kept before it was filled.
        assert_eq!(json(b"\x80\x02]q\0(]q\x01K\x07ah\x01e."), "[[7], [7]]");
    }

    #[test]
    fn nothing_is_ever_called() {
        // os.system('…') in protocols 0, 2 and 4, and a class instance.
        for pickle in [
            &b"cos\nsystem\n(S'touch x'\ntR."[..],
            b"\x80\x02cposix\nsystem\nq\0X\x01\0\0\0xq\x01\x85q\x02Rq\x03.",
            b"\x80\x04\x95\x1d\0\0\0\0\0\0\0\x8c\x05posix\x8c\x06system\x93\x8c\x01x\x85R.",
            b"\x80\x02c__main__\nC\n)\x81}b.",
            b"(i__main__\nC\n.",
        ] {
            assert_eq!(parse(pickle).unwrap_err().kind(), ErrorKind::Unsupported);
        }
    }

    #[test]
    fn pickles_that_grow_without_end_are_stopped() {
        let mut laughs = b"\x80\x02]q\0".to_vec();
        for level in 0..40u8 {
            laughs.extend_from_slice(&[
                b']',
                b'q',
                level + 1,
                b'(',
                b'h',
                level,
                b'h',
                level,
                b'e',
            ]);
        }
        laughs.push(b'.');
        assert_eq!(parse(&laughs).unwrap_err().kind(), ErrorKind::LimitExceeded);
        // A list inside of itself.
        let error = parse(b"\x80\x02]q\0h\0a.").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        let deep = [vec![b'('; 100], vec![b'N'], vec![b'l'; 100], vec![b'.']].concat();
        assert_eq!(parse(&deep).unwrap_err().kind(), ErrorKind::LimitExceeded);
    }

    #[test]
    fn damaged_pickles_are_errors() {
        let good = b"\x80\x04\x95\x0b\0\0\0\0\0\0\0]\x94(K\x01\x8c\x01a}s2\x86e.";
        for cut in 0..good.len() {
            assert!(parse(&good[..cut]).is_err(), "{cut}");
            for byte in 0..=255 {
                let mut bad = good.to_vec();
                bad[cut] = byte;
                let _ = parse(&bad);
            }
        }
    }
}
