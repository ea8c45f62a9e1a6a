//! The peer of Bloscpack files does what its calls say.

use serde_json::json;
use superchunk_testkit::legacy_peer::{LegacyPeer, PackParams, PackedArray};
use superchunk_testkit::scratch::Scratch;

#[test]
fn bytes_and_metadata_come_back_and_grow() {
    let (mut peer, folder) = (LegacyPeer::spawn(), Scratch::new());
    let path = folder.path("a.blp");
    let bytes: Vec<u8> = (0..10_000u32).flat_map(u32::to_le_bytes).collect();
    let metadata = Some(json!({"a": [1, null]}));
    let params = PackParams { chunk_size: 4096, metadata, ..PackParams::default() };
    peer.pack_bytes(&path, &bytes, &params).unwrap();
    assert!(peer.unpack_bytes(&path).unwrap() == bytes);
    assert_eq!(peer.unpack_metadata(&path).unwrap(), json!({"a": [1, null]}));
    peer.append_bytes(&path, &bytes, &params).unwrap();
    assert!(peer.unpack_bytes(&path).unwrap() == [bytes.clone(), bytes].concat());
    peer.rewrite_metadata(&path, &json!({"b": 2})).unwrap();
    let info = peer.pack_info(&path).unwrap();
    assert_eq!(info["metadata"], json!({"b": 2}));
    assert_eq!(info["header"]["nchunks"], 20);
    assert!(peer.unpack_bytes(&folder.path("none.blp")).unwrap_err().contains("FileNotFound"));
}

#[test]
fn arrays_keep_their_type_shape_and_order() {
    let (mut peer, folder) = (LegacyPeer::spawn(), Scratch::new());
    let path = folder.path("a.blp");
    let stored = [0u16, 3, 1, 4, 2, 5].into_iter().flat_map(u16::to_le_bytes).collect();
    let array = PackedArray { dtype: "'<u2'".to_owned(), shape: vec![2, 3], bytes: stored };
    peer.pack_array(&path, &array, "F", &PackParams::default()).unwrap();
    let back = peer.unpack_array(&path).unwrap();
    assert_eq!((back.dtype, back.shape), (array.dtype, array.shape));
    let in_c_order: Vec<u8> = (0..6u16).flat_map(u16::to_le_bytes).collect();
    assert_eq!(back.bytes, in_c_order);
}
