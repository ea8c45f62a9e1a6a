//! Every byte of small Bloscpack files mutated, every length cut: an answer or an error, never a panic,
//! never more memory than the limits allow, and never other bytes than those that were packed.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use superchunk::bloscpack::{Checksum, Pack, PackArray, PackOptions};
use superchunk::store::{Bytes, ReadAt};
use superchunk::{CompressOptions, DType, Limits, OpenOptions, Result};
use superchunk_testkit::alloc::peak_of;
use superchunk_testkit::corrupt::{for_each_mutation, truncations};
use superchunk_testkit::samples::mixed;

/// What a file may make the library take for a chunk and for its metadata.
const LIMIT: usize = 1 << 16;
/// Scratch memory of four decoded lengths, read ahead, and the file itself.
const MOST_MEMORY: usize = 12 * LIMIT;

/// Bytes that are not all at hand at once, as those of a file.
struct Remote(Bytes<Vec<u8>>);

impl ReadAt for Remote {
    fn len(&self) -> Result<u64> {
        self.0.len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        self.0.read_at(position, dst)
    }
}

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let bytes = mixed(700, 4, 1);
    let small = PackOptions::new()
        .with_compress(CompressOptions::new(4))
        .with_chunk_size(300)
        .with_append_slots(2);
    let array = PackArray::new(DType::parse("<u4").unwrap(), [25, 7]);
    let objects = PackOptions::objects("varbinary").with_append_slots(1);
    vec![
        ("plain", small.clone().pack(&bytes).unwrap()),
        ("no digests", small.clone().with_checksum(Checksum::None).pack(&bytes).unwrap()),
        ("no offsets", small.clone().with_offsets(false).pack(&bytes).unwrap()),
        ("array", small.with_array(&array).with_checksum(Checksum::Md5).pack(&bytes).unwrap()),
        ("objects", objects.pack_objects([&bytes[..100], &[], &bytes[..333]]).unwrap()),
    ]
}

/// Reads everything that can be read.
fn read(store: Arc<dyn ReadAt>, lenient: bool) -> Result<Vec<u8>> {
    let limits = Limits::default().with_max_decoded(LIMIT).with_max_metadata(LIMIT);
    let pack: Pack =
        Pack::open_store(store, &OpenOptions::new().with_limits(limits).with_lenient(lenient))?;
    for object in pack.objects() {
        object?;
    }
    let mut bytes = Vec::new();
    for chunk in pack.superchunk()?.chunks() {
        bytes.extend(chunk?);
    }
    Ok(bytes)
}

/// The answer of every way to read, which must be the same.
fn answers(bytes: &[u8], lenient: bool) -> Result<Vec<u8>> {
    let (answer, peak) = peak_of(|| {
        let remote = read(Arc::new(Remote(Bytes::new(bytes.to_vec()))), lenient);
        let here = read(Arc::new(Bytes::new(bytes.to_vec())), lenient);
        assert_eq!(remote.is_ok(), here.is_ok());
        remote
    });
    assert!(peak < MOST_MEMORY, "{peak} bytes at once");
    answer
}

#[test]
fn every_cut_is_an_error_and_every_flip_an_error_or_harmless() {
    for (name, file) in files() {
        let whole = answers(&file, false).unwrap();
        let mut accepted = 0;
        for cut in truncations(&file) {
            assert!(answers(cut, false).is_err(), "{name} cut to {} bytes", cut.len());
        }
        for_each_mutation(&file, |mutation, bytes| {
            let _ = answers(bytes, true);
            let Ok(found) = answers(bytes, false) else { return };
            accepted += 1;
            // Without digests nobody can tell, and a file of 0 chunks is a valid one.
            let no_chunks = mutation.offset == 16 && mutation.value == 0;
            let same = found == whole || name == "no digests" || no_chunks;
            assert!(same, "{name}: other bytes after {mutation:?}");
        });
        assert!(accepted > 0, "{name}: some bytes, as the item size, only inform");
    }
}
