//! What `-f` replaces: files, empty folders and containers; never pipes, sockets, devices and folders
//! of other files.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;

use crate::shell::{Shell, npy, readings};

/// A frame, a Bloscpack file, an array and a table to make others of.
fn with_inputs() -> Shell {
    let shell = Shell::new();
    shell.write("data.f8", &readings(3000));
    shell.write("a.npy", &npy(&[50, 4]));
    shell.write("rows.csv", b"number,price\n1,1.5\n2,2.5\n");
    for line in [
        "pack data.f8 -t 8 -z 8K -o data.b2frame",
        "pack data.f8 -t 8 -z 8K -o data.blp",
        "convert rows.csv rows.bcolz",
    ] {
        shell.run(line).succeeds();
    }
    shell
}

/// Commands that make a file or folder of any name.
const MAKERS: [&str; 11] = [
    "salvage -f data.b2frame -o {}",
    "salvage -f data.blp -o {}",
    "salvage -f rows.bcolz -o {}",
    "repack -f data.b2frame -o {}",
    "repack -f data.b2frame -c zstd -o {}",
    "repack -f data.blp -o {}",
    "convert -f data.b2frame {} --to sparse",
    "convert -f rows.csv {} --to bcolz",
    "convert -f rows.csv {} --to blsk",
    "convert -f rows.csv {} --to columns",
    "convert -f a.npy {} --to b2nd",
];

/// Commands that make a file of any name, or write into a pipe or a device.
const WRITERS: [&str; 5] = [
    "unpack -f data.b2frame -o {}",
    "pack -f data.f8 -o {}",
    "pack -f rows.csv -o {} --varlen",
    "convert -f data.b2frame {} --to raw",
    "convert -f rows.bcolz {} --to csv",
];

#[test]
fn a_pipe_a_socket_and_a_device_stay_what_they_are() {
    let shell = with_inputs();
    shell.sh("mkfifo pipe").succeeds();
    let _listener = UnixListener::bind(shell.path("socket")).unwrap();
    let mut nodes = vec![("pipe", "a FIFO"), ("socket", "a socket")];
    // Only root can make one; this is that of /dev/null.
    if shell.sh("mknod device c 1 3").code == Some(0) {
        nodes.push(("device", "a device"));
    }
    shell.sh("ln -s pipe link").succeeds();
    nodes.push(("link", "a FIFO"));
    let names = shell.names();
    for (node, kind) in nodes {
        let type_of = || fs::metadata(shell.path(node)).unwrap().file_type();
        let before = type_of();
        assert!(before.is_fifo() || before.is_socket() || before.is_char_device());
        for line in MAKERS {
            let line = line.replace("{}", node);
            let said = shell.run(&line);
            assert_eq!(said.code, Some(2), "{line}: {}", said.stderr);
            // `pack` and `convert` have commands for what is written from front to back.
            let is_named = said.stderr.contains(kind) && said.stderr.contains("choose");
            assert!(is_named || !line.starts_with(['s', 'r']), "{line}: {}", said.stderr);
            assert_eq!((type_of(), shell.names()), (before, names.clone()), "{line}");
        }
        // A writer waits until somebody reads the pipe.
        for line in WRITERS.iter().filter(|_| !before.is_fifo()) {
            let line = line.replace("{}", node);
            let said = shell.run(&line);
            let expected = if before.is_socket() { Some(5) } else { Some(0) };
            assert_eq!(said.code, expected, "{line}: {}", said.stderr);
            assert_eq!((type_of(), shell.names()), (before, names.clone()), "{line}");
        }
    }
}

#[test]
fn a_folder_of_other_files_is_not_replaced() {
    let shell = with_inputs();
    fs::create_dir_all(shell.path("home/inner")).unwrap();
    shell.write("home/letter", b"Dear Bob");
    // A list of columns does not make a container of everything around it.
    shell.write("home/columns.json", b"[\"number\", \"price\"]");
    shell.sh("ln -s home link").succeeds();
    let names = shell.names();
    for line in MAKERS.iter().chain(&WRITERS).chain(&["pack -f data.f8 --sparse -o {}"]) {
        for folder in ["home", "link", "home/inner/.."] {
            let line = line.replace("{}", folder);
            let said = shell.run(&line);
            let is_refused = said.code == Some(7) && said.stderr.contains("is a folder");
            let has_no_name = said.code == Some(2) && folder.ends_with("..");
            assert!(is_refused || has_no_name, "{line}: {:?}, {}", said.code, said.stderr);
            assert_eq!(shell.read("home/letter"), b"Dear Bob", "{line}");
            assert_eq!(shell.names(), names, "{line}");
        }
    }
}

#[test]
fn an_empty_folder_and_a_container_are_replaced() {
    let shell = with_inputs();
    let makers = [
        "",
        "pack data.f8 -t 8 --sparse -o {}",
        "convert rows.csv {} --to bcolz",
        "convert rows.bcolz::price {} --to bcolz",
        "convert rows.csv {} --to blsk",
        "convert rows.csv {} --to columns",
    ];
    for old in makers {
        for new in ["unpack -f data.b2frame -o old", "repack -f data.b2frame --sparse -o old"] {
            match old {
                "" => fs::create_dir(shell.path("old")).unwrap(),
                line => drop(shell.run(&line.replace("{}", "old")).succeeds()),
            }
            assert!(shell.path("old").is_dir(), "{old}");
            shell.run(new).succeeds();
            match new.starts_with("unpack") {
                true => assert_eq!(shell.read("old"), readings(3000), "{old}"),
                false => drop(shell.run("verify old").succeeds()),
            }
            shell.sh("rm -r old").succeeds();
        }
    }
}
