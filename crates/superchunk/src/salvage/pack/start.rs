//! What can be read of the start of a file: header, metadata, positions.

use crate::limits::Limits;
use crate::pack::{Header, Start, Trust};
use crate::store::Bytes;
use crate::wire::json::Json;

use super::super::report::{Report, Source};
use super::search::Search;

/// The bytes of a position.
const WIDTH: usize = 8;
/// How many positions a table may have that was only found.
const MOST_POSITIONS: usize = 1 << 20;

/// The start of a file, as far as it can be read.
pub(super) struct Beginning {
    pub(super) header: Option<Header>,
    pub(super) metadata: Option<Json>,
    /// Where header and metadata say that positions are.
    table: Option<usize>,
    /// Where the first chunk must be, if that is known.
    pub(super) chunks: Option<usize>,
}

impl Beginning {
    /// Reads what can be read, and reports what cannot.
    pub(super) fn read(bytes: &[u8], limits: &Limits, report: &mut Report) -> Self {
        let trust = Trust { lenient: true, unchecked: false, limits: *limits };
        let store = Bytes::new(bytes);
        let header = Header::parse(bytes);
        if let Err(error) = &header {
            report.lose(Source::Bytes(0..32), format!("the header: {error}"));
        }
        let header = header.ok();
        if let Some(header) = &header {
            match Start::read(&store, &trust) {
                Ok(start) => {
                    let table = header.offsets.then(|| usize::try_from(start.table).ok()).flatten();
                    let chunks = usize::try_from(start.table_end).ok();
                    let metadata = start.metadata;
                    return Self { header: Some(start.header), metadata, table, chunks };
                }
                Err(error) => {
                    let source = Source::Bytes(header.stored_len()..header.stored_len());
                    report.lose(source, format!("what stands before the chunks: {error}"));
                }
            }
        }
        // The metadata of version 3 stands behind the header, whether that can be read or not.
        let metadata = Start::metadata_of(&store, &trust).ok().or_else(|| {
            let unchecked = Trust { unchecked: true, ..trust };
            let metadata = Start::metadata_of(&store, &unchecked).ok()?;
            report.notes.push("the metadata does not have its digest, but can be read".to_owned());
            Some(metadata)
        });
        Self { header, metadata, table: None, chunks: None }
    }

    /// The positions of all chunks: where they are said to be, or where they are found. `None` if most of
    /// them lead nowhere. Tells whether they are where they are said to be.
    pub(super) fn positions(&self, bytes: &[u8], search: &Search) -> Option<(Vec<u64>, bool)> {
        let starts: Vec<u64> = search.found.iter().map(|found| found.range.start as u64).collect();
        let count = self.header.as_ref().and_then(|header| header.chunk_count);
        let stated = self.table.zip(count).map(|(table, count)| {
            let count = usize::try_from(count).unwrap_or(0);
            positions_at(bytes, table).take(count).collect::<Vec<u64>>()
        });
        if let Some(stated) = stated.filter(|stated| leads(stated, &starts)) {
            return Some((stated, true));
        }
        // A number alone is found anywhere.
        let (first, second) = (starts.first()?, starts.get(1)?);
        if self.header.as_ref().is_some_and(|header| !header.offsets) {
            return None;
        }
        let end = usize::try_from(*first).unwrap_or(0).min(bytes.len());
        let is_table = |at: &usize| {
            let mut listed = positions_at(bytes, *at);
            listed.next() == Some(*first) && listed.next() == Some(*second)
        };
        let at = table_start(bytes, (0..end.saturating_sub(WIDTH - 1)).find(is_table)?);
        let mut least = 0;
        let rising = |position: &u64| {
            let rises = *position > least && *position < bytes.len() as u64;
            least = *position;
            rises
        };
        let found: Vec<u64> = positions_at(bytes, at)
            .take(MOST_POSITIONS.min((end - at) / WIDTH))
            .take_while(rising)
            .collect();
        leads(&found, &starts).then_some((found, false))
    }
}

/// Where a list begins of which a part begins at `at`: chunks before those that were found may be lost.
fn table_start(bytes: &[u8], mut at: usize) -> usize {
    let number = |at: usize| positions_at(bytes, at).next().unwrap_or(0);
    while let Some(before) = at.checked_sub(WIDTH)
        && number(before) > at as u64
        && number(before) < number(at)
    {
        at = before;
    }
    at
}

/// Whether most chunks are where a list says.
fn leads(positions: &[u64], starts: &[u64]) -> bool {
    let hits = starts.iter().filter(|start| positions.contains(start)).count();
    hits > 0 && 2 * hits >= starts.len().min(positions.len())
}

/// The numbers from a place on.
fn positions_at(bytes: &[u8], at: usize) -> impl Iterator<Item = u64> {
    let (stored, _) = bytes.get(at..).unwrap_or_default().as_chunks::<WIDTH>();
    stored.iter().map(|position| u64::from_le_bytes(*position))
}
