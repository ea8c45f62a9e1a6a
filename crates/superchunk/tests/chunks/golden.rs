//! Files written by the real programs decode to what those programs say; broken ones are errors.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use superchunk::chunk::{self, Decoder, Header};
use superchunk::{BlockShape, ErrorKind, Limits};
use superchunk_testkit::alloc::peak_of;
use superchunk_testkit::naive;
use superchunk_testkit::vectors::{Vector, family, sha256_hex};

/// The chunks among the vectors of the family `chunk`, by name.
fn chunk_vectors() -> BTreeMap<String, Vector> {
    let vectors = family("chunk").into_iter().map(|vector| (vector.name().to_owned(), vector));
    vectors.filter(|(name, _)| name.ends_with(".cdata") || name.ends_with(".chunk")).collect()
}

/// The digest of what a vector decodes to. C-Blosc 1 is right about its own chunks; a snappy chunk,
/// which no peer at hand reads, has the data of its sibling made by the same version.
fn expected_digest<'v>(vectors: &'v BTreeMap<String, Vector>, name: &str) -> Option<&'v str> {
    let vector = vectors.get(name)?;
    let by = |library| vector.text(&["decoded_sha256_by", library]);
    let sibling = || expected_digest(vectors, &name.replace("snappy", "blosclz"));
    by("blosc1").or_else(|| by("blosc2")).or_else(|| name.contains("snappy").then(sibling)?)
}

/// The N-d shape of a vector's blocks, where its index gives one.
fn block_shape(vector: &Vector) -> Option<BlockShape> {
    let dims = vector.fields.get("block_shape")?.as_array()?.iter();
    let dims: Vec<usize> = dims.map(|dim| dim.as_u64().unwrap().try_into().unwrap()).collect();
    Some(BlockShape::new(&dims).unwrap())
}

#[test]
fn chunks_of_the_real_libraries_decode_to_their_digests() {
    let vectors = chunk_vectors();
    assert!(vectors.len() >= 40, "only {} vectors were found", vectors.len());
    for (name, vector) in &vectors {
        let bytes = vector.bytes();
        let Some(digest) = expected_digest(&vectors, name) else {
            // Raw output of a filter, which is no chunk: it must not pass for one.
            assert!(chunk::decompress(&bytes).is_err(), "{name}");
            continue;
        };
        let shape = block_shape(vector);
        let mut decoder = Decoder::new();
        if let Some(shape) = &shape {
            decoder = decoder.with_block_shape(shape.clone());
        }
        let decoded = decoder.decompress(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(sha256_hex(&decoded), digest, "{name}");
        check_parts(name, decoder, &bytes, &decoded);
        // The naive decoder knows nothing of shapes.
        let second =
            if shape.is_none() { naive::decompress(&bytes).unwrap() } else { decoded.clone() };
        assert!(second == decoded, "{name}: the naive decoder differs");
    }
}

/// Some ranges of a chunk equal those of the whole.
fn check_parts(name: &str, mut decoder: Decoder, packed: &[u8], decoded: &[u8]) {
    for start in (0..decoded.len()).step_by(decoded.len() / 7 + 1) {
        let end = (start + 1000).min(decoded.len());
        let mut part = vec![0; end - start];
        decoder.read_bytes(packed, start..end, &mut part).unwrap();
        assert!(part == decoded[start..end], "{name}: {start}..{end}");
    }
}

#[test]
fn hostile_chunks_are_errors_or_decode_as_the_naive_decoder_says() {
    let hostile: Vec<Vector> = family("hostile")
        .into_iter()
        .filter(|vector| vector.text(&["kind"]).is_some_and(|kind| kind.starts_with("chunk")))
        .collect();
    assert!(hostile.len() >= 20, "only {} vectors were found", hostile.len());
    for vector in hostile {
        let bytes = vector.bytes();
        let claimed = Header::parse(&bytes).map_or(0, |header| header.byte_len());
        let limits = Limits::default().with_max_decoded(1 << 20);
        let mut decoder = Decoder::new().with_limits(limits);
        let (result, peak) = peak_of(|| decoder.decompress(&bytes));
        // Codec contexts are made on first use: 4 MiB is room for the largest.
        assert!(peak < 4 * claimed.min(1 << 20) + (4 << 20), "{}: {peak}", vector.name());
        match result {
            Ok(decoded) => {
                let second = naive::decompress(&bytes);
                assert!(second.as_ref() == Ok(&decoded), "{}: {second:?}", vector.name());
            }
            Err(error) => {
                assert!(error.place().is_some(), "{}: {error}", vector.name());
                let short = vector.name().contains("short15") || vector.name().contains("short31");
                assert!(!short || error.kind() == ErrorKind::Truncated, "{error}");
            }
        }
    }
}

#[test]
fn a_blosclz_stream_with_endless_length_bytes_is_refused() {
    // A match whose extension bytes add up to more than 2^31, in a chunk that claims 1000 bytes.
    let mut stream = vec![0x20, 0x00, 0xE0];
    stream.extend(std::iter::repeat_n(0xFF, 8_500_000));
    stream.extend([0, 0, 0, 1, 2]);
    let mut packed = vec![5, 1, 0x15, 1];
    let cbytes = 32 + 4 + 4 + stream.len();
    for field in [1000, 1000, cbytes] {
        packed.extend(u32::try_from(field).unwrap().to_le_bytes());
    }
    packed.extend([0; 16]);
    packed.extend(36u32.to_le_bytes());
    packed.extend(u32::try_from(stream.len()).unwrap().to_le_bytes());
    packed.extend(stream);
    assert_eq!(chunk::decompress(&packed).unwrap_err().kind(), ErrorKind::Corrupt);
}
