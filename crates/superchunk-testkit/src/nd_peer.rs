//! python-blosc2's N-d arrays, and NumPy as the judge, as a process spoken to over pipes.
//!
//! The process runs `nd_peer.py`, which speaks as `frame_peer.py` does. No array stays open there: every
//! call names a path and sees what was written to it.

use std::path::Path;

use serde_json::{Value, json};

use crate::peers::PeerKind;
use crate::talk::{Reply, Talk, text_of};

/// One part of a key: an index, or start, stop and step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPart {
    /// A single index, which drops the axis.
    Index(i64),
    /// As in Python, each may be missing.
    Slice(Option<i64>, Option<i64>, Option<i64>),
}

/// An array as the peer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerArray {
    /// NumPy's spelling of the type.
    pub dtype: String,
    /// The length of each dimension.
    pub shape: Vec<u64>,
    /// All items in C order.
    pub bytes: Vec<u8>,
}

/// How the peer shall make an array.
#[derive(Clone, Copy, Debug)]
pub struct PeerShape<'a> {
    /// NumPy's spelling of the type.
    pub dtype: &'a str,
    /// The length of each dimension.
    pub shape: &'a [u64],
    /// The shape of a chunk, or the peer's choice.
    pub chunks: Option<&'a [usize]>,
    /// The shape of a block, or the peer's choice.
    pub blocks: Option<&'a [usize]>,
    /// One file, or a folder.
    pub contiguous: bool,
}

/// A running peer; it ends when dropped.
#[derive(Debug)]
pub struct NdPeer {
    talk: Talk,
}

#[expect(clippy::missing_errors_doc, reason = "an error is always the peer's words for refusing")]
impl NdPeer {
    /// Starts python-blosc2 of today, or the old one.
    ///
    /// # Panics
    ///
    /// When it is not installed or does not start, with a sentence that says what to run.
    #[must_use]
    pub fn spawn(kind: PeerKind) -> Self {
        Self { talk: Talk::start(kind, "nd_peer.py") }
    }

    /// Makes an array of these items.
    pub fn create(&mut self, path: &Path, array: PeerShape<'_>, bytes: &[u8]) -> Reply<()> {
        self.talk.ask("create", made(path, array, "")?, &[bytes]).map(drop)
    }

    /// Makes an array of one value by a constructor: `zeros`, `nans`, `uninit`, or `full`.
    pub fn fill(
        &mut self,
        path: &Path,
        array: PeerShape<'_>,
        kind: &str,
        value: &[u8],
    ) -> Reply<()> {
        self.talk.ask("fill", made(path, array, kind)?, &[value]).map(drop)
    }

    /// All of an array.
    pub fn read(&mut self, path: &Path) -> Reply<PeerArray> {
        let (_, parts) = self.talk.ask("read", json!({ "path": text_of(path)? }), &[])?;
        array_of(parts)
    }

    /// A part of an array.
    pub fn get(&mut self, path: &Path, key: &[KeyPart]) -> Reply<Vec<u8>> {
        self.talk.one("get", json!({ "path": text_of(path)?, "key": key_value(key) }), &[])
    }

    /// Sets a part of an array to items of this shape.
    pub fn put(&mut self, path: &Path, key: &[KeyPart], shape: &[u64], bytes: &[u8]) -> Reply<()> {
        let arguments = json!({ "path": text_of(path)?, "key": key_value(key), "shape": shape });
        self.talk.ask("put", arguments, &[bytes]).map(drop)
    }

    /// Gives an array another shape.
    pub fn resize(&mut self, path: &Path, shape: &[u64]) -> Reply<()> {
        self.talk.ask("resize", json!({ "path": text_of(path)?, "shape": shape }), &[]).map(drop)
    }

    /// Inserts rows along an axis.
    pub fn insert(&mut self, path: &Path, axis: usize, start: u64, bytes: &[u8]) -> Reply<()> {
        let arguments = json!({ "path": text_of(path)?, "axis": axis, "start": start });
        self.talk.ask("insert", arguments, &[bytes]).map(drop)
    }

    /// Appends rows along an axis.
    pub fn append(&mut self, path: &Path, axis: usize, bytes: &[u8]) -> Reply<()> {
        self.talk.ask("append", json!({ "path": text_of(path)?, "axis": axis }), &[bytes]).map(drop)
    }

    /// Deletes rows along an axis.
    pub fn delete(&mut self, path: &Path, axis: usize, start: u64, count: u64) -> Reply<()> {
        let arguments =
            json!({ "path": text_of(path)?, "axis": axis, "start": start, "count": count });
        self.talk.ask("delete", arguments, &[]).map(drop)
    }

    /// NumPy's own answer for a part of an array in memory.
    pub fn numpy_get(&mut self, array: &PeerArray, key: &[KeyPart]) -> Reply<Vec<u8>> {
        let arguments =
            json!({ "dtype": array.dtype, "shape": array.shape, "key": key_value(key) });
        self.talk.one("numpy_get", arguments, &[&array.bytes])
    }

    /// NumPy's own spelling of a type.
    pub fn spelling(&mut self, dtype: &str) -> Reply<String> {
        let (value, _) = self.talk.ask("spelling", json!({ "dtype": dtype }), &[])?;
        value.as_str().map(str::to_owned).ok_or_else(|| format!("no spelling: {value}"))
    }

    /// Has NumPy write a `.npy` file.
    pub fn npy_save(&mut self, path: &Path, array: &PeerArray, fortran: bool) -> Reply<()> {
        let arguments = json!({ "path": text_of(path)?, "dtype": array.dtype, "shape": array.shape,
                                "fortran": fortran });
        self.talk.ask("npy_save", arguments, &[&array.bytes]).map(drop)
    }

    /// Has NumPy read a `.npy` file.
    pub fn npy_load(&mut self, path: &Path) -> Reply<PeerArray> {
        let (_, parts) = self.talk.ask("npy_load", json!({ "path": text_of(path)? }), &[])?;
        array_of(parts)
    }

    /// What NumPy prints for each item.
    pub fn items_as_text(&mut self, dtype: &str, bytes: &[u8]) -> Reply<Vec<String>> {
        let (_, parts) = self.talk.ask("items_as_text", json!({ "dtype": dtype }), &[bytes])?;
        Ok(parts.iter().map(|part| String::from_utf8_lossy(part).into_owned()).collect())
    }
}

fn made(path: &Path, array: PeerShape<'_>, kind: &str) -> Reply<Value> {
    Ok(json!({
        "path": text_of(path)?, "dtype": array.dtype, "shape": array.shape, "chunks": array.chunks,
        "blocks": array.blocks, "contiguous": array.contiguous, "kind": kind,
    }))
}

fn key_value(key: &[KeyPart]) -> Value {
    let parts = key.iter().map(|part| match part {
        KeyPart::Index(index) => json!(index),
        KeyPart::Slice(start, stop, step) => json!([start, stop, step]),
    });
    parts.collect()
}

fn array_of(parts: Vec<Vec<u8>>) -> Reply<PeerArray> {
    let [dtype, shape, bytes]: [Vec<u8>; 3] =
        parts.try_into().map_err(|_| "not what an array consists of".to_owned())?;
    let shape = String::from_utf8_lossy(&shape).into_owned();
    let sides = shape.split(',').filter(|side| !side.is_empty());
    let shape = sides.map(|side| side.parse::<u64>().map_err(|error| error.to_string()));
    Ok(PeerArray {
        dtype: String::from_utf8_lossy(&dtype).into_owned(),
        shape: shape.collect::<Reply<_>>()?,
        bytes,
    })
}
