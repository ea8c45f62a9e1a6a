//! The literals of a block: the bytes that no sequence takes from further back.

use core::ops::Range;

use super::Result;
use super::huffman::{self, Table};

/// How the literals are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Raw,
    Run,
    /// Codes in so many streams; behind the description of the code, or by that of the block before.
    Coded {
        streams: usize,
        described: bool,
    },
}

/// The literals of a block as they are stored.
#[derive(Clone, Copy)]
pub(super) struct Section<'a> {
    form: Form,
    /// What the form says of them begins and ends here.
    src: &'a [u8],
    begin: usize,
    end: usize,
    /// How many they are.
    pub(super) len: usize,
}

impl<'a> Section<'a> {
    /// Reads the section at the byte `begin` of `src`, and gives what follows it.
    pub(super) fn parse(src: &'a [u8], begin: usize) -> Result<(Self, &'a [u8])> {
        const CUT: &str = "zstd literals are cut short";
        let (head, header) = Head::parse(src.get(begin..).unwrap_or_default()).ok_or(CUT)?;
        let begin = begin + header;
        let end = begin + head.stored;
        let rest = src.get(end..).ok_or(CUT)?;
        Ok((Self { form: head.form, src, begin, end, len: head.len }, rest))
    }

    /// How they are stored, and where in `src`.
    pub(super) fn stored(&self) -> (Form, Range<usize>) {
        (self.form, self.begin..self.end)
    }

    /// The literals where they are stored, if they are stored as they are and at least `slack` bytes
    /// follow them.
    pub(super) fn in_place(&self, slack: usize) -> Option<&'a [u8]> {
        let rest = self.src.get(self.begin..).filter(|_| self.form == Form::Raw)?;
        (rest.len() >= self.len + slack).then_some(rest)
    }

    /// Decodes the literals, which fill `dst`.
    pub(super) fn decode(&self, table: &mut Table, dst: &mut [u8]) -> Result<()> {
        let src = self.src.get(..self.end).unwrap_or_default();
        let stored = src.get(self.begin..).unwrap_or_default();
        match self.form {
            Form::Raw => {
                if stored.len() == dst.len() {
                    dst.copy_from_slice(stored);
                }
                Ok(())
            }
            Form::Run => {
                dst.fill(stored.first().copied().unwrap_or(0));
                Ok(())
            }
            Form::Coded { streams, described } => {
                let described = if described { table.read(stored)? } else { 0 };
                if !table.is_present() {
                    return Err("zstd literals refer to a code that is not there");
                }
                let begin = self.begin + described;
                if streams == 1 {
                    huffman::decode_one(table, src, begin, dst)
                } else {
                    huffman::decode_four(table, src, begin, dst)
                }
            }
        }
    }
}

/// What the first bytes of the section say.
struct Head {
    form: Form,
    len: usize,
    /// How many bytes follow.
    stored: usize,
}

impl Head {
    /// Also tells how many bytes the head has.
    fn parse(block: &[u8]) -> Option<(Self, usize)> {
        // Up to 5 bytes: more than `usize` has on some systems.
        let number = |bytes: usize| {
            let bytes = block.get(..bytes)?;
            Some(bytes.iter().rev().fold(0_u64, |number, &byte| (number << 8) | u64::from(byte)))
        };
        let first = *block.first()?;
        let size_format = (first >> 2) & 3;
        if first & 2 == 0 {
            let (bytes, shift) = match size_format {
                0 | 2 => (1, 3),
                1 => (2, 4),
                _ => (3, 4),
            };
            let len = usize::try_from(number(bytes)? >> shift).ok()?;
            let run = first & 1 == 1;
            let form = if run { Form::Run } else { Form::Raw };
            return Some((Self { form, len, stored: if run { 1 } else { len } }, bytes));
        }
        let (bytes, bits, streams) = match size_format {
            0 => (3, 10, 1),
            1 => (3, 10, 4),
            2 => (4, 14, 4),
            _ => (5, 18, 4),
        };
        let sizes = number(bytes)? >> 4;
        let form = Form::Coded { streams, described: first & 1 == 0 };
        let mask = (1 << bits) - 1;
        let [len, stored] = [sizes & mask, (sizes >> bits) & mask];
        let (len, stored) = (usize::try_from(len).ok()?, usize::try_from(stored).ok()?);
        Some((Self { form, len, stored }, bytes))
    }
}
