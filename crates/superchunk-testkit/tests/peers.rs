//! Every peer starts, answers, refuses in words, and keeps the order of many requests.

use superchunk_testkit::datasets;
use superchunk_testkit::peers::{Peer, PeerKind, PeerParams, Request};

const KINDS: [PeerKind; 4] =
    [PeerKind::Blosc2, PeerKind::Blosc2Old, PeerKind::Blosc1, PeerKind::Numcodecs];

#[test]
fn each_peer_reads_back_what_it_wrote() {
    let data = datasets::timestamps(300_000);
    for kind in KINDS {
        let mut peer = Peer::spawn(kind);
        for codec in [0, 1, 2, 4, 5] {
            let chunk = peer.compress(&data, &PeerParams { codec, ..PeerParams::new(4) }).unwrap();
            assert!(chunk.len() < data.len() / 2, "{kind:?} codec {codec}");
            assert!(peer.decompress(&chunk).unwrap() == data, "{kind:?} codec {codec}");
            match peer.items(&chunk, 4, 1000, 50) {
                Ok(items) => assert_eq!(items, &data[4000..4200], "{kind:?}"),
                Err(words) => assert!(kind == PeerKind::Blosc1 && words.contains("no getitem")),
            }
        }
    }
}

#[test]
fn many_requests_keep_their_order() {
    let mut peer = Peer::spawn(PeerKind::Blosc2);
    let data = datasets::csv(40_000);
    let params = PeerParams::new(1);
    let asked = (1..2000).map(|n| Request::Compress(params.clone(), &data[..n * 20]));
    let chunks = peer.ask_all(&asked.collect::<Vec<_>>());
    assert_eq!(chunks.len(), 1999);
    let asked = chunks.iter().map(|chunk| Request::Decompress(chunk.as_ref().unwrap()));
    let decoded = peer.ask_all(&asked.collect::<Vec<_>>());
    for (n, bytes) in (1..).zip(decoded) {
        assert!(bytes.unwrap() == data[..n * 20], "request {n}");
    }
}

#[test]
fn every_knob_reaches_the_library() {
    let mut peer = Peer::spawn(PeerKind::Blosc2);
    let data = datasets::walk(200_000);
    let params = PeerParams {
        level: 9,
        codec: 5,
        block_size: 8192,
        split: 2,
        filters: vec![(4, 246), (1, 0), (35, 8)],
        ..PeerParams::new(8)
    };
    let chunk = peer.compress(&data, &params).unwrap();
    // The header: block size at 8, filters at 16, their metas at 24; bit 4 of the flags is "not split".
    assert_eq!(chunk[8..12], 8192u32.to_le_bytes());
    assert_eq!(chunk[16..19], [4, 1, 35]);
    assert_eq!(chunk[24..27], [246, 0, 8]);
    assert_eq!(chunk[2] & 0x10, 0x10);
    let with_dictionary = PeerParams { dictionary: true, filters: vec![], ..params };
    let chunk = peer.compress(&data, &with_dictionary).unwrap();
    assert_eq!(chunk[31] & 1, 1, "the dictionary flag");
}

#[test]
fn refusals_come_in_words_and_the_peer_lives_on() {
    let data = datasets::random(4096);
    for kind in KINDS {
        let mut peer = Peer::spawn(kind);
        assert!(!peer.decompress(b"short").unwrap_err().is_empty(), "{kind:?}");
        let chunk = peer.compress(&data, &PeerParams::new(8)).unwrap();
        assert!(peer.decompress(&chunk).unwrap() == data, "{kind:?}");
    }
}
