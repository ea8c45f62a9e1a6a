//! Scans that own or share their table: they outlive whoever opened it, and move to other threads.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::thread;

use bytemuck::cast_slice;
use superchunk::store::{Dir, MemoryFolder};
use superchunk::table::{self, Batches, MemoryTable, Scan, Source};
use superchunk::{DType, OpenOptions, bcolz, blsk};

const ROWS: u32 = 250_000;

fn bcolz_table() -> bcolz::Table {
    let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let options = bcolz::TableOptions::new()
        .with_column("n", bcolz::ArrayOptions::of::<u32>())
        .with_column("twice", bcolz::ArrayOptions::of::<u64>());
    let mut table = bcolz::Table::create_in_dir(Arc::clone(&dir), &options).unwrap();
    let (n, twice) = columns();
    table.append(&[("n", cast_slice(&n)), ("twice", cast_slice(&twice))]).unwrap();
    table.close().unwrap();
    bcolz::Table::open_in_dir(dir, &OpenOptions::new()).unwrap()
}

fn blsk_table() -> blsk::Table {
    let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let columns_of = [("n", DType::of::<u32>()), ("twice", DType::of::<u64>())];
    let options = blsk::Options::default();
    let made = blsk::Table::create_in_dir(Arc::clone(&dir), &columns_of, &[], &options);
    let mut table = made.unwrap();
    let (n, twice) = columns();
    table.append(&[("n", cast_slice(&n)), ("twice", cast_slice(&twice))]).unwrap();
    table.close().unwrap();
    blsk::Table::open_in_dir(dir, &OpenOptions::new()).unwrap()
}

fn columns() -> (Vec<u32>, Vec<u64>) {
    ((0..ROWS).collect(), (0..ROWS).map(|n| 2 * u64::from(n)).collect())
}

/// Batches that have begun, of a table that only they know.
fn begun(source: impl Source + 'static) -> Batches<'static> {
    let scan = table::scan(source).with_columns(["twice"]).with_condition("n % 1000 == 7").unwrap();
    let mut batches = scan.with_batch_rows(10).batches().unwrap();
    assert_eq!(batches.next().unwrap().unwrap().values::<u64>("twice").unwrap()[..2], [14, 2014]);
    batches
}

#[test]
fn batches_outlive_the_function_that_opened_the_table_and_move_to_another_thread() {
    let memory = MemoryTable::new();
    let (n, twice) = columns();
    let memory = memory.with_values("n", &n).and_then(|table| table.with_values("twice", &twice));
    let boxed: Box<dyn Source> = Box::new(memory.unwrap());
    let all = [begun(bcolz_table().into_source()), begun(blsk_table().into_source()), begun(boxed)];
    for batches in all {
        let rest = thread::spawn(move || -> Vec<u64> {
            batches.flat_map(|batch| batch.unwrap().values::<u64>("twice").unwrap()).collect()
        });
        let expected: Vec<u64> = (10..250).map(|place| 2 * (1000 * place + 7)).collect();
        assert_eq!(rest.join().unwrap(), expected);
    }
}

#[test]
fn a_shared_table_is_scanned_by_several_threads_and_still_read_by_its_owner() {
    let table = Arc::new(bcolz_table());
    let source: Arc<dyn Source> = Arc::new(bcolz::TableSource::new(Arc::clone(&table)));
    let scans: Vec<Scan<'static>> = (0..3)
        .map(|rest| format!("n % 3 == {rest}"))
        .map(|text| table::scan(Arc::clone(&source)).with_condition(&text).unwrap())
        .collect();
    drop(source);
    let counts = scans.into_iter().map(|scan| thread::spawn(move || scan.count().unwrap()));
    let counts: Vec<_> = counts.collect();
    assert_eq!(table.array("n").unwrap().read::<u32>(5..7).unwrap(), [5, 6]);
    let sum: u64 = counts.into_iter().map(|count| count.join().unwrap()).sum();
    assert_eq!(sum, u64::from(ROWS));
}
