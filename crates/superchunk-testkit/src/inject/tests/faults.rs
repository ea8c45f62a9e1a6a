//! What each fault does to a call.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{assert_killed, assert_succeeded, blocks, disturb, four_blocks, python, run_with};
use super::{shell, text};
use crate::inject::Fault;

#[test]
fn a_kill_before_a_call_prevents_it() {
    let (scratch, ended) = disturb(four_blocks, ("write", 2), Fault::KillBefore);
    assert_killed(&ended);
    assert_eq!(fs::read(scratch.path("x")).unwrap(), blocks()[..8192]);
    assert_eq!(ended.calls.iter().filter(|call| call.name == "write").count(), 3);

    let (make, prepare) = rename();
    let (scratch, ended) = run_with(make, prepare, ("rename", 0), Fault::KillBefore);
    assert_killed(&ended);
    assert!(scratch.path("a").exists() && !scratch.path("b").exists());
}

#[test]
fn a_kill_inside_a_call_leaves_its_effect() {
    let (scratch, ended) = disturb(four_blocks, ("write", 2), Fault::KillInside);
    assert_killed(&ended);
    assert_eq!(fs::read(scratch.path("x")).unwrap(), blocks()[..8192 + 2048]);

    // The shell that waits for `mv` is killed as well.
    let (make, prepare) = rename();
    let (scratch, ended) = run_with(make, prepare, ("rename", 0), Fault::KillInside);
    assert_killed(&ended);
    assert!(!scratch.path("a").exists() && scratch.path("b").exists());
    assert!(!scratch.path("done").exists());
    assert_eq!(text(&ended.stdout), "before\n");
}

type Make = fn(&Path) -> Command;
type Prepare = fn(&Path);

/// Returns a command that renames `a` to `b`, and what it needs.
fn rename() -> (Make, Prepare) {
    let make: Make = |folder| shell(folder, "echo before; mv a b; echo after; echo > done");
    let prepare: Prepare = |folder| fs::write(folder.join("a"), "1").unwrap();
    (make, prepare)
}

#[test]
fn a_call_fails_once() {
    let (scratch, ended) = disturb(four_blocks, ("write", 1), Fault::Once(libc::ENOSPC));
    assert!(ended.injected);
    assert_eq!(ended.status.code(), Some(1));
    assert!(text(&ended.stderr).contains("No space left on device"), "{ended:?}");
    assert_eq!(fs::read(scratch.path("x")).unwrap(), blocks()[..4096]);

    let make = |folder: &Path| shell(folder, "mkdir a; mkdir b; mkdir c");
    let (scratch, ended) = disturb(make, ("mkdir", 1), Fault::Once(libc::EIO));
    assert_succeeded(&ended);
    assert!(text(&ended.stderr).contains("Input/output error"), "{ended:?}");
    assert!(scratch.path("a").exists() && !scratch.path("b").exists());
    assert!(scratch.path("c").exists());
}

#[test]
fn interrupted_calls_are_repeated() {
    let make = |folder: &Path| {
        python(folder, "f = os.open('x', 65)\nassert os.write(f, b'hello') == 5\nos.fsync(f)")
    };
    for (name, count) in [("openat", 4), ("write", 4), ("fsync", 4)] {
        let (scratch, ended) = disturb(make, (name, 0), Fault::Once(libc::EINTR));
        assert_succeeded(&ended);
        assert!(ended.injected);
        assert_eq!(ended.calls.len(), count, "{:?}", ended.calls);
        assert_eq!(fs::read(scratch.path("x")).unwrap(), b"hello");
    }
}

/// Tries every kind of change and prints which ones fail.
const ALL_KINDS: &str = "
def attempt(name, change):
    try:
        change()
    except OSError as error:
        print(name, error.errno)
f = os.open('old', os.O_RDWR | os.O_CREAT)
os.chmod('old', 0o600)
attempt('write', lambda: os.write(f, b'12'))
attempt('shrink', lambda: os.ftruncate(f, 4))
attempt('grow', lambda: os.ftruncate(f, 9))
attempt('grow by name', lambda: os.truncate('old', 9))
attempt('allocate', lambda: os.posix_fallocate(f, 0, 20))
attempt('create', lambda: os.open('new', os.O_RDWR | os.O_CREAT))
attempt('open', lambda: os.open('old', os.O_RDWR | os.O_CREAT))
attempt('mkdir', lambda: os.mkdir('folder'))
attempt('link', lambda: os.link('old', 'linked'))
attempt('fsync', lambda: os.fsync(f))
attempt('rename', lambda: os.rename('old', 'renamed'))
attempt('unlink', lambda: os.unlink('renamed'))
";

#[test]
fn a_full_disk_stays_full() {
    let prepare = |folder: &Path| fs::write(folder.join("old"), "12345").unwrap();
    let make = |folder: &Path| python(folder, ALL_KINDS);
    let kinds = ["write", "grow", "grow by name", "allocate", "create", "mkdir", "link"];
    let expected = |kinds: &[&str], errno: i32| -> String {
        kinds.iter().map(|kind| format!("{kind} {errno}\n")).collect()
    };

    // The chosen call, a change of the mode, stays possible.
    let fault = Fault::FromThenOn(libc::ENOSPC);
    let (scratch, ended) = run_with(make, prepare, ("chmod", 0), fault);
    assert_succeeded(&ended);
    assert!(ended.injected);
    assert_eq!(text(&ended.stdout), expected(&kinds, libc::ENOSPC));
    assert_eq!(fs::read_dir(scratch.folder()).unwrap().count(), 0);

    let fault = Fault::FromThenOn(libc::EIO);
    let (_, ended) = run_with(make, prepare, ("ftruncate", 0), fault);
    let kinds = [&kinds[1..], &["fsync"]].concat();
    assert_eq!(text(&ended.stdout), expected(&kinds, libc::EIO));
}

#[test]
fn short_writes_are_continued() {
    let (scratch, ended) = disturb(four_blocks, ("write", 1), Fault::Short);
    assert_succeeded(&ended);
    assert!(ended.injected);
    assert_eq!(fs::read(scratch.path("x")).unwrap(), blocks());
    let writes = ended.calls.iter().filter(|call| call.name == "write");
    let lengths: Vec<_> = writes.map(|call| call.len.unwrap()).collect();
    assert_eq!(lengths, [4096, 4096, 2048, 4096, 4096]);

    let (scratch, ended) = disturb(four_blocks, ("write", 1), Fault::ShortThen(libc::ENOSPC));
    assert_eq!(ended.status.code(), Some(1));
    assert!(text(&ended.stderr).contains("No space left on device"), "{ended:?}");
    assert_eq!(fs::read(scratch.path("x")).unwrap(), blocks()[..4096 + 2048]);
}

#[test]
fn only_writes_of_several_bytes_are_shortened() {
    let make = |folder: &Path| shell(folder, "mkdir d; printf 1 > x; mkdir e");
    for name in ["mkdir", "write"] {
        let (scratch, ended) = disturb(make, (name, 0), Fault::Short);
        assert_succeeded(&ended);
        assert!(!ended.injected);
        assert_eq!(fs::read(scratch.path("x")).unwrap(), b"1");
    }
    let (scratch, ended) = disturb(make, ("mkdir", 0), Fault::ShortThen(libc::EIO));
    assert!(ended.injected && !scratch.path("d").exists() && scratch.path("e").exists());
    let (scratch, ended) = disturb(make, ("write", 0), Fault::ShortThen(libc::EIO));
    assert!(ended.injected && scratch.path("d").exists() && !scratch.path("e").exists());
    let (scratch, ended) = disturb(make, ("write", 0), Fault::KillInside);
    assert_killed(&ended);
    assert_eq!(fs::read(scratch.path("x")).unwrap(), b"");
}

#[test]
fn all_kinds_of_writes_are_shortened() {
    let cases = [
        ("pwrite64", "os.pwrite(f, b'12345678', 2)", "\0\x001234"),
        ("writev", "os.writev(f, [b'12', b'', b'345678', b'9a'])", "12345"),
        ("pwritev", "os.pwritev(f, [b'1234', b'5678'], 0)", "1234"),
        ("sendfile", "os.sendfile(f, s, 1, 6)", "bcd"),
        ("copy_file_range", "os.copy_file_range(s, f, 6, 1, 0)", "bcd"),
    ];
    for (name, call, expected) in cases {
        let prepare = |folder: &Path| fs::write(folder.join("s"), "abcdefgh").unwrap();
        let make = |folder: &Path| {
            let open = "f = os.open('x', os.O_RDWR | os.O_CREAT)\ns = os.open('s', 0)";
            python(folder, &format!("{open}\nprint({call})"))
        };
        let (scratch, ended) = run_with(make, prepare, (name, 0), Fault::Short);
        assert_succeeded(&ended);
        assert_eq!(text(&fs::read(scratch.path("x")).unwrap()), expected, "{name}");
        assert_eq!(text(&ended.stdout).trim(), expected.trim_matches('\0').len().to_string());
        let (scratch, ended) = run_with(make, prepare, (name, 0), Fault::KillInside);
        assert_killed(&ended);
        assert_eq!(text(&fs::read(scratch.path("x")).unwrap()), expected, "{name}");
    }
}

#[test]
fn arguments_are_restored_after_a_short_write() {
    // An `iovec` array that is used twice.
    let script = "
f = os.open('x', os.O_RDWR | os.O_CREAT)
a, b = ctypes.create_string_buffer(b'abc'), ctypes.create_string_buffer(b'defgh')
v = struct.pack('<QQQQ', ctypes.addressof(a), 3, ctypes.addressof(b), 5)
libc = ctypes.CDLL(None)
print(libc.writev(f, v, 2), libc.writev(f, v, 2))
";
    let make = |folder: &Path| python(folder, script);
    let (scratch, ended) = disturb(make, ("writev", 0), Fault::Short);
    assert_eq!(text(&ended.stdout), "4 8\n");
    assert_eq!(fs::read(scratch.path("x")).unwrap(), b"abcdabcdefgh");

    // Machine code: mov eax, 1; syscall; mov rax, rdx; ret. Returns its third argument.
    let script = "
f = os.open('x', os.O_RDWR | os.O_CREAT)
m = mmap.mmap(-1, 4096, prot=7)
m.write(bytes.fromhex('b8010000000f054889d0c3'))
kind = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long, ctypes.c_char_p, ctypes.c_long)
print(kind(ctypes.addressof(ctypes.c_char.from_buffer(m)))(f, b'abcdefgh', 8))
";
    let make = |folder: &Path| python(folder, script);
    let (scratch, ended) = disturb(make, ("write", 0), Fault::Short);
    assert_eq!(text(&ended.stdout), "8\n", "{ended:?}");
    assert_eq!(fs::read(scratch.path("x")).unwrap(), b"abcd");
}
