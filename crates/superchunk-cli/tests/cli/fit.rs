//! Bytes that do not fill an array or whole items are refused, never cut.

use crate::shell::{Shell, npy};

/// A folder with `even`, 80 bytes, and `odd`, 81 bytes.
fn bytes() -> Shell {
    let shell = Shell::new();
    shell.write("odd", &[7; 81]);
    shell.write("even", &[7; 80]);
    shell
}

#[test]
fn an_array_takes_all_bytes_or_none() {
    let shell = bytes();
    for (sides, needed) in [("5", 40), ("2,4", 64), ("11", 88)] {
        for name in ["x.b2nd", "x.blp", "-"] {
            let line = format!("--dtype <f8 --shape {sides} -o {name}");
            let words = |from: &str| {
                format!(
                    "error: `{from}` has 80 bytes, --shape {sides} of <f8 needs {needed}\n  \
                     help: write -1 for one side to have it worked out\n"
                )
            };
            shell.run(&format!("pack even {line}")).fails(2, &words("even"));
            let piped = shell.pipe(&format!("pack - {line}"), &[7; 80]);
            assert_eq!((piped.code, piped.stderr), (Some(2), words("stdin")), "{line}");
        }
    }
    assert_eq!(shell.names(), ["even", "odd"]);
}

#[test]
fn a_side_of_minus_one_is_worked_out() {
    let shell = bytes();
    for (typed, shape) in [("-1", "[10]"), ("5,-1", "[5, 2]"), ("-1,2,1", "[5, 2, 1]")] {
        shell.run(&format!("pack even --dtype <f8 --shape {typed} -o a.b2nd -f")).succeeds();
        let info = shell.run("info --json a.b2nd").succeeds().json();
        assert_eq!(info.get("shape").unwrap().to_json(), shape, "{typed}");
        assert_eq!(shell.run("unpack a.b2nd --raw -o -").succeeds().stdout, [7; 80], "{typed}");
    }
    for (line, words) in [
        (
            "pack even --dtype <f8 --shape 3,-1 -o b.b2nd",
            "`even` has 80 bytes, --shape 3,-1 of <f8 needs a multiple of 24: 8 left over",
        ),
        (
            "pack odd --dtype <f8 -o b.b2nd",
            "`odd` has 81 bytes, --dtype <f8 needs a multiple of 8: 1 left over",
        ),
        (
            "pack even --dtype <f8 --shape -1,-1 -o b.b2nd",
            "--shape -1,-1 of <f8 has more than one side -1",
        ),
        (
            "pack even --dtype <f8 --shape 0,-1 -o b.b2nd",
            "--shape 0,-1 of <f8 has a side 0, so that -1 can be any number",
        ),
        (
            "pack even --dtype <f8 --shape 4294967296,4294967296 -o b.b2nd",
            "--shape 4294967296,4294967296 of <f8 needs more than 2^64 bytes",
        ),
    ] {
        shell.run(line).fails(2, &format!("error: {words}\n"));
    }
    let piped = shell.pipe("pack - --dtype <f8 --shape 5,-1 -o b.b2nd", &[7; 80]);
    let words = "the length of `stdin` is unknown, and --shape 5,-1 of <f8 needs it";
    piped.fails(2, &format!("error: {words}\n  help: give all sides with --shape\n"));
    let negative = shell.run("pack even --dtype <f8 --shape -2,5 -o b.b2nd");
    assert_eq!(negative.code, Some(2));
    assert!(negative.stderr.contains("'-2' for '--shape <LIST>'"), "{}", negative.stderr);
    assert_eq!(shell.names(), ["a.b2nd", "even", "odd"]);
}

#[test]
fn a_numpy_file_holds_one_array_and_nothing_after_it() {
    let shell = Shell::new();
    let array = npy(&[10]);
    shell.write("long.npy", &[array.as_slice(), b"more"].concat());
    shell.write("short.npy", &array[..array.len() - 4]);
    for name in ["x.b2nd", "x.blp"] {
        for verb in ["pack -o", "convert"] {
            let line = |input: &str| match verb {
                "convert" => format!("convert {input} {name}"),
                _ => format!("pack {input} -o {name}"),
            };
            let long = shell.run(&line("long.npy"));
            long.fails(
                4,
                "error: `long.npy` has 4 bytes after its array of 40 bytes\n  help: one array a file \
                 is read; `pack --raw` takes all bytes as they are\n",
            );
            let short = shell.run(&line("short.npy"));
            assert_eq!(short.code, Some(3), "{}", short.stderr);
            assert!(
                short.stderr.contains("the array has 40 bytes, 36 are here"),
                "{}",
                short.stderr
            );
        }
    }
    let typed = shell.run("pack short.npy --dtype <f8 --shape 2 -o x.b2nd");
    typed.fails(
        2,
        "error: `short.npy` states its type and shape itself\n  help: leave out --dtype and --shape, \
         or take it as bytes with --raw\n",
    );
    assert_eq!(shell.names(), ["long.npy", "short.npy"]);
}

#[test]
fn values_are_whole_items_of_their_type() {
    let shell = bytes();
    shell.run("pack even -o even.b2frame").succeeds();
    shell.run("pack odd --dtype <f8 -o odd.b2frame").succeeds();
    let names = shell.names();
    let help = "`cat --format hex` and `unpack --raw` take any number of bytes";
    for (line, len, dtype, size, rest) in [
        ("cat even.b2frame --dtype V32", 80, "|V32", 32, 16),
        ("head -n 1 even.b2frame --dtype V32", 80, "|V32", 32, 16),
        ("cat even.b2frame@:9 --dtype <u4", 9, "<u4", 4, 1),
        ("cat odd.b2frame", 81, "<f8", 8, 1),
        ("unpack odd.b2frame --npy -o x.npy", 81, "<f8", 8, 1),
        ("unpack even.b2frame@:9 --npy --dtype <u2 -o x.npy", 9, "<u2", 2, 1),
        ("convert odd.b2frame x.npy", 81, "<f8", 8, 1),
        ("convert odd.b2frame x.b2nd", 81, "<f8", 8, 1),
    ] {
        let name = line.split(' ').find(|word| word.contains(".b2frame")).unwrap();
        let name = name.split('@').next().unwrap();
        let words = format!("`{name}` has {len} bytes, items of type {dtype} need a multiple of");
        let text = format!("error: {words} {size}: {rest} left over\n  help: {help}\n");
        let said = shell.run(line);
        assert_eq!((said.code, said.stderr), (Some(2), text), "{line}");
    }
    assert_eq!(shell.names(), names);
    shell.run("unpack even.b2frame@:16 --npy --dtype <u2 -o x.npy").succeeds();
    let file = shell.read("x.npy");
    assert!(String::from_utf8_lossy(&file[..128]).contains("'shape': (8,)"));
    assert_eq!(file[128..], [7; 16]);
    for line in ["cat odd.b2frame --format raw", "unpack odd.b2frame --raw -o -"] {
        assert_eq!(shell.run(line).succeeds().stdout, [7; 81], "{line}");
    }
}
