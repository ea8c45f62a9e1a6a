//! The filters of the second opinion, undone by the formulas of `docs/formats/chunk.md`.
//!
//! Each function starts from a copy of the stored block, so the tail that a filter leaves alone is
//! right without a further word.

#![expect(
    clippy::indexing_slicing,
    reason = "each loop is bounded by count * group <= block.len(); block 0 is no shorter than any"
)]

use super::Header;

/// Undoes slots 5 to 0. `block0` is the finished first block, or `None` if this is the first.
pub(super) fn undo(
    header: &Header,
    mut block: Vec<u8>,
    block0: Option<&[u8]>,
) -> Result<Vec<u8>, String> {
    for slot in (0..6).rev() {
        let meta = usize::from(header.metas[slot]);
        let group = if meta == 0 { header.typesize } else { meta };
        block = match header.filters[slot] {
            0 | 4 | 36 => block,
            1 => unshuffle(&block, group),
            2 => bitunshuffle(&block, header.typesize, header.version == 2),
            3 => undelta(&block, header.typesize, block0),
            34 => unbytedelta(&block, group, true),
            35 => unbytedelta(&block, group, false),
            id => return Err(format!("filter {id} is not supported")),
        };
    }
    Ok(block)
}

fn unshuffle(block: &[u8], group: usize) -> Vec<u8> {
    let count = block.len() / group;
    let mut out = block.to_vec();
    for element in 0..count {
        for byte in 0..group {
            out[element * group + byte] = block[byte * count + element];
        }
    }
    out
}

fn bitunshuffle(block: &[u8], typesize: usize, version2: bool) -> Vec<u8> {
    let elements = block.len() / typesize;
    let count = if elements.is_multiple_of(8) || !version2 { elements / 8 * 8 } else { 0 };
    let mut out = block.to_vec();
    out[..count * typesize].fill(0);
    for element in 0..count {
        for byte in 0..typesize {
            for bit in 0..8 {
                let row = (byte * 8 + bit) * (count / 8);
                let set = (block[row + element / 8] >> (element % 8)) & 1;
                out[element * typesize + byte] |= set << bit;
            }
        }
    }
    out
}

fn undelta(block: &[u8], typesize: usize, block0: Option<&[u8]>) -> Vec<u8> {
    let width = match typesize {
        1 | 2 | 4 | 8 => typesize,
        other if other.is_multiple_of(8) => 8,
        _ => 1,
    };
    let mut out = block.to_vec();
    for i in 0..block.len() / width * width {
        match block0 {
            Some(reference) => out[i] ^= reference[i],
            None if i >= width => out[i] ^= out[i - width],
            None => {}
        }
    }
    out
}

fn unbytedelta(block: &[u8], channels: usize, restart: bool) -> Vec<u8> {
    let count = block.len() / channels;
    let mut out = block.to_vec();
    for channel in 0..channels {
        for i in 1..count {
            if !(restart && i == count / 16 * 16) {
                let at = channel * count + i;
                out[at] = out[at].wrapping_add(out[at - 1]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::hex;
    use super::*;

    fn counting(len: u8) -> Vec<u8> {
        (1..=len).collect()
    }

    #[test]
    fn shuffle_example_of_the_document_is_undone() {
        let stored = hex("01030507090b0d0f11 020406080a0c0e1012 13");
        assert_eq!(unshuffle(&stored, 2), counting(19));
    }

    #[test]
    fn bitshuffle_example_of_the_document_is_undone() {
        let stored = hex("ffaaccf000000000 0055667880000000 111213");
        assert_eq!(bitunshuffle(&stored, 2, false), counting(19));
    }

    #[test]
    fn version_2_bitshuffle_leaves_a_count_that_is_no_multiple_of_8() {
        assert_eq!(bitunshuffle(&counting(19), 2, true), counting(19));
    }

    #[test]
    fn delta_examples_of_the_document_are_undone() {
        for (typesize, stored) in
            [(1, "010301070103010f01"), (2, "010202060602020e09"), (4, "010203040404040c09")]
        {
            assert_eq!(undelta(&hex(stored), typesize, None), counting(9));
        }
    }

    #[test]
    fn old_bytedelta_restarts_at_the_last_whole_16() {
        let mut stored = vec![1; 20];
        assert_eq!(unbytedelta(&stored, 1, false), counting(20));
        stored[16] = 17;
        assert_eq!(unbytedelta(&stored, 1, true), counting(20));
    }
}
