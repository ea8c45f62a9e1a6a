//! `ls`.

use crate::shell::Shell;

#[test]
fn files_are_listed_by_content() {
    let shell = Shell::new();
    shell.write("zeros", &[0; 100_000]);
    shell.run("pack zeros -t 4").succeeds();
    let stored = shell.read("zeros.b2frame").len();
    let ratio = 100_000.0 / f64::from(u32::try_from(stored).unwrap());
    let expected = format!(
        "format data stored ratio codec what path\n\
         b2frame 100.0 kB {stored} B {ratio:.2} zstd 25000 x 4 B zeros.b2frame\n"
    );
    let said = shell.run("ls").succeeds();
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(squeezed(said.text()), squeezed(&expected));
    let all = shell.run("ls --all --json").succeeds().json();
    let formats = all.get("entries").unwrap().to_json();
    assert!(formats.contains("\"raw\"") && formats.contains("\"b2frame\""), "{formats}");
}

#[test]
fn what_is_named_is_listed_and_what_is_missing_is_an_error() {
    let shell = Shell::with_frame();
    let said = shell.run("ls data.f8 data.b2frame").succeeds();
    assert_eq!(said.text().lines().count(), 3);
    assert_eq!(shell.run("ls missing").code, Some(5));
    assert_eq!(Shell::new().run("ls").succeeds().text(), "");
}

#[test]
fn what_cannot_be_read_is_listed_with_the_reason() {
    let shell = Shell::with_frame();
    std::fs::create_dir(shell.path("inner")).unwrap();
    let frame = shell.read("data.b2frame");
    shell.write("inner/cut.b2frame", &frame[..frame.len() / 2]);
    shell.write("inner/whole.b2frame", &frame);
    assert!(!shell.run("ls").succeeds().text().contains("inner"));
    let said = shell.run("ls -r");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    let lines: Vec<&str> = said.text().lines().collect();
    assert_eq!(lines.len(), 4, "{}", said.text());
    let cut = lines.iter().find(|line| line.ends_with("inner/cut.b2frame")).unwrap();
    assert!(cut.starts_with('?') && cut.contains("bytes"), "{cut}");
    let json = shell.run("ls --json inner").json();
    let entries = json.get("entries").unwrap().as_slice().unwrap();
    assert!(entries[0].get("error").is_some() && entries[1].get("error").is_none());
}
