//! `man`: the manual pages, from the definition of the arguments.

use std::path::PathBuf;

use clap::{Args, Command};

use crate::failure::{Failure, Outcome};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  superchunk man | man -l -
  superchunk man --all ~/.local/share/man/man1";

/// The options of `man`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "FOLDER")]
    all: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, command: Command) -> Outcome {
    let Some(folder) = &args.all else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).map_err(Failure::stdout)?;
        return output::print(&String::from_utf8_lossy(&page));
    };
    std::fs::create_dir_all(folder).map_err(|error| Failure::io("make it", folder, error))?;
    clap_mangen::generate_to(command, folder)
        .map_err(|error| Failure::io("write the pages to it", folder, error))
}
