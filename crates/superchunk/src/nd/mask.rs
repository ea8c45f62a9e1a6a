//! The items that a mask of the array's shape selects.

use std::borrow::Cow;

use super::NdArray;
use super::geometry::{Geometry, product};
use super::odometer::Odometer;
use super::points::Place;
use crate::error::{Error, MustGet, Result};

/// Items are read together until there are as many as this, which bounds the memory for their
/// places.
const MAX_PLACES: usize = 1 << 16;
/// A chunk of which one item in this many is selected is read whole: that is faster than looking for
/// each item.
const DENSE: usize = 32;

impl NdArray {
    /// Reads the items for which `mask` is true, in C order. It has one value for each item of the
    /// array, in C order.
    pub fn read_mask(&self, mask: &[bool]) -> Result<Vec<u8>> {
        let mask = Mask::new(mask, &self.geometry)?;
        let mut bytes = vec![0; self.bytes_of(&[mask.selected])?];
        self.read_masked(&mask, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads such items into `dst`, which has exactly their length.
    pub fn read_mask_into(&self, mask: &[bool], dst: &mut [u8]) -> Result<()> {
        let mask = Mask::new(mask, &self.geometry)?;
        mask.check_len(self.item_size(), dst.len())?;
        self.read_masked(&mask, dst)
    }

    fn read_masked(&self, mask: &Mask<'_>, dst: &mut [u8]) -> Result<()> {
        let mut places = Vec::new();
        for chunk in mask.touched_chunks()? {
            if mask.is_dense(chunk)? {
                self.read_dense(mask, chunk, dst)?;
                continue;
            }
            places.extend(mask.places(chunk)?);
            if places.len() >= MAX_PLACES {
                self.read_places(&places, dst)?;
                places.clear();
            }
        }
        self.read_places(&places, dst)
    }

    /// Reads a chunk whole and takes the selected items of it.
    fn read_dense(&self, mask: &Mask<'_>, chunk: usize, dst: &mut [u8]) -> Result<()> {
        let start = self.geometry.chunk_start(chunk);
        let bytes = self.view().read_box(&start, &self.geometry.chunk_extent(&start))?;
        let item_size = self.item_size();
        let mut rest = bytes.as_slice();
        let mut taken = Vec::new();
        for piece in mask.pieces(chunk) {
            let (items, behind) = rest.must_split_at(piece.len * item_size)?;
            rest = behind;
            let len = take_selected(mask.bits_of(&piece)?, items, item_size, &mut taken)?;
            let start = mask.before.must_get(piece.number)? * item_size;
            dst.must_get_mut(start..start + len)?.copy_from_slice(taken.must_get(..len)?);
        }
        Ok(())
    }

    /// Writes the items for which `mask` is true; `bytes` are theirs, in C order. Every block that
    /// holds one is compressed anew.
    pub fn write_mask(&mut self, mask: &[bool], bytes: &[u8]) -> Result<()> {
        let geometry = self.geometry.clone();
        let mask = Mask::new(mask, &geometry)?;
        mask.check_len(self.item_size(), bytes.len())?;
        let chunks = mask.touched_chunks()?;
        self.write_places(&chunks, bytes, |chunk| Ok(Cow::Owned(mask.places(chunk)?)))
    }
}

/// A mask, with the number of each piece's first selected item: a piece is what a row of the array
/// (along its last axis) has in one chunk.
struct Mask<'a> {
    bits: &'a [bool],
    geometry: &'a Geometry,
    /// The length of a row, and of the pieces that chunks cut it into.
    side: usize,
    piece: usize,
    /// For each piece, how many items are selected before it.
    before: Vec<usize>,
    selected: usize,
}

impl<'a> Mask<'a> {
    fn new(bits: &'a [bool], geometry: &'a Geometry) -> Result<Self> {
        let items = geometry.shape.iter().try_fold(1_u64, |items, side| items.checked_mul(*side));
        if items != u64::try_from(bits.len()).ok() {
            return Err(Error::invalid(format!(
                "expected a mask with a value for each item of shape {:?}, got {} values",
                geometry.shape,
                bits.len()
            )));
        }
        let to_usize = |side: u64| usize::try_from(side).unwrap_or(usize::MAX);
        let side = geometry.shape.last().map_or(1, |side| to_usize(*side)).max(1);
        let piece = geometry.chunks.last().map_or(1, |piece| (*piece).max(1));
        let mut selected = 0;
        let mut before = Vec::with_capacity(bits.len().div_ceil(side) * side.div_ceil(piece));
        for piece in bits.chunks(side).flat_map(|row| row.chunks(piece)) {
            before.push(selected);
            selected += piece.iter().filter(|bit| **bit).count();
        }
        Ok(Self { bits, geometry, side, piece, before, selected })
    }

    /// Refuses a buffer that is not as long as the selected items.
    fn check_len(&self, item_size: usize, len: usize) -> Result<()> {
        if product(&[self.selected], item_size) == Some(len) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the mask selects {} items of {item_size} bytes, got {len} bytes",
            self.selected
        )))
    }

    /// The numbers of the chunks that hold selected items.
    fn touched_chunks(&self) -> Result<Vec<usize>> {
        let mut touched = Vec::new();
        for chunk in 0..self.geometry.chunk_count {
            for piece in self.pieces(chunk) {
                if self.bits_of(&piece)?.contains(&true) {
                    touched.push(chunk);
                    break;
                }
            }
        }
        Ok(touched)
    }

    /// Whether so many items of a chunk are selected that it is read whole.
    fn is_dense(&self, chunk: usize) -> Result<bool> {
        let (mut selected, mut all) = (0, 0);
        for piece in self.pieces(chunk) {
            let bits = self.bits_of(&piece)?;
            selected += bits.iter().filter(|bit| **bit).count();
            all += bits.len();
        }
        Ok(selected > all / DENSE)
    }

    /// The selected items of a chunk, in the order of the storage.
    fn places(&self, chunk: usize) -> Result<Vec<Place>> {
        let mut places = Vec::new();
        for piece in self.pieces(chunk) {
            let mut number = *self.before.must_get(piece.number)?;
            let mut point = piece.start.clone();
            for bit in self.bits_of(&piece)? {
                if *bit {
                    let (_, byte) = self.geometry.place_of(&point);
                    places.push((chunk, byte, number));
                    number += 1;
                }
                point.iter_mut().rev().take(1).for_each(|last| *last += 1);
            }
        }
        places.sort_unstable();
        Ok(places)
    }

    /// The pieces of a chunk, in C order.
    fn pieces(&self, chunk: usize) -> impl Iterator<Item = Piece> + '_ {
        let start = self.geometry.chunk_start(chunk);
        let extent = self.geometry.chunk_extent(&start);
        let len = extent.last().map_or(1, |len| *len);
        let outer = extent.len().saturating_sub(1);
        let mut odometer = Odometer::new(extent.into_iter().take(outer));
        std::iter::from_fn(move || {
            let at = odometer.next()?;
            let mut point = start.clone();
            point.iter_mut().zip(at).for_each(|(point, at)| *point += *at as u64);
            let axes = point.iter().zip(&self.geometry.shape).take(outer);
            let row = axes.fold(0, |row, (at, side)| row * side + at);
            let row = usize::try_from(row).unwrap_or(usize::MAX);
            let column = point.last().map_or(0, |at| usize::try_from(*at).unwrap_or(usize::MAX));
            let number = row * self.side.div_ceil(self.piece) + column / self.piece;
            Some(Piece { number, start: point, first: row * self.side + column, len })
        })
    }

    fn bits_of(&self, piece: &Piece) -> Result<&[bool]> {
        self.bits.must_get(piece.first..piece.first + piece.len)
    }
}

/// What a row of the array has in one chunk.
struct Piece {
    number: usize,
    /// The coordinates of its first item.
    start: Vec<u64>,
    /// The place of the first item in the mask.
    first: usize,
    len: usize,
}

/// Takes the selected items into `taken`, one after the other; returns how many bytes they are.
fn take_selected(
    bits: &[bool],
    items: &[u8],
    item_size: usize,
    taken: &mut Vec<u8>,
) -> Result<usize> {
    // Room for an item that is not selected: every item is copied, and the next one takes its place
    // unless it was selected. A branch for each item would be mispredicted again and again.
    taken.resize(items.len() + item_size, 0);
    match item_size {
        1 => take_sized::<1>(bits, items, taken),
        2 => take_sized::<2>(bits, items, taken),
        4 => take_sized::<4>(bits, items, taken),
        8 => take_sized::<8>(bits, items, taken),
        16 => take_sized::<16>(bits, items, taken),
        _ => {
            let mut len = 0;
            let selected = bits.iter().zip(items.chunks_exact(item_size)).filter(|(bit, _)| **bit);
            for (_, item) in selected {
                taken.must_get_mut(len..len + item_size)?.copy_from_slice(item);
                len += item_size;
            }
            Ok(len)
        }
    }
}

fn take_sized<const SIZE: usize>(bits: &[bool], items: &[u8], taken: &mut [u8]) -> Result<usize> {
    let (items, _) = items.as_chunks::<SIZE>();
    let (taken, _) = taken.as_chunks_mut::<SIZE>();
    let mut count = 0;
    for (bit, item) in bits.iter().zip(items) {
        *taken.must_get_mut(count)? = *item;
        count += usize::from(*bit);
    }
    Ok(count * SIZE)
}
