//! The hostile corpus as a whole: nothing in it is without a test, each case ends as it must, no salvage
//! stumbles over it, and nothing beside a dataset is ever touched.

#![cfg(unix)]
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use superchunk::bcolz::{Array, ArrayOptions, Table, TableOptions};
use superchunk::bloscpack::Pack;
use superchunk::chunk::Decoder;
use superchunk::store::{Bytes, Dir, Folder, MemoryFolder};
use superchunk::{
    ChunkFormat, CompressOptions, Error, ErrorKind, FrameOptions, Limits, NdArray, OpenOptions,
    SuperChunk, blsk, chunk, salvage,
};
use superchunk_testkit::alloc::peak_of;
use superchunk_testkit::corrupt::{for_each_mutation, truncations};
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::vectors::{Vector, family, folders};

use ErrorKind::{Corrupt, LimitExceeded, NotFound, Truncated, Unsupported};

/// What must become of a case.
enum End {
    /// It is refused, for one of these reasons.
    Refused(&'static [ErrorKind]),
    /// It can be read: what is odd about it is allowed, or has a defined meaning.
    Read,
    /// Another file has its cases with their ends: `frame_hostile.rs`.
    Frame,
}

use End::{Frame, Read, Refused};

/// Every case that is no frame, by the name before its extension.
const CASES: [(&str, End); 53] = [
    ("c02_short15", Refused(&[Truncated])),
    ("c03_short31", Refused(&[Truncated])),
    ("c05_blocksize0", Refused(&[Corrupt])),
    ("c06_blocksize_neg", Refused(&[Corrupt])),
    ("c08_typesize0", Refused(&[Corrupt])),
    ("c09_nbytes_neg", Refused(&[Corrupt])),
    ("c13_cbytes_neg", Refused(&[Corrupt])),
    ("c14_cbytes_small", Refused(&[Corrupt])),
    ("c17_codec_snappy", Refused(&[Corrupt, Unsupported])),
    ("c18_udcodec250", Refused(&[Unsupported])),
    // Digits that were cut off before compressing are no matter of decoding.
    ("c22_truncprec255", Read),
    ("c23_special_reserved", Refused(&[Corrupt])),
    ("c25_value_ts0", Refused(&[Corrupt])),
    ("c29_memcpyed_short", Refused(&[Corrupt, Truncated])),
    ("c30_memcpyed_flag", Refused(&[Corrupt])),
    ("c31_bstart0_neg", Refused(&[Corrupt])),
    ("c32_bstart0_hdr", Refused(&[Corrupt])),
    ("c36_csize_neg_notoken", Refused(&[Corrupt, Truncated])),
    ("c37_csize_neg_min", Refused(&[Corrupt])),
    ("c38_csize0", Refused(&[Corrupt, Truncated])),
    ("c39_csize_trunc_zlib", Refused(&[Corrupt])),
    ("c40_zstd_garbage", Refused(&[Corrupt])),
    ("c41_dict_flag", Refused(&[Corrupt])),
    ("c44_split_ts255", Refused(&[Corrupt])),
    ("c48_c1_cbytes", Refused(&[Truncated])),
    ("n02_ndim255", Refused(&[Corrupt])),
    ("n03_ndim0", Refused(&[Corrupt])),
    ("n05_shape_huge", Refused(&[Corrupt])),
    ("n06_chunkshape0", Refused(&[Corrupt])),
    ("n07_chunk_block0", Refused(&[Corrupt])),
    ("n08_blockshape_64k", Refused(&[Corrupt])),
    ("n12_dtype_len_neg", Refused(&[Corrupt])),
    ("n13_dtype_len_big", Refused(&[Corrupt, Truncated])),
    ("n15_dtype_obj", Refused(&[Unsupported])),
    // What it begins with are version 3's fields: chunks are where version 2 has none.
    ("b02_ver2", Refused(&[Corrupt])),
    ("b03_opts_reserved", Refused(&[Corrupt])),
    ("b05_nchunks_huge", Refused(&[Truncated, Corrupt])),
    ("b06_nchunks_neg", Refused(&[Corrupt])),
    ("b08_chunksize_neg2", Refused(&[Corrupt])),
    ("b09_off_neg", Refused(&[Corrupt])),
    ("b10_off_loop", Refused(&[Corrupt])),
    ("b13_meta_comp_size", Refused(&[Corrupt])),
    ("b14_meta_codec", Refused(&[Unsupported])),
    ("b16_json_bomb", Refused(&[Corrupt, LimitExceeded])),
    ("b17_shape_huge", Refused(&[Corrupt])),
    ("k02_shape_neg", Refused(&[Corrupt])),
    ("k03_shape_huge", Refused(&[Corrupt, Truncated])),
    ("k07_chunklen_small", Refused(&[Corrupt])),
    ("k09_dtype_nested", Refused(&[Corrupt, LimitExceeded])),
    ("k14_names_abs", Refused(&[Corrupt])),
    ("k15_names_dup", Refused(&[Corrupt])),
    ("k17_self_symlink", Refused(&[Corrupt])),
    ("k18_attrs_depth", Refused(&[LimitExceeded])),
];

/// Cases that no file can carry everywhere: `frame_hostile.rs` makes them on the spot, and `golden.rs`
/// the chunk of endless length bytes; `bcolz.rs` has pickles that would run something.
const MADE_ELSEWHERE: [&str; 4] =
    ["s04_fifo", "s07_bigsparse", "c45_blosclz_len_overflow", "k19_pickle_exec"];

fn id(vector: &Vector) -> String {
    let name = vector.name();
    name.rsplit('/').next().unwrap().split('.').next().unwrap().to_owned()
}

fn end_of(vector: &Vector) -> &'static End {
    if matches!(vector.text(&["kind"]), Some("frame" | "sframe")) {
        return &Frame;
    }
    let found = CASES.iter().find(|(case, _)| *case == id(vector));
    &found.unwrap_or_else(|| panic!("{} has no test", vector.name())).1
}

fn limits() -> Limits {
    Limits::default().with_max_decoded(1 << 20).with_max_metadata(1 << 20)
}

fn options() -> OpenOptions {
    OpenOptions::new().with_limits(limits())
}

/// The name and kind of every case that a list names, those without a file included.
fn listed_cases() -> Vec<(String, String)> {
    let lists = folders().into_iter().map(|folder| folder.join("hostile/MANIFEST.tsv"));
    let lists = lists.filter_map(|list| fs::read_to_string(list).ok()).collect::<Vec<_>>();
    let lines = lists.iter().flat_map(|list| list.lines().skip(1));
    let columns = lines.map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    columns.map(|columns| (columns[0].clone(), columns[1].clone())).collect()
}

/// Opens a case as what it says it is, and reads everything.
fn read(kind: &str, path: &Path) -> Result<(), Error> {
    match kind {
        "chunk" | "chunk1" => {
            let bytes = fs::read(path).unwrap();
            Decoder::new().with_limits(limits()).decompress(&bytes).map(drop)
        }
        "b2nd" => NdArray::open_with(path, &options())?.to_vec().map(drop),
        "blp" => {
            let pack = Pack::open(path)?;
            pack.objects().try_for_each(|object| object.map(drop))?;
            pack.superchunk()?.to_vec().map(drop)
        }
        "bcolz" if path.join("__rootdirs__").exists() => {
            let table = Table::open_with(path, &options())?;
            table.arrays().iter().try_for_each(|(_, array)| array.to_vec().map(drop))
        }
        "bcolz" => Array::open_with(path, &options())?.to_vec().map(drop),
        "frame" | "sframe" => {
            let frame = SuperChunk::open_with(path, &options())?;
            frame.chunks().try_for_each(|chunk| chunk.map(drop))
        }
        other => panic!("`{other}` is no kind of the corpus"),
    }
}

fn kind(vector: &Vector) -> &str {
    vector.text(&["kind"]).unwrap()
}

#[test]
fn every_case_of_the_corpus_has_a_test_and_ends_as_it_must() {
    let vectors = family("hostile");
    let found: BTreeSet<String> = vectors.iter().map(id).collect();
    for (case, _) in &CASES {
        assert!(found.contains(*case), "{case} is not in the corpus any more");
    }
    for (case, kind) in listed_cases() {
        let known = CASES.iter().any(|(known, _)| *known == case);
        let frame = matches!(kind.as_str(), "frame" | "sframe");
        let made = MADE_ELSEWHERE.contains(&case.as_str());
        assert!(known || frame || made, "{case} has no test");
    }
    let mut wrong = Vec::new();
    for vector in &vectors {
        let (kinds, told) = (kind(vector), vector.name());
        if MADE_ELSEWHERE.contains(&id(vector).as_str()) {
            continue;
        }
        match (end_of(vector), read(kinds, &vector.path)) {
            (Frame, _) | (Read, Ok(())) => {}
            (Refused(kinds), Err(error)) if kinds.contains(&error.kind()) => {}
            (_, found) => wrong.push(format!("{told}: {found:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_case_of_the_older_corpus_says_how_it_ends() {
    let hostile =
        |vector: &&Vector| kind_of(vector).is_some_and(|kind| kind.starts_with("hostile-"));
    let vectors = family("legacy");
    let known = ["hostile-bloscpack", "hostile-bcolz"];
    for vector in vectors.iter().filter(hostile) {
        // `pack_golden.rs` and `bcolz_golden.rs` take these two kinds, all of them.
        assert!(known.contains(&kind_of(vector).unwrap()), "{} has no test", vector.name());
        let end = vector.text(&["expect"]);
        assert!(matches!(end, Some("accept" | "reject")), "{}: {end:?}", vector.name());
    }
}

fn kind_of(vector: &Vector) -> Option<&str> {
    vector.text(&["kind"])
}

/// All cases, of both corpora, that are there.
fn all() -> Vec<Vector> {
    let legacy = family("legacy").into_iter().filter(|v| v.name().starts_with("hostile/"));
    family("hostile").into_iter().chain(legacy).filter(|v| v.path.exists()).collect()
}

#[test]
fn no_salvage_stumbles_over_a_hostile_case() {
    for vector in all() {
        let path = &vector.path;
        let (result, peak) = peak_of(|| match path.is_dir() {
            true => {
                let dir = Folder::open(path).unwrap();
                let _ = salvage::sparse(&dir, &mut SuperChunk::in_memory, &limits());
                let _ = salvage::bcolz(&dir, Arc::new(MemoryFolder::new()), &limits());
                let _ = salvage::blsk(&dir, Arc::new(MemoryFolder::new()), &limits());
                0
            }
            false => {
                let bytes = fs::read(path).unwrap();
                let store = Bytes::new(&bytes);
                let _ = salvage::frame(&store, &mut SuperChunk::in_memory, &limits());
                let _ = salvage::pack(&store, &mut Vec::new(), &limits());
                bytes.len()
            }
        });
        // The file itself, what is decoded of it, and for each of the salvages a result.
        assert!(peak < (64 << 20) + 8 * result, "{}: {peak}", vector.name());
    }
}

/// Path, length and time of the last change of all that is below a folder.
fn listing(root: &Path, files: &mut BTreeMap<PathBuf, (u64, SystemTime)>) {
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let about = fs::symlink_metadata(&path).unwrap();
        files.insert(path.clone(), (about.len(), about.modified().unwrap()));
        if about.is_dir() {
            listing(&path, files);
        }
    }
}

fn listed(root: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
    let mut files = BTreeMap::new();
    listing(root, &mut files);
    files
}

fn copy(from: &Path, to: &Path) {
    let about = fs::symlink_metadata(from).unwrap();
    if about.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from).unwrap(), to).unwrap();
    } else if about.is_dir() {
        fs::create_dir(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// Opens a case in every way there is, for reading and for writing.
fn try_everything(path: &Path) {
    for kind in ["chunk", "b2nd", "blp", "bcolz", "frame"] {
        if path.is_file() || kind != "chunk" {
            let _ = read(kind, path);
        }
    }
    if let Ok(mut frame) = SuperChunk::edit_with(path, &options()) {
        let _ = frame.append(&[1; 64]).and_then(|()| frame.commit());
    }
    let _ = Pack::edit(path).map(|mut pack| pack.append(&[1; 64]).and_then(|()| pack.commit()));
    if let Ok(mut array) = Array::edit_with(path, &options()) {
        let _ = array.resize(array.row_count() + 1).and_then(|()| array.commit());
    }
    if let Ok(mut table) = Table::edit_with(path, &options()) {
        let _ = table.resize(table.row_count() + 1).and_then(|()| table.commit());
    }
    let _ = blsk::Table::edit_with(path, &options()).map(drop);
}

#[test]
fn nothing_beside_a_hostile_dataset_is_touched() {
    let scratch = Scratch::new();
    let beside = scratch.path("beside");
    // What a column that leads out of its table would find: an array.
    let mut other = Array::create(&beside, &ArrayOptions::of::<i32>()).unwrap();
    other.append_items(&[1, 2, 3]).unwrap();
    other.close().unwrap();
    fs::create_dir(scratch.path("cases")).unwrap();
    let lured = scratch.path("cases").join("lured");
    for (number, name) in
        ["../../beside", "..", "./x/../../../beside", "\\u0000"].iter().enumerate()
    {
        let case = lured.with_extension(number.to_string());
        fs::create_dir(&case).unwrap();
        fs::write(case.join("__rootdirs__"), format!("{{\"names\": [\"{name}\"]}}")).unwrap();
        fs::write(case.join("__attrs__"), "{}").unwrap();
    }
    let linked = lured.with_extension("link");
    fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink(&beside, linked.join("x")).unwrap();
    fs::write(linked.join("__rootdirs__"), "{\"names\": [\"x\"]}").unwrap();
    for (number, vector) in all().iter().enumerate() {
        // Names as they were, for some tell what they are.
        let name = format!("{number}-{}", vector.name().replace('/', "-"));
        copy(&vector.path, &scratch.path("cases").join(name));
    }
    let mut cases: Vec<PathBuf> =
        fs::read_dir(scratch.path("cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() > 30, "only {} cases", cases.len());
    for case in &cases {
        let before = listed(scratch.folder());
        try_everything(case);
        let after = listed(scratch.folder());
        let outside = |(path, _): &(&PathBuf, _)| {
            // A lock beside a file is its own, and a folder changes its time when that comes.
            let own = case.file_name().unwrap().to_string_lossy().into_owned();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            !path.starts_with(case) && !name.contains(&own) && **path != scratch.path("cases")
        };
        let left: Vec<_> = before.iter().filter(outside).collect();
        let right: Vec<_> = after.iter().filter(outside).collect();
        assert_eq!(left, right, "{}", case.display());
    }
}

#[test]
fn pipes_and_devices_are_no_datasets() {
    let scratch = Scratch::new();
    let pipe = scratch.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for path in [pipe.as_path(), Path::new("/dev/null"), Path::new("/dev/zero")] {
        for kind in ["b2nd", "blp", "bcolz", "frame"] {
            assert!(read(kind, path).is_err(), "{kind} {}", path.display());
        }
        assert!(
            SuperChunk::edit_with(path, &options()).is_err() && Pack::edit(path).is_err(),
            "{}",
            path.display()
        );
    }
    let folder = scratch.path("array");
    let files = ["meta/sizes", "meta/storage", "data/__0.blp", "__attrs__"];
    for file in files {
        let _ = fs::remove_dir_all(&folder);
        let options = ArrayOptions::of::<i32>();
        let mut array = Array::create(&folder, &options).unwrap();
        array.append_items(&[1, 2, 3]).unwrap();
        array.close().unwrap();
        fs::remove_file(folder.join(file)).unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.join(file)).status().unwrap();
        assert!(made.success());
        let error = read("bcolz", &folder).unwrap_err();
        assert!([Corrupt, NotFound].contains(&error.kind()), "{file}: {error:?}");
        let dir = Folder::open(&folder).unwrap();
        let _ = salvage::bcolz(&dir, Arc::new(MemoryFolder::new()), &limits());
    }
    for file in ["meta/nrows", "meta/storage", "data/__1__.bin"] {
        let _ = fs::remove_dir_all(&folder);
        let options = blsk::TreeOptions::default();
        let mut array = blsk::Array::create(
            &folder,
            &blsk::ArrayOptions::of::<i32>().with_tree(options.clone()),
        )
        .unwrap();
        array.append_items(&[1, 2, 3]).unwrap();
        array.close().unwrap();
        fs::remove_file(folder.join(file)).unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.join(file)).status().unwrap();
        assert!(made.success());
        let dir = Folder::open(&folder).unwrap();
        let to = Arc::new(MemoryFolder::new());
        let report = salvage::blsk(&dir, to, &limits()).unwrap();
        assert!(!report.is_whole(), "{file}: {report:?}");
    }
}

#[test]
fn a_column_says_nothing_of_how_many_files_another_one_has() {
    // Two million rows of zeros in a chunk, beside columns of one row a file.
    let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let columns = [("a", 1 << 21), ("b", 1), ("c", 1)];
    let named = columns.iter().fold(TableOptions::new(), |options, (name, len)| {
        options.with_column(*name, ArrayOptions::of::<u8>().with_chunk_rows(*len))
    });
    let mut table = Table::create_in_dir(dir.clone(), &named).unwrap();
    table.append(&[("a", &[1]), ("b", &[1]), ("c", &[1])]).unwrap();
    table.close().unwrap();
    let put = |folder: &str, file: &str, bytes: &[u8]| {
        let mut folders = folder.split('/').map(str::to_owned);
        let folder = folders.try_fold(dir.clone(), |dir, name| dir.open_folder(&name)).unwrap();
        let _ = folder.remove(file);
        folder.create(file).unwrap().write_at(0, bytes).unwrap();
    };
    let options = CompressOptions::new(1).with_format(ChunkFormat::Blosc1);
    let zeros = chunk::compress(&vec![0; 1 << 21], &options).unwrap();
    put("a/data", "__0.blp", &[b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0", zeros.as_slice()].concat());
    put("a/meta", "sizes", b"{\"shape\": [2097152], \"nbytes\": 2097152, \"cbytes\": 0}");
    put("b/meta", "sizes", b"");
    put("b/data", "__18446744073709551615.blp", b"blpk");
    let objects =
        "{\"dtype\": \"object\", \"cparams\": {\"clevel\": 5, \"shuffle\": 1}, \"chunklen\": 1}";
    put("c/meta", "storage", objects.as_bytes());
    put("c/meta", "sizes", b"");
    let to: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let report = salvage::bcolz(dir.as_ref(), to.clone(), &Limits::default()).unwrap();
    let lost: Vec<String> = report.holes.iter().map(|hole| hole.source.to_string()).collect();
    assert_eq!(lost, ["file b", "file c"], "{report:?}");
    let saved = Table::open_in_dir(to, &OpenOptions::new()).unwrap();
    assert_eq!((saved.names().collect::<Vec<_>>(), saved.row_count()), (vec!["a"], 1 << 21));
}

#[test]
fn no_tree_of_a_few_bytes_makes_salvage_write_gigabytes() {
    let few = limits();
    for (storage, nrows) in [
        // Many chunks, long chunks, many columns, and many files that are missing.
        ("dtype: int8\nshape: (4000000000,)\nchunkshape: (1,)\nsuperchunksize: 1\n", "4000000000"),
        ("dtype: int8\nshape: (4000000000,)\nchunkshape: (2000000000,)\nsuperchunksize: 9\n", "1"),
        ("dtype: {}\nshape: (65000,)\nchunkshape: (1,)\nsuperchunksize: 10\n", "65000"),
        ("dtype: int8\nshape: (65000, 65000)\nchunkshape: (1, 1)\nsuperchunksize: 10\n", "65000"),
    ] {
        let columns: String = (0..1000).map(|n| format!("\n  c{n}: int8")).collect();
        let storage = storage.replace("{}", &columns);
        for names in [vec!["__1__.bin"], vec!["__1__.bin", "__18446744073709551615__.bin"]] {
            let root = MemoryFolder::new();
            let (meta, data) =
                (root.create_folder("meta").unwrap(), root.create_folder("data").unwrap());
            meta.create("storage").unwrap().write_at(0, storage.as_bytes()).unwrap();
            meta.create("nrows").unwrap().write_at(0, nrows.as_bytes()).unwrap();
            for name in names {
                data.create(name).unwrap().write_at(0, b"blsk\x01\0\0\0\x01\0\0\0\xff").unwrap();
            }
            let to = Arc::new(MemoryFolder::new());
            let (_, peak) = peak_of(|| salvage::blsk(&root, to, &few).map(drop));
            assert!(peak < 64 << 20, "{peak} bytes for {} of storage", storage.len());
        }
    }
}

#[test]
fn a_salvage_of_any_damaged_byte_takes_bounded_memory() {
    let frame = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(400);
    let mut frame = SuperChunk::in_memory(&frame).unwrap();
    frame.append(&mixed(1000, 4, 1)).unwrap();
    frame.set_attribute_bytes("value", b"some bytes").unwrap();
    let bytes = frame.to_bytes().unwrap();
    let limits = Limits::default().with_max_decoded(1 << 16).with_max_metadata(1 << 16);
    let mut worst = 0;
    let mut look = |damaged: &[u8]| {
        let (_, peak) = peak_of(|| {
            let store = Bytes::new(damaged);
            salvage::frame(&store, &mut SuperChunk::in_memory, &limits).map(drop)
        });
        worst = worst.max(peak);
    };
    for_each_mutation(&bytes, |_, damaged| look(damaged));
    truncations(&bytes).for_each(&mut look);
    assert!(worst < 16 << 20, "{worst} bytes");
}
