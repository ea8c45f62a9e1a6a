//! Copying boxes between buffers: the one loop under reading, writing, packing and transposing.

/// One axis of a box: how many items, and how far apart they are in either buffer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) count: usize,
    pub(crate) src: usize,
    pub(crate) dst: usize,
}

/// A box, reduced to the fewest axes that say the same, the innermost last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copy {
    axes: Vec<Axis>,
    /// The bytes that lie together in both buffers.
    run: usize,
}

impl Copy {
    /// Axes of one item are dropped, and neighbours that lie as one axis are joined.
    pub(crate) fn new(axes: impl IntoIterator<Item = Axis>, item_size: usize) -> Self {
        let mut copy = Self { axes: Vec::new(), run: item_size };
        copy.set(axes, item_size);
        copy
    }

    /// The same for another box, with the memory of this one.
    pub(crate) fn set(&mut self, axes: impl IntoIterator<Item = Axis>, item_size: usize) {
        self.axes.clear();
        self.run = item_size;
        for axis in axes {
            if axis.count == 1 {
                continue;
            }
            match self.axes.last_mut() {
                Some(outer)
                    if outer.src == axis.src.saturating_mul(axis.count)
                        && outer.dst == axis.dst.saturating_mul(axis.count) =>
                {
                    *outer = Axis { count: outer.count.saturating_mul(axis.count), ..axis };
                }
                _ => self.axes.push(axis),
            }
        }
        if let Some(Axis { count, src, dst }) = self.axes.last().copied()
            && src == item_size
            && dst == item_size
        {
            self.run = count.saturating_mul(item_size);
            self.axes.pop();
        }
    }

    /// The bytes of a box that lies in one piece in both buffers.
    pub(crate) fn whole(&self) -> Option<usize> {
        self.axes.is_empty().then_some(self.run)
    }

    /// Copies the box from `src` at `from` to `dst` at `to`. What does not fit a buffer is left out;
    /// callers have checked that all of it fits.
    pub(crate) fn run(&self, src: &[u8], from: usize, dst: &mut [u8], to: usize) {
        if self.axes.iter().any(|axis| axis.count == 0) {
            return;
        }
        match self.run {
            1 => self.go::<1>(src, from, dst, to),
            2 => self.go::<2>(src, from, dst, to),
            4 => self.go::<4>(src, from, dst, to),
            8 => self.go::<8>(src, from, dst, to),
            16 => self.go::<16>(src, from, dst, to),
            _ => self.go::<0>(src, from, dst, to),
        }
    }

    /// `N` is the length of a run, or 0 for any.
    fn go<const N: usize>(&self, src: &[u8], from: usize, dst: &mut [u8], to: usize) {
        let Some((inner, outer)) = self.axes.split_last() else {
            return copy_run::<N>(src, from, dst, to, self.run);
        };
        let mut index = [0usize; 32];
        let (mut from, mut to) = (from, to);
        loop {
            let (mut a, mut b) = (from, to);
            for _ in 0..inner.count {
                copy_run::<N>(src, a, dst, b, self.run);
                a += inner.src;
                b += inner.dst;
            }
            let mut carry = true;
            for (axis, at) in outer.iter().zip(&mut index).rev() {
                *at += 1;
                from += axis.src;
                to += axis.dst;
                if *at < axis.count {
                    carry = false;
                    break;
                }
                *at = 0;
                from -= axis.src * axis.count;
                to -= axis.dst * axis.count;
            }
            if carry {
                return;
            }
        }
    }
}

#[inline]
fn copy_run<const N: usize>(src: &[u8], from: usize, dst: &mut [u8], to: usize, len: usize) {
    if N == 0 {
        if let (Some(src), Some(dst)) = (src.get(from..from + len), dst.get_mut(to..to + len)) {
            dst.copy_from_slice(src);
        }
        return;
    }
    let src = src.get(from..).and_then(|src| src.first_chunk::<N>());
    let dst = dst.get_mut(to..).and_then(|dst| dst.first_chunk_mut::<N>());
    if let (Some(src), Some(dst)) = (src, dst) {
        *dst = *src;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_copied_item_by_item() {
        let src: Vec<u8> = (0..=255).collect();
        // A (3, 4) box of items of 2 bytes from rows of 16 bytes, transposed.
        let axes = [Axis { count: 3, src: 16, dst: 2 }, Axis { count: 4, src: 2, dst: 6 }];
        let copy = Copy::new(axes, 2);
        assert_eq!(copy.whole(), None);
        let mut dst = [0; 24];
        copy.run(&src, 5, &mut dst, 0);
        for row in 0..3 {
            for column in 0..4 {
                let at = 5 + 16 * row + 2 * column;
                let got = &dst[6 * column + 2 * row..][..2];
                assert_eq!(got, &src[at..at + 2]);
            }
        }
    }

    #[test]
    fn what_lies_together_is_one_run() {
        let axes = [
            Axis { count: 2, src: 40, dst: 40 },
            Axis { count: 1, src: 7, dst: 9 },
            Axis { count: 5, src: 8, dst: 8 },
        ];
        assert_eq!(Copy::new(axes, 8).whole(), Some(80));
        let none = [Axis { count: 0, src: 8, dst: 8 }];
        let mut dst = [7; 8];
        Copy::new(none, 8).run(&[1; 8], 0, &mut dst, 0);
        assert_eq!(dst, [7; 8]);
    }
}
