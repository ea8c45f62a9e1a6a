//! The command line: global options, and the list of commands.

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

use crate::args::{FilterArgs, Global};
use crate::verbs;

const EXAMPLES: &str = "\
Examples:
  superchunk pack readings.f8 -t 8          readings.f8.b2frame
  superchunk info readings.f8.b2frame       what is in it, without decoding
  superchunk cat readings.f8.b2frame@:5     the first five items
  tar -I superchunk -cf backup.tar.b2 dir   a filter: compresses, with -d decompresses

LOCATION is PATH[::INNER][@SLICE], as in data.b2frame@100:200; - is stdin or stdout.
Every command also takes -q and -v (say less, more), -T N (threads), --limit-mem and --limit-output
SIZE, --verify-write (decode and compare every new chunk before it is written), --wait SECONDS (for
another writer; 10), --lock (C-Blosc2's lock file), and --color and --progress: auto, always or
never.";

/// Blosc data from a shell: compress it, look into it, change it, convert it.
#[derive(Debug, Parser)]
#[command(name = "superchunk", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compress a file, a NumPy array or stdin into a frame
    #[command(visible_alias = "c", alias = "compress")]
    Pack(verbs::pack::PackArgs),
    /// Decompress, all or a slice
    #[command(visible_alias = "d", alias = "decompress")]
    Unpack(verbs::unpack::UnpackArgs),
    /// Tell what something is, without decoding it
    #[command(visible_alias = "i")]
    Info(verbs::info::InfoArgs),
    /// List files and what is in them
    Ls(verbs::ls::LsArgs),
    /// Print values
    Cat(verbs::cat::CatArgs),
    /// Print the first values
    Head(verbs::head::HeadArgs),
    /// Show the stored parts: header, index, trailer, a chunk; byte by byte on request
    Inspect(verbs::inspect::InspectArgs),
    /// Check every chunk
    #[command(alias = "test")]
    Verify(verbs::verify::VerifyArgs),
    /// Turn one format into another, or into the same with other parameters
    Convert(verbs::convert::ConvertArgs),
    /// Add data behind a frame, safe against crashes
    #[command(alias = "a")]
    Append(verbs::append::AppendArgs),
    /// Show, set and remove attributes
    Attr(verbs::attr::AttrArgs),
    /// Drop dead space, or compress anew
    Repack(verbs::repack::RepackArgs),
    /// Complete what a killed command began, and remove what it left
    Recover(verbs::recover::RecoverArgs),
    /// Get out of a damaged file what can still be read
    Salvage(verbs::salvage::SalvageArgs),
    /// Compare the contents of two files
    Diff(verbs::diff::DiffArgs),
    /// Measure codecs and filters on a file
    Bench(verbs::bench::BenchArgs),
    /// Find the parameters that suit a file
    Tune(verbs::tune::TuneArgs),
    /// List formats, codecs, filters, processor features
    Caps(verbs::caps::CapsArgs),
    /// Speak like `blpk`: bloscpack's own commands and options
    #[command(disable_help_flag = true)]
    Blpk {
        /// compress, decompress, append or info, with options; see `superchunk blpk --help`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Print the completions for a shell
    Completions(verbs::completions::CompletionsArgs),
    /// Print the manual page
    Man(verbs::man::ManArgs),
    /// See what this is all about, in two minutes
    Demo(verbs::demo::DemoArgs),
    /// Print the help of a command
    #[command(hide = true)]
    Help(verbs::help::HelpArgs),
    /// The writer that the demo kills
    #[command(hide = true)]
    DemoWriter(verbs::demo_writer::DemoWriterArgs),
}

/// The definition of the command line. A negative number after an option is its value, even where
/// `-3` would be an option itself.
pub(crate) fn definition() -> clap::Command {
    with_negative_values(Cli::command())
}

fn with_negative_values(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| match arg.get_action().takes_values() {
        true if arg.is_positional() => arg,
        true if arg.get_value_delimiter().is_some() => arg.allow_hyphen_values(true),
        takes_values => arg.allow_negative_numbers(takes_values),
    });
    command.mut_subcommands(with_negative_values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        definition().debug_assert();
    }
}
