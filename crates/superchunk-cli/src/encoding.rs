//! The options that say how data is compressed, shared by every command that writes.

use std::str::FromStr;

use clap::Args;
use superchunk::frame::Kind;
use superchunk::{Codec, CompressOptions, Error, Filter, FrameOptions, SplitMode};

use crate::args::LevelDigit;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::names::parse_length;
use crate::readers::{Reader, parse_reader};

/// What `pack` makes when it is not told otherwise: small rather than fast, like python-blosc2.
const CODEC: Codec = Codec::Zstd;
/// The largest block that a chunk can have, in bytes.
const LARGEST_BLOCK: usize = 536_866_816;
/// The number of filters that a chunk has room for.
const MOST_FILTERS: usize = 6;
/// What to do where only arrays take an option.
const MAKE_AN_ARRAY: &str = "--dtype and --shape, or a .npy file, make an array";
/// Enough blocks for some threads; a slice decodes blocks, not chunks.
const CHUNK_SIZE: usize = 4 << 20;

/// How to compress.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Compression")]
pub(crate) struct EncodingArgs {
    /// blosclz, lz4, lz4hc, zlib or zstd; ndlz:4 or ndlz:8 for 2-D arrays
    #[arg(short, long, value_name = "NAME")]
    pub(crate) codec: Option<Codec>,
    /// 0 (store) to 9 (smallest); -9 is short for -l 9
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub(crate) level: Option<u8>,
    #[command(flatten)]
    pub(crate) digit: LevelDigit,
    /// none, shuffle, bitshuffle, delta, bytedelta, trunc:N …, with commas
    #[arg(long, value_name = "LIST")]
    pub(crate) filters: Option<Pipeline>,
    /// Bytes of a chunk, like 8M
    #[arg(short = 'z', long, value_name = "SIZE", value_parser = parse_length)]
    pub(crate) chunk_size: Option<usize>,
    /// Bytes of a block, like 64K
    #[arg(short, long, value_name = "SIZE", value_parser = parse_length)]
    pub(crate) block_size: Option<usize>,
    /// One stream for each byte of an item: auto, always or never
    #[arg(long, value_name = "HOW")]
    pub(crate) split: Option<SplitMode>,
    /// Share a dictionary among the blocks of a chunk
    #[arg(long)]
    pub(crate) dict: bool,
    /// Make a folder with one file for each chunk
    #[arg(long)]
    pub(crate) sparse: bool,
    /// Leave out the checksums
    #[arg(long)]
    pub(crate) no_checksums: bool,
    /// Refuse what NAME cannot read: blosc2[=VERSION], blosc, bloscpack or bcolz
    #[arg(long, value_name = "NAME", value_parser = parse_reader)]
    pub(crate) compat: Vec<Reader>,
}

/// What holds compressed data: not each takes all options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// A frame or a chunk of bytes, or a list of objects.
    Frame,
    /// A Bloscpack file.
    Pack,
    Bcolz,
    Blsk,
}

impl Holder {
    /// What it is called, and the filters that it takes; `None` for all but those of arrays.
    fn name_and_filters(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Frame => ("data without axes", None),
            Self::Pack => ("a Bloscpack file", Some("none, shuffle or bitshuffle")),
            Self::Bcolz => ("a bcolz table", Some("none, shuffle or bitshuffle")),
            Self::Blsk => {
                ("a blsk tree", Some("none, shuffle or bitshuffle, and trunc:1 to trunc:52"))
            }
        }
    }

    fn takes(self, filters: &[Filter]) -> bool {
        let is_shuffle = |filter: &Filter| matches!(filter, Filter::Shuffle | Filter::BitShuffle);
        match self {
            Self::Frame => {
                !filters.iter().any(|f| matches!(f, Filter::NdCell(_) | Filter::NdMean(_)))
            }
            Self::Pack | Self::Bcolz => filters.len() <= 1 && filters.iter().all(is_shuffle),
            Self::Blsk => {
                let is_cut = |filter: &&Filter| matches!(filter, Filter::TruncPrec(1..=52));
                let cuts = filters.iter().filter(is_cut).count();
                let shuffles = filters.iter().filter(|filter| is_shuffle(filter)).count();
                cuts <= 1 && shuffles <= 1 && cuts + shuffles == filters.len()
            }
        }
    }
}

/// Some filters.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline(pub(crate) Vec<Filter>);

impl EncodingArgs {
    /// The level that was chosen.
    fn level(&self) -> Option<u8> {
        self.level.or(self.digit.0)
    }

    /// Whether something was chosen that makes a chunk another one.
    pub(crate) fn changes_chunks(&self) -> bool {
        self.codec.is_some()
            || self.level().is_some()
            || self.filters.is_some()
            || self.chunk_size.is_some()
            || self.block_size.is_some()
            || self.split.is_some()
            || self.dict
    }

    /// Refuses what `holder` does not take.
    pub(crate) fn check(&self, holder: Holder) -> Outcome {
        let (name, filters) = holder.name_and_filters();
        if let Some(Pipeline(given)) = self.filters.as_ref().filter(|given| !holder.takes(&given.0))
        {
            let (words, help) = match filters {
                Some(known) => (format!("{name} takes {known}"), "frames take all filters"),
                None => (format!("{name} takes no filter of arrays"), MAKE_AN_ARRAY),
            };
            let words = format!("--filters {}: {words}", Filter::pipeline_name(given));
            return Err(Failure::usage(words).with_help(help));
        }
        if let Some(codec @ Codec::NdLz { .. }) = self.codec {
            let words = format!("--codec (-c) {codec}: {name} takes no codec of arrays");
            return Err(Failure::usage(words).with_help(MAKE_AN_ARRAY));
        }
        if holder == Holder::Frame {
            return Ok(());
        }
        let of_frames = ["--sparse", "--dict"];
        refuse(self.given().into_iter().filter(|option| of_frames.contains(option)), name)
    }

    /// The options that were given, by what is typed for them.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let options = [
            ("--codec (-c)", self.codec.is_some()),
            ("--level (-l)", self.level().is_some()),
            ("--filters", self.filters.is_some()),
            ("--chunk-size (-z)", self.chunk_size.is_some()),
            ("--block-size (-b)", self.block_size.is_some()),
            ("--split", self.split.is_some()),
            ("--dict", self.dict),
            ("--sparse", self.sparse),
            ("--no-checksums", self.no_checksums),
        ];
        options.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
    }

    /// New options for items of this size.
    pub(crate) fn fresh(&self, item_size: usize, context: &Context) -> Outcome<FrameOptions> {
        let compress = CompressOptions::new(item_size).with_codec(CODEC);
        let chunk_size = (CHUNK_SIZE / item_size.max(1)).max(1).saturating_mul(item_size);
        self.over(FrameOptions::new(compress).with_chunk_size(chunk_size), context)
    }

    /// These options with what was chosen in their place.
    pub(crate) fn over(&self, base: FrameOptions, context: &Context) -> Outcome<FrameOptions> {
        let mut options = base;
        options.compress = context.equip(options.compress);
        let compress = &mut options.compress;
        compress.codec = self.codec.unwrap_or(compress.codec);
        compress.level = self.level().unwrap_or(compress.level);
        compress.split = self.split.unwrap_or(compress.split);
        compress.dictionary |= self.dict;
        if let Some(Pipeline(filters)) = &self.filters {
            compress.filters.clone_from(filters);
        }
        if let Some(size) = self.block_size {
            compress.block_size = Some(size);
        }
        if let Some(size) = self.chunk_size {
            options.chunk_size = Some(round_to_items(size, options.compress.item_size)?);
            options.variable = false;
        }
        if self.sparse {
            options.kind = Kind::Sparse;
        }
        options.checksums &= !self.no_checksums;
        self.check_values(&options.compress)?;
        warn_of_delta(&options.compress.filters, context);
        Ok(options)
    }

    /// Refuses values that chunks do not take, by the options that gave them.
    fn check_values(&self, compress: &CompressOptions) -> Outcome {
        if let Some(size) = self.block_size.filter(|size| *size > LARGEST_BLOCK) {
            let words = format!("--block-size (-b) is at most {LARGEST_BLOCK}, got {size}");
            return Err(Failure::usage(words));
        }
        let has_dictionary = matches!(compress.codec, Codec::Zstd | Codec::Lz4 | Codec::Lz4Hc);
        if self.dict && !has_dictionary {
            let words = format!("--dict needs zstd, lz4 or lz4hc, the codec is {}", compress.codec);
            return Err(Failure::usage(words).with_help("choose one with --codec (-c)"));
        }
        let given = self.filters.iter().flat_map(|given| given.0.iter());
        given.copied().try_for_each(|filter| check_truncation(filter, compress.item_size))
    }
}

/// Refuses to keep more bits than items of this size have, or none.
fn check_truncation(filter: Filter, item_size: usize) -> Outcome {
    let (keep, bits, sizes) = match (filter, item_size) {
        (Filter::TruncPrec(keep), 4) => (keep, 23, ""),
        (Filter::TruncPrec(keep), 8) => (keep, 52, ""),
        (Filter::TruncPrec(keep), _) => (keep, 0, "4 or 8"),
        (Filter::IntTrunc(keep), 1 | 2 | 4 | 8) => (keep, 8 * item_size, ""),
        (Filter::IntTrunc(keep), _) => (keep, 0, "1, 2, 4 or 8"),
        _ => return Ok(()),
    };
    if bits == 0 {
        let words =
            format!("--filters {filter} needs items of {sizes} bytes, these have {item_size}");
        return Err(Failure::usage(words).with_help("give their size with -t or --dtype"));
    }
    // A negative number is that of the bits to clear.
    let number = usize::from(keep.unsigned_abs());
    if (1..bits).contains(&number) || number == bits && keep > 0 {
        return Ok(());
    }
    let words = format!("--filters {filter}: items of {item_size} bytes have {bits} bits to keep");
    Err(Failure::usage(words)
        .with_help(format!("keep 1 to {bits}, or clear some: -1 to -{}", bits - 1)))
}

/// Refuses options that what is made has no use for.
pub(crate) fn refuse<'o>(options: impl Iterator<Item = &'o str>, what: &str) -> Outcome {
    let given: Vec<&str> = options.collect();
    if given.is_empty() {
        return Ok(());
    }
    let words = format!("{what} does not take {}", given.join(", "));
    Err(Failure::usage(words).with_help("leave it out, or make a frame"))
}

/// Says that C-Blosc2 does not read parts of what the filter delta was applied to.
pub(crate) fn warn_of_delta(filters: &[Filter], context: &Context) {
    if filters.contains(&Filter::Delta) {
        context.warn(
            "with the filter delta, C-Blosc2 and python-blosc2 read whole chunks right, but single items \
             and slices wrong, without an error: a bug of theirs. superchunk reads both right",
        );
    }
}

/// Whole items only.
fn round_to_items(size: usize, item_size: usize) -> Outcome<usize> {
    let largest = usize::try_from(i32::MAX).unwrap_or(usize::MAX) - 32;
    let items = size.min(largest) / item_size.max(1);
    if items == 0 {
        let words = format!("a chunk of {size} bytes does not hold an item of {item_size}");
        return Err(Failure::usage(words).with_help("choose a larger --chunk-size"));
    }
    Ok(items * item_size)
}

impl FromStr for Pipeline {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let filters = Filter::parse_pipeline(text)?;
        match filters.len() {
            0..=MOST_FILTERS => Ok(Self(filters)),
            given => Err(Error::invalid(format!(
                "a chunk has room for {MOST_FILTERS} filters, {given} are given"
            ))),
        }
    }
}
