//! What goes to stdout: text, tables, JSON documents, bytes.

use std::io::{self, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use superchunk::Value;

use crate::failure::{Failure, Outcome};

/// The number of the JSON documents' description in `docs/cli.md`. It changes when a key changes its
/// meaning or goes; new keys do not change it.
const SCHEMA: u64 = 1;

/// Whether something was written to stdout.
static WRITTEN: AtomicBool = AtomicBool::new(false);
/// How many bytes are collected before they are written.
const GATHERED: usize = 1 << 20;

/// Whether nothing was written to stdout yet, so that a command can be repeated.
pub(crate) fn is_untouched() -> bool {
    !WRITTEN.load(Ordering::Relaxed)
}

/// Writes text to stdout.
pub(crate) fn print(text: &str) -> Outcome {
    let mut out = stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::stdout)
}

/// Stdout for many small writes. What is not flushed when this is dropped is not written: a command
/// that fails before it has shown much shows nothing, and can be repeated.
pub(crate) fn text() -> Gathered {
    Gathered { gathered: Vec::new(), out: stdout() }
}

/// Bytes on their way to stdout.
pub(crate) struct Gathered {
    gathered: Vec<u8>,
    out: Stdout,
}

impl Write for Gathered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= GATHERED {
            self.out.write_all(&self.gathered)?;
            self.gathered.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.gathered)?;
        self.gathered.clear();
        self.out.flush()
    }
}

/// Stdout that remembers whether it was used.
struct Stdout(StdoutLock<'static>);

fn stdout() -> Stdout {
    Stdout(io::stdout().lock())
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        WRITTEN.store(true, Ordering::Relaxed);
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Stdout for bytes, which are not for the eyes.
pub(crate) fn binary() -> Outcome<Gathered> {
    if io::stdout().is_terminal() {
        let words = "these are bytes, and stdout is a terminal";
        return Err(
            Failure::usage(words).with_help("write them to a file with -o FILE, or to a pipe")
        );
    }
    Ok(text())
}

/// A JSON document.
#[derive(Debug)]
pub(crate) struct Document(Vec<(Value, Value)>);

impl Document {
    /// The document of a command.
    pub(crate) fn new(command: &str) -> Self {
        Self(Vec::new()).with("schema", SCHEMA).with("command", command)
    }

    /// The same with one key more.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.push((key.into(), value.into()));
        self
    }

    /// The same with one key more, if there is a value.
    pub(crate) fn with_some(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// The same with one key more, null if there is no value.
    pub(crate) fn with_or_null(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        let value = value.map_or(Value::Nil, Into::into);
        self.with(key, value)
    }

    /// Writes it to stdout, on one line, with one key more, whose items are made one by one: there
    /// may be millions of them.
    pub(crate) fn print_list(
        self,
        key: &str,
        mut items: impl Iterator<Item = Outcome<Value>>,
    ) -> Outcome {
        self.print_lists([(key, &mut items)])
    }

    /// The same with several such keys.
    pub(crate) fn print_lists<const N: usize>(
        self,
        lists: [(&str, &mut dyn Iterator<Item = Outcome<Value>>); N],
    ) -> Outcome {
        let mut out = text();
        let start = Value::Map(self.0).to_json();
        let mut put = |text: &str| out.write_all(text.as_bytes()).map_err(Failure::stdout);
        put(start.strip_suffix('}').unwrap_or(&start))?;
        for (key, items) in lists {
            put(&format!(", {}: [", Value::from(key).to_json()))?;
            for (number, item) in items.enumerate() {
                put(if number == 0 { "" } else { ", " })?;
                put(&item?.to_json())?;
            }
            put("]")?;
        }
        put("}\n")?;
        out.flush().map_err(Failure::stdout)
    }

    /// The same as a part of another one.
    pub(crate) fn into_part(self) -> Value {
        let is_of_whole = |key: &Value| matches!(key.as_str(), Some("schema" | "command"));
        Value::Map(self.0.into_iter().filter(|(key, _)| !is_of_whole(key)).collect())
    }

    /// Writes it to stdout, on one line.
    pub(crate) fn print(self) -> Outcome {
        print(&format!("{}\n", Value::Map(self.0).to_json()))
    }
}

/// A part of a document.
pub(crate) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// A path: text, or its bytes where it is not UTF-8.
pub(crate) fn path_value(path: &Path) -> Value {
    match path.to_str() {
        Some(text) => text.into(),
        None => Value::Bin(path.as_os_str().as_encoded_bytes().to_vec()),
    }
}

/// A list of numbers.
pub(crate) fn numbers(items: impl IntoIterator<Item = u64>) -> Value {
    Value::Array(items.into_iter().map(Value::from).collect())
}

/// A list of texts.
pub(crate) fn texts(items: impl IntoIterator<Item = String>) -> Value {
    Value::Array(items.into_iter().map(Value::from).collect())
}

/// A number with few digits, for ratios and speeds.
pub(crate) fn rounded(value: f64) -> Value {
    Value::Float((value * 1000.0).round() / 1000.0)
}

/// How many times smaller something has become.
pub(crate) fn ratio(nbytes: u64, cbytes: u64) -> f64 {
    nbytes as f64 / cbytes.max(1) as f64
}

/// The rows of a table that are held in memory.
const ROWS_AT_ONCE: usize = 10_000;

/// The width of a column, and whether it has numbers.
type Shape = (usize, bool);

/// A table with its columns lined up: text to the left, numbers to the right.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self { rows: vec![headings.map(str::to_owned).to_vec()] }
    }

    /// One more line.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    /// Writes a table to stdout whose rows are made one by one: there may be millions of them. The
    /// first ones decide how wide its columns are.
    pub(crate) fn print_rows<const N: usize>(
        headings: [&str; N],
        rows: impl Iterator<Item = Outcome<[String; N]>>,
    ) -> Outcome {
        let (mut out, mut table) = (text(), Self::new(headings));
        let mut shapes = None;
        for row in rows {
            table.row(row?);
            if table.rows.len() > ROWS_AT_ONCE {
                table.write(&mut shapes, &mut out)?;
            }
        }
        table.write(&mut shapes, &mut out)?;
        out.flush().map_err(Failure::stdout)
    }

    /// Writes the rows so far, and forgets them.
    fn write(&mut self, shapes: &mut Option<Vec<Shape>>, out: &mut impl Write) -> Outcome {
        let shapes = shapes.get_or_insert_with(|| self.shapes());
        out.write_all(self.lines(shapes).as_bytes()).map_err(Failure::stdout)?;
        self.rows.clear();
        Ok(())
    }

    /// The lines as text.
    pub(crate) fn render(&self) -> String {
        self.lines(&self.shapes())
    }

    /// How wide each column is, and whether it has numbers.
    fn shapes(&self) -> Vec<Shape> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let column = |at: usize| self.rows.iter().filter_map(move |row| row.get(at));
        let width = |at| column(at).map(|cell| cell.chars().count()).max().unwrap_or(0);
        let is_number = |at| column(at).skip(1).all(|cell| looks_like_a_number(cell));
        (0..columns).map(|at| (width(at), is_number(at))).collect()
    }

    fn lines(&self, shapes: &[Shape]) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(shapes).map(|(cell, (width, is_number))| match is_number {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

fn looks_like_a_number(cell: &str) -> bool {
    cell.is_empty()
        || cell == "-"
        || cell.chars().next().is_some_and(|first| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_line_up() {
        let mut table = Table::new(["codec", "ratio"]);
        table.row(["lz4".into(), "12.5".into()]);
        table.row(["zstd".into(), "7".into()]);
        assert_eq!(table.render(), "codec  ratio\nlz4     12.5\nzstd       7\n");
    }
}
