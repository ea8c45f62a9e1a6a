//! Sums and other measures of rows, all together or by groups: `--agg 'sum(volume),mean(close)' --by day`.

use superchunk::table::{Aggregate, Measure, Source, scan};

use super::objects::Objects;
use super::print::{Shown, TableForm, Wanted, print};
use super::view::no_column;
use super::{Rows, span_of};
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
    let known = source.columns();
    for name in by.iter().copied().chain(measures.iter().map(Aggregate::column)) {
        if !known.iter().any(|column| column.name == name) {
            return Err(no_column(name, known));
        }
    }
    let mut scan = scan(&*source)
        .rows(span.start..span.stop)
        .executor(context.executor())
        .limits(context.limits());
    if let Some(condition) = wanted.condition {
        scan = scan.filter(condition)?;
    }
    let groups = scan.group_by(&by, &measures)?;
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
fn parse(text: &str) -> Outcome<Vec<Aggregate>> {
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
        measures.push(Aggregate::new(*measure, column.trim()));
        let behind = behind.trim_start();
        rest = match behind.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None if behind.is_empty() => behind,
            None => return Err(unknown(behind)),
        };
    }
    Ok(measures)
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
        let of = |measure, column: &str| Aggregate::new(measure, column);
        let expected = [of(Measure::Sum, "volume"), of(Measure::Mean, "position/x")];
        assert_eq!(parse(" sum(volume), mean( position/x ) ,count").unwrap(), expected);
        assert_eq!(parse("count").unwrap(), []);
        for text in ["median(x)", "sum", "sum(x", "sum(x)y", "volume", "(x)"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
