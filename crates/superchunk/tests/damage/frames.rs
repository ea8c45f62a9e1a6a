//! A thousand damages: every chunk that is still there comes back, and the report tells of the others.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use superchunk::frame::{Located, Opener, Step};
use superchunk::salvage::{self, Certainty, ChunkOrder, FoundAt, SalvageReport};
use superchunk::store::{Bytes, Dir, MemoryFolder, WriteAt};
use superchunk::{
    Codec, CompressOptions, DType, Error, ErrorKind, Fill, FrameOptions, Limits, NdArray,
    NdOptions, NdStorage, OpenOptions, SuperChunk, chunk, verify,
};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::salvaged::named_chunks;
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;

const CHUNK: usize = 2000;

/// What can be recovered of a contiguous frame, in memory.
pub(crate) fn frame_of(
    bytes: &[u8],
    limits: &Limits,
) -> Result<(SuperChunk, SalvageReport), Error> {
    salvage::frame(&Bytes::new(bytes), &mut SuperChunk::in_memory, limits)
}

/// A frame that has been changed some times, so that old chunks and indexes lie around in it.
pub(crate) struct Original {
    pub(crate) bytes: Vec<u8>,
    /// Every chunk, decoded, and where it is stored; nowhere if it is a run.
    pub(crate) chunks: Vec<(Vec<u8>, Option<Range<usize>>)>,
    pub(crate) header_len: usize,
    /// Where index and trailer begin.
    tail: usize,
    /// What every chunk has ever been.
    ever: HashSet<Vec<u8>>,
}

impl Original {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let codec = [Codec::Lz4, Codec::Zstd, Codec::BloscLz][rng.index(3)];
        let options = FrameOptions::new(CompressOptions::new(4).with_codec(codec))
            .with_chunk_size(CHUNK)
            .with_checksums(rng.below(3) > 0)
            .with_metalayer("layer", b"meta");
        let dir = Arc::new(MemoryFolder::new());
        let mut frame = SuperChunk::create_in_dir(dir.clone(), Some("frame"), &options).unwrap();
        let mut ever = HashSet::new();
        for step in 0..2 + rng.below(5) {
            let count = 1 + rng.index(8);
            frame.append(&mixed(count * CHUNK, 4, seed * 100 + step)).unwrap();
            frame.commit().unwrap();
            ever.extend(frame.chunks().map(|chunk| chunk.unwrap()));
            let fresh = chunk::compress(&mixed(CHUNK, 4, rng.next_u64()), &options.compress);
            match rng.below(4) {
                0 => frame.update_chunk(rng.index(frame.chunk_count()), &fresh.unwrap()).unwrap(),
                1 => frame.insert_chunk(0, &fresh.unwrap()).unwrap(),
                2 => frame.append_fill(Fill::Zeros, (CHUNK / 4) as u64).unwrap(),
                _ => frame.set_attribute_bytes("value", &rng.bytes(300)).unwrap(),
            }
            frame.commit().unwrap();
            ever.extend(frame.chunks().map(|chunk| chunk.unwrap()));
        }
        frame.append(&mixed(4 * rng.index(CHUNK / 4), 4, seed)).unwrap();
        frame.close().unwrap();
        let file = dir.open("frame").unwrap();
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read_exact_at(0, &mut bytes).unwrap();
        Self::of(bytes, ever)
    }

    pub(crate) fn of(bytes: Vec<u8>, mut ever: HashSet<Vec<u8>>) -> Self {
        let number = |at: usize, len: usize| {
            bytes[at..at + len].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte))
        };
        let (header_len, cbytes) = (number(11, 4), number(39, 8));
        let frame = SuperChunk::from_bytes(bytes.clone()).unwrap();
        let mut opener = Opener::new(superchunk::frame::Kind::Contiguous, bytes.len() as u64);
        let parts = loop {
            match opener.step().unwrap() {
                Step::Need(range) => {
                    let (start, end) = (range.start as usize, range.end as usize);
                    opener.supply(bytes[start..end].to_vec());
                }
                Step::Done(parts) => break parts,
            }
        };
        let place = |chunk: usize| match parts.locate(chunk).unwrap() {
            Located::At(at) => {
                let at = usize::try_from(at).unwrap();
                let len = chunk::Header::parse(&bytes[at..]).unwrap().compressed_len();
                // A chunk is intact if its checksum is, too.
                let sealed = bytes[at + len..].starts_with(b"B2X3");
                Some(at..at + len + if sealed { 16 } else { 0 })
            }
            _ => None,
        };
        let chunks = (0..frame.chunk_count()).map(|i| (frame.read_chunk(i).unwrap(), place(i)));
        let chunks: Vec<_> = chunks.collect();
        ever.extend(chunks.iter().map(|(chunk, _)| chunk.clone()));
        Self { chunks, header_len, tail: header_len + cbytes, bytes, ever }
    }
}

/// Something bad happens to a file; returns what is left, and which bytes are as they were.
pub(crate) fn damage(original: &Original, rng: &mut Rng) -> (Vec<u8>, Vec<bool>, String) {
    let mut bytes = original.bytes.clone();
    let len = bytes.len();
    let mut hurt = |range: Range<usize>, rng: &mut Rng| {
        let noise = rng.bytes(range.len());
        let zeros = rng.below(2) == 0;
        for (at, noise) in range.zip(noise) {
            bytes[at] = if zeros { 0 } else { noise };
        }
    };
    let words = match rng.below(7) {
        0 => {
            hurt(0..original.header_len, rng);
            "header lost"
        }
        1 => {
            hurt(original.tail..len, rng);
            "index and trailer lost"
        }
        2 => {
            hurt(len - 30..len, rng);
            "trailer damaged"
        }
        3 => {
            let start = rng.index(len);
            let end = (start + 1 + rng.index(len / 4)).min(len);
            hurt(start..end, rng);
            "middle overwritten"
        }
        4 => {
            let keep = rng.index(len);
            bytes.truncate(keep);
            "truncated"
        }
        5 => {
            for _ in 0..1 + rng.below(8) {
                let at = rng.index(len);
                hurt(at..at + 1, rng);
            }
            "bytes here and there"
        }
        _ => {
            hurt(0..original.header_len, rng);
            hurt(original.tail..len, rng);
            "header, index and trailer lost"
        }
    };
    let same = (0..len).map(|at| bytes.get(at) == original.bytes.get(at)).collect();
    (bytes, same, words.to_owned())
}

/// Chunks that are as they were must come back; those that do not must be missed by the report.
pub(crate) fn check(
    original: &Original,
    same: &[bool],
    saved: &SuperChunk,
    report: &SalvageReport,
    told: &str,
) {
    // What nothing vouches for need not be readable: a codec may be named that nobody knows.
    let read = |number: usize| saved.read_chunk(number).unwrap_or_default();
    let found: Vec<Vec<u8>> = (0..saved.chunk_count()).map(read).collect();
    let holes: HashSet<usize> = report.holes.iter().filter_map(|hole| hole.chunk).collect();
    let in_place = report.order == ChunkOrder::Index;
    let mut lost = 0;
    for (number, (chunk, place)) in original.chunks.iter().enumerate() {
        let intact = place.clone().is_some_and(|mut range| range.all(|at| same[at]));
        let there = match in_place {
            true => found.get(number) == Some(chunk) && !holes.contains(&number),
            false => found.contains(chunk),
        };
        assert!(!intact || there, "chunk {number} of {told} is intact, but not found: {report:?}");
        lost += usize::from(place.is_some() && !there);
    }
    // What has no checksum may decode to something else.
    let doubtful = report.pieces.iter().any(|piece| piece.certainty != Certainty::Verified);
    let told_of = doubtful || !report.holes.is_empty();
    assert!(lost == 0 || told_of, "{told}: {lost} chunks are lost without a word");
    check_result(original, saved, report, &found, told);
    for piece in report.pieces.iter().filter(|piece| piece.certainty == Certainty::Verified) {
        assert_eq!(found[piece.chunk].len(), piece.len);
        let expected = original.chunks.get(piece.chunk).map(|(chunk, _)| chunk);
        let right = expected == Some(&found[piece.chunk]);
        assert!(!report.sealed || right, "{told}: chunk {} is verified and wrong", piece.chunk);
    }
}

/// The result is whole in itself: it opens, verifies, and its chunks are some that were stored, or
/// such that it lists as lost or uncertain.
pub(crate) fn check_result(
    original: &Original,
    saved: &SuperChunk,
    report: &SalvageReport,
    found: &[Vec<u8>],
    told: &str,
) {
    let opened = SuperChunk::from_bytes(saved.to_bytes().unwrap()).unwrap();
    let verified = verify::super_chunk(&opened, &verify::VerifyOptions::new()).unwrap();
    assert!(verified.is_good(), "{told}: {:?}", verified.findings);
    let label =
        opened.attribute(salvage::ATTRIBUTE).map(|lines| lines.to_json()).unwrap_or_default();
    assert_eq!(label.is_empty(), report.uncertain().is_empty(), "{told}");
    let named = named_chunks(&label, "");
    let holes: HashSet<usize> = report.holes.iter().filter_map(|hole| hole.chunk).collect();
    for (number, chunk) in found.iter().enumerate() {
        if holes.contains(&number) {
            assert!(chunk.iter().all(|byte| *byte == 0), "{told}: chunk {number}");
        }
        let is_known = named.contains(&number) || original.ever.contains(chunk);
        assert!(is_known, "{told}: chunk {number} was never stored, and is not listed: {label}");
    }
}

#[test]
fn every_intact_chunk_of_a_frame_comes_back() {
    let mut rng = Rng::new(1);
    let (mut whole, mut in_place, mut nothing) = (0, 0, 0);
    for seed in 0..100 {
        let original = Original::new(seed);
        for _ in 0..10 {
            let (bytes, same, words) = damage(&original, &mut rng);
            let told = format!("frame {seed}, {words}");
            match frame_of(&bytes, &Limits::default()) {
                Ok((saved, report)) => {
                    check(&original, &same, &saved, &report, &told);
                    in_place += usize::from(report.order == ChunkOrder::Index);
                    whole += usize::from(report.is_whole());
                }
                Err(error) => {
                    let left = original.chunks.iter().filter_map(|(_, place)| place.clone());
                    let intact = left.filter(|range| range.clone().all(|at| same[at]));
                    assert_eq!(intact.count(), 0, "{told}: {error}");
                    nothing += 1;
                }
            }
        }
    }
    assert!(in_place > 200 && whole > 20 && nothing > 5, "{in_place} {whole} {nothing}");
}

#[test]
fn an_index_is_never_taken_for_data() {
    let mut nothing = 0;
    for seed in 0..60 {
        let original = Original::new(seed);
        let mut bytes = original.bytes.clone();
        for (_, place) in &original.chunks {
            if let Some(place) = place.clone() {
                bytes[place].fill(0xa5);
            }
        }
        // With the header and without it: what is left is the index.
        for without_header in [false, true] {
            if without_header {
                bytes[..90].fill(0);
            }
            match frame_of(&bytes, &Limits::default()) {
                Err(_) => nothing += 1,
                // Chunks of earlier commits may be left. The items of an index have 8 bytes, not 4.
                Ok((_, report)) => report.pieces.iter().for_each(|piece| {
                    if let FoundAt::Bytes(place) = &piece.source {
                        assert_eq!(bytes[place.start as usize + 3], 4, "frame {seed}: {report:?}");
                    }
                }),
            }
        }
    }
    assert!(nothing > 20, "{nothing}");
}

#[test]
fn an_undamaged_frame_is_saved_whole() {
    for seed in 0..20 {
        let original = Original::new(seed);
        let (saved, report) = frame_of(&original.bytes, &Limits::default()).unwrap();
        assert!(report.is_whole() && report.notes.len() <= 1, "{report:?}");
        let frame = SuperChunk::from_bytes(original.bytes).unwrap();
        assert!(saved.to_vec().unwrap() == frame.to_vec().unwrap());
        assert_eq!(saved.metalayer("layer"), Some(b"meta".as_slice()));
        let names = saved.attribute_names().filter(|name| *name != salvage::ATTRIBUTE);
        assert!(names.eq(frame.attribute_names()));
        // Nothing vouches for chunks without checksums.
        assert_eq!(
            saved.attribute_names().count() > frame.attribute_names().count(),
            !report.sealed
        );
    }
}

/// The frame of an array of 35 × 45 items, and the items.
fn array_of_noise() -> (Vec<u8>, Vec<u8>) {
    let frame = FrameOptions::new(CompressOptions::new(2));
    let options = NdStorage::new(frame).with_chunks(&[10, 10]).with_blocks(&[5, 5]);
    let mut array = NdArray::in_memory(
        &NdOptions::new(&[35, 45], DType::parse("<u2").unwrap()).with_storage(options.clone()),
    )
    .unwrap();
    let items = Rng::new(4).bytes(2 * 35 * 45);
    array.write_box(&[0, 0], &[35, 45], &items).unwrap();
    (array.superchunk().to_bytes().unwrap(), items)
}

#[test]
fn the_header_of_an_array_is_enough_for_its_shape() {
    let (mut bytes, _) = array_of_noise();
    let end = bytes.len();
    bytes[end - 200..].fill(0);
    assert!(SuperChunk::from_bytes(bytes.clone()).is_err());
    let (saved, report) = frame_of(&bytes, &Limits::default()).unwrap();
    assert_eq!(report.order, ChunkOrder::Storage);
    let saved = NdArray::from_superchunk(saved).unwrap();
    assert_eq!(saved.shape(), [35, 45]);
    assert!(saved.read_box(&[0, 0], &[10, 10], &mut [0; 200]).is_ok());
}

#[test]
fn an_array_that_does_not_say_what_it_is_keeps_shape_and_type() {
    let (mut bytes, items) = array_of_noise();
    bytes[2..10].fill(0);
    assert!(SuperChunk::from_bytes(bytes.clone()).is_err());
    let (saved, report) = frame_of(&bytes, &Limits::default()).unwrap();
    assert!(!report.is_whole());
    let saved = NdArray::from_superchunk(saved).unwrap();
    assert_eq!((saved.shape(), saved.dtype().to_string()), ([35, 45].as_slice(), "<u2".to_owned()));
    assert!(saved.to_vec().unwrap() == items);
}

#[test]
fn a_shape_that_the_chunks_cannot_have_is_not_copied() {
    let (mut bytes, _) = array_of_noise();
    // The longer side stands behind its mark, as eight bytes.
    let side = [0xd3, 0, 0, 0, 0, 0, 0, 0, 45];
    let at = bytes.windows(9).position(|found| found == side).unwrap();
    bytes[at + 4] = 1;
    let (saved, report) = frame_of(&bytes, &Limits::default()).unwrap();
    assert_eq!(saved.metalayer("b2nd"), None);
    assert!(report.holes.iter().any(|hole| hole.reason.contains("b2nd")), "{report:?}");
    let chunks = SuperChunk::from_bytes(bytes).unwrap();
    assert!(saved.to_vec().unwrap() == chunks.to_vec().unwrap());
}

/// A sparse frame in memory, its files, and its chunks.
fn sparse_frame(seed: u64) -> (MemoryFolder, Vec<Vec<u8>>) {
    let dir = MemoryFolder::new();
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(CHUNK);
    let mut frame = SuperChunk::create_in_dir(Arc::new(dir.clone()), None, &options).unwrap();
    frame.append(&mixed(7 * CHUNK, 4, seed)).unwrap();
    // No run: its length would be lost with the header.
    frame.append(&Rng::new(seed).bytes(400)).unwrap();
    frame.commit().unwrap();
    let fresh = chunk::compress(&mixed(CHUNK, 4, seed + 1), &options.compress).unwrap();
    frame.update_chunk(2, &fresh).unwrap();
    frame.set_attribute_bytes("value", b"some").unwrap();
    frame.close().unwrap();
    let frame = SuperChunk::open_in_dir(Arc::new(dir.clone()), None, &OpenOptions::new()).unwrap();
    let chunks = (0..frame.chunk_count()).map(|number| frame.read_chunk(number).unwrap());
    (dir, chunks.collect())
}

#[test]
fn chunk_files_come_back_with_and_without_their_index() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let (dir, chunks) = sparse_frame(seed * 10);
        let names: Vec<String> =
            dir.names().unwrap().into_iter().filter(|name| name.ends_with(".chunk")).collect();
        let victim = rng.index(names.len());
        match seed % 3 {
            0 => dir.remove(&names[victim]).unwrap(),
            1 => dir.edit(&names[victim]).unwrap().write_at(40, &[0x55; 9]).unwrap(),
            _ => dir.remove("chunks.b2frame").unwrap(),
        }
        if seed % 4 == 0 && seed % 3 != 2 {
            dir.edit("chunks.b2frame").unwrap().write_at(0, &[7; 60]).unwrap();
        }
        let (saved, report) =
            salvage::sparse(&dir, &mut SuperChunk::in_memory, &Limits::default()).unwrap();
        let found: Vec<Vec<u8>> =
            (0..saved.chunk_count()).map(|number| saved.read_chunk(number).unwrap()).collect();
        let missing = chunks.iter().filter(|chunk| !found.contains(chunk)).count();
        assert_eq!(missing, usize::from(seed % 3 != 2), "{seed}: {report:?}");
        assert_eq!(report.holes.iter().any(|hole| hole.chunk.is_some()), missing > 0);
        if report.order == ChunkOrder::Index {
            let kept = found.iter().zip(&chunks).filter(|(found, chunk)| found == chunk).count();
            assert_eq!(kept, chunks.len() - missing);
            assert!(saved.attribute_bytes("value").unwrap() == b"some");
        }
    }
}

#[test]
fn whatever_the_bytes_are_it_ends_and_stays_within_them() {
    let original = Original::new(3);
    let mut rng = Rng::new(9);
    for _ in 0..300 {
        let mut bytes = original.bytes.clone();
        // Headers of chunks everywhere, and lengths that lie.
        for _ in 0..rng.index(60) {
            let from = rng.index(bytes.len() - 40);
            let to = rng.index(bytes.len() - 40);
            bytes.copy_within(from..from + 40, to);
        }
        let limits = Limits::default().with_max_decoded(1 << 20);
        if let Ok((saved, report)) = frame_of(&bytes, &limits) {
            assert!(report.pieces.len() <= saved.chunk_count());
        }
        let noise = rng.bytes(3000);
        assert!(frame_of(&noise, &limits).is_err());
    }
    assert!(frame_of(&[], &Limits::default()).is_err());
}

/// A frame with a run, a chunk, and two values, one of which is long.
fn with_run_and_values(checksums: bool) -> Vec<u8> {
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(1 << 20);
    let scratch = Scratch::new();
    let path = scratch.path("frame");
    let mut frame = SuperChunk::create(&path, &options.with_checksums(checksums)).unwrap();
    frame.append_fill(Fill::Zeros, 1 << 18).unwrap();
    frame.append(&mixed(4000, 4, 1)).unwrap();
    frame.set_attribute_bytes("long", &[7; 100_000]).unwrap();
    frame.set_attribute_bytes("short", b"value").unwrap();
    frame.close().unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn too_little_memory_is_no_damage() {
    let limits = Limits::default().with_max_decoded(1 << 16);
    let error = frame_of(&with_run_and_values(true), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
}

#[test]
fn lengths_that_nothing_vouches_for_keep_to_the_limits() {
    let limits = Limits::default().with_max_decoded(1 << 16);
    let (saved, report) = frame_of(&with_run_and_values(false), &limits).unwrap();
    let names: Vec<&str> = saved.attribute_names().collect();
    assert_eq!(names, ["short", salvage::ATTRIBUTE]);
    let lost: Vec<&str> = report.holes.iter().map(|hole| hole.reason.as_str()).collect();
    let [value, run] = lost.as_slice() else { panic!("{report:?}") };
    assert!(value.starts_with("value `long`: "), "{value}");
    assert!(run.starts_with("a run of unknown length"), "{run}");
    assert_eq!(saved.read_chunk(0).unwrap(), mixed(4000, 4, 1));
}
