//! Planes to items, for any instruction set.
//!
//! The mirror of [`super::forward`], with places written the same way:
//!
//! ```text
//! load     (byte      ; item high, item low)   a row of each plane
//! zip × n  (item high ; item low, byte)        units of one byte
//! squeeze  whole items, one after the other    only when the item size is no power of two
//! ```
//!
//! Items that are no power of two are stored with rubbish behind them, in ascending order, so that
//! the next item sets it right; the last step goes through a buffer. Planes may lie anywhere: a
//! group of 16 first collects its pointers.

#![expect(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    reason = "indices are constants once unrolled; iterator adapters are not always inlined into \
              functions that are compiled for another instruction set"
)]

use core::ptr;

use super::Planes;
use super::tiles::{EDGE_BYTES, LINE, Stage, for_each_group};
use super::vector::{Kernel, Vector, zip_levels};

/// Transposes planes into items at `to`: the inverse of [`super::forward::Forward`], with the same
/// parameters.
///
/// # Safety
/// `to` must be valid for `planes.count() * planes.len()` bytes, and `planes.len()` must be at
/// least `V::STEP`, or [`LINE`] when staged. `SIZE` and `WIDTH` must be as `Forward` says for items
/// of `planes.count()` bytes, and only items that fill `WIDTH` may be staged.
pub(super) struct Backward<'a, const SIZE: usize, const WIDTH: usize, const STAGED: bool> {
    pub(super) planes: Planes<'a>,
    pub(super) to: *mut u8,
}

impl<const SIZE: usize, const WIDTH: usize, const STAGED: bool> Kernel
    for Backward<'_, SIZE, WIDTH, STAGED>
{
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let (item_size, len) = (self.planes.count(), self.planes.len());
        debug_assert!(len >= V::STEP && (!STAGED || len >= LINE));
        debug_assert!(item_size == SIZE || SIZE == 0 && item_size >= 16);
        // SAFETY: `to` is valid for `item_size * len` bytes, and `len` is at least a step, or a
        // line when staged: `shuffle::backward` and `backward_far` compare all of it, and choose
        // `SIZE` and `WIDTH`. `for_each_group` passes groups up to `item_size - 16`. The machine
        // has the instruction set of `V`, as `V::run` called this.
        unsafe {
            match (SIZE, STAGED) {
                (0, true) => for_each_group(item_size, len, |start, end, group| {
                    self.staged::<V>(start, end, group);
                }),
                (0, false) => for_each_group(item_size, len, |start, end, group| {
                    self.direct::<V>(start, end, group);
                }),
                (_, true) => self.staged::<V>(0, len, 0),
                (_, false) => self.direct::<V>(0, len, 0),
            }
        }
    }
}

impl<const SIZE: usize, const WIDTH: usize, const STAGED: bool> Backward<'_, SIZE, WIDTH, STAGED> {
    /// `WIDTH` planes from `group` on into items `start..end`, step by step.
    ///
    /// # Safety
    /// As the type says.
    #[inline(always)]
    unsafe fn direct<V: Vector>(&self, start: usize, end: usize, group: usize) {
        const { assert!(SIZE >= WIDTH || V::STEP * SIZE + 15 <= EDGE_BYTES) };
        let (stride, len) = (self.stride(), self.planes.len());
        debug_assert!(end <= len && group + self.filled() <= stride);
        let rows = self.rows(group);
        // From here on, 15 bytes behind the items of a step are no longer all there.
        let edged = (len * stride).saturating_sub(V::STEP * stride + 14);
        let mut edge = [0; EDGE_BYTES];
        let mut e = start;
        while e < end {
            e = e.min(len - V::STEP);
            // SAFETY: `e <= len - STEP` and `group <= item_size - WIDTH`, so a step reads and
            // writes existing planes and items. Items narrower than WIDTH are written with up to
            // 15 bytes behind them: those belong to later items, or the step is written to `edge`,
            // which has room, as was asserted.
            unsafe {
                let to = self.to.add(e * stride + group);
                if SIZE != 0 && SIZE < WIDTH && e * stride >= edged {
                    self.step::<V>(&rows, e, edge.as_mut_ptr());
                    ptr::copy_nonoverlapping(edge.as_ptr(), to, V::STEP * stride);
                } else {
                    self.step::<V>(&rows, e, to);
                }
            }
            e += V::STEP;
        }
    }

    /// As [`Self::direct`], a cache line of each plane at a time.
    ///
    /// # Safety
    /// As the type says.
    #[inline(always)]
    unsafe fn staged<V: Vector>(&self, start: usize, end: usize, group: usize) {
        let (stride, len) = (self.stride(), self.planes.len());
        debug_assert!(end <= len && group + WIDTH <= stride);
        let rows = self.rows(group);
        let mut stage = Stage([[0; LINE]; WIDTH]);
        let mut e = start;
        while e < end {
            e = e.min(len - LINE);
            // SAFETY: `e <= len - LINE` and `group <= item_size - WIDTH`, so the steps of a line
            // read and write existing planes and items; rows of the stage are LINE bytes.
            unsafe {
                let mut staged = [ptr::null(); WIDTH];
                for b in 0..WIDTH {
                    let row = stage.0[b].as_mut_ptr();
                    for at in (0..LINE).step_by(V::STEP) {
                        V::load(rows[b].add(e + at)).store(row.add(at));
                    }
                    staged[b] = row.cast_const();
                }
                for at in (0..LINE).step_by(V::STEP) {
                    self.step::<V>(&staged, at, self.to.add((e + at) * stride + group));
                }
            }
            e += LINE;
        }
    }

    /// One step: the bytes at `e` of the rows into items at `to`, in ascending order, so that the
    /// bytes written behind an item narrower than `WIDTH` are set right by the next one.
    ///
    /// # Safety
    /// As [`Vector`]; every row has `V::STEP` bytes at `e`, and 16 bytes may be written where the
    /// first item of each lane of a register starts.
    #[inline(always)]
    unsafe fn step<V: Vector>(&self, rows: &[*const u8; WIDTH], e: usize, to: *mut u8) {
        let (stride, per_lane) = (self.stride(), 16 / WIDTH);
        // SAFETY: every row has `V::STEP` bytes at `e`, and 16 bytes may be written where the first
        // item of each lane starts: `direct` and `staged` pass steps that end with the planes at
        // the latest, and where items are narrower than `WIDTH`, 15 bytes follow, or `direct`
        // passes `edge`. The machine has the instruction set of `V`, as `V::run` called
        // `Backward::run`.
        unsafe {
            let mut regs = [V::zero(); WIDTH];
            for b in 0..self.filled() {
                regs[b] = V::load(rows[b].add(e));
            }
            regs = match WIDTH {
                2 => zip_levels::<V, WIDTH, 1, 1>(regs),
                4 => zip_levels::<V, WIDTH, 1, 2>(regs),
                8 => zip_levels::<V, WIDTH, 1, 3>(regs),
                _ => zip_levels::<V, WIDTH, 1, 4>(regs),
            };
            if SIZE == WIDTH {
                for i in (0..WIDTH).step_by(2) {
                    regs[i].store_lane_pairs(regs[i + 1], to.add(i * 16), 16 * WIDTH);
                }
                return;
            }
            for lane in 0..V::LANES {
                for i in 0..WIDTH {
                    let items = if WIDTH < 16 { regs[i].squeeze::<SIZE, WIDTH>() } else { regs[i] };
                    items.store_lane(lane, to.add((lane * 16 + i * per_lane) * stride));
                }
            }
        }
    }

    /// The planes of a group; those that items narrower than `WIDTH` lack are null, and not read.
    #[inline(always)]
    fn rows(&self, group: usize) -> [*const u8; WIDTH] {
        let mut rows = [ptr::null(); WIDTH];
        for b in 0..self.filled() {
            let plane = self.planes.plane(group + b);
            debug_assert!(plane.len() >= self.planes.len());
            rows[b] = plane.as_ptr();
        }
        rows
    }

    /// Bytes from one item to the next: a constant wherever it can be one.
    #[inline(always)]
    fn stride(&self) -> usize {
        if SIZE == 0 { self.planes.count() } else { SIZE }
    }

    /// Planes in a group.
    #[inline(always)]
    fn filled(&self) -> usize {
        if SIZE == 0 { WIDTH } else { SIZE }
    }
}
