//! Trees of the `blsk` layout: what is written reads back, whatever is done to them and however they
//! are cut.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;

use superchunk::blsk::{
    Array, ArrayOptions, Attribute, ItemOrder, Reserve, Table, TableOptions, TreeOptions,
};
use superchunk::frame::Durability;
use superchunk::store::{Dir, MemoryFolder};
use superchunk::{Codec, CompressOptions, DType, ErrorKind, Executor, Filter, Limits, OpenOptions};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;

fn dtype(text: &str) -> DType {
    DType::parse(text).unwrap()
}

fn handle(folder: &MemoryFolder) -> Arc<dyn Dir> {
    Arc::new(folder.clone())
}

fn edit(folder: &MemoryFolder) -> Table {
    Table::edit_in_dir(handle(folder), &OpenOptions::new()).unwrap()
}

/// What a table must hold: the bytes of each column.
struct Model {
    names: Vec<String>,
    columns: Vec<Vec<u8>>,
    row_lens: Vec<usize>,
    rows: usize,
}

impl Model {
    fn check(&self, table: &Table, rng: &mut Rng, step: &str) {
        assert_eq!(table.row_count(), self.rows as u64, "{step}");
        for (column, (bytes, len)) in self.names.iter().zip(self.columns.iter().zip(&self.row_lens))
        {
            let mut found = vec![0; bytes.len()];
            table.read_rows(column, 0..self.rows as u64, &mut found).unwrap();
            assert!(found == *bytes, "{step}: column {column}");
            let start = rng.index(self.rows + 1);
            let end = start + rng.index(self.rows - start + 1);
            let mut some = vec![0; (end - start) * len];
            table.read_rows(column, start as u64..end as u64, &mut some).unwrap();
            assert!(
                some == bytes[start * len..end * len],
                "{step}: column {column}, {start}..{end}"
            );
            if self.rows > 0 {
                let rows: Vec<u64> = (0..20).map(|_| rng.below(self.rows as u64)).collect();
                let mut some = vec![0; rows.len() * len];
                table.gather(column, &rows, &mut some).unwrap();
                for (row, found) in rows.iter().zip(some.chunks(*len)) {
                    let at = usize::try_from(*row).unwrap() * len;
                    assert!(found == &bytes[at..at + len], "{step}: column {column}, row {row}");
                }
            }
        }
    }
}

/// Random changes of a table, compared with plain vectors after every step.
fn random_changes(columns: &[(&str, &str)], row_shape: &[u64], options: &TreeOptions, seed: u64) {
    let folder = MemoryFolder::new();
    let typed: Vec<(&str, DType)> =
        columns.iter().map(|(name, text)| (*name, dtype(text))).collect();
    let count = typed.len();
    let new = TableOptions::new().with_columns(typed).with_row_shape(row_shape);
    let new = new.with_tree(options.clone());
    let mut table = Table::create_in_dir(handle(&folder), &new).unwrap();
    let names: Vec<String> = table.names().map(str::to_owned).collect();
    let row_lens: Vec<usize> = names.iter().map(|name| table.row_size(name).unwrap()).collect();
    let mut model = Model { names, columns: vec![Vec::new(); count], row_lens, rows: 0 };
    let mut rng = Rng::new(seed);
    for step in 0..60 {
        let told = format!("{options:?} seed {seed} step {step}");
        match rng.below(8) {
            0..=2 => {
                let rows = rng.index(40);
                let parts: Vec<Vec<u8>> = (0..count)
                    .map(|c| mixed(rows * model.row_lens[c], 4, rng.next_u64()))
                    .collect();
                let slices: Vec<(&str, &[u8])> = model
                    .names
                    .iter()
                    .zip(&parts)
                    .map(|(n, part)| (n.as_str(), part.as_slice()))
                    .collect();
                table.append(&slices).unwrap();
                model.columns.iter_mut().zip(&parts).for_each(|(all, part)| all.extend(part));
                model.rows += rows;
            }
            3..=4 => {
                let column = rng.index(count);
                let (len, start) = (model.row_lens[column], rng.index(model.rows + 1));
                let rows = rng.index(model.rows - start + 1);
                let bytes = mixed(rows * len, 4, rng.next_u64());
                table.write_rows(&model.names[column], start as u64, &bytes).unwrap();
                model.columns[column][start * len..(start + rows) * len].copy_from_slice(&bytes);
            }
            5 => {
                let rows =
                    (model.rows + rng.index(9)).saturating_sub(rng.index(model.rows / 4 + 9));
                table.resize(rows as u64).unwrap();
                for (bytes, len) in model.columns.iter_mut().zip(&model.row_lens) {
                    bytes.resize(rows * len, 0);
                }
                model.rows = rows;
            }
            6 => table.commit().unwrap(),
            _ => {
                table.close().unwrap();
                table = edit(&folder);
            }
        }
        model.check(&table, &mut rng, &told);
    }
    table.close().unwrap();
    let reader = Table::open_in_dir(handle(&folder), &OpenOptions::new()).unwrap();
    model.check(&reader, &mut rng, "at the end");
}

#[test]
fn tables_are_what_plain_vectors_are_after_any_changes() {
    let columns = [("a", "<i4"), ("b/x", ">f8"), ("b/y/z", "S5"), ("c", "bool")];
    for (seed, reserve) in (0..).zip([Reserve::None, Reserve::Part(8), Reserve::Full]) {
        for per_file in [1, 3, 1000] {
            let options = TreeOptions::default()
                .with_chunk_rows(16)
                .with_superchunk_size(per_file)
                .with_reserve(reserve);
            random_changes(&columns, &[], &options, seed);
        }
    }
}

#[test]
fn arrays_of_rows_are_what_plain_vectors_are_after_any_changes() {
    let options = TreeOptions::default().with_chunk_rows(7).with_superchunk_size(4);
    for (seed, order) in (10..).zip([ItemOrder::C, ItemOrder::Fortran]) {
        let options = options.clone().with_order(order);
        random_changes(&[("a", "<i2"), ("b", "<u8")], &[3, 5], &options, seed);
        random_changes(&[("a", ">u4")], &[], &options, seed);
        let grid = options.clone().with_chunk_row_shape([2, 3]);
        random_changes(&[("a", "<i2"), ("b", "V3")], &[3, 5], &grid, seed);
        let wide = options.with_chunk_row_shape([4, 5]);
        random_changes(&[("a", "<i2")], &[3, 5], &wide, seed);
    }
}

#[test]
fn every_codec_and_filter_of_blosc1_writes_columns() {
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle]] {
            let compress = CompressOptions::new(1).with_codec(codec).with_filters(filters);
            let options = TreeOptions::default().with_compress(compress).with_chunk_rows(1000);
            let folder = MemoryFolder::new();
            let bytes = mixed(4 * 5555, 4, 1);
            let mut array = Array::create_in_dir(
                handle(&folder),
                &ArrayOptions::new(dtype("<u4")).with_tree(options.clone()),
            )
            .unwrap();
            array.append(&bytes).unwrap();
            array.close().unwrap();
            let array = Array::open_in_dir(
                handle(&folder),
                &OpenOptions::new().with_executor(Executor::threads(2)),
            )
            .unwrap();
            let mut found = vec![0; bytes.len()];
            array.read_rows(0..5555, &mut found).unwrap();
            assert!(found == bytes, "{codec:?}");
        }
    }
    let other = CompressOptions::new(4).with_filters([Filter::Delta]);
    let options = TreeOptions::default().with_compress(other);
    let made = Array::create_in_dir(
        handle(&MemoryFolder::new()),
        &ArrayOptions::new(dtype("<f4")).with_tree(options.clone()),
    );
    assert_eq!(made.unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn an_edit_that_fits_stays_in_place_and_another_rewrites_one_file() {
    let cost = |reserve: Reserve, seed: u64| {
        let folder = MemoryFolder::new();
        let options = TreeOptions::default()
            .with_chunk_rows(1000)
            .with_superchunk_size(4)
            .with_reserve(reserve);
        let mut array = Array::create_in_dir(
            handle(&folder),
            &ArrayOptions::new(dtype("<u8")).with_tree(options.clone()),
        )
        .unwrap();
        let numbers: Vec<u64> = (0..8000).collect();
        array.append(bytemuck::cast_slice(&numbers)).unwrap();
        array.commit().unwrap();
        assert_eq!(array.updates().added, 8);
        array.write_rows(1500, bytemuck::cast_slice(&[seed; 20])).unwrap();
        array.commit().unwrap();
        assert_eq!(array.read::<u64>(1499..1502).unwrap(), [1499, seed, seed]);
        let updates = array.updates();
        (updates.in_place, updates.rewritten, updates.files_rewritten)
    };
    // Twenty equal numbers in the ramp need more bytes than the ramp: no reserve, no place.
    assert_eq!(cost(Reserve::None, u64::MAX), (0, 1, 1));
    assert_eq!(cost(Reserve::Full, u64::MAX), (1, 0, 0));
    // Another value in the same place of a chunk that is stored as it is takes as much as before.
    assert_eq!(cost(Reserve::Full, 1500), (1, 0, 0));
}

#[test]
fn the_last_chunk_grows_and_more_follow_without_a_rewrite() {
    let folder = MemoryFolder::new();
    let options = TreeOptions::default().with_chunk_rows(100).with_superchunk_size(64);
    let mut array = Array::create_in_dir(
        handle(&folder),
        &ArrayOptions::new(dtype("<u4")).with_tree(options.clone()),
    )
    .unwrap();
    let mut all = Vec::new();
    for step in 0..100u64 {
        let part = mixed(4 * 37, 4, step);
        array.append(&part).unwrap();
        array.commit().unwrap();
        all.extend(part);
    }
    assert_eq!(array.updates().files_rewritten, 0);
    let mut found = vec![0; all.len()];
    array.read_rows(0..array.row_count(), &mut found).unwrap();
    assert!(found == all);
}

#[test]
fn one_writer_keeps_the_other_out_and_readers_cannot_write() {
    let scratch = Scratch::new();
    let path = scratch.path("tree");
    let columns = [("a", dtype("<i4"))];
    let mut table =
        Table::create(&path, &TableOptions::new().with_columns(columns.clone())).unwrap();
    assert_eq!(Table::edit(&path).unwrap_err().kind(), ErrorKind::Locked);
    table.append(&[("a", &[0; 40])]).unwrap();
    table.close().unwrap();
    let mut reader = Table::open(&path).unwrap();
    assert_eq!(reader.append(&[("a", &[0; 4])]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let refused = reader.set_attribute("x", 1i64);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(Array::open(&path).unwrap_err().kind(), ErrorKind::InvalidArgument);
    Table::edit(&path).unwrap();
    assert_eq!(
        Table::create(&path, &TableOptions::new().with_columns(columns.clone()))
            .unwrap_err()
            .kind(),
        ErrorKind::Io
    );
}

#[test]
fn wrong_arguments_are_refused_and_change_nothing() {
    let folder = MemoryFolder::new();
    let columns = [("a", dtype("<i4")), ("b", dtype("<i2"))];
    let options = TreeOptions::default().with_durability(Durability::Process);
    let mut table = Table::create_in_dir(
        handle(&folder),
        &TableOptions::new().with_columns(columns.clone()).with_tree(options.clone()),
    )
    .unwrap();
    table.append(&[("b", &[2; 20]), ("a", &[1; 40])]).unwrap();
    let kind = |result: superchunk::Result<()>| result.unwrap_err().kind();
    let invalid = ErrorKind::InvalidArgument;
    assert_eq!(kind(table.append(&[("a", &[1; 40])])), invalid);
    assert_eq!(kind(table.append(&[("a", &[1; 40]), ("a", &[1; 40])])), invalid);
    assert_eq!(kind(table.append(&[("a", &[1; 40]), ("b", &[2; 22])])), invalid);
    assert_eq!(kind(table.append(&[("a", &[1; 41]), ("b", &[2; 20])])), invalid);
    assert_eq!(kind(table.write_rows("a", 9, &[0; 8])), invalid);
    assert_eq!(kind(table.write_rows("c", 0, &[0; 8])), ErrorKind::NotFound);
    assert_eq!(kind(table.read_rows("a", 0..11, &mut [0; 44])), invalid);
    assert_eq!(kind(table.read_rows("a", 0..10, &mut [0; 44])), invalid);
    assert_eq!(kind(table.write_items("a", 0, &[1i64])), invalid);
    assert_eq!(kind(table.truncate(table.row_count() + 1)), invalid);
    assert!(table.read::<i64>("a", 0..10).is_err());
    assert_eq!(table.read::<i16>("b", 8..10).unwrap(), [0x202; 2]);
    assert_eq!(table.row_count(), 10);
    for columns in
        [["a", "a"], ["a", "A"], ["a", "a/b"], ["a", "../b"], ["a", "__1__.bin"], ["a", ""]]
    {
        let columns = columns.map(|name| (name, dtype("<i4")));
        let made = Table::create_in_dir(
            handle(&MemoryFolder::new()),
            &TableOptions::new().with_columns(columns.clone()).with_tree(options.clone()),
        );
        assert_eq!(made.unwrap_err().kind(), invalid);
    }
}

#[test]
fn attributes_of_every_type_are_kept() {
    let folder = MemoryFolder::new();
    let mut array =
        Array::create_in_dir(handle(&folder), &ArrayOptions::new(dtype("<i4"))).unwrap();
    let big = Attribute::Items {
        dtype: dtype(">i2"),
        shape: vec![2, 2],
        bytes: vec![0, 1, 0, 2, 0xff, 0xff, 1, 0],
    };
    let kept: Vec<(&str, Attribute)> = vec![
        ("temperature", 23.5f32.into()),
        ("tiny", 5e-324f64.into()),
        ("largest", u64::MAX.into()),
        ("least", i64::MIN.into()),
        ("ids", Attribute::array(&[1i32, 3, 6, 10])),
        ("grid", big),
        ("infinite", f64::NEG_INFINITY.into()),
        ("unit: °C # not a comment", "déjà: vu\n# really".into()),
        ("empty", Attribute::array::<u8>(&[])),
    ];
    for (name, value) in &kept {
        array.set_attribute(name, value.clone()).unwrap();
    }
    array.set_attribute("gone", 1i64).unwrap();
    assert!(array.remove_attribute("gone").unwrap());
    assert!(!array.remove_attribute("gone").unwrap());
    array.close().unwrap();
    let mut array = Array::edit_in_dir(handle(&folder), &OpenOptions::new()).unwrap();
    array.set_attribute("unit", "not committed").unwrap();
    assert!(array.remove_attribute("ids").unwrap());
    drop(array);
    let array = Array::open_in_dir(handle(&folder), &OpenOptions::new()).unwrap();
    let found: Vec<(&str, Attribute)> = array.attributes().collect();
    assert_eq!(found, kept);
    assert_eq!(array.attribute("grid").unwrap().to_string(), "[[1, 2], [-1, 256]]");
    assert_eq!(array.attribute("ids").unwrap().as_f64(), None);
    assert_eq!(array.attribute("temperature").unwrap().as_f64(), Some(23.5));
}

/// Replaces a file of a tree.
fn put(folder: &MemoryFolder, part: &str, name: &str, text: &str) {
    let part = folder.open_folder(part).unwrap();
    part.remove(name).unwrap();
    part.create(name).unwrap().write_at(0, text.as_bytes()).unwrap();
}

#[test]
fn rows_that_differ_are_refused_unless_recovery_is_asked_for() {
    let folder = MemoryFolder::new();
    let options = TreeOptions::default().with_chunk_rows(10);
    let mut array = Array::create_in_dir(
        handle(&folder),
        &ArrayOptions::new(dtype("<i4")).with_tree(options.clone()),
    )
    .unwrap();
    array.append(&[7; 400]).unwrap();
    array.close().unwrap();
    put(&folder, "meta", "nrows", "55\n");
    let error = Array::open_in_dir(handle(&folder), &OpenOptions::new()).unwrap_err();
    assert_eq!((error.kind(), error.place().unwrap().field), (ErrorKind::Corrupt, "nrows"));
    let mut array = Array::recover_in_dir(handle(&folder), &OpenOptions::new()).unwrap();
    assert_eq!(array.read::<i32>(0..55).unwrap(), [0x0707_0707; 55]);
    array.append(&[1; 20]).unwrap();
    array.close().unwrap();
    let array = Array::open_in_dir(handle(&folder), &OpenOptions::new()).unwrap();
    assert_eq!(array.read::<i32>(54..57).unwrap(), [0x0707_0707, 0x0101_0101, 0x0101_0101]);
}

#[test]
fn a_tree_that_claims_much_takes_little_memory() {
    let folder = MemoryFolder::new();
    let mut array =
        Array::create_in_dir(handle(&folder), &ArrayOptions::new(dtype("<i4"))).unwrap();
    array.append(&[7; 400]).unwrap();
    array.close().unwrap();
    let meta = folder.open_folder("meta").unwrap();
    let storage = meta.open("storage").unwrap();
    let mut text = vec![0; usize::try_from(storage.len().unwrap()).unwrap()];
    storage.read_exact_at(0, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    for rows in ["100000000", "1000000000000000000"] {
        for (chunk, per_file) in [("(1,)", "16"), ("(1,)", "4000000000"), ("(100000,)", "16")] {
            let claimed = text
                .replace("(100,)", &format!("({rows},)"))
                .replace("(131072,)", chunk)
                .replace("superchunksize: 16", &format!("superchunksize: {per_file}"));
            put(&folder, "meta", "storage", &claimed);
            put(&folder, "meta", "nrows", rows);
            let limits = Limits::default().with_max_metadata(1 << 20);
            let opened =
                Array::open_in_dir(handle(&folder), &OpenOptions::new().with_limits(limits));
            let Ok(array) = opened else { continue };
            assert!(array.read::<i32>(0..50_000_000).is_err());
            assert!(array.read_rows(99_999_990..99_999_991, &mut [0; 4]).is_err());
        }
    }
}

#[test]
fn the_options_of_a_tree_make_another_like_it() {
    let scratch = Scratch::new();
    let filters = [Filter::BitShuffle, Filter::TruncPrec(12)];
    let compress =
        CompressOptions::new(1).with_codec(Codec::Zlib).with_level(3).with_filters(filters);
    let all = TreeOptions::default()
        .with_compress(compress)
        .with_chunk_rows(7)
        .with_chunk_row_shape([2])
        .with_superchunk_size(3)
        .with_reserve(Reserve::Full)
        .with_order(ItemOrder::Fortran);
    let storage = |name: &str| std::fs::read(scratch.path(name).join("meta/storage")).unwrap();
    for (number, options) in [all, TreeOptions::default()].into_iter().enumerate() {
        let [one, other] = ["one", "other"].map(|name| format!("{name}{number}"));
        let columns = [("a", dtype("<f8")), ("b/c", dtype("|S3"))];
        Table::create(
            scratch.path(&one),
            &TableOptions::new()
                .with_columns(columns.clone())
                .with_row_shape([5])
                .with_tree(options.clone()),
        )
        .unwrap()
        .close()
        .unwrap();
        let found = Table::open(scratch.path(&one)).unwrap().options().unwrap();
        Table::create(
            scratch.path(&other),
            &TableOptions::new()
                .with_columns(columns.clone())
                .with_row_shape([5])
                .with_tree(found.clone()),
        )
        .unwrap()
        .close()
        .unwrap();
        assert_eq!(storage(&one), storage(&other), "table {number}");

        let [one, other] = [one, other].map(|name| name + "-array");
        Array::create(
            scratch.path(&one),
            &ArrayOptions::new(dtype("<f8")).with_row_shape([5]).with_tree(options.clone()),
        )
        .unwrap()
        .close()
        .unwrap();
        let found = Array::open(scratch.path(&one)).unwrap().options().unwrap();
        Array::create(
            scratch.path(&other),
            &ArrayOptions::new(dtype("<f8")).with_row_shape([5]).with_tree(found.clone()),
        )
        .unwrap()
        .close()
        .unwrap();
        assert_eq!(storage(&one), storage(&other), "array {number}");
    }
}
