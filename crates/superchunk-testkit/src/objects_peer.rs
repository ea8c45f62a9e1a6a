//! python-blosc2's `BatchArray`, as a process spoken to over pipes.
//!
//! The process runs `objects_peer.py`, which speaks as `frame_peer.py` does. Objects travel as one
//! msgpack value. No store stays open there: every call names a path and sees what was written to it.

use std::path::Path;

use serde_json::{Value, json};

use crate::peers::PeerKind;
use crate::talk::{Reply, Talk, text_of};

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
    talk: Talk,
}

#[expect(clippy::missing_errors_doc, reason = "an error is always the peer's words for refusing")]
impl ObjectsPeer {
    /// Starts python-blosc2 of today; older ones have no such stores.
    ///
    /// # Panics
    ///
    /// When it is not installed or does not start, with a sentence that says what to run.
    #[must_use]
    pub fn spawn() -> Self {
        Self { talk: Talk::start(PeerKind::Blosc2, "objects_peer.py") }
    }

    /// Makes a store of these batches, a list of lists.
    pub fn create(&mut self, path: &Path, store: PeerStore<'_>, batches: &[u8]) -> Reply<()> {
        let arguments = json!({
            "path": text_of(path)?, "items_per_block": store.items_per_block, "codec": store.codec,
            "level": store.level, "dictionary": store.dictionary, "contiguous": store.contiguous,
        });
        self.talk.ask("create", arguments, &[batches]).map(drop)
    }

    /// All batches, a list of lists.
    pub fn read(&mut self, path: &Path) -> Reply<Vec<u8>> {
        self.talk.one("read", json!({ "path": text_of(path)? }), &[])
    }

    /// All objects of a store that is packed by lengths, a list: with what the document tells, and blocks.
    pub fn read_lengths(&mut self, path: &Path) -> Reply<Vec<u8>> {
        self.talk.one("read_lengths", json!({ "path": text_of(path)? }), &[])
    }

    /// One object by its number.
    pub fn item(&mut self, path: &Path, index: u64) -> Reply<Vec<u8>> {
        self.talk.one("item", json!({ "path": text_of(path)?, "index": index }), &[])
    }

    /// What the peer says of a store.
    pub fn describe(&mut self, path: &Path) -> Reply<PeerDescription> {
        let (value, _) = self.talk.ask("describe", json!({ "path": text_of(path)? }), &[])?;
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
        self.talk.ask("append", json!({ "path": text_of(path)? }), &[batch]).map(drop)
    }

    /// Puts another batch, a list, in the place of one.
    pub fn replace(&mut self, path: &Path, index: usize, batch: &[u8]) -> Reply<()> {
        let arguments = json!({ "path": text_of(path)?, "index": index });
        self.talk.ask("replace", arguments, &[batch]).map(drop)
    }

    /// Deletes a batch.
    pub fn delete(&mut self, path: &Path, index: usize) -> Reply<()> {
        self.talk.ask("delete", json!({ "path": text_of(path)?, "index": index }), &[]).map(drop)
    }

    /// Removes what tells how many objects each chunk has.
    pub fn forget_lengths(&mut self, path: &Path) -> Reply<()> {
        self.talk.ask("forget_lengths", json!({ "path": text_of(path)? }), &[]).map(drop)
    }

    /// The bytes of one block, by way of the super-chunk.
    pub fn block(&mut self, path: &Path, chunk: usize, block: usize) -> Reply<Vec<u8>> {
        self.talk.one(
            "block",
            json!({ "path": text_of(path)?, "chunk": chunk, "block": block }),
            &[],
        )
    }
}
