//! Trees of the carray proposal (`blsk`): tables that grow, shrink and are changed in place.

use std::sync::Arc;

use superchunk::blsk::{Reserve, Table, TableOptions, TreeOptions};
use superchunk::store::Dir;
use superchunk::{DType, OpenOptions, Result};
use superchunk_testkit::crash::{Disk, Effort, Findings, explore, seeds};
use superchunk_testkit::rng::Rng;

/// The rows of both columns, and the attribute.
type Plain = (Vec<Vec<u8>>, Option<String>);

const COLUMNS: [&str; 2] = ["a", "g/b"];
const ROWS: [usize; 2] = [4, 8];

fn plain_of(table: &Table) -> Result<Plain> {
    let read = |column: usize| {
        let mut bytes = vec![0; table.row_count() as usize * ROWS[column]];
        table.read_rows(COLUMNS[column], 0..table.row_count(), &mut bytes).map(|()| bytes)
    };
    let attribute = table.attribute("note").and_then(|attribute| attribute.as_text());
    Ok(((0..2).map(read).collect::<Result<_>>()?, attribute))
}

/// What a reader finds, and what a writer leaves to the next reader: it must be the same.
fn read(dir: Arc<dyn Dir>) -> Result<Plain> {
    let first = plain_of(&Table::open_in_dir(dir.clone(), &OpenOptions::new())?)?;
    let second = plain_of(&Table::edit_in_dir(dir.clone(), &OpenOptions::new())?)?;
    let third = plain_of(&Table::open_in_dir(dir, &OpenOptions::new())?)?;
    if first == second && second == third {
        return Ok(first);
    }
    Err(superchunk::Error::corrupt("three readers find different rows"))
}

/// All changes there are, a commit after each.
fn write_states(disk: &Disk, reserve: Reserve, seed: u64) -> Vec<Plain> {
    let columns =
        [(COLUMNS[0], DType::parse("<i4").unwrap()), (COLUMNS[1], DType::parse("<f8").unwrap())];
    let options =
        TreeOptions::default().with_chunk_rows(25).with_superchunk_size(3).with_reserve(reserve);
    let mut table = Table::create_in_dir(
        disk.root(),
        &TableOptions::new().with_columns(columns.clone()).with_tree(options.clone()),
    )
    .unwrap();
    let mut plain: Plain = (vec![Vec::new(); 2], None);
    let mut rng = Rng::new(seed);
    // It is there, and empty, before the first commit.
    let mut states = vec![plain.clone()];
    for step in 0..14 {
        let rows = table.row_count() as usize;
        let mut overwrite = |column: usize, start: usize, count: usize, table: &mut Table| {
            let bytes = rng.bytes(count * ROWS[column]);
            table.write_rows(COLUMNS[column], start as u64, &bytes).unwrap();
            let at = start * ROWS[column];
            plain.0[column].splice(at..at + bytes.len(), bytes);
        };
        match step % 7 {
            2 => overwrite(1, rows / 2, 3, &mut table),
            4 => {
                overwrite(0, 3, 80, &mut table);
                overwrite(1, rows - 5, 5, &mut table);
            }
            5 => {
                let kept = rows - rows / 3;
                table.truncate(table.row_count() - (rows - kept) as u64).unwrap();
                plain.0.iter_mut().zip(ROWS).for_each(|(bytes, row)| bytes.truncate(kept * row));
            }
            6 => {
                plain.1 = Some(format!("step {step}"));
                table.set_attribute("note", plain.1.as_deref().unwrap()).unwrap();
            }
            _ => {
                let count = if step % 7 == 1 { 9 } else { 150 };
                let fresh = ROWS.map(|row| rng.bytes(count * row));
                table.append(&[(COLUMNS[0], &fresh[0]), (COLUMNS[1], &fresh[1])]).unwrap();
                plain.0.iter_mut().zip(fresh).for_each(|(bytes, fresh)| bytes.extend(fresh));
            }
        }
        table.commit().unwrap();
        disk.reached(states.len());
        states.push(plain.clone());
        if step % 5 == 4 {
            table.close().unwrap();
            table = Table::edit_in_dir(disk.root(), &OpenOptions::new()).unwrap();
        }
    }
    table.close().unwrap();
    states
}

#[test]
fn a_tree_has_its_old_rows_or_its_new_ones() {
    let mut all = Findings::default();
    for seed in seeds(2) {
        for reserve in [Reserve::None, Reserve::Part(8), Reserve::Full] {
            let disk = Disk::new();
            let states = write_states(&disk, reserve, seed);
            let effort = Effort::new(24, seed);
            all.join(explore(&disk.history(), &states, effort, read, |_, _| {}));
        }
    }
    all.must_be_good("blsk trees", 4_000);
}
