//! One of each of several lists, in all combinations.

/// The element of each list that `at` names.
pub(crate) fn chosen<'l, T>(lists: &'l [Vec<T>], at: &'l [usize]) -> impl Iterator<Item = &'l T> {
    lists.iter().zip(at).filter_map(|(list, at)| list.get(*at))
}

/// All combinations of one number below each count, the last varying fastest.
pub(crate) struct Odometer {
    counts: Vec<usize>,
    at: Vec<usize>,
    started: bool,
}

impl Odometer {
    pub(crate) fn new(counts: impl Iterator<Item = usize>) -> Self {
        let counts: Vec<usize> = counts.collect();
        Self { at: vec![0; counts.len()], counts, started: false }
    }

    /// The next combination.
    pub(crate) fn next(&mut self) -> Option<&[usize]> {
        if !std::mem::replace(&mut self.started, true) {
            return (!self.counts.contains(&0)).then_some(&self.at);
        }
        for (at, count) in self.at.iter_mut().zip(&self.counts).rev() {
            *at += 1;
            if *at < *count {
                return Some(&self.at);
            }
            *at = 0;
        }
        None
    }
}
