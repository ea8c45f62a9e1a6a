//! `recover`: what a killed command began is completed, what it left goes.

use std::path::PathBuf;

use clap::Args;
use superchunk::{Value, recover};

use crate::context::Context;
use crate::failure::Outcome;
use crate::interrupt;
use crate::location::Location;
use crate::output::{Document, path_value};

const EXAMPLES: &str = "\
Examples:
  superchunk recover quotes.bcolz             after a kill or a power cut during an append
  superchunk recover new.b2frame              also if it was never finished
Data is never lost without it: readers see through what a killed writer has begun, and the next writer
completes it. bcolz itself does neither. What a running command works on is not touched.";

/// The options of `recover`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecoverArgs {
    /// The frame, Bloscpack file, array or table, or another output of a command
    path: PathBuf,
}

pub(crate) fn run(args: &RecoverArgs, context: &Context) -> Outcome {
    Location::check_whole(args.path.as_os_str(), "recover")?;
    interrupt::hold();
    let done = recover::path(&args.path, &context.open_options())?;
    if context.json() {
        let removed = done.removed.iter().map(|path| path_value(path));
        return Document::new("recover")
            .with("path", path_value(&args.path))
            .with("completed", done.completed)
            .with("removed", Value::Array(removed.collect()))
            .print();
    }
    for path in &done.removed {
        context.tell(&format!("removed {}", path.display()));
    }
    let completed = if done.completed { "a begun commit was completed" } else { "it is complete" };
    let (path, count) = (args.path.display(), done.removed.len());
    context.tell(&format!("{path}: {completed}, {count} leftovers removed"));
    Ok(())
}
