//! One writer and four readers in processes of their own, ours and those of the real C-Blosc2, with the lock file and
//! without: every reader sees only rows that were written, in their order, and never fewer than before.
//!
//! What bounds a run is a number of commits. The writer never gets further ahead of the slowest reader than some of
//! them, so that reading and writing really overlap.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use superchunk::frame::{Durability, Kind, Locking};
use superchunk::{
    CompressOptions, ErrorKind, Executor, FrameOptions, OpenOptions, Result, SuperChunk,
};
use superchunk_testkit::fork::{Outcome, in_child};
use superchunk_testkit::frame_peer::FramePeer;
use superchunk_testkit::peers::PeerKind;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

const READERS: usize = 4;
const COMMITS: usize = 120;
/// How many commits the slowest reader may be behind.
const LEAD: u64 = 12;
/// Bytes of a row.
const ROW: usize = 64;
const ROWS_PER_COMMIT: usize = 9;
/// A chunk is written again by the commits that fill it up.
const CHUNK_ROWS: usize = 20;
const ROWS: usize = COMMITS * ROWS_PER_COMMIT;

/// How readers and writer keep out of each other's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// By the lock file of C-Blosc2.
    Locked,
    /// Not at all: who reads makes sure that nothing has changed meanwhile.
    Following,
}

/// All rows: each tells its number and is filled with what follows from it.
fn rows() -> Vec<u8> {
    let row = |number: u64| {
        let mut row = number.to_le_bytes().to_vec();
        row.extend(Rng::new(number / 3).bytes(ROW - 8));
        row
    };
    (0..ROWS as u64).flat_map(row).collect()
}

fn options(kind: Kind, mode: Mode) -> FrameOptions {
    let options = FrameOptions::new(CompressOptions::new(8)).with_chunk_size(CHUNK_ROWS * ROW);
    let options = options.with_kind(kind).with_durability(Durability::Process);
    options.with_locking(if mode == Mode::Locked { Locking::Sidecar } else { Locking::Writers })
}

/// How often in a row a reader of C-Blosc2 may find that a commit has come between two of its
/// reads.
const MOST_DISTURBED: usize = 1000;

/// What the readers have seen, so that the writer can wait for them.
struct Progress {
    seen: [AtomicU64; READERS],
    failed: AtomicBool,
}

impl Progress {
    fn new() -> Self {
        Self { seen: Default::default(), failed: AtomicBool::new(false) }
    }

    /// Waits until all readers have seen this many bytes.
    fn wait_for(&self, bytes: u64) {
        while self.seen.iter().any(|seen| seen.load(Ordering::Acquire) < bytes) {
            assert!(!self.failed.load(Ordering::Acquire), "a reader has failed");
            thread::yield_now();
        }
    }
}

/// Tells the others when its thread ends by a panic.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Release);
        }
    }
}

/// Whether this is a start of the rows, and no shorter than what was seen before.
fn is_right(found: &[u8], rows: &[u8], seen: usize) -> bool {
    found.len() >= seen && rows.starts_with(found) && found.len().is_multiple_of(ROW)
}

/// The life of a reader of ours, until it has seen everything.
fn read_until_the_end(
    path: &Path,
    mode: Mode,
    rows: &[u8],
    mut tell: impl FnMut(u64) -> bool,
) -> Result<bool> {
    let open = match mode {
        Mode::Locked => OpenOptions::new().with_locking(Locking::Sidecar),
        Mode::Following => OpenOptions::new().with_following(true),
    };
    let mut reader = SuperChunk::open_with(path, &open)?;
    let mut seen = 0;
    while seen < rows.len() {
        reader.refresh()?;
        match reader.to_vec() {
            Err(error) if error.kind() == ErrorKind::Changed => continue,
            Err(error) => return Err(error),
            Ok(found) if is_right(&found, rows, seen) => seen = found.len(),
            Ok(_) => return Ok(false),
        }
        if !tell(seen as u64) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A reader of ours in a forked process; what it has seen comes back through a pipe.
fn our_reader(path: &Path, mode: Mode, rows: &[u8], seen: &AtomicU64, failed: &AtomicBool) {
    let _alarm = Alarm(failed);
    let (mut from, mut to) = std::io::pipe().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut told = [0; 8];
            while seen.load(Ordering::Acquire) < rows.len() as u64
                && from.read_exact(&mut told).is_ok()
            {
                seen.store(u64::from_le_bytes(told), Ordering::Release);
            }
        });
        let outcome = in_child(move || {
            let tell = |seen: u64| to.write_all(&seen.to_le_bytes()).is_ok();
            read_until_the_end(path, mode, rows, tell).unwrap_or(false)
        });
        // The other thread ends when it has been told of the end.
        if outcome != Outcome::Passed {
            failed.store(true, Ordering::Release);
        }
        assert_eq!(outcome, Outcome::Passed, "{mode:?}");
    });
}

/// A reader of C-Blosc2: it opens the frame again each time, or keeps it open and looks at the lock file.
fn c_reader(
    peer: &mut FramePeer,
    path: &Path,
    mode: Mode,
    rows: &[u8],
    seen: &AtomicU64,
    failed: &AtomicBool,
) {
    let _alarm = Alarm(failed);
    let locked = (mode == Mode::Locked).then(|| peer.open_locking(path).unwrap());
    let (mut before, mut disturbed) = (0, 0);
    while before < rows.len() {
        assert!(!failed.load(Ordering::Acquire), "another reader has failed");
        let found = match locked {
            // It notices a change when it reads a chunk. Reading all takes the lock once for each
            // chunk: if the last chunk grows in between, it does not fit any more, and all is read
            // again.
            Some(handle) => match peer.read_chunk(handle, 0).and_then(|_| peer.read_all(handle)) {
                Ok(found) => found,
                Err(error) => {
                    disturbed += 1;
                    assert!(disturbed < MOST_DISTURBED, "{error}");
                    continue;
                }
            },
            None => {
                let Ok(handle) = peer.open(path) else { continue };
                let found = peer.read_all(handle);
                peer.close(handle).unwrap();
                let Ok(found) = found else { continue };
                found
            }
        };
        assert!(is_right(&found, rows, before), "{mode:?}: {} after {before}", found.len());
        (before, disturbed) = (found.len(), 0);
        seen.store(before as u64, Ordering::Release);
    }
    if let Some(handle) = locked {
        peer.close(handle).unwrap();
    }
}

/// Writes all rows but those that are there, a commit after the other.
fn write(mut append: impl FnMut(&[u8]), rows: &[u8], progress: &Progress) {
    let _alarm = Alarm(&progress.failed);
    let size = (ROWS_PER_COMMIT * ROW) as u64;
    for (number, piece) in (0u64..).zip(rows.chunks(ROWS_PER_COMMIT * ROW)).skip(1) {
        append(piece);
        progress.wait_for((number + 1).saturating_sub(LEAD) * size);
    }
    progress.wait_for(rows.len() as u64);
}

fn create(path: &Path, options: &FrameOptions, rows: &[u8]) -> SuperChunk {
    let mut frame = SuperChunk::create(path, options).unwrap();
    frame.append(rows.get(..ROWS_PER_COMMIT * ROW).unwrap()).unwrap();
    frame.commit().unwrap();
    frame
}

fn places(scratch: &Scratch) -> Vec<(Kind, Mode, PathBuf)> {
    let all = [
        (Kind::Contiguous, Mode::Locked),
        (Kind::Contiguous, Mode::Following),
        (Kind::Sparse, Mode::Locked),
        (Kind::Sparse, Mode::Following),
    ];
    let path = |kind: Kind, mode: Mode| scratch.path(&format!("{kind:?}-{mode:?}.b2frame"));
    all.into_iter().map(|(kind, mode)| (kind, mode, path(kind, mode))).collect()
}

#[test]
fn our_readers_see_rows_come_and_nothing_else() {
    let (scratch, rows) = (Scratch::new(), rows());
    for (kind, mode, path) in places(&scratch) {
        let mut frame = create(&path, &options(kind, mode), &rows);
        let progress = Progress::new();
        thread::scope(|scope| {
            for seen in &progress.seen {
                let (path, rows, failed) = (&path, &rows, &progress.failed);
                scope.spawn(move || our_reader(path, mode, rows, seen, failed));
            }
            let append = |piece: &[u8]| {
                frame.append(piece).unwrap();
                frame.commit().unwrap();
            };
            write(append, &rows, &progress);
        });
        frame.close().unwrap();
    }
}

#[test]
fn readers_of_c_blosc2_see_rows_come_and_nothing_else() {
    let (scratch, rows) = (Scratch::new(), rows());
    let mut peers: Vec<FramePeer> =
        (0..READERS).map(|_| FramePeer::spawn(PeerKind::Blosc2)).collect();
    for (kind, mode, path) in places(&scratch) {
        let mut frame = create(&path, &options(kind, mode), &rows);
        let progress = Progress::new();
        thread::scope(|scope| {
            for (peer, seen) in peers.iter_mut().zip(&progress.seen) {
                let (path, rows, failed) = (&path, &rows, &progress.failed);
                scope.spawn(move || c_reader(peer, path, mode, rows, seen, failed));
            }
            let append = |piece: &[u8]| {
                frame.append(piece).unwrap();
                frame.commit().unwrap();
            };
            write(append, &rows, &progress);
        });
        frame.close().unwrap();
    }
}

#[test]
fn our_readers_follow_a_writer_of_c_blosc2_by_the_lock_file() {
    let (scratch, rows) = (Scratch::new(), rows());
    let mut peer = FramePeer::spawn(PeerKind::Blosc2);
    for (kind, mode, path) in places(&scratch) {
        if mode == Mode::Following {
            continue;
        }
        // It appends whole chunks only.
        let options = options(kind, mode).with_chunk_size(ROWS_PER_COMMIT * ROW);
        create(&path, &options, &rows).close().unwrap();
        let handle = peer.open_locking(&path).unwrap();
        let progress = Progress::new();
        thread::scope(|scope| {
            for seen in &progress.seen {
                let (path, rows, failed) = (&path, &rows, &progress.failed);
                scope.spawn(move || our_reader(path, mode, rows, seen, failed));
            }
            write(|piece| peer.append_data(handle, piece).unwrap(), &rows, &progress);
        });
        peer.close(handle).unwrap();
    }
}

#[test]
fn sixteen_threads_read_one_handle_at_random() {
    let (scratch, rows) = (Scratch::new(), rows());
    for (kind, mode, path) in places(&scratch) {
        let mut frame = create(&path, &options(kind, mode), &rows);
        frame.append(rows.get(ROWS_PER_COMMIT * ROW..).unwrap()).unwrap();
        frame.close().unwrap();
        let reader =
            SuperChunk::open_with(&path, &OpenOptions::new().with_executor(Executor::threads(3)))
                .unwrap();
        thread::scope(|scope| {
            for thread in 0..16u64 {
                let (reader, rows) = (&reader, &rows);
                scope.spawn(move || read_at_random(reader, rows, thread));
            }
        });
    }
}

fn read_at_random(reader: &SuperChunk, rows: &[u8], seed: u64) {
    let mut rng = Rng::new(seed);
    let items = rows.len() / 8;
    for _ in 0..200 {
        let start = rng.index(items);
        let end = start + rng.index(items - start) + 1;
        let mut part = vec![0; 8 * (end - start)];
        match rng.below(3) {
            0 => {
                let number = rng.index(reader.chunk_count());
                let chunk = reader.read_chunk(number).unwrap();
                let at = number * CHUNK_ROWS * ROW;
                assert_eq!(rows.get(at..at + chunk.len()), Some(chunk.as_slice()));
            }
            1 => {
                let picked: Vec<u64> = (0..30).map(|_| rng.below(items as u64)).collect();
                let mut found = vec![0; 8 * picked.len()];
                reader.gather(&picked, &mut found).unwrap();
                for (item, found) in picked.iter().zip(found.chunks(8)) {
                    let at = 8 * usize::try_from(*item).unwrap();
                    assert_eq!(rows.get(at..at + 8), Some(found));
                }
            }
            _ => {
                reader.read_items(start as u64..end as u64, &mut part).unwrap();
                assert_eq!(rows.get(8 * start..8 * end), Some(part.as_slice()));
            }
        }
    }
}
