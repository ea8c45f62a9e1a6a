//! Damaged copies of a buffer: every truncation, and ten mutations of every byte.
//!
//! A decoder given any of these must answer, with bytes or an error, in bounded time and memory.

/// Every proper prefix, from empty to one byte short.
pub fn truncations(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..bytes.len()).filter_map(|len| bytes.get(..len))
}

/// One byte of a buffer replaced by another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// Position of the byte.
    pub offset: usize,
    /// Its new value, always different from the old one.
    pub value: u8,
}

impl Mutation {
    /// A copy of the buffer with this byte replaced.
    #[must_use]
    pub fn of(self, bytes: &[u8]) -> Vec<u8> {
        let mut copy = bytes.to_vec();
        if let Some(byte) = copy.get_mut(self.offset) {
            *byte = self.value;
        }
        copy
    }
}

/// The mutations of every byte: each of its eight bits flipped, all zeros, all ones. A value that the
/// byte already has, or that an earlier mutation gave it, is left out.
pub fn mutations(bytes: &[u8]) -> impl Iterator<Item = Mutation> {
    bytes.iter().enumerate().flat_map(|(offset, &old)| {
        let whole = [0x00, 0xFF].into_iter().filter(move |value| (value ^ old).count_ones() > 1);
        let values = (0..8).map(move |bit| old ^ (1 << bit)).chain(whole);
        values.map(move |value| Mutation { offset, value })
    })
}

/// Calls `check` with every mutation and the buffer that has it, without a copy for each.
pub fn for_each_mutation(bytes: &[u8], mut check: impl FnMut(Mutation, &[u8])) {
    let mut scratch = bytes.to_vec();
    for mutation in mutations(bytes) {
        let Some(byte) = scratch.get_mut(mutation.offset) else { continue };
        let old = std::mem::replace(byte, mutation.value);
        check(mutation, &scratch);
        if let Some(byte) = scratch.get_mut(mutation.offset) {
            *byte = old;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn truncations_are_all_shorter_prefixes() {
        let lengths: Vec<usize> = truncations(b"abc").map(<[u8]>::len).collect();
        assert_eq!(lengths, [0, 1, 2]);
        assert!(truncations(b"abc").all(|cut| b"abc".starts_with(cut)));
    }

    #[test]
    fn a_byte_gets_every_flip_and_both_extremes_once() {
        for old in [0x00u8, 0x01, 0x5A, 0xFE, 0xFF] {
            let found: Vec<u8> = mutations(&[old]).map(|m| m.value).collect();
            let mut expected: BTreeSet<u8> = (0..8).map(|bit| old ^ (1 << bit)).collect();
            expected.extend([0x00, 0xFF]);
            expected.remove(&old);
            assert_eq!(found.len(), expected.len());
            assert_eq!(found.into_iter().collect::<BTreeSet<u8>>(), expected);
        }
    }

    #[test]
    fn the_in_place_walk_sees_the_same_buffers() {
        let bytes = [7u8, 0, 255];
        let mut seen = Vec::new();
        for_each_mutation(&bytes, |_, mutated| seen.push(mutated.to_vec()));
        let expected: Vec<Vec<u8>> = mutations(&bytes).map(|m| m.of(&bytes)).collect();
        assert_eq!(seen, expected);
    }
}
