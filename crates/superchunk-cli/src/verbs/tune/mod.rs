//! `tune`: measures samples of the data with many parameters and recommends some.
//!
//! ```text
//! item size      only where the file does not tell: LZ4 after a shuffle, the best ratio wins
//! first round    codecs and levels x filters, blocks as the library chooses
//! second round   block sizes, for those that nothing else beats in ratio and both speeds
//! recommended    what scores best among those that nothing else beats
//! ```

mod table;
mod trial;

use std::ffi::OsString;
use std::path::Path;

use clap::Args;
use superchunk::{CompressOptions, SuperChunk};

use crate::context::Context;
use crate::encoding::EncodingArgs;
use crate::failure::Outcome;
use crate::input::{Content, Input};
use crate::location::Location;
use crate::measure::samples;
use crate::names::{human, parse_length, parse_size};
use crate::opened::Found;
use crate::output::{self, Document};
use crate::replace::replace;
use crate::sizes::size_of_path;
use crate::tables::Rows;
use crate::target::Named;
use crate::write;
use trial::{
    BLOCKS, Objective, PIECE, PIPELINES, Subject, Trial, best_of, guess_item_size, list, list_json,
};

const EXAMPLES: &str = "\
Examples:
  superchunk tune readings.f8
  superchunk tune readings.f8 --objective size --apply small.b2frame
  superchunk tune quotes.bcolz --apply small.bcolz    each column as it is best
  superchunk tune quotes.bcolz::close";

/// The options of `tune`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TuneArgs {
    /// Any file or table, PATH::COLUMN, or - for stdin
    location: OsString,
    /// Bytes of an item, where the file does not tell; tried out if not given
    #[arg(short, long, value_name = "N", value_parser = parse_length)]
    typesize: Option<usize>,
    /// size, speed or balanced
    #[arg(long, value_name = "WHAT", default_value = "balanced", hide_possible_values = true)]
    objective: Objective,
    /// How much of the data, or of each column, to look at
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = parse_size)]
    sample: u64,
    /// Pack it, or write the table, with what is recommended
    #[arg(long, value_name = "OUT")]
    apply: Option<OsString>,
    /// Overwrite OUT
    #[arg(short, long)]
    force: bool,
}

pub(crate) fn run(args: &TuneArgs, context: &Context) -> Outcome {
    if let (Some(out), true) = (&args.apply, args.force) {
        // Nobody may write to what is about to be replaced: it may be the input.
        context.claim(Path::new(out))?;
    }
    let location = Location::parse(&args.location);
    let found = Found::at(&location)?;
    match found.is_table() {
        true => table::run(args, &location, &Rows::of(&found, context)?, context),
        false => tune_file(args, found, context),
    }
}

fn tune_file(args: &TuneArgs, found: Found, context: &Context) -> Outcome {
    found.location.check_unsliced("tune")?;
    let input = Input::of(found, context)?;
    check_name(args, &input)?;
    let samples = samples(&input, args.sample, PIECE)?;
    let sizes = match (args.typesize, &input.content) {
        (Some(size), _) => (size, size),
        (None, Content::Raw(_)) => (1, guess_item_size(&samples, context)?),
        (None, _) => (input.item_size(), input.item_size()),
    };
    // The blocks of an array have shapes.
    let blocks = if matches!(input.content, Content::Array(_)) { &[][..] } else { &BLOCKS };
    let base = CompressOptions::new(sizes.1);
    let subject = Subject { samples: &samples, base, sizes, pipelines: &PIPELINES };
    let front = subject.refine(subject.try_all(context)?, blocks, context)?;
    let best = best_of(&front, args.objective);
    report(&input, &front, best, args.objective, context)?;
    match (&args.apply, best) {
        (Some(out), Some(best)) => apply(&input, best, (Path::new(out), args.force), context),
        _ => Ok(()),
    }
}

/// Refuses an output whose name says that it is something else than a frame.
fn check_name(args: &TuneArgs, input: &Input) -> Outcome {
    let made: &[Named] = match &input.content {
        Content::Array(_) => &[Named::Frame, Named::Sparse, Named::B2nd],
        _ => &[Named::Frame, Named::Sparse],
    };
    let help = "--apply makes a frame, `superchunk convert` other formats";
    Named::check(args.apply.as_deref().unwrap_or_default(), made, help)
}

fn report(
    input: &Input,
    front: &[Trial],
    best: Option<&Trial>,
    objective: Objective,
    context: &Context,
) -> Outcome {
    if context.json() {
        return Document::new("tune")
            .with("path", input.value.clone())
            .with("objective", objective.name())
            .with("trials", list_json(front, best))
            .with_some("recommended", best.map(Trial::frame_flags))
            .print();
    }
    let mut text = format!("{}: what nothing else beats\n{}", input.name, list(front, best));
    if let Some(best) = best {
        let flags = best.frame_flags();
        text.push_str(&format!("recommended: superchunk pack {} {flags}\n", input.name));
    }
    output::print(&text)
}

fn apply(input: &Input, best: &Trial, (out, force): (&Path, bool), context: &Context) -> Outcome {
    input.check_expansion(context)?;
    let sparse = Named::of(out.as_os_str()) == Named::Sparse;
    let encoding = EncodingArgs { sparse, ..best.encoding() };
    if matches!(input.content, Content::Array(_)) {
        write::array::convert(input, &write::array::Request::of(&encoding, force), out, context)?;
    } else {
        let options = encoding.fresh(best.item_size, context)?;
        replace(out, force, context, |temporary| {
            let mut frame = SuperChunk::create(temporary, &options)?;
            input.pieces(&mut |bytes| Ok(frame.append(bytes)?))?;
            Ok(frame.close()?)
        })?;
    }
    tell_sizes((&input.name, input.len()), out, context);
    Ok(())
}

/// Says how small the result is.
fn tell_sizes((name, before): (&str, u64), out: &Path, context: &Context) {
    let (before, after) = (human(before), human(size_of_path(out)));
    context.tell(&format!("{name} -> {}: {before} -> {after}", out.display()));
}
