//! The scan itself: span after span, several at once with several threads.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::batch::{Batch, Rows};
use super::plan::{span_at, span_len, span_rows, stretches};
use super::stretch::Stretch;
use super::{Scan, ScanStats};
use crate::error::{Error, Result};
use crate::exec::Executor;
use crate::limits::Limits;
use crate::table::expr::{Filter, Verdict};
use crate::table::source::{Column, Source, check_rows, column_of};

/// The rows of a [`Scan`], batch by batch, in their order.
///
/// After an error there are no more.
pub struct Batches<'a> {
    work: Work<'a>,
    executor: Executor,
    rows: Range<u64>,
    span_rows: u64,
    /// The bytes of the columns that are read for a span, all of their rows.
    span_len: usize,
    /// Matching rows to leave out, and those to give after that.
    skip: u64,
    left: u64,
    ready: VecDeque<Batch>,
    stats: ScanStats,
}

/// What is done to each span.
struct Work<'a> {
    source: Arc<dyn Source + 'a>,
    filter: Filter,
    wanted: Vec<(usize, Arc<Column>)>,
    batch_rows: usize,
    limits: Limits,
}

/// A span, and what became of it.
struct Span {
    rows: Range<u64>,
    result: Result<(Vec<Batch>, ScanStats)>,
}

impl fmt::Debug for Batches<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches")
            .field("rows_left", &self.rows)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

impl<'a> Batches<'a> {
    pub(super) fn new(scan: &Scan<'a>) -> Result<Self> {
        let source = Arc::clone(&scan.source);
        let columns = source.columns();
        let rows = scan.rows.clone().unwrap_or(0..source.rows());
        check_rows(&rows, source.rows())?;
        let filter = Filter::new(&scan.filters, columns, &scan.params)?;
        let wanted = scan
            .wanted()?
            .into_iter()
            .map(|index| Ok((index, Arc::new(column_of(columns, index)?.clone()))));
        let wanted = wanted.collect::<Result<Vec<_>>>()?;
        let tested = filter.slots().iter().filter_map(|slot| columns.get(slot.column));
        let read = tested.chain(wanted.iter().map(|(_, column)| &**column));
        let (span_rows, span_len) = (span_rows(read.clone()), span_len(read));
        let batch_rows = scan.batch_rows;
        let work = Work { source, filter, wanted, batch_rows, limits: scan.limits };
        Ok(Self {
            work,
            executor: scan.executor.clone(),
            rows,
            span_rows,
            span_len,
            skip: scan.skip,
            left: scan.limit,
            ready: VecDeque::new(),
            stats: ScanStats::default(),
        })
    }

    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> ScanStats {
        self.stats
    }

    /// The columns of the batches.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        self.work.wanted.iter().map(|(_, column)| Column::clone(column)).collect()
    }

    fn next_span(&mut self) -> Option<Range<u64>> {
        let span = span_at(self.rows.start, self.rows.end, self.span_rows);
        self.rows.start = span.end.max(self.rows.start);
        (span.start < span.end).then_some(span)
    }

    /// Works on the next spans.
    fn advance(&mut self) -> Result<()> {
        if self.skip > 0 || self.left < u64::MAX {
            return self.advance_bounded();
        }
        let threads = self.work.limits.threads_holding(self.span_len, self.executor.thread_count());
        let mut spans: Vec<Span> = Vec::with_capacity(threads);
        while spans.len() < threads {
            let Some(rows) = self.next_span() else { break };
            spans.push(Span { rows, result: Ok(Default::default()) });
        }
        let work = &self.work;
        let mut states = vec![(); threads];
        self.executor.for_each(&mut states, &mut spans, |(), _, span| {
            let (mut skip, mut left) = (0, u64::MAX);
            span.result = work.span(span.rows.clone(), &mut skip, &mut left);
        });
        for span in spans {
            let (batches, stats) = span.result?;
            self.ready.extend(batches);
            self.stats.add(&stats);
        }
        Ok(())
    }

    /// One span, of which some rows may be too many: these are not read.
    fn advance_bounded(&mut self) -> Result<()> {
        if self.left == 0 {
            self.rows.start = self.rows.end;
        }
        let Some(rows) = self.next_span() else { return Ok(()) };
        let (batches, stats) = self.work.span(rows, &mut self.skip, &mut self.left)?;
        self.ready.extend(batches);
        self.stats.add(&stats);
        Ok(())
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && self.rows.start < self.rows.end {
            if let Err(error) = self.advance() {
                self.rows.start = self.rows.end;
                return Some(Err(error));
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

impl Work<'_> {
    /// The batches of a span, without the first `skip` matching rows, and not more than `left`.
    fn span(
        &self,
        rows: Range<u64>,
        skip: &mut u64,
        left: &mut u64,
    ) -> Result<(Vec<Batch>, ScanStats)> {
        let mut batches = Vec::new();
        let mut stats = ScanStats::default();
        for (part, verdict) in stretches(&*self.source, &self.filter, rows) {
            let len = part.end - part.start;
            if *left == 0 {
                break;
            }
            let stretch = Stretch::new(&*self.source, &self.filter, part.clone(), self.limits);
            let found = match verdict {
                Verdict::Never => {
                    stats.rows_skipped += len;
                    continue;
                }
                Verdict::Perhaps => stretch.matching(&self.filter)?,
                Verdict::Always => {
                    stats.rows_foretold += len;
                    Rows::All(part)
                }
            };
            self.fetch(&stretch, bounded(found, skip, left), &mut batches)?;
            stats.add(&stretch.stats());
        }
        stats.rows_selected = batches.iter().map(|batch| batch.len() as u64).sum();
        Ok((batches, stats))
    }

    /// The wanted columns of these rows.
    fn fetch(&self, stretch: &Stretch<'_>, mut rows: Rows, batches: &mut Vec<Batch>) -> Result<()> {
        while rows.len() > 0 {
            let part = match rows.len() <= self.batch_rows {
                true => std::mem::replace(&mut rows, Rows::Some(Vec::new())),
                false => rows.take_front(self.batch_rows),
            };
            let columns = self.wanted.iter().map(|(index, column)| {
                let told = |error: Error| error.within(format!("column `{}`", column.name));
                stretch.fetch(*index, column, &part).map_err(told)
            });
            let columns = columns.collect::<Result<Vec<_>>>()?;
            batches.push(Batch::new(part, columns));
        }
        Ok(())
    }
}

/// The rows behind those to skip, and no more than are left.
fn bounded(mut rows: Rows, skip: &mut u64, left: &mut u64) -> Rows {
    let skipped = usize::try_from(*skip).unwrap_or(usize::MAX).min(rows.len());
    if skipped > 0 {
        drop(rows.take_front(skipped));
        *skip -= skipped as u64;
    }
    let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(rows.len());
    if *left < u64::MAX {
        *left -= taken as u64;
    }
    if taken < rows.len() { rows.take_front(taken) } else { rows }
}
