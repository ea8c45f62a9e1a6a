//! The real bcolz-zipline reads and changes what we write, and we what it writes.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::path::Path;

use serde_json::{Value, json};
use superchunk::bcolz::{Array, ArrayOptions, Table, TableOptions};
use superchunk::frame::Durability;
use superchunk::{Codec, CompressOptions, DType, Filter, Json, OpenOptions};
use superchunk_testkit::legacy_peer::{ColumnParams, LegacyPeer};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

/// Every kind of type that the fork can open, with the JSON of a default that is not zero.
const TYPES: [(&str, &str); 20] = [
    ("|b1", "true"),
    ("|i1", "-3"),
    ("<i2", "-300"),
    ("<i4", "7"),
    ("<i8", "-9007199254740993"),
    ("|u1", "200"),
    ("<u2", "60000"),
    ("<u4", "4000000000"),
    ("<u8", "18446744073709551615"),
    ("<f2", "1.5"),
    ("<f4", "0.25"),
    ("<f8", "-1e+300"),
    (">i4", "7"),
    (">f8", "2.5"),
    (">u2", "513"),
    ("|S7", "\"ab\""),
    ("<U4", "\"xyz\""),
    ("<M8[ns]", "12345"),
    ("<m8[ns]", "-5"),
    ("|S300", "\"\""),
];

const CODECS: [(&str, Codec); 5] = [
    ("blosclz", Codec::BloscLz),
    ("lz4", Codec::Lz4),
    ("lz4hc", Codec::Lz4Hc),
    ("zlib", Codec::Zlib),
    ("zstd", Codec::Zstd),
];

/// Rows of a type: small numbers, so that chunks compress, and some noise.
fn rows(dtype: &str, count: usize, rng: &mut Rng) -> Vec<u8> {
    let parsed = DType::parse(dtype).unwrap();
    let size = parsed.item_size();
    let mut bytes = rng.bytes(count * size);
    match dtype {
        "|b1" => bytes.iter_mut().for_each(|byte| *byte &= 1),
        // Half of the letters are ASCII, and all are code points.
        "<U4" => bytes.chunks_mut(4).for_each(|letter| {
            let [a, b, ..] = [letter[0], letter[1]];
            letter.copy_from_slice(&u32::from(a & 0x7f | b & 0x40).to_le_bytes());
        }),
        "|S7" | "|S300" => bytes.iter_mut().for_each(|byte| *byte = *byte % 26 + 97),
        _ => bytes.chunks_mut(size).for_each(|item| item[size / 2..].fill(0)),
    }
    bytes
}

/// Does not wait for the disk.
fn quick() -> OpenOptions {
    OpenOptions::new().with_durability(Durability::Process)
}

fn same(found: &[u8], expected: &[u8], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    assert!(found == expected, "{what}: the bytes differ");
}

/// Both see these rows.
fn check_array(peer: &mut LegacyPeer, path: &Path, expected: &[u8], what: &str) {
    let theirs = peer.bcolz_read_array(path).unwrap_or_else(|words| panic!("{what}: {words}"));
    same(&theirs.bytes, expected, &format!("{what}, bcolz"));
    let ours = Array::open(path).unwrap();
    same(&ours.to_vec().unwrap(), expected, &format!("{what}, ours"));
    assert_eq!(ours.shape(), theirs.shape, "{what}");
    assert_eq!(ours.dtype(), &DType::parse(&theirs.dtype).unwrap(), "{what}");
}

#[test]
fn every_type_made_here_is_read_and_changed_by_bcolz() {
    let (scratch, mut peer, mut rng) = (Scratch::new(), LegacyPeer::spawn(), Rng::new(1));
    for (number, (dtype, default)) in TYPES.into_iter().enumerate() {
        let (cname, codec) = CODECS[number % 5];
        let filter = [None, Some(Filter::Shuffle), Some(Filter::BitShuffle)][number % 3];
        let row_shape = [vec![], vec![3], vec![2, 2]][number % 7 % 3].clone();
        let what = format!("{dtype} {cname} {filter:?} {row_shape:?}");
        let path = scratch.path(&format!("a{number}"));
        let compress = CompressOptions::new(1).with_codec(codec).with_filters(filter);
        let options = ArrayOptions::new(DType::parse(dtype).unwrap())
            .with_row_shape(row_shape.clone())
            .with_compress(compress)
            .with_chunk_rows(20)
            .with_durability(Durability::Process)
            .with_default(Json::parse(default).unwrap());
        let per_row: usize = row_shape.iter().product();
        let row_size = options.dtype.item_size() * per_row;
        let mut expected = rows(dtype, 53 * per_row, &mut rng);
        let mut array = Array::create(&path, &options).unwrap();
        array.append(&expected).unwrap();
        array.set_attribute("unit", "é").unwrap();
        array.close().unwrap();
        check_array(&mut peer, &path, &expected, &what);
        assert_eq!(peer.bcolz_read_array(&path).unwrap().attrs, json!({"unit": "é"}));
        // bcolz goes on from there.
        let more = rows(dtype, 30 * per_row, &mut rng);
        peer.bcolz_append(&path, &[&more]).unwrap_or_else(|words| panic!("{what}: {words}"));
        expected.extend(&more);
        check_array(&mut peer, &path, &expected, &what);
        peer.bcolz_trim(&path, 9).unwrap();
        expected.truncate(74 * row_size);
        check_array(&mut peer, &path, &expected, &what);
        // And so do we: the default of new rows is the same for both.
        let mut array = Array::edit_with(&path, &quick()).unwrap();
        array.write_rows(18, &more[..4 * row_size]).unwrap();
        array.resize(90).unwrap();
        array.close().unwrap();
        let resized = Array::open(&path).unwrap().to_vec().unwrap();
        peer.bcolz_resize(&path, 101).unwrap();
        expected[18 * row_size..22 * row_size].copy_from_slice(&more[..4 * row_size]);
        expected.extend_from_slice(&resized[74 * row_size..]);
        let new_row = resized[89 * row_size..].to_vec();
        (0..11).for_each(|_| expected.extend_from_slice(&new_row));
        check_array(&mut peer, &path, &expected, &what);
        let stored = Array::open(&path).unwrap().default_value().clone();
        assert_eq!(stored, Json::parse(default).unwrap(), "{what}");
    }
}

#[test]
fn every_type_made_by_bcolz_is_read_and_changed_here() {
    let (scratch, mut peer, mut rng) = (Scratch::new(), LegacyPeer::spawn(), Rng::new(2));
    for (number, (dtype, _)) in TYPES.into_iter().enumerate() {
        let (codec, _) = CODECS[(number + 2) % 5];
        let row_shape = [vec![], vec![], vec![2, 3]][number % 3].clone();
        let what = format!("{dtype} {codec} {row_shape:?}");
        let path = scratch.path(&format!("b{number}"));
        let params = ColumnParams {
            dtype: dtype.to_owned(),
            row_shape: row_shape.clone(),
            chunk_len: 16,
            codec,
            level: 5,
            shuffle: u8::try_from(number % 3).unwrap(),
            default: Value::Null,
        };
        let per_row: usize = row_shape.iter().product();
        let row_size = DType::parse(dtype).unwrap().item_size() * per_row;
        let mut expected = rows(dtype, 45 * per_row, &mut rng);
        let made = peer.bcolz_make_array(&path, &params, &expected);
        made.unwrap_or_else(|words| panic!("{what}: {words}"));
        check_array(&mut peer, &path, &expected, &what);
        let mut array = Array::edit_with(&path, &quick()).unwrap();
        let more = rows(dtype, 20 * per_row, &mut rng);
        array.append(&more).unwrap();
        array.write_rows(30, &more).unwrap();
        array.truncate(array.row_count() - 7).unwrap();
        array.close().unwrap();
        expected.extend(&more);
        expected[30 * row_size..50 * row_size].copy_from_slice(&more);
        expected.truncate(58 * row_size);
        check_array(&mut peer, &path, &expected, &what);
        peer.bcolz_write(&path, 14, &more[..5 * row_size]).unwrap();
        expected[14 * row_size..19 * row_size].copy_from_slice(&more[..5 * row_size]);
        check_array(&mut peer, &path, &expected, &what);
        let mut array = Array::edit_with(&path, &quick()).unwrap();
        array.resize(0).unwrap();
        array.commit().unwrap();
        check_array(&mut peer, &path, &[], &what);
        array.append(&more).unwrap();
        array.close().unwrap();
        check_array(&mut peer, &path, &more, &what);
    }
}

/// What a table must hold.
#[derive(Default)]
struct Model {
    columns: Vec<(String, usize, Vec<u8>)>,
    attrs: Vec<(String, u64)>,
}

impl Model {
    fn len(&self) -> usize {
        self.columns[0].2.len() / self.columns[0].1
    }

    fn check(&self, peer: &mut LegacyPeer, path: &Path, step: &str) {
        let theirs = peer.bcolz_read_table(path).unwrap_or_else(|words| panic!("{step}: {words}"));
        let ours = Table::open(path).unwrap_or_else(|error| panic!("{step}: {error}"));
        assert!(theirs.names.iter().eq(self.columns.iter().map(|(name, ..)| name)), "{step}");
        assert!(ours.names().eq(self.columns.iter().map(|(name, ..)| name.as_str())), "{step}");
        assert_eq!(
            (theirs.len, ours.row_count()),
            (self.len() as u64, self.len() as u64),
            "{step}"
        );
        for ((name, _, bytes), theirs) in self.columns.iter().zip(&theirs.columns) {
            same(theirs, bytes, &format!("{step}: {name}, bcolz"));
            same(&ours.array(name).unwrap().to_vec().unwrap(), bytes, &format!("{step}: {name}"));
        }
        for (name, value) in &self.attrs {
            assert_eq!(theirs.attrs[name], *value, "{step}");
            assert_eq!(ours.attributes().get(name).and_then(Json::as_u64), Some(*value), "{step}");
        }
    }
}

const COLUMNS: [(&str, &str, u64); 3] = [("i", "<i4", 10), ("f", "<f8", 7), ("s", "|S7", 25)];

#[test]
fn a_table_that_both_change_in_turn_is_always_what_a_model_says() {
    let (scratch, mut peer, mut rng) = (Scratch::new(), LegacyPeer::spawn(), Rng::new(7));
    let path = scratch.path("shared.bcolz");
    let mut options = TableOptions::new().with_durability(Durability::Process);
    let mut model = Model::default();
    for (name, dtype, chunk_len) in COLUMNS {
        let dtype = DType::parse(dtype).unwrap();
        model.columns.push((name.to_owned(), dtype.item_size(), Vec::new()));
        options = options.with_column(name, ArrayOptions::new(dtype).with_chunk_rows(chunk_len));
    }
    Table::create(&path, &options).unwrap().close().unwrap();
    for step in 0..200 {
        let by_us = rng.below(2) == 0;
        let what = if by_us {
            change_here(&path, &mut model, &mut rng)
        } else {
            change_there(&mut peer, &path, &mut model, &mut rng)
        };
        model.check(&mut peer, &path, &format!("step {step}, {what}, by us: {by_us}"));
    }
}

fn dtype_of(name: &str) -> &'static str {
    COLUMNS.iter().find(|(known, ..)| *known == name).map_or("<i2", |(_, dtype, _)| dtype)
}

/// New rows for all columns, which the model takes.
fn grow(model: &mut Model, count: usize, rng: &mut Rng) -> Vec<Vec<u8>> {
    let columns = model.columns.iter_mut().map(|(name, _, bytes)| {
        let new = rows(dtype_of(name), count, rng);
        bytes.extend_from_slice(&new);
        new
    });
    columns.collect()
}

fn shrink(model: &mut Model, rows: usize) {
    model.columns.iter_mut().for_each(|(_, size, bytes)| bytes.resize(rows * *size, 0));
}

/// A change of some rows of a column, which the model takes: column, start, bytes.
fn overwrite(model: &mut Model, rng: &mut Rng) -> (usize, usize, Vec<u8>) {
    let (column, len) = (rng.index(model.columns.len()), model.len());
    let start = rng.index(len);
    let (name, size, bytes) = &mut model.columns[column];
    let new = rows(dtype_of(name), 1 + rng.index(len - start), rng);
    bytes[start * *size..start * *size + new.len()].copy_from_slice(&new);
    (column, start, new)
}

fn change_here(path: &Path, model: &mut Model, rng: &mut Rng) -> String {
    let mut table = Table::edit_with(path, &quick()).unwrap();
    let what = match rng.below(9) {
        0..=2 => {
            let count = rng.index(40);
            let new = grow(model, count, rng);
            let parts = model.columns.iter().zip(&new).map(|((name, ..), new)| (&**name, &**new));
            table.append(&parts.collect::<Vec<_>>()).unwrap();
            format!("append {count}")
        }
        3 => {
            let count = rng.index(model.len().min(30) + 1);
            shrink(model, model.len() - count);
            table.truncate(table.row_count() - count as u64).unwrap();
            format!("trim {count}")
        }
        4 => {
            let count = rng.index(120);
            shrink(model, count);
            table.resize(count as u64).unwrap();
            format!("resize {count}")
        }
        5 if model.len() > 0 => {
            let (column, start, new) = overwrite(model, rng);
            table.write_rows(&model.columns[column].0, start as u64, &new).unwrap();
            format!("write {start} of {column}")
        }
        6 if model.columns.len() < 6 => {
            let (name, new) = (format!("x{}", rng.below(1000)), rows("<i2", model.len(), rng));
            let options = ArrayOptions::of::<i16>().with_chunk_rows(13);
            table.commit().unwrap();
            table.add_column(&name, &options, &new).unwrap();
            model.columns.push((name, 2, new));
            "add a column".to_owned()
        }
        7 if model.columns.len() > 3 => {
            let (name, ..) = model.columns.pop().unwrap();
            table.commit().unwrap();
            match rng.below(2) {
                0 => table.remove_column(&name).unwrap(),
                _ => {
                    let new = table.array(&name).unwrap().to_vec().unwrap();
                    table.rename_column(&name, "renamed").unwrap();
                    table.remove_column("renamed").unwrap();
                    assert_eq!(new.len(), 2 * model.len());
                }
            }
            "remove a column".to_owned()
        }
        _ => {
            let name = format!("a{}", rng.below(4));
            model.attrs.retain(|(known, _)| *known != name);
            model.attrs.push((name.clone(), rng.below(99)));
            table.set_attribute(&name, model.attrs.last().unwrap().1).unwrap();
            "attribute".to_owned()
        }
    };
    table.close().unwrap();
    what
}

fn change_there(peer: &mut LegacyPeer, path: &Path, model: &mut Model, rng: &mut Rng) -> String {
    match rng.below(8) {
        0..=2 => {
            // bcolz takes no append of nothing.
            let count = 1 + rng.index(40);
            let new = grow(model, count, rng);
            peer.bcolz_append(path, &new.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
            format!("append {count}")
        }
        3 if model.len() > 0 => {
            let count = 1 + rng.index(model.len().min(30));
            shrink(model, model.len() - count);
            peer.bcolz_trim(path, count as u64).unwrap();
            format!("trim {count}")
        }
        4 => {
            let count = rng.index(120);
            shrink(model, count);
            peer.bcolz_resize(path, count as u64).unwrap();
            format!("resize {count}")
        }
        5 if model.len() > 0 => {
            let (column, start, new) = overwrite(model, rng);
            peer.bcolz_write(&path.join(&model.columns[column].0), start as u64, &new).unwrap();
            format!("write {start} of {column}")
        }
        6 if model.columns.len() < 6 && model.len() > 0 => {
            let (name, new) = (format!("y{}", rng.below(1000)), rows("<i2", model.len(), rng));
            peer.bcolz_add_column(path, &name, "<i2", &new).unwrap();
            model.columns.push((name, 2, new));
            "add a column".to_owned()
        }
        7 if model.columns.len() > 3 => {
            let (name, ..) = model.columns.pop().unwrap();
            peer.bcolz_remove_column(path, &name).unwrap();
            "remove a column".to_owned()
        }
        _ => {
            let name = format!("a{}", rng.below(4));
            model.attrs.retain(|(known, _)| *known != name);
            model.attrs.push((name.clone(), rng.below(99)));
            let value = json!(model.attrs.last().unwrap().1);
            peer.bcolz_set_attr(path, &name, &value).unwrap();
            "attribute".to_owned()
        }
    }
}

#[test]
fn what_bcolz_has_written_is_unverified_and_damage_is_told_from_it() {
    let (scratch, mut peer) = (Scratch::new(), LegacyPeer::spawn());
    let path = scratch.path("a");
    let options = ArrayOptions::of::<u32>().with_chunk_rows(100);
    // Stored as they are: no bit of such a chunk makes decoding fail.
    let options = options.with_compress(CompressOptions::new(1).with_level(0));
    let mut array = Array::create(&path, &options).unwrap();
    let mut items: Vec<u32> = (0..1050).collect();
    array.append_items(&items).unwrap();
    array.close().unwrap();
    let counts = |path: &Path| {
        let report = Array::open(path).unwrap().verify().unwrap();
        let damaged: Vec<usize> = report.damaged.iter().map(|(number, _)| *number).collect();
        (report.checked, report.decoded, damaged)
    };
    assert_eq!(counts(&path), (11, 0, vec![]));
    // bcolz writes the chunks 3 and 4 anew, and the last one, which it does whenever it is flushed.
    peer.bcolz_write(&path, 350, &[7; 4 * 100]).unwrap();
    items[350..450].fill(0x0707_0707);
    assert_eq!(counts(&path), (8, 3, vec![]));
    assert_eq!(Array::open(&path).unwrap().read::<u32>(0..1050).unwrap(), items);
    peer.bcolz_append(&path, &[&[1; 4]]).unwrap();
    assert_eq!(counts(&path), (8, 3, vec![]));
    let file = path.join("data/__5.blp");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    assert_eq!(counts(&path), (7, 3, vec![5]));
    let array = Array::open(&path).unwrap();
    assert_eq!(array.read::<u32>(500..600).unwrap_err().kind(), superchunk::ErrorKind::Corrupt);
    assert_eq!(array.read::<u32>(600..700).unwrap(), items[600..700]);
}

#[test]
fn expressions_of_bcolz_run_over_our_tables() {
    let (scratch, mut peer) = (Scratch::new(), LegacyPeer::spawn());
    let path = scratch.path("t.bcolz");
    let options = TableOptions::new()
        .with_column("x", ArrayOptions::of::<i32>().with_chunk_rows(100))
        .with_column("y", ArrayOptions::of::<f64>().with_chunk_rows(64));
    let mut table = Table::create(&path, &options).unwrap();
    let x: Vec<u8> = (0..1000i32).flat_map(i32::to_le_bytes).collect();
    let y: Vec<u8> = (0..1000i32).flat_map(|i| f64::from(i % 10).to_le_bytes()).collect();
    table.append(&[("y", &y), ("x", &x)]).unwrap();
    table.close().unwrap();
    assert_eq!(peer.bcolz_count_where(&path, "(x > 899) & (y == 3)"), Ok(10));
}

#[test]
fn a_table_of_bcolz_is_read_here() {
    let (scratch, mut peer) = (Scratch::new(), LegacyPeer::spawn());
    let path = scratch.path("t.bcolz");
    let numbers: Vec<u8> = (0..25i32).flat_map(i32::to_le_bytes).collect();
    peer.bcolz_make_table(&path, 10, &[("a", "<i4", &numbers), ("b", "<i4", &numbers)]).unwrap();
    let table = Table::open(&path).unwrap();
    assert_eq!(table.array("b").unwrap().to_vec().unwrap(), numbers);
    assert_eq!(peer.bcolz_read_table(&path).unwrap().columns, [numbers.clone(), numbers]);
}

#[test]
fn floats_are_rounded_as_bcolz_rounds_them() {
    let (scratch, mut peer, mut rng) = (Scratch::new(), LegacyPeer::spawn(), Rng::new(17));
    for digits in 1..=12 {
        for dtype in ["<f8", "<f4"] {
            let noise = rng.bytes(2 * 95);
            let noise = noise.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair));
            let bytes: Vec<u8> = match dtype {
                "<f4" => noise.flat_map(|x| ((f32::from(x) - 3e4) / 7.77).to_le_bytes()).collect(),
                _ => noise.flat_map(|x| ((f64::from(x) - 3e4) / 7.77).to_le_bytes()).collect(),
            };
            let (one, other) = bytes.split_at(40 * bytes.len() / 95);
            let paths =
                ["ours", "theirs"].map(|who| scratch.path(&format!("{who}{digits}{dtype}")));
            for path in &paths {
                let options = ArrayOptions::new(DType::parse(dtype).unwrap())
                    .with_chunk_rows(30)
                    .with_durability(Durability::Process);
                Array::create(path, &options).unwrap().close().unwrap();
                let storage = path.join("meta/storage");
                let text = std::fs::read_to_string(&storage).unwrap();
                let told = format!("\"quantize\": {digits}");
                std::fs::write(&storage, text.replace("\"quantize\": 0", &told)).unwrap();
            }
            for part in [one, other] {
                let mut array = Array::edit_with(&paths[0], &quick()).unwrap();
                array.append(part).unwrap();
                array.close().unwrap();
                peer.bcolz_append(&paths[1], &[part]).unwrap();
            }
            let theirs = peer.bcolz_read_array(&paths[1]).unwrap().bytes;
            check_array(&mut peer, &paths[0], &theirs, &format!("{digits} digits of {dtype}"));
            assert!(theirs != bytes || digits > 3, "{digits} digits of {dtype} are not all");
        }
    }
}
