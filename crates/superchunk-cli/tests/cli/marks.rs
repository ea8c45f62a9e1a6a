//! Marks in the chunks of others: false ones are found, and no command hands any on.

use std::path::Path;

use superchunk::chunk::without_marks;
use superchunk::{
    Codec, CompressOptions, DType, FrameOptions, NdArray, NdOptions, NdStorage, SuperChunk,
};
use superchunk_testkit::marks::{falsify, marks_of};
use superchunk_testkit::rng::Rng;

use crate::shell::{Shell, readings};

/// A frame and an array of one chunk with marks, one of which is false.
fn with_false_marks() -> Shell {
    let shell = Shell::new();
    let data = readings(100_000);
    let compress = CompressOptions::new(8).with_codec(Codec::Lz4Hc).with_marks(true);
    let options = FrameOptions::new(compress).with_chunk_size(data.len()).with_checksums(false);
    let mut frame = SuperChunk::in_memory(&options).unwrap();
    frame.append(&data).unwrap();
    shell.write("false.b2frame", &falsified(&frame));
    let dtype = DType::parse("<f8").unwrap();
    let options = NdStorage::new(options).with_chunks(&[100_000]).with_blocks(&[50_000]);
    let mut array = NdArray::in_memory(
        &NdOptions::new(&[100_000], dtype.clone()).with_storage(options.clone()),
    )
    .unwrap();
    array.write_box(&[0], &[100_000], &data).unwrap();
    shell.write("false.b2nd", &falsified(array.superchunk()));
    shell.write("data.f8", &data);
    shell.run("pack data.f8 -t 8 -c lz4hc -z 800000 -o data.b2frame").succeeds();
    shell
}

/// The bytes of a frame in whose first chunk a mark is false.
fn falsified(frame: &SuperChunk) -> Vec<u8> {
    let (mut bytes, mut chunk) = (frame.to_bytes().unwrap(), frame.compressed_chunk(0).unwrap());
    let at = bytes.windows(chunk.len()).position(|found| found == chunk).unwrap();
    let blocks = marks_of(&chunk, 8, false);
    assert!(falsify(&mut chunk, &blocks[0], &mut Rng::new(3)).is_some());
    bytes[at..at + chunk.len()].copy_from_slice(&chunk);
    bytes
}

/// The last chunk of a frame, or the one that a file is.
fn chunk_of(path: &Path) -> Vec<u8> {
    if path.extension().is_some_and(|suffix| suffix == "chunk") {
        return std::fs::read(path).unwrap();
    }
    let frame = SuperChunk::open(path).unwrap();
    frame.compressed_chunk(frame.chunk_count() - 1).unwrap()
}

#[test]
fn verify_reports_a_false_mark() {
    let shell = with_false_marks();
    for name in ["false.b2frame", "false.b2nd"] {
        let said = shell.run(&format!("verify {name} --json"));
        assert_eq!(said.code, Some(3), "{name}: {}", said.stderr);
        let damaged = said.json();
        let damaged = damaged.get("damaged").unwrap().as_slice().unwrap();
        let number = damaged[0].get("chunk").unwrap().as_u64();
        assert_eq!((damaged.len(), number), (1, Some(0)), "{name}");
        shell.run(&format!("verify {name} --level checksums")).succeeds();
    }
}

#[test]
fn what_copies_chunks_leaves_marks_out() {
    for (line, made) in [
        ("convert false.b2frame out.b2frame", "out.b2frame"),
        ("convert false.b2frame out.sparse --to sparse", "out.sparse"),
        ("convert false.b2frame out.chunk", "out.chunk"),
        ("convert false.b2nd out.b2nd", "out.b2nd"),
        ("convert false.b2nd out.chunk", "out.chunk"),
        ("repack false.b2frame -o out", "out"),
        ("repack false.b2frame", "false.b2frame"),
        ("repack false.b2nd --sparse -o out", "out"),
        ("salvage false.b2frame -o out", "out"),
        ("append data.b2frame false.b2frame", "data.b2frame"),
    ] {
        let shell = with_false_marks();
        let source = if line.contains("b2nd") { "false.b2nd" } else { "false.b2frame" };
        let stored = chunk_of(&shell.path(source));
        let plain = without_marks(&stored);
        assert!(plain.len() < stored.len());
        shell.run(line).succeeds();
        assert!(chunk_of(&shell.path(made)) == *plain, "{line}");
        shell.run(&format!("verify {made}")).succeeds();
        let said = shell.run(&format!("unpack {made} --raw -o -")).succeeds();
        assert!(said.stdout.ends_with(&readings(100_000)), "{line}");
    }
}
