//! Two tables column by column, whatever they are stored in: names, types, rows.

use superchunk::Error;
use superchunk::table::{Column, Source};

use super::Rows;
use super::objects::{Object, Objects};
use crate::context::Context;
use crate::failure::{Failure, Outcome};

/// The bytes of a column that are compared in one step.
const PIECE: u64 = 1 << 20;

/// The first difference between two tables.
pub(crate) struct TableDifference {
    /// `column`, `content` or `length`.
    pub(crate) what: &'static str,
    pub(crate) words: String,
    pub(crate) column: Option<String>,
    pub(crate) row: Option<u64>,
}

/// Compares names, types and rows. The order of the columns does not count.
pub(crate) fn compare(
    left: &Rows,
    right: &Rows,
    context: &Context,
) -> Outcome<Option<TableDifference>> {
    let pairs = match pairs(left, right) {
        Ok(pairs) => pairs,
        Err(difference) => return Ok(Some(difference)),
    };
    let (one, other) = (left.source(), right.source());
    let rows = one.rows().min(other.rows());
    let row_len = pairs.iter().map(|pair| pair.left.row_size() as u64).sum::<u64>();
    let stored = left.stored().saturating_add(right.stored());
    context.check_output(&left.name, rows.saturating_mul(row_len), stored)?;
    let sides = Sides {
        one: &*one,
        other: &*other,
        objects: (left.objects(), right.objects()),
        most: context.limits().max_decoded,
    };
    let mut progress = context.progress("comparing", Some(rows.saturating_mul(row_len)));
    let widest = pairs.iter().map(|pair| pair.left.row_size()).max().unwrap_or(1).max(1);
    let batch = (PIECE / widest as u64).max(1);
    let mut first = 0;
    while first < rows {
        let stop = rows.min(first.saturating_add(batch));
        if let Some(found) = sides.first_difference(&pairs, first, stop)? {
            return Ok(Some(found));
        }
        progress.add(usize::try_from((stop - first).saturating_mul(row_len)).unwrap_or(usize::MAX));
        first = stop;
    }
    let counts = (one.rows(), other.rows());
    Ok((counts.0 != counts.1).then(|| TableDifference {
        what: "length",
        words: format!("there are {} and {} rows; the first {rows} are equal", counts.0, counts.1),
        column: None,
        row: Some(rows),
    }))
}

/// A column of both tables.
struct Pair<'a> {
    left: &'a Column,
    right: &'a Column,
    is_object: bool,
}

/// The columns of both tables by name, or what differs in them.
fn pairs<'a>(left: &'a Rows, right: &'a Rows) -> Result<Vec<Pair<'a>>, TableDifference> {
    let of_columns = |column: &Column, words: String| TableDifference {
        what: "column",
        words,
        column: Some(column.name.clone()),
        row: None,
    };
    let only_in = |column: &Column, side: &Rows| {
        of_columns(column, format!("column `{}` is only in `{}`", column.name, side.name))
    };
    let (ours, theirs) = (left.columns(), right.columns());
    let is_nameless = left.is_array() || right.is_array();
    let matched: Vec<(&Column, &Column)> = match (ours, theirs) {
        ([left], [right]) if is_nameless => vec![(left, right)],
        _ => {
            let find = |column: &Column| theirs.iter().find(|other| other.name == column.name);
            let matched = ours.iter().map(|column| {
                find(column).map(|other| (column, other)).ok_or_else(|| only_in(column, left))
            });
            let matched = matched.collect::<Result<Vec<_>, _>>()?;
            let is_known = |column: &&Column| ours.iter().any(|known| known.name == column.name);
            match theirs.iter().find(|column| !is_known(column)) {
                Some(column) => return Err(only_in(column, right)),
                None => matched,
            }
        }
    };
    let objects = (left.objects(), right.objects());
    let pairs = matched.into_iter().map(|(left, right)| {
        let are_objects = (objects.0.contain(&left.name), objects.1.contain(&right.name));
        let types = (type_words(left, are_objects.0), type_words(right, are_objects.1));
        if types.0 != types.1 {
            let words = format!("column `{}` is {} and {}", left.name, types.0, types.1);
            return Err(of_columns(left, words));
        }
        Ok(Pair { left, right, is_object: are_objects.0 })
    });
    pairs.collect()
}

/// The type of a column and the shape of its rows.
fn type_words(column: &Column, is_object: bool) -> String {
    if is_object {
        return "object".to_owned();
    }
    match column.row_shape.as_slice() {
        [] => column.dtype.to_string(),
        shape => format!("{} in rows of {shape:?}", column.dtype),
    }
}

/// The rows of both tables.
struct Sides<'a> {
    one: &'a dyn Source,
    other: &'a dyn Source,
    objects: (Objects<'a>, Objects<'a>),
    /// The most bytes to hold of a column.
    most: usize,
}

impl Sides<'_> {
    /// The first of these rows that differs in any column.
    fn first_difference(
        &self,
        pairs: &[Pair<'_>],
        first: u64,
        mut stop: u64,
    ) -> Outcome<Option<TableDifference>> {
        let mut found = None;
        for pair in pairs {
            let differs = match pair.is_object {
                true => self.objects_differ(pair, first, stop)?,
                false => self.items_differ(pair, first, stop)?,
            };
            if let Some((row, words)) = differs {
                // Of the other columns only the rows before it count.
                stop = row;
                let name = pair.left.name.clone();
                let words = format!("the first difference is in column `{name}`, row {row}{words}");
                let (what, column, row) = ("content", Some(name), Some(row));
                found = Some(TableDifference { what, words, column, row });
            }
        }
        Ok(found)
    }

    fn items_differ(
        &self,
        pair: &Pair<'_>,
        first: u64,
        stop: u64,
    ) -> Outcome<Option<(u64, String)>> {
        let row_len = pair.left.row_size().max(1);
        let rows = usize::try_from(stop - first).unwrap_or(usize::MAX);
        let len = rows.saturating_mul(row_len);
        if len > self.most {
            let words = format!(
                "a row of column `{}` has {len} bytes, the limit is {}",
                pair.left.name, self.most
            );
            return Err(Error::limit(words).into());
        }
        let read = |source: &dyn Source, column: &Column| {
            let mut bytes = vec![0; len];
            let place = source.columns().iter().position(|known| known.name == column.name);
            source.read(place.unwrap_or(usize::MAX), first..stop, &mut bytes)?;
            Ok::<_, Failure>(bytes)
        };
        let (one, other) = (read(self.one, pair.left)?, read(self.other, pair.right)?);
        if one == other {
            return Ok(None);
        }
        let Some(at) = one.iter().zip(&other).position(|(one, other)| one != other) else {
            return Ok(None);
        };
        let size = pair.left.dtype.item_size().max(1);
        let start = at / size * size;
        let text = |bytes: &[u8]| {
            pair.left.dtype.to_json(bytes.get(start..start + size).unwrap_or_default(), &[])
        };
        let item = place_in_row(start % row_len / size, &pair.left.row_shape);
        let words = format!("{item}: {} and {}", text(&one), text(&other));
        Ok(Some((first + (at / row_len) as u64, words)))
    }

    fn objects_differ(
        &self,
        pair: &Pair<'_>,
        first: u64,
        stop: u64,
    ) -> Outcome<Option<(u64, String)>> {
        let (ours, theirs) = (&pair.left.name, &pair.right.name);
        for row in first..stop {
            let objects = (self.objects.0.get(ours, row), self.objects.1.get(theirs, row));
            let (Some(one), Some(other)) = objects else { continue };
            let (one, other) = (one?, other?);
            let are_equal = match (&one, &other) {
                (Object::Plain(one), Object::Plain(other)) => one == other,
                _ => self.objects.0.bytes(ours, row)? == self.objects.1.bytes(theirs, row)?,
            };
            if !are_equal {
                return Ok(Some((row, format!(": {} and {}", one.to_json(), other.to_json()))));
            }
        }
        Ok(None)
    }
}

/// Where an item stands in a row that is an array: `, item [1, 2]`.
fn place_in_row(number: usize, shape: &[usize]) -> String {
    if shape.is_empty() {
        return String::new();
    }
    let mut rest = number;
    let mut place: Vec<usize> = Vec::new();
    for side in shape.iter().rev() {
        place.push(rest % (*side).max(1));
        rest /= (*side).max(1);
    }
    place.reverse();
    format!(", item {place:?}")
}
