//! The program `superchunk`.
//!
//! Data goes to stdout, everything else to stderr. Commands are described in `docs/cli.md`, and so
//! are exit codes and JSON documents.

mod args;
mod arrays;
mod context;
mod encoding;
mod failure;
mod input;
mod interrupt;
mod location;
mod measure;
mod names;
mod output;
mod parts;
mod picture;
mod progress;
mod replace;
mod source;
mod span;
mod style;
mod summary;
mod target;
mod values;
mod verbs;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command, FilterArgs};
use context::Context;
use failure::{Exit, Failure, Outcome};

fn main() -> ExitCode {
    interrupt::install();
    let cli = match Cli::try_parse_from(args::with_levels(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => {
            // A help text that nobody reads to its end is no failure.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let context = Context::new(cli.global);
    let outcome = match cli.command {
        Some(command) => run(command, &context),
        None => filter(&cli.filter, &context),
    };
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    let Some(exit) = failure.exit() else { return ExitCode::SUCCESS };
    if let Some(text) = failure.render(context.error_style()) {
        context.complain(&text);
    }
    ExitCode::from(exit as u8)
}

fn run(command: Command, context: &Context) -> Outcome {
    match command {
        Command::Pack(args) => verbs::pack::run(&args, context),
        Command::Unpack(args) => verbs::unpack::run(&args, context),
        Command::Info(args) => verbs::info::run(&args, context),
        Command::Ls(args) => verbs::ls::run(&args, context),
        Command::Cat(args) => verbs::cat::run(&args, context),
        Command::Head(args) => verbs::cat::run_head(&args, context),
        Command::Inspect(args) => verbs::inspect::run(&args, context),
        Command::Verify(args) => verbs::verify::run(&args, context),
        Command::Convert(args) => verbs::convert::run(&args, context),
        Command::Append(args) => verbs::append::run(&args, context),
        Command::Attr(args) => verbs::attr::run(&args, context),
        Command::Repack(args) => verbs::repack::run(&args, context),
        Command::Diff(args) => verbs::diff::run(&args, context),
        Command::Bench(args) => verbs::bench::run(&args, context),
        Command::Tune(args) => verbs::tune::run(&args, context),
        Command::Caps(_) => verbs::caps::run(context),
        Command::Completions(args) => verbs::manual::completions(&args),
        Command::Man(args) => verbs::manual::man(&args),
        Command::Demo(_) => verbs::demo::run(context),
        Command::DemoWriter(args) => verbs::demo::write(&args, context),
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
