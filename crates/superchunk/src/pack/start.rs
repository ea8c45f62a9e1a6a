//! All that stands before the chunks of a file: header, metadata, and where the offsets are.

use super::header::{self, PackHeader};
use super::metadata::{self, MetadataHeader};
use super::offsets;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::store::ReadAt;
use crate::wire;
use crate::wire::json::Json;

/// How far a file is believed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trust {
    /// Whether only the chunks count where the header or the offsets contradict them.
    pub(crate) lenient: bool,
    /// Whether digests are not compared.
    pub(crate) unchecked: bool,
    pub(crate) limits: Limits,
}

/// What stands before the chunks.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) header: PackHeader,
    pub(crate) meta_header: Option<MetadataHeader>,
    pub(crate) metadata: Option<Json>,
    /// Where the offsets begin.
    pub(crate) table: u64,
    /// Where they end.
    pub(crate) table_end: u64,
    /// The bytes of the file.
    pub(crate) len: u64,
}

impl Start {
    /// Reads the start of a file.
    pub(crate) fn read(store: &dyn ReadAt, trust: &Trust) -> Result<Self> {
        let len = store.len()?;
        let mut bytes = [0; header::LEN];
        let found = store.read_at(0, &mut bytes)?;
        let header = PackHeader::parse(wire::filled(&bytes, found)?)?;
        let mut table = header.stored_len();
        let (mut meta_header, mut metadata) = (None, None);
        if header.metadata && header.is_proposal() {
            let size = header.meta_size;
            metadata = Some(metadata::read_bare(store, table, len, size, &trust.limits)?);
            table += u64::from(size);
        } else if header.metadata {
            let (section, json) =
                metadata::read(store, table, len, &trust.limits, trust.unchecked)?;
            table += section.section_len();
            (meta_header, metadata) = (Some(section), Some(json));
        }
        let table_end = check_table(&header, table, len)?;
        Ok(Self { header, meta_header, metadata, table, table_end, len })
    }

    /// The metadata of version 3, of a file whose header may be damaged.
    pub(crate) fn metadata_of(store: &dyn ReadAt, trust: &Trust) -> Result<Json> {
        let (len, at) = (store.len()?, header::LEN as u64);
        Ok(metadata::read(store, at, len, &trust.limits, trust.unchecked)?.1)
    }

    /// The most chunks that the bytes of the file can be.
    pub(super) fn most_chunks(&self) -> u64 {
        let least = 16 + self.header.checksum.len() as u64;
        self.len.saturating_sub(self.table_end) / least
    }
}

/// Where the offsets end; the file must hold them, and the chunks they are for.
fn check_table(header: &PackHeader, table: u64, len: u64) -> Result<u64> {
    let end =
        header.table_slots().checked_mul(offsets::WIDTH).and_then(|bytes| bytes.checked_add(table));
    let Some(end) = end.filter(|end| *end <= len) else {
        return Err(Error::truncated(format!(
            "{} offsets do not fit a file of {len} bytes",
            header.table_slots()
        ))
        .at("bloscpack", "nchunks", 16));
    };
    Ok(end)
}
