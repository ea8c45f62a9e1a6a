//! Every vector opens through one door as what it is: from a path, from bytes and from a folder;
//! what only python-blosc2 reads is refused by its name.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use superchunk::detect;
use superchunk::store::{Dir, Folder};
use superchunk::{
    CompressOptions, ErrorKind, FrameOptions, NdArray, NdOptions, OpenOptions, Opened, Result,
    SuperChunk,
};
use superchunk_testkit::vectors::{Vector, family};

/// What something was opened as, or why it was not.
pub(crate) fn arm(opened: &Result<Opened>) -> &'static str {
    match opened {
        Ok(Opened::SuperChunk(_)) => "super-chunk",
        Ok(Opened::Array(_)) => "array",
        Ok(Opened::Objects(_)) => "objects",
        Ok(Opened::Chunk(_)) => "chunk",
        Ok(Opened::Pack(_)) => "pack",
        Ok(Opened::BcolzArray(_)) => "bcolz array",
        Ok(Opened::BcolzTable(_)) => "bcolz table",
        Ok(Opened::BlskArray(_)) => "blsk array",
        Ok(Opened::BlskTable(_)) => "blsk table",
        Ok(Opened::Npy(_)) => "npy",
        Ok(other) => panic!("{other:?} is new here"),
        Err(error) if error.kind() == ErrorKind::Unsupported => "unsupported",
        Err(error) => panic!("{error}"),
    }
}

/// Opens the same thing by its path, from its folder, from bytes if it is a file, and from itself
/// if it is a folder. All must be opened alike.
pub(crate) fn open_everywhere(path: &Path, options: &OpenOptions) -> Vec<Result<Opened>> {
    let (parent, name) = Folder::parent_of(path).unwrap();
    let parent: Arc<dyn Dir> = Arc::new(parent);
    let mut found = vec![options.open(path), options.open_in_dir(parent, Some(&name))];
    if path.is_dir() {
        let folder = Arc::new(Folder::open(path).unwrap());
        found.push(options.open_in_dir(folder, None));
    } else {
        let bytes = fs::read(path).unwrap();
        found.push(options.open_bytes(bytes));
    }
    for opened in found.iter().flatten() {
        // Nothing but the layout of a folder says whether it is an array or a table.
        assert_eq!(opened.format(), detect_at(path, options.offset).format, "{}", path.display());
        assert_eq!(opened.detected().format, opened.format());
        assert!(!opened.to_string().is_empty() && !opened.detected().reason.is_empty());
    }
    found
}

fn detect_at(path: &Path, offset: u64) -> detect::Detected {
    if offset == 0 {
        return detect::path(path).unwrap();
    }
    let bytes = fs::read(path).unwrap();
    let bytes = &bytes[usize::try_from(offset).unwrap()..];
    detect::bytes(&bytes[..detect::START], bytes.len() as u64)
}

/// Opens vectors everywhere; returns how many were opened as what.
fn open_all(
    vectors: impl IntoIterator<Item = Vector>,
    expected: impl Fn(&Vector) -> &'static str,
) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for vector in vectors {
        let offset = vector.integer(&["offset"]).unwrap_or(0).try_into().unwrap();
        let options = OpenOptions::new().with_offset(offset);
        for opened in open_everywhere(&vector.path, &options) {
            assert_eq!(arm(&opened), expected(&vector), "{}: {opened:?}", vector.name());
        }
        *counts.entry(expected(&vector)).or_default() += 1;
    }
    counts
}

/// What a vector of the family `frame` is, by the name that its maker has given it.
fn frame_arm(vector: &Vector) -> &'static str {
    let holds = vector.text(&["holds"]).unwrap();
    match vector.path.extension().unwrap().to_str().unwrap() {
        "b2nd" => "array",
        "b2b" => "objects",
        "b2e" | "b2d" | "b2z" => "unsupported",
        "b2frame" | "bin" | "b2f" => "super-chunk",
        other => panic!("{other}: {holds}"),
    }
}

#[test]
fn every_frame_opens_as_what_it_holds() {
    let counts = open_all(family("frame"), frame_arm);
    for (arm, least) in [("super-chunk", 24), ("array", 14), ("objects", 2), ("unsupported", 5)] {
        assert!(counts[arm] >= least, "{counts:?}");
    }
}

#[test]
fn every_chunk_opens_as_a_chunk() {
    let mut vectors = family("chunk");
    vectors.retain(|vector| vector.path.extension().is_some_and(|it| it == "chunk"));
    assert!(vectors.len() >= 60);
    open_all(vectors.clone(), |_| "chunk");
    for vector in vectors {
        let Opened::Chunk(chunk) = superchunk::open(&vector.path).unwrap() else { panic!() };
        let Ok(bytes) = chunk.decompress() else { continue };
        let mut part = vec![0; bytes.len() / 2];
        let len = chunk.read_bytes(0..part.len(), &mut part).unwrap();
        assert!(len == part.len() && bytes.starts_with(&part), "{}", vector.name());
        assert_eq!(chunk.bytes().unwrap(), vector.bytes());
    }
}

#[test]
fn every_file_and_folder_of_older_formats_opens() {
    let is_good = |vector: &Vector| !vector.text(&["kind"]).unwrap_or("").starts_with("hostile");
    let packs = family("legacy/bloscpack").into_iter().filter(is_good);
    assert!(open_all(packs, |_| "pack")["pack"] >= 60);
    let columns = family("legacy/bcolz").into_iter().filter(is_good);
    let counts = open_all(columns, |vector| match vector.text(&["kind"]) {
        Some("bcolz-carray") => "bcolz array",
        Some("bcolz-ctable") => "bcolz table",
        other => panic!("{other:?}"),
    });
    assert!(counts["bcolz array"] >= 50 && counts["bcolz table"] >= 10, "{counts:?}");
    let trees = open_all(family("legacy/blsk"), |vector| {
        match vector.fields["columns"].as_object().unwrap().contains_key(".") {
            true => "blsk array",
            false => "blsk table",
        }
    });
    assert!(trees["blsk array"] >= 4 && trees["blsk table"] >= 1, "{trees:?}");
}

#[test]
fn stores_of_python_blosc2_are_refused_by_their_names() {
    let names = [
        ("38_", "an EmbedStore of python-blosc2"),
        ("39_", "a DictStore or TreeStore of python-blosc2"),
        ("40_", "a store of python-blosc2 in a zip archive"),
        ("41_", "a CTable of python-blosc2"),
        ("42_", "a store of python-blosc2 in a zip archive"),
    ];
    for (number, words) in names {
        let vectors = family("frame").into_iter();
        let vector = vectors.into_iter().find(|vector| vector.name().starts_with(number)).unwrap();
        for opened in open_everywhere(&vector.path, &OpenOptions::new()) {
            let error = opened.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
    // A recipe has the shape of an array and no data.
    let shape = NdArray::in_memory(&NdOptions::of::<u8>(&[4])).unwrap();
    let layer = shape.superchunk().metalayer("b2nd").unwrap().to_vec();
    let options = FrameOptions::new(CompressOptions::new(1)).with_chunk_size(4);
    for recipe in ["b2o", "LazyArray", "proxy-source", "b2remote_store", "b2dict", "b2tree"] {
        let options = options.clone().with_metalayer("b2nd", layer.clone());
        let mut frame = SuperChunk::in_memory(&options.with_metalayer(recipe, "x")).unwrap();
        frame.append(&[0; 4]).unwrap();
        let error = OpenOptions::new().open_bytes(frame.to_bytes().unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{recipe}: {error}");
        assert!(error.to_string().contains("python-blosc2"), "{recipe}: {error}");
    }
}
