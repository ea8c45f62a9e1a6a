//! `cat`: values as text.

use std::path::PathBuf;

use clap::Args;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::{Content, Input};
use crate::location::{Location, LocationArg};
use crate::objects::{self, ObjectList};
use crate::opened::Found;
use crate::output::{self, Document, numbers};
use crate::picture;
use crate::span::Span;
use crate::tables::{self, Rows, TableForm, Totals, Wanted};
use crate::target::Target;
use crate::values::{Escape, Form, Printer, guess, parse_dtype};

const EXAMPLES: &str = "\
Examples:
  superchunk cat readings.b2frame@100:110 --dtype '<f8'
  superchunk cat readings.b2frame@-5: --format csv
  superchunk cat log.b2frame --format raw | grep error
  superchunk cat names.blp@1000                 one object of any length
  superchunk cat quotes.bcolz --where 'close > open and volume > 1e6' --cols day,close
  superchunk cat quotes.bcolz --agg 'sum(volume),mean(close)' --by day
  superchunk cat daily_equities.bcolz@:100 --cols 'id,day:datetime64[s],close/1000'
  superchunk cat cube.b2nd@0,:,: --png plane.png";

/// The most bytes of which the text is made at once.
const PRINTED: usize = 1 << 16;

/// The options of `cat`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CatArgs {
    #[command(flatten)]
    from: LocationArg,
    /// Make a picture of a plane of an array instead
    #[arg(long, value_name = "OUT.png")]
    png: Option<PathBuf>,
    /// Overwrite the picture
    #[arg(short, long, requires = "png")]
    force: bool,
    #[command(flatten)]
    view: ViewArgs,
}

/// How values are shown.
#[derive(Debug, Args)]
pub(super) struct ViewArgs {
    /// Type of an item as NumPy spells it; else unsigned integers
    #[arg(long, value_name = "TYPE")]
    dtype: Option<String>,
    /// Columns of a table: NAME, NAME/1000, NAME*0.01, NAME:TYPE
    #[arg(long, value_name = "A,B…", allow_hyphen_values = true)]
    cols: Option<String>,
    /// Rows of a table for which this holds, as 'close > open and volume > 1e6'
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    condition: Option<String>,
    /// Measures of a table, as 'sum(volume),mean(close)'
    #[arg(long, value_name = "MEASURES", allow_hyphen_values = true)]
    agg: Option<String>,
    /// Columns of a table whose values make groups, for --agg
    #[arg(long, value_name = "A,B…", allow_hyphen_values = true)]
    by: Option<String>,
    /// table, csv, json, jsonl, raw, hex; of tables also md
    #[arg(long, value_name = "FORM", hide_possible_values = true)]
    format: Option<Form>,
    /// In CSV, write bytes that are no text as \xff, and a backslash as two
    #[arg(long)]
    escape: bool,
    /// Do not cut long texts of a table to the width of the terminal
    #[arg(long)]
    wide: bool,
}

pub(crate) fn run(args: &CatArgs, context: &Context) -> Outcome {
    if let Some(path) = &args.png {
        let target = Target::Path(path.clone());
        return picture(&args.from.location(), &args.view, &target, args.force, context);
    }
    show(&args.from.location(), &args.view, None, context)
}

/// Shows values; `head` is the number of values, or without its sign of those at the end to leave out.
pub(super) fn show(
    location: &Location,
    view: &ViewArgs,
    head: Option<i64>,
    context: &Context,
) -> Outcome {
    if let Some(form) = view.format.filter(|form| context.json() && *form != Form::Json) {
        let words = format!("--json prints one document, --format {} is not one", form.name());
        return Err(Failure::usage(words).with_help("leave one of the two out"));
    }
    let found = Found::at(location)?;
    if found.is_table() {
        let rows = Rows::of(&found, context)?;
        return show_rows(&rows, location, view, head, context);
    }
    let of_tables = [&view.cols, &view.condition, &view.agg, &view.by];
    let needs_table =
        of_tables.iter().any(|option| option.is_some()) || view.format == Some(Form::Md);
    let input = Input::of(found, context)?;
    if let Some((rows, location)) = fields(&input, location, view, needs_table, context)? {
        return show_rows(&rows, &location, view, head, context);
    }
    if needs_table {
        return Err(input.refuse_as_table());
    }
    if let Content::Objects(list) = &input.content {
        return show_objects(&input, list, view, head, context);
    }
    let known = view.dtype.clone().or_else(|| input.dtype());
    let form = match (view.format, context.json()) {
        (Some(form), _) => form,
        (None, true) => Form::Json,
        // Bytes of no type are for those who read hexadecimal.
        (None, false) if known.is_none() && input.item_size() == 1 => Form::Hex,
        (None, false) => Form::Table,
    };
    let dtype = match known {
        Some(text) => parse_dtype(&text)?,
        None => guess(input.item_size())?,
    };
    let size = dtype.item_size().max(1) as u64;
    let count = match form {
        Form::Raw | Form::Hex => input.selected_len()? / size,
        _ => input.item_count(&dtype)?,
    };
    if form == Form::Raw {
        drop(output::binary()?);
    }
    let shape = match (&input.content, &input.slice) {
        (Content::Array(array), slice) => Some(array.shape_of(slice.as_deref())?),
        _ => None,
    };
    let limit = head.map(|head| first_of(head, count).saturating_mul(size));
    input.check_expansion_to(input.selected_len()?.min(limit.unwrap_or(u64::MAX)), context)?;
    // The first items of an array are a list, which has no shape.
    let shape = shape.filter(|_| limit.is_none() || form != Form::Json);
    let escape = Escape::of(view.escape);
    let mut printer = Printer::new(output::text(), dtype, form, escape, shape);
    let shown = pieces(&input, size, limit, &mut |bytes| {
        bytes.chunks(PRINTED).try_for_each(|part| printer.put(part))
    });
    match shown {
        Ok(()) => printer.finish(),
        Err(failure) => Err(failure),
    }
}

fn show_objects(
    input: &Input,
    list: &ObjectList,
    view: &ViewArgs,
    head: Option<i64>,
    context: &Context,
) -> Outcome {
    let usual = if context.json() { Form::Json } else { Form::Table };
    let span = list.span(input.slice.as_deref())?;
    let span = span.first(head.map_or(u64::MAX, |head| first_of(head, span.count())));
    input.check_expansion_to(list.len_of(span.count())?, context)?;
    objects::print(list, span, view.format.unwrap_or(usual), Escape::of(view.escape))
}

/// An array of structures as a table, where options of tables or lines of values are wanted.
fn fields(
    input: &Input,
    location: &Location,
    view: &ViewArgs,
    needs_table: bool,
    context: &Context,
) -> Outcome<Option<(Rows, Location)>> {
    let is_lines = matches!(view.format, None | Some(Form::Table | Form::Csv)) && !context.json();
    if !input.has_fields() || !(needs_table || is_lines && view.dtype.is_none()) {
        return Ok(None);
    }
    let location = Location { path: Some(input.path.clone()), ..location.clone() };
    let found = Found::at_path(&input.path)?;
    Ok(Some((Rows::of_any(&location, Some(found), context)?, location)))
}

/// The number of values to show of `count`: all but the last ones if `head` is negative.
fn first_of(head: i64, count: u64) -> u64 {
    u64::try_from(head).unwrap_or_else(|_| count.saturating_sub(head.unsigned_abs()))
}

fn show_rows(
    rows: &Rows,
    location: &Location,
    view: &ViewArgs,
    head: Option<i64>,
    context: &Context,
) -> Outcome {
    if view.dtype.is_some() {
        return Err(Failure::usage("--dtype is for items that have no columns")
            .with_help("--cols NAME:TYPE shows a column as another type"));
    }
    let slice = location.slice.as_deref();
    let chosen = [&view.condition, &view.agg, &view.by].iter().any(|option| option.is_some());
    if chosen && head.is_some_and(|head| head < 0) {
        let words = "a negative -n needs the number of rows, which --where, --agg and --by change";
        return Err(Failure::usage(words).with_help("give the number of rows to show"));
    }
    let rows_in =
        slice.map_or(Ok(Span::all(rows.rows())), |slice| Span::parse(slice, rows.rows()))?;
    let wanted = Wanted {
        columns: view.cols.as_deref(),
        condition: view.condition.as_deref(),
        slice,
        most: head.map(|head| first_of(head, rows_in.count())),
    };
    let escape = Escape::of(view.escape);
    let form = TableForm::of(view.format, context.json(), escape, view.wide)?;
    let totals = Totals { measures: view.agg.as_deref(), by: view.by.as_deref() };
    if totals.measures.is_some() || totals.by.is_some() {
        return tables::show_totals(rows, totals, wanted, form, context);
    }
    tables::show(rows, wanted, form, context)
}

/// Paints a plane of an array.
fn picture(
    location: &Location,
    view: &ViewArgs,
    target: &Target,
    force: bool,
    context: &Context,
) -> Outcome {
    let input = Input::open(location, context)?;
    let Content::Array(array) = &input.content else {
        return Err(Failure::usage("only arrays have planes to make a picture of"));
    };
    let shape = array.shape_of(input.slice.as_deref())?;
    let text = view.dtype.clone().or_else(|| input.dtype()).unwrap_or_default();
    let dtype = parse_dtype(&text)?;
    let dots = picture::check(&shape)?;
    // A dot becomes a number of eight bytes, whatever its item has.
    input.check_held(dots.saturating_mul(8.max(dtype.item_size() as u64)))?;
    input.check_expansion(context)?;
    let mut items = Vec::new();
    input.pieces(&mut |bytes| {
        items.extend_from_slice(bytes);
        Ok(())
    })?;
    target.write(force, context, |out| picture::write_png(out, &shape, &dtype, &items))?;
    if !context.json() {
        return Ok(());
    }
    let document = Document::new("cat").with("path", input.name.as_str());
    document.with("output", target.name()).with("shape", numbers(shape)).print()
}

/// All that is to be shown, or its first `limit` bytes.
fn pieces(
    input: &Input,
    size: u64,
    limit: Option<u64>,
    take: &mut dyn FnMut(&[u8]) -> Outcome,
) -> Outcome {
    let Some(limit) = limit else { return input.pieces(take) };
    let count = limit / size;
    if !matches!(input.content, Content::Array(_)) && size == input.item_size() as u64 {
        let items = input.len() / size;
        let span = match &input.slice {
            Some(slice) => Span::parse(slice, items)?,
            None => Span::all(items),
        };
        return input.items(span.first(count), take);
    }
    let mut left = limit;
    let stopped = input.pieces(&mut |bytes| {
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        take(bytes.get(..len).unwrap_or_default())?;
        left -= len as u64;
        if left == 0 { Err(Failure::Enough) } else { Ok(()) }
    });
    match stopped {
        Err(Failure::Enough) => Ok(()),
        other => other,
    }
}
