//! Frames whose index has entries of 32, 128 or 256 bits: read, verified, salvaged, and written with
//! 64 bits by the first commit.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use superchunk::frame::{Dialect, Kind};
use superchunk::salvage::{self, ChunkOrder};
use superchunk::store::Bytes;
use superchunk::verify::{self, VerifyOptions};
use superchunk::{
    CompressOptions, Error, ErrorKind, FrameOptions, Limits, OpenOptions, SuperChunk,
};
use superchunk_testkit::entry_widths::{entries, stored, with_index, with_width};
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::vectors::{family, sha256_hex};

/// The codes of the widths other than 64 bits.
const CODES: [u8; 3] = [0, 2, 3];

fn options() -> FrameOptions {
    FrameOptions::new(CompressOptions::new(4)).with_chunk_size(4000).with_checksums(false)
}

/// Chunks of numbers, one of zeros among them, and a short one at the end.
fn data() -> Vec<u8> {
    [mixed(8000, 4, 1), vec![0; 4000], mixed(5000, 4, 2)].concat()
}

/// A frame of [`data`]; returns the file that holds its index, too.
fn write(path: &Path, options: &FrameOptions) -> PathBuf {
    let mut frame = SuperChunk::create(path, options).unwrap();
    frame.append(&data()).unwrap();
    frame.close().unwrap();
    if path.is_dir() { path.join("chunks.b2frame") } else { path.to_owned() }
}

#[test]
fn every_width_is_read_and_becomes_64_bits_with_the_first_commit() {
    let kinds = [
        options(),
        options().with_kind(Kind::Sparse),
        options().with_dialect(Dialect::Elements13),
        options().with_variable_chunks(),
    ];
    for (number, options) in kinds.iter().enumerate() {
        for code in CODES {
            let scratch = Scratch::new();
            let path = scratch.path("frame");
            let index = write(&path, options);
            let narrow = std::fs::read(&index).unwrap();
            std::fs::write(&index, with_width(&narrow, code)).unwrap();
            let told = format!("kind {number}, width {code}");

            let frame = SuperChunk::open(&path).unwrap();
            assert_eq!(frame.index_entry_bits(), Some(32 << code), "{told}");
            assert_eq!(frame.to_vec().unwrap(), data(), "{told}");
            let report = verify::path(&path, &VerifyOptions::new()).unwrap();
            assert!(report.is_good() && report.is_complete(), "{told}");

            let mut frame = SuperChunk::edit(&path).unwrap();
            frame.append(&data()).unwrap();
            frame.commit().unwrap();
            assert_eq!(frame.index_entry_bits(), Some(64), "{told}");
            frame.close().unwrap();
            let bytes = std::fs::read(&index).unwrap();
            assert_eq!(bytes[25] & 0x30, 0x10, "{told}");
            let frame = SuperChunk::open(&path).unwrap();
            assert_eq!(entries(&bytes).len(), frame.chunk_count(), "{told}");
            assert_eq!(frame.to_vec().unwrap(), [data(), data()].concat(), "{told}");
        }
    }
}

#[test]
fn frames_of_other_programs_are_the_same_in_every_width() {
    let mut count = 0;
    for vector in family("frame") {
        let Ok(frame) = std::fs::read(&vector.path) else { continue };
        let whole =
            vector.integer(&["offset"]).is_none() && frame.starts_with(b"\x9e\xa8b2frame\0");
        let Ok(read) = SuperChunk::from_bytes(frame.clone()) else { continue };
        if !whole || read.is_empty() {
            continue;
        }
        let digest = sha256_hex(&read.to_vec().unwrap());
        for code in CODES {
            let wide = SuperChunk::from_bytes(with_width(&frame, code)).unwrap();
            assert_eq!(sha256_hex(&wide.to_vec().unwrap()), digest, "{}, {code}", vector.name());
        }
        count += 1;
    }
    assert!(count >= 20, "only {count} frames were found");
}

/// Every known writer stores 64 bits, whatever it states.
#[test]
fn entries_of_64_bits_are_read_under_any_flag() {
    for options in [options(), options().with_variable_chunks()] {
        let frame = bytes_of(&options);
        for code in CODES {
            let entries = stored(&entries(&frame), 8);
            let frame = SuperChunk::from_bytes(with_index(&frame, &entries, 8, code)).unwrap();
            assert_eq!(frame.index_entry_bits(), Some(64));
            assert_eq!(frame.to_vec().unwrap(), data());
        }
    }
}

fn bytes_of(options: &FrameOptions) -> Vec<u8> {
    let mut frame = SuperChunk::in_memory(options).unwrap();
    frame.append(&data()).unwrap();
    frame.to_bytes().unwrap()
}

fn refusal(frame: Vec<u8>) -> Error {
    let error = SuperChunk::from_bytes(frame).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    error
}

#[test]
fn indexes_that_contradict_the_header_are_refused() {
    let fixed = bytes_of(&options());
    let variable = bytes_of(&options().with_variable_chunks());
    let of = |frame: &[u8], len: usize| stored(&entries(frame), len);
    let cases = [
        (with_index(&fixed, &of(&fixed, 4), 4, 1), "entries have 32 bits, the header states 64"),
        (with_index(&fixed, &of(&fixed, 16), 16, 0), "entries have 128 bits, the header states 32"),
        (with_index(&variable, &of(&variable, 4), 4, 2), "have 32 bits, the header states 128"),
        (with_index(&fixed, &of(&fixed, 4)[1..], 4, 0), "19 bytes are not 5 entries of 32, 64"),
        (with_index(&fixed, &of(&fixed, 4)[4..], 4, 0), "16 bytes are not 5 entries of 32, 64"),
        (with_index(&variable, &of(&variable, 4)[1..], 4, 0), "are not whole entries of 32 bits"),
    ];
    for (frame, expected) in cases {
        let error = refusal(frame).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let frame = bytes_of(&options());
    let entries = stored(&entries(&frame), 32);
    // Bit 63 of the second entry, and a bit of a run below its mark.
    for at in [32 + 7, 2 * 32 + 20] {
        let mut wide = entries.clone();
        wide[at] |= 0x80;
        let error = refusal(with_index(&frame, &wide, 32, 3)).to_string();
        let expected = format!("entry {} has 256 bits, and its value needs more than 63", at / 32);
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn an_index_of_any_width_is_salvaged_in_its_order() {
    for code in CODES {
        let mut frame = with_width(&bytes_of(&options()), code);
        // The index is not where the header says: it is found by its trailer.
        frame[45] ^= 1;
        assert!(SuperChunk::from_bytes(frame.clone()).is_err());
        let (store, limits) = (Bytes::new(frame), Limits::default());
        let (saved, report) = salvage::frame(&store, &mut SuperChunk::in_memory, &limits).unwrap();
        assert_eq!(report.order, ChunkOrder::FoundIndex, "{code}");
        assert_eq!(saved.to_vec().unwrap(), data(), "{code}");
    }
}

#[test]
fn the_limit_counts_entries_as_they_are_kept() {
    let mut frame = SuperChunk::in_memory(&options()).unwrap();
    frame.append(&vec![0; 1000 * 4000]).unwrap();
    let frame = with_width(&frame.to_bytes().unwrap(), 0);
    let open = |max_metadata| {
        let limits = Limits::default().with_max_metadata(max_metadata);
        SuperChunk::open_store(
            Arc::new(Bytes::new(frame.clone())),
            &OpenOptions::new().with_limits(limits),
        )
    };
    // 1000 entries of 4 bytes, which become entries of 8.
    assert_eq!(open(7999).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(open(8000).unwrap().chunk_count(), 1000);
}
