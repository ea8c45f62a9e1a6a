//! Items to planes, for any instruction set.
//!
//! One *step* transposes 16 items per lane. With `WIDTH` the item size rounded up to 2, 4, 8 or 16,
//! a lane has room for `16 / WIDTH` items, so a step fills `WIDTH` registers. Writing the place of a
//! byte in them as bits `(register ; byte in lane)`, high bits first:
//!
//! ```text
//! load     (item high ; item low, byte)      each lane holds whole items
//! gather   (item high ; byte, item low)      inside lanes
//! zip × n  (byte      ; item high, item low)
//! ```
//!
//! A zip level interleaves the first half of the registers with the second, in units of `16 / WIDTH`
//! bytes, which rotates the place by one bit; `n` = log2(`WIDTH`) levels bring `byte` to the front.
//! Where lanes cannot be permuted, four levels of single bytes rotate all bits of `item` at once.
//!
//! Items that are no power of two are loaded together with what follows them; the last step, where
//! nothing follows, is loaded from a copy. Items wider than 16 bytes are cut into groups of 16
//! planes. When the items are no multiple of a step, the last step overlaps the one before, so no
//! byte is left to a scalar loop.

#![expect(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    reason = "indices are constants once unrolled; iterator adapters are not always inlined into \
              functions that are compiled for another instruction set"
)]

use core::ptr;

use super::tiles::{EDGE_BYTES, LINE, Stage, for_each_group};
use super::vector::{Kernel, Vector, zip_levels};

/// Transposes `len` items of `item_size` bytes at `from` into planes of `len` bytes at `to`.
///
/// `SIZE` is the item size, or 0 for any item size from 16 on. `WIDTH` is the item size rounded up
/// to 2, 4, 8 or 16. `STAGED` collects whole cache lines of every plane before it writes them.
///
/// # Safety
/// Both pointers must be valid for `item_size * len` bytes, and `len` must be at least `V::STEP`,
/// or [`LINE`] when staged. `SIZE` and `WIDTH` must be as said above, and only items that fill
/// `WIDTH` may be staged.
pub(super) struct Forward<const SIZE: usize, const WIDTH: usize, const STAGED: bool> {
    pub(super) item_size: usize,
    pub(super) len: usize,
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
}

impl<const SIZE: usize, const WIDTH: usize, const STAGED: bool> Kernel
    for Forward<SIZE, WIDTH, STAGED>
{
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        debug_assert!(self.len >= V::STEP && (!STAGED || self.len >= LINE));
        debug_assert!(self.item_size == SIZE || SIZE == 0 && self.item_size >= 16);
        // SAFETY: both pointers are valid for `item_size * len` bytes, and `len` is at least a
        // step, or a line when staged: `shuffle::forward` compares all of it, and
        // `run_for_item_size` chooses `SIZE` and `WIDTH`. `for_each_group` passes groups up to
        // `item_size - 16`. The machine has the instruction set of `V`, as `V::run` called this.
        unsafe {
            match (SIZE, STAGED) {
                (0, true) => for_each_group(self.item_size, self.len, |start, end, group| {
                    self.staged::<V>(start, end, group);
                }),
                (0, false) => for_each_group(self.item_size, self.len, |start, end, group| {
                    self.direct::<V>(start, end, group);
                }),
                (_, true) => self.staged::<V>(0, self.len, 0),
                (_, false) => self.direct::<V>(0, self.len, 0),
            }
        }
    }
}

impl<const SIZE: usize, const WIDTH: usize, const STAGED: bool> Forward<SIZE, WIDTH, STAGED> {
    /// Items `start..end` into `WIDTH` planes from `group` on, step by step.
    ///
    /// # Safety
    /// As the type says.
    #[inline(always)]
    unsafe fn direct<V: Vector>(&self, start: usize, end: usize, group: usize) {
        const { assert!(SIZE >= WIDTH || V::STEP * SIZE + 15 <= EDGE_BYTES) };
        let stride = self.stride();
        debug_assert!(end <= self.len && group + self.rows() <= stride);
        // From here on, 15 bytes behind the items of a step are no longer all there.
        let edged = (self.len * stride).saturating_sub(V::STEP * stride + 14);
        let mut edge = [0; EDGE_BYTES];
        let mut e = start;
        while e < end {
            e = e.min(self.len - V::STEP);
            // SAFETY: `e <= len - STEP` and `group <= item_size - WIDTH`, so a step reads and
            // writes existing items and planes. Items narrower than WIDTH are read with up to 15
            // bytes behind them: those exist, or the step is read from `edge`, which has room, as
            // was asserted.
            unsafe {
                let mut from = self.from.add(e * stride + group);
                if SIZE != 0 && SIZE < WIDTH && e * stride >= edged {
                    ptr::copy_nonoverlapping(from, edge.as_mut_ptr(), V::STEP * stride);
                    from = edge.as_ptr();
                }
                let rows = self.step::<V>(from);
                for b in 0..self.rows() {
                    rows[b].store(self.to.add((group + b) * self.len + e));
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
        let stride = self.stride();
        debug_assert!(end <= self.len && group + WIDTH <= stride);
        let mut stage = Stage([[0; LINE]; WIDTH]);
        let mut e = start;
        while e < end {
            e = e.min(self.len - LINE);
            // SAFETY: `e <= len - LINE` and `group <= item_size - WIDTH`, so the steps of a line
            // read and write existing items and planes; rows of the stage are LINE bytes.
            unsafe {
                for at in (0..LINE).step_by(V::STEP) {
                    let rows = self.step::<V>(self.from.add((e + at) * stride + group));
                    for b in 0..WIDTH {
                        rows[b].store(stage.0[b].as_mut_ptr().add(at));
                    }
                }
                for b in 0..WIDTH {
                    let plane = self.to.add((group + b) * self.len + e);
                    for at in (0..LINE).step_by(V::STEP) {
                        V::load(stage.0[b].as_ptr().add(at)).store(plane.add(at));
                    }
                }
            }
            e += LINE;
        }
    }

    /// One step of items as rows of planes.
    ///
    /// # Safety
    /// As [`Vector`]; every register reads 16 bytes where its first item starts.
    #[inline(always)]
    unsafe fn step<V: Vector>(&self, from: *const u8) -> [V; WIDTH] {
        let (stride, per_lane) = (self.stride(), 16 / WIDTH);
        // SAFETY: 16 bytes can be read where the first item of each register starts: `direct` and
        // `staged` pass a whole step of items, followed by 15 bytes where these are narrower than
        // `WIDTH`. The machine has the instruction set of `V`, as `V::run` called `Forward::run`.
        unsafe {
            let mut regs = [V::zero(); WIDTH];
            for i in 0..WIDTH {
                let items = V::load_lanes(from.add(i * per_lane * stride), 16 * stride);
                regs[i] = if WIDTH < 16 { items.gather::<SIZE, WIDTH>() } else { items };
            }
            match WIDTH {
                _ if !V::PERMUTES => zip_levels::<V, WIDTH, 1, 4>(regs),
                2 => zip_levels::<V, WIDTH, 8, 1>(regs),
                4 => zip_levels::<V, WIDTH, 4, 2>(regs),
                8 => zip_levels::<V, WIDTH, 2, 3>(regs),
                _ => zip_levels::<V, WIDTH, 1, 4>(regs),
            }
        }
    }

    /// Bytes from one item to the next: a constant wherever it can be one.
    #[inline(always)]
    fn stride(&self) -> usize {
        if SIZE == 0 { self.item_size } else { SIZE }
    }

    /// Planes that a group fills.
    #[inline(always)]
    fn rows(&self) -> usize {
        if SIZE == 0 { WIDTH } else { SIZE }
    }
}
