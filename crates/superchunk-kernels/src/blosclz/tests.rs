//! Both directions against a decoder written straight from the format, on real vectors, made-up
//! data and damaged streams.

use super::{Encoder, decompress, decompress_prefix};
use alloc::vec;
use alloc::vec::Vec;

/// The definition: one byte at a time, everything checked, `None` for any stream that the reference
/// decoder rejects for an output of `capacity` bytes.
fn naive(src: &[u8], capacity: usize) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    let mut at = 0;
    while at < src.len() {
        let token = if at == 0 { src[0] & 31 } else { src[at] };
        at += 1;
        if token < 32 {
            for _ in 0..=token {
                out.push(*src.get(at)?);
                at += 1;
            }
        } else {
            let two_left = |at: usize| (at + 1 < src.len()).then_some(());
            let mut len = u64::from(token >> 5) + 2;
            if token >> 5 == 7 {
                loop {
                    two_left(at)?;
                    len += u64::from(src[at]);
                    at += 1;
                    if src[at - 1] != 255 {
                        break;
                    }
                }
            } else {
                two_left(at)?;
            }
            let mut dist = usize::from(token & 31) * 256 + usize::from(src[at]) + 1;
            at += 1;
            if dist == 8192 {
                two_left(at)?;
                dist += usize::from(src[at]) * 256 + usize::from(src[at + 1]);
                at += 2;
            }
            if out.len() as u64 + len > capacity as u64 || dist > out.len() {
                return None;
            }
            if at < src.len() {
                for _ in 0..len {
                    out.push(out[out.len() - dist]);
                }
            }
        }
        if out.len() > capacity {
            return None;
        }
    }
    (out.len() == capacity).then_some(out)
}

/// A small generator of numbers that look random (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }
}

/// Data of one of several kinds: noise, runs, few symbols, repeated stretches from near and far.
fn data(numbers: &mut Numbers, len: usize) -> Vec<u8> {
    let kind = numbers.below(5);
    let mut out: Vec<u8> = Vec::with_capacity(len + 1);
    while out.len() < len {
        match kind {
            0 => out.push(numbers.byte()),
            1 => {
                let (byte, count) = (numbers.byte() & 3, numbers.below(700));
                out.resize(out.len() + count + 1, byte);
            }
            2 => out.push(numbers.byte() & numbers.byte() & numbers.byte() & 7),
            _ => {
                if numbers.below(3) > 0 && !out.is_empty() {
                    let reach = if kind == 3 { 300 } else { 80_000 };
                    let dist = 1 + numbers.below(out.len().min(reach));
                    for _ in 0..4 + numbers.below(40) {
                        out.push(out[out.len() - dist]);
                    }
                } else {
                    for _ in 0..1 + numbers.below(50) {
                        out.push(numbers.byte());
                    }
                }
            }
        }
    }
    out.truncate(len);
    out
}

/// Decodes both ways into a buffer that must not be touched outside.
fn check(src: &[u8], capacity: usize) {
    let expected = naive(src, capacity);
    let mut buffer = vec![0xa5; capacity + 64];
    let decoded = decompress(src, &mut buffer[32..32 + capacity]);
    assert_eq!(decoded.is_ok(), expected.is_some(), "{decoded:?}, {} bytes", src.len());
    if let Some(expected) = expected {
        assert_eq!(buffer[32..32 + capacity], expected);
    }
    assert!(buffer[..32].iter().chain(&buffer[32 + capacity..]).all(|&byte| byte == 0xa5));
}

#[test]
fn decodes_the_streams_of_the_reference_encoder() {
    let zeros_then_one = [0x23, 0, 0, 0, 0, 0xe0, 0x6d, 0x03, 0x02, 0, 0, 1];
    let mut out = [9; 125];
    decompress(&zeros_then_one, &mut out).unwrap();
    assert!(out[..124].iter().all(|&byte| byte == 0) && out[124] == 1);

    let letters = b"\x27abcdefgh\xe0\x8c\x07\x02fgh";
    let mut out = [0; 160];
    decompress(letters, &mut out).unwrap();
    assert_eq!(out.as_slice(), b"abcdefgh".repeat(20));
}

#[test]
fn the_encoder_finds_what_the_reference_finds() {
    let mut zeros_then_one = [0; 1000];
    zeros_then_one[999] = 1;
    let letters = b"abcdefgh".repeat(20);
    for level in 1..=9 {
        let mut dst = [0; 1000];
        // The reference needs 12 and 16 bytes for these; ours sums up to no more.
        let len = Encoder::new().compress(level, &zeros_then_one[875..], &mut dst).unwrap();
        assert!(len <= 12, "level {level}: {len}");
        let len = Encoder::new().compress(level, &letters, &mut dst).unwrap();
        assert!(len <= 16, "level {level}: {len}");
    }
}

#[test]
fn edges_of_the_format() {
    let mut nothing = [];
    assert!(decompress(&[], &mut nothing).is_ok());
    assert!(decompress(&[], &mut [0]).is_err());
    assert!(decompress(&[0x20, 7], &mut nothing).is_err());
    let run = [0x20, 7, 0xe0, 0, 0, 0x00, 8];
    let mut out = [0; 11];
    decompress(&run, &mut out).unwrap();
    assert_eq!(out, [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8]);
    // A match is the last token: the reference does not perform it.
    assert!(decompress(&run[..5], &mut out[..10]).is_err());
    // A match that begins before the output.
    assert!(decompress(&[0x20, 7, 0x20, 1, 0x00, 8], &mut out[..5]).is_err());
    // The top bits of the first byte do not count.
    for top in 0..8 {
        let mut out = [0; 11];
        assert!(decompress(&[top << 5, 7, 0xe0, 0, 0, 0x00, 8], &mut out).is_ok());
    }
}

#[test]
fn every_short_stream_is_judged_like_the_definition() {
    const BYTES: [u8; 9] = [0x00, 0x01, 0x1f, 0x20, 0x3f, 0xc0, 0xe0, 0xfe, 0xff];
    for len in 0..6_u32 {
        for mut index in 0..BYTES.len().pow(len) {
            let mut stream = vec![0x20, 7];
            for _ in 0..len {
                stream.push(BYTES[index % BYTES.len()]);
                index /= BYTES.len();
            }
            for capacity in [1, 2, 4, 11, 40] {
                check(&stream, capacity);
            }
        }
    }
}

#[test]
fn millions_of_extension_bytes_do_not_overflow() {
    // 9 + 255 * 8_421_504 is just above 2^31.
    let mut stream = vec![0x20, 7, 0xe0];
    stream.resize(stream.len() + 8_421_504, 0xff);
    stream.extend([0, 0, 0, 1]);
    for capacity in [0, 1, 2, 100, 4096] {
        assert!(decompress(&stream, &mut vec![0; capacity]).is_err());
    }
}

#[test]
fn what_is_compressed_comes_back() {
    let mut numbers = Numbers(1);
    let mut encoder = Encoder::default();
    let mut compressed = 0;
    for round in 0..600 {
        let len = if round % 10 == 0 { numbers.below(200_000) } else { numbers.below(3000) };
        let src = data(&mut numbers, len);
        let level = 1 + u8::try_from(round % 9).unwrap();
        let mut dst = vec![0; src.len()];
        let Some(used) = encoder.compress(level, &src, &mut dst) else { continue };
        compressed += 1;
        assert!(used < src.len());
        assert!(naive(&dst[..used], src.len()).as_ref() == Some(&src), "round {round}");
        let mut back = vec![0; src.len()];
        decompress(&dst[..used], &mut back).unwrap();
        for needed in [0, back.len() / 3, back.len() / 2, back.len()] {
            let mut prefix = vec![0x5A; back.len()];
            decompress_prefix(&dst[..used], &mut prefix, needed).unwrap();
            assert_eq!(prefix[..needed], back[..needed]);
        }
        assert!(back == src, "round {round}");
        // The same input into a new encoder gives the same stream.
        let mut again = vec![0; src.len()];
        assert_eq!(Encoder::new().compress(level, &src, &mut again), Some(used));
        assert!(again[..used] == dst[..used], "round {round}");
        // Exactly the room it takes is enough, one byte less is not.
        assert_eq!(encoder.compress(level, &src, &mut again[..used]), Some(used));
        assert!(again[..used] == dst[..used], "round {round}");
        assert_eq!(encoder.compress(level, &src, &mut again[..used - 1]), None);
    }
    assert!(compressed > 200, "only {compressed} inputs were compressible");
}

#[test]
fn noise_and_tiny_inputs_are_left_alone() {
    let mut numbers = Numbers(2);
    let mut encoder = Encoder::new();
    let noise: Vec<u8> = (0..70_000).map(|_| numbers.byte()).collect();
    for level in 0..=10 {
        let mut dst = vec![0; noise.len()];
        assert_eq!(encoder.compress(level, &noise, &mut dst), None);
        for len in 0..16 {
            assert_eq!(encoder.compress(level, &[0; 16][..len], &mut dst), None);
        }
        assert_eq!(encoder.compress(level, &[0; 4096], &mut []), None);
    }
}

#[test]
fn damaged_streams_are_judged_like_the_definition() {
    let mut numbers = Numbers(3);
    let mut encoder = Encoder::new();
    let mut streams = 0;
    while streams < 40 {
        let len = 64 + numbers.below(1400);
        let src = data(&mut numbers, len);
        let mut dst = vec![0; src.len()];
        let level = 1 + u8::try_from(numbers.below(9)).unwrap();
        let Some(used) = encoder.compress(level, &src, &mut dst) else { continue };
        streams += 1;
        let stream = &mut dst[..used];
        for cut in 0..used {
            check(&stream[..cut], src.len());
        }
        for capacity in [0, src.len() - 1, src.len() + 1, src.len() + 100] {
            check(stream, capacity);
        }
        for at in 0..used {
            let kept = stream[at];
            for new in [0, 31, 32, 0xdf, 0xe0, 0xff, kept ^ 1, kept ^ 0x20, numbers.byte()] {
                stream[at] = new;
                check(stream, src.len());
            }
            stream[at] = kept;
        }
    }
}
