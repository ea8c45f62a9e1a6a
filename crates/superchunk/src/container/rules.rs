//! What a format demands of the chunks in its containers.

/// The rules of one container. The default are those of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Whether runs stand in the index without a chunk. Only Blosc2 knows them: where they may not,
    /// every chunk is stored in full and is one of Blosc1.
    pub(crate) runs: bool,
    /// Into pieces of how many bytes an append is cut, where the sizes of chunks are variable.
    pub(crate) cut: Option<usize>,
    /// Whether a short last chunk stays as it is once it is committed: an append begins a new one.
    pub(crate) keep_short: bool,
    /// Whether the last chunk may hold more than its place: only the first bytes count.
    pub(crate) longer_last: bool,
    /// Whether chunks are always read whole, so that every read compares their checksums.
    pub(crate) check_always: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { runs: true, cut: None, keep_short: false, longer_last: false, check_always: false }
    }
}

impl Rules {
    /// The rules of formats that keep chunks of Blosc1.
    pub(crate) fn blosc1() -> Self {
        Self { runs: false, ..Self::default() }
    }
}
