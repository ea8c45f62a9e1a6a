//! How a column is shown: `NAME`, `NAME/DIVISOR`, `NAME*FACTOR` or `NAME:TYPE`.
//!
//! Stored numbers often stand for others: prices in thousandths, days as seconds since 1970. Division
//! and products are decimal roundings of the exact result, so that 12345/1000 is shown as 12.345.

use superchunk::table::{Column, ColumnData};
use superchunk::{DKind, DType, Value};

use super::no_column;
use crate::failure::{Failure, Outcome};
use crate::values::{Escape, csv_text, parse_dtype};

/// A column to be shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColumnView {
    /// The column that is read.
    pub(crate) name: String,
    /// Its heading.
    pub(crate) heading: String,
    change: Change,
}

/// What is shown instead of the stored value.
#[derive(Clone, Debug, PartialEq)]
enum Change {
    None,
    Divide(f64),
    Multiply(f64),
    As(DType),
}

impl ColumnView {
    /// All columns, as they are.
    pub(crate) fn all(columns: &[Column]) -> Vec<Self> {
        columns.iter().map(|column| Self::plain(&column.name)).collect()
    }

    /// What was typed behind `--cols`. A column that really has such a name wins.
    pub(crate) fn parse(text: &str, columns: &[Column]) -> Outcome<Vec<Self>> {
        text.split(',').map(|part| Self::parse_one(part.trim(), columns)).collect()
    }

    fn plain(name: &str) -> Self {
        Self { name: name.to_owned(), heading: name.to_owned(), change: Change::None }
    }

    fn parse_one(text: &str, columns: &[Column]) -> Outcome<Self> {
        let find = |name: &str| columns.iter().find(|column| column.name == name.trim());
        if find(text).is_some() {
            return Ok(Self::plain(text));
        }
        for sign in ['/', '*', ':'] {
            let Some((name, operand)) = text.rsplit_once(sign) else { continue };
            let Some(column) = find(name) else { continue };
            let change = match sign {
                ':' => Change::As(fitting(column, operand.trim())?),
                '/' => match number(text, column, sign, operand)? {
                    0.0 => return Err(Failure::usage(format!("--cols {text} divides by zero"))),
                    by => Change::Divide(by),
                },
                _ => Change::Multiply(number(text, column, sign, operand)?),
            };
            return Ok(Self { name: column.name.clone(), heading: column.name.clone(), change });
        }
        Err(no_column(text, columns))
    }

    /// Whether its values are numbers.
    pub(crate) fn is_number(&self, column: &Column) -> bool {
        let kind = match &self.change {
            Change::As(dtype) => dtype.kind(),
            _ => column.dtype.kind(),
        };
        column.row_shape.is_empty() && matches!(kind, DKind::Int | DKind::Uint | DKind::Float)
    }

    /// A row as JSON.
    pub(crate) fn json(&self, data: &ColumnData, row: usize) -> String {
        match &self.change {
            Change::None => data.row_to_json(row).unwrap_or_default(),
            Change::As(dtype) => self.changed(data, row, dtype, |item| dtype.to_json(item, &[])),
            Change::Divide(_) | Change::Multiply(_) => {
                let text = self.text(data, row);
                let value = text.parse::<f64>().unwrap_or(f64::NAN);
                if value.is_finite() { text } else { Value::from(value).to_json() }
            }
        }
    }

    /// A row as a cell of CSV.
    pub(crate) fn csv(
        &self,
        data: &ColumnData,
        row: usize,
        escape: Escape,
    ) -> superchunk::Result<String> {
        match &self.change {
            Change::None => {
                let bytes = data.row(row).unwrap_or_default();
                csv_text(data.dtype(), bytes, data.row_shape(), escape)
            }
            _ => Ok(self.text(data, row)),
        }
    }

    /// A row as text for people.
    pub(crate) fn text(&self, data: &ColumnData, row: usize) -> String {
        let plain = || data.format_row(row).unwrap_or_default();
        match &self.change {
            Change::None => plain(),
            Change::As(dtype) => self.changed(data, row, dtype, |item| dtype.format_item(item)),
            Change::Divide(by) => {
                plain().parse::<f64>().map_or_else(|_| plain(), |v| shown(v / by))
            }
            Change::Multiply(by) => {
                plain().parse::<f64>().map_or_else(|_| plain(), |v| shown(v * by))
            }
        }
    }

    /// A row as an item of another type.
    fn changed(
        &self,
        data: &ColumnData,
        row: usize,
        dtype: &DType,
        text: impl Fn(&[u8]) -> String,
    ) -> String {
        let wide = data.row(row).map(|item| widened(data.dtype(), item, dtype.item_size()));
        wide.map_or_else(String::new, |item| text(&item))
    }
}

/// A number with the digits that twelve places give, and no more.
fn shown(value: f64) -> String {
    let rounded = format!("{value:.12e}").parse::<f64>().unwrap_or(value);
    format!("{rounded}")
}

fn number(text: &str, column: &Column, sign: char, operand: &str) -> Outcome<f64> {
    let is_number = matches!(column.dtype.kind(), DKind::Int | DKind::Uint | DKind::Float);
    if !is_number || !column.row_shape.is_empty() {
        let words = format!("--cols {text}: column `{}` holds no single numbers", column.name);
        return Err(Failure::usage(words));
    }
    let value = operand.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| {
        let words = format!("--cols {text}: expected a number after `{sign}`, got `{operand}`");
        Failure::usage(words)
            .with_help("NAME/1000 and NAME*0.01 show other numbers than are stored")
    })
}

/// A type that integers of a column can be shown as.
fn fitting(column: &Column, text: &str) -> Outcome<DType> {
    let dtype = parse_dtype(text)?;
    let stored = &column.dtype;
    let is_integer = matches!(stored.kind(), DKind::Int | DKind::Uint);
    let wider = is_integer && dtype.item_size() >= stored.item_size();
    if column.row_shape.is_empty() && (wider || dtype.item_size() == stored.item_size()) {
        return Ok(dtype);
    }
    let words = format!("values of type {stored} cannot be shown as {dtype}");
    Err(Failure::usage(words)
        .with_help("the other type must have the same size, or more for integers"))
}

/// An integer in more bytes, in the order of this machine's types as they are parsed.
fn widened(stored: &DType, item: &[u8], size: usize) -> Vec<u8> {
    if item.len() >= size {
        return item.to_vec();
    }
    let mut item = item.to_vec();
    if stored.byte_order() == superchunk::ByteOrder::Big {
        item.reverse();
    }
    let negative = stored.kind() == DKind::Int && item.last().is_some_and(|byte| *byte >= 0x80);
    item.resize(size, if negative { 0xff } else { 0 });
    item
}

#[cfg(test)]
mod tests {
    use super::*;
    use superchunk::table::{MemoryTable, scan};

    fn texts(view: &str, table: &MemoryTable) -> Vec<String> {
        let columns = superchunk::table::Source::columns(table).to_vec();
        let views = ColumnView::parse(view, &columns).unwrap();
        let batch = scan(table).batches().unwrap().next().unwrap().unwrap();
        let data = batch.column(&views[0].name).unwrap();
        (0..batch.len()).map(|row| views[0].text(data, row)).collect()
    }

    #[test]
    fn thousandths_and_days_are_shown_as_what_they_mean() {
        let table = MemoryTable::new()
            .with_values("close", &[12_345u32, 100, 7])
            .unwrap()
            .with_values("day", &[0u32, 86_400, 1_451_865_600])
            .unwrap();
        assert_eq!(texts("close/1000", &table), ["12.345", "0.1", "0.007"]);
        assert_eq!(texts("close*0.001", &table), ["12.345", "0.1", "0.007"]);
        assert_eq!(texts("close", &table), ["12345", "100", "7"]);
        let days = texts("day:datetime64[s]", &table);
        assert_eq!(days, ["1970-01-01T00:00:00", "1970-01-02T00:00:00", "2016-01-04T00:00:00"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let table = MemoryTable::new().with_values("x", &[1.5f64]).unwrap();
        let columns = superchunk::table::Source::columns(&table);
        for text in ["y", "x/", "x/a", "x:<f4", "x:no", "y/2"] {
            assert!(ColumnView::parse(text, columns).is_err(), "{text}");
        }
    }
}
