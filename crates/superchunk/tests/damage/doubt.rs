//! What a salvage must not pass off as data: chunks that cannot be decoded here, chunks with a wrong
//! checksum; and what it must not take for damage: limits that are too small.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;

use superchunk::bcolz::{Array, ArrayOptions, Table, TableOptions};
use superchunk::bloscpack::{Checksum, Pack, PackOptions};
use superchunk::salvage::{self, ATTRIBUTE, Certainty, FoundAt, SalvageReport};
use superchunk::store::{Bytes, Dir, MemoryFolder};
use superchunk::verify;
use superchunk::{
    Codec, CompressOptions, DType, Error, ErrorKind, FrameOptions, Json, Limits, SuperChunk, Value,
    blsk, chunk,
};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::trees::{files_of, folder_of};

const CHUNK: usize = 4000;

fn salvaged(bytes: &[u8]) -> Result<(SuperChunk, SalvageReport), Error> {
    let create = &mut |options: &FrameOptions| SuperChunk::in_memory(options);
    salvage::frame(&Bytes::new(bytes), create, &Limits::default())
}

/// The file of a frame with what `fill` puts into it.
pub(crate) fn file_of(options: &FrameOptions, fill: impl FnOnce(&mut SuperChunk)) -> Vec<u8> {
    let scratch = Scratch::new();
    let path = scratch.path("frame");
    let mut frame = SuperChunk::create(&path, options).unwrap();
    fill(&mut frame);
    frame.close().unwrap();
    std::fs::read(path).unwrap()
}

/// Fails unless the result opens, and all of it can be looked at and is good.
fn check_whole(saved: &SuperChunk) {
    let opened = SuperChunk::from_bytes(saved.to_bytes().unwrap()).unwrap();
    let report = verify::super_chunk(&opened, &verify::VerifyOptions::new()).unwrap();
    assert!(report.is_good() && report.is_complete(), "{:?}", report.findings);
}

/// A chunk that names a codec which is not defined.
fn of_unknown_codec(seed: u64) -> Vec<u8> {
    let options = CompressOptions::new(4).with_codec(Codec::Lz4);
    let mut chunk = chunk::compress(&mixed(CHUNK, 4, seed), &options).unwrap();
    chunk[2] = chunk[2] & 0x1f | 2 << 5;
    let error = chunk::decompress(&chunk).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    chunk
}

#[test]
fn a_chunk_of_an_unknown_codec_is_a_hole_that_says_so() {
    for checksums in [true, false] {
        let options = FrameOptions::new(CompressOptions::new(4).with_codec(Codec::Lz4));
        let options = options.with_chunk_size(CHUNK).with_checksums(checksums);
        let good = file_of(&options, |frame| {
            frame.append(&mixed(CHUNK, 4, 1)).unwrap();
            frame.append_chunk(&of_unknown_codec(2)).unwrap();
            frame.append(&mixed(CHUNK, 4, 3)).unwrap();
        });
        let mut headless = good.clone();
        headless[..90].fill(0);
        for bytes in [good, headless] {
            let (saved, report) = salvaged(&bytes).unwrap();
            check_whole(&saved);
            let holes = report.holes.iter().filter(|hole| hole.chunk.is_some());
            let [hole] = holes.collect::<Vec<_>>()[..] else { unreachable!("{report:?}") };
            assert_eq!(hole.chunk, Some(1), "{report:?}");
            assert!(hole.reason.contains("cannot decode it: chunk flags: codec"), "{report:?}");
            assert!(report.pieces.iter().all(|piece| piece.chunk != 1));
            assert_eq!(saved.read_chunk(0).unwrap(), mixed(CHUNK, 4, 1));
            assert_eq!(saved.read_chunk(1).unwrap(), [0; CHUNK]);
            assert_eq!(saved.read_chunk(2).unwrap(), mixed(CHUNK, 4, 3));
        }
    }
}

#[test]
fn nothing_is_made_of_chunks_of_unknown_codecs_alone() {
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(CHUNK);
    let frame = file_of(&options, |frame| {
        frame.append_chunk(&of_unknown_codec(1)).unwrap();
        frame.append_chunk(&of_unknown_codec(2)).unwrap();
    });
    let error = salvaged(&frame).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}

#[test]
fn a_chunk_file_of_an_unknown_codec_is_a_hole_that_says_so() {
    let dir = Arc::new(MemoryFolder::new());
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(CHUNK);
    let mut frame = SuperChunk::create_in_dir(dir.clone(), None, &options).unwrap();
    frame.append(&mixed(CHUNK, 4, 1)).unwrap();
    frame.append_chunk(&of_unknown_codec(2)).unwrap();
    frame.close().unwrap();
    let create = &mut |options: &FrameOptions| SuperChunk::in_memory(options);
    let (saved, report) = salvage::sparse(dir.as_ref(), create, &Limits::default()).unwrap();
    check_whole(&saved);
    assert_eq!((report.holes.len(), report.holes[0].chunk), (1, Some(1)), "{report:?}");
    assert!(report.holes[0].reason.contains("cannot decode it"), "{report:?}");
}

/// The checksum of RFC 1950.
fn adler32(bytes: &[u8]) -> u32 {
    let sums = bytes.iter().fold((1, 0), |(a, b): (u32, u32), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    sums.1 << 16 | sums.0
}

#[test]
fn a_chunk_of_an_unknown_codec_in_a_pack_is_a_hole_that_says_so() {
    for checksum in [Checksum::Adler32, Checksum::None] {
        let compress = CompressOptions::new(4).with_codec(Codec::Lz4);
        let options = PackOptions::new().with_compress(compress).with_checksum(checksum);
        let data = mixed(3 * CHUNK, 4, 1);
        let mut file = options.with_chunk_size(CHUNK).pack(&data).unwrap();
        let stored =
            Pack::from_bytes(file.clone()).unwrap().superchunk().unwrap().compressed_chunk(1);
        let stored = stored.unwrap();
        let at = file.windows(stored.len()).position(|found| found == stored).unwrap();
        file[at + 2] |= 7 << 5;
        if checksum == Checksum::Adler32 {
            let end = at + stored.len();
            let digest = adler32(&file[at..end]).to_le_bytes();
            file[end..end + 4].copy_from_slice(&digest);
        }
        let mut saved = Vec::new();
        let report = salvage::pack(&Bytes::new(file), &mut saved, &Limits::default()).unwrap();
        assert_eq!((report.holes.len(), report.holes[0].chunk), (1, Some(1)), "{report:?}");
        assert!(report.holes[0].reason.contains("cannot decode it"), "{report:?}");
        let mut expected = data;
        expected[CHUNK..2 * CHUNK].fill(0);
        let saved = Pack::from_bytes(saved).unwrap();
        assert!(saved.superchunk().unwrap().to_vec().unwrap() == expected);
    }
}

#[test]
fn chunks_whose_digests_are_all_wrong_are_lost() {
    for checksum in Checksum::ALL.into_iter().filter(|checksum| *checksum != Checksum::None) {
        for count in [1, 3] {
            let compress = CompressOptions::new(4).with_level(0);
            let options = PackOptions::new().with_checksum(checksum).with_compress(compress);
            let data = Rng::new(4).bytes(count * CHUNK);
            let mut file = options.with_chunk_size(CHUNK).pack(&data).unwrap();
            let first = file.windows(CHUNK).position(|found| *found == data[..CHUNK]).unwrap();
            let stored = 16 + CHUNK + checksum.len();
            (0..count).for_each(|chunk| file[first + chunk * stored + 7] ^= 1);
            let saved = salvage::pack(&Bytes::new(&file), &mut Vec::new(), &Limits::default());
            assert_eq!(saved.unwrap_err().kind(), ErrorKind::Corrupt, "{checksum:?} {count}");
        }
    }
}

#[test]
fn what_is_lost_is_listed_also_where_there_is_no_room_for_another_attribute() {
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(CHUNK);
    let mut file = file_of(&options, |frame| {
        frame.append(&mixed(3 * CHUNK, 4, 1)).unwrap();
        for number in 0..16 {
            frame.set_attribute(&format!("value {number}"), number).unwrap();
        }
    });
    let len = file.len();
    file[len / 3..len / 3 + 8].fill(0x55);
    let (saved, report) = salvaged(&file).unwrap();
    check_whole(&saved);
    assert!(!report.is_whole());
    let list = Value::decode(saved.metalayer(ATTRIBUTE).unwrap()).unwrap();
    let expected: Vec<Value> = report.uncertain().into_iter().map(Value::from).collect();
    assert_eq!(list.as_slice().unwrap(), expected);
}

#[test]
fn metadata_without_names_makes_room_for_the_list_of_what_is_lost() {
    for metadata in [Json::from("text"), Json::from(vec![Json::from(1u64)])] {
        let options = PackOptions::new().with_chunk_size(CHUNK).with_metadata(metadata.clone());
        let mut file = options.pack(&mixed(3 * CHUNK, 4, 1)).unwrap();
        let at = file.len() - 20;
        file[at] ^= 1;
        let mut saved = Vec::new();
        let report = salvage::pack(&Bytes::new(&file), &mut saved, &Limits::default()).unwrap();
        assert!(!report.is_whole());
        let saved = Pack::from_bytes(saved).unwrap();
        let found = saved.metadata().unwrap();
        assert_eq!(found.get("metadata"), Some(&metadata));
        assert!(found.get(ATTRIBUTE).is_some(), "{found:?}");
    }
}

#[test]
fn a_stored_chunk_with_a_wrong_checksum_is_never_certain_whatever_happened_to_the_index() {
    let mut rng = Rng::new(5);
    let options = FrameOptions::new(CompressOptions::new(4).with_level(0)).with_chunk_size(CHUNK);
    let chunks: Vec<Vec<u8>> = (0..4).map(|_| rng.bytes(CHUNK)).collect();
    let good = file_of(&options, |frame| {
        chunks.iter().for_each(|chunk| frame.append(chunk).unwrap());
    });
    let items = good.windows(CHUNK).position(|found| found == chunks[2]).unwrap();
    let (start, end, tail) = (items - 32, items + CHUNK, good.len());
    // In the items, in the checksum, in what says that there is one.
    let places = (0..40).map(|_| items + rng.index(CHUNK)).chain(end..end + 16);
    let (mut holes, mut unsure) = (0, 0);
    for place in places.collect::<Vec<_>>() {
        for index in
            [None, Some(tail - 300..tail - 200), Some(0..90), Some(end + CHUNK + 100..tail)]
        {
            let mut bytes = good.clone();
            bytes[place] ^= 1 << rng.index(8);
            index.into_iter().for_each(|lost| bytes[lost].fill(0));
            let Ok((saved, report)) = salvaged(&bytes) else { continue };
            check_whole(&saved);
            assert!(!report.is_whole(), "{place}");
            let lines = saved.attribute(ATTRIBUTE).unwrap();
            let is_listed = |words: &str| {
                let mut lines = lines.as_slice().unwrap().iter().filter_map(|line| line.as_str());
                lines.any(|line| line.contains(words))
            };
            for number in 0..saved.chunk_count() {
                let found = saved.read_chunk(number).unwrap();
                let piece = report.pieces.iter().find(|piece| piece.chunk == number);
                match piece.map(|piece| piece.certainty) {
                    None => {
                        assert!(found.iter().all(|byte| *byte == 0), "{place}: chunk {number}");
                        holes += 1;
                    }
                    Some(Certainty::Verified) => {
                        assert!(chunks.contains(&found), "{place}: chunk {number}: {report:?}");
                    }
                    Some(_) => {
                        assert!(is_listed("assumed, nothing vouches"), "{place}: {report:?}");
                        unsure += 1;
                    }
                }
            }
            let stands = |source: &FoundAt| matches!(source, FoundAt::Bytes(range) if range.start == start as u64);
            let is_kept = report.pieces.iter().any(|piece| stands(&piece.source));
            let is_lost = is_listed("lost: ");
            assert!(is_kept || is_lost, "{place}: {report:?}");
        }
    }
    assert!(holes > 20 && unsure > 5, "{holes} {unsure}");
}

/// Limits that hold no chunk, and those that hold no small file.
fn small_limits() -> [Limits; 2] {
    [Limits::default().with_max_decoded(CHUNK / 2), Limits::default().with_max_metadata(10)]
}

fn is_limit<T>(result: Result<T, Error>) -> bool {
    result.is_err_and(|error| error.kind() == ErrorKind::LimitExceeded)
}

#[test]
fn too_little_memory_is_no_damage_of_a_pack() {
    for checksum in [Checksum::Adler32, Checksum::None] {
        let options = PackOptions::new().with_checksum(checksum).with_chunk_size(CHUNK);
        let file = Bytes::new(options.pack(&Rng::new(1).bytes(3 * CHUNK)).unwrap());
        for limits in small_limits() {
            let saved = salvage::pack(&file, &mut Vec::new(), &limits);
            assert!(is_limit(saved), "{checksum:?} {limits:?}");
        }
        assert!(salvage::pack(&file, &mut Vec::new(), &Limits::default()).unwrap().is_whole());
    }
}

#[test]
fn too_little_memory_is_no_damage_of_a_folder_of_bcolz() {
    let rows = CHUNK as u64 / 4;
    let column = ArrayOptions::new(DType::parse("<i4").unwrap()).with_chunk_rows(rows);
    let data = Rng::new(1).bytes(3 * CHUNK);
    let (one, other): (Arc<dyn Dir>, Arc<dyn Dir>) =
        (Arc::new(MemoryFolder::new()), Arc::new(MemoryFolder::new()));
    let mut array = Array::create_in_dir(one.clone(), &column).unwrap();
    array.append(&data).unwrap();
    array.set_attribute("unit", "metres").unwrap();
    array.close().unwrap();
    let options = TableOptions::new().with_column("number", column);
    let mut table = Table::create_in_dir(other.clone(), &options).unwrap();
    table.append(&[("number", data.as_slice())]).unwrap();
    table.close().unwrap();
    for from in [one, other] {
        for limits in small_limits() {
            let saved = salvage::bcolz(from.as_ref(), Arc::new(MemoryFolder::new()), &limits);
            assert!(is_limit(saved), "{limits:?}");
        }
        // A small file that is lost changes nothing about that.
        let mut files = files_of(from.as_ref()).unwrap();
        files.retain(|name, _| !name.ends_with("sizes") && !name.ends_with("storage"));
        let damaged = folder_of(&files).unwrap();
        let [limits, _] = small_limits();
        let saved = salvage::bcolz(damaged.as_ref(), Arc::new(MemoryFolder::new()), &limits);
        assert!(is_limit(saved));
        let to = Arc::new(MemoryFolder::new());
        assert!(salvage::bcolz(from.as_ref(), to, &Limits::default()).unwrap().is_whole());
    }
}

#[test]
fn too_little_memory_is_no_damage_of_a_blsk_tree() {
    let from = Arc::new(MemoryFolder::new());
    let options = blsk::TreeOptions::default().with_chunk_rows(CHUNK / 4);
    let dtype = DType::parse("<i4").unwrap();
    let mut array = blsk::Array::create_in_dir(
        from.clone(),
        &blsk::ArrayOptions::new(dtype.clone()).with_tree(options.clone()),
    )
    .unwrap();
    array.append(&Rng::new(1).bytes(3 * CHUNK)).unwrap();
    array.close().unwrap();
    let [limits, _] = small_limits();
    let saved = salvage::blsk(from.as_ref(), Arc::new(MemoryFolder::new()), &limits);
    assert!(is_limit(saved));
    let to = Arc::new(MemoryFolder::new());
    assert!(salvage::blsk(from.as_ref(), to, &Limits::default()).unwrap().is_whole());
}
