//! A thousand damages of Bloscpack files: every chunk that is still there comes back, and the report tells
//! of the others.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::sync::Arc;

use superchunk::bloscpack::{Checksum, Pack, PackArray, PackOptions};
use superchunk::salvage::{self, Certainty, ChunkOrder, SalvageReport};
use superchunk::store::{Bytes, Dir, MemoryFolder};
use superchunk::{Codec, CompressOptions, DType, Error, ErrorKind, Json, Limits, chunk};
use superchunk_testkit::alloc::peak_of;
use superchunk_testkit::legacy_peer::{LegacyPeer, PackParams};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::salvaged::named_chunks;
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;

const CHUNK: usize = 2000;

/// What can be recovered of a file, as the bytes of another one.
fn pack_of(bytes: &[u8], limits: &Limits) -> Result<(Vec<u8>, SalvageReport), Error> {
    let mut saved = Vec::new();
    let report = salvage::pack(&Bytes::new(bytes), &mut saved, limits)?;
    Ok((saved, report))
}

/// A file, and what is in it.
struct Original {
    bytes: Vec<u8>,
    /// Every chunk, decoded, and where it is with its digest.
    chunks: Vec<(Vec<u8>, Range<usize>)>,
    has_digests: bool,
    /// Where the chunks begin.
    base: usize,
}

impl Original {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let codec = [Codec::Lz4, Codec::Zlib, Codec::BloscLz][rng.index(3)];
        // The last three are none, so that this is common.
        let checksum = *Checksum::ALL.get(rng.index(12)).unwrap_or(&Checksum::None);
        let compress = CompressOptions::new(4).with_codec(codec).with_level(rng.below(10) as u8);
        let count = 1 + rng.index(12);
        let data = mixed(count * CHUNK - 4 * rng.index(400), 4, seed);
        let mut options = PackOptions::new()
            .with_compress(compress)
            .with_checksum(checksum)
            .with_chunk_size(CHUNK)
            .with_offsets(rng.below(3) > 0);
        if rng.below(2) == 0 {
            options = options.with_metadata(Json::from("said of the data ".repeat(rng.index(9))));
        }
        Self::of(options.pack(&data).unwrap(), checksum)
    }

    fn of(bytes: Vec<u8>, checksum: Checksum) -> Self {
        let pack = Pack::from_bytes(bytes.clone()).unwrap();
        let data = pack.superchunk().unwrap();
        let chunks: Vec<Vec<u8>> = data.chunks().map(Result::unwrap).collect();
        // They are one behind the other at the end of the file.
        let mut end = bytes.len();
        let mut placed = Vec::new();
        for (number, decoded) in chunks.into_iter().enumerate().rev() {
            let stored = data.compressed_chunk(number).unwrap().len();
            let start = end - stored - checksum.len();
            placed.insert(0, (decoded, start..end));
            end = start;
        }
        Self { chunks: placed, has_digests: checksum != Checksum::None, base: end, bytes }
    }
}

/// Something bad happens to a file; returns what is left, which bytes are as they were, and words.
fn damage(original: &Original, rng: &mut Rng) -> (Vec<u8>, Vec<bool>, &'static str) {
    let mut bytes = original.bytes.clone();
    let len = bytes.len();
    let mut hurt = |range: Range<usize>, rng: &mut Rng| {
        let noise = rng.bytes(range.len());
        let zeros = rng.below(2) == 0;
        range.zip(noise).for_each(|(at, noise)| bytes[at] = if zeros { 0 } else { noise });
    };
    let words = match rng.below(8) {
        0 => {
            hurt(0..32, rng);
            "header lost"
        }
        1 => {
            hurt(32..original.base, rng);
            "metadata and offsets lost"
        }
        2 => {
            hurt(0..original.base, rng);
            "all before the chunks lost"
        }
        3 | 4 => {
            let start = rng.index(len);
            let end = (start + 1 + rng.index(len / 4)).min(len);
            hurt(start..end, rng);
            "middle overwritten"
        }
        5 => {
            bytes.truncate(rng.index(len));
            "truncated"
        }
        6 => {
            let count = 1 + rng.index(900);
            bytes.extend(rng.bytes(count));
            "junk behind it"
        }
        _ => {
            for _ in 0..1 + rng.below(8) {
                let at = rng.index(len);
                hurt(at..at + 1, rng);
            }
            "bytes here and there"
        }
    };
    let same = (0..len).map(|at| bytes.get(at) == original.bytes.get(at)).collect();
    (bytes, same, words)
}

/// Chunks that are as they were must come back, in their order; those that do not must be missed.
fn check(original: &Original, same: &[bool], saved: Vec<u8>, report: &SalvageReport, told: &str) {
    let saved = Pack::from_bytes(saved).unwrap();
    let label = saved.metadata().and_then(|json| json.get(salvage::ATTRIBUTE));
    assert_eq!(label.is_some(), !report.uncertain().is_empty(), "{told}");
    let lines =
        label.map_or_else(|| format!("{:?}", report.uncertain()), |label| format!("{label:?}"));
    let named = named_chunks(&lines, "");
    let saved = saved.superchunk().unwrap();
    let read = |number: usize| saved.read_chunk(number).unwrap();
    let found: Vec<Vec<u8>> = (0..saved.chunk_count()).map(read).collect();
    for (number, chunk) in found.iter().enumerate().filter(|(number, _)| !named.contains(number)) {
        let is_stored = original.chunks.iter().any(|(stored, _)| stored == chunk);
        assert!(is_stored, "{told}: chunk {number} was never stored, and is not listed");
    }
    let holes: HashSet<usize> = report.holes.iter().filter_map(|hole| hole.chunk).collect();
    let mut after = 0;
    let mut lost = 0;
    for (number, (chunk, place)) in original.chunks.iter().enumerate() {
        let intact = place.clone().all(|at| same[at]);
        let at = found.iter().skip(after).position(|found| found == chunk).map(|at| after + at);
        assert!(
            !intact || at.is_some(),
            "chunk {number} of {told} is intact, but lost: {report:?}"
        );
        let in_place = found.get(number) == Some(chunk) && !holes.contains(&number);
        assert!(!intact || in_place || report.order != ChunkOrder::Index, "{told}: {report:?}");
        after = at.map_or(after, |at| at + 1);
        lost += usize::from(at.is_none());
    }
    let doubtful = report.pieces.iter().any(|piece| piece.certainty != Certainty::Verified);
    assert!(
        lost == 0 || doubtful || !report.holes.is_empty(),
        "{told}: {lost} lost without a word: {report:?}"
    );
    for piece in report.pieces.iter().filter(|piece| piece.certainty == Certainty::Verified) {
        let known = original.chunks.iter().any(|(chunk, _)| *chunk == found[piece.chunk]);
        assert!(
            known && original.has_digests,
            "{told}: chunk {} is verified, but wrong",
            piece.chunk
        );
    }
}

#[test]
fn every_intact_chunk_of_a_pack_comes_back() {
    let mut rng = Rng::new(1);
    let (mut whole, mut in_place, mut nothing) = (0, 0, 0);
    for seed in 0..100 {
        let original = Original::new(seed);
        for _ in 0..10 {
            let (bytes, same, words) = damage(&original, &mut rng);
            let told = format!("pack {seed}, {words}");
            match pack_of(&bytes, &Limits::default()) {
                Ok((saved, report)) => {
                    check(&original, &same, saved, &report, &told);
                    in_place += usize::from(report.order == ChunkOrder::Index);
                    whole += usize::from(report.is_whole());
                }
                Err(error) => {
                    let places = original.chunks.iter().map(|(_, place)| place.clone());
                    let intact = places.filter(|range| range.clone().all(|at| same[at])).count();
                    assert_eq!(intact, 0, "{told}: {error}");
                    nothing += 1;
                }
            }
        }
    }
    eprintln!("{whole} whole, {in_place} in place, {nothing} with nothing in them");
    assert!(whole >= 50 && in_place >= 400 && nothing <= 150, "{whole} {in_place} {nothing}");
}

#[test]
fn a_good_file_comes_back_whole() {
    for seed in 0..40 {
        let original = Original::new(seed);
        let (saved, report) = pack_of(&original.bytes, &Limits::default()).unwrap();
        assert!(report.is_whole() && report.superseded == 0, "{seed}: {report:?}");
        let [old, new] = [original.bytes, saved].map(|file| Pack::from_bytes(file).unwrap());
        assert_eq!(
            old.superchunk().unwrap().to_vec().unwrap(),
            new.superchunk().unwrap().to_vec().unwrap()
        );
        // Nothing vouches for chunks without digests.
        assert_eq!(old.metadata() == new.metadata(), original.has_digests, "{seed}");
    }
}

#[test]
fn an_array_keeps_its_shape_and_a_lost_chunk_reads_as_zeros() {
    let array = PackArray::new(DType::parse("<f4").unwrap(), [50, 40]);
    let data = mixed(8000, 4, 7);
    let options = PackOptions::new().with_array(&array).with_chunk_size(CHUNK);
    let original = Original::of(options.pack(&data).unwrap(), Checksum::Adler32);
    let mut bytes = original.bytes.clone();
    let lost = original.chunks[2].1.clone();
    bytes[lost].fill(0x77);
    let (saved, report) = pack_of(&bytes, &Limits::default()).unwrap();
    assert_eq!(report.holes.len(), 1, "{report:?}");
    assert_eq!((report.holes[0].chunk, report.order), (Some(2), ChunkOrder::Index));
    let saved = Pack::from_bytes(saved).unwrap();
    assert_eq!(saved.array().unwrap().shape, [50, 40]);
    let mut expected = data;
    expected[2 * CHUNK..3 * CHUNK].fill(0);
    assert_eq!(saved.superchunk().unwrap().to_vec().unwrap(), expected);
}

#[test]
fn objects_keep_their_numbers_and_lost_ones_are_empty() {
    let words: Vec<Vec<u8>> = (0..40).map(|number| mixed(100 + number, 1, number as u64)).collect();
    let options = PackOptions::objects("varbinary").with_checksum(Checksum::Crc32);
    let file = options.pack_objects(&words).unwrap();
    let original = Original::of(file, Checksum::Crc32);
    let mut bytes = original.bytes.clone();
    let lost = original.chunks[5].1.clone();
    bytes[lost].fill(0);
    let (saved, report) = pack_of(&bytes, &Limits::default()).unwrap();
    assert_eq!(report.holes.iter().map(|hole| hole.chunk).collect::<Vec<_>>(), [Some(5)]);
    let saved = Pack::from_bytes(saved).unwrap();
    let found: Vec<Vec<u8>> = saved.objects().map(Result::unwrap).collect();
    let mut expected = words;
    expected[5].clear();
    assert_eq!(found, expected);
}

#[test]
fn the_digest_is_found_when_the_header_is_lost_or_names_another() {
    for checksum in Checksum::ALL {
        let data = mixed(3 * CHUNK, 4, 3);
        let options = PackOptions::new().with_checksum(checksum).with_chunk_size(CHUNK);
        let file = options.pack(&data).unwrap();
        for lost in [0..32, 6..7] {
            let mut bytes = file.clone();
            bytes[lost].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
            let (saved, report) = pack_of(&bytes, &Limits::default()).unwrap();
            let saved = Pack::from_bytes(saved).unwrap();
            assert_eq!(saved.header().checksum, checksum, "{report:?}");
            assert!(
                saved.superchunk().unwrap().to_vec().unwrap() == data,
                "{checksum:?}: {report:?}"
            );
            let verified = report.count(Certainty::Verified);
            assert_eq!(verified, if checksum == Checksum::None { 0 } else { 3 });
        }
    }
}

#[test]
fn what_bloscpack_leaves_when_it_is_stopped_while_appending_comes_back() {
    let scratch = Scratch::new();
    let mut peer = LegacyPeer::spawn();
    let (data, more) = (mixed(5 * CHUNK - 400, 8, 1), mixed(3 * CHUNK, 8, 2));
    let path = scratch.path("data.blp");
    let options = PackOptions::new().with_chunk_size(CHUNK);
    fs::write(&path, options.pack(&data).unwrap()).unwrap();
    let before = fs::read(&path).unwrap();
    peer.append_bytes(&path, &more, &PackParams::default()).unwrap();
    let after = fs::read(&path).unwrap();
    // It writes the last chunk and the new ones, then the offsets, then the header.
    let all = [data.clone(), more].concat();
    let base = Original::of(before.clone(), Checksum::Adler32).base;
    for keep in [0..base, 0..32] {
        let mut stopped = after.clone();
        stopped[keep.clone()].copy_from_slice(&before[keep]);
        let (saved, report) = pack_of(&stopped, &Limits::default()).unwrap();
        let saved = Pack::from_bytes(saved).unwrap().superchunk().unwrap().to_vec().unwrap();
        assert!(saved == all, "{report:?}");
        // And while the last of the new chunks was being written.
        stopped.truncate(after.len() - 100);
        let (saved, report) = pack_of(&stopped, &Limits::default()).unwrap();
        let saved = Pack::from_bytes(saved).unwrap().superchunk().unwrap().to_vec().unwrap();
        assert!(saved.starts_with(&data) && all.starts_with(&saved[..data.len()]), "{report:?}");
    }
    // bloscpack itself reads what was saved.
    let (saved, _) = pack_of(&before[32..], &Limits::default()).unwrap();
    let path = scratch.path("saved.blp");
    fs::write(&path, saved).unwrap();
    assert!(peer.unpack_bytes(&path).unwrap() == data);
}

#[test]
fn nothing_is_made_of_bytes_that_are_no_pack() {
    let error = pack_of(&mixed(5000, 4, 1), &Limits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(pack_of(&[], &Limits::default()).is_err());
    assert!(pack_of(b"blpk", &Limits::default()).is_err());
}

#[test]
fn every_cut_and_every_damaged_byte_is_survived_in_bounded_memory() {
    let data = mixed(2500, 4, 1);
    let options = PackOptions::new().with_chunk_size(1000).with_metadata(Json::from("some words"));
    let file = options.pack(&data).unwrap();
    let limits = Limits::default().with_max_decoded(1 << 16).with_max_metadata(1 << 16);
    let mut rng = Rng::new(1);
    let mut worst = 0;
    for at in 0..file.len() {
        let mut damaged = file.clone();
        for _ in 0..10 {
            damaged[at] = rng.next_u64() as u8;
            let (_, peak) = peak_of(|| pack_of(&damaged, &limits).map(drop));
            worst = worst.max(peak);
        }
        let (_, peak) = peak_of(|| pack_of(&file[..at], &limits).map(drop));
        worst = worst.max(peak);
    }
    assert!(worst < 4 << 20, "{worst} bytes");
}

/// A header that speaks of chunks of 2 GB, of which one is missing.
#[test]
fn a_hole_is_no_longer_than_the_file_can_have_held() {
    let options = PackOptions::new().with_chunk_size(64);
    let mut file = options.pack(&mixed(3 * 64, 4, 5)).unwrap();
    file[8..12].copy_from_slice(&0x7fff_0000_i32.to_le_bytes());
    let pack = Pack::from_bytes(options.pack(&mixed(3 * 64, 4, 5)).unwrap()).unwrap();
    let last = pack.superchunk().unwrap().compressed_chunk(2).unwrap().len() + 4;
    let middle = pack.superchunk().unwrap().compressed_chunk(1).unwrap().len() + 4;
    let end = file.len() - last;
    file[end - middle..end].fill(0);
    assert!(file.len() < 1000, "{}", file.len());
    let (saved, peak) = peak_of(|| pack_of(&file, &Limits::default()).map(|(saved, _)| saved));
    assert!(peak < 64 << 20, "{peak} bytes");
    Pack::from_bytes(saved.unwrap()).unwrap().superchunk().unwrap().to_vec().unwrap();
}

#[test]
fn bytes_that_look_like_chunks_everywhere_cost_no_more_than_their_number() {
    let one = chunk::compress(&mixed(400, 4, 1), &CompressOptions::new(4)).unwrap();
    let mut bytes = vec![0; 1 << 16];
    // Headers that state all the rest, one every 16 bytes.
    for at in (0..bytes.len() - 16).step_by(16) {
        let len = (bytes.len() - at) as u32;
        bytes[at..at + 4].copy_from_slice(&[2, 1, 0, 1]);
        bytes[at + 4..at + 8].copy_from_slice(&len.to_le_bytes());
        bytes[at + 8..at + 12].copy_from_slice(&1024u32.to_le_bytes());
        bytes[at + 12..at + 16].copy_from_slice(&len.to_le_bytes());
    }
    assert!(pack_of(&bytes, &Limits::default()).is_err());
    assert!(!one.is_empty());
}

/// A file of objects, some of which were replaced in their places and some of which moved.
fn with_replaced_objects() -> (Vec<u8>, Vec<Vec<u8>>) {
    let noise = |seed: u64| Rng::new(seed).bytes(300);
    let mut objects: Vec<Vec<u8>> = (0..30).map(noise).collect();
    let folder = Arc::new(MemoryFolder::new());
    let options = PackOptions::objects("varbinary").with_reserve(110);
    let mut pack = Pack::create_in_dir(folder.clone(), "a", &options).unwrap();
    objects.iter().for_each(|object| pack.append_object(object).unwrap());
    pack.commit().unwrap();
    for number in [3, 4, 28, 28] {
        objects[number] = noise(100 + number as u64);
        pack.replace_object(number as u64, &objects[number]).unwrap();
        pack.commit().unwrap();
    }
    assert_eq!(pack.dead_len().unwrap(), 2 * 320 + 2 * (320 + 352));
    pack.close().unwrap();
    let store = folder.open("a").unwrap();
    let mut file = vec![0; store.len().unwrap() as usize];
    store.read_exact_at(0, &mut file).unwrap();
    (file, objects)
}

#[test]
fn an_older_object_is_never_taken_for_the_present_one_in_silence() {
    let (file, objects) = with_replaced_objects();
    let of = |file: &[u8]| {
        let (saved, report) = pack_of(file, &Limits::default()).unwrap();
        let saved = Pack::from_bytes(saved).unwrap();
        (saved.objects().map(Result::unwrap).collect::<Vec<_>>(), report)
    };
    let (saved, report) = of(&file);
    assert!(saved == objects && report.is_whole(), "{report:?}");
    let pack = Pack::from_bytes(file.clone()).unwrap();
    for number in [3, 4, 28, 29, 7] {
        let mut damaged = file.clone();
        damaged[pack.chunk_position(number).unwrap() as usize + 100] ^= 1;
        let (saved, report) = of(&damaged);
        assert!(!report.is_whole(), "{number}: {report:?}");
        assert!(saved.len() == objects.len(), "{number}");
        let same = saved.iter().zip(&objects).filter(|(a, b)| a == b).count();
        assert_eq!(same, objects.len() - 1, "{number}: {report:?}");
    }
}
