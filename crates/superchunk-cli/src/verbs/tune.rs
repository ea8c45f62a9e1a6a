//! `tune`: measures samples of the data with many parameters and recommends some.
//!
//! ```text
//! item size      only where the file does not tell: LZ4 after a shuffle, the best ratio wins
//! first round    codecs and levels x filters, blocks as the library chooses
//! second round   block sizes, for those that nothing else beats in ratio and both speeds
//! recommended    what scores best among those that nothing else beats
//! ```

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, ValueEnum};
use superchunk::{Codec, CompressOptions, Filter, SuperChunk, Value};

use super::pack::size_of_path;
use crate::arrays;
use crate::context::Context;
use crate::encoding::{EncodingArgs, Pipeline};
use crate::failure::Outcome;
use crate::input::{Content, Input};
use crate::location::Location;
use crate::measure::{Measured, measure, samples};
use crate::names::{codec_name, human, parse_length, parse_size, pipeline_name};
use crate::output::{self, Document, Table, object, rounded};
use crate::replace::replace;

const EXAMPLES: &str = "\
Examples:
  superchunk tune readings.f8
  superchunk tune readings.f8 --objective size --apply small.b2frame";

const PIECE: usize = 1 << 20;
const STRENGTHS: [(Codec, u8); 9] = [
    (Codec::BloscLz, 5),
    (Codec::Lz4, 1),
    (Codec::Lz4, 5),
    (Codec::Lz4Hc, 9),
    (Codec::Zlib, 5),
    (Codec::Zstd, 1),
    (Codec::Zstd, 3),
    (Codec::Zstd, 5),
    (Codec::Zstd, 9),
];
const PIPELINES: [&[Filter]; 5] = [
    &[],
    &[Filter::Shuffle],
    &[Filter::BitShuffle],
    &[Filter::Delta, Filter::Shuffle],
    &[Filter::Shuffle, Filter::ByteDelta(0)],
];
const BLOCKS: [usize; 3] = [16 << 10, 64 << 10, 256 << 10];

/// What matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Objective {
    /// A small file.
    Size,
    /// Fast both ways.
    Speed,
    /// Some of both.
    Balanced,
}

/// The options of `tune`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TuneArgs {
    /// Any file, or - for stdin
    location: OsString,
    /// Bytes of an item, where the file does not tell; tried out if not given
    #[arg(short, long, value_name = "N", value_parser = parse_length)]
    typesize: Option<usize>,
    /// size, speed or balanced
    #[arg(long, value_name = "WHAT", default_value = "balanced", hide_possible_values = true)]
    objective: Objective,
    /// How much to look at, spread over all of it
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = parse_size)]
    sample: u64,
    /// Pack it with what is recommended
    #[arg(long, value_name = "OUT")]
    apply: Option<OsString>,
    /// Overwrite OUT
    #[arg(short, long)]
    force: bool,
}

/// Parameters, and what they give.
#[derive(Clone, Debug)]
struct Trial {
    item_size: usize,
    codec: Codec,
    level: u8,
    filters: Vec<Filter>,
    block_size: Option<usize>,
    measured: Measured,
}

pub(crate) fn run(args: &TuneArgs, context: &Context) -> Outcome {
    let input = Input::open(&Location::parse(&args.location), context)?;
    let samples = samples(&input, args.sample, PIECE)?;
    let (plain, item_size) = match (args.typesize, &input.content) {
        (Some(size), _) => (size, size),
        (None, Content::Raw(_)) => (1, guess_item_size(&samples, context)?),
        (None, _) => (input.item_size(), input.item_size()),
    };
    // The blocks of an array have shapes.
    let blocks = if matches!(input.content, Content::Array(_)) { &[][..] } else { &BLOCKS };
    let front = search(&samples, (plain, item_size), blocks, context)?;
    let best = front.iter().max_by(|one, other| {
        score(one.measured, args.objective).total_cmp(&score(other.measured, args.objective))
    });
    report(&input, &front, best, args.objective, context)?;
    match (&args.apply, best) {
        (Some(out), Some(best)) => apply(&input, best, (Path::new(out), args.force), context),
        _ => Ok(()),
    }
}

/// The item size with which a fast codec packs best behind one of the two shuffles.
fn guess_item_size(samples: &[Vec<u8>], context: &Context) -> Outcome<usize> {
    let mut best = (1, 0.0);
    for size in [1, 2, 4, 8, 16] {
        for filter in [Filter::Shuffle, Filter::BitShuffle] {
            let options = CompressOptions::new(size).with_filters([filter]);
            let ratio = measure(samples, &options.with_executor(context.executor()), 1)?.ratio;
            // A larger size must pay for itself.
            if ratio > best.1 * 1.02 {
                best = (size, ratio);
            }
        }
    }
    Ok(best.0)
}

/// What nothing else beats, by falling ratio. The sizes are those of an item without filters and with.
fn search(
    samples: &[Vec<u8>],
    (plain, shuffled): (usize, usize),
    blocks: &[usize],
    context: &Context,
) -> Outcome<Vec<Trial>> {
    let total = STRENGTHS.len() * PIPELINES.len() * PIECE;
    let mut progress = context.progress("measuring", Some(total as u64));
    let mut trials = Vec::new();
    for (codec, level) in STRENGTHS {
        for filters in PIPELINES {
            progress.add(PIECE);
            let item_size = if filters.is_empty() { plain } else { shuffled };
            if item_size == 1 && filters.contains(&Filter::Shuffle) {
                continue;
            }
            let choice = (codec, level, filters.to_vec(), None);
            trials.push(attempt(samples, item_size, choice, context)?);
        }
    }
    let first = front_of(trials);
    let mut trials = first.clone();
    for trial in &first {
        for block_size in blocks {
            let choice = (trial.codec, trial.level, trial.filters.clone(), Some(*block_size));
            trials.push(attempt(samples, trial.item_size, choice, context)?);
        }
    }
    Ok(front_of(trials))
}

fn attempt(
    samples: &[Vec<u8>],
    item_size: usize,
    (codec, level, filters, block_size): (Codec, u8, Vec<Filter>, Option<usize>),
    context: &Context,
) -> Outcome<Trial> {
    let mut options = CompressOptions::new(item_size)
        .with_codec(codec)
        .with_level(level)
        .with_filters(filters.iter().copied())
        .with_executor(context.executor());
    options.block_size = block_size;
    let measured = measure(samples, &options, 1)?;
    Ok(Trial { item_size, codec, level, filters, block_size, measured })
}

/// Leaves out what another trial beats in all three respects.
fn front_of(trials: Vec<Trial>) -> Vec<Trial> {
    // Speeds are noisy: a few per cent are no difference.
    let beats = |one: &Measured, other: &Measured| {
        one.ratio >= other.ratio
            && one.compress >= other.compress * 0.97
            && one.decompress >= other.decompress * 0.97
            && (one.ratio > other.ratio * 1.001 || one.compress > other.compress * 1.03)
    };
    let mut front: Vec<Trial> = trials
        .iter()
        .filter(|trial| !trials.iter().any(|other| beats(&other.measured, &trial.measured)))
        .cloned()
        .collect();
    front.sort_by(|one, other| other.measured.ratio.total_cmp(&one.measured.ratio));
    front
}

fn score(measured: Measured, objective: Objective) -> f64 {
    let (size, pack, unpack) = match objective {
        Objective::Size => (1.0, 0.01, 0.01),
        Objective::Balanced => (1.0, 0.25, 0.1),
        Objective::Speed => (0.3, 0.6, 0.4),
    };
    size * measured.ratio.ln() + pack * measured.compress.ln() + unpack * measured.decompress.ln()
}

fn report(
    input: &Input,
    front: &[Trial],
    best: Option<&Trial>,
    objective: Objective,
    context: &Context,
) -> Outcome {
    let is_best = |trial: &Trial| best.is_some_and(|best| std::ptr::eq(best, trial));
    if context.json() {
        let trials: Vec<Value> = front.iter().map(|trial| trial.to_json(is_best(trial))).collect();
        return Document::new("tune")
            .with("path", input.name.as_str())
            .with("objective", format!("{objective:?}").to_lowercase())
            .with("trials", trials)
            .with_some("recommended", best.map(Trial::flags))
            .print();
    }
    let mut table = Table::new([
        "",
        "item",
        "codec",
        "level",
        "filters",
        "block",
        "ratio",
        "compress MB/s",
        "decompress MB/s",
    ]);
    for trial in front {
        table.row([
            if is_best(trial) { "*" } else { " " }.to_owned(),
            trial.item_size.to_string(),
            codec_name(trial.codec),
            trial.level.to_string(),
            pipeline_name(&trial.filters),
            trial.block_size.map_or("auto".to_owned(), |size| format!("{}K", size >> 10)),
            format!("{:.2}", trial.measured.ratio),
            format!("{:.0}", trial.measured.compress),
            format!("{:.0}", trial.measured.decompress),
        ]);
    }
    let mut text = format!("{}: what nothing else beats\n", input.name);
    text.push_str(&table.render());
    if let Some(best) = best {
        text.push_str(&format!("recommended: superchunk pack {} {}\n", input.name, best.flags()));
    }
    output::print(&text)
}

impl Trial {
    fn to_json(&self, is_best: bool) -> Value {
        object([
            ("typesize", (self.item_size as u64).into()),
            ("codec", codec_name(self.codec).into()),
            ("level", self.level.into()),
            ("filters", pipeline_name(&self.filters).into()),
            ("blocksize", self.block_size.map_or(Value::Nil, |size| (size as u64).into())),
            ("ratio", rounded(self.measured.ratio)),
            ("compress_mb_s", rounded(self.measured.compress)),
            ("decompress_mb_s", rounded(self.measured.decompress)),
            ("recommended", is_best.into()),
        ])
    }

    /// What to type to get the same.
    fn flags(&self) -> String {
        let block = self.block_size.map_or(String::new(), |size| format!(" -b {}K", size >> 10));
        format!(
            "-t {} -c {} -l {} --filters {}{block}",
            self.item_size,
            codec_name(self.codec),
            self.level,
            pipeline_name(&self.filters)
        )
    }
}

fn apply(input: &Input, best: &Trial, (out, force): (&Path, bool), context: &Context) -> Outcome {
    input.check_expansion(context)?;
    let encoding = EncodingArgs {
        codec: Some(best.codec),
        level: Some(best.level),
        filters: Some(Pipeline(best.filters.clone())),
        block_size: best.block_size,
        ..EncodingArgs::default()
    };
    if matches!(input.content, Content::Array(_)) {
        arrays::convert(input, &arrays::Request::of(&encoding, force), out, context)?;
    } else {
        let options = encoding.fresh(best.item_size, context)?;
        replace(out, force, context, |temporary| {
            let mut frame = SuperChunk::create(temporary, &options)?;
            input.pieces(&mut |bytes| Ok(frame.append(bytes)?))?;
            Ok(frame.close()?)
        })?;
    }
    let sizes = (human(input.len()), human(size_of_path(out)));
    context.tell(&format!("{} -> {}: {} -> {}", input.name, out.display(), sizes.0, sizes.1));
    Ok(())
}
