//! The examples of the documents and of every `--help`, run in a real shell.
//!
//! Every place with examples gets its own folder with the files that examples name ([`files`]), and
//! its examples run there one after the other. An example succeeds unless its text states another
//! exit code. Where a document shows an output, it is compared ([`output`]).

mod files;
mod output;
mod source;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use crate::shell::Shell;
use files::Template;
use source::{Example, Place};

/// Examples that are not run, each with the reason.
const NOT_RUN: [(&str, &str); 1] =
    [("superchunk demo", "`demo.rs` runs it and looks at what it shows")];

/// Examples that end with another exit code, and the words that state it.
const OTHER_CODES: [(&str, i32, &str); 4] = [
    ("superchunk salvage broken.b2frame -o saved.b2frame", 3, "with 3 when"),
    ("superchunk salvage broken.blp -o saved.blp", 3, "with 3 when"),
    ("superchunk salvage broken.bcolz -o saved.bcolz --json > report.json", 3, "with 3 when"),
    ("superchunk salvage broken.blsk -o saved.blsk", 3, "with 3 when"),
];

#[test]
fn every_example_works() {
    let places = places();
    let all: Vec<&str> =
        places.iter().flat_map(|place| &place.examples).map(|e| e.line.as_str()).collect();
    let excepted = NOT_RUN.iter().map(|(line, _)| line);
    for line in excepted.chain(OTHER_CODES.iter().map(|(line, ..)| line)) {
        assert!(all.contains(line), "no document has the exception `{line}`");
    }
    for name in files::places_that_make_files() {
        assert!(places.iter().any(|place| place.name == name), "there is no place `{name}`");
    }
    let template = Template::new();
    let failures: Vec<String> =
        places.iter().flat_map(|place| failures_of(place, &template)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(all.len() > 80, "only {} examples were found", all.len());
}

#[test]
fn every_command_has_an_example() {
    let top = help("");
    let examples: Vec<Example> = places().into_iter().flat_map(|place| place.examples).collect();
    for command in source::commands(&top) {
        let words = format!("superchunk {command}");
        let is_used = |line: &str| {
            line.match_indices(&words).any(|(at, found)| {
                line.get(at + found.len()..)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
        };
        assert!(examples.iter().any(|example| is_used(&example.line)), "{command}");
    }
}

#[test]
fn the_document_of_commands_mentions_every_command_and_option() {
    let text = source::document("docs/cli.md");
    let (mut missing, mut known) = (Vec::new(), BTreeSet::new());
    for command in source::commands(&help("")) {
        if !text.contains(&format!("| `{command}`")) && !text.contains(&format!("`{command}` |")) {
            missing.push(command.clone());
        }
        let options = source::options(&help(&command));
        missing.extend(
            options
                .iter()
                .filter(|option| !source::mentions(&text, option))
                .map(|option| format!("{command} {option}")),
        );
        known.extend(options);
    }
    assert!(missing.is_empty(), "not in docs/cli.md: {}", missing.join(", "));
    // The options of every command are hidden from `--help`; the completions have all.
    let script = Shell::new().run("completions zsh").succeeds();
    known.extend(source::options_in(script.text()));
    let unknown: Vec<String> =
        source::options_in(&text).into_iter().filter(|option| !known.contains(option)).collect();
    assert!(unknown.is_empty(), "docs/cli.md mentions {}", unknown.join(", "));
}

fn help(command: &str) -> String {
    Shell::new().run(&format!("{command} --help")).succeeds().text().to_owned()
}

/// All places that have examples.
fn places() -> Vec<Place> {
    let mut places = vec![Place::of_help("superchunk --help", &help(""))];
    for command in source::commands(&help("")) {
        places.push(Place::of_help(&format!("superchunk {command} --help"), &help(&command)));
    }
    for name in source::DOCUMENTS {
        places.extend(Place::of_document(name));
    }
    places
}

/// What is wrong with the examples of a place.
fn failures_of(place: &Place, template: &Template) -> Vec<String> {
    let folder = template.folder_for(place);
    let examples = place.examples.iter();
    let run = examples.filter(|example| !NOT_RUN.iter().any(|(line, _)| *line == example.line));
    let failures = run.filter_map(|example| {
        let why = failure(example, &place.text, template, folder.folder())?;
        Some(format!("{}: {}\n{why}", place.name, example.line))
    });
    failures.collect()
}

/// What is wrong with an example, if anything is.
fn failure(example: &Example, text: &str, template: &Template, folder: &Path) -> Option<String> {
    let mut command = template.command(folder, &example.line);
    let found = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&found.stdout).into_owned();
    let other = OTHER_CODES.iter().find(|(line, ..)| *line == example.line);
    let (expected, words) = other.map_or((0, ""), |(_, code, words)| (*code, *words));
    if !text.contains(words) {
        return Some(format!("the text does not state the exit code {expected}"));
    }
    if found.status.code() != Some(expected) {
        return Some(format!("{}, expected {expected}; it said:\n{said}", found.status));
    }
    let shown = example.shown.as_ref()?;
    (!output::is_alike(shown, &said)).then(|| format!("shown:\n{shown}\nsaid:\n{said}"))
}
