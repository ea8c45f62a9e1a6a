//! Damaged stores of objects: no panic, no memory beyond the limits, no wrong object.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use superchunk::store::Bytes;
use superchunk::{
    Error, ErrorKind, Executor, Limits, ObjectKind, ObjectPacking, Objects, ObjectsOptions,
    OpenOptions, Result, SuperChunk, Value,
};
use superchunk_testkit::alloc::peak_of;
use superchunk_testkit::corrupt::for_each_mutation;
use superchunk_testkit::rng::Rng;

/// What the damaged stores may make the library take.
const LIMIT: usize = 1 << 16;

/// A store of three chunks, without checksums, so that damage is not found out at once.
fn small_store(lengths: bool, packing: ObjectPacking) -> Vec<u8> {
    let (kind, block_len) = match packing {
        ObjectPacking::Msgpack => (ObjectKind::Values, 300),
        _ => (ObjectKind::Bytes, 100),
    };
    let mut options = ObjectsOptions::new(kind).with_packing(packing).with_block_len(block_len);
    options.frame.checksums = false;
    options.frame.compress.level = 1;
    let mut store = Objects::in_memory(&options).unwrap();
    let mut rng = Rng::new(6);
    store
        .extend((0..600).map(|number| if number % 7 == 0 { vec![] } else { rng.bytes(2) }))
        .unwrap();
    let last = match packing {
        ObjectPacking::Msgpack => Value::from_json(r#"{"a": [1, 2]}"#).unwrap(),
        _ => Value::Bin(rng.bytes(200)),
    };
    store.append_value(&last).unwrap();
    let mut frame = store.to_bytes().unwrap();
    if !lengths {
        let plain = SuperChunk::from_bytes(frame).unwrap();
        let mut plain = plain.copy_to_memory(&plain.frame_options()).unwrap();
        plain.remove_attribute("_batch_array_metadata").unwrap();
        frame = plain.to_bytes().unwrap();
    }
    frame
}

fn read_all(store: Result<Objects>) -> Result<()> {
    let store = store?;
    let len = store.len();
    for index in [0, 1, 299, 300, len / 2, len.wrapping_sub(1)] {
        let _ = store.get(index);
        let _ = store.value(index);
    }
    let _ = store.verify();
    store.visit(0..len.min(700), |_| Ok(()))
}

#[test]
fn no_damaged_byte_panics_or_takes_more_than_the_limits() {
    let limits = Limits::default().with_max_decoded(LIMIT).with_max_metadata(LIMIT);
    let options = OpenOptions::new().with_limits(limits).with_executor(Executor::inline());
    use ObjectPacking::{Lengths, Msgpack};
    for (lengths, packing) in [(true, Msgpack), (false, Msgpack), (true, Lengths), (false, Lengths)]
    {
        let bytes = small_store(lengths, packing);
        let open = |bytes: Vec<u8>| -> Result<Objects> {
            Objects::open_store(Arc::new(Bytes::new(bytes)), &options)
        };
        let store = open(bytes.clone()).unwrap();
        let chunks = store.superchunk().chunk_count();
        assert!(chunks > 1 && store.len() == 601, "{} objects in {chunks} chunks", store.len());
        let (mut failed, mut counted) = (0, 0);
        for_each_mutation(&bytes, |mutation, damaged| {
            let flipped = mutation.value ^ bytes[mutation.offset];
            if !matches!(flipped, 1 | 0x80) && !matches!(mutation.value, 0 | 0xff) {
                return;
            }
            let (outcome, peak) = peak_of(|| read_all(open(damaged.to_vec())));
            assert!(peak < 24 * LIMIT + 8 * bytes.len(), "{peak} for {mutation:?}");
            counted += 1;
            failed += usize::from(outcome.is_err());
        });
        assert!(failed > counted / 20, "{failed} of {counted} were found out");
    }
}

#[test]
fn lengths_that_disagree_with_the_blocks_are_found_out() {
    let wrong = |lengths: &[u64]| -> Result<Objects> {
        let plain = SuperChunk::from_bytes(small_store(true, ObjectPacking::Msgpack)).unwrap();
        let mut plain = plain.copy_to_memory(&plain.frame_options()).unwrap();
        let list = lengths.iter().map(|len| Value::from(*len)).collect::<Vec<_>>();
        let map = Value::Map(vec![("batch_lengths".into(), list.into())]);
        plain.set_attribute("_batch_array_metadata", map).unwrap();
        Objects::from_superchunk(plain)
    };
    let chunks = Objects::from_bytes(small_store(true, ObjectPacking::Msgpack))
        .unwrap()
        .superchunk()
        .chunk_count();
    // Too few: the chunks are asked.
    let store = wrong(&[5]).unwrap();
    assert_eq!(store.len(), 601);
    // As many as there are chunks, but wrong: an error where it matters, and never another object.
    let store = wrong(&vec![1; chunks]).unwrap();
    let error: Error = store.get(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(!store.verify().unwrap().is_good());
    let store = wrong(&vec![u64::MAX / 64; chunks]).unwrap();
    assert_eq!(store.get(u64::MAX / 128).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(!store.verify().unwrap().is_good());
}
