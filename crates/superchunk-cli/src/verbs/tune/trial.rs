//! Parameters, and what they give: all that are tried, and those that nothing else beats.

use clap::ValueEnum;
use superchunk::{Codec, CompressOptions, Filter, Value};

use crate::context::Context;
use crate::encoding::{EncodingArgs, Pipeline};
use crate::failure::Outcome;
use crate::measure::{Measured, measure};
use crate::output::{Table, object};

/// The bytes of a sample.
pub(super) const PIECE: usize = 1 << 20;
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
/// The filters of frames that are tried: without delta, whose parts C-Blosc2 reads wrong.
pub(super) const PIPELINES: [&[Filter]; 4] =
    [&[], &[Filter::Shuffle], &[Filter::BitShuffle], &[Filter::Shuffle, Filter::ByteDelta(0)]];
/// The block sizes of the second round.
pub(super) const BLOCKS: [usize; 3] = [16 << 10, 64 << 10, 256 << 10];

/// What matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Objective {
    /// A small file.
    Size,
    /// Fast both ways.
    Speed,
    /// Some of both.
    Balanced,
}

impl Objective {
    /// What to type for it.
    pub(super) fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// Parameters, and what they give.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) item_size: usize,
    pub(super) codec: Codec,
    pub(super) level: u8,
    pub(super) filters: Vec<Filter>,
    pub(super) block_size: Option<usize>,
    pub(super) measured: Measured,
}

/// What is measured, and which filters are tried on it.
pub(super) struct Subject<'a> {
    pub(super) samples: &'a [Vec<u8>],
    /// The kind of chunks.
    pub(super) base: CompressOptions,
    /// The item sizes without filters and with.
    pub(super) sizes: (usize, usize),
    pub(super) pipelines: &'a [&'a [Filter]],
}

/// The item size with which a fast codec packs best behind one of the two shuffles.
pub(super) fn guess_item_size(samples: &[Vec<u8>], context: &Context) -> Outcome<usize> {
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

impl Subject<'_> {
    /// Tries everything of the first round.
    pub(super) fn try_all(&self, context: &Context) -> Outcome<Vec<Trial>> {
        let total = STRENGTHS.len() * self.pipelines.len() * PIECE;
        let mut progress = context.progress("measuring", Some(total as u64));
        let mut trials = Vec::new();
        for (codec, level) in STRENGTHS {
            for filters in self.pipelines {
                progress.add(PIECE);
                let (plain, shuffled) = self.sizes;
                let item_size = if filters.is_empty() { plain } else { shuffled };
                if item_size == 1 && filters.contains(&Filter::Shuffle) {
                    continue;
                }
                let choice = (codec, level, filters.to_vec(), None);
                trials.push(self.attempt(item_size, choice, context)?);
            }
        }
        Ok(trials)
    }

    /// What nothing else beats, by falling ratio, of these trials and of them with other blocks.
    pub(super) fn refine(
        &self,
        trials: Vec<Trial>,
        blocks: &[usize],
        context: &Context,
    ) -> Outcome<Vec<Trial>> {
        let first = front_of(trials);
        let mut trials = first.clone();
        for trial in &first {
            for block_size in blocks {
                let choice = (trial.codec, trial.level, trial.filters.clone(), Some(*block_size));
                trials.push(self.attempt(trial.item_size, choice, context)?);
            }
        }
        Ok(front_of(trials))
    }

    fn attempt(
        &self,
        item_size: usize,
        (codec, level, filters, block_size): (Codec, u8, Vec<Filter>, Option<usize>),
        context: &Context,
    ) -> Outcome<Trial> {
        let mut options = self.base.clone().with_codec(codec).with_level(level);
        options = options.with_filters(filters.iter().copied()).with_executor(context.executor());
        (options.item_size, options.block_size) = (item_size, block_size);
        let measured = measure(self.samples, &options, 1)?;
        Ok(Trial { item_size, codec, level, filters, block_size, measured })
    }
}

/// Leaves out what another trial beats in all three respects.
pub(super) fn front_of(trials: Vec<Trial>) -> Vec<Trial> {
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

/// The trial that serves the objective best.
pub(super) fn best_of(trials: &[Trial], objective: Objective) -> Option<&Trial> {
    trials.iter().max_by(|one, other| one.score(objective).total_cmp(&other.score(objective)))
}

/// Lists trials; the recommended one has a mark.
pub(super) fn list(front: &[Trial], best: Option<&Trial>) -> String {
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
        let mark = if is_best(trial, best) { "*" } else { " " };
        let block = trial.block_size.map_or("auto".to_owned(), |size| format!("{}K", size >> 10));
        let [codec, level, filters, ratio, pack, unpack] = trial.cells();
        let item = trial.item_size.to_string();
        table.row([mark.to_owned(), item, codec, level, filters, block, ratio, pack, unpack]);
    }
    table.render()
}

/// The same for a document.
pub(super) fn list_json(front: &[Trial], best: Option<&Trial>) -> Vec<Value> {
    front.iter().map(|trial| trial.to_json(is_best(trial, best))).collect()
}

fn is_best(trial: &Trial, best: Option<&Trial>) -> bool {
    best.is_some_and(|best| std::ptr::eq(best, trial))
}

impl Trial {
    /// How well it serves the objective; the difference of two scores is what counts.
    pub(super) fn score(&self, objective: Objective) -> f64 {
        let (size, pack, unpack) = match objective {
            Objective::Size => (1.0, 0.01, 0.01),
            Objective::Balanced => (1.0, 0.25, 0.1),
            Objective::Speed => (0.3, 0.6, 0.4),
        };
        let Measured { ratio, compress, decompress } = self.measured;
        size * ratio.ln() + pack * compress.ln() + unpack * decompress.ln()
    }

    /// Codec, level, filters, ratio and both speeds.
    pub(super) fn cells(&self) -> [String; 6] {
        let [ratio, pack, unpack] = self.measured.cells();
        let (codec, filters) = (self.codec.to_string(), Filter::pipeline_name(&self.filters));
        [codec, self.level.to_string(), filters, ratio, pack, unpack]
    }

    fn to_json(&self, is_best: bool) -> Value {
        let [ratio, pack, unpack] = self.measured.entries();
        object([
            ("typesize", (self.item_size as u64).into()),
            ("codec", self.codec.to_string().into()),
            ("level", self.level.into()),
            ("filters", Filter::pipeline_name(&self.filters).into()),
            ("blocksize", self.block_size.map_or(Value::Nil, |size| (size as u64).into())),
            ratio,
            pack,
            unpack,
            ("recommended", is_best.into()),
        ])
    }

    /// The options to type for the same in a table.
    pub(super) fn flags(&self) -> String {
        let [codec, level, filters, ..] = self.cells();
        format!("-c {codec} -l {level} --filters {filters}")
    }

    /// The options to type for the same in a frame.
    pub(super) fn frame_flags(&self) -> String {
        let block = self.block_size.map_or(String::new(), |size| format!(" -b {}K", size >> 10));
        format!("-t {} {}{block}", self.item_size, self.flags())
    }

    /// The same as an encoding.
    pub(super) fn encoding(&self) -> EncodingArgs {
        EncodingArgs {
            codec: Some(self.codec),
            level: Some(self.level),
            filters: Some(Pipeline(self.filters.clone())),
            block_size: self.block_size,
            ..EncodingArgs::default()
        }
    }
}
