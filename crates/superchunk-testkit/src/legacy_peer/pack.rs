//! The calls of bloscpack.

use std::path::Path;

use serde_json::{Value, json};

use super::LegacyPeer;
use crate::talk::{Reply, text_of};

/// How bloscpack shall write.
#[derive(Clone, Debug)]
pub struct PackParams {
    /// The bytes of a chunk.
    pub chunk_size: usize,
    /// Whether to write the positions of chunks.
    pub offsets: bool,
    /// The name of the checksum, `None` for none.
    pub checksum: &'static str,
    /// How many chunks may be appended; `None` for ten times as many as there are.
    pub slots: Option<u64>,
    /// The bytes of an item.
    pub item_size: u8,
    /// 0 to 9.
    pub level: u8,
    /// 0 none, 1 bytes, 2 bits.
    pub shuffle: u8,
    /// The name of the codec.
    pub codec: &'static str,
    /// What to say about the data, if anything.
    pub metadata: Option<Value>,
    /// The name of the checksum of the metadata.
    pub meta_checksum: &'static str,
    /// `zlib` or `None`.
    pub meta_codec: &'static str,
}

impl Default for PackParams {
    /// What bloscpack does by itself.
    fn default() -> Self {
        Self {
            chunk_size: 1 << 20,
            offsets: true,
            checksum: "adler32",
            slots: None,
            item_size: 8,
            level: 7,
            shuffle: 1,
            codec: "blosclz",
            metadata: None,
            meta_checksum: "adler32",
            meta_codec: "zlib",
        }
    }
}

/// An array as the peer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedArray {
    /// Python's literal for the type.
    pub dtype: String,
    /// The length of each dimension.
    pub shape: Vec<u64>,
    /// All items in C order.
    pub bytes: Vec<u8>,
}

#[expect(clippy::missing_errors_doc, reason = "an error is always the peer's words for refusing")]
impl LegacyPeer {
    /// The versions of bloscpack and of what it uses.
    pub fn pack_version(&mut self) -> Reply<String> {
        let (value, _) = self.talk.ask("pack_version", json!({}), &[])?;
        value.as_str().map(str::to_owned).ok_or_else(|| format!("not a version: {value}"))
    }

    /// Packs bytes into a file.
    pub fn pack_bytes(&mut self, path: &Path, bytes: &[u8], params: &PackParams) -> Reply<()> {
        self.talk.ask("pack_bytes", arguments(path, params)?, &[bytes]).map(drop)
    }

    /// Packs an array into a file; the items are given in the order of the file, `C` or `F`.
    pub fn pack_array(
        &mut self,
        path: &Path,
        array: &PackedArray,
        order: &str,
        params: &PackParams,
    ) -> Reply<()> {
        let mut arguments = arguments(path, params)?;
        if let Some(map) = arguments.as_object_mut() {
            map.insert("dtype".to_owned(), array.dtype.clone().into());
            map.insert("shape".to_owned(), array.shape.clone().into());
            map.insert("order".to_owned(), order.into());
        }
        self.talk.ask("pack_array", arguments, &[&array.bytes]).map(drop)
    }

    /// All bytes of a file.
    pub fn unpack_bytes(&mut self, path: &Path) -> Reply<Vec<u8>> {
        let (_, mut parts) =
            self.talk.ask("unpack_bytes", json!({ "path": text_of(path)? }), &[])?;
        parts.pop().ok_or_else(|| "unpack_bytes gave no bytes".to_owned())
    }

    /// The metadata of a file, `null` if it has none.
    pub fn unpack_metadata(&mut self, path: &Path) -> Reply<Value> {
        let (text, _) = self.talk.ask("unpack_metadata", json!({ "path": text_of(path)? }), &[])?;
        let text = text.as_str().ok_or_else(|| format!("not a text: {text}"))?;
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The array of a file.
    pub fn unpack_array(&mut self, path: &Path) -> Reply<PackedArray> {
        let (_, parts) = self.talk.ask("unpack_array", json!({ "path": text_of(path)? }), &[])?;
        let [head, bytes] = parts.as_slice() else {
            return Err("unpack_array gave no array".to_owned());
        };
        let head: Value = serde_json::from_slice(head).map_err(|error| error.to_string())?;
        let dtype = head.get("dtype").and_then(Value::as_str);
        let shape = head.get("shape").and_then(Value::as_array);
        let shape: Option<Vec<u64>> =
            shape.and_then(|shape| shape.iter().map(Value::as_u64).collect());
        match (dtype, shape) {
            (Some(dtype), Some(shape)) => {
                Ok(PackedArray { dtype: dtype.to_owned(), shape, bytes: bytes.clone() })
            }
            _ => Err(format!("not an array: {head}")),
        }
    }

    /// Appends bytes to a file, which rewrites its last chunk in place.
    pub fn append_bytes(&mut self, path: &Path, bytes: &[u8], params: &PackParams) -> Reply<()> {
        self.talk.ask("append_bytes", arguments(path, params)?, &[bytes]).map(drop)
    }

    /// Replaces the metadata of a file in place.
    pub fn rewrite_metadata(&mut self, path: &Path, metadata: &Value) -> Reply<()> {
        let arguments = json!({ "path": text_of(path)?, "metadata": metadata });
        self.talk.ask("rewrite_metadata", arguments, &[]).map(drop)
    }

    /// The header (under `header`), the `offsets` and the `metadata` of a file.
    pub fn pack_info(&mut self, path: &Path) -> Reply<Value> {
        Ok(self.talk.ask("pack_info", json!({ "path": text_of(path)? }), &[])?.0)
    }
}

fn arguments(path: &Path, params: &PackParams) -> Reply<Value> {
    Ok(json!({
        "path": text_of(path)?, "chunk_size": params.chunk_size, "offsets": params.offsets,
        "checksum": params.checksum, "typesize": params.item_size, "level": params.level,
        "shuffle": params.shuffle, "codec": params.codec, "metadata": params.metadata,
        "meta_checksum": params.meta_checksum, "meta_codec": params.meta_codec,
        "slots": params.slots,
    }))
}
