//! What programs have written, the same version of them reads.

#![cfg(unix)]
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use superchunk::compat::{self, Compatibility, Program, Version};
use superchunk::{
    CompressOptions, Filter, FrameOptions, NdArray, NdOptions, NdStorage, OpenOptions, SuperChunk,
};
use superchunk_testkit::vectors::folders;

/// Everything below the folders of vectors that lies at `place`.
fn entries(place: &str) -> Vec<PathBuf> {
    let of_folder = |folder: PathBuf| std::fs::read_dir(folder.join(place)).into_iter().flatten();
    folders().into_iter().flat_map(of_folder).map(|entry| entry.unwrap().path()).collect()
}

fn of_program(path: &Path, program: Program) -> Compatibility {
    let found = compat::path(path, &OpenOptions::new());
    let found = found.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    found.into_iter().find(|found| found.program == program).unwrap()
}

#[test]
fn bcolz_reads_what_the_same_version_has_written() {
    for (version, writer) in [
        // The last release of carray; bcolz is its name since 0.7.
        ("0.7.0", "carray-0.5.1"),
        ("0.7.0", "bcolz-0.7.0"),
        ("1.2.1", "bcolz-1.2.1"),
        ("1.13.0", "bcolz-zipline-1.13.0"),
    ] {
        let version = version.parse::<Version>().unwrap();
        let mut known = 0;
        let places = [format!("legacy/bcolz/{writer}"), format!("legacy/{writer}")];
        for path in places.iter().flat_map(|place| entries(place)).filter(|path| path.is_dir()) {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let found = of_program(&path, Program::Bcolz);
            // bcolz itself cannot open the structures that it writes, and bcolz-zipline no Snappy.
            let is_exception = name.contains("struct") || name.contains("snappy");
            let obstacles: Vec<_> = found.obstacles(Some(version)).collect();
            assert_eq!(obstacles.is_empty(), !is_exception, "{writer}/{name}: {obstacles:?}");
            known += 1;
        }
        assert!(known > 0, "{writer} has no vectors");
    }
}

#[test]
fn c_blosc_reads_what_the_same_version_has_written() {
    let mut known = 0;
    for path in entries("chunk") {
        let name = path.file_name().unwrap().to_str().unwrap();
        // The numbers of python-blosc and of C-Blosc are alike: 1.11.4 contains 1.21.
        let version = match name.strip_prefix("blosc-1.").and_then(|rest| rest.split_once('-')) {
            Some((_, rest)) if rest.ends_with(".chunk") => "1.21.6".to_owned(),
            Some((version, _)) => format!("1.{version}"),
            None => continue,
        };
        let found = of_program(&path, Program::Blosc);
        let obstacles: Vec<_> = found.obstacles(Some(version.parse().unwrap())).collect();
        assert!(obstacles.is_empty(), "{name}: {obstacles:?}");
        let two = of_program(&path, Program::Blosc2);
        assert_eq!(two.oldest().is_none(), name.contains("snappy"), "{name}: {two:?}");
        known += 1;
    }
    assert!(known >= 15);
}

#[test]
fn chunks_that_are_not_committed_count() {
    let plain = FrameOptions::new(CompressOptions::of::<u32>());
    let delta = CompressOptions::of::<u32>().with_filters([Filter::Delta]).with_block_size(1024);
    let mut other = SuperChunk::in_memory(&FrameOptions::new(delta)).unwrap();
    other.append_items(&(0..100_000u32).collect::<Vec<_>>()).unwrap();
    other.commit().unwrap();
    let mut frame = SuperChunk::in_memory(&plain).unwrap();
    assert!(compat::super_chunk(&frame).unwrap().oldest().is_some());
    frame.append_chunk(&other.compressed_chunk(0).unwrap()).unwrap();
    assert_eq!(compat::super_chunk(&frame).unwrap().oldest(), None);
}

#[test]
fn axes_and_parameters_for_new_chunks_count() {
    let options = NdStorage::new(FrameOptions::new(CompressOptions::of::<u32>()));
    let dtype = superchunk::DType::parse("<u4").unwrap();
    for (axes, oldest) in [(8, "2.7.1"), (9, "2.21.3")] {
        let array = NdArray::in_memory(
            &NdOptions::new(&vec![1; axes], dtype.clone()).with_storage(options.clone()),
        )
        .unwrap();
        let found = compat::super_chunk(array.superchunk()).unwrap();
        assert_eq!(found.oldest(), Some(oldest.parse().unwrap()), "{axes} axes");
    }
    let truncating = CompressOptions::of::<u32>().with_filters([Filter::IntTrunc(8)]);
    let empty = SuperChunk::in_memory(&FrameOptions::new(truncating)).unwrap();
    let found = compat::super_chunk(&empty).unwrap();
    assert_eq!(found.oldest(), Some(Version::new(2, 13, 0)));
    assert_eq!(found.obstacles(Some(Version::new(2, 12, 0))).count(), 1);
    assert_eq!(found.obstacles(None).count(), 0);
}
