//! `--help`, `--version`, and wrong command lines.

use crate::shell::Shell;

const COMMANDS: [&str; 21] = [
    "pack",
    "unpack",
    "info",
    "ls",
    "cat",
    "head",
    "inspect",
    "verify",
    "convert",
    "append",
    "attr",
    "repack",
    "salvage",
    "diff",
    "bench",
    "tune",
    "caps",
    "blpk",
    "completions",
    "man",
    "demo",
];

#[test]
fn every_help_fits_a_screen_and_shows_an_example() {
    let shell = Shell::new();
    let top = shell.run("--help").succeeds();
    for command in COMMANDS {
        assert!(top.text().lines().any(|line| line.trim_start().starts_with(command)), "{command}");
        let help = shell.run(&format!("{command} --help")).succeeds();
        let lines = help.text().lines().count();
        // Files, arrays, objects, many formats: it has the most to choose.
        let most = match command {
            "pack" => 43,
            _ => 40,
        };
        assert!(lines <= most, "{command}: {lines} lines");
        assert!(help.text().contains(&format!("  superchunk {command}")), "{command}");
        let widest = help.text().lines().map(|line| line.chars().count()).max();
        assert!(widest.unwrap() <= 100, "{command}: {widest:?}");
    }
    assert!(top.text().lines().count() <= 48);
}

#[test]
fn the_version_is_told() {
    let said = Shell::new().run("--version");
    said.is(&format!("superchunk {}\n", env!("CARGO_PKG_VERSION")), "", 0);
}

#[test]
fn wrong_command_lines_are_usage_errors() {
    let shell = Shell::new();
    for line in
        ["frobnicate", "pack --frob", "info", "inspect", "unpack -T x", "--limit-mem 0 caps"]
    {
        let said = shell.run(line);
        assert_eq!((said.code, said.text()), (Some(2), ""), "{line}");
        assert!(said.stderr.starts_with("error: "), "{line}: {}", said.stderr);
    }
}
