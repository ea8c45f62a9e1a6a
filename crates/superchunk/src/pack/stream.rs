//! The start of a file that is written before all is known that it has to say.

use super::header::PackHeader;
use super::metadata::MetadataOptions;
use super::plan::{Plan, Policy};
use crate::error::{Error, Result};
use crate::wire::json::Json;

/// Room for offsets is written in pieces of this many.
const PIECE: u64 = 8192;

/// PackHeader and metadata, and how many offsets follow.
pub(crate) struct StreamStart(Plan);

impl StreamStart {
    /// The start of a file of objects, or of one whose number of chunks nobody knows.
    pub(crate) fn new(
        mut header: PackHeader,
        json: Option<&Json>,
        metadata: &MetadataOptions,
        count: Option<u64>,
    ) -> Result<Self> {
        header.offsets = count.is_some();
        let policy = Policy { slots: Some(0), metadata: metadata.clone(), reserve: 0 };
        let mut json = json.cloned();
        if let Some((json, count)) = json.as_mut().zip(count)
            && json.get("shape").is_some()
        {
            json.set("shape", vec![Json::from(count)])?;
        }
        let mut plan = Plan::new(header, json.as_ref(), &policy, count.unwrap_or(0))?;
        plan.header.chunk_count = count;
        match count {
            Some(count) if count > u64::from(u32::MAX) => {
                Err(Error::limit(format!("{count} objects in one file")))
            }
            _ => Ok(Self(plan)),
        }
    }

    /// How many objects were announced.
    pub(crate) fn count(&self) -> Option<u64> {
        self.0.header.chunk_count
    }

    /// Writes all that stands before the chunks, and returns where they begin.
    pub(crate) fn write(&self, mut put: impl FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        put(&self.0.head())?;
        let mut left = self.0.capacity;
        while left > 0 {
            let now = left.min(PIECE);
            put(&super::offsets::unknown(usize::try_from(now).unwrap_or(0)))?;
            left -= now;
        }
        Ok(self.0.base())
    }

    /// What is to be written where, now that all is known. The header comes last.
    pub(crate) fn complete(
        &self,
        count: u64,
        last: usize,
        positions: &[u64],
    ) -> Vec<(u64, Vec<u8>)> {
        let mut header = self.0.header.clone();
        header.chunk_count = Some(count);
        header.last_chunk = Some(last);
        let table = super::offsets::to_bytes(positions.iter().copied());
        vec![(self.0.table(), table), (0, header.to_bytes().to_vec())]
    }
}
