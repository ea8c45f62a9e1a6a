//! The codecs of the streams: which there are, how the header names them, how they are called.
//!
//! A codec turns one stream into fewer bytes, or says that it cannot (the stream is then stored
//! raw). Decoding fills the given buffer exactly or fails; it never writes past it.

mod light;
mod ndlz;
#[cfg(feature = "snappy")]
mod snappy;
mod state;
mod train;
mod wire_id;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(feature = "_zstd")]
mod zstd;

pub(crate) use light::{Content, Light, lighter};
pub(crate) use state::{CodecState, Manner};
pub(crate) use train::pick_dictionary_content;
pub(crate) use wire_id::CodecId;
#[cfg(all(feature = "zlib", feature = "bloscpack"))]
pub(crate) use zlib::Zlib;

use std::sync::Arc;

use crate::block_shape::BlockShape;
use crate::error::{Error, Result};
use crate::registry::{Registry, UserCodec};

/// Where something may begin in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// At any byte.
    Bytes,
    /// At any bit.
    #[cfg_attr(not(feature = "zlib"), allow(dead_code, reason = "no other codec has that"))]
    Bits,
}

/// A codec ready to be called.
pub(crate) enum Method {
    BloscLz,
    Lz4,
    Lz4Hc,
    #[cfg(feature = "snappy")]
    Snappy,
    #[cfg(feature = "zlib")]
    Zlib,
    #[cfg(feature = "_zstd")]
    Zstd,
    NdLz {
        cell: usize,
        plane: Option<[usize; 2]>,
    },
    User {
        codec: Arc<dyn UserCodec>,
        meta: u8,
    },
}

impl Method {
    /// Finds the codec that a header names. `shape` is needed to encode NDLZ only.
    pub(crate) fn resolve(
        id: CodecId,
        shape: Option<&BlockShape>,
        registry: &Registry,
    ) -> Result<Self> {
        match id {
            CodecId::BLOSCLZ => Ok(Self::BloscLz),
            CodecId::LZ4 => Ok(Self::Lz4),
            CodecId::LZ4HC => Ok(Self::Lz4Hc),
            CodecId::SNAPPY => snappy_method(),
            CodecId::ZLIB => zlib_method(),
            CodecId::ZSTD => zstd_method(),
            CodecId { format: CodecId::REGISTERED, id: CodecId::NDLZ, meta } => {
                ndlz_method(meta, shape)
            }
            CodecId { format: CodecId::REGISTERED, id: id @ 33.., meta } => {
                Ok(Self::User { codec: registry.codec(id)?, meta })
            }
            CodecId { format, id, .. } => Err(Error::unsupported(format!(
                "codec format {format} (codec id {id}) is not defined"
            ))),
        }
    }
}

impl Method {
    /// Whether several streams are decoded in less time together.
    pub(crate) fn decodes_two_at_once(&self) -> bool {
        match self {
            #[cfg(feature = "zlib")]
            Self::Zlib => true,
            _ => false,
        }
    }

    /// Where literals and matches begin in its streams, if these are rows of such, whose places can be marked.
    pub(crate) fn places(&self) -> Option<Places> {
        match self {
            Self::BloscLz | Self::Lz4 | Self::Lz4Hc => Some(Places::Bytes),
            #[cfg(feature = "zlib")]
            Self::Zlib => Some(Places::Bits),
            _ => None,
        }
    }

    /// Whether a stream may come back with other bytes than went in.
    pub(crate) fn is_lossy(&self) -> bool {
        matches!(self, Self::User { codec, .. } if codec.is_lossy())
    }

    /// Whether it takes longer to compress noise than to recognise it.
    fn is_thorough(&self) -> bool {
        match self {
            Self::Lz4Hc => true,
            #[cfg(feature = "zlib")]
            Self::Zlib => true,
            #[cfg(feature = "_zstd")]
            Self::Zstd => true,
            _ => false,
        }
    }
}

fn ndlz_method(meta: u8, shape: Option<&BlockShape>) -> Result<Method> {
    if !matches!(meta, 4 | 8) {
        return Err(Error::unsupported(format!("NDLZ has cells of side 4 or 8, not {meta}")));
    }
    let plane = shape.and_then(|shape| shape.dims().try_into().ok());
    Ok(Method::NdLz { cell: usize::from(meta), plane })
}

#[cfg(feature = "snappy")]
fn snappy_method() -> Result<Method> {
    Ok(Method::Snappy)
}

#[cfg(not(feature = "snappy"))]
fn snappy_method() -> Result<Method> {
    Err(not_built_in("snappy"))
}

#[cfg(feature = "zlib")]
fn zlib_method() -> Result<Method> {
    Ok(Method::Zlib)
}

#[cfg(not(feature = "zlib"))]
fn zlib_method() -> Result<Method> {
    Err(not_built_in("zlib"))
}

#[cfg(feature = "_zstd")]
fn zstd_method() -> Result<Method> {
    Ok(Method::Zstd)
}

#[cfg(not(feature = "_zstd"))]
fn zstd_method() -> Result<Method> {
    Err(not_built_in("zstd"))
}

#[cfg(not(all(feature = "snappy", feature = "zlib", feature = "_zstd")))]
fn not_built_in(name: &str) -> Error {
    Error::unsupported(format!(
        "this build of superchunk lacks the codec {name}: enable its feature"
    ))
}
