//! The command line: global options and the list of commands. The options of a command stand in the
//! file of its verb.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, FromArgMatches};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

use crate::names::{parse_count, parse_length, parse_size};
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

/// What counts without a command, between two pipes.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Without a command: decompress stdin to stdout
    #[arg(short = 'd', long)]
    pub(crate) decompress: bool,
    #[arg(short = 'c', long, hide = true)]
    pub(crate) codec: Option<superchunk::Codec>,
    #[arg(short = 'l', long, hide = true, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub(crate) level: Option<u8>,
    #[command(flatten)]
    pub(crate) digit: LevelDigit,
    #[arg(short = 't', long, hide = true, value_parser = parse_length)]
    pub(crate) typesize: Option<usize>,
}

/// What every command understands.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Report as one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say less; twice: not even errors
    #[arg(short, long, global = true, action = ArgAction::Count, hide = true)]
    pub(crate) quiet: u8,
    /// Say more
    #[arg(short, long, global = true, action = ArgAction::Count, hide = true)]
    pub(crate) verbose: u8,
    /// Threads; 0 for all of the machine
    #[arg(short = 'T', long, global = true, value_name = "N", default_value_t = 0, hide = true,
          value_parser = parse_count)]
    pub(crate) threads: usize,
    /// The most memory to take, about; with one thread a chunk, or metadata, may fill an eighth of
    /// it
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size, hide = true)]
    pub(crate) limit_mem: Option<u64>,
    /// Decode every new chunk, and compare it, before it is written
    #[arg(long, global = true, hide = true)]
    pub(crate) verify_write: bool,
    /// Most bytes that a command may decode to [default: 1 GiB or 10,000 times the input]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size, hide = true)]
    pub(crate) limit_output: Option<u64>,
    /// Seconds to wait for another writer
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 10, hide = true)]
    pub(crate) wait: u64,
    /// Make and use the lock file of C-Blosc2, for programs that use it
    #[arg(long, global = true, hide = true)]
    pub(crate) lock: bool,
    /// Progress on stderr
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide = true)]
    pub(crate) progress: When,
    /// Colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide = true)]
    pub(crate) color: When,
}

/// When to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// Where a person looks at it.
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
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
    Head(verbs::cat::HeadArgs),
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
    Completions(verbs::manual::CompletionsArgs),
    /// Print the manual page
    Man(verbs::manual::ManArgs),
    /// See what this is all about, in two minutes
    Demo(verbs::demo::DemoArgs),
    /// Print the help of a command
    #[command(hide = true)]
    Help(verbs::manual::HelpArgs),
    /// The writer that the demo kills
    #[command(hide = true)]
    DemoWriter(verbs::demo::WriterArgs),
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

/// A level as one of `-0` to `-9`, as in other compressors; `-l` gives it otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LevelDigit(pub(crate) Option<u8>);

/// What the options `-0` to `-9` are called inside of the program.
const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl Args for LevelDigit {
    fn augment_args(command: clap::Command) -> clap::Command {
        let digits = ('0'..).zip(DIGITS).map(|(digit, name)| {
            let flag = Arg::new(name).short(digit).action(ArgAction::SetTrue);
            flag.hide(true).group("digit").conflicts_with("level")
        });
        command.args(digits).group(ArgGroup::new("digit"))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LevelDigit {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = (0..).zip(DIGITS).find(|(_, name)| matches.get_flag(name));
        Ok(Self(given.map(|(level, _)| level)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        definition().debug_assert();
    }
}
