//! Frames that libzstd made with dictionaries, cut, damaged, and without them.

use alloc::vec;
use alloc::vec::Vec;

use super::vectors::{
    DICTIONARY, PIECES, TEXT_BY_DICTIONARY, TEXT_BY_DICTIONARY_HARD, bytes_of, pieces, text,
};
use super::{Decoder, Dictionary};
use crate::Wanted;

/// Dictionary, frame and content.
fn vectors() -> Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    vec![
        (bytes_of(DICTIONARY), bytes_of(TEXT_BY_DICTIONARY), text(1200, 7)),
        (bytes_of(DICTIONARY), bytes_of(TEXT_BY_DICTIONARY_HARD), text(1200, 7)),
        (text(600, 21), bytes_of(PIECES), pieces()),
    ]
}

fn decode(
    decoder: &mut Decoder,
    dictionary: &Dictionary,
    src: &[u8],
    len: usize,
) -> Result<Vec<u8>, &'static str> {
    let mut dst = vec![0xA5; len];
    let outcome = decoder.decompress_wanted_with(dictionary, src, &mut dst, &Wanted::range(0..len));
    outcome.map(|()| dst).map_err(|error| error.reason)
}

#[test]
fn frames_of_libzstd_are_decoded_with_their_dictionaries() {
    let mut decoder = Decoder::default();
    for (dictionary, frame, plain) in vectors() {
        let dictionary = Dictionary::parse(&dictionary).unwrap();
        assert_eq!(decode(&mut decoder, &dictionary, &frame, plain.len()), Ok(plain));
    }
}

#[test]
fn a_part_is_that_of_the_whole() {
    let mut decoder = Decoder::default();
    for (dictionary, frame, plain) in vectors() {
        let dictionary = Dictionary::parse(&dictionary).unwrap();
        for end in [0, 1, 300, 700, plain.len()] {
            let mut dst = vec![0; plain.len()];
            let wanted = Wanted::range(0..end);
            let outcome = decoder.decompress_wanted_with(&dictionary, &frame, &mut dst, &wanted);
            assert_eq!((outcome, &dst[..end]), (Ok(()), &plain[..end]));
        }
    }
}

#[test]
fn a_frame_needs_the_dictionary_that_it_names() {
    let mut decoder = Decoder::default();
    let (frame, other) = (bytes_of(TEXT_BY_DICTIONARY), Dictionary::parse(&text(600, 21)).unwrap());
    let mut dst = [0; 1200];
    let error = decoder.decompress(&frame, &mut dst).unwrap_err();
    assert_eq!(error.reason, "zstd frame needs a dictionary");
    let wanted = Wanted { first: 1000, len: 1, step: 100, count: 2 };
    assert!(decoder.decompress_wanted(&frame, &mut dst, &wanted).is_err());
    let refused = Err("zstd frame needs another dictionary");
    assert_eq!(decode(&mut decoder, &other, &frame, 1200), refused);
    // Content alone has no number: the frame starts too early for what is there.
    let nothing = Dictionary::parse(&[]).unwrap();
    let early = Err("zstd match begins before its frame");
    assert_eq!(decode(&mut decoder, &nothing, &bytes_of(PIECES), pieces().len()), early);
}

#[test]
fn a_frame_does_not_leave_its_dictionary_to_the_next_one() {
    let (trained, frame, _) = vectors().remove(0);
    let trained = Dictionary::parse(&trained).unwrap();
    // The same frame without the number of its dictionary.
    let mut unnamed = frame.clone();
    unnamed.drain(5..9);
    unnamed[4] &= !3;
    let mut decoder = Decoder::default();
    assert!(decode(&mut decoder, &trained, &unnamed, 1200).is_ok());
    let outcome = decoder.decompress(&unnamed, &mut [0; 1200]);
    let fresh = Decoder::default().decompress(&unnamed, &mut [0; 1200]);
    assert_eq!(outcome, fresh);
    assert!(outcome.is_err());
}

#[test]
fn every_cut_and_every_flipped_bit_gives_an_error_or_bytes() {
    let mut decoder = Decoder::default();
    for (dictionary, frame, plain) in vectors() {
        let good = Dictionary::parse(&dictionary).unwrap();
        for cut in 0..frame.len() {
            assert!(decode(&mut decoder, &good, &frame[..cut], plain.len()).is_err(), "{cut}");
        }
        for bit in 0..frame.len() * 8 {
            let mut bad = frame.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let outcome = decode(&mut decoder, &good, &bad, plain.len());
            assert_eq!(outcome, decode(&mut Decoder::default(), &good, &bad, plain.len()));
        }
        for bit in 0..dictionary.len() * 8 {
            let mut bad = dictionary.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            if let Ok(bad) = Dictionary::parse(&bad) {
                let _ = decode(&mut decoder, &bad, &frame, plain.len());
            }
        }
        assert_eq!(decode(&mut decoder, &good, &frame, plain.len()), Ok(plain));
    }
}

#[test]
fn damaged_tables_of_a_dictionary_are_refused() {
    // Where the content starts, which must be as long as the largest of the recent distances: 8.
    const CONTENT: usize = 137;
    let good = bytes_of(DICTIONARY);
    for cut in 8..CONTENT + 8 {
        assert!(Dictionary::parse(&good[..cut]).is_err(), "cut at {cut}");
    }
    assert!(Dictionary::parse(&good[..CONTENT + 8]).is_ok());
    // Too short for a number, it is content; so is what starts otherwise.
    for content in [&good[..7], &good[1..]] {
        assert!(Dictionary::parse(content).is_ok());
    }
    let wrong = [0x37, 0xa4, 0x30, 0xec, 1, 0, 0, 0, 0xff, 0xff];
    assert!(Dictionary::parse(&wrong).is_err());
}
