//! Arrays whose filters work on N-d blocks: chunks do not store the shape of a block, the metalayer
//! does. NDLZ, which is a codec, states it in its streams.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use superchunk::frame::Kind;
use superchunk::salvage::{self, Certainty, SalvageReport};
use superchunk::store::{Folder, WriteAt};
use superchunk::{
    Codec, CompressOptions, DType, ErrorKind, Filter, FrameOptions, Limits, NdArray, NdOptions,
    NdStorage, SuperChunk, verify,
};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::salvaged::named_chunks;
use superchunk_testkit::scratch::Scratch;

use crate::frames::{Original, check, check_result, damage, frame_of};

const SHAPE: [u64; 2] = [70, 50];

/// What compresses the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Cells,
    Means,
    NdLz,
}

const METHODS: [Method; 3] = [Method::Cells, Method::Means, Method::NdLz];

fn options(method: Method, checksums: bool) -> NdStorage {
    let size = if method == Method::NdLz { 1 } else { 8 };
    let compress = CompressOptions::new(size);
    let compress = match method {
        Method::Cells => compress.with_filters([Filter::NdCell(4), Filter::Shuffle]),
        Method::Means => compress.with_filters([Filter::NdMean(3)]),
        Method::NdLz => compress.with_codec(Codec::NdLz { cell: 4 }).with_filters([]),
    };
    let frame = FrameOptions::new(compress).with_checksums(checksums);
    NdStorage::new(frame).with_chunks(&[20, 20]).with_blocks(&[10, 8])
}

/// The file of an array of some commits, in which older chunks lie around.
fn array(method: Method, checksums: bool, seed: u64) -> Vec<u8> {
    original(method, checksums, seed).bytes
}

/// The same, with every chunk that it has ever had.
fn original(method: Method, checksums: bool, seed: u64) -> Original {
    let (scratch, mut rng) = (Scratch::new(), Rng::new(seed));
    let path = scratch.path("array.b2nd");
    let dtype = if method == Method::NdLz { "|u1" } else { "<f8" };
    let options = options(method, checksums);
    let mut array = NdArray::create(
        &path,
        &NdOptions::new(&SHAPE, DType::parse(dtype).unwrap()).with_storage(options.clone()),
    )
    .unwrap();
    let mut ever = HashSet::new();
    for _ in 0..1 + rng.below(3) {
        let start = [rng.below(30), rng.below(20)];
        let [height, width] = [20 + rng.below(20), 15 + rng.below(15)];
        let stop = [start[0] + height, start[1] + width];
        // Rows of cells of one value, and some noise.
        let item = |at: u64| u8::try_from(at / 4 % 7 * 3 + u64::from(rng.below(9) == 0)).unwrap();
        let values: Vec<u8> = (0..height * width).map(item).collect();
        let bytes = match method {
            Method::NdLz => values,
            _ => values.iter().flat_map(|value| f64::from(*value).to_le_bytes()).collect(),
        };
        array.write_box(&start, &stop, &bytes).unwrap();
        array.commit().unwrap();
        ever.extend(array.superchunk().chunks().map(Result::unwrap));
    }
    array.close().unwrap();
    Original::of(std::fs::read(path).unwrap(), ever)
}

/// Where the lengths of a block stand in the metalayer of the file.
fn block_lengths(file: &[u8]) -> [usize; 2] {
    let stored = [0x92, 0xd2, 0, 0, 0, 10, 0xd2, 0, 0, 0, 8];
    let at = file.windows(stored.len()).position(|found| found == stored).unwrap();
    [at + 5, at + 10]
}

fn content(frame: SuperChunk) -> Vec<u8> {
    NdArray::from_superchunk(frame).unwrap().to_vec().unwrap()
}

fn named(saved: &SuperChunk) -> HashSet<usize> {
    let label =
        saved.attribute(salvage::ATTRIBUTE).map(|lines| lines.to_json()).unwrap_or_default();
    named_chunks(&label, "")
}

/// Opens the result from its bytes, and fails unless all of it is good.
fn reopened(saved: &SuperChunk) -> SuperChunk {
    let opened = SuperChunk::from_bytes(saved.to_bytes().unwrap()).unwrap();
    let report = verify::super_chunk(&opened, &verify::VerifyOptions::new()).unwrap();
    assert!(report.is_good() && report.is_complete(), "{:?}", report.findings);
    opened
}

#[test]
fn an_undamaged_array_comes_back_whole_with_checksums_and_without() {
    for (method, checksums) in METHODS.iter().flat_map(|method| [(*method, true), (*method, false)])
    {
        let bytes = array(method, checksums, 3);
        let (saved, report) = frame_of(&bytes, &Limits::default()).unwrap();
        assert!(report.is_whole(), "{method:?}: {report:?}");
        let verified = report.count(Certainty::Verified);
        assert_eq!(verified, if checksums { report.pieces.len() } else { 0 }, "{method:?}");
        let saved = reopened(&saved);
        // Without checksums every chunk is listed as one that nothing vouches for.
        let listed = if checksums { 0 } else { saved.chunk_count() };
        assert_eq!(named(&saved).len(), listed, "{method:?}");
        let expected = content(SuperChunk::from_bytes(bytes).unwrap());
        assert!(content(saved) == expected, "{method:?}");
    }
}

#[test]
fn every_intact_chunk_of_such_an_array_comes_back_while_the_header_is_there() {
    let mut rng = Rng::new(8);
    let (mut kept, mut refused) = (0, 0);
    for seed in 0..60 {
        let method = METHODS[usize::try_from(seed % 3).unwrap()];
        let original = original(method, seed % 4 < 2, seed);
        for _ in 0..10 {
            let (bytes, same, words) = damage(&original, &mut rng);
            let told = format!("array {seed}, {method:?}, {words}");
            let has_shape =
                same[..original.header_len].iter().all(|same| *same) || method == Method::NdLz;
            match frame_of(&bytes, &Limits::default()) {
                Ok((saved, report)) if has_shape => {
                    check(&original, &same, &saved, &report, &told);
                    kept += 1;
                }
                Ok((saved, report)) => {
                    let saved = reopened(&saved);
                    let found: Vec<Vec<u8>> = saved.chunks().map(Result::unwrap).collect();
                    check_result(&original, &saved, &report, &found, &told);
                }
                Err(error) => {
                    let left = original.chunks.iter().filter_map(|(_, place)| place.clone());
                    let intact = left.filter(|range| range.clone().all(|at| same[at])).count();
                    assert!(!has_shape || intact == 0, "{told}: {error}");
                    refused += usize::from(intact > 0);
                }
            }
        }
    }
    assert!(kept > 300 && refused > 10, "{kept} {refused}");
}

#[test]
fn without_the_metalayer_nothing_is_made_of_cells_and_the_reason_is_said() {
    for (method, checksums) in METHODS.iter().flat_map(|method| [(*method, true), (*method, false)])
    {
        let mut bytes = array(method, checksums, 5);
        let chunks = SuperChunk::from_bytes(bytes.clone()).unwrap();
        let chunks: HashSet<Vec<u8>> = chunks.chunks().map(Result::unwrap).collect();
        bytes[..120].fill(0);
        let saved = frame_of(&bytes, &Limits::default());
        if method == Method::NdLz {
            let saved = reopened(&saved.unwrap().0);
            let found: HashSet<Vec<u8>> = saved.chunks().map(Result::unwrap).collect();
            let is_there = |chunk: &&Vec<u8>| found.contains(*chunk);
            assert!(chunks.iter().filter(is_there).count() > 3, "{checksums}");
            continue;
        }
        match saved {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                assert!(error.to_string().contains("need the shape of a block"), "{error}");
            }
            // Runs of one value need no shape.
            Ok((saved, report)) => {
                let is_run = |chunk: Vec<u8>| chunk.iter().all(|byte| *byte == 0);
                assert!(reopened(&saved).chunks().all(|chunk| is_run(chunk.unwrap())));
                assert!(
                    report.holes.iter().any(|hole| hole.reason.contains("the shape of a block")),
                    "{report:?}"
                );
            }
        }
    }
}

#[test]
fn a_wrong_shape_of_a_block_is_never_certain() {
    for (method, checksums) in
        [Method::Cells, Method::Means].iter().flat_map(|m| [(*m, true), (*m, false)])
    {
        let original = original(method, checksums, 7);
        let [height, width] = block_lengths(&original.bytes);
        // As many items, in other places; then another number of items.
        for (stated, decodes) in [([8, 10], true), ([10, 4], false)] {
            let mut bytes = original.bytes.clone();
            (bytes[height], bytes[width]) = (stated[0], stated[1]);
            let told = format!("{method:?} {checksums} {stated:?}");
            let (saved, report) = frame_of(&bytes, &Limits::default()).unwrap();
            let saved = reopened(&saved);
            let found: Vec<Vec<u8>> = saved.chunks().map(Result::unwrap).collect();
            check_result(&original, &saved, &report, &found, &told);
            let of_cells = |piece: &&salvage::Piece| piece.certainty == Certainty::Decoded;
            let doubted = report.pieces.iter().filter(of_cells).count();
            assert_eq!(doubted > 0, decodes, "{told}: {report:?}");
            assert_eq!(report.is_whole(), decodes, "{told}: {report:?}");
        }
    }
}

#[test]
fn chunks_are_compressed_anew_where_the_shape_of_the_array_is_dropped() {
    for (method, checksums) in
        [Method::Cells, Method::Means].iter().flat_map(|m| [(*m, true), (*m, false)])
    {
        let mut bytes = array(method, checksums, 9);
        let expected = SuperChunk::from_bytes(bytes.clone()).unwrap().to_vec().unwrap();
        let side = [0xd3, 0, 0, 0, 0, 0, 0, 0, 70];
        let at = bytes.windows(9).position(|found| found == side).unwrap();
        bytes[at + 4] = 1;
        let (saved, report) = frame_of(&bytes, &Limits::default()).unwrap();
        assert_eq!(saved.metalayer("b2nd"), None);
        assert!(report.notes.iter().any(|note| note.contains("anew")), "{report:?}");
        assert!(reopened(&saved).to_vec().unwrap() == expected, "{method:?}: {report:?}");
    }
}

#[test]
fn a_sparse_array_of_cells_comes_back_and_only_its_damaged_file_is_lost() {
    for (method, checksums) in METHODS.iter().flat_map(|method| [(*method, true), (*method, false)])
    {
        let scratch = Scratch::new();
        let path = scratch.path("array");
        let mut options = options(method, checksums);
        options.frame = options.frame.with_kind(Kind::Sparse);
        let dtype = if method == Method::NdLz { "|u1" } else { "<f8" };
        let dtype = DType::parse(dtype).unwrap();
        let mut array = NdArray::create(
            &path,
            &NdOptions::new(&[40, 40], dtype.clone()).with_storage(options.clone()),
        )
        .unwrap();
        let items: Vec<u8> = (0..1600u32).map(|at| u8::try_from(at / 8 % 7).unwrap()).collect();
        let bytes = match method {
            Method::NdLz => items,
            _ => items.iter().flat_map(|item| f64::from(*item).to_le_bytes()).collect(),
        };
        array.write_box(&[0, 0], &[40, 40], &bytes).unwrap();
        array.close().unwrap();
        let expected = SuperChunk::open(&path).unwrap();
        let saved_of = || -> (SuperChunk, SalvageReport) {
            let dir = Folder::open(&path).unwrap();
            salvage::sparse(&dir, &mut SuperChunk::in_memory, &Limits::default()).unwrap()
        };
        let (saved, report) = saved_of();
        assert!(report.is_whole(), "{method:?}: {report:?}");
        assert!(reopened(&saved).to_vec().unwrap() == expected.to_vec().unwrap(), "{method:?}");
        let kept: Vec<Vec<u8>> = expected.chunks().map(Result::unwrap).collect();
        drop(expected);
        let victim = superchunk::store::FileWriter::open(path.join("00000002.chunk")).unwrap();
        victim.write_at(32, &[0xff; 8]).unwrap();
        drop(victim);
        let (saved, report) = saved_of();
        let saved = reopened(&saved);
        let [hole] = report.holes.as_slice() else { panic!("{method:?}: {report:?}") };
        assert!(named(&saved).contains(&hole.chunk.unwrap()), "{report:?}");
        for number in (0..4).filter(|number| Some(*number) != hole.chunk) {
            assert!(saved.read_chunk(number).unwrap() == kept[number], "{method:?}: {number}");
        }
    }
}
