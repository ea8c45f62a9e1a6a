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
            "pack" => 44,
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

#[test]
fn a_negative_number_is_the_value_of_its_option() {
    let shell = Shell::new();
    shell.write("data", &[7; 80]);
    for (line, option) in [
        ("pack data -t -3", "'-3' for '--typesize <N>'"),
        ("pack data -z -3", "'-3' for '--chunk-size <SIZE>'"),
        ("pack data -b -64", "'-64' for '--block-size <SIZE>'"),
        ("pack data -l -3", "'-3' for '--level <N>'"),
        ("pack data --chunks -3,4", "'-3' for '--chunks <LIST>'"),
        ("bench data -t -3", "'-3' for '--typesize <N>'"),
        ("caps -T -3", "'-3' for '--threads <N>'"),
    ] {
        let said = shell.run(line);
        let words = format!("error: invalid value {option}: ");
        assert_eq!(
            (said.code, said.stderr.starts_with(&words)),
            (Some(2), true),
            "{}",
            said.stderr
        );
    }
    assert_eq!(shell.names(), ["data"]);
    // Elsewhere a digit is a level, alone or among other short options.
    for level in ["-f -9", "-f9", "-f -l 9"] {
        shell.run(&format!("pack data -o a {level}")).succeeds();
        let info = shell.run("info --json a").succeeds().json();
        assert_eq!(info.get("level").unwrap().to_json(), "9", "{level}");
    }
    let twice = shell.run("pack data -9 -l 3 -o d");
    assert_eq!((twice.code, twice.stderr.contains("cannot be used with")), (Some(2), true));
    let nowhere = shell.run("unpack -9 a");
    assert_eq!(
        (nowhere.code, nowhere.stderr.contains("unexpected argument '-9'")),
        (Some(2), true)
    );
}
