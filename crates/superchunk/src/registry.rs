//! Codecs and filters that the user adds: two traits and the table that maps wire ids to them.
//!
//! There is no global registry: a [`Registry`] is handed to the encoder and the decoder that need
//! it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};

/// A codec under a registered (32–159) or user (160–255) id.
pub trait UserCodec: Send + Sync {
    /// The name for messages.
    fn name(&self) -> &str;

    /// Compresses `src` into `dst` and returns the length, or `None` when it does not fit: the
    /// stream is then stored as it is. `meta` is the chunk's `compcode_meta` byte.
    fn compress(&self, meta: u8, src: &[u8], dst: &mut [u8]) -> Result<Option<usize>>;

    /// Decompresses `src`, which must fill `dst` exactly.
    fn decompress(&self, meta: u8, src: &[u8], dst: &mut [u8]) -> Result<()>;

    /// Whether other bytes may come back than went in. Then the check of new chunks
    /// ([`CompressOptions::with_check`](crate::CompressOptions::with_check)) can only find out that
    /// they decode.
    fn is_lossy(&self) -> bool {
        false
    }
}

/// A filter under a registered (32–159) or user (160–255) id. Both directions map a block to a
/// block of the same length.
pub trait UserFilter: Send + Sync {
    /// The name for messages.
    fn name(&self) -> &str;

    /// Prepares a block for the codec. `meta` is the slot's `filters_meta` byte.
    fn forward(&self, meta: u8, item_size: usize, src: &[u8], dst: &mut [u8]) -> Result<()>;

    /// Undoes [`forward`](UserFilter::forward).
    fn backward(&self, meta: u8, item_size: usize, src: &[u8], dst: &mut [u8]) -> Result<()>;

    /// Whether other bytes may come back than went in. Then the check of new chunks
    /// ([`CompressOptions::with_check`](crate::CompressOptions::with_check)) expects what this
    /// filter itself makes of a block, there and back.
    fn is_lossy(&self) -> bool {
        false
    }
}

/// Which codecs and filters exist beside the built-in ones.
#[derive(Clone, Default)]
pub struct Registry {
    codecs: BTreeMap<u8, Arc<dyn UserCodec>>,
    filters: BTreeMap<u8, Arc<dyn UserFilter>>,
}

impl Registry {
    /// An empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same registry with a codec under `id` (33–255; 32 is NDLZ).
    pub fn with_codec(mut self, id: u8, codec: impl UserCodec + 'static) -> Result<Self> {
        if id <= 32 {
            return Err(Error::invalid(format!(
                "codec id {id} is built in or reserved: use 33–255"
            )));
        }
        self.codecs.insert(id, Arc::new(codec));
        Ok(self)
    }

    /// The same registry with a filter under `id` (37–255; 32–36 are built in).
    pub fn with_filter(mut self, id: u8, filter: impl UserFilter + 'static) -> Result<Self> {
        if id <= 36 {
            return Err(Error::invalid(format!(
                "filter id {id} is built in or reserved: use 37–255"
            )));
        }
        self.filters.insert(id, Arc::new(filter));
        Ok(self)
    }

    /// The codec under `id`, or an error that names what is missing.
    pub(crate) fn codec(&self, id: u8) -> Result<Arc<dyn UserCodec>> {
        self.codecs.get(&id).cloned().ok_or_else(|| {
            Error::unsupported(format!(
                "codec {id} ({}) is not built in; register it with Registry::with_codec",
                codec_name(id)
            ))
        })
    }

    /// The filter under `id`, or an error that names what is missing.
    pub(crate) fn filter(&self, id: u8) -> Result<Arc<dyn UserFilter>> {
        self.filters.get(&id).cloned().ok_or_else(|| {
            Error::unsupported(format!(
                "filter {id} is not built in; register it with Registry::with_filter"
            ))
        })
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("codecs", &self.codecs.keys())
            .field("filters", &self.filters.keys())
            .finish()
    }
}

/// The names of the globally registered codec ids.
fn codec_name(id: u8) -> &'static str {
    match id {
        33 => "ZFP fixed accuracy",
        34 => "ZFP fixed precision",
        35 => "ZFP fixed rate",
        36 => "OPENHTJ2K",
        37 => "GROK",
        38 => "OPENZL",
        39 => "J2K",
        40 => "HTJ2K",
        160..=255 => "a user's codec",
        _ => "not assigned",
    }
}
