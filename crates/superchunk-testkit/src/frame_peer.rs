//! python-blosc2's super-chunks, as a process spoken to over pipes.
//!
//! The process runs `frame_peer.py`. Super-chunks stay open in it and are called by a [`FrameHandle`]. In a
//! process that was started anew, because the last one died, no handle of before is open. Handles are
//! never used twice, so that such a handle cannot mean another super-chunk.

mod params;

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::peers::PeerKind;
use crate::talk::{Talk, text_of};

pub use crate::talk::Reply;
pub use params::{FrameInfo, FrameParams, MetaContent, Special};

/// A super-chunk that is open in the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHandle(u64);

/// A lock that the peer holds or waits for.
#[derive(Debug)]
pub struct LockHandle(u64);

/// A running peer; it ends when dropped.
#[derive(Debug)]
pub struct FramePeer {
    talk: Talk,
    next_handle: u64,
}

/// Making, opening and closing.
#[expect(clippy::missing_errors_doc, reason = "an error is always the peer's words for refusing")]
impl FramePeer {
    /// Starts a peer of kind [`PeerKind::Blosc2`] or [`PeerKind::Blosc2Old`].
    ///
    /// # Panics
    ///
    /// When it is not installed or does not start, with a sentence that says what to run; or when the
    /// kind has no super-chunks.
    #[must_use]
    pub fn spawn(kind: PeerKind) -> Self {
        let has_frames = matches!(kind, PeerKind::Blosc2 | PeerKind::Blosc2Old);
        assert!(has_frames, "the peer {kind:?} has no super-chunks");
        Self { talk: Talk::start(kind, "frame_peer.py"), next_handle: 0 }
    }

    /// The versions of the package and of the C library.
    pub fn version(&mut self) -> Reply<String> {
        let (value, _) = self.ask("version", json!({}), &[])?;
        value.as_str().map(str::to_owned).ok_or_else(|| format!("not a version: {value}"))
    }

    /// The number of the process, when one runs.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.talk.process_id()
    }

    /// Makes a super-chunk; it stays open.
    pub fn create(&mut self, params: &FrameParams) -> Reply<FrameHandle> {
        let names: Vec<&str> = params.metalayers.iter().map(|(name, _)| name.as_str()).collect();
        let is_raw = |content: &MetaContent| matches!(content, MetaContent::Raw(_));
        let raw: Vec<&str> = params
            .metalayers
            .iter()
            .filter(|(_, content)| is_raw(content))
            .map(|(name, _)| name.as_str())
            .collect();
        let contents: Vec<&[u8]> = params
            .metalayers
            .iter()
            .map(|(_, content)| match content {
                MetaContent::Raw(bytes) | MetaContent::Packed(bytes) => bytes.as_slice(),
            })
            .collect();
        let path = params.path.as_deref().map(text_of).transpose()?;
        let arguments = json!({
            "path": path, "contiguous": params.contiguous, "locking": params.locking,
            "chunk_size": params.chunk_size, "item_size": params.item_size,
            "codec": params.codec, "level": params.level, "block_size": params.block_size,
            "split": params.split, "dictionary": params.dictionary, "filters": params.filters,
            "meta_names": names, "raw_metas": raw,
        });
        self.ask_for_handle("create", arguments, &contents)
    }

    /// Opens a frame (file or directory) for reading and writing.
    pub fn open(&mut self, path: &Path) -> Reply<FrameHandle> {
        self.open_with(path, 0, false)
    }

    /// Opens a frame that begins at this byte of a file.
    pub fn open_offset(&mut self, path: &Path, offset: u64) -> Reply<FrameHandle> {
        self.open_with(path, offset, false)
    }

    /// Opens a frame whose every operation takes the lock file (not in the old peer).
    pub fn open_locking(&mut self, path: &Path) -> Reply<FrameHandle> {
        self.open_with(path, 0, true)
    }

    /// Opens a contiguous frame that is these bytes.
    pub fn from_cframe(&mut self, frame: &[u8]) -> Reply<FrameHandle> {
        self.ask_for_handle("from_cframe", json!({}), &[frame])
    }

    /// Drops a super-chunk and all that the peer holds of it.
    pub fn close(&mut self, frame: FrameHandle) -> Reply<()> {
        self.ask_of(frame, "close", json!({}), &[]).map(drop)
    }

    /// Begins to take the lock of a frame in the background; see [`Self::holds_lock`].
    pub fn hold_lock(&mut self, path: &Path) -> Reply<LockHandle> {
        let handle = self.ask_for_handle("hold_lock", json!({ "path": text_of(path)? }), &[])?;
        Ok(LockHandle(handle.0))
    }

    /// Whether the lock is taken, waiting for it at most this long.
    pub fn holds_lock(&mut self, lock: &LockHandle, at_most: Duration) -> Reply<bool> {
        let arguments = json!({ "handle": lock.0, "seconds": at_most.as_secs_f64() });
        let (value, _) = self.ask("holds_lock", arguments, &[])?;
        value.as_bool().ok_or_else(|| format!("not a truth: {value}"))
    }

    /// Gives the lock back; when it was not taken yet, waits for it first.
    #[expect(clippy::needless_pass_by_value, reason = "a released lock cannot be used again")]
    pub fn release_lock(&mut self, lock: LockHandle) -> Reply<()> {
        self.ask("release_lock", json!({ "handle": lock.0 }), &[]).map(drop)
    }
}

/// Reading.
#[expect(clippy::missing_errors_doc, reason = "an error is always the peer's words for refusing")]
impl FramePeer {
    /// Sizes and names.
    pub fn info(&mut self, frame: FrameHandle) -> Reply<FrameInfo> {
        let (value, _) = self.ask_of(frame, "info", json!({}), &[])?;
        let number = |key: &str| value.get(key)?.as_u64();
        let names = |key: &str| -> Option<Vec<String>> {
            value.get(key)?.as_array()?.iter().map(|name| Some(name.as_str()?.to_owned())).collect()
        };
        let info = || {
            Some(FrameInfo {
                chunk_count: number("chunk_count")?,
                nbytes: number("nbytes")?,
                cbytes: number("cbytes")?,
                chunk_size: number("chunk_size")?,
                item_size: number("item_size")?,
                block_size: number("block_size")?,
                metas: names("metas")?,
                vlmetas: names("vlmetas")?,
            })
        };
        info().ok_or_else(|| format!("not what info should say: {value}"))
    }

    /// Every chunk, decompressed.
    pub fn read_chunks(&mut self, frame: FrameHandle) -> Reply<Vec<Vec<u8>>> {
        Ok(self.ask_of(frame, "read_chunks", json!({}), &[])?.1)
    }

    /// One chunk, decompressed.
    pub fn read_chunk(&mut self, frame: FrameHandle, index: u64) -> Reply<Vec<u8>> {
        self.bytes_of(frame, "read_chunk", json!({ "index": index }))
    }

    /// All data by one slice over everything.
    pub fn read_all(&mut self, frame: FrameHandle) -> Reply<Vec<u8>> {
        self.bytes_of(frame, "read_all", json!({}))
    }

    /// A range of items.
    pub fn read_items(&mut self, frame: FrameHandle, items: Range<u64>) -> Reply<Vec<u8>> {
        self.bytes_of(frame, "read_items", json!({ "start": items.start, "stop": items.end }))
    }

    /// One chunk as it is stored.
    pub fn compressed_chunk(&mut self, frame: FrameHandle, index: u64) -> Reply<Vec<u8>> {
        self.bytes_of(frame, "get_chunk", json!({ "index": index }))
    }

    /// The whole super-chunk as a contiguous frame.
    pub fn to_cframe(&mut self, frame: FrameHandle) -> Reply<Vec<u8>> {
        self.bytes_of(frame, "to_cframe", json!({}))
    }

    /// A metalayer, as it is stored.
    pub fn meta_raw(&mut self, frame: FrameHandle, name: &str) -> Reply<Vec<u8>> {
        self.bytes_of(frame, "meta_raw", json!({ "name": name }))
    }

    /// A variable-length metalayer, as it is stored (decompressed).
    pub fn vlmeta_raw(&mut self, frame: FrameHandle, name: &str) -> Reply<Vec<u8>> {
        self.bytes_of(frame, "vlmeta_raw", json!({ "name": name }))
    }

    /// A variable-length metalayer as a Python value, packed again by plain msgpack.
    pub fn vlmeta_value(&mut self, frame: FrameHandle, name: &str) -> Reply<Vec<u8>> {
        self.bytes_of(frame, "vlmeta_value", json!({ "name": name }))
    }
}

/// Changing.
#[expect(clippy::missing_errors_doc, reason = "an error is always the peer's words for refusing")]
impl FramePeer {
    /// Compresses and appends at most one chunk of data.
    pub fn append_data(&mut self, frame: FrameHandle, data: &[u8]) -> Reply<()> {
        self.change(frame, "append_data", json!({}), &[data])
    }

    /// Appends a chunk that is already compressed (in the old peer: inserts it at the end).
    pub fn append_chunk(&mut self, frame: FrameHandle, chunk: &[u8]) -> Reply<()> {
        if self.talk.kind() == PeerKind::Blosc2Old {
            let end = self.info(frame)?.chunk_count;
            return self.insert_chunk(frame, end, chunk);
        }
        self.change(frame, "append_chunk", json!({}), &[chunk])
    }

    /// Inserts a compressed chunk before the one of this index.
    pub fn insert_chunk(&mut self, frame: FrameHandle, index: u64, chunk: &[u8]) -> Reply<()> {
        self.change(frame, "insert_chunk", json!({ "index": index }), &[chunk])
    }

    /// Replaces a chunk by a compressed one.
    pub fn update_chunk(&mut self, frame: FrameHandle, index: u64, chunk: &[u8]) -> Reply<()> {
        self.change(frame, "update_chunk", json!({ "index": index }), &[chunk])
    }

    /// Compresses data and inserts it as a chunk before the one of this index.
    pub fn insert_data(&mut self, frame: FrameHandle, index: u64, data: &[u8]) -> Reply<()> {
        self.change(frame, "insert_data", json!({ "index": index }), &[data])
    }

    /// Replaces the data of a chunk.
    pub fn update_data(&mut self, frame: FrameHandle, index: u64, data: &[u8]) -> Reply<()> {
        self.change(frame, "update_data", json!({ "index": index }), &[data])
    }

    /// Deletes a chunk.
    pub fn delete_chunk(&mut self, frame: FrameHandle, index: u64) -> Reply<()> {
        self.change(frame, "delete_chunk", json!({ "index": index }), &[])
    }

    /// Makes chunk `order[n]` the chunk `n` (not in the old peer).
    pub fn reorder(&mut self, frame: FrameHandle, order: &[u64]) -> Reply<()> {
        self.change(frame, "reorder", json!({ "order": order }), &[])
    }

    /// Overwrites a range of items; it may reach beyond the end.
    pub fn write_items(&mut self, frame: FrameHandle, items: Range<u64>, data: &[u8]) -> Reply<()> {
        let arguments = json!({ "start": items.start, "stop": items.end });
        self.change(frame, "write_items", arguments, &[data])
    }

    /// Fills an empty super-chunk.
    pub fn fill_special(&mut self, frame: FrameHandle, items: u64, with: Special<'_>) -> Reply<()> {
        let (kind, payload): (u8, Vec<&[u8]>) = match with {
            Special::Zeros => (1, vec![]),
            Special::Nans => (2, vec![]),
            Special::Value(value) => (3, vec![value]),
            Special::Uninit => (4, vec![]),
        };
        self.change(frame, "fill_special", json!({ "items": items, "kind": kind }), &payload)
    }

    /// Overwrites a metalayer by content of the same length, stored as it is.
    pub fn set_meta_raw(&mut self, frame: FrameHandle, name: &str, content: &[u8]) -> Reply<()> {
        self.change(frame, "set_meta_raw", json!({ "name": name }), &[content])
    }

    /// Adds or replaces a variable-length metalayer, stored as it is.
    pub fn set_vlmeta_raw(&mut self, frame: FrameHandle, name: &str, content: &[u8]) -> Reply<()> {
        self.change(frame, "set_vlmeta_raw", json!({ "name": name }), &[content])
    }

    /// Adds or replaces a variable-length metalayer by the value that this msgpack stands for, packed
    /// by the peer.
    pub fn set_vlmeta_value(
        &mut self,
        frame: FrameHandle,
        name: &str,
        msgpack: &[u8],
    ) -> Reply<()> {
        self.change(frame, "set_vlmeta_value", json!({ "name": name }), &[msgpack])
    }

    /// Deletes a variable-length metalayer.
    pub fn delete_vlmeta(&mut self, frame: FrameHandle, name: &str) -> Reply<()> {
        self.change(frame, "delete_vlmeta", json!({ "name": name }), &[])
    }
}

impl FramePeer {
    fn open_with(&mut self, path: &Path, offset: u64, locking: bool) -> Reply<FrameHandle> {
        let arguments = json!({ "path": text_of(path)?, "offset": offset, "locking": locking });
        self.ask_for_handle("open_path", arguments, &[])
    }

    fn change(
        &mut self,
        frame: FrameHandle,
        op: &str,
        arguments: Value,
        payload: &[&[u8]],
    ) -> Reply<()> {
        self.ask_of(frame, op, arguments, payload).map(drop)
    }

    fn bytes_of(&mut self, frame: FrameHandle, op: &str, arguments: Value) -> Reply<Vec<u8>> {
        let (_, mut parts) = self.ask_of(frame, op, arguments, &[])?;
        parts.pop().ok_or_else(|| format!("{op} gave no bytes"))
    }

    fn ask_for_handle(
        &mut self,
        op: &str,
        arguments: Value,
        payload: &[&[u8]],
    ) -> Reply<FrameHandle> {
        self.next_handle += 1;
        let handle = FrameHandle(self.next_handle);
        self.ask_of(handle, op, arguments, payload)?;
        Ok(handle)
    }

    fn ask_of(
        &mut self,
        frame: FrameHandle,
        op: &str,
        mut arguments: Value,
        payload: &[&[u8]],
    ) -> Reply<(Value, Vec<Vec<u8>>)> {
        if let Some(map) = arguments.as_object_mut() {
            map.insert("handle".to_owned(), frame.0.into());
        }
        self.ask(op, arguments, payload)
    }

    fn ask(
        &mut self,
        op: &str,
        arguments: Value,
        payload: &[&[u8]],
    ) -> Reply<(Value, Vec<Vec<u8>>)> {
        self.talk.ask(op, arguments, payload)
    }
}
