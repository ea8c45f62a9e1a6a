//! `diff`: are the contents equal, whatever they are stored in?

use std::ffi::OsString;

use clap::Args;
use superchunk::Value;

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::{Content, Input};
use crate::location::Location;
use crate::memory::to_usize;
use crate::objects::ObjectList;
use crate::opened::Found;
use crate::output::{self, Document};
use crate::sizes::stored_of_path;
use crate::tables::{self, Rows, TableDifference};
use crate::values::{guess, parse_dtype};

const EXAMPLES: &str = "\
Examples:
  superchunk diff a.b2frame b.b2frame
  superchunk diff readings.f8.b2frame readings.f8     packed and plain
  superchunk diff quotes.bcolz quotes.blsk            tables, column by column
  superchunk diff quotes.bcolz::close close.npy       one column
Exits with 0 when they are equal, with 1 when they differ.";

/// The options of `diff`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DiffArgs {
    /// One; of a table also PATH::COLUMN
    left: OsString,
    /// The other
    right: OsString,
    /// Compare attributes, too
    #[arg(long)]
    meta: bool,
}

/// A difference, in words.
struct Difference {
    what: &'static str,
    words: String,
    /// The first byte that differs.
    offset: Option<u64>,
    /// Of a table, the column and the row.
    column: Option<String>,
    row: Option<u64>,
}

impl Difference {
    /// Of something that has no columns.
    fn new(what: &'static str, words: String, offset: Option<u64>) -> Self {
        Self { what, words, offset, column: None, row: None }
    }
}

impl From<TableDifference> for Difference {
    fn from(found: TableDifference) -> Self {
        let TableDifference { what, words, column, row } = found;
        Self { what, words, offset: None, column, row }
    }
}

pub(crate) fn run(args: &DiffArgs, context: &Context) -> Outcome {
    let (left, right) = (Location::parse(&args.left), Location::parse(&args.right));
    if left.slice.is_some() || right.slice.is_some() {
        return Err(
            Failure::usage("diff compares all of its inputs").with_help("cut with `unpack`")
        );
    }
    let found = match (Found::or_folder(&left)?, Found::or_folder(&right)?) {
        (Some(one), Some(other)) if !one.is_table() && !other.is_table() => {
            let inputs = (Input::of(one, context)?, Input::of(other, context)?);
            files_differ(&inputs.0, &inputs.1, args.meta, context)?
        }
        (one, other) => {
            let (one, other) =
                (Rows::of_any(&left, one, context)?, Rows::of_any(&right, other, context)?);
            tables_differ(&one, &other, args.meta, context)?
        }
    };
    report(found.as_ref(), context)?;
    if found.is_some() { Err(Failure::Quiet(Exit::Failure)) } else { Ok(()) }
}

fn tables_differ(
    left: &Rows,
    right: &Rows,
    with_meta: bool,
    context: &Context,
) -> Outcome<Option<Difference>> {
    let found = tables::compare(left, right, context)?.map(Difference::from);
    let of_meta = || attributes_differ(&left.attribute_values(), &right.attribute_values());
    Ok(found.or_else(|| of_meta().filter(|_| with_meta)))
}

fn files_differ(
    left: &Input,
    right: &Input,
    with_meta: bool,
    context: &Context,
) -> Outcome<Option<Difference>> {
    match compare(left, right, context)? {
        None if with_meta => Ok(attributes_differ(&left.attributes()?, &right.attributes()?)),
        found => Ok(found),
    }
}

fn report(found: Option<&Difference>, context: &Context) -> Outcome {
    if context.json() {
        return Document::new("diff")
            .with("equal", found.is_none())
            .with_or_null("what", found.map(|found| found.what))
            .with_or_null("offset", found.and_then(|found| found.offset))
            .with_or_null("column", found.and_then(|found| found.column.clone()))
            .with_or_null("row", found.and_then(|found| found.row))
            .with_or_null("difference", found.map(|found| found.words.clone()))
            .print();
    }
    match found {
        Some(found) => output::print(&format!("{}\n", found.words))?,
        None if context.is_verbose() => context.tell("equal"),
        None => {}
    }
    Ok(())
}

fn compare(left: &Input, right: &Input, context: &Context) -> Outcome<Option<Difference>> {
    if let (Content::Array(one), Content::Array(other)) = (&left.content, &right.content) {
        let (one, other) = ((one.shape(), one.dtype()), (other.shape(), other.dtype()));
        if one != other {
            let words =
                format!("the arrays are {:?} of {} and {:?} of {}", one.0, one.1, other.0, other.1);
            return Ok(Some(Difference::new("array", words, None)));
        }
    }
    let shorter = left.len().min(right.len());
    let stored = stored_of_path(&left.path).saturating_add(stored_of_path(&right.path));
    context.check_output(&left.name, shorter, stored)?;
    if let (Content::Objects(one), Content::Objects(other)) = (&left.content, &right.content) {
        return compare_objects(one, other);
    }
    // An array is read in rows, all else in any pieces.
    let rows = if matches!(right.content, Content::Array(_)) { right } else { left };
    let piece = rows.piece().max(1) as u64;
    let mut progress = context.progress("comparing", Some(shorter));
    rows.check_held(piece.min(shorter))?;
    let longest = to_usize(piece.min(shorter))?;
    let (mut one, mut other) = (vec![0; longest], vec![0; longest]);
    let mut at = 0;
    while at < shorter {
        let end = (at + piece).min(shorter);
        let len = to_usize(end - at)?;
        let one = one.get_mut(..len).unwrap_or_default();
        let other = other.get_mut(..len).unwrap_or_default();
        left.read(at..end, one)?;
        right.read(at..end, other)?;
        if let Some(found) = first_difference(one, other) {
            return Ok(Some(at_byte(left, at + found as u64, one, other, found)?));
        }
        progress.add(len);
        at = end;
    }
    Ok((left.len() != right.len()).then(|| {
        let words = format!(
            "the lengths differ: {} and {} bytes; the first {shorter} are equal",
            left.len(),
            right.len()
        );
        Difference::new("length", words, Some(shorter))
    }))
}

fn compare_objects(one: &ObjectList, other: &ObjectList) -> Outcome<Option<Difference>> {
    for number in 0..one.count().min(other.count()) {
        let (left, right) = (one.value(number)?, other.value(number)?);
        if left != right {
            let words = format!(
                "the first difference is in object {number}: {} and {}",
                left.to_json(),
                right.to_json()
            );
            return Ok(Some(Difference::new("content", words, None)));
        }
    }
    let counts = (one.count(), other.count());
    Ok((counts.0 != counts.1).then(|| {
        let words =
            format!("there are {} and {} objects; the first ones are equal", counts.0, counts.1);
        Difference::new("length", words, None)
    }))
}

fn first_difference(one: &[u8], other: &[u8]) -> Option<usize> {
    if one == other {
        return None;
    }
    one.iter().zip(other).position(|(one, other)| one != other)
}

/// The difference with the two items in question.
fn at_byte(input: &Input, offset: u64, one: &[u8], other: &[u8], at: usize) -> Outcome<Difference> {
    let size = input.item_size();
    let dtype = match input.dtype() {
        Some(text) => parse_dtype(&text)?,
        None => guess(size)?,
    };
    let start = at / size * size;
    let item = |bytes: &[u8]| {
        let end = (start + size).min(bytes.len());
        dtype.format_item(bytes.get(start..end).unwrap_or_default())
    };
    let number = offset / size as u64;
    let words = format!(
        "the first difference is in item {number}, at byte {offset}: {} and {}",
        item(one),
        item(other)
    );
    Ok(Difference::new("content", words, Some(offset)))
}

fn attributes_differ(one: &[(String, Value)], other: &[(String, Value)]) -> Option<Difference> {
    let differs = |(name, value): &&(String, Value)| {
        !other.iter().any(|(known, theirs)| known == name && theirs == value)
    };
    let found = one
        .iter()
        .find(differs)
        .or_else(|| other.iter().find(|(name, _)| !one.iter().any(|(known, _)| known == name)));
    found.map(|(name, _)| {
        Difference::new("attribute", format!("the attribute `{name}` differs"), None)
    })
}
