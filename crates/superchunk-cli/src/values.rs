//! Items as text: tables, CSV, JSON, hexadecimal.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::ValueEnum;
use superchunk::{DKind, DType, Error, Value};

use crate::failure::{Exit, Failure, Outcome};

/// How values are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Several on a line, with the number of the first.
    Table,
    /// One on a line, quoted where needed.
    Csv,
    /// One array.
    Json,
    /// One JSON value on a line.
    Jsonl,
    /// The bytes themselves.
    Raw,
    /// Bytes as hexadecimal digits and letters.
    Hex,
    /// A table in Markdown; only of tables.
    Md,
}

impl Form {
    /// The word that is typed for it.
    pub(crate) fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// The type that items are printed with when nobody has said one: unsigned integers where there are
/// some of that size.
pub(crate) fn guess(item_size: usize) -> Outcome<DType> {
    let text = match item_size {
        2 => "<u2".to_owned(),
        4 => "<u4".to_owned(),
        8 => "<u8".to_owned(),
        1 => "|u1".to_owned(),
        other => format!("|V{other}"),
    };
    Ok(DType::parse(&text)?)
}

/// The type that a text names; users have typed it, or stored it.
pub(crate) fn parse_dtype(text: &str) -> Outcome<DType> {
    DType::parse(text).map_err(|error| {
        Failure::usage(error.message()).with_help("a type is like '<f8', '<i4', '|S10' or '<M8[s]'")
    })
}

/// What becomes of bytes that are no text in CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// They are an error.
    Never,
    /// They are written as `\xff`, and a backslash as two.
    Backslash,
}

impl Escape {
    /// What the option `--escape` says.
    pub(crate) fn of(is_wanted: bool) -> Self {
        if is_wanted { Self::Backslash } else { Self::Never }
    }
}

/// An item, or an array of them, as a cell of CSV before it is quoted.
pub(crate) fn csv_text(
    dtype: &DType,
    bytes: &[u8],
    shape: &[usize],
    escape: Escape,
) -> superchunk::Result<String> {
    let is_text = matches!(dtype.kind(), DKind::Bytes | DKind::Unicode);
    match escape {
        Escape::Backslash if is_text && shape.is_empty() => Ok(match dtype.to_text(bytes, shape) {
            Ok(text) => text.replace('\\', r"\\"),
            Err(_) => {
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                escaped(bytes.get(..end).unwrap_or_default())
            }
        }),
        Escape::Backslash if is_text || dtype.kind() == DKind::Struct => {
            Ok(escaped_json(dtype, bytes, shape))
        }
        _ => dtype.to_text(bytes, shape),
    }
}

/// Texts in lists and structures as JSON, each with escapes for bytes that are no text.
fn escaped_json(dtype: &DType, bytes: &[u8], shape: &[usize]) -> String {
    if let Some((side, inner)) = shape.split_first() {
        let len = inner.iter().fold(dtype.item_size(), |len, side| len.saturating_mul(*side));
        let parts = bytes.chunks(len.max(1)).take(*side);
        let parts: Vec<String> = parts.map(|part| escaped_json(dtype, part, inner)).collect();
        return format!("[{}]", parts.join(", "));
    }
    match dtype.kind() {
        DKind::Struct => {
            let fields = dtype.fields().iter().map(|field| {
                let bytes = bytes.get(field.offset()..).unwrap_or_default();
                let value = escaped_json(field.dtype(), bytes, field.shape());
                format!("{}: {value}", Value::from(field.name()).to_json())
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        DKind::Bytes | DKind::Unicode => {
            let item = bytes.get(..dtype.item_size()).unwrap_or(bytes);
            let text = csv_text(dtype, item, &[], Escape::Backslash).unwrap_or_default();
            Value::from(text).to_json()
        }
        _ => dtype.to_json(bytes, &[]),
    }
}

/// A value that stands alone, as a cell of CSV before it is quoted: a text as it is, other values as
/// JSON.
pub(crate) fn csv_value(value: &Value, escape: Escape) -> superchunk::Result<String> {
    let bytes = match value {
        Value::Str(text) => text.as_bytes(),
        Value::Bin(bytes) => bytes,
        other => return Ok(other.to_json()),
    };
    match (escape, std::str::from_utf8(bytes)) {
        (Escape::Backslash, _) => Ok(escaped(bytes)),
        (Escape::Never, Ok(text)) => Ok(text.to_owned()),
        (Escape::Never, Err(_)) => {
            Err(Error::unsupported(format!("{} is not text", value.to_json())))
        }
    }
}

/// Bytes with an escape for each that is no part of a text.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', r"\\"));
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// The error of bytes that CSV has no text for.
pub(crate) fn no_text(place: &str, error: &Error) -> Failure {
    Failure::said(Exit::Failure, format!("{place}: {error}"))
        .with_help(r#"`--escape` writes such bytes as \xff; JSON has them as {"$bin": "ff"}"#)
}

/// Prints values as they come.
pub(crate) struct Printer<W: Write> {
    out: W,
    dtype: DType,
    form: Form,
    escape: Escape,
    /// The axes of an array.
    shape: Option<Vec<u64>>,
    /// Bytes that do not make an item yet.
    rest: Vec<u8>,
    /// How many items were printed.
    count: u64,
    /// How many items stand on a line.
    columns: u64,
}

impl<W: Write> Printer<W> {
    pub(crate) fn new(
        out: W,
        dtype: DType,
        form: Form,
        escape: Escape,
        shape: Option<Vec<u64>>,
    ) -> Self {
        let size = dtype.item_size();
        let row = shape.as_ref().and_then(|shape| shape.last().copied());
        let columns = match form {
            Form::Table => row.filter(|row| (1..=32).contains(row)).unwrap_or(match size {
                1 => 16,
                2..=4 => 10,
                5..=8 => 8,
                _ => 4,
            }),
            _ => 1,
        };
        Self { out, dtype, form, escape, shape, rest: Vec::new(), count: 0, columns }
    }

    /// Prints the items of these bytes, which may end within one.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Outcome {
        if self.form == Form::Raw {
            return self.out.write_all(bytes).map_err(Failure::stdout);
        }
        self.rest.extend_from_slice(bytes);
        let size = if self.form == Form::Hex { 16 } else { self.dtype.item_size().max(1) };
        let pending = std::mem::take(&mut self.rest);
        let mut items = pending.chunks_exact(size);
        let mut text = String::new();
        for item in items.by_ref() {
            self.item(item, &mut text)?;
        }
        self.rest = items.remainder().to_vec();
        self.out.write_all(text.as_bytes()).map_err(Failure::stdout)
    }

    /// Prints what is left, and ends the last line.
    pub(crate) fn finish(mut self) -> Outcome {
        let mut text = String::new();
        let rest = std::mem::take(&mut self.rest);
        if self.form == Form::Hex && !rest.is_empty() {
            self.item(&rest, &mut text)?;
        }
        match self.form {
            Form::Json if self.count == 0 => {
                let shape = self.shape.take().unwrap_or_else(|| vec![0]);
                empty_lists(&mut self.out, &shape)
                    .and_then(|()| self.out.write_all(b"\n"))
                    .map_err(Failure::stdout)?;
            }
            Form::Json if self.shape.as_ref().is_some_and(Vec::is_empty) => text.push('\n'),
            Form::Json => text.push_str("]\n"),
            Form::Table if !self.count.is_multiple_of(self.columns) => text.push('\n'),
            _ => {}
        }
        self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()).map_err(Failure::stdout)
    }

    fn item(&mut self, item: &[u8], text: &mut String) -> Outcome {
        match self.form {
            Form::Table => self.cell(item, text),
            Form::Csv => {
                let cell = csv_text(&self.dtype, item, &[], self.escape);
                let cell =
                    cell.map_err(|error| no_text(&format!("item {}", self.count), &error))?;
                let _ = writeln!(text, "{}", quoted(&cell));
            }
            Form::Json => self.element(item, text),
            Form::Jsonl => {
                let _ = writeln!(text, "{}", self.dtype.to_json(item, &[]));
            }
            Form::Hex => hex_line(self.count * 16, item, text),
            Form::Raw | Form::Md => {}
        }
        self.count += 1;
        Ok(())
    }

    /// An element of nested lists, with the brackets that stand before it and behind it. The last
    /// bracket of all is left out: more may come.
    fn element(&self, item: &[u8], text: &mut String) {
        let shape = self.shape.as_deref().unwrap_or(&[1]);
        let inner = shape.get(1..).unwrap_or_default();
        let lens: Vec<u64> =
            (0..inner.len()).map(|axis| inner.iter().skip(axis).product()).collect();
        let starts = lens.iter().filter(|len| self.count.is_multiple_of(**len)).count();
        let ends = lens.iter().filter(|len| (self.count + 1).is_multiple_of(**len)).count();
        text.push_str(match self.count {
            0 if shape.is_empty() => "",
            0 => "[",
            _ => ", ",
        });
        text.push_str(&"[".repeat(starts));
        text.push_str(&self.dtype.to_json(item, &[]));
        text.push_str(&"]".repeat(ends));
    }

    fn cell(&mut self, item: &[u8], text: &mut String) {
        if self.count.is_multiple_of(self.columns) {
            let _ = write!(text, "{:>8}:", self.count);
        }
        let _ = write!(text, " {}", self.dtype.format_item(item));
        if (self.count + 1).is_multiple_of(self.columns) {
            text.push('\n');
        }
    }
}

/// The nested lists of an array without items, written as they come: there may be any number.
fn empty_lists(out: &mut impl Write, shape: &[u64]) -> io::Result<()> {
    let (side, inner) = shape.split_first().map_or((0, shape), |(side, inner)| (*side, inner));
    out.write_all(b"[")?;
    for number in 0..side {
        out.write_all(if number == 0 { b"" } else { b", " })?;
        empty_lists(out, inner)?;
    }
    out.write_all(b"]")
}

/// A cell of CSV.
pub(crate) fn quoted(value: &str) -> String {
    match value.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", value.replace('"', "\"\"")),
        false => value.to_owned(),
    }
}

/// A line of sixteen bytes: position, digits, letters.
pub(crate) fn hex_line(position: u64, bytes: &[u8], text: &mut String) {
    let _ = write!(text, "{position:08x} ");
    for at in 0..16 {
        let gap = if at == 8 { "  " } else { " " };
        match bytes.get(at) {
            Some(byte) => {
                let _ = write!(text, "{gap}{byte:02x}");
            }
            None => {
                let _ = write!(text, "{gap}  ");
            }
        }
    }
    let letter = |byte: &u8| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' };
    let letters: String = bytes.iter().map(letter).collect();
    let _ = writeln!(text, "  |{letters}|");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(dtype: &str, form: Form, pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let dtype = DType::parse(dtype).unwrap();
        let mut printer = Printer::new(&mut out, dtype, form, Escape::Never, None);
        pieces.iter().for_each(|piece| printer.put(piece).unwrap());
        printer.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn items_may_come_in_any_pieces() {
        assert_eq!(printed("<u2", Form::Csv, &[&[1], &[0, 2], &[0]]), "1\n2\n");
        assert_eq!(printed("<u2", Form::Json, &[&[1, 0, 2, 0]]), "[1, 2]\n");
        assert_eq!(printed("<u2", Form::Json, &[]), "[]\n");
        assert_eq!(printed("<u2", Form::Table, &[&[1, 0, 2, 0]]), "       0: 1 2\n");
        assert_eq!(printed("<u2", Form::Raw, &[&[1, 0, 2]]), "\x01\0\x02");
    }

    #[test]
    fn what_is_no_number_in_json_is_text() {
        let nan = f64::NAN.to_le_bytes();
        assert_eq!(
            printed("<f8", Form::Jsonl, &[&nan, &1.5f64.to_le_bytes()]),
            "{\"$float\": \"nan\"}\n1.5\n"
        );
        assert_eq!(printed("|b1", Form::Json, &[&[0, 1]]), "[false, true]\n");
        assert_eq!(printed("|S3", Form::Csv, &[b"a,b"]), "\"a,b\"\n");
    }

    #[test]
    fn a_hexadecimal_line_has_sixteen_bytes() {
        let text = printed("|u1", Form::Hex, &[b"0123456789abcdefXY\0"]);
        let expected = "00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  \
                        |0123456789abcdef|\n\
                        00000010  58 59 00                                          |XY.|\n";
        assert_eq!(text, expected);
    }
}
