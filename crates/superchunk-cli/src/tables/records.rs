//! Rows that come as text: CSV with headings, or an object of JSON on each line.

use std::cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use superchunk::table::{Column, parse_item};
use superchunk::{DKind, DType, Error, Json, JsonStyle};

use super::text_width::{length, room};
use crate::failure::{Exit, Failure, Outcome};
use crate::memory::Memory;
use crate::text_form::TextForm;

/// Rows as they come.
pub(super) struct Records {
    name: String,
    /// The headings; those of JSON are the keys of the first object.
    pub(super) names: Vec<String>,
    reader: Reader,
    row: u64,
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
    /// Whether it is a text in JSON, and so not a number, whatever it looks like.
    pub(super) is_text: bool,
}

impl Cell {
    /// A cell that can be anything.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_text: false }
    }

    /// A value of JSON; null is an empty cell.
    fn of_json(value: Option<&Json>) -> Self {
        match value {
            None | Some(Json::Null) => Self::new(""),
            Some(Json::Str(text)) => Self { text: text.clone(), is_text: true },
            Some(other) => match other.get("$float") {
                Some(Json::Str(text)) => Self::new(text),
                _ => Self::new(other.to_text(JsonStyle::Compact)),
            },
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
    Csv(Box<csv::Reader<Bounded>>),
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
            TextForm::Csv => Reader::Csv(Box::new(csv::Reader::from_reader(input))),
            TextForm::Jsonl => Reader::Jsonl { lines: BufReader::new(input), first: None },
        };
        let (names, advice) = (Vec::new(), Advice::APPEND);
        let mut records =
            Self { name, names, reader, row: 0, is_strict: false, advice, room, most };
        records.read_names()?;
        Ok(records)
    }

    fn read_names(&mut self) -> Outcome {
        match &mut self.reader {
            Reader::Csv(reader) => {
                let headings = reader.headers();
                let headings =
                    headings.map_err(|error| refused(&self.name, 0, &self.room, &error))?;
                self.names = headings.iter().map(|name| name.trim().to_owned()).collect();
            }
            Reader::Jsonl { lines, first } => {
                *first = next_object(lines, &self.name, 1, &self.room)?;
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
                let mut record = csv::StringRecord::new();
                let found = reader.read_record(&mut record);
                let found =
                    found.map_err(|error| refused(&self.name, self.row, &self.room, &error))?;
                Ok(found.then(|| record.iter().map(Cell::new).collect()))
            }
            Reader::Jsonl { lines, first } => {
                let object = match first.take() {
                    Some(object) => Some(object),
                    None => next_object(lines, &self.name, self.row, &self.room)?,
                };
                let Some(object) = object else { return Ok(None) };
                let entries = object.as_object().unwrap_or_default();
                let known = |name: &String| self.names.contains(name);
                if let Some((name, _)) = entries.iter().find(|(name, _)| !known(name)) {
                    let words = format!("row {} has a `{name}`, the first one has not", self.row);
                    return Err(wrong(&self.name, &words));
                }
                Ok(Some(self.names.iter().map(|name| Cell::of_json(object.get(name))).collect()))
            }
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
            let text = cell.text.as_str();
            let bytes = row_bytes(column, cell, self.is_strict).map_err(|error| {
                let words = format!("row {}, column `{}`: {error}", self.row, column.name);
                let is_too_long =
                    room(&column.dtype).is_some_and(|room| room < longest(column, text));
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
                *widest = longest(column, &cell.text).max(*widest);
            }
        }
    }
}

/// The room that the longest text of a cell needs.
fn longest(column: &Column, text: &str) -> usize {
    match column.row_shape.is_empty() {
        true => length(&column.dtype, text),
        false => {
            let lengths = elements(text).into_iter().map(|item| length(&column.dtype, &item.text));
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
        parse_item(&column.dtype, &cell.text)
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

/// Refuses a text where a number is expected, and a number that would lose something.
fn refuse_loss(dtype: &DType, cell: &Cell) -> superchunk::Result<()> {
    let text = cell.text.trim();
    let is_number = matches!(dtype.kind(), DKind::Int | DKind::Uint | DKind::Float);
    let shown = || text.chars().take(40).collect::<String>();
    if cell.is_text && (is_number || dtype.kind() == DKind::Bool) {
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

fn next_object(
    lines: &mut impl BufRead,
    name: &str,
    row: u64,
    room: &Room,
) -> Outcome<Option<Json>> {
    let mut line = String::new();
    while line.trim().is_empty() {
        line.clear();
        let read = lines.read_line(&mut line);
        if read.map_err(|error| refused(name, row, room, &error))? == 0 {
            return Ok(None);
        }
    }
    let object = Json::parse(&line).map_err(|error| wrong(name, &format!("row {row}: {error}")))?;
    match object.as_object() {
        Some(_) => Ok(Some(object)),
        None => Err(wrong(name, &format!("row {row} is no JSON object"))),
    }
}

/// The failure of reading a row, the headings being row 0: it is too long if no room is left.
fn refused(name: &str, row: u64, room: &Room, error: &dyn std::fmt::Display) -> Failure {
    if room.get() > 0 {
        return wrong(name, error);
    }
    Error::limit(format!("row {row} is longer than the limit of memory allows")).within(name).into()
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
