//! Folders of real files.

use std::fs;

use super::*;
use crate::error::ErrorKind;
use crate::store::file::scratch::Scratch;

fn kind<T>(result: Result<T>) -> ErrorKind {
    result.err().unwrap().kind()
}

#[test]
fn a_folder_creates_renames_and_removes() {
    let scratch = Scratch::new();
    let folder = Folder::create(scratch.path("frame")).unwrap();
    folder.create("a").unwrap().write_at(0, b"1").unwrap();
    folder.create("b").unwrap().write_at(0, b"22").unwrap();
    assert_eq!(kind(folder.create("a")), ErrorKind::Io);
    let old = folder.open("a").unwrap();
    folder.rename("b", "a").unwrap();
    folder.sync().unwrap();
    assert_eq!(folder.names().unwrap(), ["a"]);
    // Who has the old one open keeps it.
    assert_eq!(old.len().unwrap(), 1);
    assert_eq!(folder.edit("a").unwrap().len().unwrap(), 2);
    assert_eq!(fs::read(scratch.path("frame/a")).unwrap(), b"22");
    folder.remove("a").unwrap();
    assert_eq!(kind(folder.open("a")), ErrorKind::NotFound);
    assert_eq!(kind(folder.edit("a")), ErrorKind::NotFound);
    assert_eq!(kind(folder.remove("a")), ErrorKind::NotFound);
    assert_eq!(kind(folder.rename("a", "b")), ErrorKind::NotFound);
    assert!(folder.names().unwrap().is_empty());
}

#[test]
fn a_folder_is_made_once_and_opened_as_a_directory_only() {
    let scratch = Scratch::new();
    let path = scratch.path("frame");
    assert_eq!(kind(Folder::open(&path)), ErrorKind::NotFound);
    assert_eq!(kind(Folder::create(path.join("below"))), ErrorKind::NotFound);
    assert_eq!(Folder::create(&path).unwrap().path(), path);
    let error = Folder::create(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().starts_with(&path.display().to_string()));
    fs::write(scratch.path("file"), "").unwrap();
    assert_eq!(kind(Folder::open(scratch.path("file"))), ErrorKind::InvalidArgument);
    #[cfg(unix)]
    assert_eq!(kind(Folder::open(scratch.fifo("fifo"))), ErrorKind::InvalidArgument);
}

/// A reader of the old folder must not take what is being removed for damage.
#[cfg(unix)]
#[test]
fn what_is_missing_of_a_folder_that_was_replaced_has_changed() {
    let scratch = Scratch::new();
    let path = scratch.path("tree");
    let data = Folder::create(&path).unwrap().create_folder("data").unwrap();
    data.create("chunk").unwrap();
    let root = Folder::open(&path).unwrap();
    let data = root.open_folder("data").unwrap();
    fs::rename(&path, scratch.path("old")).unwrap();
    // The folder was only moved: what it lacks is missing.
    assert_eq!(kind(data.open("other")), ErrorKind::NotFound);
    Folder::create(&path).unwrap();
    assert!(data.open("chunk").is_ok());
    assert_eq!(kind(data.open("other")), ErrorKind::Changed);
    fs::remove_dir_all(scratch.path("old/data")).unwrap();
    assert_eq!(kind(data.open("chunk")), ErrorKind::Changed);
    assert_eq!(kind(root.open_folder("data")), ErrorKind::Changed);
    fs::remove_dir(&path).unwrap();
    assert_eq!(kind(root.open_folder("data")), ErrorKind::NotFound);
}

#[test]
fn a_path_is_cut_into_its_folder_and_its_name() {
    let scratch = Scratch::new();
    let (folder, name) = Folder::parent_of(scratch.path("x.b2frame")).unwrap();
    assert_eq!((folder.path(), &*name), (scratch.path("x").parent().unwrap(), "x.b2frame"));
    let (folder, name) = Folder::parent_of("x.b2frame").unwrap();
    assert_eq!((folder.path(), &*name), (Path::new("."), "x.b2frame"));
    for path in ["/", "", "a/..", ".."] {
        assert_eq!(kind(Folder::parent_of(path)), ErrorKind::InvalidArgument);
    }
    assert_eq!(kind(Folder::parent_of(scratch.path("none/x"))), ErrorKind::NotFound);
}

#[test]
fn names_stay_inside_of_their_folder() {
    let scratch = Scratch::new();
    fs::write(scratch.path("outside"), "").unwrap();
    let folder = Folder::create(scratch.path("frame")).unwrap();
    folder.create("a").unwrap();
    let absolute = scratch.path("outside");
    for name in ["", ".", "..", "../outside", "x/../a", "a\\b", "a\0", absolute.to_str().unwrap()] {
        assert_eq!(kind(folder.open(name)), ErrorKind::InvalidArgument);
        assert_eq!(kind(folder.edit(name)), ErrorKind::InvalidArgument);
        assert_eq!(kind(folder.create(name)), ErrorKind::InvalidArgument);
        assert_eq!(kind(folder.remove(name)), ErrorKind::InvalidArgument);
        assert_eq!(kind(folder.rename(name, "b")), ErrorKind::InvalidArgument);
        assert_eq!(kind(folder.rename("a", name)), ErrorKind::InvalidArgument);
    }
    assert_eq!(folder.names().unwrap(), ["a"]);
}

#[test]
#[cfg(unix)]
fn nothing_but_regular_files_is_touched_or_listed() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    fs::write(scratch.path("outside"), "secret").unwrap();
    let folder = Folder::create(scratch.path("frame")).unwrap();
    fs::create_dir(scratch.path("frame/directory")).unwrap();
    scratch.fifo("frame/fifo");
    std::os::unix::fs::symlink("../outside", scratch.path("frame/link")).unwrap();
    std::os::unix::fs::symlink("nowhere", scratch.path("frame/dangling")).unwrap();
    let not_utf8 = OsStr::from_bytes(b"frame/\xff");
    fs::write(scratch.path("").join(not_utf8), "").unwrap();
    folder.create("file").unwrap();
    for name in ["directory", "fifo", "link", "dangling"] {
        assert_eq!(kind(folder.open(name)), ErrorKind::InvalidArgument, "{name}");
        assert_eq!(kind(folder.edit(name)), ErrorKind::InvalidArgument, "{name}");
        assert_eq!(kind(folder.create(name)), ErrorKind::Io, "{name}");
        assert_eq!(kind(folder.remove(name)), ErrorKind::InvalidArgument, "{name}");
        assert_eq!(kind(folder.rename(name, "new")), ErrorKind::InvalidArgument, "{name}");
    }
    assert_eq!(kind(folder.rename("file", "directory")), ErrorKind::Io);
    assert_eq!(folder.names().unwrap(), ["file"]);
    // A link that is in the way is replaced itself, not what it leads to.
    folder.rename("file", "link").unwrap();
    assert_eq!(fs::read(scratch.path("outside")).unwrap(), b"secret");
    assert_eq!(folder.open("link").unwrap().len().unwrap(), 0);
}

#[test]
#[cfg(unix)]
fn a_name_that_is_not_text_has_a_stand_in() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    let path = scratch.path("").join(OsStr::from_bytes(b"caf\xe9"));
    let (folder, name) = Folder::parent_of(&path).unwrap();
    assert_eq!(name, "caf\u{fffd}");
    folder.create(&name).unwrap().write_at(0, b"old").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    folder.create("new").unwrap().write_at(0, b"new").unwrap();
    folder.publish("new", &name).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(folder.found(&name).unwrap(), Some(NameKind::File));
    // Another handle takes the text for itself.
    assert_eq!(kind(Folder::open(scratch.path("")).unwrap().open(&name)), ErrorKind::NotFound);
    folder.remove(&name).unwrap();
    assert!(!path.exists());
}

#[test]
fn folders_hold_folders() {
    let scratch = Scratch::new();
    let root = Folder::create(scratch.path("root")).unwrap();
    let inner = root.create_folder("data").unwrap();
    inner.create("a").unwrap();
    assert_eq!(root.open_folder("data").unwrap().names().unwrap(), ["a"]);
    assert_eq!(kind(root.create_folder("data")), ErrorKind::Io);
    root.create("b").unwrap();
    assert_eq!(kind(root.rename_folder("data", "b")), ErrorKind::InvalidArgument);
    assert_eq!(kind(root.open_folder("b")), ErrorKind::InvalidArgument);
    root.rename_folder("data", "other").unwrap();
    assert_eq!(root.names().unwrap(), ["b"]);
    assert_eq!(root.folder_names().unwrap(), ["other"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("other", scratch.path("root/link")).unwrap();
        assert_eq!(kind(root.open_folder("link")), ErrorKind::InvalidArgument);
        assert_eq!(kind(root.remove_folder("link")), ErrorKind::InvalidArgument);
    }
    root.remove_folder("other").unwrap();
    assert_eq!(kind(root.open_folder("other")), ErrorKind::NotFound);
}

#[test]
fn what_the_system_refuses_is_told_by_name() {
    let scratch = Scratch::new();
    let folder = Folder::create(scratch.path("frame")).unwrap();
    folder.create("a").unwrap();
    let too_long = "x".repeat(300);
    for error in [
        folder.create(&too_long).err(),
        folder.open(&too_long).err(),
        folder.rename("a", &too_long).err(),
    ] {
        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().starts_with(&scratch.path("frame").display().to_string()));
    }
    fs::remove_file(scratch.path("frame/a")).unwrap();
    fs::remove_dir(scratch.path("frame")).unwrap();
    // Where it is used by its descriptor, it is an empty one.
    assert!(folder.names().unwrap_or_default().is_empty());
    assert_eq!(kind(folder.create("a")), ErrorKind::NotFound);
}

#[test]
#[cfg(unix)]
fn one_handle_locks_until_it_is_dropped() {
    let scratch = Scratch::new();
    let first = Folder::create(scratch.path("frame")).unwrap();
    let second = Folder::open(scratch.path("frame")).unwrap();
    first.lock().unwrap();
    assert_eq!(kind(second.lock()), ErrorKind::Locked);
    drop(first);
    second.lock().unwrap();
}
