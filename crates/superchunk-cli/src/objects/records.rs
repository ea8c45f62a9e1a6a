//! Objects in a stream of bytes: lines, NUL-terminated, behind their lengths, or JSON; and how a
//! command line names that, and what becomes of them.
//!
//! ```text
//! lines      Ada ⏎ Grace ⏎           the last ⏎ may be missing
//! null       Ada 00 Grace 00         the same with bytes 0
//! lengths    03 00 00 00 Ada …       a u32, its lowest byte first, before each
//! jsonl      "Ada" ⏎ 1815 ⏎ …        a JSON value on each line; empty lines are skipped
//! ```

use std::io::Write;

use clap::{Args, ValueEnum};
use superchunk::{Error, ObjectPacking, Value};

use crate::failure::{Failure, Outcome};
use crate::source::Source;

/// How much is read at once.
const PIECE: usize = 1 << 16;

/// How objects are told apart.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RecordArgs {
    /// Objects end with a byte 0, not with a line
    #[arg(long, group = "framing", hide = true)]
    null: bool,
    /// Before each object stands its length: 4 bytes, the lowest first
    #[arg(long, group = "framing", hide = true)]
    lengths: bool,
    /// Objects are JSON values on lines; also --null, --lengths: see docs/cli.md
    #[arg(long, group = "framing")]
    jsonl: bool,
}

/// How the frame to make packs its objects.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct PackingArgs {
    /// How objects stand in a block: msgpack, or lengths, which is shorter
    #[arg(long, value_name = "HOW", hide = true)]
    packing: Option<Packing>,
}

/// How objects stand in a block.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Packing {
    /// Each a MessagePack value.
    Msgpack,
    /// All lengths, then all contents.
    Lengths,
}

impl PackingArgs {
    pub(crate) fn packing(self) -> Option<ObjectPacking> {
        self.packing.map(|packing| match packing {
            Packing::Msgpack => ObjectPacking::Msgpack,
            Packing::Lengths => ObjectPacking::Lengths,
        })
    }
}

/// How objects are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Lines,
    Null,
    Lengths,
    Jsonl,
}

impl RecordArgs {
    pub(crate) fn framing(&self) -> Framing {
        match self {
            Self { null: true, .. } => Framing::Null,
            Self { lengths: true, .. } => Framing::Lengths,
            Self { jsonl: true, .. } => Framing::Jsonl,
            _ => Framing::Lines,
        }
    }

    /// The option that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match self.framing() {
            Framing::Lines => None,
            Framing::Null => Some("--null"),
            Framing::Lengths => Some("--lengths"),
            Framing::Jsonl => Some("--jsonl"),
        }
    }

    /// Refuses the option, because `name` does not hold objects.
    pub(crate) fn refuse(&self, name: &str) -> Outcome {
        self.given().map_or(Ok(()), |option| {
            let words = format!("{option} is for lists of objects, and `{name}` is not one");
            Err(Failure::usage(words).with_help("leave it out"))
        })
    }
}

/// Calls `take` with every object of a source, none of which may be longer than `most`. Returns how
/// many bytes the source had.
pub(crate) fn read(
    source: &mut Source,
    framing: Framing,
    most: usize,
    take: &mut dyn FnMut(&[u8]) -> Outcome,
) -> Outcome<u64> {
    let mut cutter = Cutter { framing, most, rest: Vec::new(), looked: 0 };
    let mut buffer = vec![0; PIECE];
    let mut total = 0;
    loop {
        let found = source.fill(&mut buffer)?;
        if found == 0 {
            cutter.end(take)?;
            return Ok(total);
        }
        total += found as u64;
        cutter.rest.extend_from_slice(buffer.get(..found).unwrap_or_default());
        cutter.cut(take)?;
    }
}

/// Bytes that are not yet cut.
struct Cutter {
    framing: Framing,
    most: usize,
    rest: Vec<u8>,
    /// How many of them are known to hold no end.
    looked: usize,
}

impl Cutter {
    /// Takes out the objects that are complete.
    fn cut(&mut self, take: &mut dyn FnMut(&[u8]) -> Outcome) -> Outcome {
        let mut start = 0;
        while let Some((object, next)) = self.next(start)? {
            self.give(object, take)?;
            start = next;
        }
        self.rest.drain(..start);
        self.looked = self.rest.len();
        if self.looked > self.most.saturating_add(4) {
            return Err(self.too_long());
        }
        Ok(())
    }

    /// The object that begins at `start`, and where the next one begins.
    fn next(&self, start: usize) -> Outcome<Option<(std::ops::Range<usize>, usize)>> {
        let bytes = self.rest.get(start..).unwrap_or_default();
        if self.framing == Framing::Lengths {
            let Some((len, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
            let len = usize::try_from(u32::from_le_bytes(*len)).unwrap_or(usize::MAX);
            if len > self.most {
                return Err(self.too_long());
            }
            let range = start + 4..(start + 4).saturating_add(len);
            return Ok((rest.len() >= len).then(|| (range.clone(), range.end)));
        }
        let end = if self.framing == Framing::Null { 0 } else { b'\n' };
        let from = self.looked.saturating_sub(start);
        let unseen = bytes.get(from..).unwrap_or_default();
        let found = unseen.iter().position(|byte| *byte == end);
        Ok(found.map(|len| (start..start + from + len, start + from + len + 1)))
    }

    fn give(
        &self,
        object: std::ops::Range<usize>,
        take: &mut dyn FnMut(&[u8]) -> Outcome,
    ) -> Outcome {
        let bytes = self.rest.get(object).unwrap_or_default();
        if self.framing == Framing::Jsonl && bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        take(bytes)
    }

    /// What is left is the last object, if it may be.
    fn end(&self, take: &mut dyn FnMut(&[u8]) -> Outcome) -> Outcome {
        match (self.rest.len(), self.framing) {
            (0, _) => Ok(()),
            (left, Framing::Lengths) => {
                let words = format!("the last object is not complete: {left} bytes are left");
                Err(Error::truncated(words).into())
            }
            (left, _) => self.give(0..left, take),
        }
    }

    fn too_long(&self) -> Failure {
        Error::limit(format!("an object of more than {} bytes", self.most)).into()
    }
}

/// The value that a line of JSON is.
pub(crate) fn json_value(line: &[u8], number: u64) -> Outcome<Value> {
    let wrong = |why: String| Failure::usage(format!("line {} is no JSON: {why}", number + 1));
    let text = std::str::from_utf8(line).map_err(|error| wrong(error.to_string()))?;
    Value::from_json(text).map_err(|error| wrong(error.message().to_owned()))
}

/// Writes an object as it would be read.
pub(crate) fn write(out: &mut dyn Write, framing: Framing, value: &Value) -> Outcome<u64> {
    let text;
    let bytes = match (framing, value) {
        (Framing::Jsonl, value) => {
            text = value.to_json();
            text.as_bytes()
        }
        (_, Value::Str(text)) => text.as_bytes(),
        (_, Value::Bin(bytes)) => bytes,
        (_, other) => {
            text = other.to_json();
            text.as_bytes()
        }
    };
    let mut parts: [&[u8]; 3] = [&[], bytes, b"\n"];
    let len = u32::try_from(bytes.len()).map(u32::to_le_bytes);
    match framing {
        Framing::Lines | Framing::Jsonl => {}
        Framing::Null => parts = [&[], bytes, b"\0"],
        Framing::Lengths => {
            let len = len.as_ref().map_err(|_| Error::limit("an object of more than 4 GiB"))?;
            parts = [len, bytes, &[]];
        }
    }
    let mut written = 0;
    for part in parts {
        out.write_all(part).map_err(Failure::stdout)?;
        written += part.len() as u64;
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(framing: Framing, pieces: &[&[u8]]) -> Outcome<Vec<String>> {
        let mut cutter = Cutter { framing, most: 9, rest: Vec::new(), looked: 0 };
        let mut found = Vec::new();
        let mut take = |bytes: &[u8]| {
            found.push(String::from_utf8_lossy(bytes).into_owned());
            Ok(())
        };
        for piece in pieces {
            cutter.rest.extend_from_slice(piece);
            cutter.cut(&mut take)?;
        }
        cutter.end(&mut take)?;
        Ok(found)
    }

    #[test]
    fn objects_may_come_in_any_pieces() {
        assert_eq!(cut(Framing::Lines, &[b"a\nb", b"c", b"\n\nd"]).unwrap(), ["a", "bc", "", "d"]);
        assert_eq!(cut(Framing::Lines, &[b"a\n"]).unwrap(), ["a"]);
        assert_eq!(cut(Framing::Null, &[b"a\nb\0", b"\0"]).unwrap(), ["a\nb", ""]);
        let prefixed = [&b"\x02\0"[..], b"\0\0x", b"y\0\0\0", b"\0"];
        assert_eq!(cut(Framing::Lengths, &prefixed).unwrap(), ["xy", ""]);
        assert_eq!(cut(Framing::Jsonl, &[b"1\n\n \n2"]).unwrap(), ["1", "2"]);
        assert!(cut(Framing::Lines, &[]).unwrap().is_empty());
    }

    #[test]
    fn what_is_too_long_or_too_short_is_refused() {
        assert!(cut(Framing::Lengths, &[b"\x03\0\0\0xy"]).is_err());
        assert!(cut(Framing::Lengths, &[b"\xff\xff\xff\xffxy"]).is_err());
        assert!(cut(Framing::Lines, &[&[b'x'; 14]]).is_err());
    }
}
