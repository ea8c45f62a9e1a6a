//! Frames written by the real programs open, and hold what those programs say, however they are
//! read: by path, from bytes, range by range, from a folder.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use superchunk::frame::{Frame, Kind, Located, Opener, Step};
use superchunk::store::{Dir, MemoryFolder};
use superchunk::{OpenOptions, SuperChunk, Value};
use superchunk_testkit::naive;
use superchunk_testkit::naive::nd::Geometry;
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::vectors::{Vector, family, folders, sha256_hex};

/// The vectors of the family `frame` whose name begins with one of `numbers`; of all if there is
/// none.
fn vectors(numbers: &[&str]) -> Vec<Vector> {
    let mut found = family("frame");
    found.retain(|vector| {
        numbers.is_empty() || numbers.iter().any(|n| vector.name().starts_with(n))
    });
    assert!(found.len() >= numbers.len(), "only {} vectors were found", found.len());
    found
}

/// Whether a vector is one frame, and not a store of several.
fn is_frame(vector: &Vector) -> bool {
    !["39_", "40_", "41_", "42_"].iter().any(|number| vector.name().starts_with(number))
}

fn open(vector: &Vector) -> SuperChunk {
    let offset = vector.integer(&["offset"]).unwrap_or(0).try_into().unwrap();
    let opened = SuperChunk::open_with(&vector.path, &OpenOptions::new().with_offset(offset));
    opened.unwrap_or_else(|error| panic!("{error}"))
}

fn decoded(frame: &SuperChunk) -> Vec<Vec<u8>> {
    frame.chunks().collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}"))
}

/// A position in memory.
fn index(position: u64) -> usize {
    position.try_into().unwrap()
}

/// What the digest of a frame covers: an array in C order, or all chunks.
fn payload(frame: &SuperChunk) -> Vec<u8> {
    let chunks = decoded(frame);
    match frame.metalayer("b2nd") {
        Some(stored) => Geometry::parse(stored).unwrap().assemble(&chunks).unwrap(),
        None => chunks.concat(),
    }
}

fn check_digest(vector: &Vector, bytes: &[u8]) {
    let name = vector.name();
    assert_eq!(i64::try_from(bytes.len()).ok(), vector.integer(&["decoded_nbytes"]), "{name}");
    assert_eq!(Some(&*sha256_hex(bytes)), vector.text(&["decoded_sha256"]), "{name}");
}

/// The numbers of a list of the index.
fn numbers(vector: &Vector, key: &str) -> Vec<usize> {
    let list = vector.fields[key].as_array().unwrap();
    list.iter().map(|number| number.as_u64().unwrap().try_into().unwrap()).collect()
}

/// The texts of a list of the index.
fn texts<'v>(vector: &'v Vector, keys: &[&str]) -> Vec<&'v str> {
    let list = keys[1..].iter().fold(&vector.fields[keys[0]], |value, key| &value[*key]);
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn every_frame_decodes_to_its_digest() {
    let frames: Vec<Vector> = vectors(&[]).into_iter().filter(is_frame).collect();
    assert!(frames.len() >= 43, "only {} vectors were found", frames.len());
    for vector in frames {
        // Values that nobody has set may be anything; ours, and those of the digest, are zeros.
        check_digest(&vector, &payload(&open(&vector)));
    }
}

#[test]
fn every_frame_has_the_metadata_of_its_index() {
    for vector in vectors(&[]).into_iter().filter(is_frame) {
        let (name, frame) = (vector.name(), open(&vector));
        let lens: Vec<usize> = decoded(&frame).iter().map(Vec::len).collect();
        if vector.fields.contains_key("chunk_nbytes") {
            assert_eq!(numbers(&vector, "chunk_nbytes"), lens, "{name}");
        }
        if !vector.fields.contains_key("frame") {
            continue;
        }
        let number = |key| usize::try_from(vector.integer(&["frame", key]).unwrap()).unwrap();
        let byte = |key| {
            let digits = vector.text(&["frame", key]).unwrap().trim_start_matches("0x");
            u8::from_str_radix(digits, 16).unwrap()
        };
        assert_eq!(frame.chunk_count(), number("nchunks"), "{name}");
        assert_eq!(frame.byte_len(), number("nbytes") as u64, "{name}");
        assert_eq!(frame.item_size(), number("typesize"), "{name}");
        assert_eq!(frame.has_variable_blocks(), byte("f0") & 0x80 != 0, "{name}");
        assert_eq!(frame.options().level, byte("codec_byte") >> 4, "{name}");
        assert_eq!(frame.options().block_size.unwrap_or(0), number("blocksize"), "{name}");
        assert_eq!(frame.options().dictionary, number("other_flags2") & 1 == 1, "{name}");
        assert_eq!(frame.has_variable_chunks(), number("chunksize") == 0, "{name}");
        assert_eq!(frame.chunk_size().unwrap_or(0), number("chunksize"), "{name}");
        let names: Vec<&str> = frame.metalayer_names().collect();
        assert_eq!(names, texts(&vector, &["frame", "metalayers"]), "{name}");
        let names: Vec<&str> = frame.attribute_names().collect();
        assert_eq!(names, texts(&vector, &["frame", "vlmetalayers"]), "{name}");
    }
}

#[test]
fn arrays_have_the_geometry_of_their_index() {
    let mut arrays = 0;
    for vector in vectors(&[]).into_iter().filter(is_frame) {
        let (name, frame) = (vector.name(), open(&vector));
        let Some(stored) = frame.metalayer("b2nd") else { continue };
        let geometry = Geometry::parse(stored).unwrap();
        assert_eq!(geometry.shape, numbers(&vector, "shape"), "{name}");
        assert_eq!(Some(&*geometry.dtype), vector.text(&["dtype"]), "{name}");
        if vector.fields.contains_key("chunks") {
            assert_eq!(geometry.chunks, numbers(&vector, "chunks"), "{name}");
            assert_eq!(geometry.blocks, numbers(&vector, "blocks"), "{name}");
        }
        arrays += 1;
    }
    assert!(arrays >= 14, "only {arrays} arrays were found");
}

#[test]
fn parts_are_slices_of_the_whole() {
    for vector in vectors(&[]).into_iter().filter(is_frame) {
        let (name, frame) = (vector.name(), open(&vector));
        let whole = frame.to_vec().unwrap();
        assert!(whole == decoded(&frame).concat(), "{name}");
        let (size, count) = (frame.item_size(), frame.item_count());
        for start in (0..count).step_by(index(count) / 5 + 1) {
            let end = (start + 70).min(count);
            let mut part = vec![0; index(end - start) * size];
            frame.read_items(start..end, &mut part).unwrap();
            assert!(part == whole[index(start) * size..][..part.len()], "{name}: {start}..{end}");
        }
        let items: Vec<u64> = (0..count).rev().step_by(37).collect();
        let mut gathered = vec![0; items.len() * size];
        frame.gather(&items, &mut gathered).unwrap();
        let expected = items.iter().flat_map(|item| &whole[index(*item) * size..][..size]);
        assert!(gathered.iter().eq(expected), "{name}");
    }
}

/// Opens a frame by supplying the ranges that are asked for.
fn open_by_ranges(bytes: &[u8]) -> Frame {
    let mut opener = Opener::new(Kind::Contiguous, bytes.len() as u64);
    for _ in 0..3 {
        match opener.step().unwrap() {
            Step::Need(range) => {
                opener.supply(bytes[index(range.start)..index(range.end)].into());
            }
            Step::Done(frame) => return *frame,
        }
    }
    panic!("more than three ranges were asked for")
}

#[test]
fn bytes_and_ranges_give_what_the_path_gives() {
    for vector in vectors(&[]).into_iter().filter(is_frame).filter(|v| v.path.is_file()) {
        let (name, chunks) = (vector.name(), decoded(&open(&vector)));
        let offset = usize::try_from(vector.integer(&["offset"]).unwrap_or(0)).unwrap();
        let bytes = vector.bytes()[offset..].to_vec();
        let frame = open_by_ranges(&bytes);
        assert_eq!(frame.chunk_count(), chunks.len(), "{name}");
        let total: usize = chunks.iter().map(Vec::len).sum();
        assert_eq!(frame.byte_len(), total as u64, "{name}");
        for (number, chunk) in chunks.iter().enumerate() {
            let packed = match frame.locate(number).unwrap() {
                Located::At(position) => bytes[index(position)..].to_vec(),
                Located::Run(run) => run,
                other => panic!("{name}: {other:?}"),
            };
            // The naive decoder knows nothing of shapes.
            if !name.starts_with("34_") {
                assert!(naive::decompress(&packed).unwrap() == *chunk, "{name}: chunk {number}");
            }
        }
        let in_memory = SuperChunk::from_bytes(bytes).unwrap();
        assert!(decoded(&in_memory) == chunks, "{name}");
        assert_eq!(in_memory.item_size(), frame.item_size(), "{name}");
    }
}

#[test]
fn a_sparse_frame_is_the_same_in_any_folder() {
    for vector in vectors(&["21_"]) {
        let frame = open(&vector);
        let folder = MemoryFolder::new();
        let mut members = Vec::new();
        for entry in fs::read_dir(&vector.path).unwrap() {
            let path = entry.unwrap().path();
            let member = path.file_name().unwrap().to_str().unwrap().to_owned();
            folder.create(&member).unwrap().write_at(0, &fs::read(&path).unwrap()).unwrap();
            members.push(member);
        }
        members.sort();
        assert_eq!(members, texts(&vector, &["members"]));
        let copy = SuperChunk::open_in_dir(Arc::new(folder), None, &OpenOptions::new()).unwrap();
        assert!(decoded(&copy) == decoded(&frame));
        assert_eq!(copy.chunk_count(), 5);
        // The chunks are those that the index names, in its order; the last is a run.
        for (number, id) in [1, 4, 2, 3].into_iter().enumerate() {
            let stored = fs::read(vector.path.join(format!("{id:08X}.chunk"))).unwrap();
            assert!(naive::decompress(&stored).unwrap() == copy.read_chunk(number).unwrap());
        }
        assert_eq!(copy.read_chunk(4).unwrap(), [0; 1000]);
    }
}

#[test]
fn copies_into_folders_and_files_hold_the_same() {
    let scratch = Scratch::new();
    for (number, vector) in vectors(&[]).into_iter().filter(is_frame).enumerate() {
        let (name, frame) = (vector.name(), open(&vector));
        for kind in [Kind::Sparse, Kind::Contiguous] {
            let path = scratch.path(&format!("{number}-{kind:?}"));
            let options = frame.frame_options().with_kind(kind);
            let options = options.with_durability(superchunk::frame::Durability::Process);
            frame.copy_to(&path, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
            let copy = SuperChunk::open(&path).unwrap();
            assert!(decoded(&copy) == decoded(&frame), "{name}");
            assert!(copy.metalayer_names().eq(frame.metalayer_names()), "{name}");
            assert!(copy.attribute_names().eq(frame.attribute_names()), "{name}");
        }
    }
}

#[test]
fn the_values_of_sample_02_are_those_that_were_set() {
    for vector in vectors(&["02_"]) {
        let frame = open(&vector);
        let numbers = (0..300).map(Value::from).collect();
        assert_eq!(frame.attribute("str").unwrap(), Value::from("héllo"));
        let tuple = vec![Value::from(1), Value::from(2.5), Value::Nil, Value::from(true)];
        assert_eq!(frame.attribute("tuple").unwrap(), Value::Tuple(tuple));
        assert_eq!(frame.attribute("big").unwrap(), Value::Array(numbers));
        assert_eq!(frame.attribute("cplx").unwrap(), Value::Complex(1.0, -2.0));
        assert_eq!(frame.attribute("set").unwrap(), Value::Set(vec![Value::from(7)]));
        let map = Value::decode(frame.metalayer("alpha").unwrap()).unwrap();
        assert_eq!(map.get("k").and_then(Value::as_i64), Some(1));
        let raw = Value::decode(frame.metalayer(&"x".repeat(31)).unwrap()).unwrap();
        assert_eq!(raw.as_bytes(), Some(&b"raw"[..]));
    }
}

#[test]
fn the_objects_of_sample_35_are_those_of_its_index() {
    for vector in vectors(&["35_"]) {
        let chunks = decoded(&open(&vector));
        let values: Vec<Value> = chunks.iter().map(|c| Value::decode(c).unwrap()).collect();
        assert_eq!(values.len(), texts(&vector, &["values"]).len());
        assert_eq!(values[0].get("a").and_then(Value::as_i64), Some(1));
        let tuple = Value::Tuple(vec![Value::from(3), Value::from(4)]);
        let list = vec![Value::from(1), Value::from(2), Value::from("x"), tuple];
        assert_eq!(values[1], Value::Array(list));
        assert_eq!(values[2].as_str(), Some(&*"text".repeat(50)));
        assert_eq!(values[3], Value::Nil);
        assert_eq!(values[4].as_f64(), Some(3.25));
        assert_eq!(values[5].as_bytes(), Some(&[0, 1][..]));
    }
}

#[test]
fn the_batches_of_sample_36_are_blocks_of_two_items() {
    for vector in vectors(&["36_"]) {
        let frame = open(&vector);
        let told = frame.attribute("_batch_array_metadata").unwrap();
        let told = told.get("batch_lengths").and_then(Value::as_slice).unwrap().to_vec();
        assert_eq!(told.len(), frame.chunk_count());
        for (number, items) in told.iter().enumerate() {
            let items = usize::try_from(items.as_u64().unwrap()).unwrap();
            let blocks = frame.chunk_header(number).unwrap().block_count();
            assert_eq!(blocks, items.div_ceil(2));
            let blocks: Vec<Vec<u8>> =
                (0..blocks).map(|block| frame.read_block(number, block).unwrap()).collect();
            assert!(blocks.concat() == frame.read_chunk(number).unwrap());
            let lists = blocks.iter().map(|b| Value::decode(b).unwrap().as_slice().unwrap().len());
            assert_eq!(lists.sum::<usize>(), items);
        }
    }
}

#[test]
fn the_usermeta_of_old_frames_is_a_value() {
    for vector in vectors(&["51_", "52_", "53_"]) {
        let (name, frame) = (vector.name(), open(&vector));
        assert_eq!(frame.attribute_names().collect::<Vec<_>>(), ["usermeta"], "{name}");
        assert_eq!(frame.attribute_bytes("usermeta").unwrap(), b"user metadata here", "{name}");
        let layer = name.starts_with("53_").then_some(&b"\xa5hello"[..]);
        assert_eq!(frame.metalayer("mylayer"), layer, "{name}");
        assert_eq!(frame.metalayer_names().count(), usize::from(layer.is_some()), "{name}");
    }
}

/// The frames among the fixtures of C-Blosc2 3.0.0, with the sizes of their chunks and the digest of
/// all, as python-blosc2 4.14.1 decodes them.
const FIXTURES: [(&str, [usize; 5], &str); 3] = [
    (
        "varchunks-lz4-3.0.0.b2frame",
        [1000, 500, 2000, 520, 301],
        "3cd5f447ffd0ddc9d69fde77e03ac06246e49e17f12f15b336da554f254cd5ae",
    ),
    (
        "vlblocks-lz4-fixed-3.0.0.b2frame",
        [2000; 5],
        "49282948b4f2748a59d5673e99a78aee6b4cfed3aa56b280186b54934659e65c",
    ),
    (
        "vlblocks-lz4-variable-3.0.0.b2frame",
        [1000, 1500, 2000, 2500, 3000],
        "1418bc37f9672f9d6273ae95f548840748f2a0e89a49ea17d3c857dd16982ade",
    ),
];

#[test]
fn the_fixtures_of_c_blosc2_decode_to_their_digests() {
    // They are not part of the repository: this looks where further vectors are.
    for (name, lens, digest) in FIXTURES {
        for folder in folders() {
            let path = folder.join("chunk").join(name);
            if !path.exists() {
                continue;
            }
            let frame = SuperChunk::open(&path).unwrap();
            let chunks = decoded(&frame);
            assert_eq!(chunks.iter().map(Vec::len).collect::<Vec<_>>(), lens, "{name}");
            assert_eq!(sha256_hex(&chunks.concat()), digest, "{name}");
            assert_eq!(frame.has_variable_blocks(), name.starts_with("vl"), "{name}");
            assert_eq!(frame.has_variable_chunks(), !name.contains("fixed"), "{name}");
        }
    }
}

/// The frames of a store by their names in it: files of a folder, or members of a ZIP file, at their
/// place in it.
fn members(vector: &Vector) -> BTreeMap<String, SuperChunk> {
    let stated = texts(vector, &["members"]);
    if vector.path.is_dir() {
        let open = |name: &str| SuperChunk::open(vector.path.join(name)).unwrap();
        return stated.into_iter().map(|name| (name.to_owned(), open(name))).collect();
    }
    let places = stored_members(&vector.bytes());
    assert_eq!(places.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), stated);
    let open = |offset| {
        SuperChunk::open_with(&vector.path, &OpenOptions::new().with_offset(offset)).unwrap()
    };
    places.into_iter().map(|(name, offset)| (name, open(offset))).collect()
}

/// The members of a ZIP file and where the data of each begin, from the local headers.
fn stored_members(zip: &[u8]) -> Vec<(String, u64)> {
    let mut members = Vec::new();
    let mut at = 0;
    while zip[at..].starts_with(b"PK\x03\x04") {
        let short =
            |field: usize| usize::from(u16::from_le_bytes([zip[at + field], zip[at + field + 1]]));
        let len = u32::from_le_bytes(zip[at + 18..at + 22].try_into().unwrap()) as usize;
        assert_eq!(short(8), 0, "the member is compressed");
        let data = at + 30 + short(26) + short(28);
        let name = String::from_utf8(zip[at + 30..][..short(26)].to_vec()).unwrap();
        members.push((name, data as u64));
        at = data + len;
    }
    members
}

/// An array inside of an embedding store.
fn embedded(store: &SuperChunk, key: &str) -> Vec<u8> {
    let map = store.attribute("estore_metadata").unwrap();
    let entry = map.get("embed_map").and_then(|map| map.get(key)).unwrap();
    let number =
        |field| usize::try_from(entry.get(field).and_then(Value::as_u64).unwrap()).unwrap();
    let bytes = store.to_vec().unwrap()[number("offset")..][..number("length")].to_vec();
    payload(&SuperChunk::from_bytes(bytes).unwrap())
}

#[test]
fn stores_hold_the_arrays_of_their_digests() {
    for vector in vectors(&["39_", "40_", "41_", "42_"]) {
        let members = members(&vector);
        let array = |name: &str| payload(&members[name]);
        let bytes = match &vector.name()[..2] {
            "39" => {
                let small = embedded(&members["embed.b2e"], "/small");
                [small, array("big.b2nd"), array("dir/sub.b2nd")].concat()
            }
            "40" => [array("x/y.b2nd"), array("x/z.b2nd")].concat(),
            _ => {
                let (ids, valid) = (array("_cols/id.b2nd"), array("_valid_rows.b2nd"));
                let live = ids.chunks(8).zip(valid).filter(|(_, valid)| *valid == 1);
                live.flat_map(|(id, _)| id.to_vec()).collect()
            }
        };
        check_digest(&vector, &bytes);
        // Every member can be read, not only those that the digest covers.
        assert!(members.values().all(|frame| frame.verify().unwrap().is_good()));
    }
}

#[test]
fn the_members_of_an_embedding_store_are_frames() {
    for vector in vectors(&["38_"]) {
        let store = open(&vector);
        for key in texts(&vector, &["keys"]) {
            assert!(!embedded(&store, key).is_empty(), "{key}");
        }
    }
}

#[test]
fn a_sidecar_beside_a_frame_is_honoured_and_left_alone() {
    for vector in vectors(&["43_"]) {
        let sidecar = PathBuf::from(format!("{}.b2lock", vector.path.display()));
        let content = || fs::read(&sidecar).unwrap();
        let stated: String = content().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(Some(&*stated), vector.text(&["sidecar_hex"]));
        let before = content();
        check_digest(&vector, &payload(&open(&vector)));
        assert_eq!(content(), before);
    }
}
