//! Chunk and block shapes for those who give none.
//!
//! The rule depends on the shape and the item size alone, never on the machine, so that the same
//! program writes the same file everywhere:
//!
//! 1. *Blocks* hold up to 64 KiB: more than a first-level cache, a part of any second-level one, so
//!    that filters and codec work in cache, and a small read decodes little.
//! 2. The last axis gets a cache line (64 bytes) first. Then the shortest side is doubled, the last of
//!    equals first, until the block is full: blocks are close to cubes, and no axis is the slow one.
//! 3. *Chunks* hold up to 4 MiB: enough blocks to share among threads, few enough chunks to index.
//!    They grow from one block in the same way.
//! 4. Sides stay powers of two, which filters like, unless more than an eighth of an axis would be
//!    padding. Then they are evened out: an axis of 33 items in blocks of 32 would be padded to 64, so
//!    it is cut into blocks of 17, with less than one item of padding for each block.
//!
//! An axis of no length is one that will grow: it is taken for a long one.

use crate::error::{Error, Result};

const BLOCK_BYTES: usize = 64 << 10;
const CHUNK_BYTES: usize = 4 << 20;
const CACHE_LINE: usize = 64;
/// What an axis without a length, or a very long one, is taken for.
const LONG: usize = 1 << 30;

/// Completes the shapes that a caller gave; what was given is not touched.
pub(crate) fn complete(
    shape: &[u64],
    item_size: usize,
    chunks: Option<&[usize]>,
    blocks: Option<&[usize]>,
) -> Result<(Vec<usize>, Vec<usize>)> {
    let given = [("chunks", chunks), ("blocks", blocks)];
    for (what, sides) in given {
        if let Some(sides) = sides.filter(|sides| sides.len() != shape.len()) {
            return Err(Error::invalid(format!(
                "{} lengths were given for {what}, the array has {} dimensions",
                sides.len(),
                shape.len()
            )));
        }
    }
    let long = |side: &u64| match usize::try_from(*side) {
        Ok(0) | Err(_) => LONG,
        Ok(side) => side.min(LONG),
    };
    let axes: Vec<usize> = match chunks {
        Some(chunks) => chunks.iter().map(|side| (*side).max(1)).collect(),
        None => shape.iter().map(long).collect(),
    };
    let blocks = match blocks {
        Some(blocks) => blocks.to_vec(),
        None => block_shape(&axes, item_size),
    };
    let chunks = match chunks {
        Some(chunks) => chunks.to_vec(),
        None => chunk_shape(&axes, &blocks, item_size),
    };
    Ok((chunks, blocks))
}

fn block_shape(axes: &[usize], item_size: usize) -> Vec<usize> {
    let mut sides = vec![1; axes.len()];
    let most = (BLOCK_BYTES / item_size.max(1)).max(1);
    if let (Some(side), Some(axis)) = (sides.last_mut(), axes.last()) {
        *side = (CACHE_LINE / item_size.max(1)).next_power_of_two().clamp(1, *axis);
    }
    grow(&mut sides, axes, most, &vec![1; axes.len()]);
    even_out(&mut sides, axes);
    sides
}

fn chunk_shape(axes: &[usize], blocks: &[usize], item_size: usize) -> Vec<usize> {
    let blocks: Vec<usize> = blocks.iter().map(|side| (*side).max(1)).collect();
    let along: Vec<usize> =
        axes.iter().zip(&blocks).map(|(axis, block)| axis.div_ceil(*block)).collect();
    let block_bytes = blocks.iter().fold(item_size, |bytes, side| bytes.saturating_mul(*side));
    let mut counts = vec![1; axes.len()];
    grow(&mut counts, &along, (CHUNK_BYTES / block_bytes.max(1)).max(1), &blocks);
    even_out(&mut counts, &along);
    counts.iter().zip(&blocks).map(|(count, block)| count.saturating_mul(*block)).collect()
}

/// Doubles the side that is the shortest in items, as long as the product stays within `most`.
fn grow(sides: &mut [usize], axes: &[usize], most: usize, unit: &[usize]) {
    loop {
        let items: usize = sides.iter().fold(1, |items, side| items.saturating_mul(*side));
        let candidates = sides.iter_mut().zip(axes).zip(unit).rev();
        let shortest = candidates
            .filter(|((side, axis), _)| {
                let doubled = side.saturating_mul(2).min(**axis);
                **side < **axis && (items / **side).saturating_mul(doubled) <= most
            })
            .min_by_key(|((side, _), unit)| side.saturating_mul(**unit));
        let Some(((side, axis), _)) = shortest else { return };
        *side = side.saturating_mul(2).min(*axis);
    }
}

/// Where much of an axis would be padding, makes the sides as short as they can be without more of
/// them.
fn even_out(sides: &mut [usize], axes: &[usize]) {
    for (side, axis) in sides.iter_mut().zip(axes) {
        let count = axis.div_ceil((*side).max(1)).max(1);
        if count.saturating_mul(*side) - axis > axis / 8 {
            *side = axis.div_ceil(count).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(shape: &[u64], item_size: usize) -> (Vec<usize>, Vec<usize>) {
        complete(shape, item_size, None, None).unwrap()
    }

    #[test]
    fn common_arrays_are_cut_into_near_cubes() {
        assert_eq!(shapes(&[512, 512, 512], 4), (vec![64, 128, 128], vec![16, 32, 32]));
        assert_eq!(shapes(&[1_000_000], 8), (vec![524_288], vec![8192]));
        assert_eq!(shapes(&[100, 100, 33], 8).1, [16, 16, 17]);
        assert_eq!(shapes(&[100, 3], 4), (vec![100, 3], vec![100, 3]));
        assert_eq!(shapes(&[], 8), (vec![], vec![]));
        assert_eq!(shapes(&[5], 1 << 20), (vec![3], vec![1]));
    }

    #[test]
    fn sizes_and_waste_are_bounded() {
        for shape in
            [&[33u64][..], &[1000, 1000], &[7, 1_000_000], &[0, 40], &[99, 98, 97, 96], &[3; 16]]
        {
            for item_size in [1, 3, 8, 300] {
                let (chunks, blocks) = shapes(shape, item_size);
                let bytes = |sides: &[usize]| sides.iter().product::<usize>() * item_size;
                assert!(bytes(&blocks) <= BLOCK_BYTES.max(item_size), "{blocks:?}");
                assert!(bytes(&chunks) <= CHUNK_BYTES.max(item_size), "{chunks:?}");
                for ((side, chunk), block) in shape.iter().zip(&chunks).zip(&blocks) {
                    assert!(chunk.is_multiple_of(*block));
                    let side = usize::try_from(*side).unwrap();
                    if side > 0 {
                        let blocks_along = side.div_ceil(*block);
                        let padding = blocks_along * block - side;
                        assert!(padding <= side / 8 || padding < blocks_along, "{blocks:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_given_stays() {
        let (chunks, blocks) = complete(&[100, 100], 4, Some(&[10, 20]), None).unwrap();
        assert_eq!((chunks, blocks), (vec![10, 20], vec![10, 20]));
        let (chunks, blocks) = complete(&[100, 100], 4, None, Some(&[7, 5])).unwrap();
        assert_eq!(blocks, [7, 5]);
        assert!(chunks[0] % 7 == 0 && chunks[1] % 5 == 0);
        assert!(complete(&[100, 100], 4, Some(&[10]), None).is_err());
    }
}
