//! `convert`.

use std::path::Path;

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

#[test]
fn every_output_has_its_length_and_ratio() {
    let shell = Shell::with_frame();
    shell.write("t.csv", b"a,b\n1,xx\n2,yy\n");
    shell.write("a.npy", &npy(&[300, 70]));
    let size = |path: &Path| -> u64 {
        let mut folders = vec![path.to_owned()];
        let mut total = 0;
        while let Some(path) = folders.pop() {
            match std::fs::read_dir(&path) {
                Ok(entries) => folders.extend(entries.map(|entry| entry.unwrap().path())),
                Err(_) => total += std::fs::metadata(&path).unwrap().len(),
            }
        }
        total
    };
    for (line, nbytes) in [
        ("convert data.b2frame x.b2frame -c lz4", 800_000),
        ("convert data.b2frame x --to sparse", 800_000),
        ("convert data.b2frame x.chunk", 800_000),
        ("convert data.b2frame x.blp", 800_000),
        ("convert data.b2frame x.raw", 800_000),
        ("convert a.npy x.b2nd", 84_000),
        ("convert a.npy x.bcolz", 84_000),
        ("convert t.csv x.bcolz", 20),
        ("convert t.csv x.blsk", 20),
        ("convert t.csv x --to columns", 20),
        ("convert t.csv x.npy", 20),
    ] {
        let name = line.split_whitespace().nth(2).unwrap();
        let said = shell.run(&format!("{line} -f --json")).succeeds().json();
        let stored = size(&shell.path(name));
        let ratio = nbytes as f64 / stored as f64;
        let number = |key: &str| said.get(key).unwrap().as_u64();
        assert_eq!((number("nbytes"), number("stored")), (Some(nbytes), Some(stored)), "{line}");
        let told = said.get("ratio").unwrap().as_f64().unwrap();
        assert!((told - ratio).abs() < 0.001, "{line}: {told}, not {ratio}");
        let words = shell.run(&format!("{line} -f")).succeeds().stderr;
        let end = format!(", ratio {ratio:.2}\n");
        assert!(words.contains(&format!(" -> {name}: ")) && words.ends_with(&end), "{words}");
    }
    let said = shell.run("convert data.b2frame y.raw");
    said.is("", "data.b2frame -> y.raw: 800.0 kB -> 800.0 kB, ratio 1.00\n", 0);
}

/// What is said of data to which the filter delta was applied.
const OF_DELTA: &str =
    "warning: with the filter delta, C-Blosc2 and python-blosc2 read whole chunks right";

#[test]
fn the_filter_delta_comes_with_a_warning() {
    let shell = Shell::with_frame();
    shell.write("a.npy", &npy(&[300, 70]));
    shell.write("lines", b"one\ntwo\n");
    shell.run("convert data.b2frame plain.b2nd").succeeds();
    for line in [
        "pack a.npy -o a.b2nd --filters delta",
        "pack a.npy -o b.b2nd --filters delta,shuffle",
        "pack data.f8 -o d.b2frame --filters delta",
        "pack lines --varlen -o lines.b2frame --filters delta",
        "convert a.npy c.b2nd --filters delta",
        "convert data.b2frame e.b2nd --filters delta",
        "repack plain.b2nd --filters delta,shuffle",
        // It has the filter already.
        "convert a.b2nd f.b2nd",
        "convert d.b2frame g.b2frame",
        "repack a.b2nd -c lz4",
        "convert --to columns t.csv columns --filters delta",
    ] {
        shell.write("t.csv", b"a,b\n1,2\n");
        let said = shell.run(line).succeeds();
        assert_eq!(said.stderr.matches(OF_DELTA).count(), 1, "{line}: {}", said.stderr);
        assert_eq!(shell.run(&format!("{line} -f -q")).stderr, "", "{line}");
    }
    for line in [
        "pack a.npy -o h.b2nd",
        "convert a.b2nd i.b2nd --filters shuffle",
        "convert d.b2frame j.b2nd",
        "repack h.b2nd",
    ] {
        let said = shell.run(line).succeeds();
        assert!(!said.stderr.contains("warning"), "{line}: {}", said.stderr);
    }
}
