//! How a header names its codec: three bits of `flags`, and two bytes of the extended header.

use crate::options::Codec;

/// The codec fields of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodecId {
    /// `flags >> 5`: what the streams are made of.
    pub(crate) format: u8,
    /// `udcodec`: which encoder made them; decides only when `format` is [`CodecId::REGISTERED`].
    pub(crate) id: u8,
    /// `compcode_meta`: the parameter of a registered codec.
    pub(crate) meta: u8,
}

impl CodecId {
    pub(crate) const BLOSCLZ: Self = Self { format: 0, id: 0, meta: 0 };
    pub(crate) const LZ4: Self = Self { format: 1, id: 1, meta: 0 };
    pub(crate) const LZ4HC: Self = Self { format: 1, id: 2, meta: 0 };
    /// Blosc1 only. The id is the code that the C-Blosc 1 API uses.
    pub(crate) const SNAPPY: Self = Self { format: 2, id: 3, meta: 0 };
    pub(crate) const ZLIB: Self = Self { format: 3, id: 4, meta: 0 };
    pub(crate) const ZSTD: Self = Self { format: 4, id: 5, meta: 0 };

    /// The format that sends the reader to `id`.
    pub(crate) const REGISTERED: u8 = 6;
    /// The id of NDLZ.
    pub(crate) const NDLZ: u8 = 32;

    /// The fields of a header. Only what decides is kept, so that equal codecs compare equal; a
    /// 16-byte header has no `udcodec` and passes `None`.
    #[inline]
    pub(crate) fn from_header(format: u8, udcodec: Option<u8>, meta: u8) -> Self {
        match (format, udcodec) {
            (0, _) => Self::BLOSCLZ,
            (1, Some(2)) => Self::LZ4HC,
            (1, _) => Self::LZ4,
            (2, None) => Self::SNAPPY,
            (3, _) => Self::ZLIB,
            (4, _) => Self::ZSTD,
            (format, udcodec) => Self { format, id: udcodec.unwrap_or(0), meta },
        }
    }

    /// The codec as a caller would name it; `None` where a caller cannot ask for it.
    pub(crate) fn codec(self) -> Option<Codec> {
        Some(match self {
            Self::BLOSCLZ => Codec::BloscLz,
            Self::LZ4 => Codec::Lz4,
            Self::LZ4HC => Codec::Lz4Hc,
            Self::ZLIB => Codec::Zlib,
            Self::ZSTD => Codec::Zstd,
            Self { format: Self::REGISTERED, id: Self::NDLZ, meta } => Codec::NdLz { cell: meta },
            Self { format: Self::REGISTERED, id, meta } => Codec::Registered { id, meta },
            _ => return None,
        })
    }
}

impl From<Codec> for CodecId {
    fn from(codec: Codec) -> Self {
        match codec {
            Codec::BloscLz => Self::BLOSCLZ,
            Codec::Lz4 => Self::LZ4,
            Codec::Lz4Hc => Self::LZ4HC,
            Codec::Zlib => Self::ZLIB,
            Codec::Zstd => Self::ZSTD,
            Codec::NdLz { cell } => Self { format: Self::REGISTERED, id: Self::NDLZ, meta: cell },
            Codec::Registered { id, meta } => Self { format: Self::REGISTERED, id, meta },
        }
    }
}
