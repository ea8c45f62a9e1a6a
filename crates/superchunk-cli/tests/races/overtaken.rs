//! python-blosc2 appends, and makes the lock file, while a command is at work that puts a new frame in
//! the place of the one appended to.

use std::fs::{self, File};
use std::path::Path;

use superchunk_testkit::frame_peer::FramePeer;
use superchunk_testkit::inject;
use superchunk_testkit::peers::PeerKind;
use superchunk_testkit::scratch::Scratch;

use crate::program::{command, copy_folder, shell, words};
use crate::python::{OTHERS, PEER, check_order, chunk, make_shared};

#[test]
fn an_append_of_python_that_makes_the_lock_file_survives_every_replacing() {
    let mut peer = FramePeer::spawn(PeerKind::Blosc2);
    for options in ["", "--sparse"] {
        let template = Scratch::new();
        make_shared(template.folder(), options);
        fs::write(template.path("zero"), chunk(0)).unwrap();
        shell(template.folder(), "superchunk pack -f zero --dtype '<u4' -z 400 -o other");
        shell(template.folder(), "rm -f shared.b2lock shared/.b2lock");
        for line in OTHERS.map(|line| line.replace("{}", "shared")) {
            check_replacing(&mut peer, template.folder(), &line);
        }
    }
}

/// Lets the peer append before every call of a command that changes files.
fn check_replacing(peer: &mut FramePeer, template: &Path, line: &str) {
    let scratch = Scratch::new();
    let (folder, mut appends) = (scratch.path("round"), 0);
    let shared = folder.join("shared");
    for number in 0.. {
        copy_folder(template, &folder).unwrap();
        let mut has_appended = false;
        let act = || has_appended = append_unless_locked(peer, &shared);
        let ended = inject::run_beside(&mut command(&folder, line), &folder, number, act).unwrap();
        if number >= ended.calls.len() {
            break;
        }
        let place = format!("{line}: before call {number}, {:?}", ended.calls[number]);
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        let code = ended.status.code();
        assert!(code == Some(0) || has_appended && code == Some(7), "{place}: {code:?} {said}");
        let read = command(&folder, "cat shared --format raw").output().unwrap();
        assert!(read.status.success(), "{place}: {}", words(&read));
        let found = check_order(&read.stdout);
        // Other commands begin again, and replace what was appended before.
        let is_replaced = !line.starts_with("repack") && code == Some(0) && found == (1, 0);
        let is_kept = found == (1, u32::from(has_appended));
        assert!(is_kept || is_replaced, "{place}: {found:?} {code:?} {said}");
        appends += u32::from(has_appended);
    }
    assert!(appends > 0, "{line}: the lock file was taken from the start");
}

/// Appends to a frame as python-blosc2 does with `locking=True`, unless somebody has the lock file,
/// which this makes; returns whether it has appended.
fn append_unless_locked(peer: &mut FramePeer, frame: &Path) -> bool {
    let lock_file =
        if frame.is_dir() { frame.join(".b2lock") } else { frame.with_extension("b2lock") };
    let lock_file = File::options().create(true).append(true).open(lock_file).unwrap();
    if lock_file.try_lock().is_err() {
        return false;
    }
    lock_file.unlock().unwrap();
    let handle = peer.open_locking(frame).unwrap();
    peer.append_data(handle, &chunk(PEER)).unwrap();
    peer.close(handle).unwrap();
    true
}
