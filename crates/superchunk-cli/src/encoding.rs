//! The options that say how data is compressed, shared by every command that writes.

use clap::Args;
use superchunk::frame::Kind;
use superchunk::{Codec, CompressOptions, Filter, FrameOptions, SplitMode};

use crate::args::LevelDigit;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::names::{parse_codec, parse_length, parse_pipeline};
use crate::readers::{Reader, parse_reader};

/// What `pack` makes when it is not told otherwise: small rather than fast, like python-blosc2.
const CODEC: Codec = Codec::Zstd;
/// Enough blocks for some threads; a slice decodes blocks, not chunks.
const CHUNK_SIZE: usize = 4 << 20;

/// How to compress.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Compression")]
pub(crate) struct EncodingArgs {
    /// blosclz, lz4, lz4hc, zlib or zstd
    #[arg(short, long, value_name = "NAME", value_parser = parse_codec)]
    pub(crate) codec: Option<Codec>,
    /// 0 (store) to 9 (smallest); -9 is short for -l 9
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub(crate) level: Option<u8>,
    #[command(flatten)]
    pub(crate) digit: LevelDigit,
    /// none, shuffle, bitshuffle, delta, bytedelta, trunc:N …, with commas
    #[arg(long, value_name = "LIST", value_parser = pipeline)]
    pub(crate) filters: Option<Pipeline>,
    /// Bytes of a chunk, like 8M
    #[arg(short = 'z', long, value_name = "SIZE", value_parser = parse_length)]
    pub(crate) chunk_size: Option<usize>,
    /// Bytes of a block, like 64K
    #[arg(short, long, value_name = "SIZE", value_parser = parse_length)]
    pub(crate) block_size: Option<usize>,
    /// One stream for each byte of an item: auto, always or never
    #[arg(long, value_name = "HOW", value_parser = split)]
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

    /// New options for items of this size.
    pub(crate) fn fresh(&self, item_size: usize, context: &Context) -> Outcome<FrameOptions> {
        let compress = CompressOptions::new(item_size).with_codec(CODEC);
        let chunk_size = (CHUNK_SIZE / item_size.max(1)).max(1).saturating_mul(item_size);
        self.over(FrameOptions::new(compress).with_chunk_size(chunk_size), context)
    }

    /// These options with what was chosen in their place.
    pub(crate) fn over(&self, base: FrameOptions, context: &Context) -> Outcome<FrameOptions> {
        let mut options = base;
        let compress = &mut options.compress;
        compress.executor = context.executor();
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
        warn_of_delta(&options.compress.filters, context);
        Ok(options)
    }
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

fn pipeline(text: &str) -> Result<Pipeline, String> {
    parse_pipeline(text).map(Pipeline)
}

fn split(text: &str) -> Result<SplitMode, String> {
    match text {
        "auto" => Ok(SplitMode::Auto),
        "always" => Ok(SplitMode::Always),
        "never" => Ok(SplitMode::Never),
        _ => Err("it is auto, always or never".to_owned()),
    }
}
