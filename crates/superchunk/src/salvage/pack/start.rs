//! What can be read of the start of a file: header, metadata, positions.

use std::collections::HashSet;

use crate::error::Result;
use crate::limits::Limits;
use crate::pack::{HEADER_LEN, PackHeader, Start, Trust};
use crate::store::ReadAt;
use crate::wire::json::Json;

use super::super::input::Input;
use super::super::report::{FoundAt, SalvageReport};
use super::search::Search;

/// The bytes of a position.
const WIDTH: u64 = 8;
/// What a position takes, with the place that it tells.
const BYTES_PER_POSITION: u64 = 128;

/// The start of a file, as far as it can be read.
pub(super) struct Beginning {
    pub(super) header: Option<PackHeader>,
    pub(super) metadata: Option<Json>,
    /// Where header and metadata say that positions are.
    table: Option<u64>,
    /// Where the first chunk must be, if that is known.
    pub(super) chunks: Option<u64>,
}

impl Beginning {
    /// Reads what can be read, and reports what cannot.
    pub(super) fn read(
        store: &dyn ReadAt,
        input: &mut Input<'_>,
        limits: &Limits,
        report: &mut SalvageReport,
    ) -> Self {
        let trust = Trust { lenient: true, unchecked: false, limits: *limits };
        let header = PackHeader::parse(input.get(0, HEADER_LEN));
        if let Err(error) = &header {
            report.lose(FoundAt::Bytes(0..32), format!("the header: {error}"));
        }
        let header = header.ok();
        if let Some(header) = &header {
            match Start::read(store, &trust) {
                Ok(start) => {
                    let table = header.offsets.then_some(start.table);
                    let chunks = Some(start.table_end);
                    let metadata = start.metadata;
                    return Self { header: Some(start.header), metadata, table, chunks };
                }
                Err(error) => {
                    let source = FoundAt::Bytes(header.stored_len()..header.stored_len());
                    report.lose(source, format!("what stands before the chunks: {error}"));
                }
            }
        }
        // The metadata of version 3 stands behind the header, whether that can be read or not.
        let metadata = Start::metadata_of(store, &trust).ok().or_else(|| {
            let unchecked = Trust { unchecked: true, ..trust };
            let metadata = Start::metadata_of(store, &unchecked).ok()?;
            report.notes.push("the metadata does not have its digest, but can be read".to_owned());
            Some(metadata)
        });
        Self { header, metadata, table: None, chunks: None }
    }

    /// The positions of all chunks: where they are said to be, or where they are found. `None` if most of
    /// them lead nowhere. Tells whether they are where they are said to be.
    pub(super) fn positions(
        &self,
        input: &mut Input<'_>,
        search: &Search,
        limits: &Limits,
    ) -> Result<Option<(Vec<u64>, bool)>> {
        let starts: Vec<u64> = search.found.iter().map(|found| found.range.start).collect();
        let count = self.header.as_ref().and_then(|header| header.chunk_count);
        if let Some((table, count)) = self.table.zip(count) {
            limits.check_metadata("list of offsets", count.saturating_mul(BYTES_PER_POSITION))?;
            let stated: Vec<u64> =
                (0..count).map_while(|n| number(input, table + n * WIDTH)).collect();
            if leads(&stated, &starts) {
                return Ok(Some((stated, true)));
            }
        }
        // A number alone is found anywhere.
        let (Some(first), Some(second)) = (starts.first(), starts.get(1)) else { return Ok(None) };
        if self.header.as_ref().is_some_and(|header| !header.offsets) {
            return Ok(None);
        }
        let pair = [first.to_le_bytes(), second.to_le_bytes()].concat();
        let Some(at) = input.position_of(0..*first, |found: &[u8; 16]| found[..] == pair) else {
            return Ok(None);
        };
        let at = table_start(input, at);
        let most = (limits.max_metadata as u64 / BYTES_PER_POSITION).min((*first - at) / WIDTH);
        let (mut found, mut least) = (Vec::new(), 0);
        for n in 0..most {
            match number(input, at + n * WIDTH) {
                Some(position) if position > least && position < input.len() => {
                    found.push(position);
                    least = position;
                }
                _ => break,
            }
        }
        Ok(leads(&found, &starts).then_some((found, false)))
    }
}

/// Where a list begins of which a part begins at `at`: chunks before those that were found may be lost.
fn table_start(input: &mut Input<'_>, mut at: u64) -> u64 {
    while let Some(before) = at.checked_sub(WIDTH)
        && let (Some(one), Some(next)) = (number(input, before), number(input, at))
        && one > at
        && one < next
    {
        at = before;
    }
    at
}

/// Whether most chunks are where a list says.
fn leads(positions: &[u64], starts: &[u64]) -> bool {
    let listed: HashSet<&u64> = positions.iter().collect();
    let hits = starts.iter().filter(|start| listed.contains(start)).count();
    hits > 0 && 2 * hits >= starts.len().min(positions.len())
}

/// The number in a place.
fn number(input: &mut Input<'_>, at: u64) -> Option<u64> {
    input.get(at, 8).first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}
