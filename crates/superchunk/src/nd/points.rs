//! Single items, anywhere.

use std::borrow::Cow;
use std::ops::Range;

use super::NdArray;
use super::view::WORTH_THREADS;
use crate::chunk::Parts;
use crate::error::{Error, MustGet, OrBug, Result};
use crate::schunk::Made;

/// An item: its chunk, its first byte there, and its number among the points.
pub(super) type Place = (usize, usize, usize);

impl NdArray {
    /// Reads items into `dst`, one after the other, as often as they occur. `coordinates` are those
    /// of each item, one item after the other: as many numbers an item as the array has dimensions.
    pub fn read_points(&self, coordinates: &[u64], dst: &mut [u8]) -> Result<()> {
        self.read_places(&self.places(coordinates, dst.len())?, dst)
    }

    /// Reads items, sorted by their places, to where their numbers say.
    pub(super) fn read_places(&self, places: &[Place], dst: &mut [u8]) -> Result<()> {
        let item_size = self.item_size();
        let mut found = vec![0; places.len() * item_size];
        let mut shares = self.shares(places, &mut found)?;
        let executor = &self.frame.options().executor;
        let threads = self.frame.threads_for_chunks(self.geometry.chunk_bytes);
        let mut states = vec![(); threads.min(shares.len())];
        executor.for_each(&mut states, &mut shares, |(), _, share| {
            share.outcome = self.frame.read_parts(share.points.chunk(), &mut share.points);
        });
        shares.into_iter().try_for_each(|share| share.outcome)?;
        for ((_, _, number), item) in places.iter().zip(found.chunks_exact(item_size)) {
            dst.must_get_mut(number * item_size..(number + 1) * item_size)?.copy_from_slice(item);
        }
        Ok(())
    }

    /// What threads share: points of one chunk each, cut between blocks where that makes the shares alike.
    fn shares<'a>(&self, places: &'a [Place], mut found: &'a mut [u8]) -> Result<Vec<Share<'a>>> {
        let (block_bytes, item_size) = (self.geometry.block_bytes.max(1), self.item_size());
        let same_block =
            |a: &Place, b: &Place| a.0 == b.0 && a.1 / block_bytes == b.1 / block_bytes;
        let touched = places.chunk_by(same_block).count().saturating_mul(block_bytes);
        let threads = self.frame.threads_for_chunks(self.geometry.chunk_bytes);
        let enough = match threads > 1 && touched >= WORTH_THREADS {
            true => places.len().div_ceil(2 * threads),
            false => places.len(),
        };
        let mut count = 0;
        let pieces = places.chunk_by(|a, b| {
            count += 1;
            let goes_on = a.0 == b.0 && (count < enough || same_block(a, b));
            count = if goes_on { count } else { 0 };
            goes_on
        });
        let mut shares = Vec::new();
        for places in pieces {
            let (here, behind) = found.must_split_at_mut(places.len() * item_size)?;
            found = behind;
            let blocks = places.chunk_by(same_block).map(<[Place]>::len);
            let points = Points { places, blocks: ranges(blocks), found: here, item_size };
            shares.push(Share { points, outcome: Ok(()) });
        }
        Ok(shares)
    }

    /// Writes items at coordinates as [`NdArray::read_points`] takes them; of an item that occurs
    /// twice the last value stays. Every block that holds one is compressed anew.
    pub fn write_points(&mut self, coordinates: &[u64], bytes: &[u8]) -> Result<()> {
        let places = self.places(coordinates, bytes.len())?;
        let mut groups = places.chunk_by(|a, b| a.0 == b.0);
        let numbers: Vec<usize> =
            groups.clone().filter_map(|group| group.first()).map(|place| place.0).collect();
        let mut next = |_| groups.next().or_bug("every chunk that changes has its points");
        self.write_places(&numbers, bytes, |number| Ok(next(number)?.into()))
    }

    /// Writes items of the chunks `numbers`; `places` returns the items of one chunk after the
    /// other.
    pub(super) fn write_places<'p>(
        &mut self,
        numbers: &[usize],
        bytes: &[u8],
        mut places: impl FnMut(usize) -> Result<Cow<'p, [Place]>>,
    ) -> Result<()> {
        let (layer, item_size) = (self.layer_bytes(), self.item_size());
        let block_bytes = self.geometry.block_bytes;
        let numbers = numbers.iter().copied();
        self.frame.change_chunks((self.layer, &layer), numbers, |frame, number, buffer| {
            let places = places(number)?;
            let mut changed = vec![false; buffer.len() / block_bytes];
            for (_, byte, _) in places.iter() {
                *changed.must_get_mut(byte / block_bytes)? = true;
            }
            let others_stay = frame.read_changed_blocks(number, &changed, buffer)?;
            for (_, byte, number) in places.iter() {
                let from = bytes.must_get(number * item_size..(number + 1) * item_size)?;
                buffer.must_get_mut(*byte..byte + item_size)?.copy_from_slice(from);
            }
            Ok(if others_stay { Made::Blocks(changed) } else { Made::Whole })
        })
    }

    /// Where the points are, in the order of the storage.
    fn places(&self, coordinates: &[u64], len: usize) -> Result<Vec<Place>> {
        let (ndim, item_size) = (self.ndim(), self.item_size());
        let count = len / item_size;
        if count * item_size != len || count.checked_mul(ndim) != Some(coordinates.len()) {
            return Err(Error::invalid(format!(
                "expected {ndim} coordinates for each of {count} items of {item_size} bytes, got \
                 {} coordinates and {len} bytes",
                coordinates.len()
            )));
        }
        let mut places = Vec::with_capacity(count);
        for number in 0..count {
            let point = coordinates.must_get(number * ndim..(number + 1) * ndim)?;
            if point.iter().zip(self.shape()).any(|(at, side)| at >= side) {
                return Err(Error::invalid(format!(
                    "{point:?} is not an item of an array of shape {:?}",
                    self.shape()
                )));
            }
            let (chunk, byte) = self.geometry.place_of(point);
            places.push((chunk, byte, number));
        }
        places.sort_unstable();
        Ok(places)
    }
}

/// Ranges of these lengths, one behind the other.
fn ranges(lens: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut end = 0;
    let range = |len| {
        let start = end;
        end += len;
        start..end
    };
    lens.map(range).collect()
}

/// Points that one thread reads.
struct Share<'a> {
    points: Points<'a>,
    outcome: Result<()>,
}

/// Points of one chunk and their items, in the order of the storage.
struct Points<'a> {
    places: &'a [Place],
    /// Which of them are in the same block.
    blocks: Vec<Range<usize>>,
    found: &'a mut [u8],
    item_size: usize,
}

impl Points<'_> {
    fn chunk(&self) -> usize {
        self.places.first().map_or(0, |place| place.0)
    }

    fn of_block(&self, number: usize) -> Option<&[Place]> {
        self.places.get(self.blocks.get(number)?.clone())
    }
}

impl Parts for Points<'_> {
    fn range(&self, number: usize) -> Option<Range<usize>> {
        let block = self.of_block(number)?;
        Some(block.first()?.1..block.last()?.1 + self.item_size)
    }

    fn room(&mut self, _number: usize) -> Option<&mut [u8]> {
        None
    }

    fn take(&mut self, numbers: Range<usize>, bytes: &[u8]) -> Result<()> {
        let block = self.blocks.must_get(numbers.start)?.clone();
        let places = self.places.must_get(block.clone())?;
        let items = block.start * self.item_size..block.end * self.item_size;
        let items = self.found.must_get_mut(items)?;
        let first = places.first().map_or(0, |place| place.1);
        for ((_, byte, _), item) in places.iter().zip(items.chunks_exact_mut(self.item_size)) {
            let from = byte - first..byte - first + self.item_size;
            item.copy_from_slice(bytes.must_get(from)?);
        }
        Ok(())
    }
}
