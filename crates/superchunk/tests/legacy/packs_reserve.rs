//! Bytes that are left free behind the objects of a Bloscpack file, and objects that are replaced.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use superchunk::bloscpack::{Pack, PackOptions, PackStream};
use superchunk::store::{Dir, MemoryFolder};
use superchunk::{ErrorKind, OpenOptions};
use superchunk_testkit::samples::mixed;

const NAME: &str = "a.blp";

fn objects() -> Vec<Vec<u8>> {
    vec![b"first".to_vec(), Vec::new(), mixed(3000, 1, 1), b"last".to_vec()]
}

/// A file of [`objects`] with `free` bytes that mean nothing behind each.
fn with_free_bytes(free: usize) -> Vec<u8> {
    let file = PackOptions::objects("varbinary").pack_objects(objects()).unwrap();
    let meta_size = u32::from_le_bytes(*file[24..].first_chunk().unwrap());
    let table = 32 + usize::try_from(meta_size).unwrap();
    let position = |number: usize| {
        let stored = file[table + 8 * number..].first_chunk().unwrap();
        usize::try_from(u64::from_le_bytes(*stored)).unwrap()
    };
    let count = objects().len();
    let mut out = file[..position(0)].to_vec();
    for number in 0..count {
        let start = out.len() as u64;
        out[table + 8 * number..][..8].copy_from_slice(&start.to_le_bytes());
        let end = if number + 1 < count { position(number + 1) } else { file.len() };
        out.extend(&file[position(number)..end]);
        out.extend(vec![0xee; free]);
    }
    out
}

fn folder_with(file: &[u8]) -> Arc<MemoryFolder> {
    let folder = Arc::new(MemoryFolder::new());
    folder.create(NAME).unwrap().write_at(0, file).unwrap();
    folder
}

fn edit(folder: &Arc<MemoryFolder>) -> Pack {
    Pack::edit_in_dir(folder.clone(), NAME, &OpenOptions::new()).unwrap()
}

fn read(folder: &MemoryFolder) -> Vec<Vec<u8>> {
    let pack = Pack::open_in_dir(Arc::new(folder.clone()), NAME, &OpenOptions::new()).unwrap();
    pack.objects().collect::<Result<_, _>>().unwrap()
}

#[test]
fn free_bytes_are_passed_over_and_stay_when_objects_are_appended() {
    let file = with_free_bytes(50);
    let folder = folder_with(&file);
    assert_eq!(read(&folder), objects());
    let second = edit(&folder).chunk_position(1);
    let mut pack = edit(&folder);
    pack.append_object(b"one more").unwrap();
    pack.close().unwrap();
    assert_eq!(read(&folder), [objects(), vec![b"one more".to_vec()]].concat());
    assert_eq!(edit(&folder).chunk_position(1), second);
}

#[test]
fn objects_are_replaced_in_one_step_by_a_file_without_dead_bytes() {
    let folder = folder_with(&with_free_bytes(50));
    let mut pack = edit(&folder);
    let others = [mixed(4000, 1, 2), b"no longer empty".to_vec(), Vec::new(), b"LAST".to_vec()];
    for (number, object) in others.iter().enumerate() {
        pack.replace_object(number as u64, object).unwrap();
        assert_eq!(pack.object(number as u64).unwrap(), *object);
    }
    assert_eq!(read(&folder), objects(), "nothing is committed yet");
    assert_eq!(pack.replace_object(4, b"").unwrap_err().kind(), ErrorKind::InvalidArgument);
    pack.close().unwrap();
    assert_eq!(read(&folder), others);
    let pack = edit(&folder);
    assert_eq!(pack.dead_len().unwrap(), 0);

    let bytes = folder_with(&PackOptions::new().pack(b"no objects").unwrap());
    let error = edit(&bytes).replace_object(0, b"").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_reserve_is_left_after_every_object() {
    let options = PackOptions::objects("varbinary");
    let tight = Pack::from_bytes(options.pack_objects(objects()).unwrap()).unwrap();
    assert_eq!(tight.free_len().unwrap(), 0);
    for percent in [1, 25, 100, 250] {
        let file = options.clone().with_reserve(percent).pack_objects(objects()).unwrap();
        let folder = folder_with(&file);
        assert_eq!(read(&folder), objects());
        let mut pack = edit(&folder);
        let mut all = 0;
        for number in 0..objects().len() {
            let chunk =
                pack.superchunk().unwrap().chunk_header(number).unwrap().compressed_len() as u64;
            let free = ((chunk + 4) * u64::from(percent)).div_ceil(100);
            let end = pack.chunk_position(number).unwrap() + chunk + 4;
            let next = pack.chunk_position(number + 1).unwrap_or(file.len() as u64);
            assert_eq!(next - end, free, "object {number}, {percent} %");
            assert!(
                file[usize::try_from(end).unwrap()..][..usize::try_from(free).unwrap()]
                    .iter()
                    .all(|byte| *byte == 0)
            );
            all += free;
        }
        assert_eq!(pack.free_len().unwrap(), all);
        pack.append_object(&mixed(5000, 1, 3)).unwrap();
        pack.close().unwrap();
        assert_eq!(read(&folder), [objects(), vec![mixed(5000, 1, 3)]].concat());
    }
}

#[test]
fn a_writer_with_a_reserve_leaves_it_when_it_writes_a_new_file() {
    let folder = Arc::new(MemoryFolder::new());
    let options = PackOptions::objects("varbinary").with_reserve(50);
    let mut pack = Pack::create_in_dir(folder.clone(), NAME, &options).unwrap();
    objects().iter().for_each(|object| pack.append_object(object).unwrap());
    pack.commit().unwrap();
    pack.replace_object(0, &mixed(4000, 1, 2)).unwrap();
    pack.close().unwrap();
    let pack = edit(&folder);
    let chunks = (0..objects().len()).map(|number| {
        pack.superchunk().unwrap().chunk_header(number).unwrap().compressed_len() as u64
    });
    assert_eq!(pack.free_len().unwrap(), chunks.map(|len| (len + 4).div_ceil(2)).sum::<u64>());
    assert_eq!(pack.object(0).unwrap(), mixed(4000, 1, 2));
}

#[test]
fn a_reserve_needs_objects_that_are_found_by_positions() {
    let error = PackOptions::new().with_reserve(10).pack(b"bytes").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let options = PackOptions::objects("varbinary").with_reserve(10);
    let error = PackStream::objects(Vec::new(), &options, 2).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let bytes = Pack::from_bytes(PackOptions::new().pack(b"bytes").unwrap()).unwrap();
    assert_eq!(bytes.free_len().unwrap_err().kind(), ErrorKind::InvalidArgument);
}
