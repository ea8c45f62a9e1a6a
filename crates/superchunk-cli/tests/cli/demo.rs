//! `demo`.

use crate::shell::Shell;

#[test]
fn a_writer_is_killed_and_the_file_lives() {
    let shell = Shell::new();
    let said = shell.run("demo").succeeds();
    for words in [
        "3000000 readings, 24.0 MB",
        "writer: 3172800 readings committed",
        "writer: writing more, nothing of it committed",
        "3172800 readings are there",
        "none damaged",
        "superchunk pack FILE",
    ] {
        assert!(said.text().contains(words), "{words}:\n{}", said.text());
    }
    #[cfg(unix)]
    assert!(said.text().contains("SIGKILL"), "{}", said.text());
    assert!(shell.names().is_empty(), "{:?}", shell.names());
}
