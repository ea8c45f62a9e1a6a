//! Whoever wants to know what the chunks of a carray hold, while their rows are at hand.

use std::fmt::Debug;

/// Is told of every chunk that a writer stores. A slot is the number of a chunk in its place, or any
/// other number of one that waits for a commit.
pub(crate) trait Watch: Debug + Send + Sync {
    /// The chunk at `slot` has these rows, which were compressed to `chunk`.
    fn stored(&self, slot: u64, rows: &[u8], chunk: &[u8]);

    /// Nothing is known of the chunk at `slot` any more.
    fn forget(&self, slot: u64);

    /// The chunk at `slot` has become the one of this number.
    fn placed(&self, slot: u64, number: u64);
}
