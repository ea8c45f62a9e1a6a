//! The definition of both directions.

/// Each byte minus the one before, modulo 256; the first as it is.
pub(super) fn differences(src: &[u8], dst: &mut [u8]) {
    let (Some((&first, following)), Some((to_first, to_following))) =
        (src.split_first(), dst.split_first_mut())
    else {
        return;
    };
    *to_first = first;
    for ((to, &byte), &before) in to_following.iter_mut().zip(following).zip(src) {
        *to = byte.wrapping_sub(before);
    }
}

/// The sum of all bytes up to each, modulo 256.
pub(super) fn running_sum(src: &[u8], dst: &mut [u8]) {
    let mut sum = 0_u8;
    for (to, &byte) in dst.iter_mut().zip(src) {
        sum = sum.wrapping_add(byte);
        *to = sum;
    }
}
