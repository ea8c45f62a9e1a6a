//! The lengths of codes: Huffman's, then made to fit 11 bits.

#![expect(clippy::indexing_slicing, reason = "indices are below the number of bytes that occur")]

use crate::zstd::encode::huffman::MAX_BITS;

/// The unit of what codes take of the space of all codes: that of the longest code.
const WHOLE: u32 = 1 << MAX_BITS;

/// The length of each byte's code; 0 where the count is 0. Two counts at least are not zero, and
/// none is more than 24 bits long.
pub(super) fn lengths(counts: &[u32; 256], most: u32) -> [u8; 256] {
    let mut sorted = [0_u32; 256];
    let present = sort(counts, &mut sorted);
    let sorted = &mut sorted[..present];
    let mut depths = [0_u32; 256];
    let depths = &mut depths[..present];
    for (depth, &entry) in depths.iter_mut().zip(sorted.iter()) {
        *depth = entry >> 8;
    }
    huffman_depths(depths);
    if depths[0] > most {
        limit(depths, sorted, most);
    }
    let mut lengths = [0; 256];
    for (&depth, &entry) in depths.iter().zip(sorted.iter()) {
        #[expect(clippy::cast_possible_truncation, reason = "a depth is at most 11")]
        let depth = depth as u8;
        lengths[(entry & 255) as usize] = depth;
    }
    lengths
}

/// Counts below this are told apart at once.
const SMALL: usize = 256;

/// Count and byte in one number each, rare ones first; how many they are.
fn sort(counts: &[u32; 256], sorted: &mut [u32; 256]) -> usize {
    let mut places = [0_u16; SMALL];
    for &count in counts {
        places[(count as usize).min(SMALL - 1)] += 1;
    }
    places[0] = 0;
    let mut end = 0;
    for place in &mut places {
        (*place, end) = (end, end + *place);
    }
    for (byte, &count) in (0_u32..).zip(counts) {
        if count > 0 {
            let place = &mut places[(count as usize).min(SMALL - 1)];
            sorted[usize::from(*place) & 255] = count << 8 | byte;
            *place += 1;
        }
    }
    let large = usize::from(places[SMALL - 2]);
    sorted[large..usize::from(end)].sort_unstable();
    usize::from(end)
}

/// Turns counts, in rising order, into the depths of their leaves, in the same place.
///
/// First the tree is built in the memory of the counts: an inner node replaces one of its
/// children, which then holds where its parent is. Then depths go down from the root, and last
/// the leaves get what each level of inner nodes leaves over.
fn huffman_depths(a: &mut [u32]) {
    let n = a.len();
    let (mut leaf, mut root) = (0, 0);
    for next in 0..n - 1 {
        let mut sum = 0;
        for _ in 0..2 {
            if leaf >= n || (root < next && a[root] < a[leaf]) {
                sum += a[root];
                #[expect(clippy::cast_possible_truncation, reason = "below 256")]
                let parent = next as u32;
                a[root] = parent;
                root += 1;
            } else {
                sum += a[leaf];
                leaf += 1;
            }
        }
        a[next] = sum;
    }
    a[n - 2] = 0;
    for next in (0..n.saturating_sub(2)).rev() {
        a[next] = a[a[next] as usize] + 1;
    }
    let (mut open, mut depth) = (1_usize, 0_u32);
    let mut inner = n - 1;
    let mut out = n;
    while open > 0 {
        let mut used = 0;
        while inner > 0 && a[inner - 1] == depth {
            used += 1;
            inner -= 1;
        }
        for _ in used..open {
            out -= 1;
            a[out] = depth;
        }
        open = 2 * used;
        depth += 1;
    }
}

/// Makes all depths at most `most`: those that are deeper come up, and others go down for it, where a
/// unit of space costs the fewest bits. What was paid too much is given back.
fn limit(depths: &mut [u32], sorted: &[u32], most: u32) {
    let mut used = 0;
    for depth in depths.iter_mut() {
        *depth = (*depth).min(most);
        used += WHOLE >> *depth;
    }
    // Depths fall as counts rise: the first of a depth is the rarest.
    let mut firsts: [usize; MAX_BITS as usize + 1] =
        core::array::from_fn(|depth| depths.partition_point(|&other| other as usize > depth));
    while used > WHOLE {
        let mut best = (u32::MAX, 0);
        for depth in 1..most {
            let first = firsts[depth as usize];
            if depths.get(first) == Some(&depth) {
                let price = ((sorted[first] >> 8) << 6) >> (most - 1 - depth);
                best = best.min((price, first));
            }
        }
        let depth = &mut depths[best.1];
        used -= (WHOLE >> *depth) / 2;
        firsts[*depth as usize] += 1;
        *depth += 1;
    }
    // From the most frequent on: what still fits one bit less gets it, and the order is kept.
    while used < WHOLE {
        let before = used;
        for i in (0..depths.len()).rev() {
            let above = depths.get(i + 1).copied().unwrap_or(1);
            if depths[i] > above.max(1) && WHOLE >> depths[i] <= WHOLE - used {
                used += WHOLE >> depths[i];
                depths[i] -= 1;
            }
        }
        if used == before {
            return flatten(depths, sorted, most);
        }
    }
}

/// Makes counts more alike until no depth is more than `most`.
fn flatten(depths: &mut [u32], sorted: &[u32], most: u32) {
    for shift in 0..32 {
        for (depth, &entry) in depths.iter_mut().zip(sorted) {
            *depth = (entry >> 8 >> shift).max(1);
        }
        huffman_depths(depths);
        if depths[0] <= most {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts that fall by about this factor from one byte to the next.
    fn counts(number: usize, factor: f64, scale: f64) -> [u32; 256] {
        let mut counts = [0; 256];
        for (i, count) in counts.iter_mut().enumerate().take(number) {
            let exponent = i32::try_from(i * 7 % number).unwrap();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
            let value = (scale * factor.powi(exponent)) as u32;
            *count = value.max(1);
        }
        counts
    }

    #[test]
    fn codes_fill_their_space_exactly() {
        for number in 2..=256 {
            for factor in [1.0, 0.99, 0.9, 0.7, 0.5, 0.3] {
                for scale in [1.0, 50.0, 3000.0, 100_000.0] {
                    let lengths = lengths(&counts(number, factor, scale), MAX_BITS);
                    let used: u32 =
                        lengths.iter().filter(|&&l| l > 0).map(|&l| WHOLE >> u32::from(l)).sum();
                    assert!(lengths.iter().all(|&length| u32::from(length) <= MAX_BITS));
                    assert_eq!(lengths.iter().filter(|&&length| length > 0).count(), number);
                    assert_eq!(used, WHOLE, "{number} bytes, {factor}, {scale}");
                }
            }
        }
    }

    #[test]
    fn frequent_bytes_have_short_codes() {
        let mut counts = [0; 256];
        (counts[3], counts[5], counts[9], counts[200]) = (100, 50, 20, 10);
        let lengths = lengths(&counts, MAX_BITS);
        assert_eq!([lengths[3], lengths[5], lengths[9], lengths[200], lengths[0]], [1, 2, 3, 3, 0]);
    }

    #[test]
    fn flat_counts_are_always_enough() {
        let sorted: [u32; 22] = core::array::from_fn(|i| (1 << i) << 8);
        let mut depths = [0; 22];
        flatten(&mut depths, &sorted, MAX_BITS);
        assert!(depths.iter().all(|&depth| depth <= MAX_BITS));
        assert_eq!(depths.iter().map(|&depth| WHOLE >> depth).sum::<u32>(), WHOLE);
    }
}
