//! Small buffers that reach every path of an encoder: runs, ramps, repeats and noise side by side.

use crate::rng::Rng;

/// `len` bytes of items of `item_size` bytes; each stretch of some hundred bytes is of another kind.
/// The same arguments give the same bytes.
#[must_use]
pub fn mixed(len: usize, item_size: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut bytes = Vec::with_capacity(len + item_size);
    let mut counter = 0u64;
    while bytes.len() < len {
        let kind = rng.below(5);
        for _ in 0..rng.below(300) + 1 {
            let start = bytes.len();
            counter = counter.wrapping_add(rng.below(4));
            match kind {
                0 => bytes.extend(std::iter::repeat_n(0, item_size)),
                1 => bytes.extend(counter.to_le_bytes().into_iter().cycle().take(item_size)),
                2 => bytes.extend(rng.bytes(item_size)),
                3 => bytes.extend(b"the same words again ".iter().cycle().take(item_size)),
                _ => bytes.extend(std::iter::repeat_n(rng.bytes(1), item_size).flatten()),
            }
            if bytes.len() >= len || bytes.len() == start {
                break;
            }
        }
    }
    bytes.truncate(len);
    bytes
}

/// `len` bytes: the same stretch of some thousand [`mixed`] ones over and over. It has a multiple of
/// eight items, so that also the planes of their bits recur, which keeps the slowest levels fast.
#[must_use]
pub fn recurring(len: usize, item_size: usize, seed: u64) -> Vec<u8> {
    let items = (1000 / item_size).max(1) * 8;
    let stretch = mixed(items * item_size, item_size, seed);
    stretch.into_iter().cycle().take(len).collect()
}
