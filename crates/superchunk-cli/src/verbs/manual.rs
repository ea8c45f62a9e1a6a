//! `completions` and `man`: what shells and `man` want to know, from the definition of the arguments.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::{self, Cli};
use crate::failure::{Failure, Outcome};
use crate::output;

const COMPLETIONS: &str = "\
Example:
  superchunk completions bash > ~/.local/share/bash-completion/completions/superchunk";

const MAN: &str = "\
Examples:
  superchunk man | man -l -
  superchunk man --all ~/.local/share/man/man1";

/// The options of `completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// The options of `man`.
#[derive(Debug, Args)]
#[command(after_help = MAN)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "FOLDER")]
    all: Option<PathBuf>,
}

/// The options of `help`.
#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// The command, like attr set; without one, the help of the program
    command: Vec<String>,
}

/// Prints what `--help` of a command prints.
pub(crate) fn help(args: &HelpArgs) -> Outcome {
    let mut command = args::definition();
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

pub(crate) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "superchunk", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

pub(crate) fn man(args: &ManArgs) -> Outcome {
    let command = Cli::command();
    let Some(folder) = &args.all else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).map_err(Failure::stdout)?;
        return output::print(&String::from_utf8_lossy(&page));
    };
    std::fs::create_dir_all(folder).map_err(|error| Failure::io("make it", folder, error))?;
    clap_mangen::generate_to(command, folder)
        .map_err(|error| Failure::io("write the pages to it", folder, error))
}
