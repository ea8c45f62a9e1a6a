//! Every byte of a set of frames mutated, every length cut: an answer or an error, never a panic,
//! never more memory than the limits allow. A sealed frame finds out every flipped bit.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use superchunk::store::{Bytes, Dir, MemoryFolder, ReadAt};
use superchunk::{
    CompressOptions, Error, ErrorKind, Executor, Fill, FrameOptions, Integrity, Limits,
    OpenOptions, SuperChunk,
};
use superchunk_testkit::alloc::peak_of;
use superchunk_testkit::corrupt::{Mutation, for_each_mutation, truncations};
use superchunk_testkit::samples::mixed;
use superchunk_testkit::vectors::family;

/// What the frames may make the library take: some hold chunks of 4000 bytes, none needs more.
const LIMIT: usize = 1 << 16;

fn options() -> OpenOptions {
    let limits = Limits::default().with_max_decoded(LIMIT).with_max_metadata(LIMIT);
    OpenOptions::new().with_limits(limits).with_executor(Executor::inline())
}

/// Bytes that are not all at hand at once, as those of a file.
struct Remote(Bytes<Vec<u8>>);

impl ReadAt for Remote {
    fn len(&self) -> Result<u64, Error> {
        self.0.len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize, Error> {
        self.0.read_at(position, dst)
    }
}

/// A frame with checksums: chunks of a fixed size, a run among them, metalayers and values.
fn sealed() -> Vec<u8> {
    let compress = CompressOptions::new(4).with_block_size(256);
    let options = FrameOptions::new(compress).with_chunk_size(512).with_checksums(true);
    let folder: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let options = options.with_metalayer("layer", b"of the header".to_vec());
    let mut frame = SuperChunk::create_in_dir(folder.clone(), Some("frame"), &options).unwrap();
    frame.append(&mixed(1024, 4, 3)).unwrap();
    frame.append_fill(Fill::Zeros, 128).unwrap();
    frame.append(&mixed(700, 4, 5)).unwrap();
    frame.set_attribute_bytes("value", b"behind the chunks").unwrap();
    frame.close().unwrap();
    all_of(&folder, "frame")
}

fn all_of(folder: &Arc<dyn Dir>, name: &str) -> Vec<u8> {
    let store = folder.open(name).unwrap();
    let mut bytes = vec![0; usize::try_from(store.len().unwrap()).unwrap()];
    store.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

/// Small frames of every kind of content and dialect.
fn frames() -> Vec<(String, Vec<u8>)> {
    let wanted = ["01_", "02_", "13_", "14_", "16_", "17_", "36_", "50_", "51_", "52_", "53_"];
    let mut frames = vec![("sealed".to_owned(), sealed())];
    for vector in family("frame") {
        let is_new = frames.iter().all(|(name, _)| name != vector.name());
        if is_new && wanted.iter().any(|number| vector.name().starts_with(number)) {
            frames.push((vector.name().to_owned(), vector.bytes()));
        }
    }
    assert_eq!(frames.len(), wanted.len() + 1);
    frames
}

/// Opens and reads everything there is.
fn read_all(opened: Result<SuperChunk, Error>) -> Result<(), Error> {
    let frame = opened?;
    let mut dst = [0; 64];
    for number in 0..frame.chunk_count().min(100) {
        let _ = frame.read_chunk(number).map(|chunk| assert!(chunk.len() <= LIMIT));
        let _ = frame.chunk_header(number);
        let _ = frame.read_block(number, 1);
    }
    let middle = frame.byte_len() / 2;
    let _ = frame.read_bytes(middle..middle.saturating_add(64), &mut dst);
    let _ = frame.gather(&[0, frame.item_count() / 2], &mut dst);
    for name in frame.attribute_names() {
        let _ = frame.attribute(name);
    }
    let _ = frame.to_bytes();
    if frame.chunk_count() <= 100 { frame.verify().map(drop) } else { Ok(()) }
}

/// All mutations of a small frame. The larger ones are mostly chunks, which have tests of their own:
/// the lowest and the highest bit, all zeros and all ones will do.
fn is_chosen(mutation: Mutation, bytes: &[u8]) -> bool {
    let flipped = mutation.value ^ bytes[mutation.offset];
    bytes.len() < 1000 || matches!(flipped, 1 | 0x80) || matches!(mutation.value, 0 | 0xff)
}

#[test]
fn no_mutation_panics_or_takes_more_than_the_limits() {
    for (name, bytes) in frames() {
        for_each_mutation(&bytes, |mutation, damaged| {
            if !is_chosen(mutation, &bytes) {
                return;
            }
            let store = Remote(Bytes::new(damaged.to_vec()));
            let (_, peak) =
                peak_of(|| read_all(SuperChunk::open_store(Arc::new(store), &options())));
            // A chunk, the scratch memory of its decoder, metadata as stored and as decoded.
            assert!(peak < 20 * LIMIT + 8 * bytes.len(), "{name}: {peak} for {mutation:?}");
        });
    }
}

#[test]
fn bytes_in_memory_are_read_like_others() {
    for (name, bytes) in frames() {
        for_each_mutation(&bytes, |mutation, damaged| {
            if !is_chosen(mutation, &bytes) {
                return;
            }
            let store = Bytes::new(damaged.to_vec());
            let (_, peak) =
                peak_of(|| read_all(SuperChunk::open_store(Arc::new(store), &options())));
            assert!(peak < 20 * LIMIT + 8 * bytes.len(), "{name}: {peak} for {mutation:?}");
        });
    }
}

/// A frame without checksums: chunks of sixteen blocks, which are not read whole if little is wanted of them.
fn unsealed() -> Vec<u8> {
    let compress = CompressOptions::new(4).with_block_size(4096);
    let options = FrameOptions::new(compress).with_chunk_size(LIMIT).with_checksums(false);
    let folder: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let mut frame = SuperChunk::create_in_dir(folder.clone(), Some("frame"), &options).unwrap();
    frame.append(&superchunk_testkit::rng::Rng::new(5).bytes(LIMIT / 2)).unwrap();
    frame.append(&mixed(2 * LIMIT, 4, 3)).unwrap();
    frame.close().unwrap();
    all_of(&folder, "frame")
}

/// How many parts of a frame are read; they are the same in memory and elsewhere.
fn parts_read_alike(bytes: &[u8]) -> usize {
    let here = SuperChunk::open_store(Arc::new(Bytes::new(bytes.to_vec())), &options()).unwrap();
    let there =
        SuperChunk::open_store(Arc::new(Remote(Bytes::new(bytes.to_vec()))), &options()).unwrap();
    let mut count = 0;
    for start in (0..here.byte_len() - 40).step_by(2048) {
        let read = |frame: &SuperChunk| {
            let mut dst = [0; 40];
            frame.read_bytes(start..start + 40, &mut dst).ok().map(|()| dst)
        };
        assert_eq!(read(&here), read(&there), "byte {start}");
        count += usize::from(read(&here).is_some());
    }
    count
}

#[test]
fn parts_of_damaged_chunks_are_read_or_refused_alike_wherever_they_are() {
    let bytes = unsealed();
    let header_len = u32::from_be_bytes(bytes[11..15].try_into().unwrap()) as usize;
    let first = SuperChunk::from_bytes(bytes.clone()).unwrap().compressed_chunk(0).unwrap();
    assert!(first == bytes[header_len..header_len + first.len()] && first.len() > 10_000);
    let whole = parts_read_alike(&bytes);
    assert_eq!(whole, 80);
    let word = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    // A start before, behind and inside of other blocks, at one of them, and outside of the chunk.
    for block in 0..16 {
        let at = header_len + 32 + 4 * block;
        let last = word(header_len + 32 + 60);
        for start in [word(at) - 700, word(at) + 700, word(header_len + 32), last, -1, i32::MAX] {
            let mut damaged = bytes.clone();
            damaged[at..at + 4].copy_from_slice(&start.to_le_bytes());
            let read = parts_read_alike(&damaged);
            // Two parts are of that block.
            assert!((whole - 2..=whole).contains(&read), "block {block} at {start}: {read}");
        }
    }
    // The second chunk said to be inside of the first one, which is read as before.
    let offset = (first.len() as u64).to_le_bytes();
    let places: Vec<usize> =
        (header_len..bytes.len() - 8).filter(|at| bytes[*at..*at + 8] == offset).collect();
    assert_eq!(places.len(), 1, "the index is stored as it is");
    for inside in [first.len() as u64 / 2, 31, 10, 1] {
        let mut damaged = bytes.clone();
        damaged[places[0]..places[0] + 8].copy_from_slice(&inside.to_le_bytes());
        assert_eq!(parts_read_alike(&damaged), whole - 32, "at {inside}");
    }
}

#[test]
fn every_cut_frame_is_refused() {
    for (name, bytes) in frames() {
        for cut in truncations(&bytes) {
            let store = Remote(Bytes::new(cut.to_vec()));
            let error = SuperChunk::open_store(Arc::new(store), &options()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "{name}, {}: {error}", cut.len());
        }
        // What follows a frame belongs to others.
        let longer = [&bytes[..], b"something else"].concat();
        let (short, long) = (SuperChunk::from_bytes(bytes), SuperChunk::from_bytes(longer));
        assert!(short.unwrap().to_vec().unwrap() == long.unwrap().to_vec().unwrap(), "{name}");
    }
}

/// The sparse sample in memory.
fn sparse_sample() -> Vec<(String, Vec<u8>)> {
    let vectors = family("frame");
    let path = &vectors.iter().find(|vector| vector.name().starts_with("21_")).unwrap().path;
    let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let named = |file: std::path::PathBuf| {
        let bytes = std::fs::read(&file).unwrap();
        (file.file_name().unwrap().to_str().unwrap().to_owned(), bytes)
    };
    files.map(named).collect()
}

fn open_sparse(files: &[(String, Vec<u8>)], changed: &str, by: &[u8]) -> Result<SuperChunk, Error> {
    let folder = MemoryFolder::new();
    for (name, bytes) in files {
        let bytes = if name == changed { by } else { bytes };
        folder.create(name).unwrap().write_at(0, bytes).unwrap();
    }
    SuperChunk::open_in_dir(Arc::new(folder), None, &options())
}

#[test]
fn no_mutation_of_a_sparse_frame_panics_or_takes_more_than_the_limits() {
    let files = sparse_sample();
    for (name, bytes) in
        files.iter().filter(|(name, _)| name.contains("chunks") || name.contains('2'))
    {
        let check = |damaged: &[u8]| {
            let opened = open_sparse(&files, name, damaged);
            let (_, peak) = peak_of(|| read_all(opened));
            assert!(peak < 20 * LIMIT, "{name}: {peak}");
        };
        for_each_mutation(bytes, |_, damaged| check(damaged));
        truncations(bytes).for_each(check);
    }
}

/// Whether anything tells that a frame is not what was written.
fn is_found_out(opened: Result<SuperChunk, Error>) -> bool {
    let Ok(frame) = opened else { return true };
    let report = frame.verify().unwrap();
    report.integrity != Integrity::Sealed || !report.is_good()
}

/// The places of a sealed frame that belong to nothing: no part of header, index, trailer, chunk or
/// checksum. Those between the chunks are told by the chunks themselves.
fn belongs_to_nothing(bytes: &[u8]) -> Vec<bool> {
    let big =
        |at: usize| usize::try_from(u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap()));
    let header_len = u32::from_be_bytes(bytes[11..15].try_into().unwrap()) as usize;
    let (frame_len, cbytes) = (big(16).unwrap(), big(39).unwrap());
    let mut free = vec![false; bytes.len()];
    free[header_len..header_len + cbytes].fill(true);
    free[frame_len..].fill(true);
    let frame = SuperChunk::from_bytes(bytes.to_vec()).unwrap();
    for number in 0..frame.chunk_count() {
        let chunk = frame.compressed_chunk(number).unwrap();
        // A run is 32 bytes that are nowhere in the file.
        let places = bytes.windows(chunk.len()).enumerate().filter(|(_, found)| *found == chunk);
        let place = places.map(|(place, _)| place).find(|place| *place >= header_len);
        if let Some(place) = place {
            free[place..place + chunk.len() + 16].fill(false);
        }
    }
    free
}

#[test]
fn a_sealed_frame_finds_out_every_flipped_bit() {
    let bytes = sealed();
    let free = belongs_to_nothing(&bytes);
    assert!(free.iter().filter(|free| **free).count() < bytes.len() / 2);
    let open = |bytes: &[u8]| {
        SuperChunk::open_store(Arc::new(Remote(Bytes::new(bytes.to_vec()))), &options())
    };
    assert!(!is_found_out(open(&bytes)));
    let mut damaged = bytes.clone();
    for place in 0..bytes.len() {
        for bit in 0..8 {
            damaged[place] ^= 1 << bit;
            let found_out = is_found_out(open(&damaged));
            assert_eq!(found_out, !free[place], "bit {bit} of byte {place}");
            let in_memory = is_found_out(SuperChunk::from_bytes(damaged.clone()));
            assert_eq!(in_memory, found_out, "bit {bit} of byte {place}, in memory");
            damaged[place] ^= 1 << bit;
        }
    }
}

#[test]
fn a_flipped_bit_of_a_chunk_is_an_error_of_that_chunk_alone() {
    let bytes = sealed();
    let frame = SuperChunk::from_bytes(bytes.clone()).unwrap();
    let whole: Vec<Vec<u8>> = frame.chunks().collect::<Result<_, _>>().unwrap();
    let packed = frame.compressed_chunk(1).unwrap();
    let place = bytes.windows(packed.len()).position(|window| window == packed).unwrap();
    for at in place..place + packed.len() + 16 {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        let frame = SuperChunk::from_bytes(damaged).unwrap();
        for (number, chunk) in frame.chunks().enumerate() {
            match chunk {
                Ok(bytes) => assert!(number != 1 && bytes == whole[number], "byte {at}"),
                Err(error) => assert_eq!(number, 1, "byte {at}: {error}"),
            }
        }
        let damaged: Vec<usize> = frame.verify().unwrap().damaged.iter().map(|d| d.0).collect();
        assert_eq!(damaged, [1], "byte {at}");
    }
}

#[test]
fn the_checksum_is_found_however_long_the_chunk_is() {
    // Chunks of unknown length are read in pieces: their checksum may begin in one and end in another.
    for len in (1usize << 16) - 70..(1 << 16) + 5 {
        let options = FrameOptions::new(CompressOptions::new(1).with_level(0));
        let options = options.with_variable_chunks().with_checksums(true);
        let folder: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
        let mut frame = SuperChunk::create_in_dir(folder.clone(), Some("frame"), &options).unwrap();
        let bytes = mixed(len, 1, 7);
        let chunk = superchunk::chunk::compress(&bytes, frame.options()).unwrap();
        frame.append_chunk(&chunk).unwrap();
        frame.append_chunk(&chunk).unwrap();
        frame.close().unwrap();
        let mut stored = all_of(&folder, "frame");
        let open = |stored: &[u8]| {
            SuperChunk::open_store(
                Arc::new(Remote(Bytes::new(stored.to_vec()))),
                &OpenOptions::new(),
            )
            .unwrap()
        };
        assert_eq!(open(&stored).verify().unwrap().checked, 2, "{len}");
        let middle = stored.len() / 4;
        stored[middle] ^= 1;
        let frame = open(&stored);
        assert_eq!(frame.read_chunk(0).unwrap_err().kind(), ErrorKind::Corrupt, "{len}");
        assert!(frame.read_chunk(1).unwrap() == bytes, "{len}");
    }
}

#[test]
fn a_sealed_sparse_frame_finds_out_every_flipped_bit() {
    let folder: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(512);
    let options = options.with_checksums(true).with_metalayer("layer", b"x".to_vec());
    let mut frame = SuperChunk::create_in_dir(folder.clone(), None, &options).unwrap();
    frame.append(&mixed(1200, 4, 3)).unwrap();
    frame.set_attribute_bytes("value", b"behind the chunks").unwrap();
    frame.close().unwrap();
    let names = folder.names().unwrap();
    let files: Vec<_> = names.into_iter().map(|n| (n.clone(), all_of(&folder, &n))).collect();
    assert!(files.len() > 2);
    assert!(!is_found_out(open_sparse(&files, "", b"")));
    for (name, bytes) in &files {
        let mut damaged = bytes.clone();
        for place in 0..bytes.len() {
            for bit in 0..8 {
                damaged[place] ^= 1 << bit;
                let found_out = is_found_out(open_sparse(&files, name, &damaged));
                assert!(found_out, "{name}: bit {bit} of byte {place}");
                damaged[place] ^= 1 << bit;
            }
        }
    }
}
