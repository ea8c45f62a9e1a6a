//! Huffman codes of bounded length.

#![expect(clippy::indexing_slicing, reason = "symbols and lengths are below the arrays' sizes")]

/// Most symbols any code has here.
const MAX_SYMBOLS: usize = 288;

/// The longest code that the format knows.
const MAX_BITS: usize = 15;

/// In a key, the symbol takes so many low bits and the count those above.
const SYMBOL_BITS: u32 = 9;

/// A code: how many bits in the low 8 bits, and above them the bits in the order they are written.
#[derive(Clone, Copy, Default)]
pub(super) struct Code(u32);

impl Code {
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        self.0 >> 8
    }

    #[inline(always)]
    pub(super) fn len(self) -> u32 {
        self.0 & 255
    }

    /// None where the mask is 0, the code itself where it has all bits.
    #[inline(always)]
    pub(super) fn masked(self, mask: u32) -> Self {
        Code(self.0 & mask)
    }
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
    let keys = sorted(&mut keys, used);
    let per_length = bounded(depths(keys), limit);
    // The most frequent symbols, at the end, get the shortest codes.
    let mut rest = keys.iter().rev();
    for (len, &codes) in (0_u8..).zip(&per_length) {
        for key in rest.by_ref().take(codes as usize) {
            lengths[(key & 511) as usize] = len;
        }
    }
}

/// Sorts the first `used` keys by their counts; those of equal counts keep their order.
fn sorted(keys: &mut [u32; MAX_SYMBOLS], used: usize) -> &[u32] {
    if used <= SMALL {
        keys[..used].sort_unstable();
        return &keys[..used];
    }
    let all = keys[..used].iter().fold(0, |all, key| all | key);
    let mut shift = SYMBOL_BITS;
    let mut other = [0; MAX_SYMBOLS];
    while shift < u32::BITS && all >> shift > 0 {
        let mut places = [0_u16; 256];
        for key in &keys[..used] {
            places[(key >> shift & 255) as usize] += 1;
        }
        let mut sum = 0;
        for place in &mut places {
            sum += core::mem::replace(place, sum);
        }
        for &key in &keys[..used] {
            let place = &mut places[(key >> shift & 255) as usize];
            other[usize::from(*place)] = key;
            *place += 1;
        }
        core::mem::swap(keys, &mut other);
        shift += 8;
    }
    &keys[..used]
}

/// So many keys are sorted by comparing.
const SMALL: usize = 32;

/// How many codes of each length an unbounded Huffman code has for these keys, sorted by count.
#[expect(clippy::cast_possible_truncation, reason = "there are at most 288 nodes")]
fn depths(keys: &[u32]) -> [u32; 64] {
    let used = keys.len();
    // Of each leaf and inner node its count; more than any count where there is none yet.
    let mut leaves = [u32::MAX; MAX_SYMBOLS + 1];
    let mut sums = [u32::MAX; MAX_SYMBOLS + 1];
    for (leaf, key) in leaves.iter_mut().zip(keys) {
        *leaf = key >> SYMBOL_BITS;
    }
    // Of each inner node: first the node above it, then its depth.
    let mut nodes = [0_u32; MAX_SYMBOLS];
    let (mut leaf, mut inner) = (0, 0);
    for node in 0..used - 1 {
        let mut sum = 0;
        for _ in 0..2 {
            // Which one is less is hard to foresee: nothing branches on it.
            let takes_leaf = leaves[leaf] <= sums[inner];
            sum += leaves[leaf].min(sums[inner]);
            nodes[inner] = node as u32;
            leaf += usize::from(takes_leaf);
            inner += usize::from(!takes_leaf);
        }
        sums[node] = sum;
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
        let next = &mut next[usize::from(len)];
        let [low, high] = next.to_le_bytes().map(|byte| u32::from(REVERSED[usize::from(byte)]));
        let len = u32::from(len);
        *code = Code((low << 8 | high) >> (16 - len) << 8 | len);
        *next = next.wrapping_add(1);
    }
}

/// For each byte the one with its bits in the other order.
const REVERSED: [u8; 256] = {
    let mut reversed = [0; 256];
    let mut byte = 0_u8;
    loop {
        reversed[byte as usize] = byte.reverse_bits();
        if byte == u8::MAX {
            break reversed;
        }
        byte += 1;
    }
};
