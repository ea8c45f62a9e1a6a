//! `cat` and `head`.

use crate::shell::{Shell, npy};

fn counting() -> Shell {
    let shell = Shell::new();
    shell.write("n", &npy(&[30])[128..]);
    shell.run("pack n --dtype <i4").succeeds();
    shell
}

#[test]
fn every_form_shows_the_same_values() {
    let shell = counting();
    let cases = [
        ("table", "       0: 3 4 5\n"),
        ("csv", "3\n4\n5\n"),
        ("json", "[3, 4, 5]\n"),
        ("jsonl", "3\n4\n5\n"),
        ("raw", "\x03\0\0\0\x04\0\0\0\x05\0\0\0"),
        ("hex", "00000000  03 00 00 00 04 00 00 00  05 00 00 00              |............|\n"),
    ];
    for (form, expected) in cases {
        shell.run(&format!("cat n.b2frame@3:6 --format {form}")).is(expected, "", 0);
    }
    shell.run("cat n.b2frame@3:6 --json").is("[3, 4, 5]\n", "", 0);
}

#[test]
fn types_can_be_told_or_are_guessed() {
    let shell = counting();
    shell.run("cat n.b2frame@-1 --dtype <u2").is("       0: 29 0\n", "", 0);
    let typeless = Shell::with_frame();
    let said = typeless.run("head -n 1 data.b2frame --format csv");
    // 15.0 as an unsigned integer.
    said.is(&format!("{}\n", 15.0f64.to_bits()), "", 0);
    typeless.run("head -n 2 data.b2frame --dtype <f8 --format csv").is("15.0\n15.05\n", "", 0);
    let bytes = typeless.pipe("cat -", b"hello").succeeds();
    assert!(bytes.text().ends_with("|hello|\n"), "{}", bytes.text());
}

#[test]
fn the_first_values_are_ten_unless_told() {
    let shell = counting();
    shell.run("head n.b2frame").is("       0: 0 1 2 3 4 5 6 7 8 9\n", "", 0);
    shell.run("head -n 3 n.b2frame@::10 --format json").is("[0, 10, 20]\n", "", 0);
    shell.write("a.npy", &npy(&[5, 3]));
    shell.run("pack a.npy").succeeds();
    shell.run("head -n 4 a.b2nd").is("       0: 0 1 2\n       3: 3\n", "", 0);
    shell.run("cat a.b2nd@1:3,1:").is("       0: 4 5\n       2: 7 8\n", "", 0);
}

#[test]
fn a_plane_becomes_a_picture() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[5, 3, 4]));
    shell.run("pack a.npy").succeeds();
    shell.run("cat a.b2nd@1,:,: --png plane.png").is("", "", 0);
    let picture = shell.read("plane.png");
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    // Width and height of the first block, IHDR.
    assert_eq!(picture[16..24], [0, 0, 0, 4, 0, 0, 0, 3]);
    assert_eq!(shell.run("cat a.b2nd@1,:,: --png plane.png").code, Some(7));
    shell.run("cat a.b2nd@2 --png plane.png -f").is("", "", 0);
    shell.run("cat a.b2nd --png b.png").fails(
        2,
        "error: a picture has two dimensions, this has 3\n  help: take a plane, like cube.b2nd@0,:,:\n",
    );
    assert_eq!(shell.names(), ["a.b2nd", "a.npy", "plane.png"]);
}

#[test]
fn a_slice_that_does_not_fit_is_a_usage_error() {
    let said = counting().run("cat n.b2frame@30");
    said.fails(
        2,
        "error: `@30` does not fit: index 30 is outside of axis 0, whose length is 30\n  help: a slice is like @5, @10:20, @:100, @-5: \
         or @::2\n",
    );
}

#[test]
fn slips_of_the_pen_get_a_hint_and_the_exit_code_of_usage() {
    let shell = Shell::new();
    shell.write("t.csv", b"a,b\n1,2\n3,4\n");
    shell.run("convert t.csv t.bcolz -q").is("", "", 0);
    shell.write("four", &[1, 2, 3, 4]);
    shell.run("pack four --dtype |u1 --shape 2,2 -o four.b2nd -q").is("", "", 0);
    let cases = [
        ("cat t.bcolz --where", "a > 1 AND b > 1", "for `AND`, write and"),
        ("cat t.bcolz --where", "a > 1 Or b > 1", "for `Or`, write or"),
        ("cat t.bcolz --where", "zz > 1", "there are a, b"),
        ("cat t.bcolz --cols", "zz", "the columns are a, b"),
        ("cat t.bcolz --cols", "a,zz/10", "the columns are a, b"),
        ("cat t.bcolz --agg", "sum(zz)", "the columns are a, b"),
        ("cat t.bcolz --by", "zz", "the columns are a, b"),
        ("cat t.bcolz --agg sum(a) --cols", "a", "the columns are count, sum(a)"),
        ("cat", "t.bcolz::zz", "it has a, b"),
        ("cat", "t.bcolz@a:b", "a slice is like"),
        ("cat", "t.bcolz@[0,0]", "a slice is like"),
        ("cat", "four.b2nd@[0,0]", "@0,0"),
        ("cat", "four.b2nd@0,a", "neither an index nor start:stop:step"),
    ];
    for (line, last, hint) in cases {
        let said = shell.run_with(line, last);
        assert_eq!(said.code, Some(2), "{line} {last}: {}", said.stderr);
        assert!(said.stderr.contains(hint), "{line} {last}: {}", said.stderr);
    }
}

#[test]
fn a_slice_of_stdin_is_a_location() {
    let shell = counting();
    let frame = shell.read("n.b2frame");
    for (line, expected) in [
        ("cat -@:3 --format json", "[0, 1, 2]\n"),
        ("cat --format json -@-2:", "[28, 29]\n"),
        ("head -n 2 -@::10 --format json", "[0, 10]\n"),
        ("cat -@5 --format csv", "5\n"),
        ("unpack -@1:2 --raw", "\x01\0\0\0"),
    ] {
        let said = shell.pipe(line, &frame);
        assert_eq!(
            (said.text(), said.stderr.as_str(), said.code),
            (expected, "", Some(0)),
            "{line}"
        );
    }
    assert_eq!(shell.run("cat n.b2frame -@:3").code, Some(2));
}

#[test]
fn a_negative_count_leaves_out_the_last_values() {
    let shell = counting();
    shell.write("a.npy", &npy(&[3, 2]));
    shell.write("t.csv", b"a\n1\n2\n3\n");
    shell.write("lines", b"one\ntwo\nthree\n");
    shell.run("convert t.csv t.bcolz").succeeds();
    shell.run("pack lines --varlen -o lines.b2frame").succeeds();
    for (line, expected) in [
        ("head -n -27 n.b2frame --format json", "[0, 1, 2]\n"),
        ("head -n -2 n.b2frame@:5 --format json", "[0, 1, 2]\n"),
        ("head --count -99 n.b2frame --format json", "[]\n"),
        ("head -n -4 a.npy --format json", "[0, 1]\n"),
        ("head -n -2 t.bcolz --format csv", "a\n1\n"),
        ("head -n -1 t.bcolz@1: --format csv", "a\n2\n"),
        ("head -n -2 lines.b2frame", "one\n"),
    ] {
        let said = shell.run(line);
        assert_eq!(
            (said.text(), said.stderr.as_str(), said.code),
            (expected, "", Some(0)),
            "{line}"
        );
    }
    let said = shell.run_with("head -n -2 t.bcolz --where", "a > 1");
    let words = "a negative -n needs the number of rows, which --where, --agg and --by change";
    said.fails(2, &format!("error: {words}\n  help: give the number of rows to show\n"));
}

#[test]
fn half_floats_have_the_fewest_digits_that_mean_them() {
    let shell = Shell::new();
    // 0.1, 1/3, 1.5, the largest one, the smallest one, and what is not a number, by their bits.
    let bits: [u16; 6] = [0x2e66, 0x3555, 0x3e00, 0x7bff, 0x0001, 0x7e00];
    shell.write("half", &bits.map(u16::to_le_bytes).concat());
    shell.run("pack half --dtype <f2").succeeds();
    shell.run("cat half.b2frame --format csv").is("0.1\n0.3333\n1.5\n65500.0\n6e-8\nnan\n", "", 0);
    let json = "[0.1, 0.3333, 1.5, 65500.0, 6e-8, {\"$float\": \"nan\"}]\n";
    shell.run("cat half.b2frame --json").is(json, "", 0);
}
