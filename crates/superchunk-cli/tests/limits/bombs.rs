//! Small files that claim to be large, large files that are holes, and chunks, lists and texts that
//! are just within a limit or just beyond.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use superchunk::bcolz::{Array, ArrayOptions};
use superchunk::bloscpack::{Pack, PackOptions};
use superchunk::frame::Kind;
use superchunk::{
    Codec, CompressOptions, DType, Fill, Filter, FrameOptions, Json, NdArray, NdOptions, NdStorage,
    SuperChunk, blsk, chunk,
};

const TEBIBYTE: u64 = 1 << 40;
/// What `--limit-mem 64M` leaves for a chunk, or for an index.
const LIMIT: usize = 8 << 20;
/// More than a process of the tests may take.
const TOO_MUCH: u64 = 160 << 20;

/// What compresses all bytes of a file, whatever they are: a tebibyte takes hours, as it takes
/// every program that copies. 160 MB of zeros are packed below.
const PACKS_ALL: [&str; 2] = ["pack", "blpk compress"];
/// What makes a million files of a million chunks, which takes minutes.
const MAKES_A_MILLION_FILES: [&str; 1] = ["convert {} out.sparse"];

/// Some files, and the starts of the command lines that are left out for them.
pub(crate) type Group = (Vec<PathBuf>, &'static [&'static str]);

/// Makes all files in a folder.
pub(crate) fn make(folder: &Path) -> Vec<Group> {
    let at = |name: &str| folder.join(name);
    let claims = [
        frames(folder),
        arrays(folder),
        others(folder),
        vec![text(&at("commas.csv"), &",".repeat(1 << 20)), text(&at("deep.jsonl"), &nested())],
    ];
    vec![
        (claims.concat(), &[]),
        (vec![list(&at("million.b2frame"), 1_000_000)], &MAKES_A_MILLION_FILES),
        (vec![list(&at("millions.b2frame"), 4_000_000)], &[]),
        (holes(folder), &PACKS_ALL),
        // What follows a frame belongs to nobody, and its next writer removes it, whatever it writes.
        (vec![longer(&at("longer.b2frame"))], &["pack", "blpk compress", "attr rm"]),
        (vec![hole(&at("zeros.raw"), b"", TOO_MUCH), hole(&at("line.csv"), b"", TOO_MUCH)], &[]),
        (vec![npy(&at("columns.npy"), true, [1 << 10, 40 << 10])], &[]),
    ]
}

/// Bytes that compress well, and are no run of one value.
fn pattern(len: usize) -> Vec<u8> {
    (0..=u8::MAX).cycle().take(len).collect()
}

/// One block, two filters: reading and writing such a chunk takes as many buffers as it ever does.
fn one_block(len: usize) -> CompressOptions {
    let options = CompressOptions::new(4).with_codec(Codec::Zstd).with_level(1);
    options.with_filters([Filter::Delta, Filter::Shuffle]).with_block_size(len)
}

fn frames(folder: &Path) -> Vec<PathBuf> {
    let mut made = Vec::new();
    // Chunks that are beyond the limit, and such that are within it.
    for (name, chunk_size) in [("giga.b2frame", 1 << 30), ("mega.b2frame", 4 << 20)] {
        let path = folder.join(name);
        let options = FrameOptions::new(CompressOptions::new(8)).with_chunk_size(chunk_size);
        let mut frame = SuperChunk::create(&path, &options).unwrap();
        frame.append_fill(Fill::Zeros, TEBIBYTE / 8).unwrap();
        frame.close().unwrap();
        made.push(path);
    }
    for (name, len) in [("within.b2frame", LIMIT), ("beyond.b2frame", 60 << 20)] {
        let path = folder.join(name);
        let options = FrameOptions::new(one_block(len)).with_chunk_size(len);
        let mut frame = SuperChunk::create(&path, &options.with_checksums(false)).unwrap();
        frame.append(&pattern(len + 400)).unwrap();
        frame.close().unwrap();
        made.push(path);
    }
    made.push(values(&folder.join("values.b2frame")));
    made.push(stored_hole(&folder.join("hole.sparse")));
    made
}

/// A frame with values that are lists of nothing: a byte each, and many more in memory.
fn values(path: &Path) -> PathBuf {
    let mut frame = SuperChunk::create(path, &FrameOptions::new(CompressOptions::new(1))).unwrap();
    frame.append(b"some bytes").unwrap();
    let count = u32::try_from(LIMIT - 5).unwrap();
    let list = [&[0xdd][..], &count.to_be_bytes(), &vec![0xc0; LIMIT - 5]].concat();
    for number in 0..4 {
        frame.set_attribute_bytes(&format!("list {number}"), &list).unwrap();
    }
    frame.close().unwrap();
    path.to_owned()
}

/// A sparse frame whose chunk is stored as it is, all of it a hole.
fn stored_hole(path: &Path) -> PathBuf {
    let len = usize::try_from(TOO_MUCH).unwrap();
    let compress = CompressOptions::new(1).with_level(0).with_filters([]);
    let options = FrameOptions::new(compress).with_chunk_size(len).with_kind(Kind::Sparse);
    let mut frame = SuperChunk::create(path, &options.with_checksums(false)).unwrap();
    frame.append(&pattern(len)).unwrap();
    frame.close().unwrap();
    let file = path.join("00000000.chunk");
    let header = fs::read(&file).unwrap()[..32].to_vec();
    hole(&file, &header, TOO_MUCH + 32);
    path.to_owned()
}

/// A frame with an index of so many entries, in few bytes.
fn list(path: &Path, chunks: u64) -> PathBuf {
    let options = FrameOptions::new(CompressOptions::new(1)).with_chunk_size(16);
    let mut frame = SuperChunk::create(path, &options).unwrap();
    frame.append_fill(Fill::Zeros, 16 * chunks).unwrap();
    frame.close().unwrap();
    path.to_owned()
}

fn arrays(folder: &Path) -> Vec<PathBuf> {
    let mut made = Vec::new();
    let dtype = DType::of::<f32>();
    let frame = || FrameOptions::new(CompressOptions::new(4));
    // A row is beyond the limit, a chunk is not.
    for (name, shape) in [("rows.b2nd", [4, 1 << 36]), ("column.b2nd", [1 << 38, 1])] {
        let path = folder.join(name);
        let chunks = [1, 1 << 20].map(|side: usize| side.min(usize::try_from(shape[1]).unwrap()));
        let options = NdStorage::new(frame()).with_chunks(&chunks);
        let options = if shape[1] == 1 {
            NdStorage::new(frame()).with_chunks(&[1 << 20, 1])
        } else {
            options
        };
        NdArray::create(
            &path,
            &NdOptions::new(&shape, dtype.clone()).with_storage(options.clone()),
        )
        .unwrap()
        .close()
        .unwrap();
        made.push(path);
    }
    // The chunks of the last are just within the limit for four threads, one of them at a time.
    for (name, len, chunks) in
        [("within.b2nd", LIMIT, 1), ("beyond.b2nd", 60 << 20, 1), ("several.b2nd", 17 << 20, 3)]
    {
        let path = folder.join(name);
        let items = [(chunks * len / 4) as u64];
        let options = NdStorage::new(FrameOptions::new(one_block(len).with_block_size(1 << 16)));
        let options = options.with_chunks(&[len / 4]).with_blocks(&[len / 4]);
        let mut array = NdArray::create(
            &path,
            &NdOptions::new(&items, dtype.clone()).with_storage(options.clone()),
        )
        .unwrap();
        array.write_box(&[0], &items, &pattern(chunks * len)).unwrap();
        array.close().unwrap();
        made.push(path);
    }
    made
}

fn others(folder: &Path) -> Vec<PathBuf> {
    let at = |name: &str| folder.join(name);
    let mut made = vec![at("zeros.chunk"), at("json.blp"), at("beyond.blp")];
    fs::write(&made[0], chunk::zeros(1, 2_000_000_000).unwrap()).unwrap();
    let list = Json::Array(vec![Json::from(0u64); LIMIT / 2 - 10]);
    for (path, options) in
        made[1..].iter().zip([PackOptions::new().with_metadata(list.clone()), PackOptions::new()])
    {
        let compress = one_block(60 << 20).with_filters([Filter::Shuffle]);
        let options = options.with_compress(compress).with_chunk_size(60 << 20);
        let mut pack = Pack::create(path, &options).unwrap();
        pack.append(&pattern(60 << 20)).unwrap();
        pack.close().unwrap();
    }
    let (long, attrs) = (at("long.bcolz"), at("attrs.bcolz"));
    for (path, rows) in [(&long, 60 << 20), (&attrs, 16)] {
        let options = ArrayOptions::of::<u8>().with_chunk_rows(rows);
        let mut array = Array::create(path, &options).unwrap();
        array.append(&pattern(usize::try_from(rows).unwrap())).unwrap();
        array.close().unwrap();
    }
    let text = format!("{{\"list\": [{}0]}}", "0,".repeat(LIMIT / 2 - 20));
    fs::write(attrs.join("__attrs__"), text).unwrap();
    let tree = at("rows.blsk");
    blsk_array(&tree);
    let storage = "dtype: int8\nshape: (4000000000,)\nchunkshape: (1,)\nsuperchunksize: 1\n";
    fs::write(tree.join("meta/storage"), storage).unwrap();
    fs::write(tree.join("meta/nrows"), "4000000000").unwrap();
    made.extend([long, attrs, tree]);
    made
}

fn blsk_array(path: &Path) {
    let options = blsk::TreeOptions::default();
    let mut array =
        blsk::Array::create(path, &blsk::ArrayOptions::of::<u8>().with_tree(options.clone()))
            .unwrap();
    array.append(&[1, 2, 3]).unwrap();
    array.close().unwrap();
}

/// Files of a tebibyte that take no room, as they are and in the place of parts.
fn holes(folder: &Path) -> Vec<PathBuf> {
    let at = |name: &str| folder.join(name);
    let mut made = vec![
        hole(&at("hole.raw"), b"", TEBIBYTE),
        npy(&at("hole.npy"), false, [1 << 19, 1 << 19]),
        npy(&at("row.npy"), false, [1, 1 << 38]),
        npy(&at("turned.npy"), true, [1 << 19, 1 << 19]),
        hole(&at("hole.chunk"), &stored_chunk(), (1 << 31) - 100 + 16),
    ];
    for (name, part) in [("index.sparse", "chunks.b2frame"), ("chunk.sparse", "00000000.chunk")] {
        let path = at(name);
        let options = FrameOptions::new(CompressOptions::new(1)).with_kind(Kind::Sparse);
        let mut sparse = SuperChunk::create(&path, &options).unwrap();
        sparse.append(&pattern(1000)).unwrap();
        sparse.close().unwrap();
        lengthen(&path.join(part));
        made.push(path);
    }
    for part in ["meta/sizes", "meta/storage", "__attrs__", "data/__0.blp"] {
        let path = at(&format!("{}.bcolz", part.replace('/', "-")));
        let mut array = Array::create(&path, &ArrayOptions::of::<u8>()).unwrap();
        array.append(&[1, 2, 3]).unwrap();
        array.close().unwrap();
        lengthen(&path.join(part));
        made.push(path);
    }
    for part in ["meta/nrows", "meta/storage", "data/__1__.bin"] {
        let path = at(&format!("{}.blsk", part.replace('/', "-")));
        blsk_array(&path);
        lengthen(&path.join(part));
        made.push(path);
    }
    made
}

/// A frame with a hole after its end.
fn longer(path: &Path) -> PathBuf {
    let mut frame = SuperChunk::create(path, &FrameOptions::new(CompressOptions::new(1))).unwrap();
    frame.append(&pattern(1000)).unwrap();
    frame.close().unwrap();
    lengthen(path);
    path.to_owned()
}

/// The header of a chunk of Blosc1 that is stored as it is.
fn stored_chunk() -> Vec<u8> {
    let len = (1u32 << 31) - 100;
    [&[2, 1, 2, 1][..], &len.to_le_bytes(), &(1u32 << 20).to_le_bytes(), &(len + 16).to_le_bytes()]
        .concat()
}

/// A NumPy file of 32-bit floats that is all zeros and takes no room.
fn npy(path: &Path, by_columns: bool, shape: [u64; 2]) -> PathBuf {
    let order = if by_columns { "True" } else { "False" };
    let [height, width] = shape;
    let text =
        format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': ({height}, {width}), }}");
    let start = format!("\u{1}\0v\0{text:<117}\n");
    hole(path, &[b"\x93NUMPY", start.as_bytes()].concat(), 128 + 4 * height * width)
}

/// A file that begins like this and ends in a hole.
fn hole(path: &Path, start: &[u8], len: u64) -> PathBuf {
    let mut file = File::create(path).unwrap();
    file.write_all(start).unwrap();
    file.set_len(len).unwrap();
    path.to_owned()
}

fn lengthen(path: &Path) {
    File::options().write(true).open(path).unwrap().set_len(TEBIBYTE).unwrap();
}

fn text(path: &Path, text: &str) -> PathBuf {
    fs::write(path, text).unwrap();
    path.to_owned()
}

/// A line of JSON that takes much more memory than it has bytes.
fn nested() -> String {
    format!("{{\"a\": [{}0]}}\n", "0,".repeat(LIMIT / 2))
}
