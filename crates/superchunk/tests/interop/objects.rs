//! Stores of objects shared with the real python-blosc2, both ways.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use superchunk::frame::Kind;
use superchunk::{
    Codec, CompressOptions, ErrorKind, ObjectKind, ObjectPacking, Objects, ObjectsOptions, Result,
    Value,
};
use superchunk_testkit::objects_peer::{ObjectsPeer, PeerStore};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::vectors::family;

/// Objects of mixed lengths; those in the second half are long now and then.
fn objects(kind: ObjectKind, count: usize, seed: u64) -> Vec<Value> {
    let mut rng = Rng::new(seed);
    let words = ["alpha", "beta", "γάμμα", "", " ", "δ", "12345678901234567890"];
    let mut make = |number: usize| {
        let long = number > count / 2 && rng.index(50) == 0;
        let len = if long { rng.index(30_000) } else { rng.index(40) };
        let text: String = (0..len / 3).map(|_| words[rng.index(words.len())]).collect();
        match (kind, number % 5) {
            (ObjectKind::Text, _) | (ObjectKind::Values, 0) => Value::Str(text),
            (ObjectKind::Bytes, _) | (ObjectKind::Values, 1) => Value::Bin(rng.bytes(len)),
            (_, 2) => Value::Nil,
            (_, 3) => Value::Tuple(vec![(number as u64).into(), Value::Complex(0.5, -1.0)]),
            _ => Value::Map(vec![("n".into(), Value::Array(vec![(-1i64).into(), 0.5.into()]))]),
        }
    };
    (0..count).map(&mut make).collect()
}

fn store_of(path: &Path, options: &ObjectsOptions, objects: &[Value]) -> Objects {
    let mut store = Objects::create(path, options).unwrap();
    objects.iter().for_each(|object| store.append_value(object).unwrap());
    store
}

/// What the peer reads, one object after the other, and the lengths of the batches.
fn read_by_peer(peer: &mut ObjectsPeer, path: &Path) -> (Vec<Value>, Vec<u64>) {
    let batches = Value::decode(&peer.read(path).unwrap()).unwrap();
    let batches = batches.as_slice().unwrap();
    let lengths = batches.iter().map(|batch| batch.as_slice().unwrap().len() as u64).collect();
    (batches.iter().flat_map(|batch| batch.as_slice().unwrap().to_vec()).collect(), lengths)
}

fn read_by_us(path: &Path) -> Vec<Value> {
    let store = Objects::open(path).unwrap();
    assert!(store.verify().unwrap().is_good());
    store.values(0..store.len()).unwrap().collect::<Result<_>>().unwrap()
}

fn check_peer(peer: &mut ObjectsPeer, path: &Path, model: &[Value]) {
    let (found, lengths) = read_by_peer(peer, path);
    assert!(found == model, "{} objects instead of {}", found.len(), model.len());
    let description = peer.describe(path).unwrap();
    assert_eq!(description.lengths.unwrap_or_default(), lengths);
    assert_eq!(description.items, model.len() as u64);
    for index in [0, model.len() / 3, model.len() / 2, model.len() - 1] {
        let object = Value::decode(&peer.item(path, index as u64).unwrap()).unwrap();
        assert!(object == model[index], "object {index}");
    }
}

#[test]
fn the_peer_reads_what_we_write() {
    let (scratch, mut peer) = (Scratch::new(), ObjectsPeer::spawn());
    let lz4 = CompressOptions::new(1).with_filters([]);
    let zstd = lz4.clone().with_codec(Codec::Zstd);
    let compressions = [
        ("zstd", zstd.clone()),
        ("lz4", lz4.clone()),
        ("dictionary", zstd.with_dictionary(true)),
        ("stored", lz4.with_level(0)),
    ];
    for kind in [ObjectKind::Text, ObjectKind::Bytes, ObjectKind::Values] {
        let model = objects(kind, 5000, 1);
        for (name, compress) in &compressions {
            let path = scratch.path(&format!("{kind:?}-{name}.b2b"));
            let options = ObjectsOptions::new(kind).with_block_len(3000);
            store_of(&path, &options.with_compress(compress.clone()), &model).close().unwrap();
            check_peer(&mut peer, &path, &model);
            let store = Objects::open(&path).unwrap();
            let chunks = store.superchunk().chunk_count();
            assert!(chunks > 3, "{chunks} chunks");
            let ours = store.superchunk().read_block(1, 0).unwrap();
            assert!(peer.block(&path, 1, 0).unwrap() == ours, "{name}: the first block of chunk 1");
        }
    }
}

#[test]
fn the_peer_reads_blocks_that_are_packed_by_lengths() {
    let (scratch, mut peer) = (Scratch::new(), ObjectsPeer::spawn());
    for (kind, block_len) in
        [(ObjectKind::Text, 3000), (ObjectKind::Bytes, 3000), (ObjectKind::Bytes, 1 << 20)]
    {
        let model = objects(kind, 5000, 8);
        let path = scratch.path(&format!("{kind:?}-{block_len}.b2b"));
        let options = ObjectsOptions::new(kind).with_packing(ObjectPacking::Lengths);
        store_of(&path, &options.with_block_len(block_len), &model).close().unwrap();
        let found = Value::decode(&peer.read_lengths(&path).unwrap()).unwrap();
        assert!(found == Value::Array(model.clone()), "{kind:?}");
        assert!(read_by_us(&path) == model, "{kind:?}");
    }
}

#[test]
fn the_peer_reads_default_and_sparse_stores() {
    let (scratch, mut peer) = (Scratch::new(), ObjectsPeer::spawn());
    let model = objects(ObjectKind::Text, 20_000, 2);
    let path = scratch.path("default.b2b");
    store_of(&path, &ObjectsOptions::texts(), &model).close().unwrap();
    check_peer(&mut peer, &path, &model);
    let description = peer.describe(&path).unwrap();
    assert_eq!(description.metas, ["batcharray", "ctable_varlen_scalar"]);
    let path = scratch.path("sparse");
    let mut options = ObjectsOptions::texts().with_block_len(2000);
    options.frame.kind = Kind::Sparse;
    store_of(&path, &options, &model).close().unwrap();
    check_peer(&mut peer, &path, &model);
}

#[test]
fn we_read_what_the_peer_writes() {
    let (scratch, mut peer) = (Scratch::new(), ObjectsPeer::spawn());
    let base = PeerStore {
        items_per_block: Some(7),
        codec: "ZSTD",
        level: 5,
        dictionary: false,
        contiguous: true,
    };
    let stores = [
        base,
        PeerStore { items_per_block: Some(1), codec: "LZ4", ..base },
        PeerStore { items_per_block: None, level: 1, ..base },
        PeerStore { items_per_block: Some(100), dictionary: true, ..base },
        PeerStore { contiguous: false, ..base },
    ];
    // The peer packs what it gets; tuples travel as it writes them.
    for (kind, seed) in [(ObjectKind::Text, 3), (ObjectKind::Bytes, 4)] {
        let model = objects(kind, 1000, seed);
        let batches: Vec<Value> = model.chunks(333).map(|part| part.to_vec().into()).collect();
        let batches = Value::from(batches).encode().unwrap();
        for (number, store) in stores.iter().enumerate() {
            let path = scratch.path(&format!("{kind:?}-{number}.b2b"));
            peer.create(&path, *store, &batches).unwrap();
            assert!(read_by_us(&path) == model, "store {number}");
            let ours = Objects::open(&path).unwrap();
            assert_eq!(ours.kind(), ObjectKind::Values, "the peer does not say");
            for index in [0usize, 332, 333, 999] {
                assert_eq!(ours.value(index as u64).unwrap(), model[index]);
            }
            if store.contiguous {
                peer.forget_lengths(&path).unwrap();
                assert!(read_by_us(&path) == model, "store {number} without lengths");
            }
        }
    }
}

#[test]
fn both_change_one_store_in_turns() {
    let (scratch, mut peer) = (Scratch::new(), ObjectsPeer::spawn());
    for contiguous in [true, false] {
        let path = scratch.path(if contiguous { "turns.b2b" } else { "turns" });
        let mut model = objects(ObjectKind::Text, 2000, 5);
        let mut options = ObjectsOptions::texts().with_block_len(3000);
        options.frame.kind = if contiguous { Kind::Contiguous } else { Kind::Sparse };
        store_of(&path, &options, &model).close().unwrap();
        for turn in 0..4u64 {
            let more = objects(ObjectKind::Text, 300, 10 + turn);
            peer.append(&path, &Value::from(more.clone()).encode().unwrap()).unwrap();
            model.extend(more);
            let (_, lengths) = read_by_peer(&mut peer, &path);
            let first = usize::try_from(lengths[0]).unwrap();
            peer.delete(&path, 0).unwrap();
            model.drain(..first);
            let second: Vec<Value> = vec!["replaced".into(), Value::Str(String::new())];
            let first = usize::try_from(lengths[1]).unwrap();
            peer.replace(&path, 0, &Value::from(second.clone()).encode().unwrap()).unwrap();
            model.splice(..first, second);
            assert!(read_by_us(&path) == model, "turn {turn}: the peer's changes");

            let mut store = Objects::edit(&path).unwrap();
            let more = objects(ObjectKind::Text, 300, 20 + turn);
            store.extend(more.iter().map(|text| text.as_str().unwrap())).unwrap();
            model.extend(more);
            store.replace(1, b"ours").unwrap();
            model[1] = "ours".into();
            store.remove(5).unwrap();
            model.remove(5);
            store.insert(7, b"inserted").unwrap();
            model.insert(7, "inserted".into());
            store.truncate(model.len() as u64 - 10).unwrap();
            model.truncate(model.len() - 10);
            store.close().unwrap();
            check_peer(&mut peer, &path, &model);
        }
    }
}

#[test]
fn the_peer_fills_an_empty_store_of_ours_and_we_one_of_its() {
    let (scratch, mut peer) = (Scratch::new(), ObjectsPeer::spawn());
    let model = objects(ObjectKind::Text, 700, 6);
    let batch = Value::from(model.clone()).encode().unwrap();
    let path = scratch.path("ours.b2b");
    Objects::create(&path, &ObjectsOptions::texts()).unwrap().close().unwrap();
    peer.append(&path, &batch).unwrap();
    assert!(read_by_us(&path) == model);
    assert_eq!(Objects::open(&path).unwrap().kind(), ObjectKind::Text);
    for items_per_block in [None, Some(10)] {
        let path = scratch.path(&format!("{items_per_block:?}.b2b"));
        let store = PeerStore {
            items_per_block,
            codec: "ZSTD",
            level: 5,
            dictionary: false,
            contiguous: true,
        };
        peer.create(&path, store, &Value::Array(Vec::new()).encode().unwrap()).unwrap();
        let mut ours = Objects::edit(&path).unwrap();
        model.iter().for_each(|object| ours.append_value(object).unwrap());
        ours.close().unwrap();
        check_peer(&mut peer, &path, &model);
        if let Some(count) = items_per_block {
            assert_eq!(Objects::open(&path).unwrap().items_per_block(), Some(count));
        }
    }
}

/// The one text that the peer's own blocks cannot begin with (see `docs/formats/objects.md`).
#[test]
fn the_mark_of_tuples_is_a_text_like_others_for_us_only() {
    let (scratch, mut peer) = (Scratch::new(), ObjectsPeer::spawn());
    let path = scratch.path("mark.b2b");
    let model: Vec<Value> = vec!["__tuple__".into(), "a".into(), "__tuple__".into()];
    store_of(&path, &ObjectsOptions::texts(), &model).close().unwrap();
    assert!(read_by_us(&path) == model);
    assert_eq!(Value::decode(&peer.item(&path, 0).unwrap()).unwrap(), "a".into());
}

#[test]
fn golden_stores_hold_their_objects() {
    let named = |number: &str| {
        let vector = family("frame").into_iter().find(|one| one.name().starts_with(number));
        vector.unwrap().bytes()
    };
    let store = Objects::from_bytes(named("36_")).unwrap();
    assert_eq!(store.items_per_block(), Some(2));
    assert_eq!(store.len(), 9);
    let lists = Objects::from_bytes(named("37_")).unwrap();
    assert!(
        lists
            .values(0..lists.len())
            .unwrap()
            .all(|list| { matches!(list.unwrap(), Value::Array(_) | Value::Nil) })
    );
    let error = Objects::from_bytes(named("35_")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}
