//! Names that are not UTF-8: every command does at such a name what it does at any other.
//!
//! Each line runs twice: in one folder `?` is the byte 0xff, in the other the letter x. What is said
//! and what is in the folders afterwards has to be the same but for the names.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use superchunk::store::temporary_name;

use crate::shell::{Said, Shell, npy, readings, scrubbed};

/// A frame, a sparse frame, an array, objects, a Bloscpack file and tables of both kinds.
const MADE: [&str; 14] = [
    "pack d?.f8 -t 8 -z 8K --lock -o f?.b2frame",
    "pack d?.f8 -t 8 -z 8K --lock --sparse -o s?.sparse",
    "pack n?.npy --lock -o a?.b2nd",
    "pack l?.txt --varlen -o o?.b2frame",
    "pack d?.f8 -t 8 -z 8K -o p?.blp",
    "convert r?.csv t?.bcolz",
    "convert t?.bcolz b?.blsk",
    "convert p?.blp p?.b2frame",
    "convert f?.b2frame s?.folder --to sparse",
    "convert b?.blsk b?.csv",
    "convert a?.b2nd a?.npy",
    "pack d?.f8 -t 8",
    "unpack -f d?.f8.b2frame",
    "unpack a?.b2nd@1:3 -o part?.npy",
];

/// What can be done with any of these containers.
const ANY: [&str; 11] = [
    "info {}",
    "cat {}@:3",
    "head -n 2 {}",
    "verify {}",
    "attr set {} note 7",
    "attr get {} note",
    "attr ls {}",
    "attr rm {} note",
    "append {} {input}",
    "recover {}",
    "salvage -f {} -o saved?",
];

/// What can be done with those that are not tables.
const NO_TABLES: [&str; 7] = [
    "ls {}",
    "inspect {}",
    "diff {} {}",
    "repack {}",
    "repack {} -c lz4",
    "repack -f {} -o again?",
    "pack -f {input} -o {}",
];

/// What can be done with tables.
const TABLES: [&str; 2] = ["cat {} --where number>1", "convert -f {input} {}"];

/// The two folders.
struct Twins {
    odd: Shell,
    plain: Shell,
}

impl Twins {
    /// Two folders with data, and the containers that are made of it.
    fn with_containers() -> Self {
        let twins = Self { odd: Shell::new(), plain: Shell::new() };
        twins.write("d?.f8", &readings(3000));
        twins.write("n?.npy", &npy(&[50, 4]));
        twins.write("l?.txt", b"one\ntwo\nthree\n");
        twins.write("r?.csv", b"number,price\n1,1.5\n2,2.5\n3,3.5\n");
        MADE.iter().for_each(|line| drop(twins.run(line)));
        twins
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.odd.path("").join(odd(name)), bytes).unwrap();
        fs::write(self.plain.path("").join(plain(name)), bytes).unwrap();
    }

    /// Runs a line in both folders. Both commands succeed.
    #[track_caller]
    fn both(&self, line: &str) -> [Said; 2] {
        [run(&self.odd, line, odd), run(&self.plain, line, plain)]
    }

    /// Runs a line in both folders. Both commands succeed and say the same but for speeds.
    #[track_caller]
    fn run(&self, line: &str) -> Said {
        let [odd, plain] = self.both(line);
        let text = |said: &[u8]| String::from_utf8_lossy(said).replace('\u{fffd}', "x");
        assert_eq!(text(&odd.stdout), text(&plain.stdout), "{line}");
        let stderr = text(odd.stderr.as_bytes());
        assert_eq!(scrubbed(&stderr), scrubbed(&plain.stderr), "{line}");
        odd
    }

    /// Compares all names and files.
    #[track_caller]
    fn are_alike(&self) {
        let (odd, plain) = (files(&self.odd.path("")), files(&self.plain.path("")));
        assert!(odd.keys().eq(plain.keys()), "{:?} {:?}", odd.keys(), plain.keys());
        for (name, bytes) in &odd {
            assert!(*bytes == plain[name], "{name}");
        }
    }
}

/// A name with a byte that is not UTF-8.
fn odd(name: &str) -> OsString {
    let byte = |byte| if byte == b'?' { 0xff } else { byte };
    OsString::from_vec(name.bytes().map(byte).collect())
}

/// The same name as text.
fn plain(name: &str) -> OsString {
    name.replace('?', "x").into()
}

#[track_caller]
fn run(shell: &Shell, line: &str, named: fn(&str) -> OsString) -> Said {
    let mut command = shell.command("");
    command.args(line.split_whitespace().map(named));
    Said::from(command.output().unwrap()).succeeds()
}

/// The files below a folder by their paths, which have an x for a byte that is not UTF-8.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().replace('\u{fffd}', "x");
        if path.is_dir() {
            let below = files(&path).into_iter();
            found.extend(below.map(|(rest, bytes)| (format!("{name}/{rest}"), bytes)));
        } else {
            found.insert(name, fs::read(path).unwrap());
        }
    }
    found
}

#[test]
fn every_container_is_made_at_such_a_name() {
    let twins = Twins::with_containers();
    twins.are_alike();
    twins.run("verify f?.b2frame s?.sparse a?.b2nd o?.b2frame p?.blp t?.bcolz b?.blsk");
    let exists = |name: &str| twins.odd.path("").join(odd(name)).exists();
    for name in ["f?.b2frame.b2lock", "s?.sparse/.b2lock", "a?.b2nd.b2lock", "d?.f8.b2frame"] {
        assert!(exists(name), "{name}");
    }
    let data = |name: &str| fs::read(twins.odd.path("").join(odd(name))).unwrap();
    for name in ["f?.b2frame", "s?.sparse", "p?.blp", "p?.b2frame", "s?.folder"] {
        assert!(twins.run(&format!("unpack {name} -o -")).stdout == readings(3000), "{name}");
    }
    assert!(data("d?.f8") == readings(3000));
    assert!(data("a?.npy") == npy(&[50, 4]));
    assert_eq!(data("b?.csv"), data("r?.csv"));
    twins.run("unpack o?.b2frame -o -").is("one\ntwo\nthree\n", "", 0);
}

#[test]
fn every_command_takes_such_a_name() {
    let twins = Twins::with_containers();
    for (name, input) in [
        ("f?.b2frame", "d?.f8"),
        ("s?.sparse", "d?.f8"),
        ("a?.b2nd", "n?.npy"),
        ("o?.b2frame", "l?.txt"),
        ("p?.blp", "d?.f8"),
        ("t?.bcolz", "r?.csv"),
        ("b?.blsk", "r?.csv"),
    ] {
        let others = if input == "r?.csv" { &TABLES[..] } else { &NO_TABLES[..] };
        for line in ANY.iter().chain(others) {
            twins.run(&line.replace("{input}", input).replace("{}", name));
        }
    }
    twins.run("ls");
    twins.are_alike();
}

#[test]
fn data_is_measured_at_such_a_name() {
    let twins = Twins::with_containers();
    for name in ["f?.b2frame", "s?.sparse", "a?.b2nd", "p?.blp", "d?.f8"] {
        let line = format!("bench {name} --codecs lz4 --levels 1 --filters none");
        let heading =
            |said: &Said| said.text().lines().next().map(|line| line.replace('\u{fffd}', "x"));
        let [odd, plain] = twins.both(&line);
        assert_eq!(heading(&odd), heading(&plain));
    }
    run(&twins.odd, "tune f?.b2frame --sample 8K --apply tuned?.b2frame", odd);
    let tuned = run(&twins.odd, "unpack tuned?.b2frame -o -", odd);
    assert!(tuned.stdout == readings(3000));
}

#[test]
fn slices_and_columns_of_such_a_name_are_found() {
    let twins = Twins::with_containers();
    twins.run("cat t?.bcolz::price@1 --format csv").is("price\n2.5\n", "", 0);
    twins.run("cat t?.bcolz@:2 --format csv").is("number,price\n1,1.5\n2,2.5\n", "", 0);
    twins.run("cat a?.b2nd@1,: --format csv").is("4\n5\n6\n7\n", "", 0);
    twins.run("convert b?.blsk::number v?.npy");
    // A name that really has an `@` wins.
    twins.write("?@1", &readings(10));
    assert!(twins.run("cat ?@1 --format raw").stdout == readings(10));
    twins.are_alike();
}

#[test]
fn what_is_left_beside_such_a_name_is_removed() {
    let twins = Twins::with_containers();
    let name = odd("f?.b2frame");
    let left = temporary_name(&name.to_string_lossy());
    twins.odd.write(&left, b"half of it");
    let said = run(&twins.odd, "recover f?.b2frame", odd);
    assert!(said.stderr.contains(&left) || said.text().contains(&left), "{}", said.stderr);
    assert!(!twins.odd.names().contains(&left));
    assert!(twins.odd.path("").join(&name).exists());
}

#[test]
fn a_writer_waits_for_another_one_at_such_a_name() {
    let twins = Twins::with_containers();
    for name in ["f?.b2frame", "s?.sparse", "p?.blp", "t?.bcolz", "b?.blsk"] {
        let path = twins.odd.path("").join(odd(name));
        let held = fs::File::open(&path).unwrap();
        held.lock().unwrap();
        let mut command = twins.odd.command("--wait 0 attr set");
        let said = Said::from(command.arg(&path).args(["note", "7"]).output().unwrap());
        assert_eq!(said.code, Some(7), "{name}: {}", said.stderr);
        assert!(said.stderr.contains("another writer holds it"), "{name}: {}", said.stderr);
        drop(held);
        twins.run(&format!("attr set {name} note 7"));
    }
}

#[test]
fn blpk_takes_such_a_name() {
    let twins = Twins::with_containers();
    for line in
        ["blpk c d?.f8", "blpk i d?.f8.blp", "blpk a d?.f8.blp d?.f8", "blpk -f d d?.f8.blp"]
    {
        twins.run(line);
    }
    twins.are_alike();
    assert_eq!(fs::read(twins.odd.path("").join(odd("d?.f8"))).unwrap(), readings(3000).repeat(2));
}

#[test]
fn an_extension_that_is_not_utf8_does_not_count_as_none() {
    let twins = Twins::with_containers();
    for (shell, named) in [(&twins.odd, odd as fn(&str) -> _), (&twins.plain, plain)] {
        let said = shell.command("convert").args(["p?.blp", "out.?"].map(named)).output().unwrap();
        assert_eq!(Said::from(said).code, Some(2));
        assert!(!shell.path("").join(named("out.?")).exists());
    }
}
