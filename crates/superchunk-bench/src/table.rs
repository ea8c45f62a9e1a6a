//! Filters: MB/s of the columns that a condition looks at, by type and kind of condition, on one
//! thread, from memory. What is measured is the condition alone: nothing is decompressed.
//!
//! usage: `bench-table [rows]`. Every count is compared with one made row by row before it is timed.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use superchunk::DType;
use superchunk::table::{self, Column, MemoryTable, Source as _};
use superchunk_testkit::rng::Rng;

const BUDGET: Duration = Duration::from_millis(200);
/// Few rows match, so that conditions are measured and not results.
const CASES: [(&str, &[&str], Count); 18] = [
    ("i1 > 126", &["i1"], |row| row.int > 126),
    ("i2 > 126", &["i2"], |row| row.int > 126),
    ("i4 > 126", &["i4"], |row| row.int > 126),
    ("i8 > 126", &["i8"], |row| row.int > 126),
    ("u4 == 100", &["u4"], |row| row.int == 100),
    ("u8 == 100", &["u8"], |row| row.int == 100),
    ("f4 > 126.5", &["f4"], |row| row.int > 126),
    ("f8 > 126.5", &["f8"], |row| row.int > 126),
    ("b4 > 126", &["b4"], |row| row.int > 126),
    ("i8 between 3 and 4", &["i8"], |row| (3..=4).contains(&row.int)),
    ("i4 in (1, 5, 77)", &["i4"], |row| [1, 5, 77].contains(&row.int)),
    ("f8 > 100 and i4 == 3", &["f8", "i4"], |row| row.int > 100 && row.int == 3),
    ("f8 > f8b + 126", &["f8", "f8b"], |row| row.int > row.other + 126),
    ("i8 > i8b + 126", &["i8", "i8b"], |row| row.int > row.other + 126),
    ("i4 * 3 == 378", &["i4"], |row| row.int == 126),
    ("f8 is nan", &["f8"], |_| false),
    ("s8 == 'word 126'", &["s8"], |row| row.int == 126),
    ("startswith(s8, 'word 12')", &["s8"], |row| row.int / 10 == 12 || row.int == 12),
];

/// What a row holds, in all columns.
struct Row {
    int: i64,
    other: i64,
}

type Count = fn(&Row) -> bool;

fn main() -> ExitCode {
    let rows = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(2_000_000);
    match run(rows) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            say(&format!("WRONG: {reason}"));
            ExitCode::FAILURE
        }
    }
}

fn run(rows: usize) -> Result<(), String> {
    let mut rng = Rng::new(1);
    let drawn: Vec<Row> = (0..rows)
        .map(|_| {
            let mut draw = || i64::try_from(rng.below(128)).unwrap_or(0);
            Row { int: draw(), other: draw() }
        })
        .collect();
    let table = columns(&drawn).map_err(|error| error.to_string())?;
    say(&format!("{:<30}{:>10}{:>12}{:>14}", "condition", "matches", "MB/s", "million rows/s"));
    for (text, names, matches) in CASES {
        let scan = table::scan(&table).with_condition(text).map_err(|error| error.to_string())?;
        let expected = drawn.iter().filter(|row| matches(row)).count() as u64;
        let found = scan.count().map_err(|error| error.to_string())?;
        if found != expected {
            return Err(format!("{text}: {found} rows, row by row {expected}"));
        }
        let size: usize = names
            .iter()
            .filter_map(|name| table.columns().iter().find(|column| column.name == *name))
            .map(Column::row_size)
            .sum();
        let seconds = fastest(|| scan.count().map(drop).map_err(|error| error.to_string()))?;
        say(&format!(
            "{text:<30}{found:>10}{:>12.0}{:>14.0}",
            (size * rows) as f64 / 1e6 / seconds,
            rows as f64 / 1e6 / seconds
        ));
    }
    Ok(())
}

fn columns(rows: &[Row]) -> superchunk::Result<MemoryTable> {
    let small = |value: i64| i8::try_from(value).unwrap_or(0);
    let ints: Vec<i64> = rows.iter().map(|row| row.int).collect();
    let other: Vec<i64> = rows.iter().map(|row| row.other).collect();
    let word = |value: &i64| {
        let mut text = format!("word {value}").into_bytes();
        text.resize(8, 0);
        text
    };
    let text = Column::new("s8", DType::parse("S8")?);
    let big = Column::new("b4", DType::parse(">i4")?);
    let narrow: Vec<i8> = ints.iter().map(|x| small(*x)).collect();
    let wide: Vec<i32> = narrow.iter().map(|x| i32::from(*x)).collect();
    let turned = wide.iter().flat_map(|x| x.to_be_bytes()).collect();
    MemoryTable::new()
        .with_values("i1", &narrow)?
        .with_values("i2", &narrow.iter().map(|x| i16::from(*x)).collect::<Vec<_>>())?
        .with_values("i4", &wide)?
        .with_values("i8", &ints)?
        .with_values("u4", &narrow.iter().map(|x| u32::from(x.unsigned_abs())).collect::<Vec<_>>())?
        .with_values("u8", &narrow.iter().map(|x| u64::from(x.unsigned_abs())).collect::<Vec<_>>())?
        .with_values("f4", &narrow.iter().map(|x| f32::from(*x)).collect::<Vec<_>>())?
        .with_values("f8", &narrow.iter().map(|x| f64::from(*x)).collect::<Vec<_>>())?
        .with_values("f8b", &other.iter().map(|x| f64::from(small(*x))).collect::<Vec<_>>())?
        .with_values("i8b", &other)?
        .with_column(big, turned)?
        .with_column(text, ints.iter().flat_map(word).collect())
}

/// The shortest of several runs, in seconds.
fn fastest(mut work: impl FnMut() -> Result<(), String>) -> Result<f64, String> {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while best.is_infinite() || start.elapsed() < BUDGET {
        let begin = Instant::now();
        work()?;
        best = best.min(begin.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn say(line: &str) {
    // A closed pipe is no reason to stop.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
