//! Tests of text columns, on the bytes as they lie there.
//!
//! A value ends at its last letter that is not zero, as in NumPy. Bytes are ordered by their value,
//! Unicode text by its code points; so a text of a `U` column is compared in units of four bytes.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::tree::Order;
use crate::dtype::{DKind, DType};
use crate::wire;

/// What is asked of each value.
#[derive(Clone, Debug)]
pub(super) struct TextTest {
    pub(super) question: Question,
    letter: Letter,
}

/// The size of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letter {
    Byte,
    CodePoint,
}

/// What can be asked; texts are in the form of the column.
#[derive(Clone, Debug)]
pub(super) enum Question {
    Compare(Order, Vec<u8>),
    Starts(Vec<u8>),
    Ends(Vec<u8>),
    Contains(Vec<u8>),
    Among(HashSet<Vec<u8>>),
}

impl TextTest {
    pub(super) fn new(dtype: &DType, question: Question) -> Self {
        let letter = match dtype.kind() {
            DKind::Unicode => Letter::CodePoint,
            _ => Letter::Byte,
        };
        Self { question, letter }
    }

    /// Adds a truth for each of `count` values of `size` bytes.
    pub(super) fn run(&self, bytes: &[u8], size: usize, count: usize, mask: &mut Vec<u8>) {
        match &self.question {
            Question::Compare(Order::Equal, text) => equal(bytes, size, count, text, 0, mask),
            Question::Compare(Order::NotEqual, text) => equal(bytes, size, count, text, 1, mask),
            Question::Compare(order, text) => self.each(bytes, size, count, mask, |value| {
                holds(*order, compare(value, text, self.letter))
            }),
            Question::Starts(text) => {
                self.each(bytes, size, count, mask, |value| value.starts_with(text));
            }
            Question::Ends(text) => {
                self.each(bytes, size, count, mask, |value| value.ends_with(text));
            }
            Question::Contains(text) => {
                self.each(bytes, size, count, mask, |value| self.contains(value, text));
            }
            Question::Among(texts) => {
                self.each(bytes, size, count, mask, |value| texts.contains(value));
            }
        }
    }

    fn each(
        &self,
        bytes: &[u8],
        size: usize,
        count: usize,
        mask: &mut Vec<u8>,
        test: impl Fn(&[u8]) -> bool,
    ) {
        for row in rows(bytes, size, count) {
            mask.push(u8::from(test(trimmed(row, self.letter))));
        }
    }

    fn contains(&self, value: &[u8], text: &[u8]) -> bool {
        let step = self.letter.size();
        text.is_empty() || value.windows(text.len()).step_by(step).any(|part| part == text)
    }
}

impl Letter {
    fn size(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::CodePoint => 4,
        }
    }
}

/// The values of a column; those without any byte, too.
fn rows(bytes: &[u8], size: usize, count: usize) -> impl Iterator<Item = &[u8]> {
    (0..count).map(move |row| {
        let start = row.saturating_mul(size);
        bytes.get(start..start.saturating_add(size)).unwrap_or_default()
    })
}

/// Two columns, row by row.
pub(super) fn compare_rows(
    order: Order,
    dtypes: (&DType, &DType),
    bytes: (&[u8], &[u8]),
    count: usize,
) -> Vec<u8> {
    let letter = match dtypes.0.kind() {
        DKind::Unicode => Letter::CodePoint,
        _ => Letter::Byte,
    };
    let left = rows(bytes.0, dtypes.0.item_size(), count).map(|row| trimmed(row, letter));
    let right = rows(bytes.1, dtypes.1.item_size(), count).map(|row| trimmed(row, letter));
    left.zip(right).map(|(a, b)| u8::from(holds(order, compare(a, b, letter)))).collect()
}

/// A text in the form of a column, without zeros at its end.
pub(super) fn encoded(dtype: &DType, text: &str) -> Vec<u8> {
    let text = text.trim_end_matches('\0');
    match dtype.kind() {
        DKind::Unicode => text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
        _ => text.as_bytes().to_vec(),
    }
}

/// Bytes without zeros at their end.
pub(super) fn without_padding(bytes: &[u8]) -> Vec<u8> {
    trimmed(bytes, Letter::Byte).to_vec()
}

/// Whether an order holds for what was found.
pub(super) fn holds(order: Order, found: Ordering) -> bool {
    match order {
        Order::Equal => found.is_eq(),
        Order::NotEqual => found.is_ne(),
        Order::Less => found.is_lt(),
        Order::LessEqual => found.is_le(),
        Order::Greater => found.is_gt(),
        Order::GreaterEqual => found.is_ge(),
    }
}

fn trimmed(row: &[u8], letter: Letter) -> &[u8] {
    let used = row.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    wire::at_most(row, used.next_multiple_of(letter.size()))
}

fn compare(a: &[u8], b: &[u8], letter: Letter) -> Ordering {
    let points = |text: &[u8]| {
        let letters = text.as_chunks::<4>().0.to_vec();
        letters.into_iter().map(u32::from_le_bytes)
    };
    match letter {
        Letter::Byte => a.cmp(b),
        Letter::CodePoint => points(a).cmp(points(b)),
    }
}

/// Equality needs no end of the value: the text is padded instead.
fn equal(bytes: &[u8], size: usize, count: usize, text: &[u8], flip: u8, mask: &mut Vec<u8>) {
    let mut padded = text.to_vec();
    padded.resize(size.max(text.len()), 0);
    mask.extend(rows(bytes, size, count).map(|row| u8::from(row == padded) ^ flip));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(dtype: &str, values: &[&str], question: impl Fn(&DType) -> Question) -> Vec<u8> {
        let dtype = DType::parse(dtype).unwrap();
        let mut bytes = Vec::new();
        for value in values {
            let mut row = encoded(&dtype, value);
            row.resize(dtype.item_size(), 0);
            bytes.extend(row);
        }
        let mut mask = Vec::new();
        let test = TextTest::new(&dtype, question(&dtype));
        test.run(&bytes, dtype.item_size(), values.len(), &mut mask);
        mask
    }

    #[test]
    fn both_kinds_of_text_answer_alike() {
        for dtype in ["S4", "<U4"] {
            let values = ["", "a", "ab", "abcd", "b", "cab"];
            let compare = |order, text: &'static str| {
                ask(dtype, &values, |d| Question::Compare(order, encoded(d, text)))
            };
            assert_eq!(compare(Order::Equal, "ab"), [0, 0, 1, 0, 0, 0]);
            assert_eq!(compare(Order::NotEqual, "ab\0"), [1, 1, 0, 1, 1, 1]);
            assert_eq!(compare(Order::Equal, "abcde"), [0; 6]);
            assert_eq!(compare(Order::Less, "ab"), [1, 1, 0, 0, 0, 0]);
            assert_eq!(compare(Order::LessEqual, "abcde"), [1, 1, 1, 1, 0, 0]);
            assert_eq!(compare(Order::GreaterEqual, "abcd"), [0, 0, 0, 1, 1, 1]);
            let starts = ask(dtype, &values, |d| Question::Starts(encoded(d, "ab")));
            assert_eq!(starts, [0, 0, 1, 1, 0, 0]);
            let ends = ask(dtype, &values, |d| Question::Ends(encoded(d, "ab")));
            assert_eq!(ends, [0, 0, 1, 0, 0, 1]);
            let contains = ask(dtype, &values, |d| Question::Contains(encoded(d, "b")));
            assert_eq!(contains, [0, 0, 1, 1, 1, 1]);
            let none = ask(dtype, &values, |d| Question::Contains(encoded(d, "")));
            assert_eq!(none, [1; 6]);
            let among = |d: &DType| Question::Among(["b", "cab", ""].map(|t| encoded(d, t)).into());
            assert_eq!(ask(dtype, &values, among), [1, 0, 0, 0, 1, 1]);
        }
    }

    #[test]
    fn code_points_are_ordered_by_value_and_found_at_letters() {
        let less = |d: &DType| Question::Compare(Order::Less, encoded(d, "Ā"));
        assert_eq!(ask("<U2", &["ÿ", "ā", "a"], less), [1, 0, 1]);
        // U+4100 followed by U+0041 holds the bytes of "A" at an odd place, too.
        let contains = |d: &DType| Question::Contains(encoded(d, "A"));
        assert_eq!(ask("<U3", &["\u{4100}\u{100}", "xA"], contains), [0, 1]);
    }

    #[test]
    fn values_without_bytes_are_empty_texts() {
        let empty = |_: &DType| Question::Compare(Order::Equal, Vec::new());
        assert_eq!(ask("S0", &["", ""], empty), [1, 1]);
    }
}
