//! Several handles of one frame: writers that keep each other out, readers that follow, threads.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use superchunk::frame::{Durability, Kind, Locking};
use superchunk::{CompressOptions, ErrorKind, FrameOptions, OpenOptions, SuperChunk};
use superchunk_testkit::crash::{Disk, Fault};
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;

fn options() -> FrameOptions {
    FrameOptions::new(CompressOptions::new(4)).with_chunk_size(4000)
}

fn paths(scratch: &Scratch) -> [(Kind, PathBuf); 2] {
    [(Kind::Contiguous, scratch.path("a.b2frame")), (Kind::Sparse, scratch.path("b.b2frame"))]
}

#[test]
fn a_second_writer_is_told_that_it_is_locked() {
    let scratch = Scratch::new();
    for (kind, path) in paths(&scratch) {
        let mut first = SuperChunk::create(&path, &options().with_kind(kind)).unwrap();
        first.append(&mixed(10_000, 4, 1)).unwrap();
        first.commit().unwrap();
        let second = SuperChunk::edit(&path).unwrap_err();
        assert_eq!(second.kind(), ErrorKind::Locked, "{second}");
        // Compacting makes a new file, which is locked as well.
        first.compact().unwrap();
        assert_eq!(SuperChunk::edit(&path).unwrap_err().kind(), ErrorKind::Locked);
        first.close().unwrap();
        SuperChunk::edit(&path).unwrap();
    }
}

#[test]
fn handles_with_the_lock_file_take_turns_and_see_each_other() {
    let scratch = Scratch::new();
    for (kind, path) in paths(&scratch) {
        let locked = options().with_kind(kind).with_locking(Locking::SidecarNoWait);
        let mut one = SuperChunk::create(&path, &locked).unwrap();
        one.append(&[1; 6000]).unwrap();
        let open = OpenOptions::new().with_locking(Locking::SidecarNoWait);
        // A change lasts until its commit.
        one.commit().unwrap();
        let reader = SuperChunk::open_with(&path, &open).unwrap();
        let mut other = SuperChunk::edit_with(&path, &open).unwrap();
        other.append(&[2; 6000]).unwrap();
        assert_eq!(one.append(&[9; 10]).unwrap_err().kind(), ErrorKind::Locked);
        other.commit().unwrap();
        assert_eq!(reader.to_vec().unwrap_err().kind(), ErrorKind::Changed);
        // The first handle starts from what the second has left.
        one.append(&[3; 6000]).unwrap();
        one.commit().unwrap();
        let expected = [[1; 6000], [2; 6000], [3; 6000]].concat();
        assert_eq!(one.to_vec().unwrap(), expected);
        assert_eq!(other.to_vec().unwrap_err().kind(), ErrorKind::Changed);
        assert!(other.refresh().unwrap());
        assert_eq!(other.to_vec().unwrap(), expected);
        assert_eq!(SuperChunk::open_with(&path, &open).unwrap().to_vec().unwrap(), expected);
    }
}

#[test]
fn a_handle_that_ends_leaves_what_others_have_written_since() {
    let scratch = Scratch::new();
    for (kind, path) in paths(&scratch) {
        // After one commit the frame of the first handle is shorter than that of the second; after
        // two it has a gap, which closing removes.
        for (commits, closes) in [(1, true), (1, false), (2, true), (2, false)] {
            let path = path.with_extension(format!("{commits}-{closes}"));
            let locked = options().with_kind(kind).with_locking(Locking::SidecarNoWait);
            let mut one = SuperChunk::create(&path, &locked).unwrap();
            for _ in 0..commits {
                one.append(&mixed(8000, 4, 1)).unwrap();
                one.commit().unwrap();
            }
            let open = OpenOptions::new().with_locking(Locking::SidecarNoWait);
            let mut other = SuperChunk::edit_with(&path, &open).unwrap();
            other.append(&mixed(8000, 4, 2)).unwrap();
            other.close().unwrap();
            let expected = SuperChunk::open_with(&path, &open).unwrap().to_vec().unwrap();
            assert_eq!(expected.len(), 8000 * (commits + 1));
            if closes {
                one.close().unwrap();
            } else {
                drop(one);
            }
            assert_eq!(
                SuperChunk::open_with(&path, &open).unwrap().to_vec().unwrap(),
                expected,
                "{commits} {closes}"
            );
        }
    }
}

#[test]
fn a_reader_that_follows_sees_old_or_new_and_never_less() {
    let scratch = Scratch::new();
    for (kind, path) in paths(&scratch) {
        let options = options().with_kind(kind).with_durability(Durability::Process);
        let data = mixed(400_000, 4, 2);
        let mut writer = SuperChunk::create(&path, &options).unwrap();
        writer.append(data.get(..1000).unwrap()).unwrap();
        writer.commit().unwrap();
        let done = AtomicBool::new(false);
        let follow = OpenOptions::new().with_following(true);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut reader = SuperChunk::open_with(&path, &follow).unwrap();
                    let mut seen = 0;
                    loop {
                        let last = done.load(Ordering::Acquire);
                        reader.refresh().unwrap();
                        let found = match reader.to_vec() {
                            Err(error) if error.kind() == ErrorKind::Changed => continue,
                            found => found.unwrap(),
                        };
                        assert!(found.len() >= seen, "{} after {seen} bytes", found.len());
                        assert!(data.starts_with(&found));
                        seen = found.len();
                        if last {
                            return assert_eq!(seen, data.len());
                        }
                    }
                });
            }
            for piece in data.get(1000..).unwrap().chunks(1000) {
                writer.append(piece).unwrap();
                writer.commit().unwrap();
            }
            writer.close().unwrap();
            done.store(true, Ordering::Release);
        });
    }
}

#[test]
fn many_threads_read_one_handle() {
    let scratch = Scratch::new();
    for (kind, path) in paths(&scratch) {
        let data = mixed(200_000, 4, 3);
        let mut writer = SuperChunk::create(&path, &options().with_kind(kind)).unwrap();
        writer.append(&data).unwrap();
        writer.close().unwrap();
        let reader = SuperChunk::open(&path).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8usize {
                let (reader, data) = (&reader, &data);
                scope.spawn(move || {
                    for step in 0..200 {
                        let start = (thread * 6151 + step * 977) % 49_000;
                        let mut part = vec![0; 4 * (1 + step * 5)];
                        let end = start + part.len() / 4;
                        reader.read_items(start as u64..end as u64, &mut part).unwrap();
                        assert_eq!(Some(part.as_slice()), data.get(4 * start..4 * end));
                    }
                });
            }
        });
    }
}

#[test]
fn a_failed_write_leaves_the_committed_state() {
    let disk = Disk::new();
    let open =
        || SuperChunk::open_in_dir(disk.root(), Some("full.b2frame"), &OpenOptions::new()).unwrap();
    let mut writer =
        SuperChunk::create_in_dir(disk.root(), Some("full.b2frame"), &options()).unwrap();
    writer.append(&[1; 50_000]).unwrap();
    writer.commit().unwrap();
    writer.append(&mixed(50_000, 4, 4)).unwrap();
    disk.inject(Some(Fault::NoSpaceFrom(0)));
    writer.compact().unwrap_err();
    assert_eq!(open().to_vec().unwrap(), [1; 50_000]);
    disk.inject(None);
    writer.compact().unwrap();
    assert_eq!(open().byte_len(), 100_000);
}
