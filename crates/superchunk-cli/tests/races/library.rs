//! The library in a process that starts others. A child has copies of all descriptors until it
//! executes its program; these copies must not keep a lock alive.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use superchunk::bcolz::ArrayOptions;
use superchunk::bloscpack::{Pack, PackOptions};
use superchunk::frame::{Durability, Kind};
use superchunk::{
    CompressOptions, FrameOptions, Json, OpenOptions, Result, SuperChunk, Value, bcolz, blsk,
};
use superchunk_testkit::scratch::Scratch;

const EDITS: u64 = 2000;
const STARTING_THREADS: usize = 2;

/// Edits in a loop while other threads start processes; no edit may find the container locked.
#[track_caller]
fn edits_are_never_refused(mut edit: impl FnMut(u64) -> Result<()>) {
    let done = AtomicBool::new(false);
    let refused = thread::scope(|scope| {
        for _ in 0..STARTING_THREADS {
            scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    assert!(Command::new("true").status().unwrap().success());
                }
            });
        }
        let refused = (0..EDITS).find_map(|number| Some((number, edit(number).err()?)));
        done.store(true, Ordering::Release);
        refused
    });
    assert!(refused.is_none(), "edit and error: {refused:?}");
}

/// Locks matter here, not power cuts.
fn options() -> OpenOptions {
    OpenOptions::new().with_durability(Durability::Process)
}

fn frames_can_be_edited(kind: Kind) {
    let scratch = Scratch::new();
    let path = scratch.path("frame");
    let created = FrameOptions::new(CompressOptions::new(8)).with_kind(kind);
    SuperChunk::create(&path, &created).unwrap().close().unwrap();
    edits_are_never_refused(|number| {
        let mut frame = SuperChunk::edit_with(&path, &options())?;
        frame.set_attribute("number", Value::from(number))?;
        frame.close()
    });
}

#[test]
fn a_process_that_starts_others_can_edit_a_frame() {
    frames_can_be_edited(Kind::Contiguous);
}

#[test]
fn a_process_that_starts_others_can_edit_a_sparse_frame() {
    frames_can_be_edited(Kind::Sparse);
}

#[test]
fn a_process_that_starts_others_can_edit_a_bloscpack_file() {
    let scratch = Scratch::new();
    let path = scratch.path("file.blp");
    let mut pack = Pack::create(&path, &PackOptions::new()).unwrap();
    pack.append(&[7; 1000]).unwrap();
    pack.close().unwrap();
    edits_are_never_refused(|number| {
        let mut pack = Pack::edit(&path)?;
        pack.set_metadata(Some(Json::from(number)))?;
        pack.close()
    });
}

#[test]
fn a_process_that_starts_others_can_edit_a_bcolz_array() {
    let scratch = Scratch::new();
    let path = scratch.path("array.bcolz");
    bcolz::Array::create(&path, &ArrayOptions::of::<i64>()).unwrap().close().unwrap();
    edits_are_never_refused(|number| {
        let mut array = bcolz::Array::edit_with(&path, &options())?;
        array.set_attribute("number", number)?;
        array.close()
    });
}

#[test]
fn a_process_that_starts_others_can_edit_a_blsk_tree() {
    let scratch = Scratch::new();
    let path = scratch.path("array.blsk");
    let array = blsk::Array::create(&path, &blsk::ArrayOptions::of::<i64>());
    array.unwrap().close().unwrap();
    edits_are_never_refused(|number| {
        let mut array = blsk::Array::edit_with(&path, &options())?;
        array.set_attribute("number", number)?;
        array.close()
    });
}
