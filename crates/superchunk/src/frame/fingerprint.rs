//! The fingerprint of a frame, where C-Blosc2 ignores it: the last 17 bytes of the trailer.
//!
//! ```text
//! ┌────┬──────────────────┐
//! │ 03 │ XXH3-128         │
//! └────┴──────────────────┘
//! ```
//!
//! It covers header, index and trailer, with its own 16 bytes as zeros. C-Blosc2 resets
//! it with every change but one: when it gives a metalayer other bytes, it writes the header alone.
//! What tells such a change from damage is the [seal](super::seal).

use twox_hash::XxHash3_128;

/// The type of fingerprints with 128 bits; the only one that we know how it was made.
const BITS_128: u8 = 3;
/// Where the fingerprint begins, from the end of the frame.
pub(super) const STORED: usize = 17;
/// The last bytes of a trailer while its hashes are made.
pub(super) const BLANK: [u8; STORED] = [BITS_128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// The hash of header, index and trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// A stored fingerprint of a known type.
    pub(super) fn parse(kind: u8, bytes: [u8; 16]) -> Option<Self> {
        (kind == BITS_128).then_some(Self(bytes))
    }

    /// The last 17 bytes of a frame.
    pub(super) fn stored(fingerprint: Option<Self>) -> [u8; STORED] {
        let mut out = [0; STORED];
        if let Some(Self(bytes)) = fingerprint {
            let mut source = std::iter::once(BITS_128).chain(bytes);
            out.fill_with(|| source.next().unwrap_or(0));
        }
        out
    }

    /// The fingerprint of `header`, and of `tail`: the index and, last, the trailer.
    pub(super) fn of(header: &[u8], tail: &[u8]) -> Self {
        let mut hash = XxHash3_128::new();
        hash.write(header);
        hash.write(without_stored(tail));
        hash.write(&BLANK);
        Self(hash.finish_128().to_be_bytes())
    }
}

/// Index and trailer without the fingerprint at their end.
pub(super) fn without_stored(tail: &[u8]) -> &[u8] {
    tail.split_last_chunk::<STORED>().map_or(&[], |(rest, _)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The empty frame of `docs/formats/cframe.md`.
    #[test]
    fn the_fingerprint_is_that_of_the_document() {
        let header = "9ea862326672616d6500d200000061cf0000000000000084a412005102d30000000000000000\
                      d30000000000000000d200000004d200000000d2ffffffffd10001d10001c2d8060000000000\
                      010100000000000000000093cd0007de0000dc0000";
        let trailer = "940193cd0006de0000dc0000ce00000023d803";
        let digits = |text: &str| -> Vec<u8> {
            let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
            digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
        };
        let (header, mut trailer) = (digits(header), digits(trailer));
        assert_eq!((header.len(), trailer.len()), (97, 19));
        trailer.extend([0; 16]);
        let expected = digits("66cc8098767394917e5c521ace70f007");
        assert_eq!(Fingerprint::of(&header, &trailer).0.to_vec(), expected);
    }
}
