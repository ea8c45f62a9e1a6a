//! Arrays written by the real programs hold what those programs say; damaged ones are refused in words.

#![expect(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use superchunk::{DKind, ErrorKind, NdArray, Selection};
use superchunk_testkit::vectors::{Vector, family, sha256_hex};

fn arrays() -> Vec<Vector> {
    let mut arrays = family("frame");
    arrays.retain(|vector| vector.name().ends_with(".b2nd"));
    arrays
}

fn numbers(vector: &Vector, key: &str) -> Vec<u64> {
    let list = vector.fields[key].as_array().unwrap();
    list.iter().map(|number| number.as_u64().unwrap()).collect()
}

fn open(vector: &Vector) -> NdArray {
    NdArray::open(&vector.path).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_array_has_its_digest_shape_and_type() {
    let vectors = arrays();
    assert!(vectors.len() >= 14, "only {} arrays were found", vectors.len());
    for vector in vectors {
        let (name, array) = (vector.name(), open(&vector));
        assert_eq!(array.shape(), numbers(&vector, "shape"), "{name}");
        assert_eq!(Some(&*array.dtype().to_string()), vector.text(&["dtype"]), "{name}");
        if vector.fields.contains_key("chunks") {
            let sides = |sides: &[usize]| sides.iter().map(|side| *side as u64).collect::<Vec<_>>();
            assert_eq!(sides(array.chunk_shape()), numbers(&vector, "chunks"), "{name}");
            assert_eq!(sides(array.block_shape()), numbers(&vector, "blocks"), "{name}");
        }
        let bytes = array.to_vec().unwrap();
        assert_eq!(Some(&*sha256_hex(&bytes)), vector.text(&["decoded_sha256"]), "{name}");
    }
}

#[test]
fn every_array_reads_the_same_from_bytes_and_box_by_box() {
    for vector in arrays() {
        let (name, whole) = (vector.name(), open(&vector).to_vec().unwrap());
        let array = NdArray::from_bytes(vector.bytes()).unwrap();
        let mut by_chunk = vec![0; whole.len()];
        let size = array.item_size();
        for part in array.chunks() {
            let part = part.unwrap();
            // Items put where the definition of C order says.
            for (number, item) in part.bytes.chunks(size).enumerate() {
                let (mut rest, mut at, mut stride) = (number, 0, 1);
                for axis in (0..array.ndim()).rev() {
                    let index = part.start[axis] as usize + rest % part.shape[axis];
                    rest /= part.shape[axis];
                    at += index * stride;
                    stride *= array.shape()[axis] as usize;
                }
                by_chunk[at * size..][..size].copy_from_slice(item);
            }
        }
        assert!(by_chunk == whole, "{name}");
    }
}

#[test]
fn items_of_the_vectors_become_text() {
    let text = |number: &str, selection: &str| {
        let vector = arrays().into_iter().find(|vector| vector.name().starts_with(number)).unwrap();
        let array = open(&vector);
        let selection = Selection::parse(selection, array.shape()).unwrap();
        let (_, bytes) = array.bytes(&selection).unwrap();
        array.dtype().format_item(&bytes)
    };
    assert!(text("30_", "0").contains('T'));
    assert_eq!(text("31_", "0, 0"), "nan");
    assert!(text("26_", "1").starts_with('('));
    assert!(!text("29_", "0, 0").is_empty());
}

#[test]
fn hostile_arrays_are_refused_and_name_the_field() {
    let fields = [
        ("n02", "ndim"),
        ("n03", "shape"),
        ("n05", "shape"),
        ("n06", "chunkshape"),
        ("n07", "chunkshape"),
        ("n08", "blockshape"),
        ("n12", "dtype_len"),
        ("n13", "dtype_len"),
        ("n15", "text"),
    ];
    let vectors = family("hostile");
    for (number, field) in fields {
        let vector = vectors.iter().find(|vector| vector.name().starts_with(number)).unwrap();
        let error = NdArray::open(&vector.path).unwrap_err();
        let refused = [ErrorKind::Corrupt, ErrorKind::Truncated, ErrorKind::Unsupported];
        assert!(refused.contains(&error.kind()), "{number}: {error:?}");
        assert_eq!(error.place().unwrap().field, field, "{number}: {error}");
    }
}

#[test]
fn an_array_that_lost_its_item_size_has_it_from_the_chunks() {
    let vector = arrays().into_iter().find(|vector| vector.name().starts_with("20_")).unwrap();
    let array = open(&vector);
    assert_eq!((array.superchunk().item_size(), array.item_size()), (1, 300));
    assert_eq!(array.dtype().kind(), DKind::Bytes);
}
