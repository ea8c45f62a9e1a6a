//! Marks behind the streams of a block: items are found by them, and nobody else is disturbed.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

use std::borrow::Cow;
use std::ops::Range;

use superchunk::chunk::{self, Decoder, Encoder, Header};
use superchunk::salvage;
use superchunk::store::Bytes;
use superchunk::verify::{self, Level};
use superchunk::{
    Codec, CompressOptions, DType, Error, ErrorKind, Executor, Filter, FrameOptions, Limits,
    NdArray, NdOptions, NdStorage, OpenOptions, SuperChunk,
};
use superchunk_testkit::datasets;
use superchunk_testkit::marks::{self, BlockMarks};
use superchunk_testkit::peers::{Peer, PeerKind};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

const LEN: usize = 1 << 20;

/// What has marks: by name, item size, bytes, and options.
fn marked() -> Vec<(String, usize, Vec<u8>, CompressOptions)> {
    let ways = [
        (Codec::Lz4, 5, Filter::Shuffle),
        (Codec::Lz4, 9, Filter::Shuffle),
        (Codec::Lz4Hc, 5, Filter::Shuffle),
        (Codec::Lz4Hc, 9, Filter::Shuffle),
        (Codec::BloscLz, 9, Filter::Shuffle),
        (Codec::Zlib, 5, Filter::Shuffle),
    ];
    let mut all = Vec::new();
    for dataset in &datasets::ALL[..6] {
        let bytes = (dataset.make)(LEN);
        for (codec, level, filter) in ways {
            for filters in [vec![], vec![filter]] {
                let options = CompressOptions::new(dataset.item_size).with_codec(codec);
                let options = options.with_level(level).with_filters(filters).with_marks(true);
                let name = format!("{} {codec:?} {level} {:?}", dataset.name, options.filters);
                all.push((name, dataset.item_size, bytes.clone(), options));
            }
        }
    }
    all
}

/// Where the marks of the blocks are: what follows the streams of each.
fn marks_of(packed: &[u8], item_size: usize) -> Vec<Range<usize>> {
    let is_zlib = Header::parse(packed).unwrap().codec() == Some(Codec::Zlib);
    let blocks = marks::marks_of(packed, item_size, is_zlib).into_iter();
    blocks.map(|block| block.all).collect()
}

/// A decoder that believes marks.
fn trusting() -> Decoder {
    Decoder::new().with_marks(true)
}

#[test]
fn items_are_found_by_marks_wherever_they_are() {
    let (mut rng, mut decoder, mut marked_chunks) = (Rng::new(4), trusting(), 0);
    for (name, item_size, bytes, options) in marked() {
        let packed = chunk::compress(&bytes, &options).unwrap();
        let header = Header::parse(&packed).unwrap();
        if header.compressed_len() >= bytes.len() {
            continue;
        }
        marked_chunks += usize::from(!marks_of(&packed, item_size).is_empty());
        assert!(decoder.decompress(&packed).unwrap() == bytes, "{name}");
        for _ in 0..60 {
            let first = rng.index(bytes.len() / item_size - 40);
            let count = [1, 1, 2, 17, 40][rng.index(5)];
            let mut items = vec![0xEE; count * item_size];
            decoder.read_items(&packed, first..first + count, &mut items).unwrap();
            let from = first * item_size;
            assert!(items == bytes[from..from + items.len()], "{name}: {count} from {first}");
        }
    }
    assert!(marked_chunks > 30, "{marked_chunks}");
}

#[test]
fn marks_take_little_and_change_nothing_else() {
    for (name, item_size, bytes, options) in marked() {
        let without = chunk::compress(&bytes, &options.clone().with_marks(false)).unwrap();
        let with = chunk::compress(&bytes, &options).unwrap();
        let marks = if with.len() < LEN { marks_of(&with, item_size) } else { Vec::new() };
        let taken: usize = marks.iter().map(Range::len).sum();
        assert_eq!(with.len(), without.len() + taken, "{name}");
        // Blocks inside of Zlib streams are named, too.
        assert!(taken <= without.len() / 200, "{name}: {taken} of {}", without.len());
        let streams = |packed: &[u8], marks: &[Range<usize>]| {
            let count = Header::parse(packed).unwrap().block_count();
            let mut at = 32 + 4 * count;
            let mut kept = Vec::new();
            for gap in marks {
                kept.extend_from_slice(&packed[at..gap.start]);
                at = gap.end;
            }
            kept.extend_from_slice(&packed[at..]);
            kept
        };
        if with.len() < LEN {
            assert!(streams(&with, &marks) == streams(&without, &[]), "{name}");
        }
        let threads = options.with_executor(Executor::threads(3));
        assert!(Encoder::new(&threads).unwrap().compress(&bytes).unwrap() == with, "{name}");
    }
}

#[test]
fn damaged_marks_are_not_believed() {
    let mut rng = Rng::new(5);
    for (name, item_size, bytes, options) in marked() {
        let mut packed = chunk::compress(&bytes, &options).unwrap();
        if packed.len() >= LEN {
            continue;
        }
        let marks = marks_of(&packed, item_size);
        let Some(first) = marks.first() else { continue };
        for _ in 0..40 {
            let at = first.start + rng.index(first.len());
            let change = 1 << rng.index(8);
            packed[at] ^= change;
            let item = rng.index(bytes.len() / item_size);
            let mut found = vec![0; item_size];
            trusting().read_items(&packed, item..item + 1, &mut found).unwrap();
            assert!(found == bytes[item * item_size..(item + 1) * item_size], "{name}: {at}");
            packed[at] ^= change;
        }
    }
}

#[test]
fn damaged_streams_with_marks_give_bytes_or_an_error() {
    let mut rng = Rng::new(6);
    for (_, item_size, bytes, options) in marked() {
        let mut packed = chunk::compress(&bytes, &options).unwrap();
        let len = packed.len();
        for _ in 0..100 {
            packed[32 + rng.index(len - 32)] = u8::try_from(rng.index(256)).unwrap();
            let item = rng.index(bytes.len() / item_size);
            let _ = trusting().read_items(&packed, item..item + 1, &mut vec![0; item_size]);
        }
        assert_eq!(packed.len(), len);
    }
}

#[test]
fn a_changed_block_has_its_own_marks_and_the_others_keep_theirs() {
    let bytes = datasets::csv(LEN);
    let compress = CompressOptions::new(1).with_codec(Codec::Lz4Hc).with_marks(true);
    let options = FrameOptions::new(compress).with_chunk_size(LEN);
    let folder = std::env::temp_dir().join(format!("superchunk-marks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("csv.b2frame");
    let mut frame = SuperChunk::create(&path, &options).unwrap();
    frame.append(&bytes).unwrap();
    frame.commit().unwrap();
    frame.write_bytes(500_000, b"changed").unwrap();
    frame.commit().unwrap();
    let mut expected = bytes;
    expected[500_000..500_007].copy_from_slice(b"changed");
    assert!(frame.verify().unwrap().is_good());
    let again = SuperChunk::open_with(&path, &OpenOptions::new().with_marks(true)).unwrap();
    let mut rng = Rng::new(7);
    for at in (0..300).map(|_| rng.index(LEN - 20)).chain([499_995, 500_003]).collect::<Vec<_>>() {
        let mut found = [0; 20];
        again.read_items(at as u64..at as u64 + 20, &mut found).unwrap();
        assert!(found == expected[at..at + 20], "{at}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_real_libraries_pass_over_marks() {
    for kind in [PeerKind::Blosc2, PeerKind::Blosc2Old] {
        let mut peer = Peer::spawn(kind);
        let (mut rng, mut marked_chunks) = (Rng::new(8), 0);
        for (name, item_size, bytes, options) in marked() {
            let packed = chunk::compress(&bytes, &options).unwrap();
            if packed.len() >= LEN || marks_of(&packed, item_size).is_empty() {
                continue;
            }
            marked_chunks += 1;
            assert!(peer.decompress(&packed) == Ok(bytes.clone()), "{name}");
            let item = rng.index(bytes.len() / item_size);
            let expected = bytes[item * item_size..(item + 1) * item_size].to_vec();
            let size = u32::try_from(item_size).unwrap();
            let found = peer.items(&packed, size, u32::try_from(item).unwrap(), 1);
            assert_eq!(found, Ok(expected), "{name}");
        }
        assert!(marked_chunks > 30, "{marked_chunks}");
    }
}

/// A chunk with marks, and what it was made of.
struct Subject {
    name: String,
    item_size: usize,
    bytes: Vec<u8>,
    options: CompressOptions,
    packed: Vec<u8>,
    blocks: Vec<BlockMarks>,
}

/// Chunks that have marks, of the first `len` bytes of each dataset.
fn subjects(len: usize) -> Vec<Subject> {
    let subject = |(name, item_size, mut bytes, options): (_, usize, Vec<u8>, CompressOptions)| {
        bytes.truncate(len);
        let packed = chunk::compress(&bytes, &options).unwrap();
        let is_zlib = options.codec == Codec::Zlib;
        let is_raw = packed.len() >= bytes.len();
        let blocks = if is_raw { vec![] } else { marks::marks_of(&packed, item_size, is_zlib) };
        Subject { name, item_size, bytes, options, packed, blocks }
    };
    marked().into_iter().map(subject).filter(|subject| !subject.blocks.is_empty()).collect()
}

impl Subject {
    /// The items around a place in the output of a block: its streams are the block itself, or the
    /// planes of its items.
    fn items_near(&self, block: usize, place: usize) -> [Range<usize>; 2] {
        let size = Header::parse(&self.packed).unwrap().block_size().unwrap();
        let (count, start) = (self.bytes.len() / self.item_size, block * size / self.item_size);
        let nearby = [place, place / self.item_size].map(|item| start.saturating_add(item));
        nearby.map(|item| item.saturating_sub(4)..item.saturating_add(5).min(count))
    }

    fn item_bytes(&self, item: usize) -> &[u8] {
        &self.bytes[item * self.item_size..(item + 1) * self.item_size]
    }
}

#[test]
fn every_false_mark_is_found_and_by_default_none_is_believed() {
    let (mut rng, mut false_marks, mut deceived) = (Rng::new(9), 0, 0);
    let subjects = subjects(LEN / 4);
    assert!(subjects.len() > 30, "{}", subjects.len());
    let mut decoders = (Decoder::new(), trusting());
    for subject in &subjects {
        decoders.1.check_marks(&subject.packed).unwrap();
    }
    while false_marks < 10_000 {
        for subject in &subjects {
            let (mut packed, name) = (subject.packed.clone(), &subject.name);
            let marks = &subject.blocks[rng.index(subject.blocks.len())];
            let Some(places) = marks::falsify(&mut packed, marks, &mut rng) else { continue };
            false_marks += 1;
            let error = decoders.1.check_marks(&packed).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}");
            let near = places.iter().flat_map(|at| subject.items_near(marks.block, *at));
            let mut is_deceived = false;
            for item in near.flatten() {
                let expected = subject.item_bytes(item);
                let mut found = vec![0; subject.item_size];
                decoders.0.read_items(&packed, item..item + 1, &mut found).unwrap();
                assert!(found == expected, "{name}: item {item} differs from the whole chunk");
                let read = decoders.1.read_items(&packed, item..item + 1, &mut found);
                is_deceived |= read.is_ok() && found != expected;
            }
            deceived += usize::from(is_deceived);
        }
    }
    // What this is about: a reader that believes marks can be deceived.
    assert!(deceived > 100, "{deceived}");
}

#[test]
fn verify_reports_every_chunk_of_a_frame_that_has_a_false_mark() {
    const CHUNKS: usize = 10;
    const SMALL: usize = LEN / 8;
    let (mut rng, mut false_marks) = (Rng::new(10), 0);
    let subjects = subjects(SMALL);
    assert!(subjects.len() > 20, "{}", subjects.len());
    let decode = verify::VerifyOptions::new().with_level(Level::Decode);
    let rounds = 10_000usize.div_ceil(CHUNKS * subjects.len()) + 1;
    for Subject { name, bytes, options, packed, blocks, .. } in &subjects {
        let options = FrameOptions::new(options.clone()).with_chunk_size(bytes.len());
        let mut frame = SuperChunk::in_memory(&options.with_checksums(false)).unwrap();
        (0..CHUNKS).for_each(|_| frame.append(bytes).unwrap());
        let good = frame.to_bytes().unwrap();
        assert!(SuperChunk::from_bytes(good.clone()).unwrap().verify().unwrap().is_good());
        // The chunks follow each other; they have the bytes of the first, marks included.
        let first = good.windows(packed.len()).position(|found| found == packed).unwrap();
        for round in 0..rounds {
            let mut damaged = good.clone();
            let mut expected = Vec::new();
            for (number, chunk) in
                damaged[first..].chunks_mut(packed.len()).take(CHUNKS).enumerate()
            {
                assert!(*chunk == packed[..], "{name}");
                let marks = &blocks[rng.index(blocks.len())];
                let is_false = marks::falsify(chunk, marks, &mut rng).is_some();
                expected.extend(is_false.then_some(number));
            }
            false_marks += expected.len();
            let frame = SuperChunk::from_bytes(damaged).unwrap();
            let found: Vec<usize> = match round % 2 {
                0 => {
                    let damaged = frame.verify().unwrap().damaged;
                    let is_corrupt = |(_, error): &(_, Error)| error.kind() == ErrorKind::Corrupt;
                    assert!(damaged.iter().all(is_corrupt), "{name}: {damaged:?}");
                    damaged.into_iter().map(|(number, _)| number).collect()
                }
                _ => {
                    let report = verify::super_chunk(&frame, &decode).unwrap();
                    report.corrupt().map(|found| found.chunk.unwrap() as usize).collect()
                }
            };
            assert_eq!(found, expected, "{name}");
        }
    }
    assert!(false_marks >= 10_000, "{false_marks}");
}

#[test]
fn salvage_and_copies_of_arrays_leave_marks_out() {
    for Subject { name, item_size, bytes, options, packed, .. } in &subjects(LEN / 4) {
        let plain = chunk::without_marks(packed);
        assert!(plain.len() < packed.len(), "{name}");
        let frame_options = FrameOptions::new(options.clone()).with_chunk_size(bytes.len());
        let mut frame = SuperChunk::in_memory(&frame_options).unwrap();
        frame.append(bytes).unwrap();
        let frame = Bytes::new(frame.to_bytes().unwrap());
        let create = &mut |options: &FrameOptions| SuperChunk::in_memory(options);
        let (saved, report) = salvage::frame(&frame, create, &Limits::default()).unwrap();
        assert!(report.is_whole(), "{name}: {report:?}");
        assert!(saved.compressed_chunk(0).unwrap() == *plain, "{name}");

        let items = bytes.len() / item_size;
        let dtype = DType::parse(&format!("|V{item_size}")).unwrap();
        let nd_options = NdStorage::new(FrameOptions::new(options.clone())).with_chunks(&[items]);
        let mut array = NdArray::in_memory(
            &NdOptions::new(&[items as u64], dtype.clone()).with_storage(nd_options.clone()),
        )
        .unwrap();
        array.write_box(&[0], &[items as u64], &bytes[..items * item_size]).unwrap();
        let stored = array.superchunk().compressed_chunk(0).unwrap();
        let copy = array.copy_to_memory(&array.options()).unwrap();
        let copied = copy.superchunk().compressed_chunk(0).unwrap();
        assert!(copied == *chunk::without_marks(&stored), "{name}");
        assert!(matches!(chunk::without_marks(&copied), Cow::Borrowed(_)), "{name}");
    }
}

#[test]
fn a_chunk_of_somebody_else_is_stored_without_its_marks() {
    for (name, _, bytes, options) in marked() {
        let packed = chunk::compress(&bytes, &options).unwrap();
        let plain = chunk::compress(&bytes, &options.clone().with_marks(false)).unwrap();
        let mut frame = SuperChunk::in_memory(&FrameOptions::new(options)).unwrap();
        frame.append_chunk(&packed).unwrap();
        let stored = frame.compressed_chunk(0).unwrap();
        assert!(stored == plain, "{name}: {} {} {}", packed.len(), stored.len(), plain.len());
        assert!(frame.to_vec().unwrap() == bytes, "{name}");
    }
}

#[test]
fn compacting_drops_marks_that_the_handle_does_not_trust() {
    let scratch = Scratch::new();
    for (number, (name, _, bytes, options)) in marked().into_iter().enumerate() {
        let path = scratch.path(&number.to_string());
        let frame_options = FrameOptions::new(options.clone()).with_chunk_size(bytes.len());
        let mut frame = SuperChunk::create(&path, &frame_options).unwrap();
        frame.append(&bytes).unwrap();
        frame.close().unwrap();
        for trusts in [true, false] {
            let mut frame =
                SuperChunk::edit_with(&path, &OpenOptions::new().with_marks(trusts)).unwrap();
            frame.compact().unwrap();
            frame.close().unwrap();
            let frame = SuperChunk::open(&path).unwrap();
            let expected = chunk::compress(&bytes, &options.clone().with_marks(trusts)).unwrap();
            assert!(frame.compressed_chunk(0).unwrap() == expected, "{name} {trusts}");
            assert!(frame.to_vec().unwrap() == bytes, "{name} {trusts}");
        }
    }
}
