//! python-blosc2's `BatchArray`, as a process spoken to over pipes.
//!
//! The process runs `objects_peer.py`, which speaks as `frame_peer.py` does. Objects travel as one
//! msgpack value. No store stays open there: every call names a path and sees what was written to it.

use std::path::Path;

use serde_json::{Value, json};

use crate::frame_peer::{Reply, receive, send, text_of};
use crate::peers::PeerKind;
use crate::process::{Process, not_started};

/// How the peer shall make a store.
#[derive(Clone, Copy, Debug)]
pub struct PeerStore<'a> {
    /// How many objects a block has, or the peer's choice.
    pub items_per_block: Option<usize>,
    /// The name of a codec, as the peer spells it.
    pub codec: &'a str,
    /// The compression level.
    pub level: u8,
    /// Whether the blocks of a chunk share a dictionary.
    pub dictionary: bool,
    /// One file, or a folder.
    pub contiguous: bool,
}

/// What the peer says of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerDescription {
    /// How many objects a block has.
    pub items_per_block: Option<u64>,
    /// How many objects each chunk has, if the file says so.
    pub lengths: Option<Vec<u64>>,
    /// How many objects there are.
    pub items: u64,
    /// The names of the metalayers.
    pub metas: Vec<String>,
}

/// A running peer; it ends when dropped.
#[derive(Debug)]
pub struct ObjectsPeer {
    process: Process,
}

#[expect(clippy::missing_errors_doc, reason = "an error is always the peer's words for refusing")]
impl ObjectsPeer {
    /// Starts python-blosc2 of today; older ones have no such stores.
    ///
    /// # Panics
    ///
    /// When it is not installed or does not start, with a sentence that says what to run.
    #[must_use]
    #[expect(clippy::panic, reason = "a missing peer must fail the test that needs it")]
    pub fn spawn() -> Self {
        let kind = PeerKind::Blosc2;
        let process = Process::start(kind, "objects_peer.py", &[]);
        Self { process: process.unwrap_or_else(|error| panic!("{}", not_started(kind, &error))) }
    }

    /// Makes a store of these batches, a list of lists.
    pub fn create(&mut self, path: &Path, store: PeerStore<'_>, batches: &[u8]) -> Reply<()> {
        let arguments = json!({
            "path": text_of(path)?, "items_per_block": store.items_per_block, "codec": store.codec,
            "level": store.level, "dictionary": store.dictionary, "contiguous": store.contiguous,
        });
        self.ask("create", arguments, &[batches]).map(drop)
    }

    /// All batches, a list of lists.
    pub fn read(&mut self, path: &Path) -> Reply<Vec<u8>> {
        self.one("read", json!({ "path": text_of(path)? }))
    }

    /// One object by its number.
    pub fn item(&mut self, path: &Path, index: u64) -> Reply<Vec<u8>> {
        self.one("item", json!({ "path": text_of(path)?, "index": index }))
    }

    /// What the peer says of a store.
    pub fn describe(&mut self, path: &Path) -> Reply<PeerDescription> {
        let (value, _) = self.ask("describe", json!({ "path": text_of(path)? }), &[])?;
        let describe = || {
            let lengths = value.get("lengths")?.as_array();
            let metas = value.get("metas")?.as_array()?;
            Some(PeerDescription {
                items_per_block: value.get("items_per_block")?.as_u64(),
                lengths: lengths.map(|list| list.iter().filter_map(Value::as_u64).collect()),
                items: value.get("items")?.as_u64()?,
                metas: metas.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect(),
            })
        };
        describe().ok_or_else(|| format!("not what a store is described by: {value}"))
    }

    /// Appends a batch, a list.
    pub fn append(&mut self, path: &Path, batch: &[u8]) -> Reply<()> {
        self.ask("append", json!({ "path": text_of(path)? }), &[batch]).map(drop)
    }

    /// Puts another batch, a list, in the place of one.
    pub fn replace(&mut self, path: &Path, index: usize, batch: &[u8]) -> Reply<()> {
        let arguments = json!({ "path": text_of(path)?, "index": index });
        self.ask("replace", arguments, &[batch]).map(drop)
    }

    /// Deletes a batch.
    pub fn delete(&mut self, path: &Path, index: usize) -> Reply<()> {
        self.ask("delete", json!({ "path": text_of(path)?, "index": index }), &[]).map(drop)
    }

    /// Removes what tells how many objects each chunk has.
    pub fn forget_lengths(&mut self, path: &Path) -> Reply<()> {
        self.ask("forget_lengths", json!({ "path": text_of(path)? }), &[]).map(drop)
    }

    /// The bytes of one block, by way of the super-chunk.
    pub fn block(&mut self, path: &Path, chunk: usize, block: usize) -> Reply<Vec<u8>> {
        self.one("block", json!({ "path": text_of(path)?, "chunk": chunk, "block": block }))
    }

    fn one(&mut self, op: &str, arguments: Value) -> Reply<Vec<u8>> {
        let (_, mut parts) = self.ask(op, arguments, &[])?;
        parts.pop().ok_or_else(|| format!("{op} gave no bytes"))
    }

    fn ask(
        &mut self,
        op: &str,
        mut arguments: Value,
        payload: &[&[u8]],
    ) -> Reply<(Value, Vec<Vec<u8>>)> {
        if let Some(map) = arguments.as_object_mut() {
            map.insert("op".to_owned(), op.into());
            let lengths: Vec<usize> = payload.iter().map(|part| part.len()).collect();
            map.insert("payload".to_owned(), lengths.into());
        }
        let Some((input, output, mut ending)) = self.process.pipes() else {
            return Err("the peer process is ending".to_owned());
        };
        let answer = send(input, &arguments, payload).and_then(|()| receive(output));
        answer.map_err(|error| ending.words(&error))?
    }
}
