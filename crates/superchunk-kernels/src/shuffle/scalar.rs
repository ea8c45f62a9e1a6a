//! The definition of both shuffles: plain loops over one byte at a time.

use super::Planes;

/// Byte `b` of item `e` goes to byte `e` of plane `b`. Planes are as long as there are items.
pub(super) fn items_to_planes(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let len = src.len().checked_div(item_size).unwrap_or(0);
    if len == 0 {
        return;
    }
    for (b, plane) in dst.chunks_exact_mut(len).take(item_size).enumerate() {
        let bytes = src.iter().skip(b).step_by(item_size);
        for (to, &byte) in plane.iter_mut().zip(bytes) {
            *to = byte;
        }
    }
}

/// Byte `e` of plane `b` goes to byte `b` of item `e`.
pub(super) fn planes_to_items(planes: Planes<'_>, dst: &mut [u8]) {
    let (item_size, len) = (planes.count(), planes.len());
    for b in 0..item_size {
        let bytes = dst.iter_mut().skip(b).step_by(item_size).take(len);
        for (to, &byte) in bytes.zip(planes.plane(b)) {
            *to = byte;
        }
    }
}
