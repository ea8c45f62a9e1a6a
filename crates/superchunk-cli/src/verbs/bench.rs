//! `bench`: ratio and speed of codecs, filters and levels on real data, in memory.

use std::ffi::OsString;

use clap::Args;
use superchunk::{Codec, CompressOptions, Filter, Value};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::Input;
use crate::location::Location;
use crate::measure::{Measured, measure, samples};
use crate::names::{human, parse_count, parse_length, parse_size};
use crate::opened::Found;
use crate::output::{self, Document, Table};
use crate::tables::Rows;

const EXAMPLES: &str = "\
Examples:
  superchunk bench readings.f8 -t 8
  superchunk bench cube.b2nd --codecs lz4,zstd --levels 1,9 --filters shuffle,delta+shuffle -T 1
  superchunk bench quotes.bcolz --codecs lz4,zstd     each column of a table
  superchunk bench quotes.bcolz::close";

/// The bytes of a sample.
const PIECE: usize = 4 << 20;

/// The options of `bench`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    /// Any file or table, PATH::COLUMN, or - for stdin
    location: OsString,
    /// Bytes of an item, where the file does not tell
    #[arg(short, long, value_name = "N", value_parser = parse_length)]
    typesize: Option<usize>,
    /// Codecs, with commas between
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "blosclz,lz4,lz4hc,zlib,zstd",
        hide_default_value = true
    )]
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
    /// Measure this much of the data, or of each column
    #[arg(long, value_name = "SIZE", default_value = "32M", value_parser = parse_size)]
    limit: u64,
    /// How often; the fastest time counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = parse_count)]
    rounds: usize,
}

pub(crate) fn run(args: &BenchArgs, context: &Context) -> Outcome {
    let pipelines = args
        .filters
        .iter()
        .map(|text| Filter::parse_pipeline(text).map_err(|error| Failure::usage(error.message())))
        .collect::<Outcome<Vec<_>>>()?;
    let location = Location::parse(&args.location);
    let found = Found::at(&location)?;
    if found.is_table() {
        let rows = Rows::of(&found, context)?;
        rows.check_measured(&location, args.typesize)?;
        return on_table(args, &rows, &pipelines, context);
    }
    location.check_unsliced("bench")?;
    let input = Input::of(found, context)?;
    let item_size = args.typesize.unwrap_or(input.item_size());
    let samples = samples(&input, args.limit, PIECE)?;
    let total: usize = samples.iter().map(Vec::len).sum();
    let base = CompressOptions::new(item_size);
    let results = measure_all(args, &pipelines, &samples, &base, context)?;
    let head = format!("{}: {} of items of {item_size} bytes", input.name, human(total as u64));
    let document = Document::new("bench")
        .with("path", input.value.clone())
        .with("sampled", total as u64)
        .with("typesize", item_size as u64);
    report(document, &head, &results, context)
}

/// Measures each column of a table, in chunks of its kind.
fn on_table(
    args: &BenchArgs,
    rows: &Rows,
    pipelines: &[Vec<Filter>],
    context: &Context,
) -> Outcome {
    let (mut results, mut total) = (Vec::new(), 0);
    for column in rows.measured_columns(context)? {
        let found = rows.samples(&column, args.limit, PIECE)?;
        total += found.samples.iter().map(Vec::len).sum::<usize>();
        let of_column = measure_all(args, pipelines, &found.samples, &found.options(), context)?;
        let named = |result| Measurement { column: Some(column.name.clone()), ..result };
        results.extend(of_column.into_iter().map(named));
    }
    let head = format!("{}: {} of all columns", rows.name, human(total as u64));
    let document = Document::new("bench")
        .with("path", rows.value.clone())
        .with("sampled", total as u64)
        .with("typesize", Value::Nil);
    report(document, &head, &results, context)
}

/// Parameters, and what they give.
struct Measurement {
    /// Of a table.
    column: Option<String>,
    codec: Codec,
    level: u8,
    filters: Vec<Filter>,
    item_size: usize,
    measured: Measured,
}

fn measure_all(
    args: &BenchArgs,
    pipelines: &[Vec<Filter>],
    samples: &[Vec<u8>],
    base: &CompressOptions,
    context: &Context,
) -> Outcome<Vec<Measurement>> {
    let mut results = Vec::new();
    for codec in &args.codecs {
        for level in &args.levels {
            for filters in pipelines {
                let options = base
                    .clone()
                    .with_codec(*codec)
                    .with_level(*level)
                    .with_filters(filters.iter().copied())
                    .with_executor(context.executor());
                let measured = measure(samples, &options, args.rounds)?;
                let (filters, item_size) = (filters.clone(), base.item_size);
                let (column, codec, level) = (None, *codec, *level);
                results.push(Measurement { column, codec, level, filters, item_size, measured });
            }
        }
    }
    Ok(results)
}

fn report(document: Document, head: &str, results: &[Measurement], context: &Context) -> Outcome {
    let threads = context.executor().thread_count();
    if context.json() {
        let results: Vec<Value> = results.iter().map(Measurement::to_json).collect();
        return document.with("threads", threads as u64).with("results", results).print();
    }
    const HEADINGS: [&str; 6] =
        ["codec", "level", "filters", "ratio", "compress MB/s", "decompress MB/s"];
    let is_table = results.iter().any(|result| result.column.is_some());
    let mut table = match (is_table, HEADINGS) {
        (true, [a, b, c, d, e, f]) => Table::new(["column", a, b, c, d, e, f]),
        (false, headings) => Table::new(headings),
    };
    for result in results {
        let cells = result.cells();
        match (&result.column, cells) {
            (Some(column), [a, b, c, d, e, f]) => table.row([column.clone(), a, b, c, d, e, f]),
            (None, cells) => table.row(cells),
        }
    }
    output::print(&format!("{head}, threads: {threads}\n{}", table.render()))
}

impl Measurement {
    fn cells(&self) -> [String; 6] {
        let [ratio, pack, unpack] = self.measured.cells();
        let (codec, filters) = (self.codec.to_string(), Filter::pipeline_name(&self.filters));
        [codec, self.level.to_string(), filters, ratio, pack, unpack]
    }

    fn to_json(&self) -> Value {
        let of_column = self.column.iter().flat_map(|column| {
            [("column", column.as_str().into()), ("typesize", (self.item_size as u64).into())]
        });
        let all = [
            ("codec", self.codec.to_string().into()),
            ("level", self.level.into()),
            ("filters", Filter::pipeline_name(&self.filters).into()),
        ];
        let all = all.into_iter().chain(self.measured.entries());
        Value::Map(of_column.chain(all).map(|(key, value)| (key.into(), value)).collect())
    }
}
