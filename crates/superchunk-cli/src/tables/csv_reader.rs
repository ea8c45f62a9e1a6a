//! Records of a CSV text that is known to be complete: a quote that is never closed is an error.
//!
//! The crate `csv` takes the end of the input for the end of a quoted cell. Therefore a line of our
//! own follows the input. After a complete text it is a record of its own; after one that was cut
//! inside of quotes it becomes part of the last cell.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// What follows the input.
const END: &[u8] = b"\nx\n";

/// Reads records.
pub(super) struct CsvReader<R> {
    reader: csv::Reader<Ended<R>>,
    /// The length of the input, as far as it was read.
    len: Rc<Cell<u64>>,
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
    len: Rc<Cell<u64>>,
    end: &'static [u8],
}

impl<R: Read> CsvReader<R> {
    pub(super) fn new(input: R) -> Self {
        let len = Rc::new(Cell::new(0));
        let ended = Ended { input, len: len.clone(), end: END };
        let mut options = csv::ReaderBuilder::new();
        let reader = options.has_headers(false).flexible(true).from_reader(ended);
        Self { reader, len, line: 1 }
    }

    /// The cells of the next record; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Vec<String>>, CsvError> {
        let mut record = csv::StringRecord::new();
        let read = self.reader.read_record(&mut record);
        let is_last = self.reader.position().byte() >= self.len.get() + END.len() as u64;
        if let Some(start) = record.position() {
            self.line = start.line();
        }
        let error = |words: String, cell| Err(CsvError { words, cell });
        match read {
            Ok(false) => Ok(None),
            Ok(true) if !is_last => Ok(Some(record.iter().map(str::to_owned).collect())),
            Ok(true) if record.iter().eq(["x"]) => Ok(None),
            Ok(true) => error("a quote is never closed: was the text cut?".to_owned(), None),
            Err(failed) => match failed.kind() {
                csv::ErrorKind::Utf8 { err, .. } => {
                    error("bytes that are not UTF-8".to_owned(), Some(err.field()))
                }
                csv::ErrorKind::Io(failed) => error(failed.to_string(), None),
                _ => error(failed.to_string(), None),
            },
        }
    }
}

impl<R: Read> Read for Ended<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let found = self.input.read(buffer)?;
        self.len.set(self.len.get() + found as u64);
        // `&[u8]` reads itself to its end.
        if found == 0 { self.end.read(buffer) } else { Ok(found) }
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
}
