//! Finds the examples: in documents, in the texts of `--help`, and the options that both mention.

use std::collections::BTreeSet;
use std::path::Path;

/// The documents for users, from the top of the repository.
pub(super) const DOCUMENTS: [&str; 6] = [
    "README.md",
    "docs/cli.md",
    "docs/guide/bcolz-data.md",
    "docs/guide/chunk-and-block-shapes.md",
    "docs/guide/objects.md",
    "docs/guide/tables.md",
];

/// Examples that follow each other, and share a folder.
pub(super) struct Place {
    pub(super) name: String,
    /// All of the text around them.
    pub(super) text: String,
    pub(super) examples: Vec<Example>,
}

/// A line for a shell.
pub(super) struct Example {
    pub(super) line: String,
    /// What a document says that it shows.
    pub(super) shown: Option<String>,
}

impl Place {
    /// The examples at the end of a help text; what follows two spaces is a comment.
    pub(super) fn of_help(name: &str, text: &str) -> Self {
        let from = text.find("\nExample").map_or("", |at| text.get(at + 1..).unwrap_or_default());
        let lines = from.lines().skip(1).take_while(|line| line.starts_with("  "));
        let example = |line: &str| Example {
            line: line.trim().split("  ").next().unwrap_or_default().to_owned(),
            shown: None,
        };
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            examples: lines.map(example).collect(),
        }
    }

    /// The examples of a document: a place for those in blocks, and one for those in sentences.
    pub(super) fn of_document(name: &str) -> [Self; 2] {
        let text = document(name);
        let (blocks, prose) = split(&text);
        let examples = blocks.iter().flat_map(Block::examples).collect();
        let inline = code_spans(&prose).into_iter().chain(locations(&prose));
        let inline = inline.map(|line| Example { line, shown: None }).collect();
        let place = |name: String, examples| Self { name, text: text.clone(), examples };
        [place(name.to_owned(), examples), place(format!("{name}, sentences"), inline)]
    }
}

/// A document of the repository.
pub(super) fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// A fenced block of a document.
struct Block {
    language: String,
    lines: Vec<String>,
}

impl Block {
    fn examples(&self) -> Vec<Example> {
        match self.language.as_str() {
            "console" => self.session(),
            "sh" | "text" => {
                let lines = self.lines.iter().filter(|line| is_example(line));
                lines.map(|line| Example { line: line.clone(), shown: None }).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Lines after `$ `, each with what it shows.
    fn session(&self) -> Vec<Example> {
        let mut examples: Vec<Example> = Vec::new();
        for line in &self.lines {
            if let Some(line) = line.strip_prefix("$ ") {
                examples.push(Example { line: line.to_owned(), shown: Some(String::new()) });
            } else if let Some(shown) = examples.last_mut().and_then(|last| last.shown.as_mut()) {
                shown.push_str(&format!("{line}\n"));
            }
        }
        examples
    }
}

/// The fenced blocks of a document, and the text without them.
fn split(text: &str) -> (Vec<Block>, String) {
    let (mut blocks, mut prose) = (Vec::new(), String::new());
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => {
                open = Some(Block { language: language.to_owned(), lines: Vec::new() });
            }
            (None, Some(block)) => block.lines.push(line.to_owned()),
            (None, None) => prose.push_str(&format!("{line}\n")),
        }
    }
    (blocks, prose)
}

/// Whether a line calls the program, first or after a pipe.
fn is_example(line: &str) -> bool {
    line.starts_with("superchunk ") || line.contains("| superchunk ")
}

/// The calls of the program among the code in sentences. Code with a word in capitals or an
/// ellipsis stands for something else, and two words are the name of a command.
fn code_spans(prose: &str) -> Vec<String> {
    let spans = prose.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " "));
    let is_open = |word: &str| {
        word.contains('…') || word.chars().take_while(char::is_ascii_uppercase).count() > 1
    };
    let is_call = |span: &String| is_example(span) && span.split(' ').count() > 2;
    spans.filter(|span| is_call(span) && !span.split(' ').any(is_open)).collect()
}

/// Prints each location that a table under the heading `Locations` explains.
fn locations(prose: &str) -> Vec<String> {
    let section = prose.split("\n## ").find(|section| section.starts_with("Locations\n"));
    let rows = section.unwrap_or_default().lines().filter_map(|line| {
        let (location, _) = line.strip_prefix("| `")?.split_once('`')?;
        Some(format!("superchunk cat '{location}' < data.b2frame"))
    });
    rows.collect()
}

/// The commands that the help text of the program lists.
pub(super) fn commands(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).unwrap();
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    lines.filter(|line| !line.starts_with("   ")).filter_map(first).collect()
}

/// The long options that a help text explains.
pub(super) fn options(help: &str) -> BTreeSet<String> {
    let lines = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let option = |line: &str| {
        let before = line.trim_start().split("  ").next().unwrap_or_default();
        options_in(before).into_iter().next()
    };
    lines.filter_map(option).filter(|option| option != "--help" && option != "--version").collect()
}

/// The long options that a text mentions.
pub(super) fn options_in(text: &str) -> BTreeSet<String> {
    let mut options = BTreeSet::new();
    for (at, _) in text.match_indices("--") {
        let is_start = !text
            .get(..at)
            .unwrap_or_default()
            .ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '|');
        let rest = text.get(at + 2..).unwrap_or_default();
        let len = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
        let name = rest.get(..len).unwrap_or_default().trim_end_matches('-');
        if is_start && name.len() > 1 && name.starts_with(|c: char| c.is_ascii_lowercase()) {
            options.insert(format!("--{name}"));
        }
    }
    options
}

/// Whether a text mentions an option, and not only one that begins alike.
pub(super) fn mentions(text: &str, option: &str) -> bool {
    options_in(text).contains(option)
}
