//! What a register must do for a bit shuffle, and the two transpositions built from it.
//!
//! A register is one, two or four *lanes* of 16 bytes. [`Lanes::zip_low`] and [`Lanes::zip_high`] work in
//! each lane alone, so a transposition of 16 registers is one of 16 × 16 bytes per lane.

#![expect(clippy::indexing_slicing, reason = "constant bounds on arrays, gone once unrolled")]

/// A register of bytes.
///
/// # Safety
/// Every method requires a processor that has the register's instruction set: methods and their
/// callers, `tiles` and `whole`, are `inline(always)` up to a function with the matching
/// `target_feature`. Methods with pointers require that these are valid for the bytes named. The
/// places lie in groups, rows and lines of a tile, and the functions that pass them say why they
/// end there; `Job::check` asserts it for `tiles`. No alignment is required.
pub(super) trait Lanes: Copy {
    /// Bytes in a register.
    const WIDTH: usize;

    /// All bytes 0.
    unsafe fn zero() -> Self;
    /// Reads [`Self::WIDTH`] neighbouring bytes.
    unsafe fn load(from: *const u8) -> Self;
    /// Writes [`Self::WIDTH`] neighbouring bytes.
    unsafe fn store(self, to: *mut u8);
    /// Reads 16 bytes for each lane; the lanes' sources are `lane_stride` bytes apart.
    unsafe fn gather(from: *const u8, lane_stride: usize) -> Self;
    /// Writes 16 bytes of each lane; the lanes' destinations are `lane_stride` bytes apart.
    unsafe fn scatter(self, to: *mut u8, lane_stride: usize);
    /// In each lane `a0 b0 a1 b1 …` up to `a7 b7`.
    unsafe fn zip_low(a: Self, b: Self) -> Self;
    /// In each lane `a8 b8 a9 b9 …` up to `a15 b15`.
    unsafe fn zip_high(a: Self, b: Self) -> Self;
    /// In every byte swaps the bits of `a` that [`low_bits`] leaves out with those of `b` that it
    /// names, `SHIFT` places lower.
    unsafe fn exchange<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self);

    /// Asks for the cache line of `at`, which need not be valid, where there is a way to ask.
    #[inline(always)]
    fn prefetch(_at: *const u8) {}

    /// Reads `len` neighbouring bytes, at most [`Self::WIDTH`]; the others are 0.
    #[inline(always)]
    unsafe fn load_part(from: *const u8, len: usize) -> Self {
        let mut bytes = [0u8; MAX_WIDTH];
        const { assert!(Self::WIDTH <= MAX_WIDTH) };
        let len = len.min(Self::WIDTH);
        // SAFETY: `len` bytes can be read at `from`: `Job::rows_to_lines`, the only caller, passes
        // a row of `len` bytes. The array has `MAX_WIDTH` bytes, `WIDTH` or more. The processor has
        // the instruction set, see `# Safety` of the trait.
        unsafe {
            from.copy_to_nonoverlapping(bytes.as_mut_ptr(), len);
            Self::load(bytes.as_ptr())
        }
    }

    /// Writes the first `len` bytes, at most [`Self::WIDTH`].
    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, len: usize) {
        let mut bytes = [0u8; MAX_WIDTH];
        const { assert!(Self::WIDTH <= MAX_WIDTH) };
        let len = len.min(Self::WIDTH);
        // SAFETY: `len` bytes can be written at `to`: `Job::lines_to_rows`, the only caller, passes
        // a row of `len` bytes. The array has `MAX_WIDTH` bytes, `WIDTH` or more. The processor has
        // the instruction set, see `# Safety` of the trait.
        unsafe {
            self.store(bytes.as_mut_ptr());
            to.copy_from_nonoverlapping(bytes.as_ptr(), len);
        }
    }
}

/// Bytes of the widest register.
const MAX_WIDTH: usize = 64;

/// The bits of a byte whose number has `shift` (1, 2 or 4) clear.
pub(super) const fn low_bits(shift: i32) -> u8 {
    match shift {
        1 => 0b0101_0101,
        2 => 0b0011_0011,
        _ => 0b0000_1111,
    }
}

/// Swaps bit `b` of register `a` with bit `a` of register `b`, in every byte position.
///
/// # Safety
/// The processor has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn transpose_bits<V: Lanes>(rows: &mut [V; 8]) {
    // SAFETY: the processor has the instruction set of `V`: `tiles` and `whole`, which call this,
    // are inlined into functions compiled for it (`sse2`, `avx2`, `avx512`, `neon`, `simd128`).
    unsafe {
        for i in [0, 1, 2, 3] {
            (rows[i], rows[i + 4]) = V::exchange::<4>(rows[i], rows[i + 4]);
        }
        for i in [0, 1, 4, 5] {
            (rows[i], rows[i + 2]) = V::exchange::<2>(rows[i], rows[i + 2]);
        }
        for i in [0, 2, 4, 6] {
            (rows[i], rows[i + 1]) = V::exchange::<1>(rows[i], rows[i + 1]);
        }
    }
}

/// Swaps byte `b` of register `a` with byte `a` of register `b`, in each lane.
///
/// # Safety
/// The processor has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn transpose_bytes<V: Lanes>(rows: &mut [V; 16]) {
    // SAFETY: the processor has the instruction set of `V`: `tiles` and `whole`, which call this,
    // are inlined into functions compiled for it (`sse2`, `avx2`, `avx512`, `neon`, `simd128`).
    unsafe {
        // A round rotates the eight bits of (register, byte) by one; four swap the halves.
        for _ in 0..4 {
            *rows = rotate(rows);
        }
    }
}

/// Takes `ROUNDS` steps of rotating the seven bits of (register, byte) to the left. Four steps
/// bring bytes 0‥7 of neighbouring words into registers 0‥7, three more take them back.
///
/// # Safety
/// The processor has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn rotate_words<V: Lanes, const ROUNDS: usize>(rows: &mut [V; 8]) {
    // SAFETY: the processor has the instruction set of `V`: `tiles`, which calls this, is inlined
    // into functions compiled for it (`sse2`, `avx2`, `avx512`, `neon`, `simd128`).
    unsafe {
        for _ in 0..ROUNDS {
            *rows = rotate(rows);
        }
    }
}

/// Zips register `i` with `i + N / 2` into registers `2 * i` and `2 * i + 1`: the top bit of the
/// register's number becomes the lowest of the byte's, whose top bit becomes the lowest of the
/// register's.
///
/// # Safety
/// The processor has the instruction set of `V`.
#[inline(always)]
unsafe fn rotate<V: Lanes, const N: usize>(rows: &[V; N]) -> [V; N] {
    let mut next = *rows;
    for i in 0..N / 2 {
        // SAFETY: the processor has the instruction set of `V`: `transpose_bytes` and
        // `rotate_words`, the only callers, require it.
        unsafe {
            next[2 * i] = V::zip_low(rows[i], rows[i + N / 2]);
            next[2 * i + 1] = V::zip_high(rows[i], rows[i + N / 2]);
        }
    }
    next
}
