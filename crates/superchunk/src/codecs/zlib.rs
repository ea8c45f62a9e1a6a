//! Zlib streams (RFC 1950): the two-byte header `78 ..`, DEFLATE blocks, a big-endian Adler-32.
//!
//! Streams are decoded by a kernel. There are two encoders: that of zlib-rs writes the bytes of zlib-ng, so that a level
//! never takes more space than in C-Blosc2; the kernel is 1.85 times as fast as level 5 in the mean, and
//! mostly takes no more space. Level 1 is the kernel's alone, which is faster and shorter there; at the others, which one
//! is for a stream is found out, see [`super::Light`]. All keep their state between
//! streams, since allocating and clearing it costs more than a short stream. A stream always is one whole buffer here, so
//! each direction is a single call that must finish.

use superchunk_kernels::deflate::{self, Search};
use superchunk_kernels::{Malformed, Mark, Marker, Tracer, inflate};
use zlib_rs::{Deflate, DeflateFlush, Status};

/// Base-2 logarithm of the window, the largest that the format knows.
const WINDOW_BITS: u8 = 15;

/// Zlib encoders and a decoder; what each needs is created when first used.
#[derive(Default)]
pub(crate) struct Zlib {
    encoder: Option<Encoder>,
    kernel: deflate::Encoder,
    decoder: inflate::Decoder,
    /// The blocks of a stream of which a few bytes are looked for.
    blocks: Vec<Mark>,
}

/// The encoder's state, and the level it is set to.
struct Encoder {
    level: u8,
    deflate: Deflate,
}

impl Zlib {
    /// A codec that has not allocated anything yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Compresses `src` as one stream into `dst` and gives its length.
    ///
    /// `None` means that the stream does not fit `dst`, which then holds a part of it. Levels go
    /// from 0 to 9; higher ones count as 9.
    pub(crate) fn compress(&mut self, level: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let deflate = self.encoder_at(level.min(9))?;
        match deflate.compress(src, dst, DeflateFlush::Finish) {
            Ok(Status::StreamEnd) => usize::try_from(deflate.total_out()).ok(),
            _ => None,
        }
    }

    /// The same by the kernel, which has places of the stream marked.
    pub(crate) fn compress_lightly(
        &mut self,
        search: Search,
        src: &[u8],
        dst: &mut [u8],
        marker: Option<&mut Marker>,
    ) -> Option<usize> {
        match marker {
            Some(marker) => self.kernel.compress_marked(search, src, dst, marker),
            None => self.kernel.compress(search, src, dst),
        }
    }

    /// Notes in `marker` where the blocks and symbols of a stream begin; `None` if it is damaged.
    pub(crate) fn mark(&mut self, src: &[u8], marker: &mut Marker) -> Option<()> {
        self.decoder.mark(src, marker)
    }

    /// Expands the stream at the start of `src`, which must fill `dst` exactly; bytes after the
    /// end of the stream are left alone.
    pub(crate) fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<(), Malformed> {
        self.decoder.decompress(src, dst)
    }

    /// Expands several streams, each as [`Zlib::decompress_prefix`] does. False when one of them is wrong.
    pub(crate) fn decompress_all<'a>(
        &mut self,
        streams: impl Iterator<Item = (&'a [u8], &'a mut [u8])>,
        needed: usize,
    ) -> bool {
        self.decoder.decompress_all(streams, needed)
    }

    /// Expands at least the first `needed` bytes of a stream that fills `dst`; what follows them is
    /// unspecified and unchecked.
    pub(crate) fn decompress_prefix(
        &mut self,
        src: &[u8],
        dst: &mut [u8],
        needed: usize,
    ) -> Result<(), Malformed> {
        self.decoder.decompress_prefix(src, dst, needed)
    }

    /// Fills `dst` with what a stream decodes to from byte `out` on, by its marks; `None` if that is not to be done.
    pub(crate) fn fetch(
        &mut self,
        tracer: &mut Tracer,
        src: &[u8],
        (blocks, before): (impl Iterator<Item = Mark>, impl Fn(usize) -> Mark),
        out: usize,
        dst: &mut [u8],
    ) -> Option<()> {
        self.blocks.clear();
        self.blocks.extend(blocks);
        self.decoder.fetch(tracer, src, &self.blocks, before, out, dst)
    }

    /// The encoder, ready for a new stream at `level`.
    fn encoder_at(&mut self, level: u8) -> Option<&mut Deflate> {
        let encoder = self.encoder.get_or_insert_with(|| Encoder {
            level,
            deflate: Deflate::new(i32::from(level), true, WINDOW_BITS),
        });
        // Reset first: changing the level of a stream under way would flush it.
        encoder.deflate.reset();
        if encoder.level != level {
            encoder.deflate.set_level(i32::from(level)).ok()?;
            encoder.level = level;
            // The match finder is chosen at reset, from the level.
            encoder.deflate.reset();
        }
        Some(&mut encoder.deflate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `b"hello hello hello hello"` as classic zlib 1.2 writes it at level 6.
    const HELLO: [u8; 16] = [
        0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x27, 0x01, 0x68, 0x03, 0x08,
        0xb1,
    ];

    fn text(len: usize) -> Vec<u8> {
        let mut state = 12345_u32;
        (0..len)
            .map(|i| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if i % 7 < 4 {
                    u8::try_from(i / 512).unwrap_or(0)
                } else {
                    b'a' + (state.to_le_bytes()[3] >> 4)
                }
            })
            .collect()
    }

    #[test]
    fn round_trips_at_every_level_in_any_order() {
        let mut codec = Zlib::new();
        for len in [0, 1, 5, 300, 70_000] {
            let plain = text(len);
            let mut packed = vec![0; len + 100];
            for level in [5, 1, 9, 0, 3, 2, 8, 7, 6, 4, 1, 9] {
                let n = codec.compress(level, &plain, &mut packed).unwrap();
                assert_eq!(packed[0], 0x78);
                let mut back = vec![0xee; len];
                assert_eq!(codec.decompress(&packed[..n], &mut back), Ok(()));
                assert_eq!(back, plain, "level {level} length {len}");
            }
        }
    }

    #[test]
    fn streams_of_runs_come_back_and_do_not_depend_on_those_before() {
        let mut codec = Zlib::new();
        for len in [0, 1, 5, 300, 70_000] {
            let plain: Vec<u8> = text(len).into_iter().flat_map(|byte| [byte; 5]).collect();
            let (mut a, mut b) = (vec![0; 5 * len + 100], vec![0; 5 * len + 100]);
            let n = codec.compress_lightly(Search::Runs, &plain, &mut a, None).unwrap();
            let m = Zlib::new().compress_lightly(Search::Runs, &plain, &mut b, None).unwrap();
            assert_eq!(a[..n], b[..m]);
            let mut back = vec![0xee; plain.len()];
            assert_eq!(codec.decompress(&a[..n], &mut back), Ok(()));
            assert_eq!(back, plain, "length {len}");
            assert!(
                len < 300
                    || codec
                        .compress_lightly(Search::Runs, &plain, &mut a[..n - 1], None)
                        .is_none()
            );
        }
    }

    #[test]
    fn a_prefix_is_that_of_the_whole_and_needs_no_more_of_the_stream() {
        let mut codec = Zlib::new();
        let plain = text(70_000);
        let mut packed = vec![0; 80_000];
        let n = codec.compress(5, &plain, &mut packed).unwrap();
        let mut back = vec![0; plain.len()];
        for needed in [0, 1, 300, 30_000, 69_000, 69_999, 70_000] {
            back.fill(0xee);
            assert_eq!(codec.decompress_prefix(&packed[..n], &mut back, needed), Ok(()));
            assert_eq!(back[..needed], plain[..needed], "{needed} bytes");
        }
        assert_eq!(codec.decompress_prefix(&packed[..n / 2], &mut back, 1000), Ok(()));
        assert_eq!(back[..1000], plain[..1000]);
        assert!(codec.decompress_prefix(&packed[..n / 2], &mut back, 60_000).is_err());
        assert_eq!(codec.decompress(&packed[..n], &mut back), Ok(()));
        assert_eq!(back, plain);
    }

    #[test]
    fn a_reused_encoder_writes_the_bytes_of_a_fresh_one() {
        let mut reused = Zlib::new();
        let plain = text(50_000);
        for level in [1, 9, 2, 0, 5, 6, 3, 1] {
            let mut a = vec![0; 60_000];
            let mut b = vec![0; 60_000];
            assert_eq!(reused.compress(level, &plain, &mut a[..200]), None);
            let n = reused.compress(level, &plain, &mut a).unwrap();
            let m = Zlib::new().compress(level, &plain, &mut b).unwrap();
            assert_eq!(a[..n], b[..m], "level {level}");
        }
    }

    #[test]
    fn gives_up_when_the_stream_does_not_fit() {
        let mut codec = Zlib::new();
        let plain = text(20_000);
        let mut packed = vec![0; 30_000];
        let n = codec.compress(5, &plain, &mut packed).unwrap();
        for room in [0, 1, 2, 50, n / 2, n - 1] {
            assert_eq!(codec.compress(5, &plain, &mut vec![0; room]), None, "{room} bytes");
        }
        assert_eq!(codec.compress(5, &plain, &mut vec![0; n]), Some(n));
    }

    #[test]
    fn reads_a_known_stream_and_tolerates_bytes_after_it() {
        let mut codec = Zlib::new();
        let mut plain = [0; 23];
        assert_eq!(codec.decompress(&HELLO, &mut plain), Ok(()));
        assert_eq!(&plain, b"hello hello hello hello");
        let mut longer = HELLO.to_vec();
        longer.extend_from_slice(b"whatever follows");
        plain.fill(0);
        assert_eq!(codec.decompress(&longer, &mut plain), Ok(()));
        assert_eq!(&plain, b"hello hello hello hello");
    }

    #[test]
    fn refuses_every_other_length_and_every_cut() {
        let mut codec = Zlib::new();
        for len in (0..60).filter(|&len| len != 23) {
            assert!(codec.decompress(&HELLO, &mut vec![0; len]).is_err(), "{len} bytes");
        }
        for cut in 0..HELLO.len() {
            assert!(codec.decompress(&HELLO[..cut], &mut [0; 23]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn mutated_streams_are_refused_or_decode_to_what_their_checksum_says() {
        let mut codec = Zlib::new();
        let plain = text(3000);
        let mut packed = vec![0; 3000];
        let n = codec.compress(6, &plain, &mut packed).unwrap();
        packed.truncate(n);
        for at in 2..n {
            for bit in 0..8 {
                let mut bad = packed.clone();
                bad[at] ^= 1 << bit;
                let mut back = vec![0; plain.len()];
                if codec.decompress(&bad, &mut back).is_ok() {
                    // Only bits that carry no data (padding before the checksum) may change.
                    assert_eq!(back, plain, "bit {bit} of byte {at}");
                }
            }
        }
    }
}
