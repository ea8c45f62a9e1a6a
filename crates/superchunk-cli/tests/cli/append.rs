//! `append`.

use std::io::{Read, Write};

use crate::shell::{Shell, npy, readings};

#[test]
fn files_and_stdin_go_behind_what_is_there() {
    let shell = Shell::with_frame();
    shell.write("more", &readings(100));
    let said = shell.run("append data.b2frame more more");
    said.fails(0, "data.b2frame: 1.60 kB appended, 801.6 kB in all\n");
    shell.pipe("append data.b2frame -", &readings(5)).succeeds();
    let back = shell.run("unpack data.b2frame -o -").succeeds().stdout;
    assert!(back == [readings(100_000), readings(100), readings(100), readings(5)].concat());
    shell.run("verify data.b2frame").succeeds();
}

#[test]
fn what_is_packed_gives_its_content() {
    let shell = Shell::with_frame();
    shell.write("more", &readings(100));
    shell.run("pack more -t 8").succeeds();
    shell.run("append more.b2frame data.b2frame").succeeds();
    let back = shell.run("unpack more.b2frame -o -").succeeds().stdout;
    assert!(back == [readings(100), readings(100_000)].concat());
}

#[test]
fn arrays_grow_along_their_first_axis() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[4, 3]));
    shell.write("b.npy", &npy(&[2, 3]));
    shell.write("wrong.npy", &npy(&[3, 2]));
    shell.run("pack a.npy").succeeds();
    shell.run("append a.b2nd b.npy").fails(0, "a.b2nd: 24 B appended, 72 B in all\n");
    shell.run("cat a.b2nd@3:5").is("       0: 9 10 11\n       3: 0 1 2\n", "", 0);
    shell
        .run("append a.b2nd wrong.npy")
        .fails(2, "error: <i4 of shape [3, 2] does not go behind <i4 of shape [6, 3]\n");
    shell.write("odd", &[0; 13]);
    assert_eq!(shell.run("append a.b2nd odd").code, Some(2));
    assert_eq!(shell.run("info --json a.b2nd").json().get("shape").unwrap().to_json(), "[6, 3]");
}

#[test]
fn a_part_of_an_item_is_refused_and_nothing_is_appended() {
    let shell = Shell::with_frame();
    let before = shell.run("unpack data.b2frame -o -").stdout;
    shell.write("odd", &[1; 13]);
    shell
        .run("append data.b2frame odd")
        .fails(2, "error: 13 bytes are not whole items of 8 bytes\n  help: nothing was appended\n");
    assert_eq!(shell.run("unpack data.b2frame -o -").stdout, before);
    assert_eq!(shell.run("append data.b2frame missing").code, Some(5));
    assert_eq!(shell.run("append data.f8 odd").code, Some(4));
    assert_eq!(shell.run("unpack data.b2frame -o -").stdout, before);
}

#[test]
fn two_writers_do_not_meet() {
    let shell = Shell::with_frame();
    let mut first = shell.start("append data.b2frame - -v");
    // It has the lock before it reads, and it has read when a pipe's worth is gone.
    let mut pipe = first.stdin.take().unwrap();
    pipe.write_all(&readings(100_000)).unwrap();
    let second = shell.run("append data.b2frame data.f8");
    assert_eq!(second.code, Some(7), "{}", second.stderr);
    assert!(second.stderr.contains("help: another program is writing to it"), "{}", second.stderr);
    drop(pipe);
    let mut words = String::new();
    first.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    assert!(first.wait().unwrap().success(), "{words}");
    let info = shell.run("info --json data.b2frame").json();
    assert_eq!(info.get("nbytes").unwrap().as_u64(), Some(1_600_000));
}

#[test]
fn what_the_filter_delta_is_applied_to_comes_with_a_warning() {
    let shell = Shell::new();
    shell.write("data", &readings(1000));
    shell.write("list", b"one\ntwo\n");
    shell.write("t.csv", b"a,b\n1,2\n3,4\n");
    for line in [
        "pack data -t 8 --filters delta -o bytes.b2frame",
        "pack data --dtype <f8 --shape -1 --filters delta,shuffle -o array.b2nd",
        "pack list --varlen --filters delta -o list.b2frame",
        "convert t.csv folder --to columns --filters delta",
    ] {
        shell.run(line).succeeds();
    }
    let warning = "warning: with the filter delta, C-Blosc2 and python-blosc2 read ";
    for line in [
        "append bytes.b2frame data",
        "append array.b2nd data",
        "append list.b2frame list",
        "append folder t.csv",
    ] {
        let said = shell.run(line).succeeds();
        assert_eq!(said.stderr.matches(warning).count(), 1, "{line}: {}", said.stderr);
    }
    shell.run("pack data -t 8 -o plain.b2frame -q").is("", "", 0);
    shell.run("append plain.b2frame data -q").is("", "", 0);
}
