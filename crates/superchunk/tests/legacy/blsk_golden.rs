//! The trees of the carray proposal in the vectors: equal content, column by column.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use superchunk::blsk::{Array, Attribute, Table};
use superchunk::detect::{self, Format};
use superchunk_testkit::vectors::{self, Vector};

fn trees() -> Vec<Vector> {
    let families = ["legacy", "legacy/blsk"].into_iter().flat_map(vectors::family);
    let trees: Vec<Vector> =
        families.filter(|vector| vector.text(&["kind"]) == Some("carray-blsk")).collect();
    assert!(trees.len() >= 6, "the six trees of the repository must be there");
    trees
}

/// All rows of each column: its name, its type, its bytes.
fn columns(vector: &Vector) -> Vec<(String, String, Vec<u8>)> {
    let columns = vector.fields["columns"].as_object().unwrap();
    if columns.contains_key(".") {
        let array = Array::open(&vector.path).unwrap();
        let mut bytes = vec![0; usize::try_from(array.row_count()).unwrap() * array.row_size()];
        array.read_rows(0..array.row_count(), &mut bytes).unwrap();
        return vec![(".".to_owned(), array.dtype().to_string(), bytes)];
    }
    let table = Table::open(&vector.path).unwrap();
    let read = |name: &str| {
        let len = usize::try_from(table.row_count()).unwrap() * table.row_size(name).unwrap();
        let mut bytes = vec![0; len];
        table.read_rows(name, 0..table.row_count(), &mut bytes).unwrap();
        (name.to_owned(), table.dtype(name).unwrap().to_string(), bytes)
    };
    table.names().map(read).collect()
}

#[test]
fn every_tree_holds_what_its_index_says() {
    for vector in trees() {
        let expected = vector.fields["columns"].as_object().unwrap();
        let found = columns(&vector);
        assert_eq!(found.len(), expected.len(), "{}", vector.name());
        for (name, dtype, bytes) in found {
            let column = expected.get(&name).unwrap();
            assert_eq!(column["dtype_str"], dtype.as_str(), "{} {name}", vector.name());
            let digest = vectors::sha256_hex(&bytes);
            assert_eq!(column["raw_sha256"], digest.as_str(), "{} {name}", vector.name());
        }
    }
}

#[test]
fn every_tree_is_known_by_its_files() {
    for vector in trees() {
        assert_eq!(detect::path(&vector.path).unwrap().format, Format::Blsk);
        let nested = vector.path.join("data/col1/__1__.bin");
        let file = if nested.exists() { nested } else { vector.path.join("data/__1__.bin") };
        assert_eq!(detect::path(file).unwrap().format, Format::BlskFile);
    }
}

#[test]
fn the_attributes_of_the_proposal_have_their_types() {
    let vectors = trees();
    let vector = vectors.iter().find(|vector| vector.name().ends_with("blsk_i4_1d")).unwrap();
    let array = Array::open(&vector.path).unwrap();
    let names: Vec<&str> = array.attributes().map(|(name, _)| name).collect();
    assert_eq!(names, ["temperature", "pressure", "ids"]);
    assert_eq!(array.attribute("temperature"), Some(Attribute::from(23.5f32)));
    assert_eq!(array.attribute("pressure").unwrap().as_f64(), Some(225.5));
    assert_eq!(array.attribute("ids"), Some(Attribute::array(&[1i32, 3, 6, 10])));
    assert_eq!(array.attribute("humidity"), None);
}

#[test]
fn any_rows_of_a_grid_are_the_rows_of_the_whole() {
    for vector in trees() {
        let Ok(array) = Array::open(&vector.path) else { continue };
        let len = array.row_size();
        let rows = array.row_count();
        let mut all = vec![0; usize::try_from(rows).unwrap() * len];
        array.read_rows(0..rows, &mut all).unwrap();
        for start in (0..=rows).step_by(usize::try_from(rows / 20 + 1).unwrap()) {
            for end in (start..=rows).step_by(usize::try_from(rows / 20 + 1).unwrap()) {
                let mut some = vec![0; usize::try_from(end - start).unwrap() * len];
                array.read_rows(start..end, &mut some).unwrap();
                let from = usize::try_from(start).unwrap() * len;
                assert!(some == all[from..from + some.len()], "{} {start}..{end}", vector.name());
            }
        }
    }
}
