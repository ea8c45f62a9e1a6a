//! Records of a CSV text that is known to be complete: a quote that is never closed is an error.
//!
//! The crate `csv` takes the end of the input for the end of a quoted cell. Therefore a line of our
//! own follows the input. After a complete text it is a record of its own; after one that was cut
//! inside of quotes it becomes part of the last cell.

use std::collections::VecDeque;
use std::io::{self, Read};

/// What follows the input.
const END: &[u8] = b"\nx\n";

/// Reads records.
pub(super) struct CsvReader<R> {
    reader: csv::Reader<Ended<R>>,
    /// The number of line ends before the end of the last record.
    line_ends: u64,
    /// The line in which the last record begins, from 1.
    pub(super) line: u64,
}

/// Why a record cannot be read.
pub(super) struct CsvError {
    pub(super) words: String,
    /// The number of the cell that it is about, from 0.
    pub(super) cell: Option<usize>,
}

/// An input with [`END`] after it.
struct Ended<R> {
    input: R,
    /// The length of the input, as far as it was read.
    len: u64,
    /// Where lines end that were read, but are not part of a record yet.
    line_ends: VecDeque<u64>,
    /// What is left of [`END`].
    end: &'static [u8],
}

impl<R: Read> CsvReader<R> {
    pub(super) fn new(input: R) -> Self {
        let ended = Ended { input, len: 0, line_ends: VecDeque::new(), end: END };
        let mut options = csv::ReaderBuilder::new();
        let reader = options.has_headers(false).flexible(true).from_reader(ended);
        Self { reader, line_ends: 0, line: 1 }
    }

    /// The cells of the next record; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Vec<String>>, CsvError> {
        let error = |words: String, cell| Err(CsvError { words, cell });
        let mut record = csv::ByteRecord::new();
        match self.reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(failed) => match failed.into_kind() {
                csv::ErrorKind::Io(failed) => return error(failed.to_string(), None),
                other => return error(format!("{other:?}"), None),
            },
        }
        let end = self.reader.position().byte();
        let is_last = end >= self.reader.get_ref().len + END.len() as u64;
        if is_last && record.iter().eq([b"x"]) {
            return Ok(None);
        }
        self.find_line(&record, end);
        if is_last {
            self.line += 1;
            return error("a quote is never closed: was the text cut?".to_owned(), None);
        }
        let text = |(number, cell): (usize, &[u8])| {
            String::from_utf8(cell.to_vec()).map_err(|_| CsvError {
                words: "bytes that are not UTF-8".to_owned(),
                cell: Some(number),
            })
        };
        record.iter().enumerate().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// Works out where a record that ends before byte `end` begins: it has as many lines as line
    /// ends in its cells, and one more. Empty lines before it are passed over.
    fn find_line(&mut self, record: &csv::ByteRecord, end: u64) {
        let ends = &mut self.reader.get_mut().line_ends;
        while ends.front().is_some_and(|at| at.saturating_add(1) < end) {
            ends.pop_front();
            self.line_ends += 1;
        }
        let inside = record.as_slice().iter().filter(|byte| **byte == b'\n').count();
        self.line = (self.line_ends + 1).saturating_sub(inside as u64);
    }
}

impl<R: Read> Read for Ended<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut found = self.input.read(buffer)?;
        let start = self.len;
        self.len += found as u64;
        let mut at = start;
        if found == 0 {
            at += (END.len() - self.end.len()) as u64;
            // `&[u8]` reads itself to its end.
            found = self.end.read(buffer)?;
        }
        let places = at..;
        let bytes = buffer.iter().take(found).zip(places);
        self.line_ends.extend(bytes.filter(|(byte, _)| **byte == b'\n').map(|(_, at)| at));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The records of a text, or the words of the error, with the line of the last one.
    fn read(text: &[u8]) -> (Result<Vec<Vec<String>>, String>, u64) {
        let mut reader = CsvReader::new(text);
        let mut records = Vec::new();
        loop {
            match reader.next() {
                Ok(Some(record)) => records.push(record),
                Ok(None) => return (Ok(records), reader.line),
                Err(error) => return (Err(error.words), reader.line),
            }
        }
    }

    #[test]
    fn complete_texts_have_their_records_however_they_end() {
        for (text, expected) in [
            ("", vec![]),
            ("\n\n", vec![]),
            ("x", vec![vec!["x"]]),
            ("x\nx\n", vec![vec!["x"], vec!["x"]]),
            ("x\r\nx", vec![vec!["x"], vec!["x"]]),
            ("a,b\n1,\"2\"", vec![vec!["a", "b"], vec!["1", "2"]]),
            ("a\n\"1\n\"", vec![vec!["a"], vec!["1\n"]]),
            ("a\n\"\nx\n\"\n", vec![vec!["a"], vec!["\nx\n"]]),
            ("a\n5\" wide\n", vec![vec!["a"], vec!["5\" wide"]]),
            ("\u{feff}a\n1", vec![vec!["a"], vec!["1"]]),
        ] {
            let expected: Vec<Vec<String>> = expected
                .iter()
                .map(|row| row.iter().map(|cell| (*cell).into()).collect())
                .collect();
            assert_eq!(read(text.as_bytes()).0, Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn a_text_that_was_cut_inside_of_quotes_is_refused() {
        for text in ["\"", "a\n\"", "a,b\n1,\"2", "a,b\n1,\"2\"\"", "a,b\n1,\"2\n3,4\n"] {
            let (found, line) = read(text.as_bytes());
            assert_eq!(found, Err("a quote is never closed: was the text cut?".into()), "{text:?}");
            assert_eq!(line, if text == "\"" { 1 } else { 2 }, "{text:?}");
        }
        assert_eq!(read(b"a\n\xff\n"), (Err("bytes that are not UTF-8".into()), 2));
    }

    #[test]
    fn lines_are_counted_with_those_inside_of_cells_and_empty_ones() {
        for (text, lines) in [
            ("a\n1\n2", vec![1, 2, 3]),
            ("a\r\n1\r\n2\r\n", vec![1, 2, 3]),
            ("\n\na\n\n1\n", vec![3, 5]),
            ("a\n\"1\n\n\"\n2\n", vec![1, 2, 5]),
            ("a\r\n\"1\r\n\"\r\n\r\n2", vec![1, 2, 5]),
        ] {
            let mut reader = CsvReader::new(text.as_bytes());
            let next = std::iter::from_fn(|| reader.next().ok()?.map(|_| reader.line));
            assert_eq!(next.collect::<Vec<_>>(), lines, "{text:?}");
        }
    }
}
