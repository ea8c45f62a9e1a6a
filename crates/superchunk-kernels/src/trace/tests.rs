//! Every codec that has marks, through the same tests: what is found by marks is what is decoded.

use alloc::vec;
use alloc::vec::Vec;

use super::Tracer;
use crate::deflate::{self, Search};
use crate::{Mark, Marker, blosclz, inflate, lz4};

/// A small generator of numbers that look random (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) & 0xffff_ffff).unwrap()
    }

    fn byte(&mut self) -> u8 {
        (self.next() as u64).to_le_bytes()[1]
    }
}

/// Inputs of several kinds: text with words near and far, runs, small numbers, noise with copies, a mixture.
fn inputs() -> Vec<Vec<u8>> {
    let mut numbers = Numbers(7);
    let words: Vec<Vec<u8>> = (0..500)
        .map(|_| (0..3 + numbers.next() % 8).map(|_| b'a' + numbers.byte() % 26).collect())
        .collect();
    let text = (0..16_000).flat_map(|_| words[numbers.next() % 500].clone()).collect();
    let mut numbers = Numbers(8);
    let runs = (0..1500).flat_map(|_| vec![numbers.byte(); numbers.next() % 90]).collect();
    let mut numbers = Numbers(9);
    let small = (0..9000).flat_map(|_| ((numbers.next() % 1000) as u64).to_le_bytes()).collect();
    let mut numbers = Numbers(10);
    let mut copies: Vec<u8> = (0..30_000).map(|_| numbers.byte()).collect();
    for _ in 0..900 {
        let from = numbers.next() % (copies.len() - 70);
        let piece = copies[from..from + 5 + numbers.next() % 60].to_vec();
        copies.extend(piece);
        copies.push(numbers.byte());
    }
    let skewed = (0..60_000).map(|_| numbers.byte() & numbers.byte() & 63).collect();
    let inputs: Vec<Vec<u8>> = vec![text, runs, small, copies, skewed];
    let mixture = inputs.iter().flat_map(|input| &input[..20_000]).copied().collect();
    inputs.into_iter().chain([mixture, vec![], b"short".to_vec()]).collect()
}

/// A codec: encodes with marks and without, and fetches.
struct Codec {
    name: &'static str,
    /// What a byte has of places.
    places: usize,
    encode: fn(&[u8], Option<&mut Marker>) -> Option<Vec<u8>>,
    fetch: fn(&[u8], &Marker, usize, &mut [u8]) -> Option<()>,
}

fn written(src: &[u8], encode: impl FnOnce(&mut [u8]) -> Option<usize>) -> Option<Vec<u8>> {
    let mut dst = vec![0; src.len() + src.len() / 8 + 100];
    let len = encode(&mut dst)?;
    dst.truncate(len);
    Some(dst)
}

fn before(marker: &Marker, out: usize) -> Mark {
    let number = marker.marks().partition_point(|mark| mark.out <= out);
    let first = marker.inner().first().copied().unwrap_or_default();
    number.checked_sub(1).map_or(first, |last| marker.marks()[last])
}

fn fetch_lz4(stream: &[u8], marker: &Marker, out: usize, dst: &mut [u8]) -> Option<()> {
    lz4::fetch(&mut Tracer::default(), stream, |out| before(marker, out), out, dst)
}

fn fetch_zlib(stream: &[u8], marker: &Marker, out: usize, dst: &mut [u8]) -> Option<()> {
    let (mut decoder, mut tracer) = (inflate::Decoder::default(), Tracer::default());
    decoder.fetch(&mut tracer, stream, marker.inner(), |out| before(marker, out), out, dst)
}

fn deflated(search: Search, src: &[u8], marker: Option<&mut Marker>) -> Option<Vec<u8>> {
    let mut encoder = deflate::Encoder::default();
    written(src, |dst| match marker {
        Some(marker) => encoder.compress_marked(search, src, dst, marker),
        None => encoder.compress(search, src, dst),
    })
}

const CODECS: [Codec; 6] = [
    Codec {
        name: "LZ4",
        places: 1,
        encode: |src, marker| {
            written(src, |dst| match marker {
                Some(marker) => lz4::Encoder::new().compress_marked(5, false, src, dst, marker),
                None => lz4::Encoder::new().compress(5, &[], src, dst),
            })
        },
        fetch: fetch_lz4,
    },
    Codec {
        name: "LZ4 as of long inputs",
        places: 1,
        encode: |src, marker| {
            written(src, |dst| match marker {
                Some(marker) => lz4::Encoder::new().compress_marked(1, true, src, dst, marker),
                None => lz4::Encoder::new().compress_as_long(1, &[], src, dst),
            })
        },
        fetch: fetch_lz4,
    },
    Codec {
        name: "LZ4HC",
        places: 1,
        encode: |src, marker| {
            written(src, |dst| match marker {
                Some(marker) => lz4::HcEncoder::new().compress_marked(9, src, dst, marker),
                None => lz4::HcEncoder::new().compress(9, &[], src, dst),
            })
        },
        fetch: fetch_lz4,
    },
    Codec {
        name: "BloscLZ",
        places: 1,
        encode: |src, marker| {
            written(src, |dst| match marker {
                Some(marker) => blosclz::Encoder::new().compress_marked(9, src, dst, marker),
                None => blosclz::Encoder::new().compress(9, src, dst),
            })
        },
        fetch: |stream, marker, out, dst| {
            blosclz::fetch(&mut Tracer::default(), stream, |out| before(marker, out), out, dst)
        },
    },
    Codec {
        name: "Zlib",
        places: 8,
        encode: |src, marker| deflated(Search::Brisk, src, marker),
        fetch: fetch_zlib,
    },
    Codec {
        name: "Zlib with codes alone",
        places: 8,
        encode: |src, marker| deflated(Search::Runs, src, marker),
        fetch: fetch_zlib,
    },
];

#[test]
fn what_is_found_by_marks_is_what_was_encoded() {
    let mut numbers = Numbers(1);
    for Codec { name, places, encode, fetch } in CODECS {
        let (mut found, mut asked) = (0, 0);
        for input in inputs() {
            let mut marker = Marker::default();
            marker.begin(300 * places);
            let marked = encode(&input, Some(&mut marker));
            assert_eq!(marked, encode(&input, None), "{name}: marks must not change the stream");
            let Some(stream) = marked.filter(|_| !input.is_empty()) else { continue };
            assert!(marker.marks().is_sorted_by(|a, b| a.at < b.at && a.out <= b.out), "{name}");
            let mut places: Vec<usize> = (0..200).map(|_| numbers.next() % input.len()).collect();
            places.extend([0, input.len() - 1]);
            for at in places {
                let mut piece = vec![0; (1 + numbers.next() % 9).min(input.len() - at)];
                asked += 1;
                if fetch(&stream, &marker, at, &mut piece).is_some() {
                    assert!(piece == input[at..at + piece.len()], "{name} at {at}");
                    found += 1;
                }
            }
        }
        assert!(found * 10 > asked * 9, "{name}: {found} of {asked}");
    }
}

#[test]
fn zlib_streams_of_any_encoder_are_marked_as_our_own() {
    for input in inputs() {
        for search in [Search::Runs, Search::Quick, Search::Brisk] {
            let (mut own, mut read) = (Marker::default(), Marker::default());
            own.begin(4000);
            read.begin(4000);
            let stream = deflated(search, &input, Some(&mut own)).unwrap();
            inflate::Decoder::default().mark(&stream, &mut read).unwrap();
            assert_eq!(own.inner(), read.inner(), "{search:?}");
            // Our own are those of whole units, so that they may come some symbols later.
            for mark in own.marks() {
                let mut all = Marker::default();
                all.begin(1);
                inflate::Decoder::default().mark(&stream, &mut all).unwrap();
                assert!(all.marks().contains(mark), "{search:?} {mark:?}");
            }
            assert!(own.marks().len() <= read.marks().len());
        }
    }
}

#[test]
fn damage_and_lies_are_survived() {
    let mut numbers = Numbers(2);
    for Codec { name, places, encode, fetch } in CODECS {
        for input in inputs().into_iter().filter(|input| input.len() > 1000) {
            let mut marker = Marker::default();
            marker.begin(500 * places);
            let Some(mut stream) = encode(&input, Some(&mut marker)) else { continue };
            let len = stream.len();
            for _ in 0..100 {
                stream[numbers.next() % len] ^= numbers.byte();
                let mut piece = [0; 8];
                let _ = fetch(&stream, &marker, numbers.next() % (2 * input.len()), &mut piece);
                let _ = fetch(&stream[..numbers.next() % len], &marker, 5, &mut piece);
                let mut wrong = Marker::default();
                wrong.begin(1);
                for _ in 0..5 {
                    let (at, out) = (numbers.next() % (9 * len), numbers.next() % input.len());
                    wrong.note(Mark { at, out }, 1, 1, 1);
                    wrong.note_inner(Mark { at, out: 0 });
                }
                let _ = fetch(&stream, &wrong, numbers.next() % input.len(), &mut piece);
            }
            // Nothing hangs, panics or reads elsewhere.
            assert!(stream.len() == len, "{name}");
        }
    }
}
