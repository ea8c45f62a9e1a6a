//! Arrays that change their shape. Data and shape change together: a commit shows both or neither.

use super::NdArray;
use super::assemble::{Piece, Source, assemble};
use super::geometry::Geometry;
use super::view::View;
use crate::b2nd::Meta;
use crate::error::{Error, MustGet, Result};
use crate::schunk::SuperChunk;

impl NdArray {
    /// Makes the array longer or shorter along any axes. New items are zero, also where an item was
    /// before an earlier shrinking.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        let common = self.shape().iter().zip(shape).map(|(old, new)| *old.min(new)).collect();
        let kept = Piece {
            start: vec![0; shape.len()],
            stop: common,
            source: Source::Old(vec![0; shape.len()]),
        };
        let first = self.shape().iter().zip(shape).next().map_or(0, |(old, new)| *old.min(new));
        self.reshape(shape, &[kept], first)
    }

    /// Appends items along an axis; `bytes` are theirs in C order: whole rows, planes, …
    pub fn append(&mut self, axis: usize, bytes: &[u8]) -> Result<()> {
        let end = self.side(axis)?;
        self.insert(axis, end, bytes)
    }

    /// Inserts items before index `position` of an axis; `bytes` are theirs in C order.
    ///
    /// Where position and number are multiples of the chunk's length, or at the end, no other chunk is
    /// touched; else all chunks behind the position are written anew.
    pub fn insert(&mut self, axis: usize, position: u64, bytes: &[u8]) -> Result<()> {
        let side = self.side(axis)?;
        if position > side {
            return Err(Error::invalid(format!("index {position} leaves axis {axis} of {side}")));
        }
        let count = self.rows_in(axis, bytes.len())?;
        let mut shape = self.shape().to_vec();
        let new_side =
            side.checked_add(count).ok_or_else(|| Error::limit("an axis is too long"))?;
        set(&mut shape, axis, new_side)?;
        let behind = position + count;
        let pieces = [
            self.moved(axis, 0..position, 0)?,
            piece(&shape, axis, position..behind, Source::Data(bytes))?,
            self.moved(axis, position..side, behind)?,
        ];
        self.reshape(&shape, &pieces, if axis == 0 { position } else { 0 })
    }

    /// Deletes `count` indexes of an axis from `start` on.
    ///
    /// Where both are multiples of the chunk's length, or reach to the end, no other chunk is touched;
    /// else all chunks behind the position are written anew.
    pub fn delete(&mut self, axis: usize, start: u64, count: u64) -> Result<()> {
        let side = self.side(axis)?;
        let behind =
            start.checked_add(count).filter(|behind| *behind <= side).ok_or_else(|| {
                Error::invalid(format!(
                    "{count} indexes from {start} on leave axis {axis} of {side}"
                ))
            })?;
        let mut shape = self.shape().to_vec();
        set(&mut shape, axis, side - count)?;
        let pieces = [self.moved(axis, 0..start, 0)?, self.moved(axis, behind..side, start)?];
        self.reshape(&shape, &pieces, if axis == 0 { start } else { 0 })
    }

    /// The array becomes these pieces, and zeros. The first `same` indexes of axis 0 stay, if no other
    /// axis changes.
    fn reshape(&mut self, shape: &[u64], pieces: &[Piece<'_>], same: u64) -> Result<()> {
        let new = self.geometry.reshaped(shape)?;
        let pieces: Vec<Piece<'_>> = pieces
            .iter()
            .filter(|piece| piece.start.iter().zip(&piece.stop).all(|(start, stop)| start < stop))
            .cloned()
            .collect();
        let layer = self.layer_bytes();
        let content = Meta::reshaped(&layer, shape)?;
        let old = &self.geometry;
        let counts = (unchanged_chunks(old, &new, same), new.chunk_count);
        let make = |frame: &SuperChunk, number: usize, buffer: &mut [u8]| {
            assemble(View { frame, geometry: old }, &new, &pieces, number, buffer)
        };
        self.frame.remake_chunks(counts, (self.layer, &layer), &content, make)?;
        self.geometry = new;
        Ok(())
    }

    /// The old indexes `range` of an axis, moved so that they begin at `to`.
    fn moved(&self, axis: usize, range: std::ops::Range<u64>, to: u64) -> Result<Piece<'static>> {
        let mut origin = vec![0; self.ndim()];
        set(&mut origin, axis, range.start)?;
        let len = range.end - range.start;
        piece(self.shape(), axis, to..to + len, Source::Old(origin))
    }

    fn side(&self, axis: usize) -> Result<u64> {
        let side = self.shape().get(axis).copied();
        side.ok_or_else(|| {
            Error::invalid(format!("there is no axis {axis}: the array has {}", self.ndim()))
        })
    }

    /// How many indexes of an axis so many bytes are.
    fn rows_in(&self, axis: usize, len: usize) -> Result<u64> {
        let others = self.shape().iter().enumerate().filter(|(other, _)| *other != axis);
        let row = others.fold(self.item_size() as u64, |row, (_, side)| row.saturating_mul(*side));
        match (len as u64).checked_rem(row) {
            Some(0) => Ok(len as u64 / row),
            None if len == 0 => Ok(0),
            _ => Err(Error::invalid(format!(
                "{len} bytes are no whole number of rows of {row} bytes along axis {axis}"
            ))),
        }
    }
}

/// How many chunks lie in the first `same` indexes of axis 0, where only that axis changes.
fn unchanged_chunks(old: &Geometry, new: &Geometry, same: u64) -> usize {
    if old.shape.get(1..) != new.shape.get(1..) {
        return 0;
    }
    let side = new.chunks.first().map_or(1, |side| (*side).max(1) as u64);
    let row: u64 = new.grid.iter().skip(1).product();
    usize::try_from(same / side * row).unwrap_or(0)
}

/// All of `shape`, but only `range` along an axis.
fn piece<'a>(
    shape: &[u64],
    axis: usize,
    range: std::ops::Range<u64>,
    source: Source<'a>,
) -> Result<Piece<'a>> {
    let (mut start, mut stop) = (vec![0; shape.len()], shape.to_vec());
    set(&mut start, axis, range.start)?;
    set(&mut stop, axis, range.end)?;
    Ok(Piece { start, stop, source })
}

fn set(sides: &mut [u64], axis: usize, value: u64) -> Result<()> {
    *sides.must_get_mut(axis)? = value;
    Ok(())
}
