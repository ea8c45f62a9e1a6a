//! `cargo xtask api`: the public API of the library, one line an item, against the list that is
//! committed, so that a change of it shows in review.

use std::fs;
use std::process::Command;

use crate::peers;
use crate::step::{Outcome, cargo, output, root, run, say};

/// The committed list.
const LIST: &str = "docs/public-api.txt";
/// Where rustdoc leaves its JSON, below the target folder.
const JSON: &str = "target/api/doc/superchunk.json";

/// Compares the public API with the committed list; with `--save` the list is written anew.
pub(crate) fn api(options: &[String]) -> Outcome {
    let list = root().join(LIST);
    let now = current()?;
    match options {
        [] => compare(&fs::read_to_string(&list).unwrap_or_default(), &now),
        [option] if option == "--save" => {
            fs::write(&list, now).map_err(|e| format!("cannot write {LIST}: {e}"))
        }
        _ => Err(format!("expected --save or nothing, got '{}'", options.join(" "))),
    }
}

/// The check of `cargo xtask test`.
pub(crate) fn check() -> Outcome {
    api(&[])
}

fn current() -> Outcome<String> {
    let mut doc = cargo(&["rustdoc", "-p", "superchunk", "--all-features", "--lib"]);
    doc.args(["--target-dir", "target/api", "--"]);
    // JSON is an unstable output of rustdoc, which the variable allows.
    doc.args(["-Z", "unstable-options", "--output-format", "json"]).env("RUSTC_BOOTSTRAP", "1");
    run(&mut doc)?;
    let script = root().join("xtask/scripts/public_api.py");
    output(Command::new(peers::interpreter()?).arg(script).arg(root().join(JSON)))
}

fn compare(committed: &str, now: &str) -> Outcome {
    let gone = difference(committed, now).map(|line| format!("- {line}"));
    let new = difference(now, committed).map(|line| format!("+ {line}"));
    let changes: Vec<String> = gone.chain(new).collect();
    if changes.is_empty() {
        return Ok(());
    }
    say(&changes.join("\n"));
    Err(format!("the public API is not that of {LIST}: if that is meant, cargo xtask api --save"))
}

/// The lines of `left` that `right` does not have.
fn difference<'a>(left: &'a str, right: &'a str) -> impl Iterator<Item = &'a str> {
    let others: std::collections::HashSet<&str> = right.lines().collect();
    left.lines().filter(move |line| !others.contains(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_more_and_a_line_less_are_changes() {
        assert!(compare("a\nb\n", "a\nb\n").is_ok());
        assert!(compare("a\nb\n", "a\n").is_err());
        assert!(compare("a\n", "a\nb\n").is_err());
        assert_eq!(difference("a\nb", "b\nc").collect::<Vec<_>>(), ["a"]);
    }
}
