//! Hands out the elements of a slice to several threads, each element once.

use core::marker::PhantomData;
use core::sync::atomic::Ordering;

use super::sync::AtomicUsize;

/// A slice whose elements are claimed in order, each by one claimant for good.
pub(super) struct Claims<'a, T> {
    base: *mut T,
    len: usize,
    next: AtomicUsize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: sharing a `Claims` lets another thread do one thing with a `T`: take exclusive hold of it
// through `claim`, which is what `T: Send` allows. The counter is atomic.
unsafe impl<T: Send> Sync for Claims<'_, T> {}

impl<'a, T> Claims<'a, T> {
    pub(super) fn new(slice: &'a mut [T]) -> Claims<'a, T> {
        Claims {
            base: slice.as_mut_ptr(),
            len: slice.len(),
            next: AtomicUsize::new(0),
            slice: PhantomData,
        }
    }

    /// The next element and its index, or `None` when all are taken.
    pub(super) fn claim(&self) -> Option<(usize, &'a mut T)> {
        // Looking first keeps the counter from growing by more than one per thread past the end, so
        // it cannot wrap round.
        if self.is_exhausted() {
            return None;
        }
        // Relaxed: the element itself reaches the thread with the job and leaves with its end.
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        if index >= self.len {
            return None;
        }
        // SAFETY: `index < len`, so the element lies in the slice that `new` borrowed for `'a`. The
        // counter returns each value below `len` once (`exhaust` never sets it below `len`), so no
        // other reference to this element is ever made.
        Some((index, unsafe { &mut *self.base.add(index) }))
    }

    /// Whether nothing is left to claim.
    pub(super) fn is_exhausted(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.len
    }

    /// Withholds all that is not claimed yet.
    pub(super) fn exhaust(&self) {
        self.next.store(self.len, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_in_order_and_once() {
        let mut letters = ['a', 'b', 'c'];
        let claims = Claims::new(&mut letters);
        let held: Vec<_> = core::iter::from_fn(|| claims.claim()).collect();
        assert_eq!(held, [(0, &mut 'a'), (1, &mut 'b'), (2, &mut 'c')]);
        assert!(claims.is_exhausted() && claims.claim().is_none());
    }

    #[test]
    fn exhaust_withholds_the_rest() {
        let mut letters = ['a', 'b', 'c'];
        let claims = Claims::new(&mut letters);
        assert!(claims.claim().is_some());
        claims.exhaust();
        assert_eq!(claims.claim(), None);
    }
}
