//! Every public kernel on inputs small enough to be interpreted: `cargo xtask miri` watches each access to
//! memory here. Lengths stand around registers, and nothing is aligned on purpose.

#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use superchunk_kernels::boxes::{Rows, copy_rows, join_rows_far};
use superchunk_kernels::{Malformed, Mark, Marker, Tracer, shuffle, truncate};
use superchunk_kernels::{bitshuffle, blosclz, bytedelta, copy_far, delta, is_noise, lz4, runs};

/// Bytes that repeat now and then, from a place that is not aligned.
fn bytes(len: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut out = vec![0];
    while out.len() <= len {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [_, _, count, value] = state.to_le_bytes();
        out.extend(std::iter::repeat_n(value % 7, usize::from(count % 9)));
    }
    out.truncate(len + 1);
    out
}

/// What `work` writes into a place of `len` bytes that is not aligned, with guards on both sides.
fn written(len: usize, work: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut room = vec![0xa5; len + 6];
    work(&mut room[3..3 + len]);
    assert!(room[..3].iter().chain(&room[3 + len..]).all(|&byte| byte == 0xa5), "guards of {len}");
    room[3..3 + len].to_vec()
}

/// Fewer where each byte takes microseconds.
const LENGTHS: &[usize] =
    if cfg!(miri) { &[0, 1, 33, 130, 259] } else { &[0, 1, 15, 16, 33, 64, 130, 259, 600] };
const ITEM_SIZES: &[usize] =
    if cfg!(miri) { &[2, 3, 8, 17] } else { &[1, 2, 3, 4, 7, 8, 12, 16, 17] };

#[test]
fn shuffles_come_back() {
    for &item_size in ITEM_SIZES {
        for &len in LENGTHS {
            let src = &bytes(len, 1)[1..];
            let planes = written(len, |dst| shuffle::shuffle(item_size, src, dst));
            assert_eq!(written(len, |dst| shuffle::unshuffle(item_size, &planes, dst)), src);
            assert_eq!(written(len, |dst| shuffle::unshuffle_far(item_size, &planes, dst)), src);
            let items = len / item_size;
            let apart: Vec<&[u8]> = planes.chunks_exact(items.max(1)).take(item_size).collect();
            if items > 0 {
                let whole = items * item_size;
                let back = written(whole, |dst| shuffle::unshuffle_planes(&apart, dst));
                assert_eq!(back, src[..whole]);
                let back = written(whole, |dst| shuffle::unshuffle_planes_far(&apart, dst));
                assert_eq!(back, src[..whole]);
            }
            let bits = written(len, |dst| bitshuffle::bitshuffle(item_size, src, dst));
            assert_eq!(written(len, |dst| bitshuffle::bitunshuffle(item_size, &bits, dst)), src);
        }
    }
}

#[test]
fn differences_come_back() {
    for width in [1, 2, 3, 4, 8] {
        for &len in LENGTHS {
            let src = &bytes(len, 2)[1..];
            let first = &bytes(len / 2, 3)[1..];
            let coded = written(len, |dst| delta::encode_first(width, src, dst));
            assert_eq!(written(len, |dst| delta::decode_first(width, &coded, dst)), src);
            let coded = written(len, |dst| delta::xor_against(width, first, src, dst));
            assert_eq!(written(len, |dst| delta::xor_against(width, first, &coded, dst)), src);
            let coded = written(len, |dst| bytedelta::encode(width, src, dst));
            assert_eq!(written(len, |dst| bytedelta::decode(width, &coded, dst)), src);
            written(len, |dst| bytedelta::decode_restarting(width, &coded, dst));
            let kept = written(len, |dst| truncate::clear_low_bits(width, 0, src, dst));
            assert_eq!(kept, src);
        }
    }
}

#[test]
fn runs_noise_and_copies() {
    for &len in LENGTHS {
        let src = &bytes(len, 4)[1..];
        assert_eq!(written(len, |dst| copy_far(src, dst)), src);
        assert_eq!(runs::repeated_byte(&vec![9; len]), (len > 0).then_some(9));
        assert_eq!(runs::repeats_every(3, &[1, 2, 3].repeat(len)), len > 0);
        assert!(!is_noise(src));
    }
    assert!(!is_noise(&bytes(9000, 5)));
}

#[test]
fn rows_of_boxes_arrive() {
    let src = &bytes(1200, 8)[1..];
    for (count, len, src_step, dst_step) in [(3, 65, 70, 200), (1, 259, 0, 0), (5, 7, 64, 19)] {
        let rows = Rows { count, src_step, dst_step };
        let room = (count - 1) * dst_step + 2 * len;
        let mut expected = vec![0; room];
        for row in 0..count {
            expected[row * dst_step..][..len].copy_from_slice(&src[row * src_step..][..len]);
        }
        let copied = written(room, |dst| {
            dst.fill(0);
            copy_rows(rows, len, src, dst, [src_step, 1 << 20]);
        });
        assert_eq!(copied, expected);
        for row in 0..count {
            let from = row * src_step + 300;
            expected[row * dst_step..][len..2 * len].copy_from_slice(&src[from..from + len]);
        }
        let joined = written(room, |dst| {
            dst.fill(0);
            join_rows_far(rows, &[0..len, 300..300 + len], src, dst);
        });
        assert_eq!(joined, expected);
    }
}

#[test]
fn codecs_come_back_whole_and_in_part() {
    let (mut fast, mut high) = (lz4::Encoder::default(), lz4::HcEncoder::default());
    let mut blosc = blosclz::Encoder::default();
    for &len in LENGTHS {
        let src = &bytes(len, 6)[1..];
        let mut streams = Vec::new();
        for dict in [&[][..], &bytes(100, 7)] {
            let mut room = vec![0; len + 300];
            for way in 0..2 {
                let coded = match way {
                    0 => fast.compress(1, dict, src, &mut room),
                    _ => high.compress(9, dict, src, &mut room),
                };
                streams.extend(coded.map(|coded| (dict.to_vec(), room[..coded].to_vec())));
            }
        }
        for (dict, stream) in &streams {
            let whole = written(len, |dst| lz4::decompress(dict, stream, dst).unwrap());
            assert_eq!(whole, src);
            let part = written(len, |dst| {
                lz4::decompress_prefix(dict, stream, dst, len / 2).unwrap();
            });
            assert_eq!(part[..len / 2], src[..len / 2]);
            damage(stream, len, |stream, dst| lz4::decompress(dict, stream, dst));
        }
        let mut room = vec![0; len + 300];
        if let Some(coded) = blosc.compress(5, src, &mut room) {
            let stream = &room[..coded];
            assert_eq!(written(len, |dst| blosclz::decompress(stream, dst).unwrap()), src);
            written(len, |dst| blosclz::decompress_prefix(stream, dst, len / 2).unwrap());
            damage(stream, len, blosclz::decompress);
        }
    }
}

#[test]
fn bytes_are_found_by_marks() {
    type Fetch = fn(&mut Tracer, &[u8], &Marker, usize, &mut [u8]) -> Option<()>;
    fn before(marker: &Marker, out: usize) -> Mark {
        let mark = marker.marks().iter().rev().find(|mark| mark.out <= out);
        mark.copied().unwrap_or_default()
    }
    let of_lz4: Fetch = |tracer, stream, marker, out, dst| {
        lz4::fetch(tracer, stream, |out| before(marker, out), out, dst)
    };
    let of_blosclz: Fetch = |tracer, stream, marker, out, dst| {
        blosclz::fetch(tracer, stream, |out| before(marker, out), out, dst)
    };
    let src = &bytes(600, 9)[1..];
    let mut room = vec![0; 900];
    for way in 0..3 {
        let mut marker = Marker::default();
        marker.begin(40);
        let (coded, fetch) = match way {
            0 => {
                let mut encoder = lz4::Encoder::default();
                (encoder.compress_marked(1, false, src, &mut room, &mut marker), of_lz4)
            }
            1 => {
                let mut encoder = lz4::HcEncoder::default();
                (encoder.compress_marked(9, src, &mut room, &mut marker), of_lz4)
            }
            _ => {
                let mut encoder = blosclz::Encoder::default();
                (encoder.compress_marked(9, src, &mut room, &mut marker), of_blosclz)
            }
        };
        let stream = &room[..coded.unwrap()];
        for at in (0..src.len() - 5).step_by(37) {
            let mut tracer = Tracer::default();
            let found = written(5, |dst| fetch(&mut tracer, stream, &marker, at, dst).unwrap());
            assert_eq!(found, src[at..at + 5], "way {way} at {at}");
        }
    }
}

/// Cut and changed streams may be refused or not, but nothing outside of the output is touched.
fn damage(stream: &[u8], len: usize, decode: impl Fn(&[u8], &mut [u8]) -> Result<(), Malformed>) {
    let step = stream.len() / 8 + 1;
    let tried = |stream: &[u8]| {
        written(len, |dst| {
            let _ = decode(stream, dst);
        });
    };
    for at in (0..stream.len()).step_by(step) {
        tried(&stream[..at]);
        for value in [0, 0x1f, 0xff] {
            let mut changed = stream.to_vec();
            changed[at] = value;
            tried(&changed);
        }
    }
}
