//! The program `superchunk`.
//!
//! Data goes to stdout, everything else to stderr. Commands are described in `docs/cli.md`, and so
//! are exit codes and JSON documents.

mod args;
mod arrays;
mod blpk;
mod context;
mod encoding;
mod failure;
mod folders;
mod foreign;
mod input;
mod interrupt;
mod location;
mod made;
mod measure;
mod memory;
mod names;
mod objects;
mod output;
mod packs;
mod parts;
mod picture;
mod progress;
mod readers;
mod replace;
mod source;
mod span;
mod style;
mod summary;
mod tables;
mod target;
mod terminal;
mod values;
mod verbs;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::{Cli, Command, FilterArgs, When};
use context::Context;
use failure::{Exit, Failure, Outcome};
use style::Style;

/// How often a command is repeated that other writers have disturbed.
const RETRIES: usize = 100;

fn main() -> ExitCode {
    interrupt::install();
    if let Some(arguments) = as_blpk() {
        let exit = blpk::run(arguments, None).err().and_then(|failure| failure.exit());
        return exit.map_or(ExitCode::SUCCESS, |exit| ExitCode::from(exit as u8));
    }
    let matches = args::definition().try_get_matches();
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(slice) = slice_of_stdin(&error) {
                let words =
                    format!("`-{slice}` is a slice of stdin, and this command takes all of it");
                let failure =
                    Failure::usage(words).with_help("`cat`, `head` and `unpack` take slices");
                let style = Style::of(&std::io::stderr(), When::Auto);
                let text = failure.render(style).unwrap_or_default();
                let _ = write!(std::io::stderr(), "{text}");
                return ExitCode::from(Exit::Usage as u8);
            }
            // A help text that nobody reads to its end is no failure.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let context = Context::new(cli.global);
    let outcome = match &cli.command {
        Some(command) => run_until_unchanged(command, &context),
        None => filter(&cli.filter, &context),
    };
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    let Some(exit) = failure.exit() else { return ExitCode::SUCCESS };
    if let Some(text) = failure.render(context.error_style()) {
        context.complain(&text);
    }
    ExitCode::from(exit as u8)
}

/// The slice of a location `-@SLICE` that a command line was refused for, with its sign.
fn slice_of_stdin(error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue};
    let refused = error.get(ContextKind::InvalidArg)?;
    matches!(refused, ContextValue::String(option) if option == "-@").then_some(())?;
    let arguments = std::env::args();
    arguments
        .filter_map(|given| given.strip_prefix('-').map(str::to_owned))
        .find(|g| g.starts_with('@'))
}

/// The command line of `blpk`, if the program goes by that name, or is told to.
fn as_blpk() -> Option<Vec<OsString>> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let name = arguments.first().map(Path::new).and_then(Path::file_stem);
    if name.is_some_and(|name| name == "blpk") {
        return Some(arguments);
    }
    let is_told = arguments.get(1).is_some_and(|word| word == "blpk");
    is_told.then(|| arguments.split_off(1))
}

/// Runs a command, again if another writer has changed what it read before anything was shown.
fn run_until_unchanged(command: &Command, context: &Context) -> Outcome {
    // What was appended from stdin is not there a second time.
    let can_repeat = !matches!(command, Command::Append(_) | Command::Blpk { .. });
    for _ in 0..RETRIES {
        match run(command, context) {
            Err(failure) if can_repeat && failure.is_about_change() && output::is_untouched() => {
                context.forget_claim();
            }
            outcome => return outcome,
        }
    }
    run(command, context)
}

fn run(command: &Command, context: &Context) -> Outcome {
    match command {
        Command::Pack(args) => verbs::pack::run(args, context),
        Command::Unpack(args) => verbs::unpack::run(args, context),
        Command::Info(args) => verbs::info::run(args, context),
        Command::Ls(args) => verbs::ls::run(args, context),
        Command::Cat(args) => verbs::cat::run(args, context),
        Command::Head(args) => verbs::cat::run_head(args, context),
        Command::Inspect(args) => verbs::inspect::run(args, context),
        Command::Verify(args) => verbs::verify::run(args, context),
        Command::Convert(args) => verbs::convert::run(args, context),
        Command::Append(args) => verbs::append::run(args, context),
        Command::Attr(args) => verbs::attr::run(args, context),
        Command::Repack(args) => verbs::repack::run(args, context),
        Command::Recover(args) => verbs::recover::run(args, context),
        Command::Salvage(args) => verbs::salvage::run(args, context),
        Command::Diff(args) => verbs::diff::run(args, context),
        Command::Bench(args) => verbs::bench::run(args, context),
        Command::Tune(args) => verbs::tune::run(args, context),
        Command::Caps(_) => verbs::caps::run(context),
        Command::Blpk { arguments } => {
            let name = std::iter::once(OsString::from("blpk"));
            blpk::run(name.chain(arguments.iter().cloned()), Some(context))
        }
        Command::Completions(args) => verbs::manual::completions(args),
        Command::Man(args) => verbs::manual::man(args),
        Command::Help(args) => verbs::manual::help(args),
        Command::Demo(_) => verbs::demo::run(context),
        Command::DemoWriter(args) => verbs::demo::write(args, context),
    }
}

/// Without a command the program stands between two pipes.
fn filter(args: &FilterArgs, context: &Context) -> Outcome {
    if std::io::stdin().is_terminal() {
        let _ = write!(std::io::stderr(), "{}", Cli::command().render_help());
        return Err(Failure::Quiet(Exit::Usage));
    }
    if args.decompress {
        verbs::unpack::filter(context)
    } else {
        verbs::pack::filter(args, context)
    }
}
