//! What scans read, and what they leave.

use std::sync::Mutex;

use super::*;
use crate::dtype::DType;
use crate::error::ErrorKind;
use crate::table::{Bounds, Column};

const ROWS: u64 = 200_000;
const CHUNK: u64 = 10_000;

/// A source that writes down what is read of it.
struct Watched {
    table: MemoryTable,
    reads: Mutex<Vec<(usize, Range<u64>)>>,
}

impl Source for Watched {
    fn rows(&self) -> u64 {
        self.table.rows()
    }
    fn columns(&self) -> &[Column] {
        self.table.columns()
    }
    fn read(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.reads.lock().unwrap().push((column, rows.clone()));
        self.table.read(column, rows, dst)
    }
    fn bounds(&self, column: usize, chunk: u64) -> Option<Bounds> {
        self.table.bounds(column, chunk)
    }
}

impl Watched {
    /// Row numbers, their remainders, and thirds of them; in chunks of different lengths.
    fn new() -> Self {
        let bytes = |values: &mut dyn Iterator<Item = u64>| -> Vec<u8> {
            values.flat_map(u64::to_ne_bytes).collect()
        };
        let column = |name: &str, rows| Column::new(name, DType::of::<u64>()).with_chunk_rows(rows);
        let table = MemoryTable::new()
            .with_column(column("n", CHUNK), bytes(&mut (0..ROWS)))
            .and_then(|t| {
                t.with_column(column("rest", CHUNK), bytes(&mut (0..ROWS).map(|n| n % 1000)))
            })
            .and_then(|t| {
                t.with_column(column("third", 3 * CHUNK), bytes(&mut (0..ROWS).map(|n| n / 3)))
            })
            .and_then(MemoryTable::with_bounds)
            .unwrap();
        Self { table, reads: Mutex::default() }
    }

    fn read_of(&self, column: usize) -> Vec<Range<u64>> {
        let reads = self.reads.lock().unwrap();
        reads.iter().filter(|(of, _)| *of == column).map(|(_, rows)| rows.clone()).collect()
    }
}

#[test]
fn chunks_that_cannot_match_are_not_read() {
    let source = Watched::new();
    let mut batches = scan(&source)
        .with_columns(["rest"])
        .with_condition("n >= 55_000 and n < 55_010")
        .unwrap()
        .batches()
        .unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none());
    assert_eq!(batch.values::<u64>("rest").unwrap(), (0..10).collect::<Vec<_>>());
    assert_eq!((batch.first_row(), batch.len()), (55_000, 10));
    assert!(source.read_of(0).iter().eq(&[50_000..60_000; 1]));
    assert!(source.read_of(1).iter().eq(&[55_000..55_010; 1]));
    assert!(source.read_of(2).is_empty());
    let stats = batches.stats();
    assert_eq!((stats.rows_skipped, stats.rows_tested), (ROWS - CHUNK, CHUNK));
    assert_eq!((stats.rows_selected, stats.rows_gathered), (10, 10));
}

#[test]
fn chunks_that_match_whole_are_not_tested() {
    let source = Watched::new();
    let filter = scan(&source).with_condition("n < 25_000 or n >= 190_000").unwrap();
    assert_eq!(filter.count().unwrap(), 35_000);
    assert!(source.read_of(0).iter().eq(&[20_000..30_000; 1]));
}

#[test]
fn a_second_condition_is_read_only_where_the_first_holds() {
    let source = Watched::new();
    let never = scan(&source).with_condition("rest == 5000 and third * 2 == 8").unwrap();
    assert_eq!(never.count().unwrap(), 0);
    // 5000 is above all bounds.
    assert!(source.reads.lock().unwrap().is_empty());
    let never = scan(&source).with_condition("rest * 2 == 1 and third * 2 == 8").unwrap();
    assert_eq!(never.count().unwrap(), 0);
    assert!(source.read_of(2).is_empty());
}

#[test]
fn columns_of_the_condition_are_read_once() {
    let source = Watched::new();
    let few = scan(&source)
        .with_columns(["n", "rest"])
        .with_condition("n * 1 >= 0 and rest == 7")
        .unwrap();
    let table = few.to_table().unwrap();
    assert_eq!(table.rows(), ROWS / 1000);
    let lengths: u64 = source.read_of(0).iter().map(|rows| rows.end - rows.start).sum();
    assert_eq!(lengths, ROWS);
}

#[test]
fn results_do_not_depend_on_batches_threads_or_bounds() {
    let source = Watched::new();
    let bare = MemoryTable::new()
        .with_column(Column::new("n", DType::of::<u64>()), source.table.bytes(0).unwrap().to_vec())
        .and_then(|t| {
            let rest = source.table.bytes(1).unwrap().to_vec();
            t.with_column(Column::new("rest", DType::of::<u64>()), rest)
        })
        .unwrap();
    let text = "(n between 30_000 and 99_999 or n > 170_001) and rest % 7 == 3";
    let expected: Vec<u64> = (0..ROWS)
        .filter(|n| ((30_000..=99_999).contains(n) || *n > 170_001) && n % 1000 % 7 == 3)
        .collect();
    assert_eq!(scan(&bare).with_condition(text).unwrap().row_numbers().unwrap(), expected);
    for (batch_rows, threads) in [(1000, 1), (65_536, 3), (7, 2)] {
        let scan = scan(&source).with_condition(text).unwrap();
        let scan = scan
            .with_batch_rows(batch_rows)
            .with_executor(Executor::threads(threads))
            .with_columns(["n"]);
        let mut found = Vec::new();
        for batch in scan.batches().unwrap() {
            let batch = batch.unwrap();
            assert!(batch.len() <= batch_rows);
            assert!(batch.row_numbers().eq(batch.values::<u64>("n").unwrap()));
            found.extend(batch.row_numbers());
        }
        assert!(found == expected, "{batch_rows} {threads}");
    }
}

#[test]
fn ranges_limits_and_skips_cut_the_result() {
    let source = Watched::new();
    let numbers = |scan: Scan<'_>| scan.row_numbers().unwrap();
    assert_eq!(numbers(scan(&source).with_rows(5..9)), [5, 6, 7, 8]);
    let sevens = || scan(&source).with_condition("rest == 7").unwrap();
    assert_eq!(numbers(sevens().with_skip(2).with_limit(3)), [2007, 3007, 4007]);
    assert_eq!(numbers(sevens().with_rows(3000..5000)), [3007, 4007]);
    assert_eq!(numbers(sevens().with_skip(199)), [199_007]);
    assert!(numbers(sevens().with_skip(1000)).is_empty());
    assert!(numbers(sevens().with_limit(0)).is_empty());
    assert_eq!(scan(&source).with_skip(10).with_limit(5).to_table().unwrap().rows(), 5);
    let outside = scan(&source).with_rows(0..ROWS + 1).batches().err().unwrap();
    assert_eq!(outside.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_limit_stops_reading() {
    let source = Watched::new();
    let first = scan(&source).with_columns(["third"]).with_limit(3).to_table().unwrap();
    assert_eq!(first.rows(), 3);
    assert!(source.read_of(2).iter().eq(&[0..3; 1]));
    let head = scan(&source)
        .with_condition("rest * 2 == 14")
        .unwrap()
        .with_limit(1)
        .row_numbers()
        .unwrap();
    assert_eq!(head, [7]);
    assert_eq!(source.read_of(1).len(), 1);
}

#[test]
fn errors_are_told_and_end_the_scan() {
    let source = Watched::new();
    let unknown = scan(&source).with_columns(["thrid"]).batches().err().unwrap();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
    assert!(unknown.to_string().contains("did you mean `third`"));
    let small = Limits::default().with_max_decoded(1000);
    let mut batches = scan(&source).with_limits(small).batches().unwrap();
    assert_eq!(batches.next().unwrap().unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert!(batches.next().is_none());
    let first = scan(&source).with_condition("n > 1").unwrap();
    assert_eq!(first.clone().with_condition("n < 4").unwrap().count().unwrap(), 2);
    let second = Expr::parse("n < 4").unwrap();
    assert_eq!(first.clone().with_filter(second).count().unwrap(), 2);
    let wrong = first.with_condition("n <").err().unwrap();
    assert_eq!(wrong.place().unwrap().offset, Some(3));
    let batch = scan(&source).with_limit(1).batches().unwrap().next().unwrap().unwrap();
    assert!(batch.values::<u32>("n").unwrap_err().to_string().contains("not <u4"));
    assert!(batch.column("m").is_err());
    assert_eq!(batch.columns()[1].format_row(0).unwrap(), "0");
}
