//! The table: a sorted column, an unsorted one, prices and volumes, and sixteen more.
//!
//! All values are multiples of a quarter and not large, so that their sums are exact in any order.

use std::path::Path;

use superchunk_testkit::rng::Rng;

use crate::contestant::Answer;

/// A column: its name, its type as NumPy writes it, its values in little endian.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) dtype: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// The columns, and the right answers of everybody.
pub(super) struct Data {
    pub(super) rows: usize,
    pub(super) columns: Vec<Column>,
    /// Rows to be read one by one.
    pub(super) picks: Vec<usize>,
    /// The values of `day` from 40 % to 41 % of the rows.
    pub(super) days: [usize; 2],
    /// The sum of `price` and `volume` of all rows.
    pub(super) sum: f64,
    /// The sum of `price` where `day` is in `days`.
    pub(super) sorted: f64,
    /// The sum of `price` where `id` is less than [`IDS`].
    pub(super) unsorted: f64,
    /// The sum of all columns of the picks.
    pub(super) picked: f64,
}

/// Of 1,000,000 possible values of `id`.
pub(super) const IDS: usize = 10_000;
/// Seconds between two rows.
const STEP: usize = 60;

/// Values of a column as numbers that everybody can add, and how they are stored.
struct Values(String, &'static str, Vec<f64>);

/// So many rows, always the same.
pub(super) fn make(rows: usize, picks: usize) -> Data {
    let mut rng = Rng::new(7);
    let all = values(&mut rng, rows);
    let picks: Vec<usize> = (0..picks).map(|_| rng.index(rows)).collect();
    let days = [rows * 40 / 100 * STEP, rows * 41 / 100 * STEP];
    let column = |name: &str| all.iter().find(|column| column.0 == name).map(|column| &*column.2);
    let price = column("price").unwrap_or_default();
    let where_price = |name: &str, low: usize, high: usize| -> f64 {
        let keys = column(name).unwrap_or_default().iter().zip(price);
        let inside = keys.filter(|(key, _)| (low as f64..high as f64).contains(*key));
        inside.map(|(_, price)| price).sum()
    };
    let at = |row: usize| all.iter().filter_map(move |column| column.2.get(row));
    Data {
        rows,
        days,
        sum: price.iter().chain(column("volume").unwrap_or_default()).sum(),
        sorted: where_price("day", days[0], days[1]),
        unsorted: where_price("id", 0, IDS),
        picked: picks.iter().flat_map(|row| at(*row)).sum(),
        picks,
        columns: all.into_iter().map(stored).collect(),
    }
}

impl Data {
    /// The sum of `price` of the first rows.
    pub(super) fn price_of(&self, rows: usize) -> f64 {
        let price = self.columns.iter().find(|column| column.name == "price");
        let values = price.map(|column| column.bytes.chunks_exact(8)).into_iter().flatten();
        values.take(rows).filter_map(|value| number("<f8", value)).sum()
    }

    /// Writes the columns, a list of them and the picks into a folder.
    pub(super) fn save(&self, folder: &Path) -> Answer<()> {
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.join(name), bytes).map_err(|e| format!("{name}: {e}"))
        };
        std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
        let mut list = String::new();
        for column in &self.columns {
            write(&column.name, &column.bytes)?;
            list += &format!("{} {}\n", column.name, column.dtype);
        }
        let picks: Vec<String> = self.picks.iter().map(usize::to_string).collect();
        write("columns.txt", list.as_bytes())?;
        write("picks.txt", picks.join("\n").as_bytes())
    }
}

/// A stored value as a number.
pub(super) fn number(dtype: &str, bytes: &[u8]) -> Option<f64> {
    Some(match dtype {
        "<i8" => i64::from_le_bytes(bytes.try_into().ok()?) as f64,
        "<i4" => f64::from(i32::from_le_bytes(bytes.try_into().ok()?)),
        "<f4" => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
        "|u1" => f64::from(*bytes.first()?),
        _ => f64::from_le_bytes(bytes.try_into().ok()?),
    })
}

fn values(rng: &mut Rng, rows: usize) -> Vec<Values> {
    let mut all = vec![
        Values("day".into(), "<i8", (0..rows).map(|row| (row * STEP) as f64).collect()),
        Values("id".into(), "<i4", (0..rows).map(|_| rng.below(1_000_000) as f64).collect()),
        Values("price".into(), "<f8", walk(rng, rows)),
        Values("volume".into(), "<i8", counts(rng, rows)),
    ];
    for number in 0..6 {
        all.push(Values(format!("walk{number}"), "<f8", walk(rng, rows)));
    }
    for number in 0..4 {
        all.push(Values(format!("small{number}"), "<i4", counts(rng, rows)));
    }
    for number in 0..3 {
        all.push(Values(format!("large{number}"), "<i8", counts(rng, rows)));
    }
    for number in 0..2 {
        all.push(Values(format!("short{number}"), "<f4", walk(rng, rows)));
    }
    all.push(Values("kind".into(), "|u1", (0..rows).map(|_| rng.below(7) as f64).collect()));
    all
}

/// Steps of a quarter, at about 1000.
fn walk(rng: &mut Rng, rows: usize) -> Vec<f64> {
    let mut at = 1000.0;
    let mut step = || {
        at += (rng.below(9) as f64 - 4.0) / 4.0;
        at
    };
    (0..rows).map(|_| step()).collect()
}

/// Numbers of things: most are small.
fn counts(rng: &mut Rng, rows: usize) -> Vec<f64> {
    let mut count = || {
        let bits = 4 + rng.index(12);
        rng.below(1 << bits) as f64
    };
    (0..rows).map(|_| count()).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "made to fit the type")]
#[expect(clippy::cast_sign_loss, reason = "the one unsigned column has no negative values")]
fn stored(Values(name, dtype, values): Values) -> Column {
    let values = values.into_iter();
    let bytes = match dtype {
        "<i8" => values.flat_map(|value| (value as i64).to_le_bytes()).collect(),
        "<i4" => values.flat_map(|value| (value as i32).to_le_bytes()).collect(),
        "<f4" => values.flat_map(|value| (value as f32).to_le_bytes()).collect(),
        "|u1" => values.map(|value| value as u8).collect(),
        _ => values.flat_map(f64::to_le_bytes).collect(),
    };
    Column { name, dtype, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twenty_columns_and_about_one_row_of_a_hundred_is_chosen() {
        let data = make(10_000, 10);
        assert_eq!(data.columns.len(), 20);
        let size = |column: &Column| match column.dtype {
            "|u1" => 10_000,
            "<i4" | "<f4" => 40_000,
            _ => 80_000,
        };
        assert!(data.columns.iter().all(|column| column.bytes.len() == size(column)));
        assert_eq!(data.days[1] - data.days[0], 100 * STEP);
        assert!(data.unsorted > 0.0 && data.sorted > 0.0 && data.sorted < data.sum / 50.0);
    }
}
