//! `convert`.

use crate::shell::{Shell, npy};

#[test]
fn every_format_leads_to_every_other_with_equal_content() {
    let shell = Shell::with_frame();
    let lines = [
        "convert data.b2frame sparse --to sparse",
        "convert sparse again.b2frame",
        "convert again.b2frame one.chunk",
        "convert one.chunk lone.b2frame",
        "convert lone.b2frame array.b2nd",
        "convert array.b2nd array.npy",
        "convert array.npy other.b2nd -c blosclz",
        "convert other.b2nd out.raw",
        "convert out.raw last.b2frame",
    ];
    for line in lines {
        shell.run(line).succeeds();
        let made = line.split_whitespace().nth(2).unwrap();
        assert_eq!(shell.run(&format!("diff {made} data.f8")).code, Some(0), "{line}");
    }
    assert!(shell.read("out.raw") == shell.read("data.f8"));
}

#[test]
fn chunks_move_as_they_are_unless_parameters_change() {
    let shell = Shell::with_frame();
    let chunks = |name: &str| {
        let list = shell.run(&format!("info --json --chunks {name}")).succeeds().json();
        list.get("chunk_list").unwrap().to_json()
    };
    shell.run("convert data.b2frame same.b2frame").succeeds();
    shell.run("convert data.b2frame other.b2frame -c lz4").succeeds();
    assert_eq!(chunks("same.b2frame"), chunks("data.b2frame"));
    assert_ne!(chunks("other.b2frame"), chunks("data.b2frame"));
    for name in ["same", "other"] {
        let unit = shell.run(&format!("attr get {name}.b2frame unit")).succeeds();
        assert_eq!(unit.text(), "\"K\"\n", "{name}");
    }
}

#[test]
fn arrays_keep_their_axes() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[6, 7]));
    shell.run("convert a.npy a.b2nd").succeeds();
    shell.run("convert a.b2nd b.b2nd -c lz4 --filters bitshuffle").succeeds();
    shell.run("convert b.b2nd c --to sparse").succeeds();
    shell.run("convert c c.npy").succeeds();
    assert!(shell.read("c.npy") == npy(&[6, 7]));
}

#[test]
fn what_it_is_to_be_must_be_clear() {
    let shell = Shell::with_frame();
    let help = "--to frame, sparse, chunk, b2nd, blp, npy or raw makes that of any name";
    shell.run("convert data.b2frame x.foo").fails(
        2,
        &format!(
            "error: expected an output called .b2frame, .sparse, .b2nd, .blp, .npy, .chunk or .raw, \
             got `x.foo`\n  help: {help}\n"
        ),
    );
    shell.write("t.csv", b"a\n1\n");
    let help = "--to bcolz, blsk, columns, csv, npy or b2nd makes that of any name";
    shell.run("convert t.csv x").fails(
        2,
        &format!("error: expected an output with an extension, or --to, got `x`\n  help: {help}\n"),
    );
    // Without an extension bytes become a frame, as with `pack`.
    shell.run("convert data.b2frame x").succeeds();
    shell.run("diff x data.b2frame").is("", "", 0);
    assert_eq!(shell.run("convert data.b2frame data.f8 --to raw").code, Some(7));
    assert_eq!(shell.run("convert data.b2frame@1:2 x.raw").code, Some(2));
}

#[test]
fn arrays_get_other_chunks() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[20, 30]));
    let shapes = |name: &str| {
        let info = shell.run(&format!("info --json {name}")).succeeds().json();
        let shape = |key: &str| info.get(key).unwrap().to_json();
        (shape("chunks"), shape("blocks"))
    };
    shell.run("convert a.npy a.b2nd --chunks 10,20 --blocks 5,10").succeeds();
    assert_eq!(shapes("a.b2nd"), ("[10, 20]".to_owned(), "[5, 10]".to_owned()));
    shell.run("convert a.b2nd b.b2nd --chunks 4,30").succeeds();
    assert_eq!(shapes("b.b2nd").0, "[4, 30]");
    shell.run("diff a.npy b.b2nd").succeeds();
    assert_eq!(shell.run("convert a.b2nd c.b2nd --chunks 4").code, Some(2));
}

#[test]
fn a_name_of_another_format_is_refused() {
    let shell = Shell::with_frame();
    for line in ["convert data.f8 x.parquet", "convert data.b2frame x.foo"] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(2), "{line}: {}", said.stderr);
        assert!(said.stderr.contains("help: --to frame, sparse"), "{}", said.stderr);
    }
    assert_eq!(shell.names(), ["data.b2frame", "data.f8"]);
    shell.run("convert data.f8 x").succeeds();
    shell.run("diff x data.f8").is("", "", 0);
}
