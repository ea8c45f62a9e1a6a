//! What the fuzzers start from: the conformance vectors, the hostile ones among them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use superchunk::chunk::Encoder;
use superchunk::{Codec, CompressOptions, Filter, NdArray, SuperChunk};
use superchunk_kernels::deflate::{self, Search};
use superchunk_kernels::zstd;
use superchunk_testkit::vectors;

use crate::files::Files;

/// The longest seed: longer ones make every execution slow.
const LONGEST: usize = 1 << 16;

/// The seeds of a target, each with a name.
///
/// # Panics
///
/// When there is no target of that name.
#[must_use]
pub fn of(target: &str) -> Vec<(String, Vec<u8>)> {
    let mut seeds = match target {
        "chunk_decode" => files(&["chunk", "cdata"]).into_iter().chain(marked()).collect(),
        "chunk1_decode" => files(&["chunk", "cdata"]),
        "frame_open" => files(&["b2frame", "b2nd", "b2f", "b2b", "b2e", "bin"]),
        "salvage" => {
            let kinds = [&Files::SPARSE, &Files::BCOLZ, &Files::BLSK];
            let folders = kinds.into_iter().flat_map(folders);
            files(&["b2frame", "b2nd", "b2b"]).into_iter().chain(folders).collect()
        }
        "sframe_dir" => folders(&Files::SPARSE),
        "bcolz_meta_json" => folders(&Files::BCOLZ),
        "blp" => files(&["blp"]),
        "b2nd_meta" => metalayers(),
        "vlmeta_msgpack" => values(),
        "zlib_zstd" => streams(),
        "blosclz" | "filters_roundtrip" | "frame_file_ops" => Vec::new(),
        _ => panic!("there is no fuzz target {target}"),
    };
    seeds.extend(made(target));
    seeds.retain(|(_, bytes)| bytes.len() <= LONGEST);
    seeds
}

/// Writes the seeds of a target to a folder.
///
/// # Errors
///
/// When the folder cannot be written to.
pub fn write(target: &str, folder: &Path) -> io::Result<usize> {
    fs::create_dir_all(folder)?;
    let seeds = of(target);
    for (number, (name, bytes)) in seeds.iter().enumerate() {
        let name: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        fs::write(folder.join(format!("{number:04}-{name}")), bytes)?;
    }
    Ok(seeds.len())
}

/// Data of several kinds behind every choice of the first bytes.
fn made(target: &str) -> Vec<(String, Vec<u8>)> {
    let count = match target {
        "blosclz" => 7,
        "zlib_zstd" => 12,
        "filters_roundtrip" => 12,
        "frame_file_ops" => 12,
        _ => return Vec::new(),
    };
    let seed = |first: u8| {
        let data = superchunk_testkit::samples::mixed(600, 4, first.into());
        (format!("made{first}"), [&[first, 9, first, 200, 1, 3, 0, 0], data.as_slice()].concat())
    };
    (0..count).map(seed).collect()
}

/// Chunks of our own, whose streams have marks behind them.
fn marked() -> Vec<(String, Vec<u8>)> {
    let mixed = superchunk_testkit::samples::mixed(65_000, 4, 3);
    let words: Vec<u8> =
        (0..9000_u64).flat_map(|n| format!("{:7}", n * n * n % 900_001).into_bytes()).collect();
    let ways = [
        ("lz4hc", Codec::Lz4Hc, vec![], &mixed, 32 << 10),
        ("lz4hc-shuffle", Codec::Lz4Hc, vec![Filter::Shuffle], &mixed, 32 << 10),
        ("blosclz", Codec::BloscLz, vec![], &mixed, 32 << 10),
        ("blosclz-shuffle", Codec::BloscLz, vec![Filter::Shuffle], &mixed, 32 << 10),
        ("zlib", Codec::Zlib, vec![], &words, 16 << 10),
    ];
    let seeds = ways.into_iter().map(|(name, codec, filters, data, block_size)| {
        let options = CompressOptions::new(4).with_codec(codec).with_filters(filters);
        let options = options.with_level(5).with_block_size(block_size);
        let chunk = |marks| Encoder::new(&options.clone().with_marks(marks))?.compress(data);
        let (Ok(with), Ok(without)) = (chunk(true), chunk(false)) else {
            panic!("{name} cannot be compressed");
        };
        assert!(with.len() > without.len(), "{name} has no marks");
        (format!("marked-{name}"), with)
    });
    seeds.collect()
}

/// How an input says that its stream is to be decoded.
const ZLIB: u8 = 0;
const ZSTD: u8 = 1;

/// Streams of Zlib and Zstandard.
fn streams() -> Vec<(String, Vec<u8>)> {
    let seed = |number: u8| {
        let data = superchunk_testkit::samples::mixed(3000, 4, number.into());
        let [low, high, ..] = (data.len() as u64).to_le_bytes();
        let coded = |name: &str, codec: u8, encode: &mut dyn FnMut(&mut [u8]) -> Option<usize>| {
            let mut stream = vec![0; 2 * data.len() + 100];
            let len = encode(&mut stream)?;
            // Of Zstandard, 16 bytes from about the middle on are wanted, too.
            let wanted: &[u8] = if codec == ZSTD { &[0, high / 2, 64, 0] } else { &[] };
            let head = &[codec, low, high, low, high / 2];
            let seed = [head, wanted, stream.get(..len)?].concat();
            Some((format!("{name}{number}"), seed))
        };
        let mut zlib =
            |to: &mut [u8]| deflate::Encoder::default().compress(Search::Thorough, &data, to);
        let mut codes = |to: &mut [u8]| zstd::Encoder::default().compress_codes(&data, to);
        let mut fast = |to: &mut [u8]| zstd::Encoder::default().compress_fast(&data, to);
        let zlib = coded("zlib", ZLIB, &mut zlib);
        let (codes, fast) = (coded("codes", ZSTD, &mut codes), coded("fast", ZSTD, &mut fast));
        [zlib, codes, fast].into_iter().flatten()
    };
    (1..=9).flat_map(seed).collect()
}

/// The content of all files whose names end so.
fn files(endings: &[&str]) -> Vec<(String, Vec<u8>)> {
    let has_ending = |path: &PathBuf| {
        path.extension().and_then(|found| found.to_str()).is_some_and(|e| endings.contains(&e))
    };
    let mut found = Vec::new();
    walk(&mut |path| {
        if path.is_file() && has_ending(path) {
            found.extend(fs::read(path).ok().map(|bytes| (named(path), bytes)));
        }
    });
    found
}

/// Folders that have some of these files.
fn folders(files: &Files) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    walk(&mut |path| {
        if path.is_dir() {
            found.push((named(path), files.describe(path)));
        }
    });
    found.retain(|(_, bytes)| !bytes.is_empty());
    found
}

/// The metalayers of arrays, with the sizes of their items and chunks.
fn metalayers() -> Vec<(String, Vec<u8>)> {
    let seed = |(name, bytes): (String, Vec<u8>)| {
        let frame = SuperChunk::from_bytes(bytes).ok()?;
        let content = frame.metalayer("b2nd")?.to_vec();
        let array = NdArray::from_superchunk(frame).ok()?;
        let item = u16::try_from(array.item_size().checked_sub(1)?).ok()?;
        let items = array.chunk_shape().iter().product::<usize>().saturating_sub(1);
        let mut seed = item.to_le_bytes().to_vec();
        seed.extend([u8::try_from(items).unwrap_or(u8::MAX), 2]);
        seed.extend(content);
        Some((name, seed))
    };
    files(&["b2nd"]).into_iter().filter_map(seed).collect()
}

/// The values and metalayers of frames.
fn values() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for (name, bytes) in files(&["b2frame", "b2nd", "b2f", "b2b", "b2e"]) {
        let Ok(frame) = SuperChunk::from_bytes(bytes) else { continue };
        for layer in frame.metalayer_names() {
            found.extend(frame.metalayer(layer).map(|content| (name.clone(), content.to_vec())));
        }
        for value in frame.attribute_names() {
            found.extend(frame.attribute_bytes(value).ok().map(|bytes| (name.clone(), bytes)));
            found.extend(
                frame
                    .attribute(value)
                    .ok()
                    .map(|value| (name.clone(), value.to_json().into_bytes())),
            );
        }
    }
    found
}

/// Calls `visit` with every file and folder of the vectors.
fn walk(visit: &mut dyn FnMut(&PathBuf)) {
    let mut waiting = vectors::folders();
    while let Some(path) = waiting.pop() {
        visit(&path);
        let mut inner: Vec<PathBuf> =
            fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        inner.sort();
        waiting.extend(inner.into_iter().rev());
    }
}

fn named(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
