//! The real bloscpack 0.16 reads and appends to what we write, and we to what it writes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::path::Path;

use serde_json::{Value, json};
use superchunk::bloscpack::{
    Checksum, ItemOrder, MetadataOptions, Pack, PackArray, PackOptions, PackStream,
};
use superchunk::{Codec, CompressOptions, DType, Filter, Json, JsonStyle};
use superchunk_testkit::legacy_peer::{LegacyPeer, PackParams, PackedArray};
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;

fn options() -> PackOptions {
    PackOptions::new().with_compress(CompressOptions::new(4)).with_chunk_size(4096)
}

fn params() -> PackParams {
    PackParams { chunk_size: 4096, item_size: 4, ..PackParams::default() }
}

fn create(path: &Path, options: &PackOptions, bytes: &[u8]) {
    let options = options.clone().with_expected_len(bytes.len() as u64);
    let mut pack = Pack::create(path, &options).unwrap();
    pack.append(bytes).unwrap();
    pack.close().unwrap();
}

fn append(path: &Path, bytes: &[u8]) {
    let mut pack = Pack::edit(path).unwrap();
    pack.append(bytes).unwrap();
    pack.close().unwrap();
}

fn ours(path: &Path) -> Vec<u8> {
    Pack::open(path).unwrap().superchunk().unwrap().to_vec().unwrap()
}

/// The two of them append in turns, and both read everything after each.
fn take_turns(peer: &mut LegacyPeer, path: &Path, mut expected: Vec<u8>, told: &str) {
    for (round, len) in [100, 5000, 4096, 1, 9000, 3].into_iter().enumerate() {
        let more = mixed(len, 4, round as u64);
        match round % 2 {
            0 => append(path, &more),
            _ => peer.append_bytes(path, &more, &params()).unwrap(),
        }
        expected.extend(more);
        assert!(peer.unpack_bytes(path).unwrap() == expected, "{told}: theirs, round {round}");
        assert!(ours(path) == expected, "{told}: ours, round {round}");
    }
    assert!(!Pack::open(path).unwrap().is_recovered(), "{told}");
}

#[test]
fn every_checksum_is_understood_both_ways_and_appended_behind() {
    let (mut peer, folder) = (LegacyPeer::spawn(), Scratch::new());
    let bytes = mixed(10_000, 4, 1);
    for checksum in Checksum::ALL {
        let name = checksum.name();
        let path = folder.path(&format!("ours-{name}.blp"));
        create(&path, &options().with_checksum(checksum), &bytes);
        take_turns(&mut peer, &path, bytes.clone(), &format!("ours with {name}"));
        let path = folder.path(&format!("theirs-{name}.blp"));
        peer.pack_bytes(&path, &bytes, &PackParams { checksum: name, ..params() }).unwrap();
        assert_eq!(Pack::open(&path).unwrap().header().checksum, checksum);
        take_turns(&mut peer, &path, bytes.clone(), &format!("theirs with {name}"));
    }
}

#[test]
fn every_codec_filter_and_length_is_understood_both_ways() {
    let (mut peer, folder) = (LegacyPeer::spawn(), Scratch::new());
    let codecs = [
        ("blosclz", Codec::BloscLz),
        ("lz4", Codec::Lz4),
        ("lz4hc", Codec::Lz4Hc),
        ("zlib", Codec::Zlib),
        ("zstd", Codec::Zstd),
    ];
    let mut number = 0;
    for (name, codec) in codecs {
        for (shuffle, filters) in
            [(0, vec![]), (1, vec![Filter::Shuffle]), (2, vec![Filter::BitShuffle])]
        {
            for len in [1, 100, 4096, 4097, 12_288, 50_000] {
                number += 1;
                let bytes = mixed(len, 4, 2);
                let path = folder.path(&format!("{number}.blp"));
                let compress =
                    CompressOptions::new(4).with_codec(codec).with_filters(filters.clone());
                create(&path, &options().with_compress(compress), &bytes);
                assert!(peer.unpack_bytes(&path).unwrap() == bytes, "{name} {shuffle} {len}");
                let theirs = PackParams { codec: name, shuffle, ..params() };
                peer.pack_bytes(&path, &bytes, &theirs).unwrap();
                assert!(ours(&path) == bytes, "{name} {shuffle} {len}");
            }
        }
    }
}

#[test]
fn a_file_without_bytes_can_be_filled_by_both() {
    let (mut peer, folder) = (LegacyPeer::spawn(), Scratch::new());
    let path = folder.path("ours.blp");
    create(&path, &options(), &[]);
    assert!(peer.unpack_bytes(&path).unwrap().is_empty());
    peer.append_bytes(&path, &mixed(6000, 4, 3), &params()).unwrap();
    take_turns(&mut peer, &path, mixed(6000, 4, 3), "ours, empty at first");
    let path = folder.path("again.blp");
    create(&path, &options(), &[]);
    take_turns(&mut peer, &path, Vec::new(), "ours, empty at first, filled by us");
    // Its own cannot be appended to by itself; by us it can.
    let path = folder.path("theirs.blp");
    peer.pack_bytes(&path, &[], &params()).unwrap();
    assert!(ours(&path).is_empty());
    assert!(peer.append_bytes(&path, &[1, 2, 3], &params()).is_err());
    take_turns(&mut peer, &path, Vec::new(), "theirs, empty at first");
}

#[test]
fn a_small_file_of_theirs_gets_chunks_of_the_usual_size() {
    let (mut peer, folder) = (LegacyPeer::spawn(), Scratch::new());
    let path = folder.path("small.blp");
    let bytes = mixed(400, 4, 4);
    peer.pack_bytes(&path, &bytes, &PackParams::default()).unwrap();
    assert_eq!(Pack::open(&path).unwrap().header().chunk_size, Some(400));
    let more = mixed(3_000_000, 4, 5);
    append(&path, &more);
    assert_eq!(Pack::open(&path).unwrap().header().chunk_count, Some(3));
    assert!(peer.unpack_bytes(&path).unwrap() == [bytes, more].concat());
}

#[test]
fn metadata_is_understood_and_changed_by_both() {
    let (mut peer, folder) = (LegacyPeer::spawn(), Scratch::new());
    let bytes = mixed(10_000, 4, 6);
    let values = [
        json!({}),
        json!([1, "two", {"three": 3.5}]),
        json!("text"),
        json!({"long": "x".repeat(5000), "ü": "\u{1F600}", "n": null, "t": true}),
    ];
    for checksum in Checksum::ALL {
        for (number, value) in values.iter().enumerate() {
            let path = folder.path(&format!("{}-{number}.blp", checksum.name()));
            let text = Json::parse(&value.to_string()).unwrap();
            let mut stored = MetadataOptions::default();
            stored.checksum = checksum;
            stored.compressed = number != 1;
            let made = options().with_metadata(text.clone()).with_metadata_options(stored);
            create(&path, &made, &bytes);
            assert_eq!(&peer.unpack_metadata(&path).unwrap(), value);
            assert!(peer.unpack_bytes(&path).unwrap() == bytes);
            let theirs = PackParams {
                metadata: Some(value.clone()),
                meta_checksum: checksum.name(),
                meta_codec: if number == 1 { "None" } else { "zlib" },
                ..params()
            };
            peer.pack_bytes(&path, &bytes, &theirs).unwrap();
            assert_eq!(Pack::open(&path).unwrap().metadata(), Some(&text));
            let mut pack = Pack::edit(&path).unwrap();
            pack.set_metadata(Some(Json::from("ours"))).unwrap();
            pack.append(&[7; 100]).unwrap();
            pack.close().unwrap();
            assert_eq!(peer.unpack_metadata(&path).unwrap(), json!("ours"));
            peer.rewrite_metadata(&path, &json!({"a": 2})).unwrap();
            let pack = Pack::open(&path).unwrap();
            let found = pack.metadata().unwrap().to_text(JsonStyle::Compact);
            assert_eq!(found, r#"{"a":2}"#);
            assert_eq!(pack.superchunk().unwrap().byte_len(), 10_100);
        }
    }
}

#[test]
fn arrays_of_every_kind_are_understood_both_ways() {
    let (mut peer, folder) = (LegacyPeer::spawn(), Scratch::new());
    let types = [
        "'|b1'",
        "'|u1'",
        "'<i2'",
        "'>i4'",
        "'<u8'",
        "'<f4'",
        "'>f8'",
        "'<c16'",
        "'|S5'",
        "'<U3'",
        "'<M8[ms]'",
        "'<m8[s]'",
        "'|V6'",
        "[('a', '<i4'), ('b', '<f8'), ('s', '|S3')]",
        "[('pos', [('x', '<f4'), ('y', '<f4')]), ('m', '<i2', (2, 3)), ('f', '|b1')]",
        "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [0, 8], 'itemsize': 16}",
    ];
    for (number, text) in types.into_iter().enumerate() {
        let dtype = DType::parse(text.trim_matches('\'')).unwrap();
        for (shape, order) in
            [(vec![6, 5], "C"), (vec![6, 5], "F"), (vec![], "C"), (vec![3, 0], "C")]
        {
            let told = format!("{text} {shape:?} {order}");
            let count: u64 = shape.iter().product();
            let bytes =
                mixed(usize::try_from(count).unwrap() * dtype.item_size(), 4, number as u64);
            // NumPy keeps a truth value as it is; 2 is none.
            let bytes: Vec<u8> = bytes.into_iter().map(|byte| byte & 1).collect();
            let path = folder.path("a.blp");
            let _ = std::fs::remove_file(&path);
            let packed =
                PackedArray { dtype: text.to_owned(), shape: shape.clone(), bytes: bytes.clone() };
            peer.pack_array(&path, &packed, order, &PackParams::default()).unwrap();
            let theirs = peer.unpack_array(&path).unwrap();
            let found = Pack::open(&path).unwrap();
            let array = found.array().unwrap().clone();
            assert_eq!((&array.dtype, &array.shape), (&dtype, &shape), "{told}");
            assert!(found.superchunk().unwrap().to_vec().unwrap() == bytes, "{told}");
            std::fs::remove_file(&path).unwrap();
            create(&path, &PackOptions::new().with_array(&array), &bytes);
            assert_eq!(peer.unpack_array(&path).unwrap(), theirs, "{told}");
        }
    }
}

#[test]
fn rows_of_ours_are_an_array_of_theirs() {
    let (mut peer, folder) = (LegacyPeer::spawn(), Scratch::new());
    let path = folder.path("rows.blp");
    let array = PackArray::new(DType::parse("<f4").unwrap(), [100, 30]).with_order(ItemOrder::C);
    let bytes = mixed(12_000, 4, 7);
    create(&path, &PackOptions::new().with_array(&array).with_chunk_size(4096), &bytes);
    append(&path, &bytes[..6000]);
    let found = peer.unpack_array(&path).unwrap();
    assert_eq!(found.shape, [150, 30]);
    assert!(found.bytes == [&bytes[..], &bytes[..6000]].concat());
    // Items of more than 255 bytes, which bloscpack itself refuses to pack.
    let wide = PackArray::new(DType::parse("<U100").unwrap(), [25]);
    let path = folder.path("wide.blp");
    create(&path, &PackOptions::new().with_array(&wide), &vec![0; 10_000]);
    assert_eq!(peer.unpack_array(&path).unwrap().shape, [25]);
}

#[test]
fn files_without_positions_and_streams_are_read_by_it() {
    let (mut peer, folder) = (LegacyPeer::spawn(), Scratch::new());
    let bytes = mixed(10_000, 4, 8);
    let path = folder.path("none.blp");
    create(&path, &options().with_offsets(false), &bytes);
    assert!(peer.unpack_bytes(&path).unwrap() == bytes);
    append(&path, &bytes);
    assert!(peer.unpack_bytes(&path).unwrap() == [bytes.clone(), bytes.clone()].concat());
    let path = folder.path("stream.blp");
    let mut stream = PackStream::new(File::create(&path).unwrap(), &options()).unwrap();
    stream.append(&bytes).unwrap();
    stream.finish_in_place().unwrap();
    assert!(peer.unpack_bytes(&path).unwrap() == bytes);
    // It refuses objects, in words: nothing is misread.
    let path = folder.path("objects.blp");
    std::fs::write(&path, PackOptions::objects("varchar").pack_objects(["a", "b"]).unwrap())
        .unwrap();
    assert!(peer.unpack_bytes(&path).is_err());
}

#[test]
fn the_header_says_what_bloscpack_would_say() {
    let (mut peer, folder) = (LegacyPeer::spawn(), Scratch::new());
    let bytes = mixed(10_000, 4, 9);
    let (ours, theirs) = (folder.path("ours.blp"), folder.path("theirs.blp"));
    create(&ours, &options(), &bytes);
    peer.pack_bytes(&theirs, &bytes, &params()).unwrap();
    let header = |peer: &mut LegacyPeer, path: &Path| -> Value {
        peer.pack_info(path).unwrap()["header"].clone()
    };
    assert_eq!(header(&mut peer, &ours), header(&mut peer, &theirs));
}
