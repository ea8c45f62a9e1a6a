//! Hostile frames: each ends in the error that is right for it, within bounded memory, and what is
//! not damaged stays readable.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use superchunk::store::{Bytes, Dir, MemoryFolder};
use superchunk::{
    CompressOptions, Error, ErrorKind, Executor, FrameOptions, Limits, OpenOptions, SuperChunk,
    chunk,
};
use superchunk_testkit::alloc::peak_of;
use superchunk_testkit::vectors::{Vector, family};

/// What the tests allow a frame to take; the frames claim much more.
const LIMIT: usize = 64 << 20;
/// What reading them really takes: a few chunks of 32,000 bytes, an index of 4096 entries, and the
/// context of a codec.
const ENOUGH: usize = 2 << 20;

/// What must become of a frame.
enum Fate {
    /// It cannot be opened.
    Refused(ErrorKind),
    /// It opens, and holds the data of the sample that is not damaged, but for this chunk.
    Without(usize, ErrorKind),
    /// It opens, and holds the data, but the value `v1` cannot be read.
    WithoutValue(ErrorKind),
    /// It holds the data.
    Whole,
    /// It opens and has no chunks.
    Empty,
    /// It opens, and is too large to be read at once.
    Huge,
}

use ErrorKind::{Corrupt, LimitExceeded, NotFound, Truncated, Unsupported};
use Fate::{Empty, Huge, Refused, Whole, Without, WithoutValue};

const CASES: [(&str, Fate); 37] = [
    ("f02_trunc_half", Refused(Truncated)),
    ("f03_notrailer", Refused(Truncated)),
    ("f04_hlen0", Refused(Corrupt)),
    ("f06_hlen_max", Refused(Corrupt)),
    ("f07_flen_short", Refused(Corrupt)),
    // Nothing but the length of the file contradicts it.
    ("f08_flen_huge", Refused(Truncated)),
    ("f09_flen_neg", Refused(Corrupt)),
    ("f10_ver15", Refused(Unsupported)),
    ("f11_type_sframe", Refused(Corrupt)),
    ("f12_nbytes_neg", Refused(Corrupt)),
    ("f15_cbytes_huge", Refused(Corrupt)),
    ("f16_cbytes_plus", Refused(Corrupt)),
    ("f17_typesize0", Refused(Corrupt)),
    // Chunks of variable size that happen to be equal; the flag that is missing is advisory.
    ("f19_chunksize0", Whole),
    ("f20_chunksize1", Refused(Corrupt)),
    ("f22_nfilters9", Refused(Corrupt)),
    ("f23_nmeta_ffff", Refused(Corrupt)),
    ("f24_metaoff_neg", Refused(Corrupt)),
    ("f26_metalen_max", Refused(Corrupt)),
    ("f29_trailer_len0", Refused(Corrupt)),
    ("f30_trailer_len_max", Refused(Corrupt)),
    ("f31_trailer_len_frame", Refused(Corrupt)),
    ("f32_nvlmeta_ffff", Refused(Corrupt)),
    // One byte of a chunk, then the chunks end.
    ("f34_off_past", Without(2, Truncated)),
    ("f35_off_max", Without(1, Corrupt)),
    ("f36_off_special_bad", Without(1, Corrupt)),
    ("f37_off_special7f", Without(1, Corrupt)),
    ("f40_off_short", Refused(Corrupt)),
    ("f41_idx_bomb", Refused(Corrupt)),
    ("f43_chunk0_cbytes", Without(0, Truncated)),
    ("f44_chunk0_nbytes", Without(0, Corrupt)),
    ("f45_vlbomb", Whole),
    ("f46_vlmeta_bomb", WithoutValue(Corrupt)),
    ("f47_zero_frame_bomb", Empty),
    ("f48_4TiB_zeros", Huge),
    ("s01_missing", Without(1, NotFound)),
    ("s05_dir", Without(1, Corrupt)),
];

fn options() -> OpenOptions {
    let limits = Limits::default().with_max_decoded(LIMIT).with_max_metadata(LIMIT);
    OpenOptions::new().with_limits(limits).with_executor(Executor::inline())
}

fn hostile() -> Vec<Vector> {
    let is_frame = |vector: &Vector| matches!(vector.text(&["kind"]), Some("frame" | "sframe"));
    family("hostile").into_iter().filter(is_frame).collect()
}

/// The frames with damage are copies of one of 32-bit integers, which count from 0 in chunks of
/// 32,000 bytes.
fn expected_chunk(number: usize) -> Vec<u8> {
    let first = u32::try_from(number * 8000).unwrap();
    (first..first + 8000).flat_map(u32::to_le_bytes).collect()
}

/// The chunks of a frame, and its values by name.
struct Survey {
    chunks: Vec<Result<Vec<u8>, Error>>,
    values: Vec<(String, Result<Vec<u8>, Error>)>,
}

/// Reads all there is, in every way there is; all must agree on what can be read.
fn survey(frame: &SuperChunk) -> Survey {
    let chunks: Vec<_> = frame.chunks().collect();
    for (number, chunk) in chunks.iter().enumerate() {
        let packed = frame.compressed_chunk(number);
        let _ = frame.chunk_header(number);
        let _ = frame.read_block(number, 0);
        if let Ok(bytes) = chunk {
            let lens = chunks[..number].iter().map(|c| c.as_ref().map_or(32_000, Vec::len));
            let start = lens.sum::<usize>() as u64;
            let mut part = vec![1; 16.min(bytes.len())];
            frame.read_bytes(start..start + part.len() as u64, &mut part).unwrap();
            assert_eq!(part, bytes[..part.len()]);
            assert_eq!(chunk::decompress(&packed.unwrap()).unwrap(), *bytes);
        }
    }
    let damaged: Vec<usize> =
        frame.verify().unwrap().damaged.into_iter().map(|(number, _)| number).collect();
    let failed = |number: &usize| matches!(&chunks[*number], Err(e) if e.kind() != LimitExceeded);
    assert_eq!(damaged, (0..chunks.len()).filter(failed).collect::<Vec<_>>());
    let values = frame.attribute_names().map(|name| (name.to_owned(), frame.attribute_bytes(name)));
    let values = values.collect();
    let _ = frame.to_vec();
    let _ = frame.to_bytes();
    Survey { chunks, values }
}

fn check(name: &str, opened: Result<SuperChunk, Error>, fate: &Fate) {
    let frame = match (opened, fate) {
        (Err(error), Refused(kind)) => {
            assert_eq!(error.kind(), *kind, "{name}: {error}");
            return;
        }
        (Err(error), _) => panic!("{name} does not open: {error}"),
        (Ok(_), Refused(kind)) => panic!("{name} opens, and should be {kind:?}"),
        (Ok(frame), _) => frame,
    };
    let found = survey(&frame);
    let (lost, lost_kind) = match fate {
        Without(number, kind) => (Some(*number), Some(*kind)),
        _ => (None, None),
    };
    for (number, chunk) in found.chunks.iter().enumerate() {
        match chunk {
            Ok(bytes) => {
                assert!(*bytes == expected_chunk(number), "{name}: chunk {number}");
                assert_ne!(lost, Some(number), "{name}: chunk {number} can be read");
            }
            Err(error) if matches!(fate, Huge) => assert_eq!(error.kind(), LimitExceeded, "{name}"),
            Err(error) => {
                assert_eq!(
                    (Some(number), Some(error.kind())),
                    (lost, lost_kind),
                    "{name}: {error}"
                );
                assert!(error.to_string().contains("chunk"), "{name}: {error}");
            }
        }
    }
    for (value, found) in &found.values {
        match (found, fate) {
            (Ok(bytes), _) => assert_eq!(bytes[1..], *b"yyyyyyyyyyyyyyyyyyyy", "{name}: {value}"),
            (Err(error), WithoutValue(kind)) => assert_eq!(error.kind(), *kind, "{name}: {error}"),
            (Err(error), _) => panic!("{name}: {error}"),
        }
    }
    let count = match fate {
        Empty => 0,
        Huge => 4096,
        _ if name.starts_with('s') => 3,
        _ => 5,
    };
    assert_eq!(frame.chunk_count(), count, "{name}");
}

#[test]
fn every_hostile_frame_meets_its_fate_within_bounds() {
    let vectors = hostile();
    let found: BTreeSet<String> = vectors
        .iter()
        .map(|vector| vector.name().trim_end_matches(".b2frame").to_owned())
        .collect();
    assert_eq!(found, CASES.iter().map(|(name, _)| (*name).to_owned()).collect());
    for vector in &vectors {
        let name = vector.name();
        // Empty folders get lost on the way: then the chunk is missing.
        let lost = name.starts_with("s05_") && !vector.path.join("00000001.chunk").exists();
        let fate = match CASES.iter().find(|(case, _)| name.starts_with(case)).unwrap() {
            _ if lost => &Without(1, NotFound),
            (_, fate) => fate,
        };
        // Thousands of errors may be held at once, and each names the file.
        let enough = ENOUGH + 4 * 4096 * vector.path.as_os_str().len();
        let ((), peak) =
            peak_of(|| check(name, SuperChunk::open_with(&vector.path, &options()), fate));
        assert!(peak < enough, "{name}: {peak}");
        if vector.path.is_dir() {
            continue;
        }
        let bytes = vector.bytes();
        let ((), peak) = peak_of(|| {
            check(name, SuperChunk::open_store(Arc::new(Bytes::new(bytes)), &options()), fate)
        });
        assert!(peak < ENOUGH, "{name}: {peak}");
    }
}

#[test]
fn four_tebibytes_of_zeros_are_read_where_wanted() {
    for vector in hostile().iter().filter(|vector| vector.name().starts_with("f48_")) {
        let frame = SuperChunk::open_with(&vector.path, &options()).unwrap();
        assert_eq!(frame.byte_len(), 1 << 42);
        for start in [0, (1 << 30) - 50, (1 << 41) + 12_345, (1 << 42) - 100] {
            let mut part = [1; 100];
            frame.read_bytes(start..start + 100, &mut part).unwrap();
            assert_eq!(part, [0; 100]);
        }
        assert_eq!(frame.to_vec().unwrap_err().kind(), LimitExceeded);
    }
}

/// A copy of the sparse sample, whose chunks are, in order, in the files 1, 4, 2, 3; the last is not
/// stored.
struct Copy {
    path: PathBuf,
    chunks: Vec<Vec<u8>>,
}

impl Copy {
    fn new(name: &str) -> Self {
        let source = family("frame");
        let source = &source.iter().find(|vector| vector.name().starts_with("21_")).unwrap().path;
        let name = format!("superchunk-frame-hostile-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        for entry in fs::read_dir(source).unwrap() {
            let file = entry.unwrap().path();
            fs::copy(&file, path.join(file.file_name().unwrap())).unwrap();
        }
        let chunks = SuperChunk::open(&path).unwrap().chunks().collect::<Result<_, _>>().unwrap();
        Self { path, chunks }
    }

    /// The file of the second chunk.
    fn file(&self) -> PathBuf {
        self.path.join("00000004.chunk")
    }

    /// The second chunk gives this error, or its bytes; all others theirs.
    fn check(&self, kind: Option<ErrorKind>) {
        let ((), peak) = peak_of(|| {
            let frame = SuperChunk::open_with(&self.path, &options()).unwrap();
            for (number, chunk) in frame.chunks().enumerate() {
                match (chunk, kind) {
                    (Err(error), Some(kind)) if number == 1 => {
                        assert_eq!(error.kind(), kind, "{error}");
                        let told = error.to_string();
                        assert!(told.contains("chunk 1") || told.contains("00000004"), "{told}");
                    }
                    (chunk, _) => assert!(chunk.unwrap() == self.chunks[number]),
                }
            }
            let damaged = frame.verify().unwrap().damaged.len();
            assert_eq!(damaged, usize::from(kind.is_some()));
            let mut item = [0; 4];
            assert_eq!(frame.read_items(260..261, &mut item).is_err(), kind.is_some());
        });
        assert!(peak < ENOUGH, "{peak}");
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[test]
fn an_empty_chunk_file_is_truncated() {
    let copy = Copy::new("s02");
    copy.check(None);
    fs::write(copy.file(), b"").unwrap();
    copy.check(Some(Truncated));
}

#[test]
fn a_folder_in_place_of_a_chunk_is_corrupt() {
    let copy = Copy::new("s05");
    fs::remove_file(copy.file()).unwrap();
    fs::create_dir(copy.file()).unwrap();
    copy.check(Some(Corrupt));
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_a_chunk_is_not_followed() {
    let copy = Copy::new("s03");
    fs::rename(copy.file(), copy.path.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(copy.path.join("elsewhere"), copy.file()).unwrap();
    copy.check(Some(Corrupt));
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_chunk_does_not_block() {
    let copy = Copy::new("s04");
    fs::remove_file(copy.file()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(copy.file()).status().unwrap();
    assert!(made.success());
    copy.check(Some(Corrupt));
    // Nor does one in place of the index, or of a whole frame.
    let index = copy.path.join("chunks.b2frame");
    fs::rename(copy.file(), &index).unwrap();
    assert!(SuperChunk::open_with(&copy.path, &options()).is_err());
    assert_eq!(
        SuperChunk::open_with(&index, &options()).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
    assert_eq!(
        SuperChunk::edit_with(&index, &options()).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
}

#[test]
fn a_folder_without_an_index_is_no_frame() {
    let copy = Copy::new("s06");
    fs::remove_file(copy.path.join("chunks.b2frame")).unwrap();
    assert_eq!(SuperChunk::open_with(&copy.path, &options()).unwrap_err().kind(), NotFound);
    assert_eq!(SuperChunk::edit_with(&copy.path, &options()).unwrap_err().kind(), NotFound);
}

#[test]
fn a_chunk_file_of_a_tebibyte_takes_no_memory() {
    let copy = Copy::new("s07");
    let file = fs::OpenOptions::new().write(true).open(copy.file()).unwrap();
    file.set_len(1 << 40).unwrap();
    // What follows the chunk in its file belongs to nothing.
    copy.check(None);
    fs::write(copy.file(), b"").unwrap();
    let file = fs::OpenOptions::new().write(true).open(copy.file()).unwrap();
    file.set_len(1 << 40).unwrap();
    copy.check(Some(Corrupt));
}

/// The index file of a sparse frame without chunks, whose trailer holds these values as they are.
fn sparse_index(values: &[(&str, &[u8])], shared: bool) -> Vec<u8> {
    let folder = MemoryFolder::new();
    let frame = FrameOptions::new(CompressOptions::new(4)).with_checksums(false);
    let folder: Arc<dyn Dir> = Arc::new(folder);
    SuperChunk::create_in_dir(folder.clone(), None, &frame).unwrap().close().unwrap();
    let index = folder.open("chunks.b2frame").unwrap();
    let mut bytes = vec![0; usize::try_from(index.len().unwrap()).unwrap()];
    index.read_exact_at(0, &mut bytes).unwrap();
    // The trailer of a frame without values has 35 bytes.
    let start = bytes.len() - 35;
    bytes.truncate(start);
    let count = u16::try_from(values.len()).unwrap().to_be_bytes();
    bytes.extend([0x94, 1, 0x93, 0xcd, 0, 0, 0xde, count[0], count[1]]);
    let names: usize = values.iter().map(|(name, _)| name.len() + 6).sum();
    let mut offset = 9 + names + 3;
    for (name, content) in values {
        bytes.push(0xa0 + u8::try_from(name.len()).unwrap());
        bytes.extend(name.as_bytes());
        bytes.push(0xd2);
        bytes.extend(u32::try_from(offset).unwrap().to_be_bytes());
        offset += if shared { 0 } else { 5 + content.len() };
    }
    bytes.extend([0xdc, count[0], count[1]]);
    for (_, content) in values.iter().take(if shared { 1 } else { values.len() }) {
        bytes.push(0xc6);
        bytes.extend(u32::try_from(content.len()).unwrap().to_be_bytes());
        bytes.extend(*content);
    }
    let trailer = u32::try_from(bytes.len() - start + 23).unwrap().to_be_bytes();
    bytes.push(0xce);
    bytes.extend(trailer);
    bytes.extend([0xd8, 0]);
    bytes.extend([0; 16]);
    let len = (bytes.len() as u64).to_be_bytes();
    bytes[16..24].copy_from_slice(&len);
    bytes
}

fn open_index(index: &[u8]) -> Result<SuperChunk, Error> {
    let folder = MemoryFolder::new();
    folder.create("chunks.b2frame").unwrap().write_at(0, index).unwrap();
    SuperChunk::open_in_dir(Arc::new(folder), None, &options())
}

#[test]
fn values_that_claim_gigabytes_take_no_memory() {
    let bomb = chunk::zeros(1, 2_000_000_000).unwrap();
    // One of the names is that of the checksums of chunks, which are read at once.
    let index = sparse_index(&[("plain", &bomb), ("b2integrity", &bomb)], false);
    let ((), peak) = peak_of(|| {
        let frame = open_index(&index).unwrap();
        assert_eq!(frame.attribute_bytes("plain").unwrap_err().kind(), LimitExceeded);
    });
    assert!(peak < ENOUGH, "{peak}");
}

#[test]
fn a_thousand_values_cannot_share_their_bytes() {
    let content = vec![7; 100_000];
    let names: Vec<String> = (0..1000).map(|number| format!("{number}")).collect();
    let values: Vec<(&str, &[u8])> = names.iter().map(|n| (n.as_str(), &content[..])).collect();
    let index = sparse_index(&values, true);
    assert!(index.len() < 200_000);
    let (error, peak) = peak_of(|| open_index(&index).unwrap_err());
    assert_eq!(error.kind(), Corrupt, "{error}");
    assert!(peak < ENOUGH, "{peak}");
    // Two that have their own are fine.
    let frame = open_index(&sparse_index(&values[..2], false)).unwrap();
    assert_eq!(frame.attribute_names().collect::<Vec<_>>(), ["0", "1"]);
}

#[test]
fn a_chunk_inside_of_another_is_never_overwritten() {
    // Both entries of the index become offset 0 and one that lies inside of the first chunk.
    let options = FrameOptions::new(CompressOptions::new(1).with_level(0)).with_chunk_size(1000);
    let mut frame = SuperChunk::in_memory(&options.with_checksums(false)).unwrap();
    let inner = chunk::compress(&[9; 500], &CompressOptions::new(1).with_level(0)).unwrap();
    let mut outer: Vec<u8> = (0..=250).cycle().take(1000).collect();
    outer[100..100 + inner.len()].copy_from_slice(&inner);
    frame.append(&outer).unwrap();
    frame.append(&[9; 500]).unwrap();
    let mut bytes = frame.to_bytes().unwrap();
    // The index is stored as it is: 32 bytes of header, then the two offsets.
    let offsets = bytes.len() - 35 - 16;
    assert_eq!(bytes[offsets..offsets + 16], [0, 1032u64].map(u64::to_le_bytes).concat());
    bytes[offsets + 8..offsets + 16].copy_from_slice(&132u64.to_le_bytes());
    let folder: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    folder.create("x").unwrap().write_at(0, &bytes).unwrap();
    let mut frame =
        SuperChunk::edit_in_dir(folder.clone(), Some("x"), &OpenOptions::new()).unwrap();
    assert_eq!(frame.read_chunk(1).unwrap(), [9; 500]);
    // The two chunks seem to end in the middle of the first, with room for a third behind.
    frame.append(&[5; 300]).unwrap();
    frame.close().unwrap();
    let frame = SuperChunk::open_in_dir(folder, Some("x"), &OpenOptions::new()).unwrap();
    assert_eq!(frame.byte_len(), 1800);
    assert!(frame.read_chunk(0).unwrap() == outer);
    let rest = frame.to_vec().unwrap();
    assert!(rest[1000..1500] == [9; 500] && rest[1500..] == [5; 300]);
}
