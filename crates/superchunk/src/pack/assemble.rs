//! A whole file out of chunks that exist already.

use super::header::PackHeader;
use super::plan::{Plan, Policy};
use crate::error::Result;
use crate::wire::json::Json;

/// A file that is written from its start to its end.
pub(crate) struct Assembly {
    plan: Plan,
    positions: Vec<u64>,
}

impl Assembly {
    /// A file like `header` says, with chunks of these lengths, and without room for more.
    pub(crate) fn new(
        header: PackHeader,
        json: Option<&Json>,
        lens: impl ExactSizeIterator<Item = usize>,
    ) -> Result<Self> {
        let policy = Policy { slots: Some(0), ..Policy::default() };
        let plan = Plan::new(header, json, &policy, lens.len() as u64)?;
        let digest = plan.header.checksum.len();
        let positions = lens.scan(plan.base(), |next, len| {
            let position = *next;
            *next += (len + digest) as u64;
            Some(position)
        });
        let positions = positions.collect();
        Ok(Self { plan, positions })
    }

    /// All that stands before the chunks.
    pub(crate) fn start(&self) -> Vec<u8> {
        let mut start = self.plan.head();
        start.extend(self.plan.table_bytes(&self.positions));
        start
    }

    /// What follows a chunk.
    pub(crate) fn digest(&self, chunk: &[u8]) -> Vec<u8> {
        let mut digest = Vec::new();
        self.plan.header.checksum.append(chunk, &mut digest);
        digest
    }
}
