//! Arrays and tables of bcolz: what callers can do, what others cannot do to them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use superchunk::bcolz::{Array, ArrayOptions, Origin, Table, TableColumn, TableOptions};
use superchunk::frame::Durability;
use superchunk::store::{Dir, MemoryFolder};
use superchunk::{CompressOptions, DType, ErrorKind, Json, Limits, OpenOptions, Result, Value};
use superchunk_testkit::corrupt::{for_each_mutation, truncations};
use superchunk_testkit::scratch::Scratch;

fn numbers(range: std::ops::Range<i32>) -> Vec<u8> {
    range.flat_map(i32::to_le_bytes).collect()
}

fn memory() -> Arc<dyn Dir> {
    Arc::new(MemoryFolder::new())
}

fn small() -> ArrayOptions {
    ArrayOptions::of::<i32>().with_chunk_rows(10)
}

fn kind<T: std::fmt::Debug>(result: Result<T>) -> ErrorKind {
    result.unwrap_err().kind()
}

fn options() -> OpenOptions {
    OpenOptions::new()
}

#[test]
fn an_array_is_in_memory_what_it_is_on_disk() {
    let dir = memory();
    let mut array = Array::create_in_dir(dir.clone(), &small()).unwrap();
    assert!(array.is_empty() && array.attributes().as_object().unwrap().is_empty());
    array.append(&numbers(0..25)).unwrap();
    array.append_items(&[25, 26, 27]).unwrap();
    assert_eq!(array.read::<i32>(23..28).unwrap(), [23, 24, 25, 26, 27]);
    array.commit().unwrap();
    array.write_items(8, &[-8, -9, -10]).unwrap();
    array.truncate(array.row_count() - 5).unwrap();
    array.resize(40).unwrap();
    array.set_attribute("n", 3u64).unwrap();
    array.close().unwrap();
    let array = Array::open_in_dir(dir.clone(), &options()).unwrap();
    let mut expected: Vec<i32> = (0..23).collect();
    expected[8..11].copy_from_slice(&[-8, -9, -10]);
    expected.resize(40, 0);
    assert_eq!(array.read::<i32>(0..40).unwrap(), expected);
    assert_eq!((array.shape(), array.chunk_rows()), (vec![40], 10));
    assert_eq!(array.attributes().get("n").and_then(Json::as_u64), Some(3));
    assert_eq!(array.origin(), Origin::Modern);
    let mut some = [0; 12];
    array.gather(&[39, 9, 9], &mut some).unwrap();
    assert_eq!(some[4..8], (-9i32).to_le_bytes());
    // Nothing but what bcolz would have written is there.
    let mut names = dir.open_folder("data").unwrap().names().unwrap();
    names.sort_unstable();
    assert_eq!(names, ["__0.blp", "__1.blp", "__2.blp", "__3.blp"]);
    assert_eq!(dir.open_folder("meta").unwrap().names().unwrap().len(), 2);
    assert_eq!(dir.names().unwrap(), ["__attrs__"]);
}

#[test]
fn callers_are_told_what_they_cannot_do() {
    let (dir, invalid) = (memory(), ErrorKind::InvalidArgument);
    let mut array = Array::create_in_dir(dir.clone(), &small()).unwrap();
    array.append(&numbers(0..5)).unwrap();
    assert_eq!(kind(array.append(&[1, 2, 3])), invalid);
    assert_eq!(kind(array.append_items(&[1.5f64])), invalid);
    assert_eq!(kind(array.read::<f32>(0..1)), invalid);
    assert_eq!(kind(array.rows(3..6)), invalid);
    assert_eq!(kind(array.write_rows(4, &numbers(0..2))), invalid);
    assert_eq!(kind(array.truncate(array.row_count() + 1)), invalid);
    assert_eq!(kind(array.object_bytes(0)), invalid);
    array.close().unwrap();
    let mut array = Array::open_in_dir(dir, &options()).unwrap();
    assert_eq!(kind(array.append(&numbers(0..1))), invalid);
    assert_eq!(kind(array.set_attribute("x", 1u64)), invalid);
    for (dtype, what) in [
        ("<c16", ErrorKind::Unsupported),
        ("<f16", ErrorKind::Unsupported),
        ("[('a', '<i4')]", ErrorKind::Unsupported),
        ("S0", invalid),
    ] {
        let options = ArrayOptions::new(DType::parse(dtype).unwrap());
        assert_eq!(kind(Array::create_in_dir(memory(), &options)), what, "{dtype}");
    }
    let wrong = [
        small().with_chunk_rows(0),
        small().with_chunk_rows(1 << 40),
        small().with_default("text"),
        small().with_row_shape([0]),
        small().with_row_shape([1 << 20, 1 << 20]),
    ];
    for options in wrong {
        assert_eq!(kind(Array::create_in_dir(memory(), &options)), invalid, "{options:?}");
    }
}

#[test]
fn a_second_writer_is_kept_out_and_readers_are_not() {
    let scratch = Scratch::new();
    let path = scratch.path("a");
    let mut array = Array::create(&path, &small()).unwrap();
    array.append(&numbers(0..12)).unwrap();
    array.commit().unwrap();
    array.append(&numbers(12..40)).unwrap();
    assert_eq!(kind(Array::edit(&path)), ErrorKind::Locked);
    let mut reader = Array::open(&path).unwrap();
    assert_eq!(reader.row_count(), 12);
    array.commit().unwrap();
    // The reader keeps its rows until it looks again.
    assert_eq!(reader.read::<i32>(0..12).unwrap(), (0..12).collect::<Vec<_>>());
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.read::<i32>(38..40).unwrap(), [38, 39]);
    assert!(!reader.refresh().unwrap());
    drop(array);
    Array::edit(&path).unwrap();
    let table = scratch.path("t");
    let _writer = Table::create(&table, &TableOptions::new().with_column("x", small())).unwrap();
    assert_eq!(kind(Table::edit(&table)), ErrorKind::Locked);
    Table::open(&table).unwrap();
}

#[test]
fn nothing_is_left_of_what_a_killed_writer_did_not_commit() {
    let scratch = Scratch::new();
    let path = scratch.path("a");
    let mut array = Array::create(&path, &small().with_durability(Durability::Process)).unwrap();
    array.append(&numbers(0..33)).unwrap();
    array.close().unwrap();
    // What a killed writer leaves goes with the next one.
    for debris in [".b2new.0", ".b2new.1"] {
        fs::write(path.join("data").join(debris), "x").unwrap();
    }
    let mut array = Array::edit(&path).unwrap();
    array.resize(15).unwrap();
    array.close().unwrap();
    let mut names: Vec<String> = fs::read_dir(path.join("data"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["__0.blp", "__1.blp"]);
}

fn table_options() -> TableOptions {
    let inner = TableOptions::new()
        .with_column("x", ArrayOptions::of::<f64>().with_default(1.5))
        .with_column("y", ArrayOptions::of::<f64>().with_chunk_rows(4));
    TableOptions::new().with_column("id", small()).with_nested("position", inner)
}

#[test]
fn tables_hold_tables() {
    let dir = memory();
    let mut table = Table::create_in_dir(dir.clone(), &table_options()).unwrap();
    let halves: Vec<u8> = (0..25).flat_map(|i| (f64::from(i) / 2.0).to_le_bytes()).collect();
    let rows: [(&str, &[u8]); 3] =
        [("position/y", &halves), ("id", &numbers(0..25)), ("position/x", &halves)];
    table.append(&rows).unwrap();
    table.set_column_attribute("position/x", "unit", "m").unwrap();
    table.commit().unwrap();
    table.resize(30).unwrap();
    table.commit().unwrap();
    table.add_nested("more", &TableOptions::new().with_column("z", small())).unwrap();
    table.close().unwrap();
    let table = Table::open_in_dir(dir, &options()).unwrap();
    assert_eq!(
        (table.row_count(), table.names().collect::<Vec<_>>()),
        (30, vec!["id", "position", "more"])
    );
    let paths: Vec<String> = table.arrays().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["id", "position/x", "position/y", "more/z"]);
    assert!(
        matches!(table.column("position").unwrap(), TableColumn::Table(inner) if inner.row_count() == 30)
    );
    let x = table.array("position/x").unwrap();
    assert_eq!(x.read::<f64>(23..27).unwrap(), [11.5, 12.0, 1.5, 1.5]);
    assert_eq!(x.attributes().get("unit").and_then(Json::as_str), Some("m"));
    assert_eq!(kind(table.array("position")), ErrorKind::InvalidArgument);
    assert_eq!(kind(table.array("position/z")), ErrorKind::NotFound);
    assert_eq!(kind(table.array("id/x")), ErrorKind::NotFound);
}

#[test]
fn rows_of_a_table_come_with_all_columns() {
    let options = TableOptions::new().with_column("a", small()).with_column("b", small());
    let dir = memory();
    let mut table = Table::create_in_dir(dir.clone(), &options).unwrap();
    let (ten, nine, invalid) = (numbers(0..10), numbers(0..9), ErrorKind::InvalidArgument);
    assert_eq!(kind(table.append(&[("a", &ten)])), invalid);
    assert_eq!(kind(table.append(&[("a", &ten), ("b", &nine)])), invalid);
    assert_eq!(kind(table.append(&[("a", &ten), ("a", &ten), ("b", &ten)])), invalid);
    assert_eq!(kind(table.append(&[("a", &ten), ("b", &ten), ("c", &ten)])), ErrorKind::NotFound);
    // The second column does not take these bytes: the first gives them back.
    assert_eq!(kind(table.append(&[("a", &ten[..6]), ("b", &ten[..6])])), invalid);
    assert_eq!(table.row_count(), 0);
    table.append(&[("a", &ten), ("b", &ten)]).unwrap();
    table.write_items("b", 3, &[77i32]).unwrap();
    table.commit().unwrap();
    assert_eq!(kind(table.add_column("c", &small(), &nine)), invalid);
    assert_eq!(kind(table.add_column("A", &small(), &ten)), invalid);
    assert_eq!(kind(table.add_column("../c", &small(), &ten)), invalid);
    table.add_column_at(0, "first", &small(), &ten).unwrap();
    table.rename_column("a", "alpha").unwrap();
    assert_eq!(kind(table.rename_column("a", "x")), ErrorKind::NotFound);
    assert_eq!(kind(table.rename_column("b", "alpha")), invalid);
    table.append(&[("first", &nine), ("alpha", &nine), ("b", &nine)]).unwrap();
    table.close().unwrap();
    let mut table = Table::edit_in_dir(dir, &options_of_caller()).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["first", "alpha", "b"]);
    assert_eq!(table.array("b").unwrap().read::<i32>(2..4).unwrap(), [2, 77]);
    assert_eq!(table.array("alpha").unwrap().read::<i32>(9..12).unwrap(), [9, 0, 1]);
    ["first", "alpha", "b"].into_iter().for_each(|name| table.remove_column(name).unwrap());
    assert_eq!((table.row_count(), table.names().len()), (0, 0));
    table.add_column("again", &small(), &ten).unwrap();
    assert_eq!(table.row_count(), 10);
}

fn options_of_caller() -> OpenOptions {
    OpenOptions::new().with_durability(Durability::Process)
}

#[test]
fn ranges_of_chunks_can_be_worked_on_apart() {
    let options = TableOptions::new()
        .with_column("a", small())
        .with_column("b", ArrayOptions::of::<i32>().with_chunk_rows(4));
    let mut table = Table::create_in_dir(memory(), &options).unwrap();
    table.append(&[("a", &numbers(0..95)), ("b", &numbers(0..95))]).unwrap();
    assert_eq!(table.shards(3), [0..40, 40..80, 80..95]);
    assert_eq!(table.array("a").unwrap().shards(2), [0..50, 50..95]);
}

#[test]
fn several_writers_overwrite_rows_of_their_own() {
    let scratch = Scratch::new();
    let path = scratch.path("t");
    let columns = TableOptions::new()
        .with_column("a", small())
        .with_column("b", ArrayOptions::of::<i32>().with_chunk_rows(4));
    let mut table = Table::create(&path, &columns).unwrap();
    table.append(&[("a", &numbers(0..95)), ("b", &numbers(0..95))]).unwrap();
    let shards = table.shards(4);
    assert_eq!(shards.len(), 4);
    assert_eq!(kind(Table::edit_rows(&path, 0..20, &options())), ErrorKind::Locked);
    table.close().unwrap();
    assert_eq!(kind(Table::edit_rows(&path, 0..10, &options())), ErrorKind::InvalidArgument);
    assert_eq!(kind(Table::edit_rows(&path, 20..96, &options())), ErrorKind::InvalidArgument);
    let everyone_is_in = std::sync::Barrier::new(shards.len());
    std::thread::scope(|scope| {
        for shard in &shards {
            let (path, barrier) = (&path, &everyone_is_in);
            scope.spawn(move || {
                let mut table = Table::edit_rows(path, shard.clone(), &options()).unwrap();
                barrier.wait();
                assert_eq!(kind(Table::edit(path)), ErrorKind::Locked);
                let range = i32::try_from(shard.start).unwrap()..i32::try_from(shard.end).unwrap();
                let negative: Vec<i32> = range.map(|row| -row).collect();
                table.write_items("a", shard.start, &negative).unwrap();
                table.write_items("b", shard.start, &negative).unwrap();
                let invalid = ErrorKind::InvalidArgument;
                assert_eq!(kind(table.write_items("a", shard.start, &[1; 96])), invalid);
                assert_eq!(kind(table.write_items("a", (shard.end + 5) % 90, &[1])), invalid);
                assert_eq!(kind(table.resize(3)), invalid);
                assert_eq!(kind(table.set_attribute("x", 1u64)), invalid);
                table.close().unwrap();
            });
        }
    });
    let table = Table::edit(&path).unwrap();
    let expected: Vec<i32> = (0..95).map(|row| -row).collect();
    assert_eq!(table.array("a").unwrap().read::<i32>(0..95).unwrap(), expected);
    assert_eq!(table.array("b").unwrap().read::<i32>(0..95).unwrap(), expected);
    assert_eq!(fs::read_dir(path.join("b/data")).unwrap().count(), 24);
    drop(table);
    let mut array = Array::edit_rows(path.join("a"), 90..95, &options()).unwrap();
    array.write_items(94, &[7]).unwrap();
    assert_eq!(kind(array.append_items(&[8])), ErrorKind::InvalidArgument);
    array.close().unwrap();
    assert_eq!(Array::open(path.join("a")).unwrap().read::<i32>(93..95).unwrap(), [-93, 7]);
}

#[test]
fn lengths_are_recovered_on_request() {
    let scratch = Scratch::new();
    let path = scratch.path("a");
    let mut array = Array::create(&path, &small()).unwrap();
    array.append(&numbers(0..25)).unwrap();
    array.close().unwrap();
    let sizes = path.join("meta/sizes");
    fs::write(&sizes, "{\"shape\": [0], \"nbytes\": 0, \"cbytes\": 0}\n").unwrap();
    assert_eq!(Array::open(&path).unwrap().row_count(), 0);
    let recovered = Array::recover(&path, &options()).unwrap();
    assert_eq!(recovered.to_vec().unwrap(), numbers(0..25));
    drop(recovered);
    assert_eq!(Array::open(&path).unwrap().row_count(), 25);

    let path = scratch.path("t");
    let columns = TableOptions::new().with_column("a", small()).with_column("b", small());
    let mut table = Table::create(&path, &columns).unwrap();
    table.append(&[("a", &numbers(0..25)), ("b", &numbers(0..25))]).unwrap();
    table.close().unwrap();
    fs::write(path.join("b/meta/sizes"), "{\"shape\": [17]}").unwrap();
    let error = Table::open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("Table::recover"), "{error}");
    let table = Table::recover(&path, &options()).unwrap();
    assert_eq!(table.array("a").unwrap().to_vec().unwrap(), numbers(0..17));
    assert_eq!(table.array("b").unwrap().to_vec().unwrap(), numbers(0..17));
}

#[test]
fn an_intent_is_rolled_forward_unless_somebody_went_on() {
    let scratch = Scratch::new();
    let path = scratch.path("t");
    let columns = TableOptions::new().with_column("a", small()).with_column("b", small());
    let mut table = Table::create(&path, &columns).unwrap();
    table.append(&[("a", &numbers(0..25)), ("b", &numbers(0..25))]).unwrap();
    table.close().unwrap();
    let intent = "{\"version\": 1, \"columns\": [[\"a\", 17, 25], [\"b\", 17, 25]]}\n";
    let set = |a: u64, b: u64| {
        fs::write(path.join("a/meta/sizes"), format!("{{\"shape\": [{a}]}}")).unwrap();
        fs::write(path.join("b/meta/sizes"), format!("{{\"shape\": [{b}]}}")).unwrap();
        fs::write(path.join(".b2commit"), intent).unwrap();
    };
    for (a, b) in [(17, 25), (17, 17), (25, 25), (25, 17)] {
        set(a, b);
        assert_eq!(Table::open(&path).unwrap().row_count(), 25, "{a} {b}");
        assert!(path.join(".b2commit").exists());
        assert_eq!(Table::edit(&path).unwrap().row_count(), 25, "{a} {b}");
        assert!(!path.join(".b2commit").exists());
        assert_eq!(Table::open(&path).unwrap().array("b").unwrap().row_count(), 25);
    }
    set(12, 12);
    assert_eq!(Table::open(&path).unwrap().row_count(), 12);
    set(12, 17);
    assert_eq!(kind(Table::open(&path)), ErrorKind::Corrupt);
    let most = u64::MAX;
    let absurd =
        format!("{{\"version\": 1, \"columns\": [[\"a\", 9, {most}], [\"b\", 9, {most}]]}}");
    set(9, 9);
    fs::write(path.join(".b2commit"), absurd).unwrap();
    assert_eq!(kind(Table::open(&path)), ErrorKind::Corrupt);
    fs::write(path.join(".b2commit"), "{\"version\": 2}").unwrap();
    assert_eq!(kind(Table::open(&path)), ErrorKind::Unsupported);
}

#[test]
fn names_and_texts_that_are_traps_are_refused() {
    let scratch = Scratch::new();
    let path = scratch.path("t");
    let columns = TableOptions::new().with_column("meta", small()).with_column("data", small());
    let mut table = Table::create(&path, &columns).unwrap();
    table.append(&[("meta", &numbers(0..3)), ("data", &numbers(0..3))]).unwrap();
    table.close().unwrap();
    assert_eq!(Table::open(&path).unwrap().row_count(), 3);
    assert_eq!(
        superchunk::detect::path(&path).unwrap().format,
        superchunk::detect::Format::BcolzTable
    );
    let rootdirs = |text: String| {
        fs::write(path.join("__rootdirs__"), text).unwrap();
        kind(Table::open(&path))
    };
    let many = vec!["\"meta\""; 100_000].join(", ");
    assert_eq!(rootdirs(format!("{{\"names\": [{many}]}}")), ErrorKind::Corrupt);
    assert_eq!(rootdirs("{\"names\": [\"/etc\"]}".to_owned()), ErrorKind::Corrupt);
    assert_eq!(rootdirs("{\"names\": [\"../t\"]}".to_owned()), ErrorKind::Corrupt);
    assert_eq!(rootdirs("{\"names\": [\"none\"]}".to_owned()), ErrorKind::NotFound);
    assert_eq!(rootdirs("[".repeat(200_000)), ErrorKind::LimitExceeded);
    assert_eq!(rootdirs(" ".repeat(20 << 20)), ErrorKind::LimitExceeded);
    #[cfg(unix)]
    {
        fs::remove_dir_all(path.join("data")).unwrap();
        std::os::unix::fs::symlink(".", path.join("data")).unwrap();
        assert_eq!(rootdirs("{\"names\": [\"meta\", \"data\"]}".to_owned()), ErrorKind::Corrupt);
    }
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
    fs::write(path.join("meta/__attrs__"), deep).unwrap();
    assert_eq!(kind(Array::open(path.join("meta"))), ErrorKind::LimitExceeded);
}

/// An array of Python objects, as bcolz writes it: a chunk file for each.
fn object_array(path: &Path, pickles: &[&[u8]]) {
    fs::create_dir_all(path.join("meta")).unwrap();
    fs::create_dir_all(path.join("data")).unwrap();
    let sizes = format!("{{\"shape\": [{}], \"nbytes\": 0, \"cbytes\": 0}}", pickles.len());
    fs::write(path.join("meta/sizes"), sizes).unwrap();
    let storage = "{\"dtype\": \"object\", \"cparams\": {\"clevel\": 5, \"shuffle\": 1, \"cname\": \
        \"lz4\", \"quantize\": 0}, \"chunklen\": 2048, \"expectedlen\": 5, \"dflt\": 0}";
    fs::write(path.join("meta/storage"), storage).unwrap();
    let compress = CompressOptions::new(1).with_format(superchunk::ChunkFormat::Blosc1);
    for (row, pickle) in pickles.iter().enumerate() {
        let mut file = b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
        file.extend(superchunk::chunk::compress(pickle, &compress).unwrap());
        fs::write(path.join(format!("data/__{row}.blp")), file).unwrap();
    }
}

#[test]
fn a_pickle_is_never_executed() {
    let scratch = Scratch::new();
    let (path, proof) = (scratch.path("objects"), scratch.path("executed"));
    let call = format!("cposix\nsystem\n(S'touch {}'\ntR.", proof.display());
    let list = b"\x80\x04\x95\x0b\0\0\0\0\0\0\0]\x94(K\x01K\x02e.";
    object_array(&path, &[call.as_bytes(), list]);
    let array = Array::open(&path).unwrap();
    assert!(array.is_object());
    assert_eq!(array.object_bytes(0).unwrap(), call.as_bytes());
    assert_eq!(kind(array.object(0)), ErrorKind::Unsupported);
    assert_eq!(array.object(1).unwrap(), Value::Array(vec![Value::Int(1), Value::Int(2)]));
    assert!(!proof.exists());
    assert_eq!(kind(array.read::<i32>(0..1)), ErrorKind::Unsupported);
    assert_eq!(kind(Array::edit(&path).unwrap().append(&[0; 8])), ErrorKind::Unsupported);
}

#[test]
fn a_length_of_a_few_digits_takes_no_memory() {
    let dir = memory();
    Array::create_in_dir(dir.clone(), &small()).unwrap().close().unwrap();
    let meta = dir.open_folder("meta").unwrap();
    for rows in ["4611686018427387904", "1000000000000"] {
        meta.remove("sizes").unwrap();
        let text = format!("{{\"shape\": [{rows}]}}");
        meta.create("sizes").unwrap().write_at(0, text.as_bytes()).unwrap();
        let error = Array::open_in_dir(dir.clone(), &options()).unwrap_err();
        assert!([ErrorKind::Corrupt, ErrorKind::Truncated].contains(&error.kind()), "{error}");
    }
}

/// A small table with its files, each of which can be replaced.
fn victim() -> (Arc<dyn Dir>, Vec<(&'static str, &'static str)>) {
    let dir = memory();
    let columns = TableOptions::new().with_column("a", small());
    let mut table = Table::create_in_dir(dir.clone(), &columns).unwrap();
    table.append(&[("a", &numbers(0..25))]).unwrap();
    table.set_attribute("x", 1.5).unwrap();
    table.close().unwrap();
    let files = [
        ("", "__rootdirs__"),
        ("", "__attrs__"),
        ("meta", "sizes"),
        ("meta", "storage"),
        ("data", "__0.blp"),
        ("data", "__2.blp"),
    ];
    (dir, files.to_vec())
}

/// Opens, reads and edits whatever a damaged folder has become.
fn use_all(dir: &Arc<dyn Dir>) -> Result<Vec<Vec<u8>>> {
    let limits = Limits::default().with_max_decoded(1 << 16).with_max_metadata(1 << 16);
    let options = OpenOptions::new().with_limits(limits);
    let table = Table::open_in_dir(dir.clone(), &options)?;
    let arrays = table.arrays();
    arrays.iter().map(|(_, array)| array.rows(0..array.row_count().min(1000))).collect()
}

#[test]
fn no_damage_to_any_file_is_more_than_an_error() {
    let (dir, files) = victim();
    let rows = use_all(&dir).unwrap();
    for (folder, name) in files {
        let is_chunk = name.ends_with("blp");
        let folder = match folder {
            "" => dir.clone(),
            folder => dir.open_folder("a").unwrap().open_folder(folder).unwrap(),
        };
        let store = folder.open(name).unwrap();
        let mut good = vec![0; usize::try_from(store.len().unwrap()).unwrap()];
        store.read_exact_at(0, &mut good).unwrap();
        let replace = |bytes: &[u8]| {
            folder.remove(name).unwrap();
            folder.create(name).unwrap().write_at(0, bytes).unwrap();
        };
        for cut in truncations(&good) {
            replace(cut);
            // Half a text may be a whole one; half a chunk is none, but it can do without its checksum.
            let whole = cut.len() + 16 >= good.len();
            let found = use_all(&dir);
            assert!(!is_chunk || found.is_ok() == whole, "{name} cut to {}", cut.len());
            assert!(!is_chunk || found.is_err() || found.unwrap() == rows, "{name}");
        }
        for_each_mutation(&good, |_, bad| {
            replace(bad);
            let found = use_all(&dir);
            assert!(!is_chunk || found.is_err() || found.unwrap() == rows, "{name} changed");
        });
        replace(&good);
        assert_eq!(use_all(&dir).unwrap(), rows);
    }
}
