//! NumPy as the judge of expressions, as a process spoken to over pipes.

use serde_json::json;

use crate::peers::PeerKind;
use crate::talk::{Reply, Talk};

/// A running peer; it ends when dropped.
#[derive(Debug)]
pub struct TablePeer {
    talk: Talk,
}

#[expect(clippy::missing_errors_doc, reason = "an error is always the peer's words for refusing")]
impl TablePeer {
    /// Starts the Python of today's python-blosc2, which has NumPy.
    ///
    /// # Panics
    ///
    /// When it is not installed or does not start, with a sentence that says what to run.
    #[must_use]
    pub fn spawn() -> Self {
        Self { talk: Talk::start(PeerKind::Blosc2, "table_peer.py") }
    }

    /// Gives a column its values.
    pub fn load(&mut self, name: &str, dtype: &str, bytes: &[u8]) -> Reply<()> {
        self.talk.ask("load", json!({ "name": name, "dtype": dtype }), &[bytes]).map(drop)
    }

    /// Evaluates a Python expression over the columns: a byte a row.
    pub fn mask(&mut self, text: &str) -> Reply<Vec<u8>> {
        self.talk.one("mask", json!({ "text": text }), &[])
    }
}
