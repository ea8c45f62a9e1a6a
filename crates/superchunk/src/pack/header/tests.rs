//! Headers, byte by byte.

use super::*;
use crate::error::ErrorKind;

/// The worked example of the format's description: three chunks, room for thirty more, metadata.
const THREE: [u8; LEN] = [
    0x62, 0x6C, 0x70, 0x6B, 3, 3, 1, 4, 0, 0x10, 0, 0, 0x10, 7, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 30,
    0, 0, 0, 0, 0, 0, 0,
];

fn with(changes: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = THREE.to_vec();
    for (at, new) in changes {
        bytes[*at..*at + new.len()].copy_from_slice(new);
    }
    bytes
}

#[test]
fn a_header_of_version_3_is_read_and_written_alike() {
    let header = PackHeader::parse(&THREE).unwrap();
    assert_eq!((header.version, header.checksum, header.item_size), (3, Checksum::Adler32, 4));
    assert_eq!((header.chunk_size, header.last_chunk), (Some(4096), Some(1808)));
    assert_eq!((header.chunk_count, header.append_slots, header.table_slots()), (Some(3), 30, 33));
    assert!(header.offsets && header.metadata && !header.varlen);
    assert_eq!(header.to_bytes(), THREE);
    for len in 0..LEN {
        let kind = PackHeader::parse(&THREE[..len]).unwrap_err().kind();
        assert_eq!(kind, ErrorKind::Truncated, "{len} bytes");
    }
}

#[test]
fn version_1_has_sixteen_bytes() {
    let header = PackHeader::parse(b"blpk\x01\0\0\0\x03\0\0\0\0\0\0\0").unwrap();
    assert_eq!((header.chunk_count, header.stored_len()), (Some(3), 16));
    assert_eq!(
        PackHeader::parse(b"blpk\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff").unwrap().chunk_count,
        None
    );
    assert!(PackHeader::parse(b"blpk\x01\0\0\x01\x03\0\0\0\0\0\0\0").is_err());
}

#[test]
fn version_2_may_end_in_a_longer_chunk_and_has_nothing_behind_the_count() {
    let two: &[(usize, &[u8])] = &[(4, &[2, 1]), (24, &[0]), (8, &[0, 0]), (12, &[9, 0])];
    let header = PackHeader::parse(&with(two)).unwrap();
    assert_eq!((header.chunk_size, header.last_chunk), (Some(0), Some(9)));
    for change in [(5, &[3][..]), (24, &[1]), (31, &[1])] {
        let bytes = with(&[two, &[change]].concat());
        assert_eq!(PackHeader::parse(&bytes).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn the_proposal_has_the_size_of_its_metadata_instead_of_slots() {
    let unknown = [0xff; 4];
    for version in [3, 4] {
        let bytes = with(&[(4, &[version, 7]), (8, &unknown), (24, &[43])]);
        let header = PackHeader::parse(&bytes).unwrap();
        assert_eq!((header.meta_size, header.table_slots()), (43, 3));
        assert_eq!(header.to_bytes(), bytes[..]);
    }
    for changes in [
        &[(4, &[4, 6][..])][..],   // no offsets
        &[(28, &[1][..])],         // the reserved word
        &[(24, &[0][..])],         // metadata of no size
        &[(4, &[4, 5][..])],       // a size without metadata
        &[(8, &[0, 1, 0, 0][..])], // a size of chunks
        &[(16, &[0xff; 8][..])],   // an unknown number
    ] {
        let base: &[(usize, &[u8])] = &[(4, &[4, 7]), (8, &unknown), (24, &[43])];
        let error = PackHeader::parse(&with(&[base, changes].concat())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{changes:?}");
    }
}

#[test]
fn contradictions_are_refused() {
    for (changes, field) in [
        (&[(0, &b"blpx"[..])][..], "magic"),
        (&[(5, &[0x80][..])], "options"),
        (&[(6, &[9][..])], "checksum"),
        (&[(8, &[0xfe, 0xff, 0xff, 0xff][..])], "chunk_size"),
        (&[(8, &[0xf0, 0xff, 0xff, 0x7f][..])], "chunk_size"),
        (&[(8, &[100, 0][..])], "last_chunk"),
        (&[(16, &[0xff; 8][..])], "nchunks"),
        (&[(16, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..])], "nchunks"),
        (&[(5, &[2][..]), (16, &[0xff; 8])], "max_app_chunks"),
        (&[(24, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f][..])], "max_app_chunks"),
    ] {
        let error = PackHeader::parse(&with(changes)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(error.place().unwrap().field, field);
    }
    let future = PackHeader::parse(&with(&[(4, &[5])])).unwrap_err();
    assert_eq!(future.kind(), ErrorKind::Unsupported);
    let texture = PackHeader::parse(&with(&[(0, b"BLP2")])).unwrap_err();
    assert_eq!(texture.kind(), ErrorKind::Unsupported);
    assert!(texture.message().contains("Blizzard"));
}
