//! The program beside python-blosc2, which locks by a file beside the frame.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use superchunk_testkit::frame_peer::FramePeer;
use superchunk_testkit::peers::PeerKind;
use superchunk_testkit::scratch::Scratch;

use crate::program::{command, shell, words};

/// The appends of each side, unless `SUPERCHUNK_RACE_ROUNDS` is set: half of that number then.
const USUAL_APPENDS: u32 = 50;
/// Every append is one chunk of equal numbers.
const CHUNK_ITEMS: usize = 100;
/// Added to the numbers of the peer, to distinguish the two sides.
pub(crate) const PEER: u32 = 1 << 31;

pub(crate) fn chunk(number: u32) -> Vec<u8> {
    number.to_le_bytes().repeat(CHUNK_ITEMS)
}

/// Makes a frame with one chunk, number 0, and its lock file.
pub(crate) fn make_shared(folder: &Path, options: &str) {
    fs::write(folder.join("start"), []).unwrap();
    fs::write(folder.join("0"), chunk(0)).unwrap();
    shell(folder, &format!("superchunk pack start --dtype '<u4' -z 400 {options} -o shared"));
    shell(folder, "superchunk append --lock shared 0");
}

/// Fails unless these are whole chunks and those of each side are complete and in order; returns
/// the number of chunks of each side.
#[track_caller]
pub(crate) fn check_order(bytes: &[u8]) -> (u32, u32) {
    let (mut ours, mut theirs) = (0, 0);
    for found in bytes.chunks(CHUNK_ITEMS * 4) {
        let is_ours = found == chunk(ours);
        assert!(is_ours || found == chunk(PEER + theirs), "after {ours} + {theirs} chunks");
        *(if is_ours { &mut ours } else { &mut theirs }) += 1;
    }
    (ours, theirs)
}

/// Sets the flag when dropped, also by a panic, so that the readers end.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Reads the frame until the writers are done: the numbers of chunks never shrink.
fn read_until(done: &AtomicBool, folder: &Path) {
    let mut seen = (0, 0);
    while !done.load(Ordering::Acquire) {
        let read = command(folder, "cat shared --format raw").output().unwrap();
        assert!(read.status.success(), "cat: {}", words(&read));
        let found = check_order(&read.stdout);
        assert!(found.0 >= seen.0 && found.1 >= seen.1, "{found:?} after {seen:?}");
        seen = found;
        let verified = command(folder, "verify shared").output().unwrap();
        assert!(verified.status.success(), "verify: {}", words(&verified));
    }
}

fn append_in_turns(options: &str, lock_file: &str) {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    make_shared(folder, options);
    assert!(folder.join(lock_file).exists(), "--lock makes {lock_file}");
    let chosen = std::env::var("SUPERCHUNK_RACE_ROUNDS");
    let appends = chosen.map_or(USUAL_APPENDS, |rounds| rounds.parse::<u32>().unwrap() / 2);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| read_until(&done, folder));
        let _done = Done(&done);
        let ours = scope.spawn(|| {
            for number in 1..=appends {
                fs::write(folder.join("next"), chunk(number)).unwrap();
                let output = command(folder, "append shared next").output().unwrap();
                assert!(output.status.success(), "append {number}: {}", words(&output));
            }
        });
        let theirs = scope.spawn(|| {
            let mut peer = FramePeer::spawn(PeerKind::Blosc2);
            let frame = peer.open_locking(&folder.join("shared")).unwrap();
            for number in 0..appends {
                peer.append_data(frame, &chunk(PEER + number)).unwrap();
            }
            peer.close(frame).unwrap();
        });
        ours.join().unwrap();
        theirs.join().unwrap();
    });
    let read = command(folder, "cat shared --format raw").output().unwrap();
    assert_eq!(check_order(&read.stdout), (appends + 1, appends));
    let verified = command(folder, "verify shared").output().unwrap();
    assert!(verified.status.success(), "{}", words(&verified));
    assert!(folder.join(lock_file).exists(), "the lock file is never removed");
    let mut peer = FramePeer::spawn(PeerKind::Blosc2);
    let frame = peer.open_locking(&folder.join("shared")).unwrap();
    assert_eq!(check_order(&peer.read_chunks(frame).unwrap().concat()), (appends + 1, appends));
}

#[test]
fn all_appends_of_both_libraries_are_in_a_frame() {
    append_in_turns("", "shared.b2lock");
}

#[test]
fn all_appends_of_both_libraries_are_in_a_sparse_frame() {
    append_in_turns("--sparse", "shared/.b2lock");
}

/// The commands that put a new frame in the place of one.
pub(crate) const OTHERS: [&str; 6] = [
    "repack {}",
    "repack {} -c zstd",
    "pack -f zero --dtype <u4 -z 400 -o {}",
    "pack -f zero --sparse --dtype <u4 -z 400 -o {}",
    "convert -f other {}",
    "salvage -f other -o {}",
];

#[test]
fn a_lock_that_python_holds_keeps_every_writer_out() {
    for options in ["", "--sparse"] {
        let scratch = Scratch::new();
        let folder = scratch.folder();
        make_shared(folder, options);
        fs::write(folder.join("next"), chunk(1)).unwrap();
        fs::write(folder.join("zero"), chunk(0)).unwrap();
        shell(folder, "superchunk pack zero --dtype '<u4' -z 400 -o other");
        let mut peer = FramePeer::spawn(PeerKind::Blosc2);
        let held = peer.hold_lock(&folder.join("shared")).unwrap();
        assert!(peer.holds_lock(&held, Duration::from_secs(600)).unwrap());
        let others = OTHERS.map(|line| line.replace("{}", "shared"));
        let lines =
            ["append shared next", "attr set shared note 7", "tune -f other --apply shared"];
        for line in lines.into_iter().chain(others.iter().map(String::as_str)) {
            let output = command(folder, &format!("--wait 0 {line}")).output().unwrap();
            assert_eq!(output.status.code(), Some(7), "{line}: {}", words(&output));
        }
        peer.release_lock(held).unwrap();
        let output = command(folder, "append shared next").output().unwrap();
        assert!(output.status.success(), "{}", words(&output));
        let read = command(folder, "cat shared --format raw").output().unwrap();
        assert_eq!(check_order(&read.stdout), (2, 0));
    }
}
