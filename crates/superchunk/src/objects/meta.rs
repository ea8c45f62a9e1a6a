//! What a store of objects says of itself: two metalayers and a value behind the chunks, all
//! MessagePack, in the words of python-blosc2 as far as it has some.
//!
//! ```text
//! metalayer batcharray            {version: 1, serializer: "msgpack", items_per_block: n, arrow_schema: nil}
//!  or superchunk_objects          {version: 1, packing: "lengths", items_per_block: n}
//! metalayer ctable_varlen_scalar  {version: 1, py_type: "str" | "bytes" | "object", nullable: false,
//!                                  batch_rows: n}
//! value _batch_array_metadata     {batch_lengths: [objects in chunk 0, in chunk 1, …]}
//! ```
//!
//! The second one is optional; without it the objects may be anything.

use super::options::ObjectKind;
use super::packing::ObjectPacking;
use crate::error::{Error, Result};
use crate::schunk::SuperChunk;
use crate::wire::msgpack::{Head, Skim, Value, write_array_head, write_text};

/// The metalayer that tells what the objects are.
pub(super) const KIND_LAYER: &str = "ctable_varlen_scalar";
/// The value that tells how many objects each chunk has.
pub(super) const LENGTHS: &str = "_batch_array_metadata";
/// Its only key.
const LENGTHS_KEY: &str = "batch_lengths";

/// The metalayer that makes a frame a store of objects.
pub(super) fn layer_name(packing: ObjectPacking) -> &'static str {
    match packing {
        ObjectPacking::Msgpack => "batcharray",
        ObjectPacking::Lengths => "superchunk_objects",
    }
}

/// How the objects of a frame are packed; `None` if it has none.
pub(super) fn packing_of(frame: &SuperChunk) -> Option<ObjectPacking> {
    let all = [ObjectPacking::Msgpack, ObjectPacking::Lengths];
    all.into_iter().find(|packing| frame.metalayer(layer_name(*packing)).is_some())
}

/// The bytes of that metalayer. The number always takes five bytes, so that another one fits in its
/// place.
pub(super) fn write_layer(packing: ObjectPacking, items_per_block: u32) -> Result<Vec<u8>> {
    let is_msgpack = packing == ObjectPacking::Msgpack;
    let mut out = vec![if is_msgpack { 0x84 } else { 0x83 }];
    write_text(&mut out, "version")?;
    out.push(1);
    let (key, word) = packing_entry(packing);
    write_text(&mut out, key)?;
    write_text(&mut out, word)?;
    write_text(&mut out, "items_per_block")?;
    out.push(0xce);
    out.extend_from_slice(&items_per_block.to_be_bytes());
    if is_msgpack {
        write_text(&mut out, "arrow_schema")?;
        out.push(0xc0);
    }
    Ok(out)
}

/// How many objects every block but the last of a chunk has; `None` when the metalayer does not say.
pub(super) fn parse_layer(packing: ObjectPacking, bytes: &[u8]) -> Result<Option<usize>> {
    let told = |error: Error| error.at(layer_name(packing), "map", 0);
    let map = Value::decode(bytes).map_err(told)?;
    match map.get("version").and_then(Value::as_u64) {
        Some(1) => {}
        version => {
            return Err(told(Error::unsupported(format!("version {version:?}, not 1"))));
        }
    }
    let (key, word) = packing_entry(packing);
    let found = map.get(key).and_then(Value::as_str);
    if found != Some(word) {
        let words = format!("the objects are written by {found:?}; only {word:?} is known");
        return Err(told(Error::unsupported(words)));
    }
    match map.get("items_per_block") {
        None | Some(Value::Nil) => Ok(None),
        Some(count) => match count.as_u64().and_then(|count| usize::try_from(count).ok()) {
            Some(count) if count > 0 => Ok(Some(count)),
            _ => Err(told(Error::corrupt(format!("blocks of {count:?} objects")))),
        },
    }
}

/// The entry that tells how objects are packed.
fn packing_entry(packing: ObjectPacking) -> (&'static str, &'static str) {
    match packing {
        ObjectPacking::Msgpack => ("serializer", "msgpack"),
        ObjectPacking::Lengths => ("packing", "lengths"),
    }
}

/// The bytes of the metalayer that tells the kind.
pub(super) fn write_kind(kind: ObjectKind) -> Result<Vec<u8>> {
    let kind = match kind {
        ObjectKind::Text => "str",
        ObjectKind::Bytes => "bytes",
        ObjectKind::Values => "object",
    };
    Value::Map(vec![
        ("version".into(), 1.into()),
        ("py_type".into(), kind.into()),
        ("nullable".into(), false.into()),
        ("batch_rows".into(), 2048.into()),
    ])
    .encode()
}

/// The kind of objects. Where some may be missing, and where this cannot be understood, they are
/// values of any kind.
pub(super) fn parse_kind(bytes: Option<&[u8]>) -> ObjectKind {
    let map = bytes.and_then(|bytes| Value::decode(bytes).ok());
    let nullable = map.as_ref().and_then(|map| map.get("nullable")).and_then(Value::as_bool);
    match map.as_ref().and_then(|map| map.get("py_type")).and_then(Value::as_str) {
        Some("str") if nullable == Some(false) => ObjectKind::Text,
        Some("bytes") if nullable == Some(false) => ObjectKind::Bytes,
        _ => ObjectKind::Values,
    }
}

/// The bytes of the value that tells how many objects each chunk has, from where each begins.
pub(super) fn write_lengths(starts: &[u64]) -> Result<Vec<u8>> {
    let mut out = vec![0x81];
    write_text(&mut out, LENGTHS_KEY)?;
    write_array_head(&mut out, starts.len().saturating_sub(1))?;
    for (start, end) in starts.iter().zip(starts.iter().skip(1)) {
        out.extend_from_slice(&Value::from(end - start).encode()?);
    }
    Ok(out)
}

/// Where the objects of each chunk begin, and the last one ends; `None` when the bytes do not tell
/// it for just so many chunks.
pub(super) fn parse_lengths(bytes: &[u8], chunks: usize) -> Option<Vec<u64>> {
    let mut skim = Skim::new(bytes);
    let Head::Map(pairs) = skim.head().ok()? else { return None };
    for _ in 0..pairs {
        let Head::Text(len) = skim.head().ok()? else { return None };
        if skim.take(len).ok()? != LENGTHS_KEY.as_bytes() {
            skim.skip().ok()?;
            continue;
        }
        let Head::Array(count) = skim.head().ok()? else { return None };
        if count != chunks {
            return None;
        }
        let mut starts = Vec::with_capacity(chunks + 1);
        let mut start = 0u64;
        starts.push(start);
        for _ in 0..count {
            let Head::Uint(len) = skim.head().ok()? else { return None };
            start = start.checked_add(len).filter(|_| len > 0)?;
            starts.push(start);
        }
        return Some(starts);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn layers_come_back_and_keep_their_length() {
        for packing in [ObjectPacking::Msgpack, ObjectPacking::Lengths] {
            for count in [1, 1000, 70_000] {
                let bytes = write_layer(packing, count).unwrap();
                assert_eq!(parse_layer(packing, &bytes).unwrap(), Some(count as usize));
                assert_eq!(bytes.len(), write_layer(packing, 1).unwrap().len());
            }
        }
        for kind in [ObjectKind::Text, ObjectKind::Bytes, ObjectKind::Values] {
            assert_eq!(parse_kind(Some(&write_kind(kind).unwrap())), kind);
        }
        assert_eq!(parse_kind(None), ObjectKind::Values);
        assert_eq!(parse_kind(Some(b"\xc1")), ObjectKind::Values);
    }

    #[test]
    fn foreign_layers_are_refused_in_words() {
        let encoded = |json: &str| Value::from_json(json).unwrap().encode().unwrap();
        let layer = |json: &str| parse_layer(ObjectPacking::Msgpack, &encoded(json));
        let none = r#"{"version": 1, "serializer": "msgpack", "items_per_block": null}"#;
        assert_eq!(layer(none).unwrap(), None);
        let arrow = layer(r#"{"version": 1, "serializer": "arrow"}"#).unwrap_err();
        assert_eq!(arrow.kind(), ErrorKind::Unsupported);
        assert!(arrow.to_string().contains("arrow"), "{arrow}");
        let newer = layer(r#"{"version": 2, "serializer": "msgpack"}"#).unwrap_err();
        assert_eq!(newer.kind(), ErrorKind::Unsupported);
        let zero = r#"{"version": 1, "serializer": "msgpack", "items_per_block": 0}"#;
        assert_eq!(layer(zero).unwrap_err().kind(), ErrorKind::Corrupt);
        let other = encoded(r#"{"version": 1, "packing": "words", "items_per_block": 5}"#);
        let other = parse_layer(ObjectPacking::Lengths, &other).unwrap_err();
        assert_eq!(other.kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn lengths_are_believed_only_if_they_fit_the_chunks() {
        let bytes = write_lengths(&[0, 3, 300, 301]).unwrap();
        let json = Value::decode(&bytes).unwrap().to_json();
        assert_eq!(json, r#"{"batch_lengths": [3, 297, 1]}"#);
        assert_eq!(parse_lengths(&bytes, 3), Some(vec![0, 3, 300, 301]));
        assert_eq!(parse_lengths(&bytes, 2), None);
        let other =
            |json: &str| parse_lengths(&Value::from_json(json).unwrap().encode().unwrap(), 2);
        assert_eq!(other(r#"{"x": [1], "batch_lengths": [2, 5]}"#), Some(vec![0, 2, 7]));
        assert_eq!(other(r#"{"batch_lengths": [2, 0]}"#), None);
        assert_eq!(other(r#"{"batch_lengths": [2, -1]}"#), None);
        assert_eq!(other(r#"{"batch_lengths": [2, 18446744073709551615]}"#), None);
        assert_eq!(other(r#"{"other": 1}"#), None);
        assert_eq!(other("[1, 2]"), None);
    }
}
