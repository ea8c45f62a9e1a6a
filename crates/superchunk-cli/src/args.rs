//! The command line: global options and the list of commands. The options of a command stand in the
//! file of its verb.

use std::ffi::OsString;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::names::{parse_length, parse_size};
use crate::verbs;

const EXAMPLES: &str = "\
Examples:
  superchunk pack readings.f8 -t 8          readings.f8.b2frame
  superchunk info readings.f8.b2frame       what is in it, without decoding
  superchunk cat readings.f8.b2frame@:5     the first five items
  tar -I superchunk -cf backup.tar.b2 dir   a filter: compresses, with -d decompresses

LOCATION is PATH[::INNER][@SLICE], as in data.b2frame@100:200; - is stdin or stdout.
Every command also takes -q and -v (say less, more), -T N (threads), --limit-mem and --limit-output
SIZE, --wait SECONDS (for another writer; 10), --lock (C-Blosc2's lock file), and --color and
--progress: auto, always or never.";

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
    #[arg(short = 'c', long, hide = true, value_parser = crate::names::parse_codec)]
    pub(crate) codec: Option<superchunk::Codec>,
    #[arg(short = 'l', long, hide = true, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub(crate) level: Option<u8>,
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
    #[arg(short = 'T', long, global = true, value_name = "N", default_value_t = 0, hide = true)]
    pub(crate) threads: usize,
    /// The most memory that a chunk or the metadata may take
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size, hide = true)]
    pub(crate) limit_mem: Option<u64>,
    /// Maximum output of unpack, convert and diff [default: 1 GiB or 10,000 times the input]
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
    /// The writer that the demo kills
    #[command(hide = true)]
    DemoWriter(verbs::demo::WriterArgs),
}

/// `-0` to `-9` are short for `-l 0` to `-l 9`, as in other compressors.
pub(crate) fn with_levels(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut plain = true;
    let expand = |argument: OsString| {
        plain &= argument != "--";
        match argument.as_encoded_bytes() {
            [b'-', digit @ b'0'..=b'9'] if plain => {
                vec!["-l".into(), char::from(*digit).to_string().into()]
            }
            _ => vec![argument],
        }
    };
    arguments.flat_map(expand).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn a_digit_is_a_level() {
        let given = ["superchunk", "-9", "--", "-9"].map(OsString::from);
        let expected = ["superchunk", "-l", "9", "--", "-9"].map(OsString::from);
        assert_eq!(with_levels(given.into_iter()), expected);
    }
}
