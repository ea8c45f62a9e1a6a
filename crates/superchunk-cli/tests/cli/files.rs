//! Everything about files besides their content: links, modes, owners, access lists, temporary
//! files, and the state after signals and limits.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use crate::shell::{Said, Shell, npy, readings};

/// The containers of [`with_containers`] and the commands that change or replace each.
const CHANGES: [(&str, &[&str]); 7] = [
    ("data.b2frame", &FRAME),
    ("data.sparse", &SPARSE),
    ("array.b2nd", &["append {} a.npy", "attr set {} note 7", "repack {}", "repack {} -c zstd"]),
    ("data.blp", &["append {} data.f8", "attr set {} note 7", "repack {} -c zstd"]),
    ("names.b2frame", &["append {} names.txt", "attr set {} note 7", "repack {} -c zstd"]),
    ("rows.bcolz", &["append {} rows.csv", "attr set {} note 7", "convert -f rows.csv {}"]),
    ("rows.blsk", &["append {} rows.csv", "attr set {} note 7", "convert -f rows.csv {}"]),
];
const FRAME: [&str; 7] = [
    "append {} data.f8",
    "attr set {} note 7",
    "repack {}",
    "repack {} -c zstd",
    "convert -f data.blp {}",
    "pack -f data.f8 -o {}",
    "salvage -f names.b2frame -o {}",
];
const SPARSE: [&str; 5] = [
    "append {} data.f8",
    "attr set {} note 7",
    "repack {}",
    "repack {} -c zstd",
    "convert -f data.b2frame {} --to sparse",
];

/// Makes one container of each kind. The frames have dead space for `repack` to drop.
fn with_containers() -> Shell {
    let shell = Shell::new();
    shell.write("data.f8", &readings(3000));
    shell.write("a.npy", &npy(&[50, 4]));
    shell.write("names.txt", b"one\ntwo\nthree\n");
    shell.write("rows.csv", b"number,price\n1,1.5\n2,2.5\n3,3.5\n");
    for line in [
        "pack data.f8 -t 8 -z 8K -c lz4 -o data.b2frame",
        "pack data.f8 -t 8 -z 4K -c lz4 --sparse -o data.sparse",
        "pack a.npy -c lz4 -o array.b2nd",
        "pack data.f8 -t 8 -z 8K -c lz4 -o data.blp",
        "pack names.txt --varlen -c lz4 -o names.b2frame",
        "convert rows.csv rows.bcolz",
        "convert rows.csv rows.blsk",
    ] {
        shell.run(line).succeeds();
    }
    for (name, value) in ["data.b2frame", "data.sparse", "array.b2nd"].into_iter().zip(0..) {
        shell.run(&format!("attr set {name} dead {value}")).succeeds();
        shell.run(&format!("attr rm {name} dead")).succeeds();
    }
    shell
}

/// Everything at or below a path, with what `of` returns for it.
fn below<T>(path: &Path, of: &impl Fn(&fs::Metadata) -> T) -> BTreeMap<String, T> {
    let found = fs::symlink_metadata(path).unwrap();
    let mut all = BTreeMap::from([(path.display().to_string(), of(&found))]);
    if found.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            all.extend(below(&entry.unwrap().path(), of));
        }
    }
    all
}

fn mode(metadata: &fs::Metadata) -> u32 {
    metadata.permissions().mode() & 0o7777
}

/// Runs every change, each on a fresh container after `prepare`, and then `check`.
fn after_every_change(prepare: impl Fn(&Shell, &str), check: impl Fn(&Shell, &str, &str)) {
    for (name, lines) in CHANGES {
        for line in lines {
            let shell = with_containers();
            prepare(&shell, name);
            let line = line.replace("{}", name);
            shell.run(&line).succeeds();
            check(&shell, name, &line);
        }
    }
}

#[test]
fn a_link_stays_a_link_and_its_target_changes() {
    let bytes = |path: &Path| match path.is_dir() {
        true => fs::read(path.join("chunks.b2frame")).unwrap_or_default(),
        false => fs::read(path).unwrap(),
    };
    for (name, lines) in [("data.b2frame", FRAME.as_slice()), ("data.sparse", &SPARSE)] {
        for line in lines {
            let shell = with_containers();
            let (link, target) = (shell.path(name), shell.path("elsewhere/target"));
            fs::create_dir(shell.path("elsewhere")).unwrap();
            fs::rename(&link, &target).unwrap();
            symlink("elsewhere/target", &link).unwrap();
            let (names, before) = (shell.names(), bytes(&target));
            shell.run(&line.replace("{}", name)).succeeds();
            assert_eq!(fs::read_link(&link).unwrap(), Path::new("elsewhere/target"), "{line}");
            // There may be no dead space to drop.
            let is_compact = *line == "repack {}";
            assert!(is_compact || bytes(&target) != before, "{line}");
            assert_eq!(shell.names(), names, "{line}");
            assert_eq!(fs::read_dir(shell.path("elsewhere")).unwrap().count(), 1, "{line}");
        }
    }
}

#[test]
fn what_is_private_stays_private() {
    let make_private = |shell: &Shell, name: &str| {
        for path in below(&shell.path(name), &|_| ()).into_keys() {
            let mode = if Path::new(&path).is_dir() { 0o700 } else { 0o600 };
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
    };
    after_every_change(make_private, |shell, name, line| {
        let expected = |found: &fs::Metadata| {
            let expected = if found.is_dir() { 0o700 } else { 0o600 };
            (format!("{:o}", mode(found)), format!("{expected:o}"))
        };
        for (path, (mode, expected)) in below(&shell.path(name), &expected) {
            assert_eq!(mode, expected, "{line}: {path}");
        }
    });
}

#[test]
fn new_files_have_the_usual_mode() {
    let shell = with_containers();
    for (line, name) in [
        ("pack data.f8 -o new", "new"),
        ("pack data.f8 --sparse -o new", "new"),
        ("pack data.f8 -o new.blp", "new.blp"),
        ("pack a.npy -o new.b2nd", "new.b2nd"),
        ("pack names.txt --varlen -o new", "new"),
        ("unpack data.b2frame -o new", "new"),
        ("repack data.b2frame -o new", "new"),
        ("repack data.sparse --sparse -o new", "new"),
        ("salvage data.b2frame -o new", "new"),
        ("salvage rows.bcolz -o new", "new"),
        ("convert rows.csv new.bcolz", "new.bcolz"),
        ("convert rows.csv new.blsk", "new.blsk"),
        ("convert rows.bcolz new --to columns", "new"),
        ("convert rows.bcolz new.csv", "new.csv"),
    ] {
        shell.sh(&format!("umask 027; superchunk {line}")).succeeds();
        for (path, (mode, is_folder)) in below(&shell.path(name), &|f| (mode(f), f.is_dir())) {
            let expected = if is_folder { 0o750 } else { 0o640 };
            assert_eq!(format!("{mode:o}"), format!("{expected:o}"), "{line}: {path}");
        }
        shell.sh(&format!("rm -r {name}")).succeeds();
    }
}

/// Returns an owner and a group that this user can give to a file. Root can give any; other users
/// keep the owner and can give one of their groups, if possible not the one that new files have.
fn other_ids(shell: &Shell) -> (u32, u32) {
    let usual = fs::metadata(shell.path("data.f8")).unwrap();
    if usual.uid() == 0 {
        return (1234, 2345);
    }
    let groups = shell.sh("id -G").succeeds();
    let mut groups = groups.text().split_whitespace().map(|group| group.parse().unwrap());
    (usual.uid(), groups.find(|group| *group != usual.gid()).unwrap_or(usual.gid()))
}

#[test]
fn owner_and_group_stay() {
    let give_away = |shell: &Shell, name: &str| {
        let (owner, group) = other_ids(shell);
        for path in below(&shell.path(name), &|_| ()).into_keys() {
            chown(path, Some(owner), Some(group)).unwrap();
        }
    };
    after_every_change(give_away, |shell, name, line| {
        let (owner, group) = other_ids(shell);
        let found = fs::metadata(shell.path(name)).unwrap();
        assert_eq!((found.uid(), found.gid()), (owner, group), "{line}");
    });
}

/// Sets an extended attribute to a value in hexadecimal digits, or without a value returns it; the
/// result is empty if there is no such attribute.
fn xattr(path: &Path, name: &str, value: Option<&str>) -> String {
    let script = "import os, sys\n\
                  path, name, *value = sys.argv[1:]\n\
                  if value:\n\
                  \x20   os.setxattr(path, name, bytes.fromhex(value[0]))\n\
                  elif name in os.listxattr(path):\n\
                  \x20   print(os.getxattr(path, name).hex())\n";
    let mut command = Command::new("python3");
    command.args(["-c", script]).arg(path).arg(name).args(value);
    Said::from(command.output().unwrap()).succeeds().text().trim().to_owned()
}

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// An access list as Linux stores it: version 2, then tag, permissions and id of each entry. User
/// 1234 can do everything, the group can read, others can do nothing.
fn access_list() -> String {
    let nobody = u32::MAX;
    let entries = [(1, 7, nobody), (2, 7, 1234), (4, 5, nobody), (16, 7, nobody), (32, 0, nobody)];
    let entry = |(tag, permissions, id): (u16, u16, u32)| {
        [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let bytes = 2u32.to_le_bytes().into_iter().chain(entries.into_iter().flat_map(entry));
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn an_access_list_stays() {
    for (name, lines) in [("data.b2frame", FRAME.as_slice()), ("data.sparse", &SPARSE)] {
        for line in lines {
            let shell = with_containers();
            xattr(&shell.path(name), ACCESS, Some(&access_list()));
            let before = fs::metadata(shell.path(name)).unwrap();
            shell.run(&line.replace("{}", name)).succeeds();
            assert_eq!(xattr(&shell.path(name), ACCESS, None), access_list(), "{line}");
            assert_eq!(mode(&fs::metadata(shell.path(name)).unwrap()), mode(&before), "{line}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn new_files_have_the_access_list_of_the_folder() {
    let shell = with_containers();
    xattr(&shell.path(""), DEFAULT, Some(&access_list()));
    // What a shell makes here shows what is usual.
    shell.sh(": > file; mkdir folder; : > folder/file").succeeds();
    let lists = |name: &str| {
        let path = shell.path(name);
        let found = fs::metadata(&path).unwrap();
        let default = if found.is_dir() { xattr(&path, DEFAULT, None) } else { String::new() };
        (format!("{:o}", mode(&found)), xattr(&path, ACCESS, None), default)
    };
    assert_eq!(lists("folder").2, access_list());
    for (line, made, usual) in [
        ("pack data.f8 -o new.b2frame", "new.b2frame", "file"),
        ("unpack data.b2frame -o new.f8", "new.f8", "file"),
        ("pack data.f8 --sparse -o new.sparse", "new.sparse", "folder"),
        ("pack data.f8 --sparse -o more.sparse", "more.sparse/chunks.b2frame", "folder/file"),
        ("convert rows.csv new.bcolz", "new.bcolz", "folder"),
        ("convert rows.csv more.bcolz", "more.bcolz/__attrs__", "folder/file"),
        ("convert rows.csv new.blsk", "new.blsk/meta/storage", "folder/file"),
    ] {
        shell.run(line).succeeds();
        assert_eq!(lists(made), lists(usual), "{line}: {made}");
    }
}

#[test]
fn replacing_breaks_hard_links() {
    for line in ["repack {} -c zstd", "convert -f data.blp {}", "pack -f data.f8 -o {}"] {
        let shell = with_containers();
        let (path, other) = (shell.path("data.b2frame"), shell.path("other name"));
        fs::hard_link(&path, &other).unwrap();
        let before = fs::read(&path).unwrap();
        shell.run(&line.replace("{}", "data.b2frame")).succeeds();
        assert!(fs::read(&other).unwrap() == before, "{line}");
        assert!(fs::read(&path).unwrap() != before, "{line}");
        assert_eq!(fs::metadata(&other).unwrap().nlink(), 1, "{line}");
    }
}

/// Lists the files of a folder that a process has open, including those that have no name any more.
#[cfg(target_os = "linux")]
fn open_files(process: u32, folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let targets = entries.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    let inside = targets.filter(|target| target.starts_with(folder));
    inside.map(|target| target.display().to_string()).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_kept_of_stdin_has_no_name() {
    let shell = with_containers();
    shell.write("big", &readings(300_000));
    shell.run("pack big -l 0 -o big.b2frame").succeeds();
    let inputs = [("pack -", shell.read("big")), ("unpack -", shell.read("big.b2frame"))];
    for (line, mut input) in inputs {
        let spool = shell.path("spool");
        fs::create_dir(&spool).unwrap();
        let last = input.split_off(input.len() - 1000);
        let mut command = shell.command(line);
        command.env("TMPDIR", &spool).stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // More than the pipe holds: most of it has been read when this returns.
        pipe.write_all(&input).unwrap();
        let open = open_files(child.id(), &fs::canonicalize(&spool).unwrap());
        assert!(!open.is_empty(), "{line} keeps nothing");
        assert_eq!(fs::read_dir(&spool).unwrap().count(), 0, "{line} shows {open:?}");
        pipe.write_all(&last).unwrap();
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{line}");
        fs::remove_dir(&spool).unwrap();
    }
}

#[test]
fn every_signal_that_ends_it_leaves_nothing() {
    for (name, number) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15)] {
        for line in
            ["pack - -o new", "pack - -o new --sparse", "pack - -f -o data.b2frame", "pack -"]
        {
            let shell = with_containers();
            let before = (shell.names(), shell.read("data.b2frame"));
            let mut child = shell.start(line);
            let mut pipe = child.stdin.take().unwrap();
            // More than the pipe holds: the command has begun to work when this is through.
            pipe.write_all(&readings(1_000_000)).unwrap();
            shell.sh(&format!("kill -{name} {}", child.id())).succeeds();
            let status = child.wait_with_output().unwrap().status;
            let is_expected =
                status.code() == Some(128 + number) || status.signal() == Some(number);
            assert!(is_expected, "{line}, SIG{name}: {status}");
            assert_eq!(shell.names(), before.0, "{line}, SIG{name}");
            assert!(shell.read("data.b2frame") == before.1, "{line}, SIG{name}");
            drop(pipe);
        }
    }
}

#[test]
fn a_limit_of_the_file_size_is_an_error_and_leaves_nothing() {
    for line in [
        "pack big -l 0 -o new",
        "pack big -l 0 -o data.b2frame -f",
        "pack big -l 0 --sparse -z 1M -o new",
        "pack big -l 0 -o new.blp",
        "unpack big.b2frame -o new",
        "append data.b2frame big",
        "append data.blp big",
        "repack big.b2frame -l 0 -c lz4",
    ] {
        let shell = with_containers();
        shell.write("big", &readings(100_000));
        shell.run("pack big -l 0 -z 1M -o big.b2frame").succeeds();
        let content = || {
            ["data.b2frame", "data.blp", "big.b2frame"]
                .map(|name| shell.run(&format!("unpack {name} -o -")).succeeds().stdout)
        };
        let before = (below(&shell.path(""), &mode), content());
        // The unit is 512 bytes, or 1024 in some shells.
        let said = shell.sh(&format!("ulimit -f 64; superchunk {line}"));
        assert_eq!(said.code, Some(5), "{line}: {}", said.stderr);
        assert!(said.stderr.contains("File too large"), "{line}: {}", said.stderr);
        assert_eq!(below(&shell.path(""), &mode), before.0, "{line}");
        assert!(content() == before.1, "{line}");
    }
}
