//! Input of another format than a command takes is exit 4, with the command that takes it.

use superchunk_testkit::vectors::family;

use crate::shell::{Shell, npy, readings};

/// Files of formats that are not read, with what is said of each.
const FILES: [(&str, &[u8], &str, &str); 4] = [
    ("plain", b"just some bytes", "no known format", "pack plain -o OUT.b2frame"),
    ("t.csv", b"a,b\n1,2\n", "no known format", "convert t.csv OUT.bcolz"),
    ("z.zip", b"PK\x03\x04and so on", "a ZIP archive", "unzip"),
    ("p.parquet", b"PAR1and so onPAR1", "a Parquet file", "write it as CSV or .npy first"),
];

/// A frame, an array, a NumPy file, a table, and files of other formats.
fn folder() -> Shell {
    let shell = Shell::new();
    for (name, bytes, ..) in FILES {
        shell.write(name, bytes);
    }
    shell.write("a.npy", &npy(&[10]));
    shell.write("data", &readings(10));
    shell.run("pack data -t 8 -o f.b2frame").succeeds();
    shell.run("convert t.csv t.bcolz").succeeds();
    shell
}

#[track_caller]
fn is_refused(shell: &Shell, line: &str, reason: &str, help: &str) {
    let said = shell.run(line);
    assert_eq!((said.code, said.text()), (Some(4), ""), "{line}: {}", said.stderr);
    let (error, hint) = said.stderr.trim_end().split_once('\n').unwrap();
    assert!(error.starts_with("error: `") && error.contains(" is not "), "{line}: {error}");
    assert!(error.contains(reason), "{line}: {error}");
    assert!(hint.starts_with("  help: ") && hint.contains(help), "{line}: {hint}");
}

#[test]
fn plain_bytes_are_no_container() {
    let shell = folder();
    let names = shell.names();
    for (name, bytes, reason, help) in FILES {
        for line in [
            "verify NAME",
            "unpack NAME -o out",
            "unpack NAME -o -",
            "inspect NAME",
            "attr ls NAME",
            "attr set NAME key value",
            "append NAME f.b2frame",
            "repack NAME",
            "repack NAME -l 3 -o out",
            "salvage NAME -o out",
            "cat NAME --where a>1",
            "cat NAME --agg count",
            "head NAME --cols a",
        ] {
            is_refused(&shell, &line.replace("NAME", name), reason, help);
        }
        assert_eq!(shell.read(name), bytes);
    }
    assert_eq!(shell.names(), names);
}

#[test]
fn stores_of_python_blosc2_are_named() {
    let shell = Shell::new();
    let mut seen = 0;
    for vector in family("frame") {
        let path = vector.path.display();
        match vector.path.extension().and_then(|it| it.to_str()) {
            Some("b2z") => {
                let line = format!("unpack {path} -o out");
                is_refused(&shell, &line, "a zip archive with a file embed.b2e", "blosc2.open");
            }
            Some("b2d") => {
                let said = shell.run(&format!("info {path}"));
                assert_eq!((said.code, said.text()), (Some(4), ""), "{}", said.stderr);
                assert!(said.stderr.contains("python-blosc2"), "{}", said.stderr);
            }
            // Its chunks can be looked at, but they are not what the store holds.
            Some("b2e") => {
                let said = shell.run(&format!("info {path}"));
                assert_eq!(said.code, Some(0), "{}", said.stderr);
                assert!(said.stderr.contains("an EmbedStore of python-blosc2"), "{}", said.stderr);
            }
            _ => continue,
        }
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}

#[test]
fn what_is_known_by_its_start_is_named_by_every_command() {
    let shell = folder();
    for (name, ..) in &FILES[1..] {
        // A killed command may have left something beside any output: this is complete.
        shell.run(&format!("recover {name} -q")).is("", "", 0);
    }
    for (name, _, reason, help) in &FILES[2..] {
        is_refused(&shell, &format!("convert {name} out.bcolz"), reason, help);
        is_refused(&shell, &format!("append t.bcolz {name}"), reason, help);
        let info = shell.run(&format!("info {name}")).succeeds();
        assert!(info.text().contains(reason), "{}", info.text());
        let info = shell.run(&format!("info --json {name}")).succeeds().json();
        assert!(info.get("reason").unwrap().as_str().unwrap().contains(reason));
    }
    let help = "`superchunk convert a.npy OUT.bcolz` makes a table of an array";
    for line in ["append t.bcolz a.npy", "cat a.npy --where a>1", "cat a.npy --format md"] {
        is_refused(&shell, line, "as NumPy files do", help);
    }
    let help = "`superchunk pack a.npy -o OUT.b2nd`";
    is_refused(&shell, "salvage a.npy -o out", "as NumPy files do", help);
    let help = "`superchunk unpack f.b2frame --dtype '<f8' -o OUT.npy`";
    is_refused(&shell, "convert f.b2frame out.bcolz", "its items have no type", help);
    shell.write("noise", &[0, 159, 146, 150]);
    is_refused(&shell, "append t.bcolz noise", "no known format", "pack noise -o OUT.b2frame");
    assert!(!shell.names().iter().any(|name| name.starts_with("out")), "{:?}", shell.names());
    // Rows of text need no name that says so.
    shell.write("rows", b"a,b\n3,4\n");
    shell.run("append t.bcolz rows -q").is("", "", 0);
    shell.run("recover f.b2frame").succeeds();
}

#[test]
fn arrays_and_tables_are_no_frames() {
    let shell = folder();
    for line in
        ["append a.npy f.b2frame", "attr set a.npy key value", "repack a.npy", "inspect a.npy"]
    {
        is_refused(&shell, line, "as NumPy files do", "`superchunk pack a.npy -o OUT.b2nd`");
    }
    for line in ["append f.b2frame t.bcolz", "inspect t.bcolz"] {
        is_refused(&shell, line, "__rootdirs__", "`superchunk convert t.bcolz OUT --to columns`");
    }
    for line in ["diff f.b2frame t.bcolz", "diff t.bcolz f.b2frame"] {
        let help = "`superchunk unpack f.b2frame --dtype '<f8' -o OUT.npy` gives them one";
        is_refused(&shell, line, "not a table or an array", help);
    }
}

#[test]
fn the_commands_that_are_recommended_work() {
    let shell = folder();
    for line in [
        "pack plain -o one.b2frame",
        "convert t.csv two.bcolz",
        "pack a.npy -o three.b2nd",
        "convert t.bcolz four --to columns",
    ] {
        shell.run(line).succeeds();
    }
}

#[test]
fn stdin_is_refused_as_files_are() {
    let shell = Shell::new();
    let help = "`superchunk pack - -o OUT.b2frame` makes a frame of it";
    for line in ["-d", "unpack -", "unpack - -o out"] {
        shell.pipe(line, b"just some bytes").fails(
            4,
            &format!("error: `stdin` is not packed: it has the marks of no known format\n  help: {help}\n"),
        );
    }
    assert!(shell.names().is_empty());
}

#[test]
fn a_frame_that_is_recognised_is_damaged_and_one_that_is_not_may_be_salvaged() {
    let shell = folder();
    let frame = shell.read("f.b2frame");
    shell.write("cut.b2frame", &frame[..frame.len() / 2]);
    shell.write("bad.b2frame", &[&[0; 16], &frame[16..]].concat());
    for verb in ["verify", "unpack -o out", "repack", "append"] {
        let line = |name: &str| match verb {
            "append" => format!("append {name} data"),
            _ => format!("{verb} {name}"),
        };
        assert_eq!(shell.run(&line("cut.b2frame")).code, Some(3), "{verb}");
        let help = "`superchunk salvage bad.b2frame -o OUT`";
        is_refused(&shell, &line("bad.b2frame"), "no known format", help);
    }
}
