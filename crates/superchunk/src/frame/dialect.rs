//! The dialects of the header: what stands behind byte 51, and which trailer follows.
//!
//! ```text
//!          52   53            57   58            62   63      65   66        68     69 …
//! modern ┌────┬─────────────┬────┬─────────────┬────┬───────┬────┬─────────┬──────┬────────────────┐
//!        │ d2 │ blocksize   │ d2 │ chunksize   │ d1 │ tcomp │ d1 │ tdecomp │ bool │ 6 slots, codec │
//!        └────┴─────────────┴────┴─────────────┴────┴───────┴────┴─────────┴──────┴────────────────┘
//!          52   53            57   58      60   61        63     64   65    66      74
//! 2021   ┌────┬─────────────┬────┬───────┬────┬─────────┬──────┬────┬─────┬───────┬───────┐
//!        │ d2 │ chunksize   │ d1 │ tcomp │ d1 │ tdecomp │ bool │ d8 │ n   │ codes │ metas │ 8 slots
//!        └────┴─────────────┴────┴───────┴────┴─────────┴──────┴────┴─────┴───────┴───────┘
//! beta 1 the same to byte 63, then metalayers only if the first byte is 0x9c; no trailer
//! ```

use super::{Kind, layers};
use crate::container::{Layer, Params};
use crate::error::{Error, Result};
use crate::filters::Slots;
use crate::wire::Reader;

/// Which revision of the format a frame follows.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// What C-Blosc2 2.0 and everything later reads and writes: 14 elements.
    #[default]
    Modern,
    /// The description of early 2021: 13 elements, eight filter slots, one `usermeta` chunk behind
    /// the data. No C-Blosc2 from 2.0 on reads it.
    Elements13,
    /// C-Blosc2 2.0 beta 1: 11 or 12 elements, no filters, no trailer. Read only.
    Beta1,
}

/// The fields whose place depends on the dialect.
pub(super) struct Rest {
    pub(super) chunksize: i32,
    blocksize: usize,
    slots: Slots,
    udcodec: Option<u8>,
    codec_meta: u8,
    flags2: u8,
}

impl Rest {
    /// The parameters, with the two flag bytes that all dialects share.
    pub(super) fn params(self, codec_byte: u8, other: u8) -> Result<Params> {
        let nibble = codec_byte & 0x0f;
        let splitmode = if self.udcodec.is_some() { (other & 3) + 1 } else { 4 };
        Ok(Params {
            blocksize: self.blocksize,
            codec: self.udcodec.filter(|_| nibble == 6).unwrap_or(nibble),
            codec_meta: self.codec_meta,
            level: codec_byte >> 4,
            splitmode,
            slots: self.slots,
            dictionary: self.flags2 & 1 != 0,
        })
    }
}

impl Dialect {
    /// The dialect that the first byte and the flags tell.
    pub(super) fn of(first: u8, flags: u8) -> Result<Self> {
        match (first, flags & 0x0f) {
            (0x9e, _) => Ok(Self::Modern),
            (0x9d, 1) => Ok(Self::Elements13),
            (0x9b | 0x9c, 4) => Ok(Self::Beta1),
            (first, version) => Err(Error::unsupported(format!(
                "a header that begins with {first:#04x} and has version {version} is of no known kind"
            ))
            .at("frame", "magic", 0)),
        }
    }

    /// The first byte of the header.
    pub(super) fn first_byte(self) -> u8 {
        match self {
            Self::Modern => 0x9e,
            Self::Elements13 => 0x9d,
            Self::Beta1 => 0x9c,
        }
    }

    /// The length of the header without metalayers.
    pub(super) fn fixed_len(self) -> usize {
        match self {
            Self::Modern => 87,
            Self::Elements13 => 82,
            Self::Beta1 => 64,
        }
    }

    /// Whether a trailer follows the index.
    pub(super) fn has_trailer(self) -> bool {
        self != Self::Beta1
    }

    /// Whether the trailer holds one nameless chunk instead of a list of named ones.
    pub(super) fn has_usermeta(self) -> bool {
        self == Self::Elements13
    }

    /// What `frame_type` says.
    pub(super) fn kind(self, frame_type: u8) -> Result<Kind> {
        match (self, frame_type) {
            (Self::Modern, 1) => Ok(Kind::Sparse),
            (Self::Modern, 2..) => Err(Error::corrupt(format!("{frame_type} is no type of frame"))
                .at("frame", "frame_type", 26)),
            _ => Ok(Kind::Contiguous),
        }
    }

    /// Reads what follows byte 51.
    pub(super) fn parse_rest(self, bytes: &[u8]) -> Result<Rest> {
        let at = |position| Reader::new("frame", bytes).seek(position);
        let mut rest = Rest {
            chunksize: at(53).i32_be("chunksize")?,
            blocksize: 0,
            slots: Slots::default(),
            udcodec: None,
            codec_meta: 0,
            flags2: 0,
        };
        if self == Self::Beta1 {
            return Ok(rest);
        }
        let (first, most) = if self == Self::Modern { (70, 6) } else { (65, 8) };
        let mut pipeline = at(first);
        let count = pipeline.u8("nfilters")?;
        if count > most {
            return Err(Error::corrupt(format!("{count} filters in {most} slots"))
                .at("frame", "nfilters", first));
        }
        let ids = pipeline.take("filters", usize::from(most))?;
        if self == Self::Modern {
            rest.chunksize = at(58).i32_be("chunksize")?;
            let blocksize = at(53).i32_be("blocksize")?;
            rest.blocksize = usize::try_from(blocksize).map_err(|_| {
                Error::corrupt(format!("{blocksize} is negative")).at("frame", "blocksize", 53)
            })?;
            rest.udcodec = Some(pipeline.u8("udcodec")?);
            rest.codec_meta = pipeline.u8("codec_meta")?;
            rest.slots = Params::slots_from(ids, pipeline.take("filters_meta", 6)?)?;
            rest.flags2 = pipeline.u8("other_flags2")?;
        } else {
            rest.slots = Params::slots_from(ids, pipeline.take("filters_meta", 8)?)?;
        }
        Ok(rest)
    }

    /// Reads the metalayers.
    pub(super) fn parse_metalayers(self, bytes: &[u8]) -> Result<Vec<Layer>> {
        if self == Self::Beta1 && bytes.first() != Some(&0x9c) {
            return Ok(Vec::new());
        }
        layers::parse("frame", bytes, self.fixed_len())
    }

    /// The four bytes of flags, from the modern ones.
    pub(super) fn flag_bytes(self, general: u8, kind: Kind, codec: u8, other: u8) -> [u8; 4] {
        match self {
            Self::Modern => [general, u8::from(kind == Kind::Sparse), codec, other],
            // Version 1, 64-bit offsets.
            _ => [0x11 | general & 0x40, 0, codec, 0],
        }
    }

    /// Writes what follows byte 51, up to the metalayers.
    pub(super) fn write_rest(
        self,
        params: &Params,
        chunksize: i32,
        has_vlmeta: bool,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let has_vlmeta = if has_vlmeta { 0xc3 } else { 0xc2 };
        // The numbers of threads are those of whoever wrote last; nobody reads them.
        let threads = [0xd1, 0, 1, 0xd1, 0, 1];
        let ids = params.slots.map(|slot| slot.id);
        let metas = params.slots.map(|slot| slot.meta);
        match self {
            Self::Modern => {
                let blocksize = i32::try_from(params.blocksize)
                    .map_err(|_| Error::limit("the block size does not fit the header"))?;
                out.push(0xd2);
                out.extend(blocksize.to_be_bytes());
                out.push(0xd2);
                out.extend(chunksize.to_be_bytes());
                out.extend(threads);
                out.extend([has_vlmeta, 0xd8, 6]);
                out.extend(ids);
                out.extend([params.codec, params.codec_meta]);
                out.extend(metas);
                out.extend([u8::from(params.dictionary), 0]);
            }
            Self::Elements13 => {
                out.push(0xd2);
                out.extend(chunksize.to_be_bytes());
                out.extend(threads);
                let used: Vec<_> = params.slots.iter().filter(|slot| slot.id != 0).collect();
                let count = u8::try_from(used.len()).unwrap_or(6);
                out.extend([has_vlmeta, 0xd8, count]);
                let (mut ids, mut metas) = ([0; 8], [0; 8]);
                for ((id, meta), slot) in ids.iter_mut().zip(&mut metas).zip(used) {
                    (*id, *meta) = (slot.id, slot.meta);
                }
                out.extend(ids);
                out.extend(metas);
            }
            Self::Beta1 => {
                return Err(Error::unsupported(
                    "frames of beta 1 are only read: copy it to a new one",
                ));
            }
        }
        Ok(())
    }
}
