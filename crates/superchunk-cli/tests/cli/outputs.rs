//! The name of an output says what is made; a name of something else is refused.

use crate::shell::{Shell, npy};

/// A frame, an array, a Bloscpack file, a list, a table of bcolz and a tree of blsk.
fn with_all() -> Shell {
    let shell = Shell::with_frame();
    shell.write("a.npy", &npy(&[4, 5]));
    shell.write("names", b"one\ntwo\n");
    shell.write("t.csv", b"a,b\n1,2\n");
    for line in [
        "pack a.npy",
        "pack data.f8 -t 8 -o data.blp",
        "pack names --varlen",
        "convert t.csv t.bcolz",
        "convert t.csv t.blsk",
    ] {
        shell.run(line).succeeds();
    }
    shell
}

#[test]
fn foreign_names_are_refused_by_every_command() {
    let shell = with_all();
    let before = shell.names();
    let cases: [(&str, &[&str], &str); 12] = [
        ("repack data.b2frame -o", &["x.npy", "x.blp", "x.b2nd", "x.foo"], ".b2frame or .sparse"),
        ("repack a.b2nd -o", &["x.npy", "x.blp", "x.csv"], ".b2frame, .sparse or .b2nd"),
        ("repack data.blp -o", &["x.npy", "x.b2frame", "x.sparse"], ".blp"),
        ("salvage data.b2frame -o", &["x.npy", "x.blp", "x.bcolz"], ".b2frame or .b2nd"),
        ("salvage data.blp -o", &["x.b2frame"], ".blp"),
        ("salvage t.bcolz -o", &["x.blsk", "x.csv"], ".bcolz"),
        ("salvage t.blsk -o", &["x.bcolz"], ".blsk"),
        ("tune data.f8 --sample 64K --apply", &["x.npy", "x.b2nd", "x.blp"], ".b2frame or .sparse"),
        ("unpack data.b2frame -o", &["x.b2frame", "x.blp", "x.chunk", "x.bcolz"], ".raw or .npy"),
        ("unpack names.b2frame -o", &["x.b2frame", "x.blsk"], ".raw or .npy"),
        ("unpack a.b2nd -o", &["x.csv", "x.raw", "x.b2nd"], ".npy"),
        (
            "convert data.b2frame",
            &["x.parquet"],
            ".b2frame, .sparse, .b2nd, .blp, .npy, .chunk or .raw",
        ),
    ];
    for (line, names, expected) in cases {
        for name in names {
            let said = shell.run(&format!("{line} {name}"));
            let words =
                format!("error: expected an output called {expected}, got `{name}`\n  help: ");
            assert_eq!(said.code, Some(2), "{line} {name}: {}", said.stderr);
            assert!(said.stderr.starts_with(&words), "{line} {name}: {}", said.stderr);
        }
    }
    assert_eq!(shell.names(), before);
}

#[test]
fn an_array_is_unpacked_into_what_the_name_says() {
    let shell = with_all();
    shell.run("unpack a.b2nd -o b.npy").succeeds();
    assert_eq!(shell.read("b.npy"), npy(&[4, 5]));
    // The type of a frame of bytes must be told.
    let said = shell.run("unpack data.b2frame -o c.npy");
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("--dtype"), "{}", said.stderr);
    shell.run("unpack data.b2frame -o c.npy --dtype <f8").succeeds();
    assert!(shell.read("c.npy").starts_with(b"\x93NUMPY"));
    shell.run("diff c.npy data.b2frame").succeeds();
    // What was packed as bytes comes back under any name.
    shell.run("unpack a.b2nd --raw -o a.b2frame").succeeds();
    assert_eq!(shell.read("a.b2frame"), &npy(&[4, 5])[128..]);
    shell.run("pack t.csv -o t.b2frame").succeeds();
    shell.run("unpack t.b2frame -o back.csv").succeeds();
    assert_eq!(shell.read("back.csv"), shell.read("t.csv"));
    assert_eq!(shell.run("unpack names.b2frame -o names.npy").code, Some(2));
}

#[test]
fn a_name_that_ends_with_sparse_makes_a_folder() {
    let shell = with_all();
    for line in [
        "pack data.f8 -t 8 -o NAME",
        "convert data.b2frame NAME",
        "convert data.f8 NAME",
        "repack data.b2frame -o NAME",
        "tune data.f8 --sample 64K --apply NAME -q",
        "pack a.npy -o NAME",
        "convert a.npy NAME",
    ] {
        let verb = line.split(' ').next().unwrap();
        let name = format!("{verb}{}.sparse", shell.names().len());
        shell.run(&line.replace("NAME", &name)).succeeds();
        assert!(shell.path(&name).is_dir(), "{line}");
        let info = shell.run(&format!("info --json {name}")).succeeds().json();
        assert_eq!(info.get("storage").unwrap().as_str(), Some("sparse"), "{line}");
        shell.run(&format!("verify -q {name}")).succeeds();
    }
    shell.run("pack data.f8 --to frame -o file.sparse").succeeds();
    assert!(shell.path("file.sparse").is_file());
    let said = shell.run("convert data.b2frame x.npy --sparse");
    assert_eq!(said.code, Some(2), "{}", said.stderr);
}
