//! Sums and other measures of rows, all together or by groups: `--agg 'sum(volume),mean(close)' --by day`.

use superchunk::DKind;
use superchunk::table::{Aggregate, Column, Measure, Source, scan};

use super::objects::Objects;
use super::print::{Shown, TableForm, Wanted, print};
use super::{Rows, filtered, no_column, of_condition, span_of};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::span::Span;

/// What is computed, as it was typed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals<'a> {
    /// Measures of columns.
    pub(crate) measures: Option<&'a str>,
    /// Columns whose values make groups.
    pub(crate) by: Option<&'a str>,
}

const MEASURES: [(&str, Measure); 6] = [
    ("count", Measure::Count),
    ("sum", Measure::Sum),
    ("min", Measure::Min),
    ("max", Measure::Max),
    ("mean", Measure::Mean),
    ("std", Measure::Std),
];

/// Prints a row for each group, in the order in which they first occur.
pub(crate) fn show_totals(
    rows: &Rows,
    totals: Totals<'_>,
    wanted: Wanted<'_>,
    form: TableForm,
    context: &Context,
) -> Outcome {
    let by: Vec<&str> = totals.by.iter().flat_map(|text| text.split(',').map(str::trim)).collect();
    let measures = parse(totals.measures.unwrap_or_default())?;
    let span = span_of(rows, wanted.slice)?;
    if span.step != 1 {
        return Err(Failure::usage("measures are of rows that follow each other, without a step"));
    }
    let source = rows.source();
    let columns = source.columns();
    by.iter().try_for_each(|name| column_of(columns, name).map(drop))?;
    measures.iter().try_for_each(|(measure, name)| check_measure(columns, *measure, name))?;
    let measures: Vec<Aggregate> =
        measures.into_iter().map(|(measure, name)| Aggregate::new(measure, name)).collect();
    let scan = scan(&*source)
        .with_rows(span.start..span.stop)
        .with_executor(context.executor())
        .with_limits(context.limits());
    let groups = filtered(scan, wanted.condition)?.group_by(&by, &measures);
    let groups = groups.map_err(|error| of_condition(error, wanted.condition))?;
    let wanted = Wanted { condition: None, slice: None, ..wanted };
    let shown = Shown {
        source: &groups,
        columns: groups.columns(),
        objects: &Objects::none(),
        span: Span::all(groups.rows()),
    };
    print(&shown, &wanted.views(groups.columns())?, wanted, form, context)
}

/// `sum(volume),mean(close)`; the word `count` alone is the number of rows, which is always told.
fn parse(text: &str) -> Outcome<Vec<(Measure, &str)>> {
    let mut measures = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find([',', '(']).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let Some(inner) = behind.strip_prefix('(') else {
            if word.trim() != "count" {
                return Err(unknown(word));
            }
            rest = behind.strip_prefix(',').unwrap_or_default().trim_start();
            continue;
        };
        let known = MEASURES.iter().find(|(known, _)| *known == word.trim());
        let (_, measure) = known.ok_or_else(|| unknown(word))?;
        let (column, behind) = inner.split_once(')').ok_or_else(|| unknown(rest))?;
        measures.push((*measure, column.trim()));
        let behind = behind.trim_start();
        rest = match behind.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None if behind.is_empty() => behind,
            None => return Err(unknown(behind)),
        };
    }
    Ok(measures)
}

fn column_of<'c>(columns: &'c [Column], name: &str) -> Outcome<&'c Column> {
    let found = columns.iter().find(|column| column.name == name);
    found.ok_or_else(|| no_column(name, columns))
}

/// Refuses a measure of a column that is not there, or has none.
fn check_measure(columns: &[Column], measure: Measure, name: &str) -> Outcome {
    let column = column_of(columns, name)?;
    let has_measure = match column.dtype.kind() {
        DKind::Bool | DKind::Int | DKind::Uint | DKind::Timedelta { .. } => true,
        DKind::Float => column.dtype.item_size() <= 8,
        DKind::Datetime { .. } => measure != Measure::Sum,
        _ => false,
    };
    if has_measure && column.row_shape.is_empty() {
        return Ok(());
    }
    let word = MEASURES.iter().find(|(_, known)| *known == measure).map_or("", |(word, _)| word);
    let words = format!(
        "--agg '{word}({name})' needs a column of numbers or times, `{name}` has items of type {}",
        column.dtype
    );
    Err(Failure::usage(words).with_help("the number of rows, `count`, and --by need none"))
}

fn unknown(text: &str) -> Failure {
    let words: Vec<&str> = MEASURES.iter().map(|(word, _)| *word).collect();
    Failure::usage(format!("`{}` is no measure of a column", text.trim()))
        .with_help(format!("as in sum(volume),mean(close); there are {}", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_read_and_others_refused() {
        let expected = [(Measure::Sum, "volume"), (Measure::Mean, "position/x")];
        assert_eq!(parse(" sum(volume), mean( position/x ) ,count").unwrap(), expected);
        assert_eq!(parse("count").unwrap(), []);
        for text in ["median(x)", "sum", "sum(x", "sum(x)y", "volume", "(x)"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
