//! The memory of the codecs: hash tables and contexts, made on first use and kept.

#[cfg(feature = "zlib")]
use superchunk_kernels::deflate::Search;
use superchunk_kernels::{Malformed, Mark, Marker, Tracer, Wanted, blosclz, is_noise, lz4};

use super::{Light, Method, ndlz};
use crate::error::{Error, Result};

/// How a stream is compressed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// 1 to 9.
    pub(crate) level: u8,
    /// Whether filters were applied.
    #[cfg_attr(not(feature = "zlib"), allow(dead_code, reason = "Zlib alone asks for it"))]
    pub(crate) filtered: bool,
    /// Whether it is a piece of what is one stream in the reference: LZ4 then works as on the whole.
    pub(crate) as_long: bool,
}

/// What one worker keeps between streams. Results never depend on it.
#[derive(Default)]
pub(crate) struct CodecState {
    blosclz: Option<blosclz::Encoder>,
    lz4: Option<lz4::Encoder>,
    lz4hc: Option<lz4::HcEncoder>,
    #[cfg(feature = "zlib")]
    zlib: Option<super::zlib::Zlib>,
    #[cfg(feature = "_zstd")]
    zstd: Option<super::zstd::Zstd>,
    tracer: Tracer,
}

impl CodecState {
    /// Compresses one stream; `None` when it does not fit `dst`, or is noise that a thorough codec
    /// would spend its time on for nothing. Methods whose sequences begin at [bytes](Method::places) have them marked, if there is
    /// no dictionary.
    pub(crate) fn compress(
        &mut self,
        method: &Method,
        manner: Manner,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
        marker: Option<&mut Marker>,
    ) -> Result<Option<usize>> {
        if method.is_thorough() && dict.is_empty() && is_noise(src) {
            return Ok(None);
        }
        let level = manner.level;
        Ok(match method {
            Method::BloscLz => {
                let blosclz = self.blosclz.get_or_insert_default();
                match marker {
                    Some(marker) => blosclz.compress_marked(level, src, dst, marker),
                    None => blosclz.compress(level, src, dst),
                }
            }
            Method::Lz4 => {
                let acceleration = u32::from(10u8.saturating_sub(level));
                let (lz4, as_long) = (self.lz4.get_or_insert_default(), manner.as_long);
                match marker {
                    Some(marker) => lz4.compress_marked(acceleration, as_long, src, dst, marker),
                    None if as_long => lz4.compress_as_long(acceleration, dict, src, dst),
                    None => lz4.compress(acceleration, dict, src, dst),
                }
            }
            Method::Lz4Hc => {
                let lz4hc = self.lz4hc.get_or_insert_default();
                match marker {
                    Some(marker) => lz4hc.compress_marked(level, src, dst, marker),
                    None => lz4hc.compress(level, dict, src, dst),
                }
            }
            #[cfg(feature = "snappy")]
            Method::Snappy => return Err(Error::unsupported("snappy streams can only be read")),
            #[cfg(feature = "zlib")]
            Method::Zlib => {
                let zlib = self.zlib.get_or_insert_with(super::zlib::Zlib::new);
                match (level, manner.filtered) {
                    (1, true) => zlib.compress_lightly(Search::Quick, src, dst, marker),
                    (1, false) => zlib.compress_lightly(Search::QuickRepetitions, src, dst, marker),
                    _ => zlib.compress(level, src, dst),
                }
            }
            #[cfg(feature = "_zstd")]
            Method::Zstd => {
                let zstd = self.zstd.get_or_insert_with(super::zstd::Zstd::new);
                zstd.compress(super::zstd::level_of(level), dict, src, dst)
            }
            Method::NdLz { cell, plane } => match plane {
                Some(plane) => ndlz::compress(*cell, *plane, src, dst),
                None => return Err(Error::invalid("NDLZ needs the shape of a 2-D block")),
            },
            Method::User { codec, meta } => {
                let room = dst.len();
                let len = codec.compress(*meta, src, dst)?;
                if len.is_some_and(|len| len > room) {
                    let words =
                        format!("the registered codec says {len:?} bytes, the room is {room}");
                    return Err(Error::invalid(words));
                }
                len
            }
        })
    }

    /// Compresses one stream in a lighter way; `None` when it does not fit `dst`.
    #[cfg_attr(
        not(any(feature = "zlib", feature = "_zstd")),
        allow(unused_variables, reason = "codecs that are not built in have no lighter ways")
    )]
    pub(crate) fn compress_lightly(
        &mut self,
        light: Light,
        src: &[u8],
        dst: &mut [u8],
        marker: Option<&mut Marker>,
    ) -> Option<usize> {
        match light {
            #[cfg(feature = "_zstd")]
            Light::ZstdCodes => {
                self.zstd.get_or_insert_with(super::zstd::Zstd::new).compress_codes(src, dst)
            }
            #[cfg(feature = "_zstd")]
            Light::Zstd(level) => {
                let zstd = self.zstd.get_or_insert_with(super::zstd::Zstd::new);
                zstd.compress(level, &[], src, dst)
            }
            #[cfg(feature = "zlib")]
            Light::Zlib(search) => {
                let zlib = self.zlib.get_or_insert_with(super::zlib::Zlib::new);
                zlib.compress_lightly(search, src, dst, marker)
            }
            #[cfg(not(all(feature = "zlib", feature = "_zstd")))]
            _ => None,
        }
    }

    /// Decompresses one stream, which must fill `dst` exactly.
    pub(crate) fn decompress(
        &mut self,
        method: &Method,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<()> {
        match method {
            Method::BloscLz => blosclz::decompress(src, dst).map_err(corrupt)?,
            Method::Lz4 | Method::Lz4Hc => lz4::decompress(dict, src, dst).map_err(corrupt)?,
            #[cfg(feature = "snappy")]
            Method::Snappy => super::snappy::decompress(src, dst).map_err(corrupt)?,
            #[cfg(feature = "zlib")]
            Method::Zlib => {
                let zlib = self.zlib.get_or_insert_with(super::zlib::Zlib::new);
                zlib.decompress(src, dst).map_err(corrupt)?;
            }
            #[cfg(feature = "_zstd")]
            Method::Zstd => {
                let zstd = self.zstd.get_or_insert_with(super::zstd::Zstd::new);
                zstd.decompress(dict, src, dst).map_err(corrupt)?;
            }
            Method::NdLz { cell, .. } => ndlz::decompress(*cell, src, dst).map_err(corrupt)?,
            Method::User { codec, meta } => codec.decompress(*meta, src, dst)?,
        }
        Ok(())
    }

    /// Fills `dst` with what a stream decodes to from byte `out` on, if its method has [sequences](Method::places) and the marks, of which `before` tells
    /// the last one at or before a byte of the output, make that quicker than to decompress what precedes it. `inner` are the blocks inside of the stream.
    #[cfg_attr(
        not(feature = "zlib"),
        allow(unused_variables, reason = "no other codec has blocks inside")
    )]
    pub(crate) fn fetch(
        &mut self,
        method: &Method,
        src: &[u8],
        (inner, before): (impl Iterator<Item = Mark>, impl Fn(usize) -> Mark),
        out: usize,
        dst: &mut [u8],
    ) -> Option<()> {
        match method {
            Method::BloscLz => blosclz::fetch(&mut self.tracer, src, before, out, dst),
            Method::Lz4 | Method::Lz4Hc => lz4::fetch(&mut self.tracer, src, before, out, dst),
            #[cfg(feature = "zlib")]
            Method::Zlib => {
                let zlib = self.zlib.get_or_insert_with(super::zlib::Zlib::new);
                zlib.fetch(&mut self.tracer, src, (inner, before), out, dst)
            }
            _ => None,
        }
    }

    /// Notes in `marker` where the sequences of a stream begin; returns whether they could be read.
    pub(crate) fn mark(&mut self, method: &Method, src: &[u8], marker: &mut Marker) -> bool {
        match method {
            Method::BloscLz => blosclz::mark(src, marker),
            Method::Lz4 | Method::Lz4Hc => lz4::mark(src, marker),
            #[cfg(feature = "zlib")]
            Method::Zlib => {
                let zlib = self.zlib.get_or_insert_with(super::zlib::Zlib::new);
                return zlib.mark(src, marker).is_some();
            }
            _ => return false,
        }
        true
    }

    /// Decompresses at least the first `needed` bytes of several streams, each of which fills its place, in less time than one
    /// after the other; for methods that [can](Method::decodes_two_at_once). False when one of them is wrong.
    #[cfg_attr(not(feature = "zlib"), allow(unused_variables, reason = "no other codec has that"))]
    pub(crate) fn decompress_all<'a>(
        &mut self,
        method: &Method,
        streams: impl Iterator<Item = (&'a [u8], &'a mut [u8])>,
        needed: usize,
    ) -> bool {
        match method {
            #[cfg(feature = "zlib")]
            Method::Zlib => {
                let zlib = self.zlib.get_or_insert_with(super::zlib::Zlib::new);
                zlib.decompress_all(streams, needed)
            }
            _ => false,
        }
    }

    /// Decompresses at least the bytes `wanted` of a stream that fills `dst`: no more than those, or than what
    /// precedes their end, where the codec can do so. All else is then unspecified and unchecked.
    pub(crate) fn decompress_wanted(
        &mut self,
        method: &Method,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
        wanted: &Wanted,
    ) -> Result<()> {
        let needed = wanted.end();
        match method {
            #[cfg(feature = "_zstd")]
            Method::Zstd => {
                let zstd = self.zstd.get_or_insert_with(super::zstd::Zstd::new);
                zstd.decompress_wanted(dict, src, dst, wanted).map_err(corrupt)?;
            }
            _ if needed >= dst.len() => return self.decompress(method, dict, src, dst),
            Method::BloscLz => blosclz::decompress_prefix(src, dst, needed).map_err(corrupt)?,
            Method::Lz4 | Method::Lz4Hc => {
                lz4::decompress_prefix(dict, src, dst, needed).map_err(corrupt)?;
            }
            #[cfg(feature = "zlib")]
            Method::Zlib => {
                let zlib = self.zlib.get_or_insert_with(super::zlib::Zlib::new);
                zlib.decompress_prefix(src, dst, needed).map_err(corrupt)?;
            }
            _ => return self.decompress(method, dict, src, dst),
        }
        Ok(())
    }
}

/// A stream that does not decode.
fn corrupt(malformed: Malformed) -> Error {
    Error::corrupt(malformed.reason).at("chunk", "stream", malformed.at)
}
