//! Bloscpack files as users call them: ranges, digests, appends, metadata, arrays, objects, streams.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superchunk::bloscpack::{
    Checksum, ItemOrder, MetadataOptions, Pack, PackArray, PackOptions, PackStream,
};
use superchunk::store::{Bytes, Dir, MemoryFolder, ReadAt};
use superchunk::{Codec, CompressOptions, DType, ErrorKind, Filter, Json, OpenOptions, Result};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::samples::mixed;
use superchunk_testkit::vectors::family;

const NAME: &str = "a.blp";

/// Small chunks of four-byte items.
fn options() -> PackOptions {
    PackOptions::new().with_compress(CompressOptions::new(4)).with_chunk_size(1000)
}

fn reopened(folder: &MemoryFolder) -> Pack {
    Pack::open_in_dir(Arc::new(folder.clone()), NAME, &OpenOptions::new()).unwrap()
}

fn edited(folder: &MemoryFolder) -> Pack {
    Pack::edit_in_dir(Arc::new(folder.clone()), NAME, &OpenOptions::new()).unwrap()
}

fn created(folder: &MemoryFolder, options: &PackOptions, bytes: &[u8]) {
    let options = options.clone().with_expected_len(bytes.len() as u64);
    let mut pack = Pack::create_in_dir(Arc::new(folder.clone()), NAME, &options).unwrap();
    pack.append(bytes).unwrap();
    pack.close().unwrap();
}

fn lens(pack: &Pack) -> Vec<usize> {
    pack.superchunk().unwrap().chunks().map(|chunk| chunk.unwrap().len()).collect()
}

fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

#[test]
fn any_range_of_bytes_and_items_is_read() {
    let bytes = mixed(10_500, 4, 1);
    let mut rng = Rng::new(7);
    for checksum in [Checksum::None, Checksum::Crc32, Checksum::Sha512] {
        let file = options().with_checksum(checksum).pack(&bytes).unwrap();
        let store = Arc::new(Bytes::new(file));
        for unchecked in [false, true] {
            let options = OpenOptions::new().with_unchecked_digests(unchecked);
            let pack = Pack::open_store(store.clone(), &options).unwrap();
            let data = pack.superchunk().unwrap();
            assert_eq!((data.item_size(), data.item_count()), (4, 2625));
            for _ in 0..200 {
                let (a, b) = (rng.index(10_501), rng.index(10_501));
                let range = a.min(b)..a.max(b);
                let mut found = vec![0; range.len()];
                data.read_bytes(range.start as u64..range.end as u64, &mut found).unwrap();
                assert!(found == bytes[range.clone()], "bytes {range:?}");
            }
            assert_eq!(data.items::<u32>(300..302).unwrap().len(), 2);
            assert!(data.chunks().map(Result::unwrap).collect::<Vec<_>>().concat() == bytes);
        }
    }
}

#[test]
fn a_read_compares_the_digest_of_its_chunk_unless_told_not_to() {
    let bytes = mixed(4000, 4, 2);
    let options = options().with_compress(CompressOptions::new(4).with_block_size(256));
    for checksum in Checksum::ALL.into_iter().filter(|checksum| *checksum != Checksum::None) {
        let mut file = options.clone().with_checksum(checksum).pack(&bytes).unwrap();
        let end = file.len();
        file[end - 1] ^= 1;
        let store = Arc::new(Bytes::new(file));
        let pack = Pack::open_store(store.clone(), &OpenOptions::new()).unwrap();
        let data = pack.superchunk().unwrap();
        data.read_bytes(0..3000, &mut [0; 3000]).unwrap();
        let error = data.read_bytes(3500..3501, &mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.message().contains(checksum.name()), "{error}");
        let report = data.verify().unwrap();
        assert_eq!((report.checked, report.damaged.len()), (3, 1));
        let unchecked =
            Pack::open_store(store, &OpenOptions::new().with_unchecked_digests(true)).unwrap();
        assert!(unchecked.superchunk().unwrap().to_vec().unwrap() == bytes);
    }
}

#[test]
fn every_codec_and_filter_of_blosc1_is_written() {
    let bytes = mixed(30_000, 4, 3);
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle]] {
            let compress = CompressOptions::new(4).with_codec(codec).with_filters(filters);
            let file = options().with_compress(compress).pack(&bytes).unwrap();
            let pack = Pack::from_bytes(file).unwrap();
            let data = pack.superchunk().unwrap();
            assert!(data.to_vec().unwrap() == bytes, "{codec:?}");
            assert!((0..30).all(|n| data.chunk_header(n).unwrap().version() == 2));
        }
    }
    let blosc2_only = CompressOptions::new(4).with_filters([Filter::Delta]);
    assert!(PackOptions::new().with_compress(blosc2_only).pack(&bytes).is_err());
}

#[test]
fn an_append_never_writes_a_committed_chunk_again() {
    let folder = MemoryFolder::new();
    let mut expected = mixed(2500, 4, 4);
    created(&folder, &options(), &expected);
    let before = folder.open(NAME).unwrap();
    let mut committed = vec![0; usize::try_from(before.len().unwrap()).unwrap()];
    before.read_exact_at(0, &mut committed).unwrap();
    for (round, len) in [300, 2000, 1, 999].into_iter().enumerate() {
        let more = mixed(len, 4, 5);
        let mut pack = edited(&folder);
        pack.append(&more[..len / 2]).unwrap();
        pack.append(&more[len / 2..]).unwrap();
        // Nobody sees it yet.
        assert!(reopened(&folder).superchunk().unwrap().to_vec().unwrap() == expected);
        expected.extend(more);
        assert!(pack.superchunk().unwrap().to_vec().unwrap() == expected);
        pack.commit().unwrap();
        drop(pack);
        let pack = reopened(&folder);
        assert!(pack.superchunk().unwrap().to_vec().unwrap() == expected);
        assert!(!pack.is_recovered());
        let count = [4, 6, 7, 8][round];
        assert_eq!(pack.header().chunk_count, Some(count));
        assert_eq!(pack.header().append_slots, 33 - count, "as bloscpack counts them");
    }
    assert_eq!(lens(&reopened(&folder)), [1000, 1000, 500, 300, 1000, 1000, 1, 999]);
    // The same file, and the chunks of the first commit where they were.
    let mut now = vec![0; committed.len()];
    folder.open(NAME).unwrap().read_exact_at(0, &mut now).unwrap();
    let base = 32 + 33 * 8;
    assert!(now[base..] == committed[base..]);
    let mut some = [0; 8];
    reopened(&folder).superchunk().unwrap().read_items(624..626, &mut some).unwrap();
    assert_eq!(some, expected[624 * 4..626 * 4]);
}

#[test]
fn one_chunk_that_is_not_full_and_no_chunk_at_all_grow_to_full_ones() {
    for first in [0, 1, 400] {
        let folder = MemoryFolder::new();
        let bytes = mixed(5000, 4, 6);
        created(&folder, &options(), &bytes[..first]);
        assert_eq!(reopened(&folder).header().chunk_count, Some(1));
        assert_eq!(reopened(&folder).superchunk().unwrap().byte_len(), first as u64);
        let mut pack = edited(&folder);
        pack.append(&bytes[first..]).unwrap();
        pack.close().unwrap();
        let pack = reopened(&folder);
        assert_eq!(lens(&pack), [1000; 5]);
        assert!(pack.superchunk().unwrap().to_vec().unwrap() == bytes);
        assert_eq!(folder.names().unwrap(), [NAME], "nothing is left behind");
    }
}

#[test]
fn a_file_without_room_for_more_positions_is_written_anew() {
    let folder = MemoryFolder::new();
    let mut expected = mixed(3000, 4, 7);
    let tight = options().with_append_slots(2).with_expected_len(3000);
    created(&folder, &tight, &expected);
    assert_eq!(reopened(&folder).header().append_slots, 2);
    for _ in 0..30 {
        let more = mixed(700, 4, 8);
        let mut pack = edited(&folder);
        pack.append(&more).unwrap();
        expected.extend(more);
        pack.close().unwrap();
    }
    assert!(reopened(&folder).superchunk().unwrap().to_vec().unwrap() == expected);
    assert_eq!(folder.names().unwrap(), [NAME]);
}

#[test]
fn other_changes_write_the_file_anew() {
    let folder = MemoryFolder::new();
    let mut expected = mixed(3500, 4, 9);
    created(&folder, &options().with_metadata(json(r#"{"a":1}"#)), &expected);
    let mut pack = edited(&folder);
    pack.superchunk_mut().unwrap().write_bytes(1200, &[9; 2000]).unwrap();
    expected[1200..3200].fill(9);
    pack.superchunk_mut().unwrap().resize(800).unwrap();
    expected.truncate(3200);
    pack.close().unwrap();
    let pack = reopened(&folder);
    assert!(pack.superchunk().unwrap().to_vec().unwrap() == expected);
    assert_eq!((lens(&pack), pack.header().last_chunk), (vec![1000, 1000, 1000, 200], Some(200)));
    assert_eq!(pack.metadata(), Some(&json(r#"{"a":1}"#)));
    // A chunk in the middle goes: the sizes follow no rule, and the header says none.
    let mut pack = edited(&folder);
    pack.superchunk_mut().unwrap().delete_chunk(0).unwrap();
    let odd = superchunk::chunk::compress(&[5; 77], pack.superchunk().unwrap().options()).unwrap();
    pack.superchunk_mut().unwrap().insert_chunk(0, &odd).unwrap();
    pack.close().unwrap();
    let pack = reopened(&folder);
    assert_eq!((lens(&pack), pack.header().chunk_size), (vec![77, 1000, 1000, 200], None));
}

#[test]
fn a_file_whose_count_is_unknown_can_be_appended_to() {
    let bytes = mixed(2500, 4, 10);
    let mut stream = PackStream::new(Vec::new(), &options()).unwrap();
    stream.append(&bytes[..700]).unwrap();
    stream.append(&bytes[700..]).unwrap();
    let file = stream.finish().unwrap();
    let pack = Pack::from_bytes(file.clone()).unwrap();
    assert_eq!((pack.header().chunk_count, pack.header().last_chunk), (None, None));
    assert!(pack.superchunk().unwrap().to_vec().unwrap() == bytes);
    let folder = MemoryFolder::new();
    folder.create(NAME).unwrap().write_at(0, &file).unwrap();
    let mut pack = edited(&folder);
    pack.append(&bytes).unwrap();
    pack.close().unwrap();
    let pack = reopened(&folder);
    assert_eq!((pack.header().chunk_count, pack.header().last_chunk), (Some(6), Some(500)));
    assert!(pack.superchunk().unwrap().to_vec().unwrap() == [bytes.clone(), bytes].concat());
}

#[test]
fn a_stream_that_can_seek_is_completed_in_place() {
    for len in [0, 1, 1000, 1001, 5000] {
        let bytes = mixed(len, 4, 11);
        let metadata = options().with_metadata(json(r#"["streamed"]"#));
        let mut stream = PackStream::new(Cursor::new(Vec::new()), &metadata).unwrap();
        stream.append(&bytes).unwrap();
        let file = stream.finish_in_place().unwrap().into_inner();
        let pack = Pack::from_bytes(file).unwrap();
        let chunks = len.div_ceil(1000).max(1) as u64;
        assert_eq!(pack.header().chunk_count, Some(chunks), "{len} bytes");
        assert_eq!(pack.metadata(), Some(&json(r#"["streamed"]"#)));
        assert!(pack.superchunk().unwrap().to_vec().unwrap() == bytes);
    }
}

#[test]
fn objects_are_streamed_when_their_number_is_known() {
    let objects: Vec<Vec<u8>> = (0..50).map(|i| mixed(i * 13 % 400, 1, i as u64)).collect();
    let options = PackOptions::objects("varbinary").with_checksum(Checksum::Crc32);
    for in_place in [false, true] {
        let mut stream = PackStream::objects(Cursor::new(Vec::new()), &options, 50).unwrap();
        assert!(stream.append(&[1]).is_err());
        objects.iter().for_each(|object| stream.append_object(object).unwrap());
        assert!(stream.append_object(b"one more").is_err());
        let file = match in_place {
            true => stream.finish_in_place().unwrap(),
            false => stream.finish().unwrap(),
        };
        let pack = Pack::from_bytes(file.into_inner()).unwrap();
        assert_eq!(pack.is_recovered(), !in_place);
        assert_eq!(pack.header().last_chunk.is_some(), in_place);
        assert_eq!(pack.metadata(), Some(&json(r#"{"dtype":"varbinary","shape":[50]}"#)));
        assert!(pack.objects().map(Result::unwrap).eq(objects.iter().cloned()));
    }
    let short = PackStream::objects(Vec::new(), &options, 2).unwrap();
    assert_eq!(short.finish().unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(PackStream::new(Vec::new(), &options).is_err());
    assert!(PackStream::objects(Vec::new(), &PackOptions::new(), 2).is_err());
}

#[test]
fn metadata_changes_in_place_or_with_a_new_file() {
    let folder = MemoryFolder::new();
    let bytes = mixed(2500, 4, 12);
    created(&folder, &options().with_metadata(json(r#"{"a":1}"#)), &bytes);
    let len = folder.open(NAME).unwrap().len().unwrap();
    let letter =
        |i: u32| char::from(b"abcdefghijklmnop"[(i.wrapping_mul(2_654_435_761) >> 28) as usize]);
    let long = format!(r#"{{"long":"{}"}}"#, (0..4000).map(letter).collect::<String>());
    for (text, in_place) in
        [(r#"{"b":[1,2,NaN]}"#, true), (r#""x""#, true), (long.as_str(), false), ("null", false)]
    {
        let mut pack = edited(&folder);
        pack.set_metadata(Some(json(text))).unwrap();
        pack.close().unwrap();
        let pack = reopened(&folder);
        assert_eq!(pack.metadata(), Some(&json(text)));
        assert!(pack.superchunk().unwrap().to_vec().unwrap() == bytes);
        if in_place {
            assert_eq!(folder.open(NAME).unwrap().len().unwrap(), len, "{text}");
        }
    }
    let mut pack = edited(&folder);
    pack.set_metadata(None).unwrap();
    pack.close().unwrap();
    assert_eq!(reopened(&folder).metadata(), None);
    let small = MetadataOptions::default();
    let mut cramped = options().with_metadata(json(&long)).with_metadata_options(small);
    cramped.metadata_options.room = Some(10);
    assert_eq!(cramped.pack(&bytes).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let folder = MemoryFolder::new();
    assert!(Pack::create_in_dir(Arc::new(folder.clone()), NAME, &cramped).is_err());
    assert!(folder.names().unwrap().is_empty(), "nothing is left behind");
}

#[test]
fn arrays_grow_by_whole_rows_and_say_so() {
    let folder = MemoryFolder::new();
    let array = PackArray::new(DType::parse("<u2").unwrap(), [2, 3]);
    let options = PackOptions::new().with_array(&array);
    let rows = |count: u16| (0..3 * count).flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    created(&folder, &options, &rows(2));
    assert_eq!(reopened(&folder).array(), Some(&array));
    let mut pack = edited(&folder);
    assert_eq!(pack.append(&[0; 5]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    pack.append(&rows(4)).unwrap();
    pack.close().unwrap();
    let pack = reopened(&folder);
    assert_eq!(pack.array().unwrap().shape, [6, 3]);
    assert_eq!(pack.superchunk().unwrap().to_vec().unwrap(), [rows(2), rows(4)].concat());
    // Written by halves, it is an array when it is complete, and plain bytes before.
    let folder = MemoryFolder::new();
    let spread = array.clone().with_order(ItemOrder::Fortran);
    let options = PackOptions::new().with_array(&spread);
    let mut pack = Pack::create_in_dir(Arc::new(folder.clone()), NAME, &options).unwrap();
    pack.append(&rows(2)[..6]).unwrap();
    pack.commit().unwrap();
    assert_eq!(reopened(&folder).array(), None);
    pack.append(&rows(2)[6..]).unwrap();
    pack.commit().unwrap();
    assert_eq!(reopened(&folder).array(), Some(&spread));
    assert_eq!(pack.append(&rows(1)).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(options.pack(&[0; 11]).is_err());
}

/// A store that counts the bytes that are read from it.
struct Counted(Vec<u8>, AtomicU64);

impl ReadAt for Counted {
    fn len(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        let rest = &self.0[usize::try_from(position).unwrap().min(self.0.len())..];
        let len = rest.len().min(dst.len());
        dst[..len].copy_from_slice(&rest[..len]);
        self.1.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }
}

#[test]
fn one_object_is_read_without_the_others() {
    let objects: Vec<Vec<u8>> = (0..300).map(|i| mixed(i * 37 % 9000, 1, i as u64)).collect();
    let file = PackOptions::objects("varbinary").pack_objects(&objects).unwrap();
    let whole = file.len() as u64;
    let store = Arc::new(Counted(file, AtomicU64::new(0)));
    let pack = Pack::open_store(store.clone(), &OpenOptions::new()).unwrap();
    assert_eq!(pack.object_count(), 300);
    let opened = store.1.swap(0, Ordering::Relaxed);
    assert!(opened < 16_000, "{opened} bytes to open, of {whole}");
    assert!(pack.object(17).unwrap() == objects[17]);
    let read = store.1.swap(0, Ordering::Relaxed);
    assert!(read < 2 * objects[17].len() as u64 + 200, "{read} bytes for one object");
    assert!(pack.objects().map(Result::unwrap).eq(objects.iter().cloned()));
    assert!(pack.superchunk().unwrap().to_vec().unwrap() == objects.concat());
    assert_eq!(pack.object(300).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn objects_are_appended_and_counted_in_the_metadata() {
    let folder = MemoryFolder::new();
    let mut expected: Vec<Vec<u8>> = Vec::new();
    let options = PackOptions::objects("varchar");
    Pack::create_in_dir(Arc::new(folder.clone()), NAME, &options).unwrap().close().unwrap();
    assert_eq!(reopened(&folder).object_count(), 0);
    for round in 0..40usize {
        let mut pack = edited(&folder);
        for i in 0..round {
            let text = "word ".repeat(i % 5).into_bytes();
            pack.append_object(&text).unwrap();
            expected.push(text);
        }
        assert_eq!(pack.object_count(), expected.len() as u64);
        pack.close().unwrap();
        let pack = reopened(&folder);
        assert!(pack.objects().map(Result::unwrap).eq(expected.iter().cloned()));
        let shape = format!(r#"{{"dtype":"varchar","shape":[{}]}}"#, expected.len());
        assert_eq!(pack.metadata(), Some(&json(&shape)));
        assert_eq!(pack.header().chunk_count, Some(expected.len() as u64));
    }
    let mut pack = edited(&folder);
    assert_eq!(pack.append(&[1]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let bytes = options.pack_objects(["one", "two"]).unwrap();
    assert_eq!(bytes[4], 4, "the version of objects");
    let mut plain = PackOptions::new();
    plain.metadata = None;
    assert!(Pack::from_bytes(plain.pack(b"x").unwrap()).unwrap().object(0).is_err());
}

#[test]
fn files_of_versions_1_and_2_become_version_3_by_a_copy() {
    let folder = superchunk_testkit::scratch::Scratch::new();
    let all = ["legacy/bloscpack", "legacy"].into_iter().flat_map(family);
    for (number, vector) in all.enumerate() {
        let version = vector.integer(&["header", "format_version"]);
        if !matches!(version, Some(1 | 2)) {
            continue;
        }
        let old = Pack::open(&vector.path).unwrap();
        let copied = folder.path("old.blp");
        let _ = std::fs::remove_file(&copied);
        std::fs::copy(&vector.path, &copied).unwrap();
        let mut permissions = std::fs::metadata(&copied).unwrap().permissions();
        #[expect(clippy::permissions_set_readonly_false, reason = "a file of this test alone")]
        permissions.set_readonly(false);
        std::fs::set_permissions(&copied, permissions).unwrap();
        assert_eq!(Pack::edit(&copied).unwrap_err().kind(), ErrorKind::Unsupported);
        let path = folder.path(&format!("{number}.blp"));
        old.copy_to(&path, &options()).unwrap().close().unwrap();
        let new = Pack::open(&path).unwrap();
        assert_eq!(new.header().version, 3);
        let bytes = old.superchunk().unwrap().to_vec().unwrap();
        assert!(new.superchunk().unwrap().to_vec().unwrap() == bytes, "{}", vector.name());
    }
}

#[test]
fn a_copy_keeps_arrays_and_objects() {
    let folder: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let array =
        PackArray::new(DType::parse(">i4").unwrap(), [50, 10]).with_order(ItemOrder::Fortran);
    let bytes = mixed(2000, 4, 13);
    let first = Pack::from_bytes(options().with_array(&array).pack(&bytes).unwrap()).unwrap();
    let other = options().with_checksum(Checksum::Md5).with_chunk_size(512);
    let copy = first.copy_to_dir(folder.clone(), "array", &other).unwrap();
    assert_eq!((copy.array(), copy.header().checksum), (Some(&array), Checksum::Md5));
    copy.close().unwrap();
    let copy = Pack::open_in_dir(folder.clone(), "array", &OpenOptions::new()).unwrap();
    assert_eq!(copy.array(), Some(&array));
    assert!(copy.superchunk().unwrap().to_vec().unwrap() == bytes);
    let words = PackOptions::objects("varchar").pack_objects(["", "a", "bc"]).unwrap();
    let words = Pack::from_bytes(words).unwrap();
    let copy = words.copy_to_dir(folder, "words", &other).unwrap();
    assert!(copy.objects().map(Result::unwrap).eq(words.objects().map(Result::unwrap)));
    assert_eq!(copy.metadata(), words.metadata());
}

#[test]
fn two_writers_keep_out_of_each_others_way() {
    let folder = MemoryFolder::new();
    created(&folder, &options(), &[1; 2000]);
    let first = edited(&folder);
    let second = Pack::edit_in_dir(Arc::new(folder.clone()), NAME, &OpenOptions::new());
    assert_eq!(second.unwrap_err().kind(), ErrorKind::Locked);
    drop(first);
    let mut read_only = reopened(&folder);
    assert_eq!(read_only.append(&[1]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(read_only.set_metadata(None).is_err());
    drop(edited(&folder));
}
