//! `tune`.

use crate::shell::{Shell, npy, readings};

#[test]
fn what_is_recommended_can_be_typed_and_applied() {
    let shell = Shell::with_frame();
    let said =
        shell.run("tune data.f8 --sample 512K --objective size --apply out.b2frame").succeeds();
    let advice =
        said.text().lines().last().unwrap().strip_prefix("recommended: superchunk ").unwrap();
    shell.run(&format!("{advice} -o typed.b2frame")).succeeds();
    assert_eq!(said.text().lines().filter(|line| line.starts_with('*')).count(), 1);
    for name in ["out.b2frame", "typed.b2frame"] {
        assert_eq!(shell.run(&format!("diff {name} data.f8")).code, Some(0), "{name}");
    }
    let sizes = ["out.b2frame", "typed.b2frame"].map(|name| shell.read(name).len());
    assert_eq!(sizes[0], sizes[1]);
    // Small is what was asked for.
    assert!(sizes[0] <= shell.read("data.b2frame").len());
}

#[test]
fn nothing_on_the_list_beats_another_line_of_it() {
    let shell = Shell::new();
    shell.write("data", &readings(60_000));
    let json = shell.run("tune data -t 8 --json").succeeds().json();
    let trials = json.get("trials").unwrap().to_json();
    let ratios: Vec<f64> = trials
        .split("\"ratio\": ")
        .skip(1)
        .map(|rest| rest.split(',').next().unwrap().parse().unwrap())
        .collect();
    assert!(ratios.is_sorted_by(|one, other| one >= other), "{ratios:?}");
    assert_eq!(trials.matches("\"recommended\": true").count(), 1);
}

#[test]
fn arrays_stay_arrays() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[100, 100]));
    shell.run("tune a.npy --apply a.b2nd").succeeds();
    assert!(shell.run("unpack a.b2nd -o -").stdout == npy(&[100, 100]));
    assert_eq!(shell.run("tune a.npy --apply a.b2nd").code, Some(7));
}

#[test]
fn nothing_is_recommended_that_other_programs_misread() {
    let shell = Shell::new();
    // Counting numbers become much smaller by delta.
    let counts: Vec<u8> = (0..60_000u64).flat_map(|n| (n * 7_777_777).to_le_bytes()).collect();
    shell.write("counts", &counts);
    let json = shell.run("tune counts -t 8 --objective size --json --apply out.b2frame").json();
    let filters = json.get("trials").unwrap().to_json();
    assert!(filters.contains("shuffle") && !filters.contains("\"delta"), "{filters}");
    let said = shell.run("tune counts -t 8 --objective size");
    assert!(!said.stderr.contains("delta"), "{}", said.stderr);
    let info = shell.run("info --json out.b2frame").succeeds().json();
    assert!(!info.get("filters").unwrap().to_json().contains("\"delta"), "{}", info.to_json());
}
