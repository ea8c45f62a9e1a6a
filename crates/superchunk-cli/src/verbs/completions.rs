//! `completions`: what a shell wants to know, from the definition of the arguments.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::Outcome;
use crate::output;

const EXAMPLES: &str = "\
Example:
  superchunk completions bash > ~/.local/share/bash-completion/completions/superchunk";

/// The options of `completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, mut command: Command) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "superchunk", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}
