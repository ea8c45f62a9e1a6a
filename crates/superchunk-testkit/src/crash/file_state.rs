//! A file between two syncs: what is on the disk for certain, and what may be.

use std::ops::Range;
use std::sync::Arc;

use super::SECTOR;
use super::image::Bytes;
use super::replay::Luck;

/// A file of a disk that may be cut off.
#[derive(Clone, Debug, Default)]
pub(super) struct FileState {
    durable: Bytes,
    pending: Vec<Change>,
    /// The length with all changes.
    len: usize,
}

#[derive(Clone, Debug)]
struct Change {
    kind: Kind,
    /// A sync that was to save it has failed.
    lost: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Write(usize, Arc<[u8]>),
    /// From one length to another.
    SetLen(usize, usize),
}

impl FileState {
    pub(super) fn write(&mut self, position: usize, bytes: Arc<[u8]>) {
        self.len = self.len.max(position + bytes.len());
        self.pending.push(Change { kind: Kind::Write(position, bytes), lost: false });
    }

    pub(super) fn set_len(&mut self, len: usize) {
        let kind = Kind::SetLen(self.len, len);
        self.len = len;
        self.pending.push(Change { kind, lost: false });
    }

    /// Every sector that something was written to since the last failed sync is on the disk now.
    pub(super) fn sync(&mut self) {
        let saved = |change: &&Change| !change.lost;
        let fresh: Vec<Range<usize>> =
            self.pending.iter().filter(saved).map(|change| change.kind.range()).collect();
        let is_fresh = |sector: usize| {
            let span = sector * SECTOR..(sector + 1) * SECTOR;
            fresh.iter().any(|range| range.start < span.end && span.start < range.end)
        };
        let stale = |sector: usize| !is_fresh(sector);
        let durable = self.build(self.len, 0, |sector, _| is_fresh(sector));
        let mut left = Vec::new();
        for change in self.pending.iter().filter(|change| change.lost) {
            let Kind::Write(position, bytes) = &change.kind else { continue };
            for part in pieces(*position..position + bytes.len()) {
                if stale(part.start / SECTOR) {
                    let cut = bytes.get(part.start - position..part.end - position);
                    let kind = Kind::Write(part.start, cut.unwrap_or_default().into());
                    left.push(Change { kind, lost: true });
                }
            }
        }
        self.durable = Bytes::new(durable);
        self.pending = left;
    }

    pub(super) fn sync_failed(&mut self) {
        self.pending.iter_mut().for_each(|change| change.lost = true);
    }

    /// One of the contents that the file may have after a cut.
    pub(super) fn cut(&self, luck: &mut Luck) -> Bytes {
        if self.pending.is_empty() {
            return self.durable.clone();
        }
        let all = self.pending.len();
        let fill = luck.fill();
        let mood = luck.mood(all);
        let len = self.len_after(luck.how_many(mood, all), luck);
        // Each sector stops at a moment of its own, the same for all pieces of a write in it.
        let mut stops = std::collections::HashMap::new();
        let bytes = self.build(len, fill, |sector, number| {
            let stop = stops.entry(sector).or_insert_with(|| luck.how_many(mood, all));
            number < *stop
        });
        Bytes::new(bytes)
    }

    /// The length after the first `count` changes, or one on the way to it.
    fn len_after(&self, count: usize, luck: &mut Luck) -> usize {
        let (mut before, mut len) = (self.durable.len(), self.durable.len());
        for change in self.pending.iter().take(count) {
            before = len;
            len = match &change.kind {
                Kind::Write(position, bytes) => len.max(position + bytes.len()),
                Kind::SetLen(_, len) => *len,
            };
        }
        let on_the_way = (before / SECTOR + 1) * SECTOR;
        if on_the_way < len && luck.rarely() {
            return on_the_way + luck.below((len - on_the_way) / SECTOR + 1) * SECTOR;
        }
        len
    }

    /// The bytes of the file if `has` tells which sector has which change; `fill` is what is in
    /// sectors that the file has got, but whose bytes never came.
    fn build(&self, len: usize, fill: u8, mut has: impl FnMut(usize, usize) -> bool) -> Vec<u8> {
        let mut bytes = self.durable.to_vec();
        bytes.resize(self.durable.len().max(len).max(self.len), 0);
        for (number, change) in self.pending.iter().enumerate() {
            for part in pieces(change.kind.range()) {
                let done = has(part.start / SECTOR, number);
                let end = part.end.min(bytes.len());
                let Some(to) = bytes.get_mut(part.start.min(end)..end) else { continue };
                match &change.kind {
                    Kind::Write(position, from) if done => {
                        let from = from.get(part.start - position..).unwrap_or_default();
                        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                    }
                    Kind::SetLen(..) if done => to.fill(0),
                    Kind::Write(..) if part.start >= self.durable.len() && fill != 0 => {
                        // Only what nobody has written yet.
                        to.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = fill);
                    }
                    _ => {}
                }
            }
        }
        bytes.resize(len, 0);
        bytes
    }
}

impl Kind {
    /// The bytes that change.
    fn range(&self) -> Range<usize> {
        match self {
            Self::Write(position, bytes) => *position..position + bytes.len(),
            Self::SetLen(from, to) => *to.min(from)..*from.max(to),
        }
    }
}

/// A range cut where sectors end.
fn pieces(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        let end = range.end.min((start / SECTOR + 1) * SECTOR);
        let piece = (start < end).then_some(start..end);
        start = end;
        piece
    })
}
