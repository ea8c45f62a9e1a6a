//! The 13-element dialect of early 2021, written and read; limits that the formats set.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use superchunk::frame::{Dialect, Kind, Opener, Step};
use superchunk::{
    CompressOptions, ErrorKind, Filter, FrameOptions, OpenOptions, SuperChunk, Value, chunk,
};
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;

fn old(item_size: usize) -> FrameOptions {
    let compress = CompressOptions::new(item_size).with_filters([Filter::Delta, Filter::Shuffle]);
    FrameOptions::new(compress).with_chunk_size(4000).with_dialect(Dialect::Elements13)
}

/// The fields of the document of 2021, read by hand.
#[test]
fn the_old_header_has_its_thirteen_elements() {
    let scratch = Scratch::new();
    let path = scratch.path("old.b2frame");
    let data = mixed(10_000, 4, 1);
    let mut frame =
        SuperChunk::create(&path, &old(4).with_metalayer("m", b"meta".as_slice())).unwrap();
    frame.append(&data).unwrap();
    frame.set_attribute_bytes("usermeta", b"user bytes").unwrap();
    frame.close().unwrap();

    let bytes = std::fs::read(&path).unwrap();
    let int = |at: usize, len: usize| {
        bytes[at..at + len].iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte))
    };
    assert_eq!(bytes[0], 0x9d);
    assert_eq!(&bytes[2..10], b"b2frame\0");
    assert_eq!(int(16, 8), bytes.len() as u64);
    assert_eq!(bytes[25], 0x11, "version 1, 64-bit offsets, chunks of one size");
    assert_eq!((int(30, 8), int(48, 4), int(53, 4)), (10_000, 4, 4000));
    assert_eq!(bytes[63], 0xc3, "has_usermeta");
    assert_eq!(&bytes[65..74], [2, 3, 1, 0, 0, 0, 0, 0, 0], "two of eight filters");
    let header_len = usize::try_from(int(11, 4)).unwrap();
    let index_at = header_len + usize::try_from(int(39, 8)).unwrap();
    let index = chunk::decompress(&bytes[index_at..]).unwrap();
    let mut found = Vec::new();
    for offset in index.as_chunks::<8>().0 {
        let at = header_len + usize::try_from(u64::from_le_bytes(*offset)).unwrap();
        found.extend(chunk::decompress(&bytes[at..]).unwrap());
    }
    assert_eq!(found, data);
    let index_len = chunk::Header::parse(&bytes[index_at..]).unwrap().compressed_len();
    let trailer = &bytes[index_at + index_len..];
    assert_eq!(trailer[..3], [0x94, 1, 0xc6]);
    assert_eq!(chunk::decompress(&trailer[7..]).unwrap(), b"user bytes");
}

#[test]
fn old_frames_can_be_changed_and_copied_to_new_ones() {
    let scratch = Scratch::new();
    let path = scratch.path("old.b2frame");
    let data = mixed(10_000, 4, 2);
    let mut frame = SuperChunk::create(&path, &old(4)).unwrap();
    frame.append(&data).unwrap();
    frame.close().unwrap();
    let mut frame = SuperChunk::edit(&path).unwrap();
    frame.append(&data).unwrap();
    frame.set_attribute_bytes("usermeta", b"first").unwrap();
    frame.commit().unwrap();
    frame.set_attribute_bytes("other", b"no place").unwrap();
    assert_eq!(frame.commit().unwrap_err().kind(), ErrorKind::Unsupported);
    frame.remove_attribute("other").unwrap();
    frame.close().unwrap();

    let frame = SuperChunk::open(&path).unwrap();
    assert_eq!(frame.to_vec().unwrap(), [data.clone(), data.clone()].concat());
    assert_eq!(frame.attribute_bytes("usermeta").unwrap(), b"first");
    assert_eq!(frame.options().filters, [Filter::Delta, Filter::Shuffle]);
    let new = scratch.path("new.b2frame");
    frame.copy_to(&new, &frame.frame_options()).unwrap().close().unwrap();
    assert_eq!(dialect_of(&std::fs::read(&new).unwrap()), Dialect::Modern);
    let new = SuperChunk::open(&new).unwrap();
    assert_eq!(new.to_vec().unwrap(), [data.clone(), data].concat());
    let mut old_again = Vec::new();
    new.write_dialect(Dialect::Elements13, &mut old_again).unwrap();
    assert_eq!(dialect_of(&old_again), Dialect::Elements13);
    assert_eq!(
        SuperChunk::from_bytes(old_again).unwrap().attribute_bytes("usermeta").unwrap(),
        b"first"
    );
}

fn dialect_of(bytes: &[u8]) -> Dialect {
    let mut opener = Opener::new(Kind::Contiguous, bytes.len() as u64);
    loop {
        match opener.step().unwrap() {
            Step::Done(frame) => return frame.dialect(),
            Step::Need(range) => {
                let range =
                    usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
                opener.supply(bytes[range].to_vec());
            }
        }
    }
}

#[test]
fn what_the_format_cannot_hold_is_refused_and_changes_nothing() {
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(400);
    let mut frame = SuperChunk::in_memory(&options).unwrap();
    frame.append(&[7; 1000]).unwrap();
    for number in 0..16 {
        frame.set_metalayer(&format!("m{number}"), b"").unwrap();
        frame.set_attribute(&format!("v{number}"), Value::from(number)).unwrap();
    }
    assert_eq!(frame.set_metalayer("m16", b"").unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(frame.set_attribute_bytes("v16", b"").unwrap_err().kind(), ErrorKind::LimitExceeded);
    for name in ["", "a\0b", &"x".repeat(32)] {
        let error = frame.set_attribute_bytes(name, b"").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{name:?}");
    }
    let empty = chunk::compress(&[], &CompressOptions::new(4)).unwrap();
    assert_eq!(frame.append_chunk(&empty).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(frame.delete_chunk(3).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(!frame.remove_attribute("v99").unwrap());
    assert_eq!(frame.write_items(249, &[0u32; 2]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(frame.reorder(&[0, 0, 1]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let blocks = [b"one".as_slice(), b"two"];
    assert_eq!(frame.append_blocks(&blocks).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(frame.to_vec().unwrap(), [7; 1000]);
    let back = SuperChunk::from_bytes(frame.to_bytes().unwrap()).unwrap();
    assert_eq!(back.attribute("v3").unwrap(), Value::from(3));
    let odd = options.clone().with_chunk_size(401);
    assert_eq!(SuperChunk::in_memory(&odd).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn one_call_takes_more_than_two_gigabytes() {
    let mut data = vec![0u8; (2 << 30) + 4096];
    let last = data.len() - 1;
    (data[1 << 30], data[last]) = (1, 2);
    let options = FrameOptions::new(CompressOptions::new(8)).with_chunk_size(1 << 26);
    let mut frame = SuperChunk::in_memory(&options).unwrap();
    frame.append(&data).unwrap();
    assert_eq!(frame.chunk_count(), 33);
    for (position, expected) in [(1u64 << 30, 1), (last as u64, 2), (last as u64 - 1, 0)] {
        let mut byte = [9];
        frame.read_bytes(position..position + 1, &mut byte).unwrap();
        assert_eq!(byte, [expected]);
    }
}

#[test]
fn a_frame_inside_of_a_file_is_found_at_its_offset() {
    let scratch = Scratch::new();
    let path = scratch.path("archive.bin");
    let options = FrameOptions::new(CompressOptions::new(1)).with_chunk_size(1000);
    let mut frame = SuperChunk::in_memory(&options).unwrap();
    frame.append(&mixed(5000, 1, 3)).unwrap();
    let inner = frame.to_bytes().unwrap();
    std::fs::write(&path, [b"before", inner.as_slice(), b"behind"].concat()).unwrap();
    let at = OpenOptions::new().with_offset(6);
    assert_eq!(SuperChunk::open_with(&path, &at).unwrap().to_vec().unwrap(), mixed(5000, 1, 3));
    // What follows the frame may be somebody's.
    assert_eq!(SuperChunk::edit_with(&path, &at).unwrap_err().kind(), ErrorKind::InvalidArgument);
    std::fs::write(&path, [b"before", inner.as_slice()].concat()).unwrap();
    let mut edited = SuperChunk::edit_with(&path, &at).unwrap();
    edited.append(b"more").unwrap();
    edited.close().unwrap();
    assert_eq!(SuperChunk::open_with(&path, &at).unwrap().byte_len(), 5004);
    assert!(std::fs::read(&path).unwrap().starts_with(b"before"));
}
