//! Makes a table that bcolz can open, and asks it for rows, sums and groups.

#![expect(clippy::print_stdout, reason = "the example shows what it finds")]

use std::error::Error;

use superchunk::bcolz::{ArrayOptions, Table, TableOptions};
use superchunk::bytemuck::cast_slice;
use superchunk::table::{self, Aggregate, Measure};

/// Makes and scans a table.
pub fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("quotes-{}.bcolz", std::process::id()));
    let days: Vec<u32> = (0..100_000).map(|row| row / 100).collect();
    let volumes: Vec<u64> = (0..100_000).map(|row| row % 100 * 1000).collect();

    // With bounds, a scan skips chunks in which no row can match.
    let options = TableOptions::new()
        .with_column("day", ArrayOptions::of::<u32>())
        .with_column("volume", ArrayOptions::of::<u64>())
        .with_bounds();
    let mut quotes = Table::create(&path, &options)?;
    quotes.append(&[("day", cast_slice(&days)), ("volume", cast_slice(&volumes))])?;
    quotes.close()?; // all columns in one step

    let quotes = Table::open(&path)?;
    let source = quotes.source();
    let busy = table::scan(&source).with_condition("day == 500 and volume >= 98e3")?;
    for batch in busy.batches()? {
        let batch = batch?;
        println!("rows {:?}", batch.row_numbers().collect::<Vec<_>>());
        assert_eq!(batch.values::<u64>("volume")?, [98_000, 99_000]);
    }
    let by_day = table::scan(&source)
        .with_condition("day < 3")?
        .group_by(&["day"], &[Aggregate::new(Measure::Sum, "volume")])?;
    assert_eq!(table::scan(&by_day).count()?, 3);

    std::fs::remove_dir_all(path)?;
    Ok(())
}
