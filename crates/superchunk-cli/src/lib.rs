//! The program `superchunk` as one function: [`run`]. Hosts link it in, so that their packages have
//! the command, too.
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

use clap::{CommandFactory, FromArgMatches};

use args::{Cli, Command, FilterArgs};
use context::Context;
use failure::{Exit, Failure, Outcome};

/// How often a command is repeated that other writers have disturbed.
const RETRIES: usize = 100;

/// The exit code of a command that has done what it was to do.
const SUCCESS: u8 = 0;

/// Runs a command line, of which the first word is the name of the program, with the standard input
/// and output of the process; returns the exit code.
///
/// The process belongs to the program: signals are handled until it ends, and some end it.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    interrupt::install();
    if let Some(arguments) = as_blpk(&arguments) {
        let exit = blpk::run(arguments, None).err().and_then(|failure| failure.exit());
        return exit.map_or(SUCCESS, |exit| exit as u8);
    }
    let matches = args::definition().try_get_matches_from(arguments);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // A help text that nobody reads to its end is no failure.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let context = Context::new(cli.global);
    let outcome = match &cli.command {
        Some(command) => run_until_unchanged(command, &context),
        None => filter(&cli.filter, &context),
    };
    let Err(failure) = outcome else { return SUCCESS };
    let Some(exit) = failure.exit() else { return SUCCESS };
    if let Some(text) = failure.render(context.error_style()) {
        context.complain(&text);
    }
    exit as u8
}

/// The command line of `blpk`, if the program goes by that name, or is told to.
fn as_blpk(arguments: &[OsString]) -> Option<impl Iterator<Item = OsString>> {
    let name = arguments.first().map(Path::new).and_then(Path::file_stem);
    let is_named = name.is_some_and(|name| name == "blpk");
    let is_told = arguments.get(1).is_some_and(|word| word == "blpk");
    (is_named || is_told).then(|| arguments.iter().skip(usize::from(!is_named)).cloned())
}

/// Runs a command, again if another writer has changed what it read before anything was shown.
fn run_until_unchanged(command: &Command, context: &Context) -> Outcome {
    // What was appended from stdin is not there a second time.
    let can_repeat = !matches!(command, Command::Append(_) | Command::Blpk { .. });
    for _ in 0..RETRIES {
        match run_command(command, context) {
            Err(failure) if can_repeat && failure.is_about_change() && output::is_untouched() => {
                context.forget_claim();
            }
            outcome => return outcome,
        }
    }
    run_command(command, context)
}

fn run_command(command: &Command, context: &Context) -> Outcome {
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
