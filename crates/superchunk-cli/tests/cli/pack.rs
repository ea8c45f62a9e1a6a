//! `pack`.

use crate::shell::{Shell, npy, readings};

#[test]
fn a_file_becomes_a_frame_of_its_name() {
    let shell = Shell::new();
    shell.write("zeros", &[0; 100_000]);
    let said = shell.run("pack zeros");
    let stored = shell.read("zeros.b2frame").len();
    let words = format!("100.0 kB -> {stored} B, ratio {}, # MB/s", times(stored, 2));
    said.fails(0, &format!("zeros -> zeros.b2frame: {words}\n"));
    assert_eq!(shell.names(), ["zeros", "zeros.b2frame"]);
}

#[test]
fn an_array_becomes_an_array_with_shape_and_type() {
    let shell = Shell::new();
    shell.write("cube.npy", &npy(&[4, 5, 6]));
    shell.run("pack cube.npy").succeeds();
    let info = shell.run("info --json cube.b2nd").succeeds().json();
    assert_eq!(info.get("format").unwrap().as_str(), Some("b2nd"));
    assert_eq!(info.get("dtype").unwrap().as_str(), Some("<i4"));
    assert_eq!(info.get("shape").unwrap().to_json(), "[4, 5, 6]");
    assert_eq!(shell.run("unpack cube.b2nd -o back.npy").code, Some(0));
    assert!(shell.read("back.npy") == npy(&[4, 5, 6]));
}

#[test]
fn bytes_with_type_and_shape_become_an_array() {
    let shell = Shell::new();
    shell.write("raw", &npy(&[6, 10])[128..]);
    shell.run("pack raw -o a.b2nd --dtype <i4 --shape 6,10 --chunks 4,4 --blocks 2,2").succeeds();
    let info = shell.run("info --json a.b2nd").succeeds().json();
    assert_eq!(info.get("chunks").unwrap().to_json(), "[4, 4]");
    assert_eq!(info.get("blocks").unwrap().to_json(), "[2, 2]");
    let said = shell.run("cat a.b2nd@5,-3: --format json").succeeds();
    assert_eq!(said.text(), "[57, 58, 59]\n");
    assert_eq!(shell.names(), ["a.b2nd", "raw"]);
}

#[test]
fn a_name_says_what_is_made_or_is_refused() {
    let shell = Shell::new();
    shell.write("data", &readings(10));
    for name in ["x.npy", "x.parquet", "x.bcolz", "x.csv", "x.foo", "x.b2nd.bak"] {
        let said = shell.run(&format!("pack data -o {name}"));
        let words =
            format!("expected an output called .b2frame, .sparse, .b2nd or .blp, got `{name}`");
        let help = "`superchunk convert` makes .npy, .bcolz, .blsk, .csv and .raw; --to frame makes a \
                    frame of any name";
        said.fails(2, &format!("error: {words}\n  help: {help}\n"));
    }
    for line in ["pack data -o x.b2nd", "pack data -t 8 --to b2nd", "pack data --varlen -o x.b2nd"]
    {
        let said = shell.run(line);
        let words = "an array (.b2nd, --to b2nd) needs the type of its items";
        let help = "give it, like --dtype '<f8', or make a frame: .b2frame, --to frame";
        said.fails(2, &format!("error: {words}\n  help: {help}\n"));
    }
    assert_eq!(shell.names(), ["data"]);
    for (line, format) in [
        ("pack data -o plain", "b2frame"),
        ("pack data -o a.b2frame", "b2frame"),
        ("pack data -o a.b2", "b2frame"),
        ("pack data -o a.b2b", "b2frame"),
        ("pack data -o a.sparse --sparse", "b2frame"),
        ("pack data -o a.blp", "blp"),
        ("pack data -o a.b2nd --dtype <f8", "b2nd"),
        ("pack data -o a.foo --to frame", "b2frame"),
    ] {
        shell.run(line).succeeds();
        let name = line.split(' ').nth(3).unwrap();
        let info = shell.run(&format!("info --json {name}")).succeeds().json();
        assert_eq!(info.get("format").unwrap().as_str(), Some(format), "{line}");
    }
}

#[test]
fn every_option_is_found_in_the_frame() {
    let shell = Shell::new();
    shell.write("data", &readings(10_000));
    let line = "pack data -o out --sparse --dtype <f8 -c lz4hc -9 --filters delta,shuffle -z 16K -b 4K \
                --dict --split never -m unit=K -m limits=[0,50]";
    shell.run(line).succeeds();
    let info = shell.run("info out --json").succeeds().json();
    let expected = [
        ("storage", "\"sparse\""),
        ("typesize", "8"),
        ("chunksize", "16384"),
        ("blocksize", "4096"),
        ("nchunks", "5"),
        ("codec", "\"lz4hc\""),
        ("level", "9"),
        ("filters", "[\"delta\", \"shuffle\"]"),
        ("split", "\"never\""),
        ("dictionary", "true"),
        ("metadata", "{\"unit\": \"K\", \"limits\": [0, 50], \"dtype\": \"<f8\"}"),
    ];
    for (key, value) in expected {
        assert_eq!(info.get(key).unwrap().to_json(), value, "{key}");
    }
    shell.run("unpack out --raw -o back").succeeds();
    assert!(shell.read("back") == shell.read("data"));
}

#[test]
fn chunks_may_have_sizes_of_their_own_and_no_checksums() {
    let shell = Shell::new();
    shell.write("data", &readings(10_000));
    shell.run("pack data -t 8 --variable -z 30000 --no-checksums").succeeds();
    let info = shell.run("info data.b2frame --json").succeeds().json();
    assert_eq!(info.get("chunksize").unwrap().to_json(), "null");
    assert_eq!(info.get("checksums").unwrap().as_str(), Some("unverified"));
    shell.run("unpack data.b2frame -o back").succeeds();
    assert!(shell.read("back") == shell.read("data"));
}

#[test]
fn stdin_goes_to_a_file_or_to_stdout() {
    let shell = Shell::new();
    let data = readings(50_000);
    shell.pipe("pack - -t 8 -o a.b2frame", &data).succeeds();
    let said = shell.pipe("pack -t 8 -o -", &data).succeeds();
    shell.write("b.b2frame", &said.stdout);
    for name in ["a", "b"] {
        let back = shell.run(&format!("unpack {name}.b2frame -o -")).succeeds();
        assert!(back.stdout == data, "{name}");
    }
    let array = shell.pipe("pack - -o -", &npy(&[7, 3])).succeeds();
    shell.write("c.b2nd", &array.stdout);
    assert!(shell.run("unpack c.b2nd -o - ").succeeds().stdout == npy(&[7, 3]));
    // What waited for the pipe is gone.
    assert_eq!(shell.names(), ["a.b2frame", "b.b2frame", "c.b2nd"]);
}

#[test]
fn nothing_is_overwritten_without_force() {
    let shell = Shell::new();
    shell.write("data", b"some bytes");
    shell.write("out", b"precious");
    let said = shell.run("pack data -o out");
    said.fails(
        7,
        "error: `out` exists already\n  help: overwrite it with -f, or choose another -o\n",
    );
    assert_eq!(shell.read("out"), b"precious");
    shell.run("pack data -o out -f").succeeds();
    assert_eq!(shell.run("unpack out -o -").succeeds().stdout, b"some bytes");
}

#[test]
fn what_is_packed_already_is_not_packed_twice() {
    let shell = Shell::with_frame();
    let said = shell.run("pack data.b2frame");
    let help = "change it with `superchunk convert` or `repack`, or take it as bytes with --raw";
    said.fails(2, &format!("error: `data.b2frame` is packed already\n  help: {help}\n"));
    shell.run("pack data.b2frame --raw -o twice").succeeds();
    let once = shell.run("unpack twice -o -").succeeds().stdout;
    assert_eq!(once, shell.read("data.b2frame"));
}

#[test]
fn impossible_options_are_refused_before_anything_is_made() {
    let shell = Shell::new();
    shell.write("data", b"some bytes");
    for (line, code) in [
        ("pack data -c lzma", 2),
        ("pack data -l 10", 2),
        ("pack data --filters blur", 2),
        ("pack data -t 8 -z 4", 2),
        ("pack data -c zlib --dict", 2),
        ("pack data --dtype blob", 2),
        ("pack data -m nothing", 2),
        ("pack missing", 5),
        ("pack .", 2),
        ("pack data -o missing/out", 5),
    ] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(code), "{line}: {}", said.stderr);
        assert!(said.stderr.starts_with("error: "), "{line}: {}", said.stderr);
    }
    assert_eq!(shell.names(), ["data"]);
}

#[test]
fn messages_name_the_option_that_is_wrong() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[10]));
    shell.write("raw", &[7; 80]);
    shell.run("pack a.npy -o a.b2nd").succeeds();
    let names = shell.names();
    let deep = vec!["1"; 17].join(",");
    for (line, words) in [
        ("pack a.npy -o b.b2nd --chunks 0", "--chunks is 0 along axis 0"),
        ("pack a.npy -o b.b2nd --chunks 5 --blocks 6", "--blocks is 6 along axis 0, the chunk 5"),
        ("convert a.npy b.b2nd --chunks 5 --blocks 6", "--blocks is 6 along axis 0, the chunk 5"),
        ("convert a.b2nd b.b2nd --chunks 5 --blocks 6", "--blocks is 6 along axis 0, the chunk 5"),
        (
            "pack a.npy -o b.b2nd --chunks 99999999999",
            "--chunks [99999999999] is too much for one chunk",
        ),
        (
            &format!("pack raw -o b.b2nd --dtype V80 --shape {deep}"),
            "--shape has 17 dimensions, an array has at most 16",
        ),
    ] {
        shell.run(line).fails(2, &format!("error: {words}\n"));
    }
    let help = "other data takes --chunk-size and --block-size, in bytes";
    for line in [
        "pack raw -o b.b2frame --chunks 5",
        "pack a.npy -o b.blp --blocks 5",
        "convert raw b.b2frame --chunks 5",
        "convert a.npy b.raw --chunks 5",
    ] {
        let text =
            format!("error: --chunks and --blocks are for arrays in frames\n  help: {help}\n");
        shell.run(line).fails(2, &text);
    }
    assert_eq!(shell.names(), names);
}

#[test]
fn an_array_takes_shapes_instead_of_sizes() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[10]));
    shell.run("pack a.npy -o a.b2nd").succeeds();
    let why =
        "counts bytes, but chunks and blocks of an array are boxes with a length along each axis";
    for line in [
        "convert a.npy f.b2frame OPTION",
        "convert a.b2nd f.b2frame OPTION",
        "pack a.npy -o f.b2frame OPTION",
        "repack a.b2nd OPTION",
    ] {
        for (option, given, instead) in [
            ("-z 1M", "--chunk-size (-z)", "--chunks 100,200"),
            ("-b 64K", "--block-size (-b)", "--blocks 10,20"),
        ] {
            let help = format!("`pack` and `convert` take {instead} instead");
            let text = format!("error: {given} {why}\n  help: {help}\n");
            shell.run(&line.replace("OPTION", option)).fails(2, &text);
        }
    }
    assert_eq!(shell.names(), ["a.b2nd", "a.npy"]);
    shell.run("convert a.npy f.b2frame --chunks 5 --blocks 2").succeeds();
}

#[test]
fn a_report_is_json_on_request() {
    let shell = Shell::new();
    shell.write("zeros", &[0; 100_000]);
    let said = shell.run("pack zeros --json").succeeds();
    let stored = shell.read("zeros.b2frame").len();
    let expected = format!(
        "{{\"schema\": 1, \"command\": \"pack\", \"path\": \"zeros\", \"output\": \
         \"zeros.b2frame\", \"nbytes\": 100000, \"stored\": {stored}, \"ratio\": {}}}\n",
        times(stored, 3)
    );
    said.is(&expected, "", 0);
}

/// How often `stored` bytes fit into 100 000.
fn times(stored: usize, digits: usize) -> String {
    format!("{:.digits$}", 100_000.0 / f64::from(u32::try_from(stored).unwrap()))
}
