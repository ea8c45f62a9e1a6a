//! NumPy as the judge of expressions, as a process spoken to over pipes.

use serde_json::json;

use crate::frame_peer::{Reply, receive, send};
use crate::peers::PeerKind;
use crate::process::{Process, not_started};

/// A running peer; it ends when dropped.
#[derive(Debug)]
pub struct TablePeer {
    process: Process,
}

#[expect(clippy::missing_errors_doc, reason = "an error is always the peer's words for refusing")]
impl TablePeer {
    /// Starts the Python of today's python-blosc2, which has NumPy.
    ///
    /// # Panics
    ///
    /// When it is not installed or does not start, with a sentence that says what to run.
    #[must_use]
    #[expect(clippy::panic, reason = "a missing peer must fail the test that needs it")]
    pub fn spawn() -> Self {
        let kind = PeerKind::Blosc2;
        let process = Process::start(kind, "table_peer.py", &[]);
        Self { process: process.unwrap_or_else(|error| panic!("{}", not_started(kind, &error))) }
    }

    /// Gives a column its values.
    pub fn load(&mut self, name: &str, dtype: &str, bytes: &[u8]) -> Reply<()> {
        self.ask(json!({ "op": "load", "name": name, "dtype": dtype }), &[bytes]).map(drop)
    }

    /// Evaluates a Python expression over the columns: a byte a row.
    pub fn mask(&mut self, text: &str) -> Reply<Vec<u8>> {
        let mut parts = self.ask(json!({ "op": "mask", "text": text }), &[])?;
        parts.pop().ok_or_else(|| "no answer".to_owned())
    }

    fn ask(&mut self, mut request: serde_json::Value, payload: &[&[u8]]) -> Reply<Vec<Vec<u8>>> {
        if let Some(map) = request.as_object_mut() {
            let lengths: Vec<usize> = payload.iter().map(|part| part.len()).collect();
            map.insert("payload".to_owned(), lengths.into());
        }
        let Some((input, output, mut ending)) = self.process.pipes() else {
            return Err("the peer is gone".to_owned());
        };
        let reply = send(input, &request, payload).and_then(|()| receive(output));
        reply.map_err(|error| ending.words(&error))?.map(|(_, parts)| parts)
    }
}
