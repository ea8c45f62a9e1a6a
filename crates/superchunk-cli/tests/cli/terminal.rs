//! Tables in a terminal: lines fit its width.

#![cfg(target_os = "linux")]

use crate::shell::{Said, Shell};

fn with_table() -> Shell {
    let shell = Shell::new();
    let (long, middle) = ("abcdefghij".repeat(6), "ü".repeat(20));
    let rows = format!("1234567890123,{long},{middle},x\n-5,short,,y\n");
    shell.write("t.csv", format!("number,text,other,end\n{rows}").as_bytes());
    shell.run("convert t.csv t.bcolz").succeeds();
    shell
}

/// Runs a line of a shell in a terminal: `script` makes one, whose width `stty` sets.
fn in_terminal(shell: &Shell, line: &str) -> Said {
    let mut said = shell.sh(&format!("script -qec '{line}' /dev/null < /dev/null")).succeeds();
    // A terminal goes to the start of the line, too.
    said.stdout.retain(|byte| *byte != b'\r');
    said
}

/// The table with columns of texts of these lengths at most.
fn cut(text: usize, other: usize) -> String {
    let shorten = |letters: String, most: usize| match letters.chars().count() > most {
        true => letters.chars().take(most - 1).collect::<String>() + "…",
        false => letters,
    };
    let line = |cells: [&str; 4]| {
        let (t, o) = (shorten(cells[1].to_owned(), text), shorten(cells[2].to_owned(), other));
        format!("{:>13}  {t:<text$}  {o:<other$}  {}\n", cells[0], cells[3])
    };
    let (long, middle) = ("abcdefghij".repeat(6), "ü".repeat(20));
    line(["number", "text", "other", "end"])
        + &line(["1234567890123", &long, &middle, "x"])
        + &line(["-5", "short", "", "y"])
}

#[test]
fn long_texts_are_cut_to_the_width_of_the_terminal() {
    let shell = with_table();
    // 13 for the number, 3 for the last column, 6 between them: what is left is shared.
    for (width, text, other) in [(70, 28, 20), (60, 19, 19), (40, 9, 9), (30, 4, 4)] {
        let line = format!("stty cols {width}; superchunk cat t.bcolz");
        let said = in_terminal(&shell, &line);
        assert_eq!(said.text(), cut(text, other), "{width} columns");
        let longest = said.text().lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(width), "{longest:?} of {width}");
    }
    let line = "stty cols 40; superchunk head -n 1 t.bcolz --cols text";
    let expected = format!("text\n{}…\n", &"abcdefghij".repeat(6)[..39]);
    assert_eq!(in_terminal(&shell, line).text(), expected);
    let line = "stty cols 20; superchunk cat t.bcolz --agg count --by text --cols text";
    let expected = "text\nabcdefghijabcdefghi…\nshort\n";
    assert_eq!(in_terminal(&shell, line).text(), expected);
}

#[test]
fn a_terminal_without_a_width_has_that_of_the_environment_or_80() {
    let shell = with_table();
    let line = "stty cols 0; COLUMNS=60 superchunk cat t.bcolz";
    assert_eq!(in_terminal(&shell, line).text(), cut(19, 19));
    for unset in ["unset COLUMNS", "COLUMNS=0; export COLUMNS", "COLUMNS=wide; export COLUMNS"] {
        let line = format!("stty cols 0; {unset}; superchunk cat t.bcolz");
        assert_eq!(in_terminal(&shell, &line).text(), cut(38, 20), "{unset}");
    }
}

#[test]
fn nothing_is_cut_on_request_and_outside_of_terminals() {
    let shell = with_table();
    let whole = cut(60, 20);
    let line = "stty cols 40; superchunk cat t.bcolz --wide";
    assert_eq!(in_terminal(&shell, line).text(), whole);
    shell.run("cat t.bcolz").is(&whole, "", 0);
    shell.sh("COLUMNS=40 superchunk cat t.bcolz").is(&whole, "", 0);
    // Other forms are for programs.
    for form in ["csv", "jsonl", "md"] {
        let line = format!("stty cols 40; superchunk cat t.bcolz --format {form}");
        let plain = shell.run(&format!("cat t.bcolz --format {form}")).succeeds();
        assert_eq!(in_terminal(&shell, &line).text(), plain.text(), "{form}");
    }
}

#[test]
fn long_headings_are_cut_as_texts_are_and_numbers_never() {
    let shell = Shell::new();
    let (number, text) = ("a number with a long heading", "a text with a long heading");
    shell.write("t.csv", format!("{number},{text}\n123456,x\n-7,abcdefghijklmnop\n").as_bytes());
    shell.run("convert t.csv t.bcolz").succeeds();
    let said = in_terminal(&shell, "stty cols 24; superchunk cat t.bcolz");
    let lines = ["a number w…  a text wit…", "     123456  x", "         -7  abcdefghij…"];
    assert_eq!(said.text().lines().collect::<Vec<_>>(), lines);
    let said = in_terminal(&shell, "stty cols 12; superchunk cat t.bcolz");
    assert_eq!(
        said.text().lines().collect::<Vec<_>>(),
        ["a num…  a t…", "123456  x", "    -7  abc…"]
    );
    let said = in_terminal(&shell, "stty cols 24; superchunk cat t.bcolz --wide");
    assert!(said.text().starts_with(&format!("{number}  {text}\n")), "{}", said.text());
}
