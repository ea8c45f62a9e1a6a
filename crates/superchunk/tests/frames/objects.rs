//! Stores of objects against a plain list of byte strings.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use superchunk::store::{Dir, MemoryFolder};
use superchunk::{
    Codec, CompressOptions, ErrorKind, Executor, FrameOptions, ObjectKind, ObjectPacking, Objects,
    ObjectsOptions, OpenOptions, Registry, Result, SuperChunk, UserCodec, Value,
};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

/// Text of mixed lengths: mostly short, some empty, a few long.
fn text(rng: &mut Rng, longest: usize) -> Vec<u8> {
    let len = match rng.index(10) {
        0 => 0,
        1..=7 => rng.index(200.min(longest)),
        _ => rng.index(longest),
    };
    let words = ["alpha ", "beta ", "gamma ", "delta ", "ε ", "0123 "];
    let mut text = String::new();
    while text.len() < len {
        text.push_str(words[rng.index(words.len())]);
    }
    text.into_bytes()
}

/// Fails unless the store holds just these objects, by every way of reading.
fn check(store: &Objects, model: &[Vec<u8>], rng: &mut Rng) {
    assert_eq!(store.len(), model.len() as u64);
    let mut seen = 0;
    let all = 0..store.len();
    store
        .visit(all.clone(), |object| {
            assert!(object == model[seen], "object {seen}");
            seen += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, model.len());
    assert!(store.range(all).unwrap().zip(model).all(|(found, object)| found.unwrap() == *object));
    let mut buffer = b"what was there".to_vec();
    for _ in 0..20.min(model.len()) {
        let index = rng.index(model.len());
        assert!(store.get(index as u64).unwrap() == model[index], "object {index}");
        store.get_into(index as u64, &mut buffer).unwrap();
        assert!(buffer == model[index], "object {index}");
    }
    assert_eq!(store.get(store.len()).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(store.verify().unwrap().is_good());
}

#[test]
fn random_changes_leave_what_a_plain_list_has() {
    use ObjectPacking::{Lengths, Msgpack};
    let ways = [
        (1, ObjectKind::Text, Msgpack),
        (2, ObjectKind::Bytes, Msgpack),
        (3, ObjectKind::Values, Msgpack),
        (4, ObjectKind::Text, Lengths),
        (5, ObjectKind::Bytes, Lengths),
    ];
    for (seed, kind, packing) in ways {
        let mut rng = Rng::new(seed);
        let scratch = Scratch::new();
        let path = scratch.path("objects.b2b");
        // Small blocks, so that everything happens often.
        let options = ObjectsOptions::new(kind).with_packing(packing).with_block_len(2000);
        let mut store = Objects::create(&path, &options).unwrap();
        let mut model: Vec<Vec<u8>> = Vec::new();
        for _ in 0..60 {
            change(&mut store, &mut model, &mut rng);
            match rng.index(4) {
                0 => {
                    store.commit().unwrap();
                    check(&Objects::open(&path).unwrap(), &model, &mut rng);
                }
                1 => {
                    store.close().unwrap();
                    store = Objects::edit(&path).unwrap();
                }
                _ => {}
            }
            check(&store, &model, &mut rng);
        }
        assert_eq!((store.kind(), store.packing()), (kind, packing));
        store.close().unwrap();
        check(&Objects::open(&path).unwrap(), &model, &mut rng);
    }
}

fn change(store: &mut Objects, model: &mut Vec<Vec<u8>>, rng: &mut Rng) {
    let at = rng.index(model.len() + 1);
    let object = text(rng, 3000);
    match rng.index(8) {
        0 if at < model.len() => {
            store.replace(at as u64, &object).unwrap();
            model[at] = object;
        }
        1 => {
            store.insert(at as u64, &object).unwrap();
            model.insert(at, object);
        }
        2 if at < model.len() => {
            store.remove(at as u64).unwrap();
            model.remove(at);
        }
        3 if rng.index(3) == 0 => {
            store.truncate(at as u64).unwrap();
            model.truncate(at);
        }
        _ => {
            let many: Vec<Vec<u8>> = (0..rng.index(700)).map(|_| text(rng, 400)).collect();
            store.extend(&many).unwrap();
            model.extend(many);
        }
    }
}

#[test]
fn objects_of_all_lengths_share_a_store() {
    let lens = [0, 1, 15, 16, 31, 32, 255, 256, 65_535, 65_536, 300_000, 1 << 20, 3, 0, 700_000];
    let mut rng = Rng::new(4);
    let model: Vec<Vec<u8>> = lens.iter().cycle().take(60).map(|len| rng.bytes(*len)).collect();
    let options = ObjectsOptions::bytes().with_block_len(256 << 10);
    let mut store = Objects::in_memory(&options).unwrap();
    store.extend(&model).unwrap();
    check(&store, &model, &mut rng);
    store.commit().unwrap();
    check(&store, &model, &mut rng);
    let frame = store.to_bytes().unwrap();
    check(&Objects::from_bytes(frame).unwrap(), &model, &mut rng);
    // What is longer than two blocks has a block of its own.
    let frame = store.superchunk();
    for number in 0..frame.chunk_count() {
        for block in 0..frame.chunk_header(number).unwrap().block_count() {
            let objects = Value::decode(&frame.read_block(number, block).unwrap()).unwrap();
            let objects = objects.as_slice().unwrap();
            let longest = objects.iter().map(|one| one.as_bytes().unwrap().len()).max().unwrap();
            assert!(longest <= 512 << 10 || objects.len() == 1, "{longest} in {}", objects.len());
        }
    }
}

/// Leaves a dot at the end away, and counts the blocks and bytes it decodes.
#[derive(Clone, Default)]
struct Counting {
    blocks: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

impl UserCodec for Counting {
    fn name(&self) -> &str {
        "no dot"
    }

    fn compress(&self, _: u8, src: &[u8], dst: &mut [u8]) -> Result<Option<usize>> {
        let kept = src.strip_suffix(b".").unwrap();
        dst[..kept.len()].copy_from_slice(kept);
        Ok(Some(kept.len()))
    }

    fn decompress(&self, _: u8, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.blocks.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(dst.len(), Ordering::Relaxed);
        dst[..src.len()].copy_from_slice(src);
        dst[src.len()..].fill(b'.');
        Ok(())
    }
}

#[test]
fn one_object_decodes_one_block_and_its_neighbours_none() {
    let codec = Counting::default();
    let registry = Registry::new().with_codec(200, codec.clone()).unwrap();
    let compress = CompressOptions::new(1)
        .with_filters([])
        .with_codec(Codec::Registered { id: 200, meta: 0 })
        .with_registry(registry.clone());
    let options = ObjectsOptions::texts().with_compress(compress).with_block_len(10_000);
    let folder: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let mut store = Objects::create_in_dir(folder.clone(), Some("store"), &options).unwrap();
    store.extend((0..100_000).map(|number| format!("number {number}..."))).unwrap();
    store.close().unwrap();

    let open = OpenOptions::new().with_registry(registry);
    let store =
        Objects::from_superchunk(SuperChunk::open_in_dir(folder, Some("store"), &open).unwrap())
            .unwrap();
    let each = store.items_per_block().unwrap();
    assert!((100..10_000).contains(&each), "{each}");
    assert_eq!(codec.blocks.load(Ordering::Relaxed), 0, "opening decodes nothing");
    for turn in 0..30u64 {
        let index = turn * 3331;
        let before = codec.blocks.load(Ordering::Relaxed);
        assert_eq!(store.text(index).unwrap(), format!("number {index}..."));
        let decoded = codec.blocks.load(Ordering::Relaxed) - before;
        assert_eq!(decoded, 1, "blocks for object {index}");
        let neighbour = index / each as u64 * each as u64;
        assert_eq!(store.text(neighbour).unwrap(), format!("number {neighbour}..."));
        assert_eq!(codec.blocks.load(Ordering::Relaxed) - before, 1, "blocks for its neighbour");
    }
    assert!(codec.bytes.load(Ordering::Relaxed) < 30 * 25_000, "the blocks are small");
}

#[test]
fn many_threads_read_the_same_store() {
    let scratch = Scratch::new();
    let path = scratch.path("shared.b2b");
    let mut store = Objects::create(&path, &ObjectsOptions::texts().with_block_len(5000)).unwrap();
    store.extend((0..20_000u32).map(|number| number.to_string())).unwrap();
    store.close().unwrap();
    let store = Objects::open(&path).unwrap();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let store = &store;
            scope.spawn(move || {
                let mut rng = Rng::new(seed);
                for _ in 0..2000 {
                    let index = rng.below(20_000);
                    assert_eq!(store.text(index).unwrap(), index.to_string());
                }
            });
        }
    });
}

#[test]
fn threads_do_not_change_the_file() {
    let make = |executor: Executor| {
        let compress = CompressOptions::new(1).with_codec(Codec::Zstd).with_executor(executor);
        let options = ObjectsOptions::texts().with_compress(compress).with_block_len(20_000);
        let mut store = Objects::in_memory(&options).unwrap();
        let mut rng = Rng::new(9);
        store.extend((0..20_000).map(|_| text(&mut rng, 100))).unwrap();
        store.to_bytes().unwrap()
    };
    assert!(make(Executor::inline()) == make(Executor::threads(3)));
}

#[test]
fn values_of_any_kind_come_back() {
    let values: Vec<Value> = [
        r#"{"name": "Ada", "born": 1815}"#,
        "null",
        r#"[1, [2.5, true], {"$bin": "00ff"}]"#,
        r#"{"$tuple": [1, "two"]}"#,
        r#""text""#,
    ]
    .iter()
    .map(|json| Value::from_json(json).unwrap())
    .collect();
    let mut store = Objects::in_memory(&ObjectsOptions::values()).unwrap();
    values.iter().for_each(|value| store.append_value(value).unwrap());
    store.commit().unwrap();
    let found: Vec<Value> = store.values(0..5).unwrap().collect::<Result<_>>().unwrap();
    assert_eq!(found, values);
    assert_eq!(store.text(4).unwrap(), "text");
    let error = store.get(1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().starts_with("object 1: "), "{error}");
}

#[test]
fn a_store_takes_only_its_own_kind() {
    let mut texts = Objects::in_memory(&ObjectsOptions::texts()).unwrap();
    assert_eq!(texts.append(b"\xff").unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(texts.append_value(&Value::Nil).is_err());
    texts.append_value(&"fine".into()).unwrap();
    assert_eq!(texts.len(), 1);
    let mut bytes = Objects::in_memory(&ObjectsOptions::bytes()).unwrap();
    bytes.append_text("as bytes").unwrap();
    assert_eq!(bytes.value(0).unwrap(), Value::from(&b"as bytes"[..]));
    assert!(bytes.append_value(&"text".into()).is_err());
}

#[test]
fn a_reader_sees_only_what_was_committed_and_cannot_write() {
    let scratch = Scratch::new();
    let path = scratch.path("store.b2b");
    let mut writer = Objects::create(&path, &ObjectsOptions::texts()).unwrap();
    writer.append_text("first").unwrap();
    writer.commit().unwrap();
    let mut reader = Objects::open(&path).unwrap();
    writer.append_text("second").unwrap();
    assert_eq!((reader.len(), writer.len()), (1, 2));
    assert!(!reader.refresh().unwrap());
    writer.commit().unwrap();
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.text(1).unwrap(), "second");
    // The two commits left one chunk: a short one is taken back.
    assert_eq!(reader.superchunk().chunk_count(), 1);
    let error = reader.append_text("no").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(reader.len(), 2);
}

#[test]
fn two_writers_in_turns_lose_nothing() {
    let scratch = Scratch::new();
    let path = scratch.path("store.b2b");
    let mut one = Objects::create(&path, &ObjectsOptions::texts()).unwrap();
    one.append_text("0").unwrap();
    one.commit().unwrap();
    one.close().unwrap();
    for turn in 1..5 {
        let mut writer = Objects::edit(&path).unwrap();
        assert_eq!(writer.len(), turn);
        writer.append_text(&turn.to_string()).unwrap();
        writer.close().unwrap();
    }
    let store = Objects::open(&path).unwrap();
    let found: Vec<String> = store.texts(0..5).unwrap().collect::<Result<_>>().unwrap();
    assert_eq!(found, ["0", "1", "2", "3", "4"]);
}

#[test]
fn an_empty_store_stays_one() {
    let scratch = Scratch::new();
    let path = scratch.path("empty.b2b");
    Objects::create(&path, &ObjectsOptions::texts()).unwrap().close().unwrap();
    let mut store = Objects::edit(&path).unwrap();
    assert!(store.is_empty() && store.kind() == ObjectKind::Text);
    store.extend(["a", "b"]).unwrap();
    store.commit().unwrap();
    store.truncate(0).unwrap();
    store.close().unwrap();
    let store = Objects::open(&path).unwrap();
    assert!(store.is_empty() && store.superchunk().chunk_count() == 0);
    assert_eq!(store.superchunk().attribute_names().count(), 0);
}

#[test]
fn closing_commits_once_and_leaves_no_dead_space() {
    let scratch = Scratch::new();
    let mut rng = Rng::new(11);
    let model: Vec<Vec<u8>> = (0..9000).map(|_| text(&mut rng, 300)).collect();
    let lens = ["closed", "committed"].map(|way| {
        let path = scratch.path(way);
        let options = ObjectsOptions::texts().with_block_len(20_000);
        let mut store = Objects::create(&path, &options).unwrap();
        store.extend(&model).unwrap();
        match way {
            "closed" => store.close().unwrap(),
            _ => store.commit().unwrap(),
        }
        check(&Objects::open(&path).unwrap(), &model, &mut rng);
        std::fs::metadata(&path).unwrap().len()
    });
    assert_eq!(lens[0], lens[1]);
}

#[test]
fn sparse_frames_hold_objects_too() {
    let scratch = Scratch::new();
    let path = scratch.path("store");
    let mut options = ObjectsOptions::texts().with_block_len(1000);
    options.frame.kind = superchunk::frame::Kind::Sparse;
    let mut store = Objects::create(&path, &options).unwrap();
    store.extend((0..5000).map(|number| format!("{number}"))).unwrap();
    store.close().unwrap();
    let store = Objects::open(&path).unwrap();
    assert_eq!(store.text(4321).unwrap(), "4321");
}

#[test]
fn frames_without_objects_are_refused() {
    let frame = SuperChunk::in_memory(&FrameOptions::new(CompressOptions::new(1))).unwrap();
    let error = Objects::from_superchunk(frame).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}
