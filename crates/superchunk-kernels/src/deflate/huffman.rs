//! Huffman codes of bounded length.

#![expect(clippy::indexing_slicing, reason = "symbols and lengths are below the arrays' sizes")]

/// Most symbols any code has here.
const MAX_SYMBOLS: usize = 288;

/// The longest code that the format knows.
const MAX_BITS: usize = 15;

/// In a key, the symbol takes so many low bits and the count those above.
const SYMBOL_BITS: u32 = 9;

/// A code: its bits in the order they are written, and how many.
#[derive(Clone, Copy, Default)]
pub(super) struct Code {
    pub(super) bits: u16,
    pub(super) len: u8,
}

/// Fills in how long the code of each symbol is, 0 for those that do not occur. No code is longer
/// than `limit`, and the code is complete: where fewer than two symbols occur, others get a code.
pub(super) fn code_lengths(counts: &[u32], limit: usize, lengths: &mut [u8]) {
    lengths.fill(0);
    let mut keys = [0_u32; MAX_SYMBOLS];
    let mut used = 0;
    for (symbol, &count) in (0_u32..).zip(counts) {
        keys[used] = count << SYMBOL_BITS | symbol;
        used += usize::from(count > 0);
    }
    if used < 2 {
        let only = if used == 1 { (keys[0] & 511) as usize } else { 0 };
        lengths[only] = 1;
        lengths[usize::from(only == 0)] = 1;
        return;
    }
    let keys = &mut keys[..used];
    keys.sort_unstable();
    let per_length = bounded(depths(keys), limit);
    // The most frequent symbols, at the end, get the shortest codes.
    let mut rest = keys.iter().rev();
    for (len, &codes) in (0_u8..).zip(&per_length) {
        for key in rest.by_ref().take(codes as usize) {
            lengths[(key & 511) as usize] = len;
        }
    }
}

/// How many codes of each length an unbounded Huffman code has for these keys, sorted by count.
#[expect(clippy::cast_possible_truncation, reason = "there are at most 288 nodes")]
fn depths(keys: &[u32]) -> [u32; 64] {
    let used = keys.len();
    // Of each inner node: first its count, then the node above it, then its depth.
    let mut nodes = [0_u32; MAX_SYMBOLS];
    let (mut leaf, mut inner) = (0, 0);
    for node in 0..used - 1 {
        let mut sum = 0;
        for _ in 0..2 {
            let take_leaf =
                leaf < used && (inner == node || keys[leaf] >> SYMBOL_BITS <= nodes[inner]);
            if take_leaf {
                sum += keys[leaf] >> SYMBOL_BITS;
                leaf += 1;
            } else {
                sum += nodes[inner];
                nodes[inner] = node as u32;
                inner += 1;
            }
        }
        nodes[node] = sum;
    }
    let mut inner_at = [0_u32; 64];
    nodes[used - 2] = 0;
    inner_at[0] = 1;
    for node in (0..used - 2).rev() {
        let depth = (nodes[nodes[node] as usize] + 1).min(63);
        nodes[node] = depth;
        inner_at[depth as usize] += 1;
    }
    // Every inner node has two nodes below it; those that are not inner ones are codes.
    let mut codes_at = [0_u32; 64];
    for depth in 1..64 {
        codes_at[depth] = 2 * inner_at[depth - 1] - inner_at[depth];
    }
    codes_at
}

/// Shortens codes above `limit`, and lengthens others until all find a place.
fn bounded(per_length: [u32; 64], limit: usize) -> [u32; MAX_BITS + 1] {
    let mut bounded = [0; MAX_BITS + 1];
    for (depth, &codes) in per_length.iter().enumerate() {
        bounded[depth.min(limit)] += codes;
    }
    // What codes take, in units of the longest code; they may take `1 << limit`.
    let mut taken: u32 = (1..=limit).map(|len| bounded[len] << (limit - len)).sum();
    while taken > 1 << limit {
        // One code becomes a bit longer, and one of the longest moves beside it.
        let Some(len) = (1..limit).rev().find(|&len| bounded[len] > 0) else { break };
        bounded[len] -= 1;
        bounded[len + 1] += 2;
        bounded[limit] -= 1;
        taken -= 1;
    }
    bounded
}

/// Assigns the canonical codes of these lengths (RFC 1951, 3.2.2), bits reversed for writing.
pub(super) fn assign_codes(lengths: &[u8], codes: &mut [Code]) {
    let mut of_length = [0_u16; MAX_BITS + 1];
    for &len in lengths {
        of_length[usize::from(len)] += 1;
    }
    of_length[0] = 0;
    let mut next = [0_u16; MAX_BITS + 1];
    for len in 1..=MAX_BITS {
        next[len] = (next[len - 1] + of_length[len - 1]) << 1;
    }
    for (code, &len) in codes.iter_mut().zip(lengths) {
        let bits = &mut next[usize::from(len)];
        *code = match len {
            0 => Code::default(),
            _ => Code { bits: bits.reverse_bits() >> (16 - u32::from(len)), len },
        };
        *bits = bits.wrapping_add(1);
    }
}
