//! What a fingerprint that does not match means: another writer's change is told from damage, with the
//! real C-Blosc2 as the other writer.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use superchunk::frame::Kind;
use superchunk::store::{Bytes, Dir, MemoryFolder};
use superchunk::{
    CompressOptions, Error, ErrorKind, Fill, FrameOptions, Integrity, OpenOptions, SuperChunk,
};
use superchunk_testkit::frame_peer::FramePeer;
use superchunk_testkit::peers::PeerKind;
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::vectors::family;

/// The bytes of threads, which belong to the last writer.
const THREADS: [usize; 4] = [63, 64, 66, 67];

fn options() -> FrameOptions {
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(4000);
    options.with_metalayer("layer", b"first".to_vec())
}

fn file_of(folder: &Arc<dyn Dir>, name: &str) -> Vec<u8> {
    let store = folder.open(name).unwrap();
    let mut bytes = vec![0; usize::try_from(store.len().unwrap()).unwrap()];
    store.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

fn big(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap()
}

fn header_len(bytes: &[u8]) -> usize {
    u32::from_be_bytes(bytes[11..15].try_into().unwrap()) as usize
}

/// Where the contents of the metalayers begin.
fn contents_at(bytes: &[u8]) -> usize {
    87 + usize::from(u16::from_be_bytes(bytes[89..91].try_into().unwrap()))
}

fn fingerprint_kind(path: &Path) -> u8 {
    let bytes = std::fs::read(path).unwrap();
    bytes[big(&bytes, 16) - 17]
}

/// The real peer gives the metalayer other bytes, then appends; we read it after both.
fn changed_by_the_peer(path: &Path, index: &Path) {
    let data = mixed(20_000, 4, 8);
    assert_eq!(SuperChunk::open(path).unwrap().integrity(), Integrity::Sealed);
    let mut peer = FramePeer::spawn(PeerKind::Blosc2);
    let handle = peer.open(path).unwrap();
    assert_eq!(peer.read_all(handle).unwrap(), data);
    peer.set_meta_raw(handle, "layer", b"other").unwrap();
    peer.close(handle).unwrap();
    // C-Blosc2 has left the fingerprint alone, which is no longer true.
    assert_eq!(fingerprint_kind(index), 3);
    let frame = SuperChunk::open(path).unwrap();
    assert_eq!(frame.integrity(), Integrity::Unverified);
    assert_eq!(frame.metalayer("layer").unwrap(), b"other");
    assert!(frame.verify().unwrap().is_good());
    assert_eq!(frame.to_vec().unwrap(), data);
    let handle = peer.open(path).unwrap();
    peer.append_data(handle, &mixed(4000, 4, 9)).unwrap();
    peer.close(handle).unwrap();
    assert_eq!(fingerprint_kind(index), 0);
    let frame = SuperChunk::open(path).unwrap();
    assert_eq!(frame.integrity(), Integrity::Unverified);
    assert!(frame.verify().unwrap().is_good());
    assert_eq!(frame.to_vec().unwrap(), [data, mixed(4000, 4, 9)].concat());
}

#[test]
fn a_damaged_chunk_stays_damaged_when_its_frame_is_written_anew() {
    let scratch = Scratch::new();
    let path = scratch.path("damaged.b2frame");
    let options = FrameOptions::new(CompressOptions::new(1).with_level(0)).with_chunk_size(1000);
    let mut frame = SuperChunk::create(&path, &options).unwrap();
    frame.append(&mixed(5000, 1, 1)).unwrap();
    frame.close().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let damaged = |path: &Path| -> Vec<usize> {
        let report = SuperChunk::open(path).unwrap().verify().unwrap();
        report.damaged.into_iter().map(|(number, _)| number).collect()
    };
    let before = damaged(&path);
    assert_eq!(before.len(), 1);
    let mut frame = SuperChunk::edit(&path).unwrap();
    frame.compact().unwrap();
    frame.close().unwrap();
    assert_eq!(damaged(&path), before);
}

#[test]
fn a_metalayer_that_c_blosc2_changes_leaves_a_frame_unverified_and_not_corrupt() {
    let scratch = Scratch::new();
    let path = scratch.path("one.b2frame");
    let mut frame = SuperChunk::create(&path, &options()).unwrap();
    frame.append(&mixed(20_000, 4, 8)).unwrap();
    frame.close().unwrap();
    changed_by_the_peer(&path, &path);
    let path = scratch.path("many.b2frame");
    let mut frame = SuperChunk::create(&path, &options().with_kind(Kind::Sparse)).unwrap();
    frame.append(&mixed(20_000, 4, 8)).unwrap();
    frame.close().unwrap();
    changed_by_the_peer(&path, &path.join("chunks.b2frame"));
}

#[test]
fn frames_of_runs_and_frames_of_several_commits_stay_good_for_c_blosc2() {
    let scratch = Scratch::new();
    let mut peer = FramePeer::spawn(PeerKind::Blosc2);
    let path = scratch.path("runs.b2frame");
    let mut frame = SuperChunk::create(&path, &options()).unwrap();
    frame.append_fill(Fill::Zeros, 5000).unwrap();
    frame.close().unwrap();
    let handle = peer.open(&path).unwrap();
    assert_eq!(peer.read_all(handle).unwrap(), vec![0; 20_000]);
    peer.append_data(handle, &mixed(4000, 4, 1)).unwrap();
    peer.close(handle).unwrap();
    let both = [vec![0; 20_000], mixed(4000, 4, 1)].concat();
    assert_eq!(SuperChunk::open(&path).unwrap().to_vec().unwrap(), both);
    let path = scratch.path("commits.b2frame");
    let mut frame = SuperChunk::create(&path, &options()).unwrap();
    for seed in 0..5 {
        frame.append(&mixed(4000, 4, seed)).unwrap();
        frame.commit().unwrap();
        assert_eq!(SuperChunk::open(&path).unwrap().integrity(), Integrity::Sealed);
    }
    frame.delete_chunk(1).unwrap();
    frame.close().unwrap();
    let model: Vec<u8> = [0, 2, 3, 4].iter().flat_map(|seed| mixed(4000, 4, *seed)).collect();
    assert_eq!(SuperChunk::open(&path).unwrap().integrity(), Integrity::Sealed);
    let handle = peer.open(&path).unwrap();
    assert_eq!(peer.read_all(handle).unwrap(), model);
    peer.update_data(handle, 3, &mixed(4000, 4, 77)).unwrap();
    assert_eq!(peer.read_chunk(handle, 3).unwrap(), mixed(4000, 4, 77));
    peer.close(handle).unwrap();
    assert_eq!(SuperChunk::open(&path).unwrap().to_vec().unwrap()[12_000..], mixed(4000, 4, 77));
}

/// What flipping byte `at` of header, index or trailer must give: an error, or a frame that nothing
/// vouches for.
fn is_loose(bytes: &[u8], at: usize) -> bool {
    let end = big(bytes, 16);
    // The kind of the fingerprint, and the fingerprint: without it nobody knows.
    let fingerprint = at >= end - 17;
    let contents = at >= contents_at(bytes) && at < header_len(bytes);
    THREADS.contains(&at) || contents || fingerprint
}

fn check_flips(
    bytes: &[u8],
    tail: usize,
    open: impl Fn(Vec<u8>) -> Result<SuperChunk, Error>,
) -> usize {
    let mut count = 0;
    let parts = (0..header_len(bytes)).chain(tail..big(bytes, 16));
    for at in parts {
        for bit in 0..8 {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1 << bit;
            match open(damaged) {
                Ok(frame) => {
                    assert!(is_loose(bytes, at), "bit {bit} of byte {at} is not found out");
                    assert_eq!(frame.integrity(), Integrity::Unverified, "bit {bit} of byte {at}");
                }
                // A content that is not well-formed is an error whoever wrote it.
                Err(error) if is_loose(bytes, at) => {
                    assert!(error.place().is_none_or(|place| place.field != "fingerprint"));
                }
                Err(_) => {}
            }
            count += 1;
        }
    }
    count
}

#[test]
fn a_flipped_bit_of_what_is_sealed_is_corruption_and_of_what_is_loose_is_not() {
    let folder: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let mut frame = SuperChunk::create_in_dir(folder.clone(), Some("frame"), &options()).unwrap();
    frame.append(&mixed(20_000, 4, 8)).unwrap();
    frame.set_attribute_bytes("value", b"behind the chunks").unwrap();
    frame.close().unwrap();
    let bytes = file_of(&folder, "frame");
    let index = header_len(&bytes) + big(&bytes, 39);
    assert_eq!(&bytes[index - 16..index - 12], b"B2XS");
    let open =
        |bytes: Vec<u8>| SuperChunk::open_store(Arc::new(Bytes::new(bytes)), &OpenOptions::new());
    assert!(check_flips(&bytes, index, open) > 8 * 250);
    // Damage of the seal alone is without meaning, and no excuse for damage elsewhere.
    let mut damaged = bytes.clone();
    damaged[index - 1] ^= 1;
    assert_eq!(open(damaged.clone()).unwrap().integrity(), Integrity::Sealed);
    damaged[contents_at(&bytes) + 10] ^= 1;
    assert_eq!(open(damaged).unwrap_err().kind(), ErrorKind::Corrupt);

    let folder: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let mut frame = SuperChunk::create_in_dir(folder.clone(), None, &options()).unwrap();
    frame.append(&mixed(20_000, 4, 8)).unwrap();
    frame.set_attribute_bytes("value", b"behind the chunks").unwrap();
    frame.close().unwrap();
    let bytes = file_of(&folder, "chunks.b2frame");
    let open = |bytes: Vec<u8>| {
        let _ = folder.remove("chunks.b2frame");
        folder.create("chunks.b2frame").unwrap().write_at(0, &bytes).unwrap();
        SuperChunk::open_in_dir(folder.clone(), None, &OpenOptions::new())
    };
    assert_eq!(open(bytes.clone()).unwrap().integrity(), Integrity::Sealed);
    assert!(check_flips(&bytes, header_len(&bytes), open) > 8 * 350);
}

#[test]
fn an_empty_frame_has_no_seal_and_its_metalayers_decide() {
    for (options, integrity) in [
        (options(), Some(Integrity::Unverified)),
        (FrameOptions::new(CompressOptions::new(4)).with_chunk_size(4000), None),
    ] {
        let folder: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
        let frame = SuperChunk::create_in_dir(folder.clone(), Some("frame"), &options).unwrap();
        frame.close().unwrap();
        let bytes = file_of(&folder, "frame");
        let open = |bytes: Vec<u8>| {
            SuperChunk::open_store(Arc::new(Bytes::new(bytes)), &OpenOptions::new())
        };
        assert_eq!(open(bytes.clone()).unwrap().integrity(), Integrity::Sealed);
        let mut damaged = bytes;
        damaged[56] ^= 1;
        assert_eq!(open(damaged).map(|frame| frame.integrity()).ok(), integrity);
    }
}

/// The example of `docs/formats/cframe.md`. Its hashes were computed by another program, too.
#[test]
fn sample_43_with_checksums_has_the_bytes_of_the_document() {
    let sample = family("frame").into_iter().find(|v| v.name().starts_with("43_")).unwrap();
    let plain = SuperChunk::from_bytes(sample.bytes()).unwrap();
    let folder: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let options = plain.frame_options();
    let mut sealed = SuperChunk::create_in_dir(folder.clone(), Some("frame"), &options).unwrap();
    // As they are, so that no compressor decides what the document says.
    sealed.append_chunk(&plain.compressed_chunk(0).unwrap()).unwrap();
    sealed.append_chunk(&plain.compressed_chunk(1).unwrap()).unwrap();
    sealed.close().unwrap();
    let bytes = file_of(&folder, "frame");
    assert_eq!((header_len(&bytes), big(&bytes, 16), big(&bytes, 39)), (97, 1588, 1408));
    let suffix = b"B2X3\xa8\x02\0\0\x7a\xf5\x21\xb0\x3e\x79\x31\xbc";
    assert_eq!(&bytes[777..793], suffix);
    assert_eq!(&bytes[1473..1489], suffix);
    assert_eq!(&bytes[1489..1505], b"B2XS\x30\0\0\0\x83\xa2\xe0\x35\x06\x45\x96\xa3");
    let fingerprint = u128::from_be_bytes(bytes[1572..].try_into().unwrap());
    assert_eq!(fingerprint, 0xab94_127b_e872_1020_72fd_f077_712a_a67b);
}
