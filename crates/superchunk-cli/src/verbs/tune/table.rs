//! `tune` of a table: each column is measured by itself, in chunks of the kind that the table has.
//!
//! Of a blsk table, whose columns are compressed alike, the parameters are recommended whose scores,
//! weighted by the bytes of the columns, add up to the most.

use std::path::Path;

use superchunk::{Filter, Value};

use super::trial::{self, Objective, PIECE, Subject, Trial, best_of, front_of, list, list_json};
use super::{TuneArgs, tell_sizes};
use crate::context::Context;
use crate::encoding::EncodingArgs;
use crate::failure::{Failure, Outcome};
use crate::location::Location;
use crate::output::{self, Document, Table, object};
use crate::replace::replace;
use crate::tables::{Rows, data_len};

/// The filters that chunks of bcolz and blsk can have.
const PIPELINES: [&[Filter]; 3] = [&[], &[Filter::Shuffle], &[Filter::BitShuffle]];

/// What was found about a column.
struct Tuned {
    name: String,
    /// The bytes of all rows.
    len: u64,
    trials: Vec<Trial>,
    /// Those of the trials that nothing else beats, by falling ratio.
    front: Vec<Trial>,
}

pub(super) fn run(args: &TuneArgs, location: &Location, rows: &Rows, context: &Context) -> Outcome {
    rows.check_measured(location, args.typesize)?;
    if let Some(out) = &args.apply {
        if location.inner.is_some() {
            return Err(Failure::usage("--apply writes a whole table").with_help(
                "leave out ::COLUMN, or `repack PATH::COLUMN` with what is recommended",
            ));
        }
        rows.check_name(Path::new(out))?;
    }
    let mut columns = Vec::new();
    for column in rows.measured_columns(context)? {
        let found = rows.samples(&column, args.sample, PIECE)?;
        let subject = Subject {
            samples: &found.samples,
            base: found.options(),
            sizes: (found.item_size, found.item_size),
            pipelines: if rows.has_frames() { &trial::PIPELINES } else { &PIPELINES },
        };
        let trials = subject.try_all(context)?;
        let front = front_of(trials.clone());
        columns.push(Tuned { name: column.name, len: found.len, trials, front });
    }
    let common = match rows.encodes_alike() {
        true => common_best(&columns, args.objective),
        false => None,
    };
    report(args, rows, &columns, common, context)?;
    let Some(out) = &args.apply else { return Ok(()) };
    apply(args, rows, &columns, common, (Path::new(out), context))
}

/// The parameters that serve all columns best.
fn common_best(columns: &[Tuned], objective: Objective) -> Option<&Trial> {
    // A shuffle of single bytes changes nothing, and was not tried.
    let alike = |column: &Tuned, choice: &Trial| {
        let is_strong = |trial: &&Trial| trial.codec == choice.codec && trial.level == choice.level;
        let of = |filters: &[Filter]| {
            column.trials.iter().filter(is_strong).find(|trial| trial.filters == filters)
        };
        of(&choice.filters).or_else(|| of(&[])).map_or(f64::NEG_INFINITY, |it| it.score(objective))
    };
    let score = |choice: &Trial| -> f64 {
        columns.iter().map(|column| column.len as f64 * alike(column, choice)).sum()
    };
    let most = columns.iter().max_by_key(|column| column.trials.len())?;
    most.trials.iter().max_by(|one, other| score(one).total_cmp(&score(other)))
}

fn report(
    args: &TuneArgs,
    rows: &Rows,
    columns: &[Tuned],
    common: Option<&Trial>,
    context: &Context,
) -> Outcome {
    if context.json() {
        let listed = columns.iter().map(|column| {
            let best = best_of(&column.front, args.objective);
            object([
                ("column", column.name.as_str().into()),
                ("trials", list_json(&column.front, best).into()),
                ("recommended", best.map_or(Value::Nil, |best| best.flags().into())),
            ])
        });
        return Document::new("tune")
            .with("path", rows.value.clone())
            .with("objective", args.objective.name())
            .with("columns", listed.collect::<Vec<Value>>())
            .with_or_null("recommended", common.map(Trial::flags))
            .print();
    }
    let text = match columns {
        [only] => {
            let best = best_of(&only.front, args.objective);
            let words =
                best.map_or(String::new(), |best| format!("recommended: {}\n", best.flags()));
            let list = list(&only.front, best);
            format!("{}, column {}: what nothing else beats\n{list}{words}", rows.name, only.name)
        }
        _ => format!("{}\n{}{}\n", heading(rows), by_column(args, columns), advice(rows, common)),
    };
    output::print(&text)
}

fn heading(rows: &Rows) -> String {
    format!("{}: what is best for each column", rows.name)
}

/// What is recommended for each column.
fn by_column(args: &TuneArgs, columns: &[Tuned]) -> String {
    let mut table = Table::new([
        "column",
        "codec",
        "level",
        "filters",
        "ratio",
        "compress MB/s",
        "decompress MB/s",
    ]);
    for column in columns {
        let Some(best) = best_of(&column.front, args.objective) else { continue };
        let [codec, level, filters, ratio, pack, unpack] = best.cells();
        table.row([column.name.clone(), codec, level, filters, ratio, pack, unpack]);
    }
    table.render()
}

fn advice(rows: &Rows, common: Option<&Trial>) -> String {
    let name = &rows.name;
    match common {
        Some(best) => format!(
            "a {} has one compression for all columns; recommended: superchunk repack {name} {}",
            rows.kind(),
            best.flags()
        ),
        None => format!("recommended: superchunk tune {name} --apply OUT"),
    }
}

/// Writes the table with what is recommended.
fn apply(
    args: &TuneArgs,
    rows: &Rows,
    columns: &[Tuned],
    common: Option<&Trial>,
    (out, context): (&Path, &Context),
) -> Outcome {
    let encoding = |name: &str| {
        let column = columns.iter().find(|column| column.name == name);
        let own = column.and_then(|column| best_of(&column.front, args.objective));
        common.or(own).map_or_else(EncodingArgs::default, Trial::encoding)
    };
    replace(out, args.force, context, |temporary| rows.rewrite(temporary, &encoding, context))?;
    tell_sizes((&rows.name, data_len(rows)), out, context);
    Ok(())
}
