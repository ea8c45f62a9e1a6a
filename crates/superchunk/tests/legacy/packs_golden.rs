//! Bloscpack files of every tool version, of the proposals, and hostile ones, as their index says.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use superchunk::bloscpack::{Checksum, ItemOrder, Pack};
use superchunk::{Json, JsonStyle, OpenOptions};
use superchunk_testkit::vectors::{Vector, family, sha256_hex};

fn samples(kind: &str) -> Vec<Vector> {
    let found: Vec<Vector> = ["legacy/bloscpack", "legacy"]
        .into_iter()
        .flat_map(family)
        .filter(|vector| vector.text(&["kind"]) == Some(kind))
        .collect();
    assert!(!found.is_empty(), "no samples of kind {kind}");
    found
}

fn open(vector: &Vector) -> Pack {
    Pack::open(&vector.path).unwrap_or_else(|error| panic!("{error}"))
}

/// Everything that a reader can be made to do; the error if any of it is refused.
fn read_all(pack: superchunk::Result<Pack>) -> superchunk::Result<Vec<u8>> {
    let pack = pack?;
    for object in pack.objects() {
        object?;
    }
    let data = pack.superchunk()?;
    let report = data.verify()?;
    match report.damaged.into_iter().next() {
        Some((_, error)) => Err(error),
        None => data.to_vec(),
    }
}

#[test]
fn every_file_of_the_real_tool_holds_what_was_packed() {
    for vector in samples("bloscpack") {
        let name = vector.name().to_owned();
        let pack = open(&vector);
        let bytes = pack.superchunk().unwrap().to_vec().unwrap();
        assert_eq!(sha256_hex(&bytes), vector.text(&["raw_sha256"]).unwrap(), "{name}");
        let report = pack.superchunk().unwrap().verify().unwrap();
        assert!(report.is_good(), "{name}: {report:?}");
        if pack.header().checksum != Checksum::None && !bytes.is_empty() {
            assert_eq!(report.decoded, 0, "{name}: every chunk has a digest");
        }
        let from_memory = Pack::from_bytes(vector.bytes()).unwrap();
        assert!(from_memory.superchunk().unwrap().to_vec().unwrap() == bytes, "{name}");
        check_header(&vector, &pack);
        check_array(&vector, &pack, &bytes);
        if let Some(expected) = vector.fields.get("metadata") {
            let found = pack.metadata().map_or(Json::Null, Clone::clone);
            let found: serde_json::Value =
                serde_json::from_str(&found.to_text(JsonStyle::Compact)).unwrap();
            assert_eq!(&found, expected, "{name}");
        }
    }
}

fn check_header(vector: &Vector, pack: &Pack) {
    let (header, name) = (pack.header(), vector.name());
    let stated = |key: &str| vector.integer(&["header", key]);
    assert_eq!(Some(i64::from(header.version)), stated("format_version"), "{name}");
    let signed = |size: Option<usize>| size.map_or(-1, |size| i64::try_from(size).unwrap());
    for (key, found) in [
        ("chunk_size", signed(header.chunk_size)),
        ("last_chunk", signed(header.last_chunk)),
        ("nchunks", header.chunk_count.map_or(-1, u64::cast_signed)),
        ("max_app_chunks", header.append_slots.cast_signed()),
        ("typesize", i64::from(header.item_size)),
    ] {
        if let Some(stated) = stated(key) {
            assert_eq!(found, stated, "{name}: {key}");
        }
    }
    if let Some(checksum) = vector.text(&["header", "checksum"]) {
        assert_eq!(header.checksum.name(), checksum, "{name}");
    }
}

fn check_array(vector: &Vector, pack: &Pack, bytes: &[u8]) {
    let Some(numpy) = vector.fields.get("numpy").filter(|numpy| !numpy.is_null()) else { return };
    let (array, name) = (pack.array().unwrap(), vector.name());
    let shape: Vec<u64> =
        numpy["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(array.shape, shape, "{name}");
    assert_eq!(array.order == ItemOrder::Fortran, numpy["order"] == "F", "{name}");
    assert_eq!(array.byte_len(), Some(bytes.len() as u64), "{name}");
    if array.order == ItemOrder::C {
        assert_eq!(sha256_hex(bytes), numpy["c_order_sha256"], "{name}");
    }
    match numpy["dtype_descr"].as_str() {
        Some(fields) => {
            let named = fields.matches("('").count() - fields.matches("(''").count();
            assert_eq!(array.dtype.fields().len(), named, "{name}");
        }
        None => {
            let plain = superchunk::DType::parse(numpy["dtype_str"].as_str().unwrap()).unwrap();
            assert_eq!(array.dtype, plain, "{name}");
        }
    }
}

#[test]
fn every_file_of_objects_gives_each_of_them() {
    for vector in samples("bloscpack-varlen") {
        let (name, pack) = (vector.name().to_owned(), open(&vector));
        let bytes = pack.superchunk().unwrap().to_vec().unwrap();
        let hashes = vector.fields["item_sha256"].as_array().unwrap();
        assert_eq!(pack.superchunk().unwrap().chunk_count(), hashes.len(), "{name}");
        let chunks: Vec<Vec<u8>> = match pack.has_objects() {
            true => pack.objects().map(Result::unwrap).collect(),
            false => pack.superchunk().unwrap().chunks().map(Result::unwrap).collect(),
        };
        for (chunk, expected) in chunks.iter().zip(hashes) {
            assert_eq!(sha256_hex(chunk), expected.as_str().unwrap(), "{name}");
        }
        assert!(chunks.concat() == bytes, "{name}");
        let known = vector.fields["offsets_on_disk_known"].as_bool().unwrap();
        assert_eq!(pack.is_recovered(), !known, "{name}");
        let metadata = pack.metadata().map_or(Json::Null, Clone::clone);
        let metadata: serde_json::Value =
            serde_json::from_str(&metadata.to_text(JsonStyle::Compact)).unwrap();
        assert_eq!(metadata, vector.fields["meta"], "{name}");
    }
}

#[test]
fn hostile_files_are_refused_or_read_as_the_index_says() {
    for vector in samples("hostile-bloscpack") {
        let name = vector.name();
        let outcome = read_all(Pack::open(&vector.path));
        match vector.text(&["expect"]) {
            Some("accept") => assert!(outcome.is_ok(), "{name}: {:?}", outcome.unwrap_err()),
            Some("reject") => assert!(outcome.is_err(), "{name} was read"),
            other => panic!("{name}: the index expects {other:?}"),
        }
    }
}

#[test]
fn what_the_real_tool_reads_is_read_when_only_the_chunks_count() {
    for vector in samples("hostile-bloscpack") {
        let real = vector.text(&["measured_real_reader"]).unwrap_or_default();
        // "OK <bytes> <start of the hash>"; arrays, which it overruns, are told otherwise.
        let Some(stated) = real.strip_prefix("OK ").filter(|s| !s.starts_with("ndarray")) else {
            continue;
        };
        let (len, hash) = stated.split_once(' ').unwrap();
        let lenient = Pack::open_with(&vector.path, &OpenOptions::new().with_lenient(true));
        match read_all(lenient) {
            Ok(bytes) => {
                assert_eq!(bytes.len().to_string(), len, "{}", vector.name());
                assert!(sha256_hex(&bytes).starts_with(hash), "{}", vector.name());
            }
            // Metadata that is not what it says is not a matter of chunks.
            Err(error) => assert!(vector.name().contains("meta_size"), "{error}"),
        }
    }
}

#[test]
fn the_crafted_files_of_all_formats_are_refused() {
    let crafted: Vec<Vector> = family("hostile")
        .into_iter()
        .filter(|vector| vector.text(&["kind"]) == Some("blp"))
        .collect();
    assert!(!crafted.is_empty());
    for vector in crafted {
        let outcome = read_all(Pack::open(&vector.path));
        assert!(outcome.is_err(), "{} was read", vector.name());
    }
}
