//! `head`: the first values as text.

use clap::Args;

use super::cat::{ViewArgs, show};
use crate::context::Context;
use crate::failure::Outcome;
use crate::location::LocationArg;

const EXAMPLES: &str = "\
Examples:
  superchunk head readings.b2frame
  superchunk head -n 3 --format jsonl readings.b2frame";

/// The options of `head`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HeadArgs {
    #[command(flatten)]
    from: LocationArg,
    /// How many values; all but the last N for -N
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    count: i64,
    #[command(flatten)]
    view: ViewArgs,
}

pub(crate) fn run(args: &HeadArgs, context: &Context) -> Outcome {
    show(&args.from.location(), &args.view, Some(args.count), context)
}
