//! Arrays and tables that the real programs wrote, from carray 0.5 to bcolz-zipline 1.13, hold what
//! those programs say; hostile folders are refused, or read, as the index says.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use serde_json::Value;
use superchunk::bcolz::{Array, Origin, Table};
use superchunk::{Error, ErrorKind, Json, JsonStyle};
use superchunk_testkit::vectors::{Vector, family, sha256_hex};

/// The vectors of one kind; there must be at least `count`.
fn vectors(kind: &str, count: usize) -> Vec<Vector> {
    let mut found = all();
    found.retain(|vector| vector.text(&["kind"]) == Some(kind));
    assert!(found.len() >= count, "only {} vectors of kind {kind}", found.len());
    found
}

/// Those of the repository and the further ones.
fn all() -> Vec<Vector> {
    ["legacy", "legacy/bcolz"].into_iter().flat_map(family).collect()
}

fn shape(fields: &Value) -> Vec<u64> {
    fields["shape"].as_array().unwrap().iter().map(|side| side.as_u64().unwrap()).collect()
}

/// Compares attributes as Python would: by value.
fn check_attrs(found: &Json, fields: &Value, name: &str) {
    let text = found.to_text(JsonStyle::Compact);
    if fields["attrs"].is_null() || text.contains("NaN") || text.contains("Infinity") {
        return;
    }
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found, fields["attrs"], "{name}");
}

fn check_array(array: &Array, fields: &Value, name: &str) {
    assert_eq!(array.shape(), shape(fields), "{name}");
    assert_eq!(Some(array.chunk_rows()), fields["chunklen"].as_u64(), "{name}");
    // Of structures the index tells the fields apart.
    let stated = fields["dtype_descr"].as_str().or(fields["dtype_str"].as_str()).unwrap();
    assert_eq!(array.dtype(), &superchunk::DType::parse(stated).unwrap(), "{name}");
    check_attrs(array.attributes(), fields, name);
    let bytes = array.to_vec().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(Some(bytes.len() as u64), fields["raw_nbytes"].as_u64(), "{name}");
    assert_eq!(Some(&*sha256_hex(&bytes)), fields["raw_sha256"].as_str(), "{name}");
    check_parts(array, &bytes, name);
    assert!(array.verify().unwrap().is_good(), "{name}");
}

/// Ranges and single rows are those of the whole.
fn check_parts(array: &Array, bytes: &[u8], name: &str) {
    let (len, size) = (array.row_count(), array.row_size());
    let place = |row: u64| usize::try_from(row).unwrap() * size;
    for (start, end) in [(0, len.min(1)), (len / 3, len - len / 4), (len.saturating_sub(2), len)] {
        let found = array.rows(start..end).unwrap();
        assert!(found == bytes[place(start)..place(end)], "{name}: rows {start}..{end}");
    }
    let rows: Vec<u64> = (0..len).rev().step_by(3).chain((0..len).step_by(7)).collect();
    let mut found = vec![0; rows.len() * size];
    array.gather(&rows, &mut found).unwrap();
    for (row, found) in rows.iter().zip(found.chunks(size)) {
        assert!(found == &bytes[place(*row)..place(row + 1)], "{name}: row {row}");
    }
}

#[test]
fn every_carray_holds_what_its_program_says() {
    for vector in vectors("bcolz-carray", 80) {
        let fields = Value::Object(vector.fields.clone());
        let name = vector.name();
        let array = Array::open(&vector.path).unwrap_or_else(|error| panic!("{name}: {error}"));
        if fields["object_rows"].is_array() {
            check_objects(&array, &fields);
            continue;
        }
        check_array(&array, &fields, name);
        let early = name.starts_with("carray") || name.starts_with("bcolz-0.7");
        let dialect = if early { Origin::Early } else { Origin::Modern };
        assert_eq!(array.origin(), dialect, "{name}");
    }
}

fn check_objects(array: &Array, fields: &Value) {
    assert!(array.is_object());
    assert_eq!(array.rows(0..1).unwrap_err().kind(), ErrorKind::Unsupported);
    let rows = fields["object_rows"].as_array().unwrap();
    assert_eq!(array.row_count(), rows.len() as u64);
    for (row, stated) in (0..).zip(rows) {
        let pickle = array.object_bytes(row).unwrap();
        assert_eq!(Some(&*sha256_hex(&pickle)), stated["sha256"].as_str());
        array.object(row).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(array.object_bytes(array.row_count()).is_err());
}

#[test]
fn every_ctable_holds_what_its_program_says() {
    for vector in vectors("bcolz-ctable", 14) {
        let name = vector.name();
        let table = Table::open(&vector.path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let fields = Value::Object(vector.fields.clone());
        let names = fields["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        assert!(table.names().eq(names), "{name}");
        assert_eq!(Some(table.row_count()), fields["len"].as_u64(), "{name}");
        check_attrs(table.attributes(), &fields, name);
        for (column, fields) in fields["columns"].as_object().unwrap() {
            check_array(table.array(column).unwrap(), fields, &format!("{name}/{column}"));
        }
    }
}

/// Opens whatever a folder is, and reads all of it.
fn read_all(vector: &Vector) -> Result<(), Error> {
    if vector.path.join("__rootdirs__").exists() {
        let table = Table::open(&vector.path)?;
        return table.arrays().iter().try_for_each(|(_, array)| array.to_vec().map(drop));
    }
    Array::open(&vector.path)?.to_vec().map(drop)
}

#[test]
fn hostile_folders_are_refused_or_read_as_the_index_says() {
    for vector in vectors("hostile-bcolz", 17) {
        let name = vector.name();
        match (read_all(&vector), vector.text(&["expect"])) {
            (Ok(()), Some("accept")) => {}
            (Err(error), Some("reject")) => {
                let damage = [ErrorKind::Corrupt, ErrorKind::Truncated, ErrorKind::NotFound];
                assert!(damage.contains(&error.kind()), "{name}: {error:?}");
                assert!(error.subject().is_some(), "{name}: {error}");
            }
            (found, _) => panic!("{name}: {found:?}"),
        }
    }
}

#[test]
fn further_hostile_folders_are_refused() {
    let further = family("hostile").into_iter().filter(|v| v.text(&["kind"]) == Some("bcolz"));
    for vector in further {
        let name = vector.name();
        let error = read_all(&vector).unwrap_err();
        let kind = match name {
            "k17_self_symlink.bcolz" => ErrorKind::Corrupt,
            "k18_attrs_depth.bcolz" => ErrorKind::LimitExceeded,
            _ => error.kind(),
        };
        assert_eq!(error.kind(), kind, "{error}");
        assert!(!matches!(kind, ErrorKind::Io | ErrorKind::InvalidArgument), "{name}: {error:?}");
    }
}

#[test]
fn attributes_that_are_no_strict_json_are_kept() {
    let vector = all().into_iter().find(|v| v.name().ends_with("bc_attrs_nan")).unwrap();
    let array = Array::open(&vector.path).unwrap();
    let numbers =
        array.attributes().as_object().unwrap().iter().filter_map(|(_, value)| match value {
            Json::Number(text) => Some(text.as_str()),
            _ => None,
        });
    let numbers: Vec<&str> = numbers.collect();
    assert!(numbers.contains(&"NaN"), "{numbers:?}");
    assert!(numbers.iter().any(|number| number.len() > 20), "{numbers:?}");
}

#[test]
fn the_zipline_bundle_of_2016_shows_its_prices() {
    let Some(vector) = all().into_iter().find(|v| v.name().starts_with("wild/zipline")) else {
        assert!(std::env::var_os("SUPERCHUNK_VECTORS").is_none(), "the bundle is missing");
        return;
    };
    let table = Table::open(&vector.path).unwrap();
    assert_eq!(table.row_count(), 24_646);
    assert_eq!(table.array("close").unwrap().origin(), Origin::Early);
    let first =
        table.attributes().get("first_row").and_then(|rows| rows.get("3")?.as_u64()).unwrap();
    let last = table.attributes().get("last_row").and_then(|rows| rows.get("3")?.as_u64()).unwrap();
    let ids: Vec<u32> = table.array("id").unwrap().read(first..last + 1).unwrap();
    assert!(ids.iter().all(|id| *id == 3));
    let days: Vec<u32> = table.array("day").unwrap().read(first..last + 1).unwrap();
    assert!(days.windows(2).all(|pair| pair[0] < pair[1]));
    // Prices are thousandths: a low is no higher than a close, and both are those of shares.
    let close: Vec<u32> = table.array("close").unwrap().read(first..last + 1).unwrap();
    let low: Vec<u32> = table.array("low").unwrap().read(first..last + 1).unwrap();
    assert!(low.iter().zip(&close).all(|(low, close)| low <= close));
    assert!(close.iter().all(|price| (1_000..2_000_000).contains(price)));
}
