//! `attr`.

use crate::shell::{Shell, npy};

#[test]
fn attributes_are_set_listed_and_removed() {
    let shell = Shell::with_frame();
    shell.run_with("attr set data.b2frame range", "[0, 500.5]").is("", "", 0);
    shell.run("attr set data.b2frame name Paris").is("", "", 0);
    shell.run("attr get data.b2frame range").is("[0, 500.5]\n", "", 0);
    shell.run("attr ls data.b2frame").is(
        "unit = \"K\"\nrange = [0, 500.5]\nname = \"Paris\"\n",
        "",
        0,
    );
    shell.run("attr rm data.b2frame range").is("", "", 0);
    let expected = "{\"schema\": 1, \"command\": \"attr\", \"path\": \"data.b2frame\", \"attributes\": \
                    {\"unit\": \"K\", \"name\": \"Paris\"}, \"metalayers\": {}}\n";
    shell.run("attr ls --json data.b2frame").is(expected, "", 0);
    shell.run("verify -q data.b2frame").succeeds();
}

#[test]
fn one_attribute_too_many_says_what_helps() {
    let shell = Shell::with_frame();
    for number in 1..16 {
        shell.run(&format!("attr set data.b2frame name{number} {number}")).succeeds();
    }
    let words = "error: data.b2frame: `more` is one too many: a frame holds 16\n  \
                 help: `superchunk attr rm` removes another one\n";
    shell.run("attr set data.b2frame more 7").fails(6, words);
}

#[test]
fn metalayers_are_read() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[2, 3]));
    shell.run("pack a.npy").succeeds();
    let said = shell.run("attr get a.b2nd b2nd").succeeds();
    assert_eq!(said.text(), "[0, 2, [2, 3], [2, 3], [2, 3], 0, \"<i4\"]\n");
    assert!(shell.run("attr ls a.b2nd").succeeds().text().ends_with(" (metalayer)\n"));
}

#[test]
fn what_is_missing_is_told() {
    let shell = Shell::with_frame();
    let words =
        "error: `data.b2frame` has no attribute `nope`\n  help: `superchunk attr ls` lists them\n";
    shell.run("attr get data.b2frame nope").fails(1, words);
    shell.run("attr rm data.b2frame nope").fails(1, words);
    assert_eq!(shell.run("attr ls data.f8").code, Some(4));
    assert_eq!(shell.run("attr set missing a b").code, Some(5));
}
