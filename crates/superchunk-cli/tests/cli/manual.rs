//! `completions` and `man`.

use crate::shell::Shell;

#[test]
fn every_shell_gets_its_script() {
    let shell = Shell::new();
    for name in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = shell.run(&format!("completions {name}")).succeeds();
        assert!(said.text().contains("superchunk") && said.text().contains("unpack"), "{name}");
    }
    assert_eq!(shell.run("completions tcsh").code, Some(2));
}

#[test]
fn there_is_a_page_for_each_command() {
    let shell = Shell::new();
    assert!(shell.run("man").succeeds().text().contains(".TH superchunk 1"));
    shell.run("man --all pages").succeeds();
    for name in ["superchunk.1", "superchunk-pack.1", "superchunk-verify.1"] {
        assert!(shell.path("pages").join(name).exists(), "{name}");
    }
}
