//! What the transposing kernels ask of an instruction set.
//!
//! A [`Vector`] is one or two *lanes* of 16 bytes side by side. Every operation works inside lanes,
//! so a kernel is written once for 16 items and runs on `16 * LANES` items at a time: lane 0 holds
//! items 0..16 of a step, lane 1 (where there is one) holds items 16..32.

#![expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "places in a lane and in a row of registers are below 16"
)]

/// A register of 16-byte lanes.
///
/// # Safety
///
/// An implementation touches no memory outside what a method documents. Every method requires that
/// the machine has the instruction set of the implementing type: kernels, which call all others,
/// run inside [`Vector::run`]. No alignment is required, save by [`Vector::store_lane_pairs`] of a
/// type that says so.
pub(super) unsafe trait Vector: Copy {
    /// Lanes in the register.
    const LANES: usize;
    /// Whether the bytes of a lane can be permuted in one instruction.
    const PERMUTES: bool;
    /// Items in one step of a kernel.
    const STEP: usize = 16 * Self::LANES;

    /// Runs `kernel` inside a function that is compiled for this instruction set.
    ///
    /// # Safety
    /// The machine has the instruction set, and what the type of `kernel` requires is true.
    /// `forward`, `backward` and `backward_far` of `shuffle`, the only callers, require the first
    /// and compare all lengths and sizes for the second.
    unsafe fn run<K: Kernel>(kernel: K);

    /// `16 * LANES` consecutive bytes from `from`.
    ///
    /// # Safety
    /// `from` is valid for reads of `STEP` bytes. Kernels pass a place in a plane or in a row of
    /// the stage: `staged` of both and `Backward::step` keep it `STEP` bytes or more before the
    /// end.
    unsafe fn load(from: *const u8) -> Self;

    /// `16 * LANES` consecutive bytes to `to`.
    ///
    /// # Safety
    /// `to` is valid for writes of `STEP` bytes. Kernels pass a place in a plane or in a row of the
    /// stage: `staged` of both and `Forward::direct` keep it `STEP` bytes or more before the end.
    unsafe fn store(self, to: *mut u8);

    /// Lane `l` from the 16 bytes at `from + l * stride`.
    ///
    /// # Safety
    /// `from + l * stride` is valid for reads of 16 bytes for each lane. Of the kernels only
    /// `Forward::step` calls this, and requires 16 bytes where each lane's first item starts.
    unsafe fn load_lanes(from: *const u8, stride: usize) -> Self;

    /// The 16 bytes of lane `lane < LANES` to `to`.
    ///
    /// # Safety
    /// `to` is valid for writes of 16 bytes. Only `Backward::step` calls this, and requires 16
    /// bytes where each lane's first item starts.
    unsafe fn store_lane(self, lane: usize, to: *mut u8);

    /// Lane `l` of `self` and of `next` to the 32 bytes at `to + l * stride`.
    ///
    /// # Safety
    /// `to + l * stride` is valid for writes of 32 bytes for each lane. Only `Backward::step` calls
    /// this, for items that fill their registers, and requires all items of a step.
    unsafe fn store_lane_pairs(self, next: Self, to: *mut u8, stride: usize);

    /// All bytes 0.
    unsafe fn zero() -> Self;

    /// From whole items of `SIZE` bytes, one after the other, to planes of `16 / WIDTH` bytes: each
    /// lane is permuted as [`gathering_map`] says. Planes from `SIZE` on may hold anything.
    ///
    /// Where lanes cannot be permuted freely (`!PERMUTES`), items only move `WIDTH` bytes apart.
    unsafe fn gather<const SIZE: usize, const WIDTH: usize>(self) -> Self;

    /// From items in `WIDTH` bytes each to items of `SIZE` bytes, one after the other: each lane is
    /// permuted as [`squeezing_map`] says. What follows the items may be anything.
    unsafe fn squeeze<const SIZE: usize, const WIDTH: usize>(self) -> Self;

    /// Interleaves units of `UNIT` (1, 2, 4 or 8) bytes of two registers, lane by lane:
    /// `a0 b0 a1 b1 …` from the lower halves first, then from the upper halves.
    unsafe fn zip<const UNIT: usize>(self, other: Self) -> (Self, Self);
}

/// Work that is written over any [`Vector`].
pub(super) trait Kernel {
    /// Does the work.
    ///
    /// # Safety
    /// The machine must have the instruction set of `V`; the implementing type says what else.
    unsafe fn run<V: Vector>(self);
}

/// Where the bytes of a lane come from when whole items of `size` bytes, one after the other, are
/// to become planes of `16 / width` bytes.
pub(super) const fn gathering_map(size: usize, width: usize) -> [u8; 16] {
    let per_lane = 16 / width;
    let mut map = [0x80; 16];
    let mut place = 0;
    while place < 16 {
        let (b, item) = (place / per_lane, place % per_lane);
        if b < size {
            map[place] = (item * size + b) as u8;
        }
        place += 1;
    }
    map
}

/// Where the bytes of a lane come from when items in `width` bytes each are to be `size` bytes
/// each, one after the other.
pub(super) const fn squeezing_map(size: usize, width: usize) -> [u8; 16] {
    let mut map = [0x80; 16];
    let mut place = 0;
    while place < 16 && size != 0 {
        let (item, b) = (place / size, place % size);
        if item < 16 / width {
            map[place] = (item * width + b) as u8;
        }
        place += 1;
    }
    map
}

/// `LEVELS` (1 to 4) levels of a transposition, each of which interleaves the first half of the
/// registers with the second half. Written out, as a loop is not always unrolled, and registers
/// inside it would live in memory.
///
/// # Safety
/// The machine must have the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn zip_levels<
    V: Vector,
    const WIDTH: usize,
    const UNIT: usize,
    const LEVELS: usize,
>(
    mut regs: [V; WIDTH],
) -> [V; WIDTH] {
    // SAFETY: the machine has the instruction set of `V`: `Forward::step` and `Backward::step`, the
    // only callers, run inside `V::run`, which is compiled for it.
    unsafe {
        regs = zip_halves::<V, WIDTH, UNIT>(&regs);
        if LEVELS > 1 {
            regs = zip_halves::<V, WIDTH, UNIT>(&regs);
        }
        if LEVELS > 2 {
            regs = zip_halves::<V, WIDTH, UNIT>(&regs);
        }
        if LEVELS > 3 {
            regs = zip_halves::<V, WIDTH, UNIT>(&regs);
        }
    }
    regs
}

/// One level: register `i` of the first half with register `i` of the second half, for every `i`.
///
/// # Safety
/// The machine must have the instruction set of `V`.
#[inline(always)]
unsafe fn zip_halves<V: Vector, const WIDTH: usize, const UNIT: usize>(
    regs: &[V; WIDTH],
) -> [V; WIDTH] {
    let mut zipped = *regs;
    for i in 0..WIDTH / 2 {
        // SAFETY: the machine has the instruction set of `V`: `zip_levels`, the only caller,
        // requires it.
        (zipped[2 * i], zipped[2 * i + 1]) = unsafe { regs[i].zip::<UNIT>(regs[i + WIDTH / 2]) };
    }
    zipped
}
