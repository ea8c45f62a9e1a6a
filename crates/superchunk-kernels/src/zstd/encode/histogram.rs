//! Counts bytes.

/// How often each byte occurs in each quarter of the literals: one quarter is one stream of codes.
pub(super) type Quarters = [[u32; 256]; 4];

/// Counts the bytes of each quarter. The first three are as long as `len.div_ceil(4)`.
///
/// The quarters are walked side by side: a count that was just stored is rarely the next one
/// that is needed.
#[expect(clippy::indexing_slicing, reason = "a byte indexes 256 counts")]
pub(super) fn count_quarters(src: &[u8]) -> Quarters {
    let mut counts = [[0_u32; 256]; 4];
    let [a, b, c, d] = quarters(src);
    let even = d.len();
    let mut add = |quarter: usize, word: &[u8; 4]| {
        for &byte in word {
            counts[quarter][usize::from(byte)] += 1;
        }
    };
    let (wa, _) = a[..even].as_chunks::<4>();
    let (wb, _) = b[..even].as_chunks::<4>();
    let (wc, _) = c[..even].as_chunks::<4>();
    let (wd, _) = d.as_chunks::<4>();
    for (((a, b), c), d) in wa.iter().zip(wb).zip(wc).zip(wd) {
        add(0, a);
        add(1, b);
        add(2, c);
        add(3, d);
    }
    let done = even / 4 * 4;
    for (quarter, part) in [a, b, c, d].into_iter().enumerate() {
        for &byte in &part[done..] {
            counts[quarter][usize::from(byte)] += 1;
        }
    }
    counts
}

/// The four parts of literals that are coded as a stream each.
pub(super) fn quarters(src: &[u8]) -> [&[u8]; 4] {
    let quarter = src.len().div_ceil(4);
    let (a, rest) = src.split_at(quarter.min(src.len()));
    let (b, rest) = rest.split_at(quarter.min(rest.len()));
    let (c, d) = rest.split_at(quarter.min(rest.len()));
    [a, b, c, d]
}

/// The counts of all four together.
#[expect(clippy::indexing_slicing, reason = "all arrays have 256 entries")]
pub(super) fn sum(quarters: &Quarters) -> [u32; 256] {
    core::array::from_fn(|i| quarters.iter().map(|counts| counts[i]).sum())
}
