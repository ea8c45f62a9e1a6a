//! What symbols cost: logarithms in fixed point.

/// `1 << BIT_SHIFT` steps make one bit.
const BIT_SHIFT: u32 = 8;

/// One bit.
pub(super) const BIT: u32 = 1 << BIT_SHIFT;

/// The binary logarithm of `number` in steps of 1/256; of zero as of one.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the index is masked to the table's 256 entries")]
pub(super) fn log2(number: u32) -> u32 {
    let number = number.max(1);
    let whole = number.ilog2();
    let fraction = (u64::from(number) << BIT_SHIFT) >> whole;
    (whole << BIT_SHIFT) + LOG2[(fraction & 255) as usize] as u32
}

/// `log2(1 + i / 256)` in steps of 1/256, rounded.
static LOG2: [u8; 256] = fraction_table();

/// Squares the number again and again: each time it reaches 2, the next bit of its logarithm is 1.
#[expect(clippy::cast_possible_truncation, reason = "the value is below 256 by construction")]
#[expect(clippy::indexing_slicing, reason = "evaluated while compiling")]
const fn fraction_table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut number = (256 + i as u64) << 22;
        let mut log = 0_u32;
        let mut bit = 0;
        while bit < 10 {
            number = (number * number) >> 30;
            log <<= 1;
            if number >= 1 << 31 {
                number >>= 1;
                log |= 1;
            }
            bit += 1;
        }
        let rounded = (log + 2) >> 2;
        table[i] = if rounded > 255 { 255 } else { rounded as u8 };
        i += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_rounded_to_a_step() {
        for number in (1..5000).chain([65_535, 65_536, 1 << 20, u32::MAX]) {
            let exact = f64::from(number).log2() * f64::from(BIT);
            assert!((f64::from(log2(number)) - exact).abs() < 2.5, "{number}");
        }
        assert_eq!([log2(0), log2(1), log2(2), log2(256)], [0, 0, BIT, 8 * BIT]);
    }
}
