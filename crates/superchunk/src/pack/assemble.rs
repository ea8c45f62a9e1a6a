//! A whole file out of chunks that are there already.

use super::header::Header;
use super::plan::{Plan, Policy};
use crate::error::Result;
use crate::wire::json::Json;

/// A file like `header` says, with these chunks as they are and their digests, and without room for more.
pub(crate) fn assemble(header: Header, json: Option<&Json>, chunks: &[&[u8]]) -> Result<Vec<u8>> {
    let policy = Policy { slots: Some(0), ..Policy::default() };
    let plan = Plan::new(header, json, &policy, chunks.len() as u64)?;
    let checksum = plan.header.checksum;
    let positions = chunks.iter().scan(plan.base(), |next, chunk| {
        let position = *next;
        *next += (chunk.len() + checksum.len()) as u64;
        Some(position)
    });
    let mut file = plan.head();
    file.extend(plan.table_bytes(&positions.collect::<Vec<u64>>()));
    for chunk in chunks {
        file.extend_from_slice(chunk);
        checksum.append(chunk, &mut file);
    }
    Ok(file)
}
