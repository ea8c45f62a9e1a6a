//! `help`: what `--help` of a command prints, from the definition of the arguments.

use clap::{Args, Command};

use crate::failure::{Failure, Outcome};
use crate::output;

/// The options of `help`.
#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// The command, like attr set; without one, the help of the program
    command: Vec<String>,
}

pub(crate) fn run(args: &HelpArgs, mut command: Command) -> Outcome {
    command.build();
    for name in &args.command {
        let Some(found) = command.find_subcommand(name) else {
            return Err(Failure::usage(format!("there is no command `{name}`"))
                .with_help("`superchunk --help` lists the commands"));
        };
        command = found.clone();
    }
    output::print(&command.render_help().to_string())
}
