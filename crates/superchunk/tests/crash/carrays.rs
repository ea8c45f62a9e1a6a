//! bcolz: arrays and tables that grow, shrink and are changed.

use std::sync::Arc;

use superchunk::bcolz::{Array, ArrayOptions, Table, TableOptions};
use superchunk::store::Dir;
use superchunk::{Json, JsonStyle, OpenOptions, Result};
use superchunk_testkit::crash::{Disk, Effort, Findings, Image, explore, seeds};
use superchunk_testkit::legacy_peer::LegacyPeer;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

/// The rows of every column, and the attributes as text.
type Plain = (Vec<Vec<u8>>, String);

/// The rows of a chunk: a change of a row is one step only inside of one chunk.
const CHUNK: usize = 128;
const COLUMNS: [&str; 2] = ["f0", "f1"];
const WIDTHS: [usize; 2] = [4, 8];

fn text(attrs: &Json) -> String {
    attrs.to_text(JsonStyle::Compact)
}

/// Some rows that compress a little.
fn rows(count: usize, width: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = rng.bytes(count * width);
    bytes.iter_mut().step_by(3).for_each(|byte| *byte = 7);
    bytes
}

/// All changes of an array there are, a commit after each.
fn array_states(disk: &Disk, seed: u64) -> Vec<Plain> {
    let mut rng = Rng::new(seed);
    let options = ArrayOptions::of::<i32>().with_chunk_rows(CHUNK as u64);
    let mut array = Array::create_in_dir(disk.root(), &options).unwrap();
    let mut bytes = Vec::new();
    // It may be there, and empty, before the first commit.
    let mut states = vec![(vec![Vec::new()], text(array.attributes()))];
    for step in 0..14 {
        let count = bytes.len() / 4;
        match step % 7 {
            2 => {
                let start = count / 2 / CHUNK * CHUNK;
                let fresh = rows(9.min(count - start), 4, &mut rng);
                array.write_rows(start as u64, &fresh).unwrap();
                bytes.splice(4 * start..4 * start + fresh.len(), fresh);
            }
            4 => {
                array.truncate(array.row_count() - count as u64 / 3).unwrap();
                bytes.truncate((count - count / 3) * 4);
            }
            5 => array.set_attribute("note", Json::from(format!("step {step}"))).unwrap(),
            _ => {
                let fresh = rows([300, 9, 128][rng.index(3)], 4, &mut rng);
                array.append(&fresh).unwrap();
                bytes.extend(fresh);
            }
        }
        array.commit().unwrap();
        disk.reached(states.len());
        states.push((vec![bytes.clone()], text(array.attributes())));
        if step % 4 == 3 {
            array.close().unwrap();
            array = Array::edit_in_dir(disk.root(), &OpenOptions::new()).unwrap();
        }
    }
    array.close().unwrap();
    states
}

fn read_array(dir: Arc<dyn Dir>) -> Result<Plain> {
    let array = Array::open_in_dir(dir, &OpenOptions::new())?;
    Ok((vec![array.to_vec()?], text(array.attributes())))
}

/// All changes of the rows of a table there are, a commit after each.
fn table_states(disk: &Disk, seed: u64) -> Vec<Plain> {
    let mut rng = Rng::new(seed);
    let column = |options: ArrayOptions| options.with_chunk_rows(CHUNK as u64);
    let options = TableOptions::new()
        .with_column(COLUMNS[0], column(ArrayOptions::of::<i32>()))
        .with_column(COLUMNS[1], column(ArrayOptions::of::<f64>()));
    let mut table = Table::create_in_dir(disk.root(), &options).unwrap();
    let mut columns = vec![Vec::new(); 2];
    let mut states = vec![(columns.clone(), text(table.attributes()))];
    for step in 0..10 {
        let count = table.row_count() as usize;
        match step % 5 {
            2 => {
                let fresh = rows(7, WIDTHS[1], &mut rng);
                table.write_rows(COLUMNS[1], 3, &fresh).unwrap();
                columns[1].splice(3 * WIDTHS[1]..10 * WIDTHS[1], fresh);
            }
            4 => {
                table.truncate(table.row_count() - count as u64 / 4).unwrap();
                let left = count - count / 4;
                columns
                    .iter_mut()
                    .zip(WIDTHS)
                    .for_each(|(bytes, width)| bytes.truncate(left * width));
            }
            _ => {
                let count = [200, 9][rng.index(2)];
                let fresh = WIDTHS.map(|width| rows(count, width, &mut rng));
                table.append(&[(COLUMNS[0], &fresh[0]), (COLUMNS[1], &fresh[1])]).unwrap();
                columns.iter_mut().zip(fresh).for_each(|(bytes, fresh)| bytes.extend(fresh));
            }
        }
        table.commit().unwrap();
        disk.reached(states.len());
        states.push((columns.clone(), text(table.attributes())));
        if step % 4 == 3 {
            table.close().unwrap();
            table = Table::edit_in_dir(disk.root(), &OpenOptions::new()).unwrap();
        }
    }
    table.close().unwrap();
    states
}

fn read_table(dir: Arc<dyn Dir>) -> Result<Plain> {
    let table = Table::open_in_dir(dir, &OpenOptions::new())?;
    let columns = COLUMNS.iter().map(|name| table.array(name)?.to_vec());
    Ok((columns.collect::<Result<_>>()?, text(table.attributes())))
}

#[test]
fn a_bcolz_array_has_its_old_rows_or_its_new_ones() {
    let mut all = Findings::default();
    for seed in seeds(7) {
        let disk = Disk::new();
        let states = array_states(&disk, seed);
        let effort = Effort::new(32, seed);
        all.join(explore(&disk.history(), &states, effort, read_array, |_, _| {}));
    }
    all.must_be_good("bcolz arrays", 4_000);
}

#[test]
fn a_bcolz_table_has_its_old_rows_or_its_new_ones() {
    let mut all = Findings::default();
    for seed in seeds(7) {
        let disk = Disk::new();
        let states = table_states(&disk, seed);
        let effort = Effort::new(32, seed);
        all.join(explore(&disk.history(), &states, effort, read_table, |_, _| {}));
    }
    all.must_be_good("bcolz tables", 5_500);
}

#[test]
fn bcolz_reads_the_old_rows_or_the_new_ones() {
    let mut peer = LegacyPeer::spawn();
    let scratch = Scratch::new();
    let (mut read, mut rng) = (0, Rng::new(1));
    for seed in 0..4 {
        let disk = Disk::new();
        let is_table = seed % 2 == 0;
        let states = if is_table { table_states(&disk, seed) } else { array_states(&disk, seed) };
        let opened = if is_table { read_table } else { read_array };
        let look = |image: &Image, state: usize| {
            if rng.below(25) > 0 || states[state].0[0].is_empty() {
                return;
            }
            let path = scratch.path("image");
            image.write_to(&path).unwrap();
            let found = match is_table {
                true => peer.bcolz_read_table(&path).unwrap().columns,
                false => vec![peer.bcolz_read_array(&path).unwrap().bytes],
            };
            // Where we go on to the new rows because they are complete, bcolz sees the old ones.
            let known = [state.saturating_sub(1), state].map(|state| &states[state].0);
            assert!(known.contains(&&found), "{state}: {:?}", image.listing());
            read += 1;
        };
        explore(&disk.history(), &states, Effort::new(20, seed), opened, look);
    }
    assert!(read >= 50, "only {read}");
}
