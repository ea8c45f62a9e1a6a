//! A reader of an array whose folder another one takes the place of.

use std::fs;
use std::sync::Arc;

use superchunk::bcolz::{Array, ArrayOptions};
use superchunk::store::Folder;
use superchunk::{ErrorKind, OpenOptions};
use superchunk_testkit::scratch::Scratch;

#[test]
fn what_is_missing_of_an_array_that_was_replaced_is_no_damage() {
    let scratch = Scratch::new();
    let path = scratch.path("array");
    let create = || Array::create(&path, &ArrayOptions::of::<i32>()).unwrap().close().unwrap();
    create();
    let old = Arc::new(Folder::open(&path).unwrap());
    fs::rename(&path, scratch.path("old")).unwrap();
    create();
    fs::remove_dir_all(scratch.path("old/meta")).unwrap();
    let error = Array::open_in_dir(old, &OpenOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
}
