//! What objects cost besides their content, packed in either way.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use superchunk::{CompressOptions, ErrorKind, ObjectPacking, Objects, ObjectsOptions, Value};
use superchunk_testkit::rng::Rng;

/// What the stored bytes before compression, and all around them, exceed the objects by.
fn overhead(options: &ObjectsOptions, count: usize) -> (f64, f64) {
    let mut rng = Rng::new(5);
    let raw = CompressOptions::new(1).with_filters([]).with_level(0);
    let mut store = Objects::in_memory(&options.clone().with_compress(raw)).unwrap();
    for _ in 0..count {
        let object: Vec<u8> =
            (0..16).map(|_| b'a' + u8::try_from(rng.index(26)).unwrap()).collect();
        store.append(&object).unwrap();
    }
    store.commit().unwrap();
    let blocks = store.superchunk().byte_len();
    let all = store.to_bytes().unwrap().len() as u64;
    let each = |len: u64| (len as f64 - 16.0 * count as f64) / count as f64;
    (each(blocks), each(all))
}

#[test]
fn a_short_text_costs_little_more_than_a_byte() {
    let (blocks, all) = overhead(&ObjectsOptions::texts(), 200_000);
    assert!(blocks <= 1.001, "{blocks} bytes an object in the blocks");
    assert!(all <= 1.005, "{all} bytes an object in the whole file, metadata included");
}

#[test]
fn packed_by_lengths_an_object_costs_little_more_than_a_byte() {
    for options in [ObjectsOptions::texts(), ObjectsOptions::bytes()] {
        let options = options.with_packing(ObjectPacking::Lengths);
        let (blocks, all) = overhead(&options, 200_000);
        assert!(blocks <= 1.001, "{blocks} bytes an object in the blocks");
        assert!(all <= 1.005, "{all} bytes an object in the whole file, metadata included");
    }
}

#[test]
fn values_are_not_packed_by_lengths() {
    let options = ObjectsOptions::values().with_packing(ObjectPacking::Lengths);
    assert_eq!(Objects::in_memory(&options).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let options = ObjectsOptions::texts().with_packing(ObjectPacking::Lengths);
    let mut texts = Objects::in_memory(&options).unwrap();
    assert!(texts.append_value(&Value::Nil).is_err() && texts.append(b"\xff").is_err());
    texts.append_value(&"é".into()).unwrap();
    texts.append_text("").unwrap();
    assert_eq!((texts.value(0).unwrap(), texts.text(1).unwrap()), ("é".into(), String::new()));
}

#[test]
fn empty_objects_do_not_wait_for_ever() {
    for packing in [ObjectPacking::Msgpack, ObjectPacking::Lengths] {
        let options = ObjectsOptions::bytes().with_packing(packing).with_block_len(2000);
        let mut store = Objects::in_memory(&options).unwrap();
        store.extend(std::iter::repeat_n([0; 0], 100_000)).unwrap();
        assert!(store.superchunk().chunk_count() > 1, "{packing:?}");
        assert_eq!((store.len(), store.get(99_999).unwrap()), (100_000, vec![]));
    }
}

#[test]
fn short_bytes_cost_two() {
    let (blocks, all) = overhead(&ObjectsOptions::bytes(), 200_000);
    assert!(blocks <= 2.001, "{blocks} bytes an object in the blocks");
    assert!(all <= 2.005, "{all} bytes an object in the whole file, metadata included");
}
