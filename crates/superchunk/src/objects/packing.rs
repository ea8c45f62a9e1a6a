//! How the objects of a block become bytes: each a MessagePack value, or first all lengths and then
//! all contents.
//!
//! ```text
//! Msgpack   │ array head: n │ object 0 │ object 1 │ …              an object is head and content
//! Lengths   │ n │ length 0 │ length 1 │ … │ object 0 │ object 1 │ …     an object is its content
//! ```
//!
//! What is called an object here is what a [`List`](super::list::List) holds: the bytes that stand
//! for one in its block, without a length that stands elsewhere.

use super::options::ObjectKind;
use crate::error::{Error, Result};
use crate::wire::msgpack::{Head, Skim, Value, write_array_head, write_bytes, write_text};

/// What errors call a block.
const FORMAT: &str = "batch";

/// How the objects of a block are written one after the other.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectPacking {
    /// As MessagePack values: one byte more than the content for texts of up to 31 bytes, two for
    /// bytes of up to 255. python-blosc2 reads and writes such a store as a `BatchArray`.
    Msgpack,
    /// All lengths, then all contents: one byte more than the content up to 127 bytes, for texts and
    /// for bytes, but not for [values](ObjectKind::Values). python-blosc2 reads the blocks, and leaves it to its
    /// caller to take them apart (docs/formats/objects.md).
    Lengths,
}

impl ObjectPacking {
    /// Appends an object of a store of this kind.
    pub(super) fn write(self, kind: ObjectKind, content: &[u8], out: &mut Vec<u8>) -> Result<()> {
        if kind != ObjectKind::Text {
            return self.write_bytes(content, out);
        }
        let text = std::str::from_utf8(content).map_err(|error| {
            Error::invalid("this store holds texts, and the object is not UTF-8").because(error)
        })?;
        self.write_text(kind, text, out)
    }

    /// Appends a text; as its bytes, where the objects are bytes.
    pub(super) fn write_text(self, kind: ObjectKind, text: &str, out: &mut Vec<u8>) -> Result<()> {
        match (self, kind) {
            (Self::Msgpack, ObjectKind::Text | ObjectKind::Values) => write_text(out, text),
            _ => self.write_bytes(text.as_bytes(), out),
        }
    }

    /// Appends a value that is of the kind of its store.
    pub(super) fn write_value(self, value: &Value, out: &mut Vec<u8>) -> Result<()> {
        match (self, value) {
            (Self::Lengths, Value::Str(text)) => self.write_bytes(text.as_bytes(), out),
            (Self::Lengths, Value::Bin(bytes)) => self.write_bytes(bytes, out),
            (Self::Lengths, _) => Err(Error::invalid("only texts and bytes have a length alone")),
            (Self::Msgpack, value) => {
                out.extend_from_slice(&value.encode()?);
                Ok(())
            }
        }
    }

    fn write_bytes(self, content: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Msgpack => write_bytes(out, content),
            Self::Lengths => {
                out.extend_from_slice(content);
                Ok(())
            }
        }
    }

    /// The content of an object that is text or bytes.
    pub(super) fn content(self, object: &[u8]) -> Result<&[u8]> {
        if self == Self::Lengths {
            return Ok(object);
        }
        let mut skim = Skim::new(object);
        match skim.head()? {
            Head::Text(len) | Head::Bytes(len) => skim.take(len),
            _ => Err(Error::invalid("it is neither text nor bytes: read it with Objects::value")),
        }
    }

    /// What an object is.
    pub(super) fn value(self, kind: ObjectKind, object: &[u8]) -> Result<Value> {
        match (self, kind) {
            (Self::Msgpack, _) => Value::decode(object),
            (Self::Lengths, ObjectKind::Text) => Ok(text(object)?.into()),
            (Self::Lengths, _) => Ok(object.to_vec().into()),
        }
    }

    /// The number of objects in a block, without looking at them.
    pub(super) fn count(self, block: &[u8]) -> Result<usize> {
        self.head(block).map(|(count, _)| count)
    }

    /// Where each object of a block begins, and where the last one ends.
    pub(super) fn starts(self, block: &[u8]) -> Result<Vec<u32>> {
        let (count, behind) = self.head(block)?;
        let mut starts = Vec::with_capacity(count + 1);
        match self {
            Self::Msgpack => {
                let mut skim = Skim::new(block);
                skim.head()?;
                starts.push(position(behind)?);
                for _ in 0..count {
                    skim.skip()?;
                    starts.push(position(skim.position())?);
                }
            }
            Self::Lengths => sum_lengths(block, behind, count, &mut starts)?,
        }
        let end = starts.last().map_or(0, |end| *end as usize);
        if end != block.len() {
            let words = format!("the objects end at {end}, the block at {}", block.len());
            let error =
                if end > block.len() { Error::truncated(words) } else { Error::corrupt(words) };
            return Err(error.at(FORMAT, "end", end));
        }
        Ok(starts)
    }

    /// Appends what stands before the objects of a block.
    pub(super) fn write_head(
        self,
        lengths: impl ExactSizeIterator<Item = usize>,
        block: &mut Vec<u8>,
    ) -> Result<()> {
        match self {
            Self::Msgpack => write_array_head(block, lengths.len()),
            Self::Lengths => {
                write_number(lengths.len(), block);
                lengths.for_each(|length| write_number(length, block));
                Ok(())
            }
        }
    }

    /// About what stands before so many objects of a block.
    pub(super) fn lengths_len(self, count: usize) -> usize {
        match self {
            Self::Msgpack => 0,
            Self::Lengths => count,
        }
    }

    /// The number of objects that a block says it has, and where that ends.
    fn head(self, block: &[u8]) -> Result<(usize, usize)> {
        let (count, behind) = match self {
            Self::Msgpack => {
                let mut skim = Skim::new(block);
                let Head::Array(count) = skim.head()? else {
                    let words = "the block is no list of objects";
                    return Err(Error::corrupt(words).at(FORMAT, "count", 0));
                };
                (count, skim.position())
            }
            Self::Lengths => read_number(block, 0)?,
        };
        // Every object takes a byte at least.
        let left = block.len().saturating_sub(behind);
        if count > left {
            let words = format!("{count} objects in {left} bytes");
            return Err(Error::truncated(words).at(FORMAT, "count", 0));
        }
        Ok((count, behind))
    }
}

/// A position in a list.
pub(super) fn position(at: usize) -> Result<u32> {
    u32::try_from(at).map_err(|_| Error::limit("objects of more than 4 GiB in one list"))
}

/// Content as text.
pub(super) fn text(content: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(content);
    Ok(text.map_err(|error| Error::corrupt("it is not UTF-8").because(error))?.to_owned())
}

/// Appends where each of `count` objects begins, and where the last one ends, from the lengths at `at`.
fn sum_lengths(block: &[u8], at: usize, count: usize, starts: &mut Vec<u32>) -> Result<()> {
    let mut at = at;
    let mut end = 0u32;
    starts.push(end);
    for _ in 0..count {
        // Most lengths are one byte.
        let length = match block.get(at) {
            Some(length) if *length < 0x80 => {
                at += 1;
                u32::from(*length)
            }
            _ => {
                let (length, behind) = read_number(block, at)?;
                at = behind;
                position(length)?
            }
        };
        end = end.checked_add(length).ok_or_else(too_long)?;
        starts.push(end);
    }
    // Only now it is known where the first content is.
    let first = position(at)?;
    end.checked_add(first).ok_or_else(too_long)?;
    starts.iter_mut().for_each(|start| *start += first);
    Ok(())
}

fn too_long() -> Error {
    Error::corrupt("the lengths make more than 4 GiB").at(FORMAT, "lengths", 0)
}

/// Appends a number, seven bits a byte, the lowest first; a byte that others follow has its highest
/// bit set (LEB128).
fn write_number(number: usize, out: &mut Vec<u8>) {
    let mut left = number as u64;
    while left >= 0x80 {
        out.push(left.to_le_bytes()[0] | 0x80);
        left >>= 7;
    }
    out.push(left.to_le_bytes()[0]);
}

/// The number at `at`, of at most five bytes, and where it ends.
fn read_number(block: &[u8], at: usize) -> Result<(usize, usize)> {
    let mut number = 0u64;
    for (index, byte) in block.iter().skip(at).take(5).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            let number = usize::try_from(number).map_err(|_| too_long())?;
            return Ok((number, at + index + 1));
        }
    }
    let is_cut = block.len() < at.saturating_add(5);
    let (error, words): (fn(String) -> Error, _) = match is_cut {
        true => (Error::truncated, "the block ends within a number"),
        false => (Error::corrupt, "a number of more than five bytes"),
    };
    Err(error(words.to_owned()).at(FORMAT, "lengths", at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    /// The block of these contents.
    fn block(contents: &[&[u8]]) -> Vec<u8> {
        let mut block = Vec::new();
        let lengths = contents.iter().map(|content| content.len());
        ObjectPacking::Lengths.write_head(lengths, &mut block).unwrap();
        block.extend(contents.concat());
        block
    }

    #[test]
    fn lengths_stand_before_contents() {
        assert_eq!(block(&[b"", b"ab", b"c"]), b"\x03\x00\x02\x01abc");
        let long = [7; 300];
        let block = block(&[&long]);
        assert_eq!(block[..3], [1, 0xac, 2]);
        assert_eq!(ObjectPacking::Lengths.starts(&block).unwrap(), [3, 303]);
    }

    #[test]
    fn numbers_of_every_length_come_back() {
        for bits in 0..32 {
            for number in [(1usize << bits) - 1, 1 << bits] {
                let mut bytes = vec![9];
                write_number(number, &mut bytes);
                assert_eq!(read_number(&bytes, 1).unwrap(), (number, bytes.len()));
                let cut = read_number(&bytes[..bytes.len() - 1], 1).unwrap_err();
                assert_eq!(cut.kind(), ErrorKind::Truncated);
            }
        }
    }

    #[test]
    fn blocks_that_lie_are_refused() {
        let kind = |block: &[u8]| ObjectPacking::Lengths.starts(block).unwrap_err().kind();
        assert_eq!(kind(b""), ErrorKind::Truncated);
        assert_eq!(kind(b"\x02\x00"), ErrorKind::Truncated);
        assert_eq!(kind(b"\x01\x03ab"), ErrorKind::Truncated);
        assert_eq!(kind(b"\x01\x01ab"), ErrorKind::Corrupt);
        assert_eq!(kind(b"\x80\x80\x80\x80\x80\x00"), ErrorKind::Corrupt);
        assert_eq!(kind(b"\x02\xff\xff\xff\xff\x0f\x7f\x00"), ErrorKind::Corrupt);
        assert_eq!(kind(b"\xff\xff\xff\xff\x0f\x00"), ErrorKind::Truncated);
        let texts = ObjectPacking::Lengths.value(ObjectKind::Text, b"\xff").unwrap_err();
        assert_eq!(texts.kind(), ErrorKind::Corrupt);
    }
}
