//! Decodes streams two at a time.
//!
//! Where a code begins is known when the one before it is decoded, so that a single stream leaves the processor waiting
//! most of the time. Two that have nothing to do with each other share it: their turns alternate. When one of them comes to its
//! end, the next one takes its place.

use crate::Malformed;
use crate::inflate::codes::Codes;
use crate::inflate::fast;
use crate::inflate::lane::Turn;
use crate::inflate::stream::{Stream, Tables};

/// Decodes all streams, or the first `needed` bytes of each.
pub(super) fn decompress<'a>(
    [left_tables, right_tables]: &mut [Tables; 2],
    streams: impl Iterator<Item = (&'a [u8], &'a mut [u8])>,
    needed: usize,
) -> Result<(), Malformed> {
    let mut streams = streams.map(|(src, dst)| Stream::begin(src, dst, needed));
    let mut next = || streams.next().transpose();
    let (mut left, mut right) = (next()?, next()?);
    while let (Some(a), Some(b)) = (&mut left, &mut right) {
        match go_on((a, left_tables), (b, right_tables))? {
            Side::Left => {
                a.finish(left_tables)?;
                left = next()?;
            }
            Side::Right => {
                b.finish(right_tables)?;
                right = next()?;
            }
        }
    }
    left.map_or(Ok(()), |mut stream| stream.finish(left_tables))?;
    right.map_or(Ok(()), |mut stream| stream.finish(right_tables))
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Decodes both streams until there is enough of one of them, or it is at its end, or so near to it that the loop for two has no room.
fn go_on(
    (left, left_tables): (&mut Stream<'_>, &mut Tables),
    (right, right_tables): (&mut Stream<'_>, &mut Tables),
) -> Result<Side, Malformed> {
    loop {
        let Some(left_codes) = left.next_symbols(left_tables)? else { return Ok(Side::Left) };
        let Some(right_codes) = right.next_symbols(right_tables)? else { return Ok(Side::Right) };
        let mut ended = false;
        while !ended {
            if left.is_enough() || !fast::has_room(left) {
                return Ok(Side::Left);
            }
            if right.is_enough() || !fast::has_room(right) {
                return Ok(Side::Right);
            }
            let [a, b] = fast::decode_both((left_codes, &mut *left), (right_codes, &mut *right));
            ended |= after(a, left_codes, left)?;
            ended |= after(b, right_codes, right)?;
        }
    }
}

/// Does what the loop has left of a turn. True at the end of a block.
fn after(turn: Turn, codes: &Codes, stream: &mut Stream<'_>) -> Result<bool, Malformed> {
    let ended = match turn {
        Turn::Next => false,
        Turn::Stuck => stream.step(codes)?,
        Turn::Ended => true,
    };
    if ended {
        stream.end_block();
    }
    Ok(ended)
}
