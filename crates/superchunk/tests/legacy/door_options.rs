//! The door to every format, with one container of each: what is opened as something else is named,
//! and the options apply in every arm.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use superchunk::bloscpack::{Checksum, Pack, PackOptions};
use superchunk::detect::{self, Format};
use superchunk::frame::Kind;
use superchunk::store::{Dir, Folder};
use superchunk::{
    Codec, CompressOptions, DType, Error, ErrorKind, FrameOptions, Limits, NdArray, NdOptions,
    NdStorage, Objects, ObjectsOptions, OpenOptions, Opened, Result, SuperChunk, bcolz, blsk,
    chunk, npy,
};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::{datasets, marks};

use super::door::{arm, open_everywhere};

/// One container of each format, with the same 4000 bytes where it holds bytes.
struct Zoo {
    scratch: Scratch,
}

/// Their names, what they are opened as, and whether they can be changed.
const ANIMALS: [(&str, &str, bool); 12] = [
    ("frame", "super-chunk", true),
    ("sparse", "super-chunk", true),
    ("array", "array", true),
    ("sparse array", "array", true),
    ("objects", "objects", true),
    ("chunk", "chunk", false),
    ("pack", "pack", true),
    ("bcolz array", "bcolz array", true),
    ("bcolz table", "bcolz table", true),
    ("blsk array", "blsk array", true),
    ("blsk table", "blsk table", true),
    ("npy", "npy", false),
];

impl Zoo {
    fn new() -> Self {
        Self::of(&vec![7; 4000], &CompressOptions::new(1)).unwrap()
    }

    fn of(bytes: &[u8], compress: &CompressOptions) -> Result<Self> {
        let scratch = Scratch::new();
        let at = |name: &str| scratch.path(name);
        let u8s = DType::of::<u8>();
        let frame = FrameOptions::new(compress.clone()).with_checksums(false);
        let frame = frame.with_chunk_size(bytes.len());
        for (kind, name, array) in
            [(Kind::Contiguous, "frame", "array"), (Kind::Sparse, "sparse", "sparse array")]
        {
            let frame = frame.clone().with_kind(kind);
            let mut bytes_of = SuperChunk::create(at(name), &frame)?;
            bytes_of.append(bytes)?;
            bytes_of.close()?;
            let whole = [bytes.len()];
            let options = NdStorage::new(frame).with_chunks(&whole).with_blocks(&whole);
            let shape = [bytes.len() as u64];
            let mut cube = NdArray::create(
                at(array),
                &NdOptions::new(&shape, u8s.clone()).with_storage(options.clone()),
            )?;
            cube.write_box(&[0], &shape, bytes)?;
            cube.close()?;
        }
        let mut texts = Objects::create(at("objects"), &ObjectsOptions::texts())?;
        texts.extend((0..2000).map(|number| format!("text {number}")))?;
        texts.close()?;
        fs::write(at("chunk"), chunk::compress(bytes, compress)?).unwrap();
        let options = PackOptions::new().with_checksum(Checksum::None).with_offsets(true);
        let options = options.with_chunk_size(bytes.len()).with_compress(compress.clone());
        fs::write(at("pack"), options.pack(bytes)?).unwrap();
        let column = bcolz::ArrayOptions::of::<u8>().with_chunk_rows(bytes.len() as u64);
        let column = column.with_compress(compress.clone());
        let mut array = bcolz::Array::create(at("bcolz array"), &column)?;
        array.append(bytes)?;
        array.close()?;
        let options = bcolz::TableOptions::new().with_column("a", column);
        let mut table = bcolz::Table::create(at("bcolz table"), &options)?;
        table.append(&[("a", bytes)])?;
        table.close()?;
        let options = blsk::TreeOptions::default().with_chunk_rows(bytes.len());
        let options = options.with_compress(compress.clone());
        let mut array = blsk::Array::create(
            at("blsk array"),
            &blsk::ArrayOptions::new(u8s.clone()).with_tree(options.clone()),
        )?;
        array.append(bytes)?;
        array.close()?;
        let mut table = blsk::Table::create(
            at("blsk table"),
            &blsk::TableOptions::new()
                .with_columns([("a", u8s.clone())])
                .with_tree(options.clone()),
        )?;
        table.append(&[("a", bytes)])?;
        table.close()?;
        let mut file = npy::write_header(&u8s, &[bytes.len() as u64]);
        file.extend(bytes);
        fs::write(at("npy"), file).unwrap();
        Ok(Self { scratch })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }
}

/// Reads a byte, or an object, of whatever was opened.
fn read_one(opened: &Opened, at: u64) -> Result<Vec<u8>> {
    let mut one = vec![0; 1];
    let rows = at..at + 1;
    match opened {
        Opened::SuperChunk(frame) => frame.read_bytes(rows, &mut one)?,
        Opened::Array(array) => array.read_box(&[at], &[at + 1], &mut one)?,
        Opened::Objects(objects) => one = objects.text(at)?.into_bytes(),
        Opened::Chunk(chunk) => {
            let at = usize::try_from(at).unwrap();
            chunk.read_bytes(at..at + 1, &mut one).map(drop)?;
        }
        Opened::Pack(pack) => pack.superchunk()?.read_bytes(rows, &mut one)?,
        Opened::BcolzArray(array) => array.read_rows(rows, &mut one)?,
        Opened::BcolzTable(table) => table.array("a")?.read_rows(rows, &mut one)?,
        Opened::BlskArray(array) => array.read_rows(rows, &mut one)?,
        Opened::BlskTable(table) => table.read_rows("a", rows, &mut one)?,
        Opened::Npy(file) => file.read_bytes(rows, &mut one)?,
        other => panic!("{other:?}"),
    }
    Ok(one)
}

#[test]
fn all_that_is_made_opens_for_reading_and_writing() {
    let zoo = Zoo::new();
    for (name, expected, is_editable) in ANIMALS {
        let path = zoo.path(name);
        for opened in open_everywhere(&path, &OpenOptions::new()) {
            assert_eq!(arm(&opened), expected);
            let found = read_one(&opened.unwrap(), 5).unwrap();
            assert_eq!(found, if name == "objects" { b"text 5".to_vec() } else { vec![7] });
        }
        let parent: Arc<dyn Dir> = Arc::new(Folder::open(zoo.scratch.folder()).unwrap());
        let options = OpenOptions::new();
        let edits: [&dyn Fn() -> Result<Opened>; 2] =
            [&|| options.edit(&path), &|| options.edit_in_dir(parent.clone(), Some(name))];
        for edit in edits {
            let edited = edit();
            let wanted = if is_editable { expected } else { "unsupported" };
            assert_eq!(arm(&edited), wanted, "{name}: {edited:?}");
            if let Ok(edited) = edited {
                edited.close().unwrap();
            }
        }
    }
    let error = superchunk::open(zoo.path("nothing")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let error = OpenOptions::new().open_bytes("plain text").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let file = zoo.path("blsk array").join("data/__1__.bin");
    let error = superchunk::open(&file).unwrap_err();
    assert!(error.to_string().contains("a file of chunks of a blsk tree"), "{error}");
}

#[test]
fn a_wrong_type_says_what_it_is_and_what_opens_it() {
    type Open = fn(&Path) -> Result<()>;
    let types: [(&str, Open, &[&str]); 8] = [
        (
            "SuperChunk",
            |path| SuperChunk::open(path).map(drop),
            &["super-chunk", "array", "objects"],
        ),
        ("NdArray", |path| NdArray::open(path).map(drop), &["array"]),
        ("Objects", |path| Objects::open(path).map(drop), &["objects"]),
        ("Pack", |path| Pack::open(path).map(drop), &["pack"]),
        ("bcolz::Array", |path| bcolz::Array::open(path).map(drop), &["bcolz array"]),
        ("bcolz::Table", |path| bcolz::Table::open(path).map(drop), &["bcolz table"]),
        ("blsk::Array", |path| blsk::Array::open(path).map(drop), &["blsk array"]),
        ("blsk::Table", |path| blsk::Table::open(path).map(drop), &["blsk table"]),
    ];
    let words = |arm| match arm {
        "super-chunk" => ["bytes", "SuperChunk opens it"],
        "array" => ["array", "NdArray opens it"],
        "objects" => ["objects", "Objects opens it"],
        "chunk" => ["a single chunk", "chunk::decompress opens it"],
        "pack" => ["a Bloscpack file", "Pack::open opens it"],
        "bcolz array" => ["a bcolz array", "bcolz::Array::open opens it"],
        "bcolz table" => ["a bcolz table", "bcolz::Table::open opens it"],
        "blsk array" => ["tree", "Array"],
        "blsk table" => ["tree", "Table"],
        _ => ["a .npy file", "npy::read_header opens it"],
    };
    let zoo = Zoo::new();
    for (opener, open, known) in types {
        for (name, arm, _) in ANIMALS {
            let opened = open(&zoo.path(name));
            if known.contains(&arm) {
                opened.unwrap();
                continue;
            }
            let error: Error = opened.unwrap_err();
            let is_frame = ["super-chunk", "array", "objects"].contains(&arm);
            let of_frames = ["SuperChunk", "NdArray", "Objects"].contains(&opener);
            let [what, by] = match (is_frame, of_frames) {
                (true, false) => ["frame", "SuperChunk::open opens it"],
                _ => words(arm),
            };
            let text = error.to_string();
            assert!(text.contains(what) && text.contains(by), "{opener} of {name}: {text}");
            assert!(text.contains(name), "{opener} of {name}: {text}");
        }
    }
}

#[test]
fn a_wrong_type_is_named_in_any_folder_and_for_some_rows() {
    let zoo = Zoo::new();
    let (rows, options) = (0..4000, OpenOptions::new());
    let dir = |name: &str| -> Arc<dyn Dir> { Arc::new(Folder::open(zoo.path(name)).unwrap()) };
    let all = dir("");
    let errors = [
        SuperChunk::edit_in_dir(all.clone(), Some("pack"), &options).unwrap_err(),
        SuperChunk::edit_in_dir(all.clone(), Some("blsk table"), &options).unwrap_err(),
        SuperChunk::edit_in_dir(dir("bcolz array"), None, &options).unwrap_err(),
        bcolz::Array::edit_rows(zoo.path("blsk array"), rows.clone(), &options).unwrap_err(),
        bcolz::Array::edit_rows(zoo.path("pack"), rows.clone(), &options).unwrap_err(),
        bcolz::Table::edit_rows(zoo.path("bcolz array"), rows.clone(), &options).unwrap_err(),
        bcolz::Table::edit_rows(zoo.path("frame"), rows, &options).unwrap_err(),
    ];
    let what = [
        "a Bloscpack file",
        "a blsk tree",
        "a bcolz array",
        "a blsk tree",
        "a Bloscpack file",
        "a bcolz array",
        "a contiguous frame",
    ];
    for (error, what) in errors.into_iter().zip(what) {
        let text = error.to_string();
        assert!(text.contains(what) && text.contains("opens it"), "{text}");
    }
}

#[test]
fn limits_and_locks_apply_to_every_format() {
    let zoo = Zoo::new();
    let limits = Limits::default().with_max_decoded(16);
    for (name, arm, is_editable) in ANIMALS {
        let path = zoo.path(name);
        let read = |limits| {
            let opened = OpenOptions::new().with_limits(limits).open(&path)?;
            read_one(&opened, 1)
        };
        read(Limits::default()).unwrap();
        // Nothing is decoded in a .npy file: its header is what has a limit.
        let limits = match arm {
            "npy" => Limits::default().with_max_metadata(16),
            _ => limits,
        };
        let refused = read(limits);
        match (arm, refused) {
            ("npy", refused) => assert!(refused.is_err()),
            // A run of equal bytes is read without a block in memory.
            ("chunk" | "array" | "super-chunk", Ok(_)) => {}
            (_, refused) => {
                assert_eq!(refused.unwrap_err().kind(), ErrorKind::LimitExceeded, "{name}");
            }
        }
        if is_editable {
            let first = OpenOptions::new().edit(&path).unwrap();
            let second = OpenOptions::new().edit(&path).unwrap_err();
            assert_eq!(second.kind(), ErrorKind::Locked, "{name}");
            first.close().unwrap();
            OpenOptions::new().edit(&path).unwrap().close().unwrap();
        }
    }
}

#[test]
fn folders_have_no_offset_and_fixed_compression() {
    let zoo = Zoo::new();
    let compress = CompressOptions::new(1).with_codec(Codec::Zstd);
    for (name, arm, is_editable) in ANIMALS {
        let path = zoo.path(name);
        let opened = OpenOptions::new().with_offset(6).open(&path);
        if path.is_dir() {
            let error = opened.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{name}: {error}");
        } else {
            // From a byte in the middle on it is something else; behind other bytes it is found.
            assert!(opened.is_err(), "{name}");
            let bytes = fs::read(&path).unwrap();
            let shifted = OpenOptions::new().with_offset(6);
            let shifted = shifted.open_bytes([b"before", bytes.as_slice()].concat()).unwrap();
            assert_eq!(shifted.format(), detect::path(&path).unwrap().format, "{name}");
            read_one(&shifted, 1).unwrap();
        }
        if !is_editable {
            continue;
        }
        let edited = OpenOptions::new().with_compress(compress.clone()).edit(&path);
        match arm {
            "bcolz array" | "bcolz table" | "blsk array" | "blsk table" => {
                assert_eq!(edited.unwrap_err().kind(), ErrorKind::InvalidArgument, "{name}");
            }
            _ => edited.unwrap().close().unwrap(),
        }
    }
}

#[test]
fn appended_chunks_are_compressed_as_the_options_say() {
    let zoo = Zoo::new();
    let noise: Vec<u8> = (0..4000u32).map(|at| u8::try_from(at * at % 251).unwrap()).collect();
    let compress = CompressOptions::new(1).with_codec(Codec::Zstd).with_filters([]);
    let options = OpenOptions::new().with_compress(compress);
    let mut frame = SuperChunk::edit_with(zoo.path("frame"), &options).unwrap();
    frame.append(&noise).unwrap();
    assert_eq!(frame.chunk_header(1).unwrap().codec(), Some(Codec::Zstd));
    frame.close().unwrap();
    let mut pack = Pack::edit_with(zoo.path("pack"), &options).unwrap();
    pack.append(&noise).unwrap();
    let last = pack.superchunk().unwrap().chunk_count() - 1;
    assert_eq!(pack.superchunk().unwrap().chunk_header(last).unwrap().codec(), Some(Codec::Zstd));
    pack.close().unwrap();
    let both = [vec![7; 4000], noise].concat();
    assert_eq!(SuperChunk::open(zoo.path("frame")).unwrap().to_vec().unwrap(), both);
    assert_eq!(Pack::open(zoo.path("pack")).unwrap().superchunk().unwrap().to_vec().unwrap(), both);
}

/// The file of a container that has this chunk, and where.
fn find(path: &Path, chunk: &[u8]) -> Option<(PathBuf, usize)> {
    if path.is_dir() {
        let mut entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        return entries.find_map(|entry| find(&entry, chunk));
    }
    let bytes = fs::read(path).unwrap();
    let at = bytes.windows(chunk.len()).position(|part| part == chunk)?;
    Some((path.to_owned(), at))
}

#[test]
fn marks_are_believed_on_request_in_every_format_that_has_them() {
    let bytes = datasets::csv(1 << 20);
    let compress = CompressOptions::new(1).with_codec(Codec::Lz4).with_filters([]);
    let zoo = Zoo::of(&bytes, &compress.with_marks(true)).unwrap();
    for (name, arm, _) in ANIMALS {
        let path = zoo.path(name);
        // Chunks of Blosc1 have no marks, and objects are read by whole blocks.
        if !["super-chunk", "array", "chunk"].contains(&arm) {
            continue;
        }
        let packed = match superchunk::open(&path).unwrap() {
            Opened::Chunk(chunk) => chunk.bytes().unwrap().to_vec(),
            opened => opened.superchunk().unwrap().compressed_chunk(0).unwrap(),
        };
        let (file, at) = find(&path, &packed).unwrap();
        let (mut lying, mut rng) = (packed.clone(), Rng::new(3));
        for block in marks::marks_of(&packed, 1, false) {
            for _ in 0..40 {
                marks::falsify(&mut lying, &block, &mut rng);
            }
        }
        assert!(lying != packed, "{name}: no marks");
        let mut stored = fs::read(&file).unwrap();
        stored[at..at + lying.len()].copy_from_slice(&lying);
        fs::write(&file, stored).unwrap();
        let deceived = |marks: bool| {
            let opened = OpenOptions::new().with_marks(marks).open(&path).unwrap();
            let mut rng = Rng::new(5);
            let places = (0..2000).map(|_| rng.index(bytes.len()));
            let is_wrong = |at: &usize| match read_one(&opened, *at as u64) {
                Ok(found) => found != [bytes[*at]],
                Err(_) => true,
            };
            places.filter(is_wrong).count()
        };
        assert_eq!(deceived(false), 0, "{name}");
        assert!(deceived(true) > 0, "{name}");
    }
}

#[test]
fn formats_are_described_and_say_what_opens_them() {
    for format in [Format::Frame, Format::Npy, Format::Bloscpack, Format::BcolzTable] {
        assert!(format.opened_by().is_some() && !format.description().is_empty());
    }
    for format in [Format::Raw, Format::BlskFile, Format::Blosc2Folder, Format::Blosc2Zip] {
        assert_eq!(format.opened_by(), None);
    }
}
