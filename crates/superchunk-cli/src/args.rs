//! The options that many commands have. Those of one command stand in the file of its verb.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, FromArgMatches, ValueEnum};

use crate::names::{parse_count, parse_length, parse_size};

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
