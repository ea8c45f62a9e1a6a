//! `diff`.

use crate::shell::{Shell, npy, readings};

#[test]
fn equal_contents_are_equal_whatever_they_are_stored_in() {
    let shell = Shell::with_frame();
    shell.run("convert data.b2frame other --to sparse -c lz4").succeeds();
    shell.run("diff data.b2frame other").is("", "", 0);
    shell.run("diff data.f8 data.b2frame -v").is("", "equal\n", 0);
}

#[test]
fn the_first_difference_is_told() {
    let shell = Shell::with_frame();
    let mut data = readings(100_000);
    data[8 * 70_000..8 * 70_001].copy_from_slice(&1.5f64.to_le_bytes());
    shell.write("other", &data);
    shell.run("pack other --dtype <f8").succeeds();
    let said = shell.run("diff other.b2frame data.b2frame");
    let old = readings(100_000);
    let value = f64::from_le_bytes(old[8 * 70_000..8 * 70_001].try_into().unwrap());
    let byte = (0..8).find(|at| data[560_000 + at] != old[560_000 + at]).unwrap() + 560_000;
    let words =
        format!("the first difference is in item 70000, at byte {byte}: 1.5 and {value:?}\n");
    said.is(&words, "", 1);
    let json = shell.run("diff --json other.b2frame data.b2frame");
    assert_eq!((json.code, json.json().get("equal").unwrap().as_bool()), (Some(1), Some(false)));
}

#[test]
fn lengths_shapes_and_attributes_differ_too() {
    let shell = Shell::with_frame();
    shell.write("short", &readings(10));
    let said = shell.run("diff data.b2frame short");
    said.is("the lengths differ: 800000 and 80 bytes; the first 80 are equal\n", "", 1);
    shell.write("a.npy", &npy(&[2, 6]));
    shell.write("b.npy", &npy(&[6, 2]));
    let said = shell.run("diff a.npy b.npy");
    said.is("the arrays are [2, 6] of <i4 and [6, 2] of <i4\n", "", 1);
    shell.run("convert data.b2frame other.b2frame").succeeds();
    shell.run("attr set other.b2frame unit C").succeeds();
    assert_eq!(shell.run("diff data.b2frame other.b2frame").code, Some(0));
    shell.run("diff --meta data.b2frame other.b2frame").is("the attribute `unit` differs\n", "", 1);
}
