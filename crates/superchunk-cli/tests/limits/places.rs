//! Pipes, devices, sockets and folders where files are expected, and files where folders are: nothing
//! waits for ever, nothing is replaced by accident, and messages say what was found.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use superchunk_testkit::scratch::Scratch;

use crate::arena::{BOUNDED, judge, shell};
use crate::verbs::lines;

/// The exit codes of wrong command lines, of what the system refuses, and of what would be overwritten.
const USAGE: i32 = 2;
const REFUSED_BY_SYSTEM: i32 = 5;
const BUSY: i32 = 7;
/// The exit code of input that a command does not take.
const OTHER_FORMAT: i32 = 4;

/// A folder with good files, and with what is no file.
struct Places(Scratch);

impl Places {
    fn new() -> Self {
        let this = Self(Scratch::new());
        fs::write(this.path("data.f8"), [7; 800]).unwrap();
        fs::write(this.path("rows.csv"), "number,price\n1,2.5\n3,4.5\n").unwrap();
        for line in [
            "pack data.f8 -t 8 -o data.b2frame",
            "pack data.f8 --dtype <f8 -o array.b2nd",
            "convert rows.csv rows.bcolz",
        ] {
            assert_eq!(this.run(line).0, 0, "{line}");
        }
        assert!(Command::new("mkfifo").arg(this.path("fifo")).status().unwrap().success());
        fs::create_dir(this.path("folder")).unwrap();
        fs::write(this.path("folder/file"), "text").unwrap();
        // Its name stays when it is closed.
        drop(UnixListener::bind(this.path("socket")).unwrap());
        for (name, minor) in [("null", "3"), ("zero", "5"), ("full", "7")] {
            this.make_device(name, minor);
        }
        this
    }

    /// A device of the test's own: a program that replaced one of the system would harm every other
    /// process of the machine. A link to that one is as safe where this process may not write to
    /// `/dev`, and so cannot replace it.
    fn make_device(&self, name: &str, minor: &str) {
        let path = self.path(name);
        let made = Command::new("mknod").arg(&path).args(["c", "1", minor]).output();
        if made.is_ok_and(|output| output.status.success()) {
            return;
        }
        let probe = Path::new("/dev").join(format!(".superchunk-test-{}", std::process::id()));
        let can_replace = fs::write(&probe, "").is_ok();
        let _ = fs::remove_file(&probe);
        assert!(!can_replace, "this process may write to /dev but may not make a device elsewhere");
        std::os::unix::fs::symlink(Path::new("/dev").join(name), path).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    /// Runs a command line, after what a shell is to do before; returns exit code and messages.
    fn run_after(&self, before: &str, line: &str) -> (i32, String) {
        let program = env!("CARGO_BIN_EXE_superchunk");
        let script = format!("{before} {BOUNDED} {program} -T 1 {}", quoted(line));
        let output: Output = shell(self.0.folder(), &script).output().unwrap();
        let judged = judge(&output);
        assert!(judged.is_ok(), "{line}: {judged:?}");
        let said = [output.stdout, output.stderr].concat();
        (judged.unwrap(), String::from_utf8_lossy(&said).into_owned())
    }

    fn run(&self, line: &str) -> (i32, String) {
        self.run_after("", line)
    }

    /// What is in the folder: every name with what kind it is.
    fn kinds(&self) -> Vec<(PathBuf, bool, bool, bool)> {
        let entries = fs::read_dir(self.0.folder()).unwrap().map(|entry| entry.unwrap().path());
        let kind = |path: PathBuf| {
            let kind = fs::metadata(&path).unwrap().file_type();
            let is_other = kind.is_fifo() || kind.is_socket() || kind.is_char_device();
            (path, kind.is_file(), kind.is_dir(), is_other)
        };
        let mut kinds: Vec<_> = entries.map(kind).collect();
        kinds.sort();
        kinds
    }
}

/// A line whose `<` is no redirection.
fn quoted(line: &str) -> String {
    line.split(' ').map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ")
}

/// Lines that read any stream: they take a pipe as they take stdin.
fn reads_streams(line: &str) -> bool {
    line.starts_with("pack")
}

#[test]
fn what_is_no_file_is_refused_as_input_by_every_verb() {
    let places = Places::new();
    let before = places.kinds();
    let inputs = [
        ("fifo", "is a FIFO"),
        ("socket", "is a socket"),
        ("null", "is a device"),
        ("zero", "is a device"),
        ("full", "is a device"),
    ];
    for line in lines().iter().filter(|line| line.contains("{}") && !reads_streams(line)) {
        for (name, words) in inputs {
            let line = line.replace("{}", name);
            let (code, said) = places.run(&line);
            assert_eq!(code, USAGE, "{line}: {said}");
            assert!(said.contains(words), "{line}: {said}");
            assert_eq!(places.kinds(), before, "{line}");
        }
    }
    // blpk has the exit codes of bloscpack.
    for (name, words) in inputs {
        for line in [format!("blpk info {name}"), format!("blpk decompress -e {name} out")] {
            let (code, said) = places.run(&line);
            assert_eq!(code, 1, "{line}: {said}");
            assert!(said.contains(words), "{line}: {said}");
        }
    }
}

#[test]
fn a_folder_of_anything_is_refused_as_input_by_every_verb() {
    let places = Places::new();
    let before = places.kinds();
    for line in lines().iter().filter(|line| line.contains("{}")) {
        let line = line.replace("{}", "folder");
        let (code, said) = places.run(&line);
        let lists = line.starts_with("ls") || line.starts_with("recover");
        let nothing_saved = line.starts_with("salvage");
        match code {
            0 => assert!(lists, "{line}"),
            1 => assert!(nothing_saved, "{line}: {said}"),
            USAGE | OTHER_FORMAT => assert!(said.contains("folder"), "{line}: {said}"),
            _ => unreachable!("{line}: {code}: {said}"),
        }
        assert_eq!(places.kinds(), before, "{line}");
    }
    // A path cannot go on after a file.
    for (line, expected) in [
        ("info data.f8/x", REFUSED_BY_SYSTEM),
        ("unpack data.f8/x -o out", REFUSED_BY_SYSTEM),
        ("pack data.f8 -o data.f8/x.b2frame", USAGE),
    ] {
        let (code, said) = places.run(line);
        assert_eq!(code, expected, "{line}: {said}");
    }
}

#[test]
fn a_folder_with_pipes_and_devices_in_it_is_listed_and_verified() {
    let places = Places::new();
    let (code, said) = places.run("ls .");
    assert_eq!(code, USAGE, "{said}");
    assert!(said.contains("is a FIFO") && said.contains("is a socket"), "{said}");
    let (code, said) = places.run("verify -r .");
    assert!((1..=OTHER_FORMAT).contains(&code), "{code}: {said}");
    assert!(said.contains("fifo: not looked at: ") && said.contains("1 damaged") == (code == 3));
}

#[test]
fn pack_and_append_read_a_pipe_to_its_end() {
    let places = Places::new();
    let feed = "cat data.f8 > fifo &";
    for (line, output) in [
        ("pack fifo -t 8 -o new.b2frame", "new.b2frame"),
        ("pack fifo -t 8 -o new.blp", "new.blp"),
        ("pack fifo --dtype <f8 --shape 100 -o new.b2nd", "new.b2nd"),
    ] {
        let (code, said) = places.run_after(feed, line);
        assert_eq!(code, 0, "{line}: {said}");
        let (code, said) = places.run(&format!("unpack {output} --raw -o back -f"));
        assert_eq!(code, 0, "{line}: {said}");
        assert!(fs::read(places.path("back")).unwrap() == [7; 800], "{line}");
    }
    let (code, said) = places.run_after(feed, "append new.b2frame fifo");
    assert_eq!(code, 0, "{said}");
    let (code, said) = places.run_after("cat rows.csv > fifo &", "append rows.bcolz fifo");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("4 in all"), "{said}");
    // A device without bytes is an empty stream.
    assert_eq!(places.run("pack null -o empty.b2frame").0, 0);
    let (code, said) = places.run("pack socket -o out.b2frame");
    assert_eq!(code, REFUSED_BY_SYSTEM, "{said}");
    let (code, said) = places.run("append data.b2frame socket");
    assert_eq!(code, REFUSED_BY_SYSTEM, "{said}");
    for line in ["pack folder -o out.b2frame", "append data.b2frame folder"] {
        let (code, said) = places.run(line);
        assert!([USAGE, OTHER_FORMAT].contains(&code), "{line}: {code}: {said}");
        assert!(said.contains("folder"), "{line}: {said}");
    }
}

/// What writes from front to back, and so into a pipe.
const STREAMING: [&str; 5] = [
    "pack data.f8 -t 8 -o {} -f",
    "pack data.f8 -t 8 --to blp -o {}",
    "unpack data.b2frame -o {} -f",
    "convert -f data.b2frame {} --to raw",
    "convert -f rows.bcolz {} --to csv",
];
/// What makes a file or folder of its own.
const MAKING: [&str; 8] = [
    "convert -f data.b2frame {} --to frame",
    "convert -f rows.bcolz {} --to blsk",
    "convert -f rows.bcolz {} --to columns",
    "repack data.b2frame -f -o {}",
    "salvage data.b2frame -f -o {}",
    "salvage rows.bcolz -f -o {}",
    "tune data.b2frame --sample 1K -f --apply {}",
    "cat array.b2nd --png {} -f",
];

#[test]
fn a_pipe_a_device_and_a_socket_stay_what_they_are_as_outputs() {
    let places = Places::new();
    let before = places.kinds();
    for name in ["fifo", "socket", "null", "full"] {
        for line in MAKING {
            let line = line.replace("{}", name);
            let (code, said) = places.run(&line);
            assert_eq!(code, USAGE, "{line}: {said}");
            assert_eq!(places.kinds(), before, "{line}");
        }
    }
    for line in STREAMING {
        let (code, said) = places.run(&line.replace("{}", "null"));
        assert_eq!(code, 0, "{line}: {said}");
        for name in ["full", "socket"] {
            let (code, said) = places.run(&line.replace("{}", name));
            assert_eq!(code, REFUSED_BY_SYSTEM, "{line}: {name}: {said}");
            assert!(said.contains(name), "{line}: {said}");
        }
        let (code, said) = places.run_after("wc -c < fifo > count &", &line.replace("{}", "fifo"));
        assert_eq!(code, 0, "{line}: {said}");
        fs::remove_file(places.path("count")).unwrap();
        assert_eq!(places.kinds(), before, "{line}");
    }
    let (code, said) = places.run("man --all fifo");
    assert_eq!(code, REFUSED_BY_SYSTEM, "{said}");
}

#[test]
fn a_folder_is_an_output_only_where_it_may_be_overwritten() {
    let places = Places::new();
    let before = places.kinds();
    for line in STREAMING.iter().chain(&MAKING) {
        let line = line.replace(" -f", "").replace("{}", "folder");
        let (code, said) = places.run(&line);
        assert_eq!(code, BUSY, "{line}: {said}");
        assert!(said.contains("`folder` exists already"), "{line}: {said}");
        assert_eq!(places.kinds(), before, "{line}");
        assert!(places.path("folder/file").exists(), "{line}");
    }
}
