//! Which calls count.

use std::fs;

use super::{assert_succeeded, listed, python, shell, text};
use crate::inject::{Fault, run};
use crate::scratch::Scratch;

#[test]
fn calls_are_listed_in_order() {
    let scratch = Scratch::new();
    let script = "echo abc > a; mkdir d; mv a d/b; cd d; ln -s b ../c; rm b; cd ..; rmdir ./d/";
    let ended = run(&mut shell(scratch.folder(), script), scratch.folder(), None).unwrap();
    assert_succeeded(&ended);
    assert!(!ended.injected);
    let listed = listed(scratch.folder(), &ended.calls);
    let expected = [
        ("open", "a"),
        ("write", "a"),
        ("mkdir", "d"),
        ("rename", "d/b"),
        ("symlink", "c"),
        ("unlink", "d/b"),
        ("rmdir", "d"),
    ];
    assert_eq!(listed.len(), expected.len(), "{listed:?}");
    for ((name, path), (expected_name, expected_path)) in listed.iter().zip(expected) {
        assert!(name.starts_with(expected_name), "{listed:?}");
        assert_eq!(path, expected_path);
    }
    assert_eq!(ended.calls[1].len, Some(4));
    assert_eq!(ended.calls[2].len, None);
}

/// Makes calls that shell commands rarely make.
const UNUSUAL_CALLS: &str = "
f = os.open('f', os.O_RDWR | os.O_CREAT)
g = os.open('g', os.O_RDWR | os.O_CREAT)
os.writev(f, [b'abc', b'defg'])
os.pwritev(f, [b'abc', b'd'], 8)
os.pwrite(f, b'xyz', 3)
os.copy_file_range(f, g, 5, 0, 0)
os.sendfile(g, f, 0, 6)
os.ftruncate(g, 99)
os.truncate('g', 3)
os.posix_fallocate(g, 0, 50)
os.fsync(f)
os.fdatasync(f)
os.link('f', 'h')
os.chmod('h', 0o600)
os.fchmod(g, 0o600)
os.open('g', os.O_RDONLY)
os.open('g', os.O_RDWR | os.O_TRUNC)
libc = ctypes.CDLL(None)
how = struct.pack('<QQQ', os.O_RDWR | os.O_CREAT, 0o644, 0)
libc.syscall(437, -100, b'i', how, 24)
how = struct.pack('<QQQ', os.O_RDWR, 0, 0)
libc.syscall(437, -100, b'i', how, 24)
libc.syscall(85, b'j', 0o644)
libc.fchownat(f, b'', -1, -1, 0x1000)
";

#[test]
fn unusual_calls_are_listed() {
    let scratch = Scratch::new();
    let mut command = python(scratch.folder(), UNUSUAL_CALLS);
    let ended = run(&mut command, scratch.folder(), None).unwrap();
    assert_succeeded(&ended);
    let listed = listed(scratch.folder(), &ended.calls);
    let listed: Vec<_> = listed
        .iter()
        .zip(&ended.calls)
        .map(|((name, path), call)| (*name, path.as_str(), call.len.unwrap_or(0)))
        .collect();
    let expected = [
        ("openat", "f", 0),
        ("openat", "g", 0),
        ("writev", "f", 7),
        ("pwritev", "f", 4),
        ("pwrite64", "f", 3),
        ("copy_file_range", "g", 5),
        ("sendfile", "g", 6),
        ("ftruncate", "g", 99),
        ("truncate", "g", 3),
        ("fallocate", "g", 50),
        ("fsync", "f", 0),
        ("fdatasync", "f", 0),
        ("link", "h", 0),
        ("chmod", "h", 0),
        ("fchmod", "g", 0),
        ("openat", "g", 0),
        ("openat2", "i", 0),
        ("creat", "j", 0),
        ("fchownat", "f", 0),
    ];
    assert_eq!(listed.len(), expected.len(), "{listed:?}");
    for ((name, path, length), expected) in listed.into_iter().zip(expected) {
        // Some of them have successors with a digit at the end, which newer versions of libc use.
        assert!(name.starts_with(expected.0), "{name} is not {}", expected.0);
        assert_eq!((path, length), (expected.1, expected.2), "{name}");
    }
}

#[test]
fn calls_outside_of_the_root_do_not_count() {
    let scratch = Scratch::new();
    let (inside, outside) = (scratch.path("in"), scratch.path("in-sibling"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    let script = "echo out > ../in-sibling/x; echo shown; echo error >&2; echo piped | cat
        mv ../in-sibling/x ../in-sibling/y; mv ../in-sibling/y ./y; cp y ../in-sibling/z";
    let fault = Some((1, Fault::KillBefore));
    let ended = run(&mut shell(&inside, script), &inside, fault).unwrap();
    assert_succeeded(&ended);
    assert!(!ended.injected);
    assert_eq!(text(&ended.stdout), "shown\npiped\n");
    assert_eq!(text(&ended.stderr), "error\n");
    let listed = listed(&inside, &ended.calls);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0].1, "y");
    assert!(outside.join("z").exists());
}

#[test]
fn paths_are_resolved() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("real")).unwrap();
    std::os::unix::fs::symlink("real", scratch.path("link")).unwrap();
    let script = "echo 1 > ../link/./a; rm ../real/../link/a; exec 3> b; rm b; echo 2 >&3
        mkdir missing/folder 2> /dev/null; true";
    let root = scratch.path("link");
    let ended = run(&mut shell(&root, script), &root, None).unwrap();
    assert_succeeded(&ended);
    let listed = listed(&root, &ended.calls);
    let paths: Vec<_> = listed.iter().map(|(_, path)| path.as_str()).collect();
    assert_eq!(paths, ["a", "a", "a", "b", "b", "b (deleted)", "missing/folder"]);
}
