//! Rows that come as text: CSV with headings, or an object of JSON on each line.

use std::cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use superchunk::table::{Column, parse_item};
use superchunk::{DKind, DType, Error, Json, JsonStyle, Value};

use super::csv_reader::{CsvError, CsvReader};
use super::text_width::{length, room};
use crate::failure::{Exit, Failure, Outcome};
use crate::memory::Memory;
use crate::text_form::TextForm;

/// Rows as they come.
pub(super) struct Records {
    /// How errors call the file.
    pub(super) name: String,
    /// The headings; those of JSON are the keys of the first object.
    pub(super) names: Vec<String>,
    reader: Reader,
    /// How many rows were begun.
    row: u64,
    /// The line in which the last one begins, from 1.
    line: u64,
    /// Whether a text in the place of a number is refused, and digits that would be lost.
    pub(super) is_strict: bool,
    /// What to do about a cell that is not a value of its column.
    pub(super) advice: Advice,
    room: Room,
    most: usize,
}

/// The bytes that may still be read for a row.
type Room = Rc<cell::Cell<usize>>;

/// Stops where a row is longer than it may be.
struct Bounded {
    input: BufReader<Box<dyn Read>>,
    room: Room,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = self.room.get().min(buffer.len());
        if room == 0 && !buffer.is_empty() {
            return Err(io::Error::other("the row is too long"));
        }
        let found = self.input.read(buffer.get_mut(..room).unwrap_or_default())?;
        self.room.set(self.room.get() - found);
        Ok(found)
    }
}

/// A cell as text.
pub(super) struct Cell {
    pub(super) text: String,
    /// What JSON says that it is.
    pub(super) meant: Meant,
}

/// What a cell is meant to be.
#[derive(PartialEq)]
pub(super) enum Meant {
    /// What its letters say.
    Anything,
    /// A text, and so not a number, whatever it looks like.
    Text,
    /// Bytes, which need not be a text.
    Bytes(Vec<u8>),
    /// A complex number.
    Complex,
}

impl Cell {
    /// A cell that can be anything.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), meant: Meant::Anything }
    }

    /// A value of JSON; null is an empty cell.
    fn of_json(value: Option<&Json>) -> Self {
        match value {
            None | Some(Json::Null) => Self::new(""),
            Some(Json::Str(text)) => Self { text: text.clone(), meant: Meant::Text },
            Some(other) => match other.as_object() {
                Some([(tag, content)]) => Self::of_tag(tag, content),
                _ => None,
            }
            .unwrap_or_else(|| Self::new(other.to_text(JsonStyle::Compact))),
        }
    }

    /// What an object of one key stands for, if JSON has no other word for it.
    fn of_tag(tag: &str, content: &Json) -> Option<Self> {
        let part = |value: &Json| match value {
            Json::Number(text) => Some(text.clone()),
            other => Some(Self::of_tag("$float", other.get("$float")?)?.text),
        };
        match (tag, content) {
            ("$float", Json::Str(text)) => Some(Self::new(text)),
            ("$complex", Json::Array(parts)) => {
                let [real, imaginary] = parts.as_slice() else { return None };
                let (real, imaginary) = (part(real)?, part(imaginary)?);
                let plus = if imaginary.starts_with('-') { "" } else { "+" };
                Some(Self { text: format!("{real}{plus}{imaginary}j"), meant: Meant::Complex })
            }
            ("$bin", Json::Str(hex)) => {
                let text = format!("{{\"$bin\": \"{hex}\"}}");
                let Ok(Value::Bin(bytes)) = Value::from_json(&text) else { return None };
                Some(Self { text, meant: Meant::Bytes(bytes) })
            }
            _ => None,
        }
    }

    /// The bytes or characters that it takes in a column of texts of this type.
    fn length(&self, dtype: &DType) -> usize {
        match &self.meant {
            Meant::Bytes(bytes) => bytes.len(),
            _ => length(dtype, &self.text),
        }
    }
}

/// What to do about a cell that is not a value of its column, or a longer text than that holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advice {
    wrong: &'static str,
    too_long: &'static str,
}

impl Advice {
    /// A table that exists has the types that it has.
    const APPEND: Self = Self {
        wrong: "change the cell, or make another table of this one with `convert`",
        too_long: "`append --widen` makes the column wider",
    };
    /// A new table has the types that are asked for.
    pub(super) const CONVERT: Self = Self {
        wrong: "`--dtype COLUMN=TYPE` gives it another type",
        too_long: "`--dtype COLUMN=TYPE` gives it another type",
    };
}

enum Reader {
    Csv(Box<CsvReader<Bounded>>),
    Jsonl { lines: BufReader<Bounded>, first: Option<Json> },
}

impl Records {
    /// Opens a file, or stdin if it is `-`; without a form its first byte tells.
    pub(super) fn open(path: &Path, form: Option<TextForm>, memory: Memory) -> Outcome<Self> {
        let (input, name): (Box<dyn Read>, String) = match path.to_str() {
            Some("-") => (Box::new(io::stdin()), "stdin".to_owned()),
            _ => {
                let file = File::open(path);
                let file = file.map_err(|error| Failure::io("open it for reading", path, error))?;
                (Box::new(file), path.display().to_string())
            }
        };
        let mut input = BufReader::with_capacity(1 << 16, input);
        let start = input.fill_buf().map_err(|error| Failure::io("read it", path, error))?;
        let is_object = start.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let form = form.unwrap_or(if is_object { TextForm::Jsonl } else { TextForm::Csv });
        let most = memory.text();
        let room = Room::new(cell::Cell::new(most));
        let input = Bounded { input, room: room.clone() };
        let reader = match form {
            TextForm::Csv => Reader::Csv(Box::new(CsvReader::new(input))),
            TextForm::Jsonl => Reader::Jsonl { lines: BufReader::new(input), first: None },
        };
        let (names, advice) = (Vec::new(), Advice::APPEND);
        let (row, line, is_strict) = (0, 0, false);
        let mut records = Self { name, names, reader, row, line, is_strict, advice, room, most };
        records.read_names()?;
        Ok(records)
    }

    fn read_names(&mut self) -> Outcome {
        match &mut self.reader {
            Reader::Csv(reader) => {
                let headings = reader.next();
                self.line = reader.line;
                let headings = headings.map_err(|error| self.refused_cell(&error))?;
                let headings = headings.unwrap_or_default();
                self.names = headings.iter().map(|name| name.trim().to_owned()).collect();
            }
            Reader::Jsonl { lines, first } => {
                let found = next_object(lines, &mut self.line);
                let place = format!("row 0 (line {})", self.line);
                *first = found.map_err(|why| refused(&self.name, &place, &self.room, &why))?;
                let entries = first.as_ref().and_then(Json::as_object).unwrap_or_default();
                self.names = entries.iter().map(|(name, _)| name.clone()).collect();
            }
        }
        Ok(())
    }

    /// The cells of the next row, in the order of the names.
    pub(super) fn next(&mut self) -> Outcome<Option<Vec<Cell>>> {
        self.row += 1;
        self.room.set(self.most);
        match &mut self.reader {
            Reader::Csv(reader) => {
                let found = reader.next();
                self.line = reader.line;
                let Some(cells) = found.map_err(|error| self.refused_cell(&error))? else {
                    return Ok(None);
                };
                let (count, expected) = (cells.len(), self.names.len());
                if count != expected {
                    let words =
                        format!("expected {expected} cells as in the headings, got {count}");
                    return Err(self.refused(&words));
                }
                Ok(Some(cells.into_iter().map(Cell::new).collect()))
            }
            Reader::Jsonl { lines, first } => {
                let found = match first.take() {
                    Some(object) => Ok(Some(object)),
                    None => next_object(lines, &mut self.line),
                };
                let Some(object) = found.map_err(|why| self.refused(&why))? else {
                    return Ok(None);
                };
                let entries = object.as_object().unwrap_or_default();
                let known = |name: &String| self.names.contains(name);
                if let Some((name, _)) = entries.iter().find(|(name, _)| !known(name)) {
                    let words = format!("it has a `{name}`, the first one has not");
                    return Err(self.refused(&words));
                }
                Ok(Some(self.names.iter().map(|name| Cell::of_json(object.get(name))).collect()))
            }
        }
    }

    /// Where the row is, numbered as in slices, and in the file.
    fn place(&self) -> String {
        match self.row.checked_sub(1) {
            Some(row) => format!("row {row} (line {})", self.line),
            None => format!("the headings (line {})", self.line),
        }
    }

    /// The failure of reading the row: it is too long if no room is left.
    fn refused(&self, why: &str) -> Failure {
        refused(&self.name, &self.place(), &self.room, why)
    }

    /// The same for one of its cells.
    fn refused_cell(&self, error: &CsvError) -> Failure {
        match error.cell.and_then(|cell| self.names.get(cell)) {
            Some(name) => self.refused(&format!("column `{name}`: {}", error.words)),
            None => self.refused(&error.words),
        }
    }

    /// A row as bytes of columns; `order` tells which cell each column has.
    pub(super) fn items(
        &self,
        columns: &[Column],
        order: &[usize],
        cells: &[Cell],
        parts: &mut [Vec<u8>],
    ) -> Outcome {
        for ((column, place), part) in columns.iter().zip(order).zip(parts) {
            let empty = Cell::new("");
            let cell = cells.get(*place).unwrap_or(&empty);
            let bytes = row_bytes(column, cell, self.is_strict).map_err(|error| {
                let words = format!("{}, column `{}`: {error}", self.place(), column.name);
                let is_too_long =
                    room(&column.dtype).is_some_and(|room| room < longest(column, cell));
                let Advice { wrong: advice, too_long } = self.advice;
                wrong(&self.name, &words).with_help(if is_too_long { too_long } else { advice })
            })?;
            part.extend_from_slice(&bytes);
        }
        Ok(())
    }

    /// Raises the numbers of `widest` to the room that the texts of a row need in their columns.
    pub(super) fn measure(
        &self,
        columns: &[Column],
        order: &[usize],
        cells: &[Cell],
        widest: &mut [usize],
    ) {
        for ((column, place), widest) in columns.iter().zip(order).zip(widest) {
            if let Some(cell) = cells.get(*place).filter(|_| room(&column.dtype).is_some()) {
                *widest = longest(column, cell).max(*widest);
            }
        }
    }
}

/// The room that the longest text of a cell needs.
fn longest(column: &Column, cell: &Cell) -> usize {
    match column.row_shape.is_empty() {
        true => cell.length(&column.dtype),
        false => {
            let elements = elements(&cell.text).into_iter();
            let lengths = elements.map(|item| item.length(&column.dtype));
            lengths.max().unwrap_or(0)
        }
    }
}

/// A row of a column; arrays are written as `[1, 2]`.
fn row_bytes(column: &Column, cell: &Cell, is_strict: bool) -> superchunk::Result<Vec<u8>> {
    let item = |cell: &Cell| {
        if is_strict {
            refuse_loss(&column.dtype, cell)?;
        }
        match &cell.meant {
            Meant::Bytes(bytes) => binary_item(&column.dtype, bytes),
            _ => parse_number(&column.dtype, &cell.text),
        }
    };
    if column.row_shape.is_empty() {
        return item(cell);
    }
    let text = &cell.text;
    let mut bytes = Vec::with_capacity(column.row_size());
    for element in elements(text) {
        bytes.extend(item(&element)?);
    }
    if bytes.len() == column.row_size() {
        return Ok(bytes);
    }
    let shape = &column.row_shape;
    Err(Error::invalid(format!("`{text}` is no array of shape {shape:?}")))
}

/// An item whose bytes are given.
fn binary_item(dtype: &DType, bytes: &[u8]) -> superchunk::Result<Vec<u8>> {
    let (len, size) = (bytes.len(), dtype.item_size());
    let is_stored_so = match dtype.kind() {
        DKind::Bytes if len > size => {
            let words = format!("there are {len} bytes, the column holds {size}");
            return Err(Error::invalid(words));
        }
        DKind::Bytes if bytes.last() == Some(&0) => {
            return Err(Error::invalid("a zero at its end would be lost"));
        }
        DKind::Bytes => true,
        DKind::Unicode | DKind::Void => len == size,
        DKind::Float => len == size && size > 8,
        DKind::Complex => len == size && size > 16,
        _ => false,
    };
    if !is_stored_so {
        return Err(Error::invalid(format!("{len} bytes are no value of type {dtype}")));
    }
    let mut item = bytes.to_vec();
    item.resize(size, 0);
    Ok(item)
}

/// The item that a text is, unless it is a number that is beyond what the type holds.
pub(super) fn parse_number(dtype: &DType, text: &str) -> superchunk::Result<Vec<u8>> {
    let item = parse_item(dtype, text)?;
    let can_be_beyond = match dtype.kind() {
        DKind::Int | DKind::Uint => text.contains(['e', 'E']),
        // Digits alone are beyond the largest number of 64 bits if there are more than 308.
        DKind::Float if dtype.item_size() == 8 => text.contains(['e', 'E']) || text.len() > 300,
        DKind::Float | DKind::Complex => true,
        _ => false,
    };
    if can_be_beyond {
        let shown = dtype.format_item(&item);
        let has_inf = shown.contains("inf") && !text.to_ascii_lowercase().contains("inf");
        let has_value = |number: &str| {
            let (digits, _) = number.split_once(['e', 'E']).unwrap_or((number, ""));
            digits.bytes().any(|digit| matches!(digit, b'1'..=b'9'))
        };
        let is_complex = dtype.kind() == DKind::Complex;
        if has_inf || !is_complex && has_value(text) && !has_value(&shown) {
            let how = if has_inf { "large" } else { "small" };
            return Err(Error::invalid(format!("`{text}` is too {how} for type {dtype}")));
        }
    }
    Ok(item)
}

/// Refuses a text where a number is expected, and a number that would lose something.
fn refuse_loss(dtype: &DType, cell: &Cell) -> superchunk::Result<()> {
    let text = cell.text.trim();
    let is_number = matches!(dtype.kind(), DKind::Int | DKind::Uint | DKind::Float);
    let shown = || text.chars().take(40).collect::<String>();
    if cell.meant == Meant::Text && (is_number || dtype.kind() == DKind::Bool) {
        let words = format!("`{}` is a text, the column has type {dtype}", shown());
        return Err(Error::invalid(words));
    }
    match lost(dtype, text).filter(|_| is_number) {
        Some(part) => {
            let words = format!("`{}` would lose {part} in a column of type {dtype}", shown());
            Err(Error::invalid(words))
        }
        None => Ok(()),
    }
}

/// The elements of nested lists: JSON, or numbers that JSON does not have.
fn elements(text: &str) -> Vec<Cell> {
    fn collect(value: &Json, into: &mut Vec<Cell>) {
        match value {
            Json::Array(items) => items.iter().for_each(|item| collect(item, into)),
            other => into.push(Cell::of_json(Some(other))),
        }
    }
    let mut elements = Vec::new();
    match Json::parse(text) {
        Ok(list) => collect(&list, &mut elements),
        Err(_) => {
            let plain: String = text.chars().filter(|c| !matches!(c, '[' | ']')).collect();
            elements.extend(plain.split(',').map(|element| Cell::new(element.trim())));
        }
    }
    elements
}

/// The object on the next line that is not empty, whose number becomes `number`.
fn next_object(lines: &mut impl BufRead, number: &mut u64) -> Result<Option<Json>, String> {
    let mut line = String::new();
    while line.trim().is_empty() {
        line.clear();
        *number += 1;
        if lines.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
            return Ok(None);
        }
    }
    let object = Json::parse_exact(&line).map_err(|error| error.to_string())?;
    match object.as_object() {
        Some(_) => Ok(Some(object)),
        None => Err("it is no JSON object".to_owned()),
    }
}

/// The failure of reading a row: it is too long if no room is left.
fn refused(name: &str, place: &str, room: &Room, why: &str) -> Failure {
    if room.get() > 0 {
        return wrong(name, &format!("{place}: {why}"));
    }
    let words = format!("{place} is longer than the limit of memory allows");
    Error::limit(words).within(name).into()
}

fn wrong(name: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::said(Exit::Failure, format!("`{name}`: {why}"))
}

/// What a text would lose as a number of this type: then it is not meant as one.
pub(super) fn lost(dtype: &DType, text: &str) -> Option<&'static str> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let back = match dtype.item_size() {
        4 => text.parse().ok().map(|value: f32| format!("{value:.0}")),
        _ => text.parse().ok().map(|value: f64| format!("{value:.0}")),
    };
    match (dtype.kind(), digits.as_bytes()) {
        _ if text.starts_with('+') => Some("its plus sign"),
        (_, [b'0', b'0'..=b'9', ..]) => Some("its leading zero"),
        (DKind::Float, _) if is_whole && back.as_deref() != Some(text) => Some("digits"),
        _ => None,
    }
}
