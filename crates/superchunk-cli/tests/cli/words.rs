//! Errors speak of what was typed and of files, not of what the program is made of.

use crate::shell::{Shell, npy};

/// The line fails with this code, and says these words.
fn says(shell: &Shell, line: &str, last: Option<&str>, code: i32, words: &str) {
    let said = match last {
        Some(last) => shell.run_with(line, last),
        None => shell.run(line),
    };
    assert_eq!((said.code, said.text()), (Some(code), ""), "{line} {last:?}: {}", said.stderr);
    assert!(said.stderr.contains(words), "{line} {last:?}: {}", said.stderr);
}

fn folder() -> Shell {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[40]));
    shell.write("t.csv", b"a,b\n1,2\n-7,4\n");
    shell.write("data", &[7; 80]);
    std::fs::create_dir(shell.path("home")).unwrap();
    shell.write("home/README", b"read me");
    for line in ["convert t.csv t.bcolz", "pack data -o f.b2frame", "pack a.npy"] {
        shell.run(line).succeeds();
    }
    shell
}

#[test]
fn the_library_is_not_named() {
    let shell = folder();
    for (name, what) in [
        ("t.bcolz", "a bcolz table"),
        ("a.npy", "a .npy file"),
        ("f.b2frame", "a contiguous frame"),
        ("a.b2nd", "a contiguous frame"),
    ] {
        let said = shell.run(&format!("blpk info {name}"));
        let words = "This might not be a bloscpack compressed file.";
        said.is(&format!("blpk: error: '{name}' is {what}\nblpk: error: {words}\n"), "", 1);
    }
}

#[test]
fn errors_say_what_is_there_and_what_to_do() {
    let shell = folder();
    let lists = "`superchunk ls home` and `superchunk verify -r home` look at what is in it";
    for (line, code, words) in [
        (
            "info home",
            4,
            "error: the folder `home` is of no known format: it has no `chunks.b2frame`, ",
        ),
        ("info home", 4, "or `columns.json`"),
        ("info home", 4, lists),
        ("append home t.csv", 4, lists),
        ("info --compat a.npy", 4, "--compat: `a.npy` is a .npy file: no reader of Blosc data"),
        (
            "convert t.csv y.csv",
            2,
            "`t.csv` is text: CSV is made of a table\n  help: `superchunk convert t.csv OUT.bcolz`",
        ),
        ("convert data y.npy --dtype <f8", 2, "`superchunk pack data --dtype '<f8' -o OUT.b2nd`"),
        ("convert f.b2frame y.npy --dtype <f8", 2, "`superchunk unpack f.b2frame --dtype '<f8'"),
        (
            "convert t.csv y.bcolz --dtype <f8",
            2,
            "--dtype: expected COLUMN=TYPE, like close=float32, got `<f8`",
        ),
        ("pack a.npy --shape 5,8 -o y", 2, "`a.npy` states its type and shape itself"),
        ("pack data --shape 5,2 -o y", 2, "--shape needs the type of the items"),
        ("repack a.b2nd --chunks 3", 2, "`superchunk convert IN OUT` takes --chunks and --blocks"),
        ("repack a.b2nd --blocks 3", 2, "`repack` keeps the shapes of chunks and blocks"),
        ("help nothing", 2, "there is no command `nothing`"),
    ] {
        says(&shell, line, None, code, words);
    }
}

#[test]
fn help_is_a_command_too() {
    let shell = Shell::new();
    for (line, same) in
        [("help", "--help"), ("help pack", "pack --help"), ("help attr set", "attr set --help")]
    {
        let said = shell.run(line).succeeds();
        assert_eq!(said.text(), shell.run(same).succeeds().text(), "{line}");
    }
}

#[test]
fn what_begins_with_a_hyphen_can_be_a_value() {
    let shell = folder();
    for (value, text) in [("-5", "-5\n"), ("-1.5", "-1.5\n")] {
        shell.run(&format!("attr set f.b2frame k {value}")).is("", "", 0);
        shell.run("attr get f.b2frame k").is(text, "", 0);
    }
    let shown = |option: &str, value: &str| {
        let said = shell.run_with(&format!("cat t.bcolz --format csv {option}"), value).succeeds();
        said.text().to_owned()
    };
    assert_eq!(shown("--where", "-5 < a"), "a,b\n1,2\n");
    assert_eq!(shown("--where", "-a < 0"), "a,b\n1,2\n");
    // Columns may be called so.
    shell.write("odd.csv", b"-n,-m\n1,2\n3,4\n");
    shell.run_with("convert odd.csv odd.bcolz -q --dtype", "-n=f4").is("", "", 0);
    shell.run_with("cat odd.bcolz --format csv --cols", "-n").is("-n\n1.0\n3.0\n", "", 0);
    let by = shell.run("cat odd.bcolz --format csv --agg sum(-m) --by -n");
    by.is("-n,count,sum(-m)\n1.0,1,2\n3.0,1,4\n", "", 0);
    says(&shell, "cat t.bcolz --cols", Some("-n"), 2, "there is no column `-n`");
    let expected = "expected a whole number, 0 or more";
    for line in ["info f.b2frame -T -2", "pack a.npy --chunks -3", "bench data --rounds -1"] {
        says(&shell, line, None, 2, expected);
    }
    says(&shell, "append f.b2frame data --replace -1", None, 2, expected);
    says(&shell, "pack data --shape -3", None, 2, "expected a length, or -1 for what is left");
}

#[test]
fn options_are_named_where_their_values_are_wrong() {
    let shell = folder();
    let before = shell.names();
    for (line, words) in [
        ("pack a.npy --filters ndcell:50 -o q.b2nd", "--filters ndcell:50: a cell of side 50"),
        ("convert a.b2nd q.b2nd --filters ndcell:50", "--filters ndcell:50: a cell of side 50"),
        ("pack a.npy --filters ndmean:0 -o q.b2nd", "--filters ndmean:0: cells need a side"),
        (
            "pack a.npy -c ndlz:4 -o q.b2nd",
            "--codec (-c) ndlz:4 needs an array with 2 axes, this one has 1",
        ),
        ("convert a.b2nd q.b2nd -c ndlz:8", "--codec (-c) ndlz:8 needs an array with 2 axes"),
        ("pack data -m =1 -o q.b2frame", "--meta (-m) =1: a name has 1 to 31 bytes"),
        ("pack data -m =1 -o q.blp", "--meta (-m) =1: a name has 1 to 31 bytes"),
        ("pack data -m unit -o q.b2frame", "--meta (-m): expected KEY=VALUE, got `unit`"),
        ("cat t.bcolz --cols a/x", "--cols a/x: expected a number after `/`, got `x`"),
        ("cat t.bcolz --cols a*", "--cols a*: expected a number after `*`, got ``"),
        ("cat t.bcolz --cols a/0", "--cols a/0 divides by zero"),
    ] {
        says(&shell, line, None, 2, words);
    }
    assert_eq!(shell.names(), before);
}
