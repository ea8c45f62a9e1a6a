//! `bench`.

use crate::shell::Shell;

#[test]
fn every_combination_has_a_line() {
    let shell = Shell::with_frame();
    let line =
        "bench data.b2frame --codecs lz4,zstd --levels 1,5 --filters none,delta+shuffle --rounds 1";
    let said = shell.run(line).succeeds();
    assert_eq!(said.text().lines().count(), 2 + 8, "{}", said.text());
    let json = shell.run(&format!("{line} --json -T 1")).succeeds().json();
    assert_eq!(json.get("threads").unwrap().as_u64(), Some(1));
    assert!(json.get("results").unwrap().to_json().contains("\"filters\": \"delta+shuffle\""));
}

#[test]
fn nothing_to_measure_is_told() {
    let shell = Shell::new();
    shell.write("empty", b"");
    shell.run("bench empty").fails(2, "error: `empty` has no data to measure\n");
    assert_eq!(shell.run("bench missing").code, Some(5));
}
