//! The peer for frames starts, makes, changes and reads super-chunks, refuses in words, and comes back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use superchunk_testkit::datasets;
use superchunk_testkit::frame_peer::{FrameHandle, FrameParams, FramePeer, MetaContent, Special};
use superchunk_testkit::peers::PeerKind;
use superchunk_testkit::vectors::{family, sha256_hex};

const KINDS: [PeerKind; 2] = [PeerKind::Blosc2, PeerKind::Blosc2Old];

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Three full chunks and a short one.
fn filled(peer: &mut FramePeer, params: &FrameParams) -> (FrameHandle, Vec<Vec<u8>>) {
    let frame = peer.create(params).unwrap();
    let data = datasets::timestamps(14_000);
    let chunks: Vec<Vec<u8>> = data.chunks(4000).map(<[u8]>::to_vec).collect();
    for chunk in &chunks {
        peer.append_data(frame, chunk).unwrap();
    }
    (frame, chunks)
}

#[test]
fn what_was_appended_is_read_back_from_everywhere() {
    let folder = Folder::new("frame_peer_places");
    for kind in KINDS {
        let mut peer = FramePeer::spawn(kind);
        for (contiguous, path) in [(true, Some("file")), (false, Some("directory")), (true, None)] {
            let mut params = FrameParams { contiguous, ..FrameParams::new(4, 4000) };
            params.path = path.map(|name| folder.at(name));
            let (mut frame, chunks) = filled(&mut peer, &params);
            if let Some(path) = &params.path {
                peer.close(frame).unwrap();
                assert_eq!(path.is_dir(), !contiguous);
                frame = peer.open(path).unwrap();
            }
            assert!(peer.read_chunks(frame).unwrap() == chunks);
            assert!(peer.read_chunk(frame, 3).unwrap() == chunks[3]);
            assert!(peer.read_all(frame).unwrap() == chunks.concat());
            assert!(peer.read_items(frame, 900..2100).unwrap() == chunks.concat()[3600..8400]);
            let info = peer.info(frame).unwrap();
            assert_eq!((info.chunk_count, info.nbytes), (4, 14_000));
            assert_eq!((info.chunk_size, info.item_size), (4000, 4));
            let bytes = peer.to_cframe(frame).unwrap();
            let copy = peer.from_cframe(&bytes).unwrap();
            assert!(peer.read_chunks(copy).unwrap() == chunks);
        }
    }
}

#[test]
fn a_frame_may_begin_inside_of_a_file() {
    let folder = Folder::new("frame_peer_offset");
    for kind in KINDS {
        let mut peer = FramePeer::spawn(kind);
        let (frame, chunks) = filled(&mut peer, &FrameParams::new(4, 4000));
        let path = folder.at("inside");
        let file = [vec![7; 1234], peer.to_cframe(frame).unwrap(), vec![9; 77]].concat();
        std::fs::write(&path, file).unwrap();
        let frame = peer.open_offset(&path, 1234).unwrap();
        assert!(peer.read_chunks(frame).unwrap() == chunks);
        assert!(!peer.open(&path).unwrap_err().is_empty());
    }
}

#[test]
fn every_change_changes_what_it_says() {
    for kind in KINDS {
        let mut peer = FramePeer::spawn(kind);
        let (frame, mut model) = filled(&mut peer, &FrameParams::new(4, 4000));
        model.pop();
        peer.delete_chunk(frame, 3).unwrap();
        let first = peer.compressed_chunk(frame, 0).unwrap();
        let other = datasets::random(4000);

        peer.append_chunk(frame, &first).unwrap();
        model.push(model[0].clone());
        peer.insert_chunk(frame, 1, &first).unwrap();
        model.insert(1, model[0].clone());
        peer.update_chunk(frame, 2, &first).unwrap();
        model[2] = model[0].clone();
        peer.insert_data(frame, 0, &other).unwrap();
        model.insert(0, other.clone());
        peer.update_data(frame, 4, &other).unwrap();
        model[4].clone_from(&other);
        assert!(peer.read_chunks(frame).unwrap() == model, "{kind:?}");

        peer.write_items(frame, 500..1500, &other).unwrap();
        model[0][2000..].copy_from_slice(&other[..2000]);
        model[1][..2000].copy_from_slice(&other[2000..]);
        assert!(peer.read_chunks(frame).unwrap() == model, "{kind:?}");

        match peer.reorder(frame, &[5, 4, 3, 2, 1, 0]) {
            Ok(()) => model.reverse(),
            Err(words) => assert!(kind == PeerKind::Blosc2Old && words.contains("reorder_offsets")),
        }
        assert!(peer.read_chunks(frame).unwrap() == model, "{kind:?}");
    }
}

#[test]
fn special_values_fill_an_empty_frame() {
    for kind in KINDS {
        let mut peer = FramePeer::spawn(kind);
        let mut fill = |with| -> Result<Vec<u8>, String> {
            let frame = peer.create(&FrameParams::new(4, 4000))?;
            peer.fill_special(frame, 2500, with)?;
            assert_eq!(peer.info(frame)?.chunk_count, 3);
            peer.read_all(frame)
        };
        assert!(fill(Special::Zeros).unwrap() == vec![0; 10_000], "{kind:?}");
        assert!(fill(Special::Nans).unwrap() == f32::NAN.to_le_bytes().repeat(2500), "{kind:?}");
        assert_eq!(fill(Special::Uninit).unwrap().len(), 10_000);
        let value = [1, 2, 3, 4];
        match fill(Special::Value(&value)) {
            Ok(all) => assert!(all == value.repeat(2500), "{kind:?}"),
            Err(words) => assert!(kind == PeerKind::Blosc2Old, "{words}"),
        }
    }
}

#[test]
fn metadata_goes_through_raw_and_packed() {
    let folder = Folder::new("frame_peer_metadata");
    let raw = |length: u8| MetaContent::Raw((0..length).collect());
    for kind in KINDS {
        let mut peer = FramePeer::spawn(kind);
        let mut params = FrameParams::new(4, 4000).at(folder.at("frame"));
        params.metalayers = vec![
            ("packed".to_owned(), MetaContent::Packed(b"abc".to_vec())),
            ("one".to_owned(), raw(1)),
            ("two hundred".to_owned(), raw(200)),
            ("258".to_owned(), MetaContent::Raw(vec![5; 258])),
        ];
        let frame = peer.create(&params).unwrap();
        peer.set_vlmeta_raw(frame, "raw", b"\xff\x00 not msgpack").unwrap();
        // {"k": [1, b"x"]}
        let value = b"\x81\xa1k\x92\x01\xc4\x01x";
        peer.set_vlmeta_value(frame, "value", value).unwrap();
        peer.set_vlmeta_value(frame, "gone", value).unwrap();
        peer.delete_vlmeta(frame, "gone").unwrap();
        peer.close(frame).unwrap();

        let frame = peer.open(&folder.at("frame")).unwrap();
        let info = peer.info(frame).unwrap();
        assert_eq!(info.metas, ["packed", "one", "two hundred", "258"]);
        assert_eq!(info.vlmetas, ["raw", "value"]);
        assert_eq!(peer.meta_raw(frame, "packed").unwrap(), b"\xc4\x03abc");
        assert_eq!(peer.meta_raw(frame, "one").unwrap(), [0]);
        assert_eq!(peer.meta_raw(frame, "two hundred").unwrap(), (0..200).collect::<Vec<u8>>());
        assert_eq!(peer.meta_raw(frame, "258").unwrap(), [5; 258]);
        assert_eq!(peer.vlmeta_raw(frame, "raw").unwrap(), b"\xff\x00 not msgpack");
        assert_eq!(peer.vlmeta_raw(frame, "value").unwrap(), value);
        assert_eq!(peer.vlmeta_value(frame, "value").unwrap(), value);
        assert!(peer.vlmeta_raw(frame, "gone").is_err());
        assert!(peer.meta_raw(frame, "none").is_err());
        peer.set_meta_raw(frame, "one", &[9]).unwrap();
        assert_eq!(peer.meta_raw(frame, "one").unwrap(), [9]);
    }
}

#[test]
fn vectors_decode_to_their_digests() {
    let mut peer = FramePeer::spawn(PeerKind::Blosc2);
    let mut seen = 0;
    for vector in family("frame") {
        // Plain super-chunks of today; the digest of an array is in another order than its chunks.
        let number: u32 = vector.name()[..2].parse().unwrap();
        if !(1..=21).contains(&number) || [15, 18, 20].contains(&number) {
            continue;
        }
        let frame = peer.open(&vector.path).unwrap();
        let decoded = peer.read_chunks(frame).unwrap().concat();
        let digest = vector.text(&["decoded_sha256"]).unwrap();
        assert_eq!(sha256_hex(&decoded), digest, "{}", vector.name());
        peer.close(frame).unwrap();
        seen += 1;
    }
    assert!(seen >= 18, "{seen}");
}

#[test]
fn a_held_lock_keeps_others_waiting() {
    let folder = Folder::new("frame_peer_lock");
    let path = folder.at("frame");
    let mut holder = FramePeer::spawn(PeerKind::Blosc2);
    let params = FrameParams { locking: true, ..FrameParams::new(4, 4000) }.at(&path);
    let (frame, chunks) = filled(&mut holder, &params);
    holder.close(frame).unwrap();
    let lock = holder.hold_lock(&path).unwrap();
    assert!(holder.holds_lock(&lock, Duration::from_secs(600)).unwrap());

    let mut other = FramePeer::spawn(PeerKind::Blosc2);
    let waiting = other.hold_lock(&path).unwrap();
    assert!(!other.holds_lock(&waiting, Duration::from_millis(300)).unwrap());
    holder.release_lock(lock).unwrap();
    assert!(other.holds_lock(&waiting, Duration::from_secs(600)).unwrap());
    other.release_lock(waiting).unwrap();
    let frame = other.open_locking(&path).unwrap();
    assert!(other.read_chunks(frame).unwrap() == chunks);

    let mut old = FramePeer::spawn(PeerKind::Blosc2Old);
    assert!(old.hold_lock(&path).unwrap_err().contains("no locks"));
}

#[test]
fn refusals_come_in_words_and_the_peer_lives_on() {
    for kind in KINDS {
        let mut peer = FramePeer::spawn(kind);
        let (frame, chunks) = filled(&mut peer, &FrameParams::new(4, 4000));
        assert!(!peer.from_cframe(b"no frame at all").unwrap_err().is_empty());
        assert!(!peer.open(Path::new("/no/such/frame")).unwrap_err().is_empty());
        assert!(!peer.read_chunk(frame, 99).unwrap_err().is_empty());
        assert!(peer.read_chunks(frame).unwrap() == chunks);
        peer.close(frame).unwrap();
        assert!(peer.read_chunks(frame).unwrap_err().contains("no super-chunk"));
    }
}

#[cfg(unix)]
#[test]
fn a_peer_that_died_is_started_again() {
    let mut peer = FramePeer::spawn(PeerKind::Blosc2);
    let (frame, _) = filled(&mut peer, &FrameParams::new(4, 4000));
    let id = peer.process_id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-SEGV", &id]).status().unwrap().success());
    let words = peer.read_chunks(frame).unwrap_err();
    assert!(words.contains("ended") && words.contains("11"), "{words}");
    assert!(peer.read_chunks(frame).unwrap_err().contains("no super-chunk"));
    let (again, chunks) = filled(&mut peer, &FrameParams::new(4, 4000));
    assert_ne!(again, frame);
    assert!(peer.read_chunks(again).unwrap() == chunks);
}
