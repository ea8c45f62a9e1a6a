//! `bench`: ratio and speed of codecs, filters and levels on real data, in memory.

use std::ffi::OsString;

use clap::Args;
use superchunk::{Codec, CompressOptions, Filter, Value};

use crate::context::Context;
use crate::failure::Outcome;
use crate::input::Input;
use crate::location::Location;
use crate::measure::{Measured, measure, samples};
use crate::names::{
    codec_name, human, parse_codec, parse_length, parse_pipeline, parse_size, pipeline_name,
};
use crate::output::{self, Document, Table, object, rounded};

const EXAMPLES: &str = "\
Examples:
  superchunk bench readings.f8 -t 8
  superchunk bench cube.b2nd --codecs lz4,zstd --levels 1,9 --filters shuffle,delta+shuffle -T 1";

/// The options of `bench`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    /// Any file, or - for stdin
    location: OsString,
    /// Bytes of an item, where the file does not tell
    #[arg(short, long, value_name = "N", value_parser = parse_length)]
    typesize: Option<usize>,
    /// Codecs, with commas between
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_codec,
          default_value = "blosclz,lz4,lz4hc,zlib,zstd", hide_default_value = true)]
    codecs: Vec<Codec>,
    /// Levels, with commas between
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "5",
          value_parser = clap::value_parser!(u8).range(0..=9))]
    levels: Vec<u8>,
    /// Filters, with commas between; with a plus in a pipeline
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "none,shuffle,bitshuffle",
        hide_default_value = true
    )]
    filters: Vec<String>,
    /// Measure this much of the data, spread over all of it
    #[arg(long, value_name = "SIZE", default_value = "32M", value_parser = parse_size)]
    limit: u64,
    /// How often; the fastest time counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
}

pub(crate) fn run(args: &BenchArgs, context: &Context) -> Outcome {
    let input = Input::open(&Location::parse(&args.location), context)?;
    let item_size = args.typesize.unwrap_or(input.item_size());
    let samples = samples(&input, args.limit, 4 << 20)?;
    let total: usize = samples.iter().map(Vec::len).sum();
    let pipelines = args
        .filters
        .iter()
        .map(|text| parse_pipeline(text).map_err(crate::failure::Failure::usage))
        .collect::<Outcome<Vec<_>>>()?;
    let mut rows = Vec::new();
    for codec in &args.codecs {
        for level in &args.levels {
            for filters in &pipelines {
                let options = CompressOptions::new(item_size)
                    .with_codec(*codec)
                    .with_level(*level)
                    .with_filters(filters.iter().copied())
                    .with_executor(context.executor());
                let measured = measure(&samples, &options, args.rounds)?;
                rows.push((*codec, *level, filters.clone(), measured));
            }
        }
    }
    report(&input, total, item_size, &rows, context)
}

type Row = (Codec, u8, Vec<Filter>, Measured);

fn report(
    input: &Input,
    total: usize,
    item_size: usize,
    rows: &[Row],
    context: &Context,
) -> Outcome {
    let threads = context.executor().thread_count();
    if context.json() {
        let results: Vec<Value> = rows.iter().map(result).collect();
        return Document::new("bench")
            .with("path", input.value.clone())
            .with("sampled", total as u64)
            .with("typesize", item_size as u64)
            .with("threads", threads as u64)
            .with("results", results)
            .print();
    }
    let mut table =
        Table::new(["codec", "level", "filters", "ratio", "compress MB/s", "decompress MB/s"]);
    for (codec, level, filters, measured) in rows {
        table.row([
            codec_name(*codec),
            level.to_string(),
            pipeline_name(filters),
            format!("{:.2}", measured.ratio),
            format!("{:.0}", measured.compress),
            format!("{:.0}", measured.decompress),
        ]);
    }
    let head = format!(
        "{}: {} of items of {item_size} bytes, threads: {threads}\n",
        input.name,
        human(total as u64)
    );
    output::print(&(head + &table.render()))
}

fn result((codec, level, filters, measured): &Row) -> Value {
    object([
        ("codec", codec_name(*codec).into()),
        ("level", (*level).into()),
        ("filters", pipeline_name(filters).into()),
        ("ratio", rounded(measured.ratio)),
        ("compress_mb_s", rounded(measured.compress)),
        ("decompress_mb_s", rounded(measured.decompress)),
    ])
}
