//! Which columns there are, and what their items are: what `storage` says, as far as the files do not
//! contradict.

use super::super::report::{ChunkOrder, FoundAt, SalvageReport};
use super::survey::{Column, Survey};
use crate::dtype::DType;
use crate::error::Result;
use crate::superfile::Leaf;

/// What the chunks of long items say.
const LONG: usize = 255;

/// A column of the new tree, and its files, if there are any.
pub(super) struct Typed<'s> {
    pub(super) leaf: Leaf,
    pub(super) files: Option<&'s Column>,
}

/// All columns of the new tree.
pub(super) fn columns<'s>(
    survey: &'s Survey,
    report: &mut SalvageReport,
) -> Result<Vec<Typed<'s>>> {
    let stated = survey.storage.columns.as_deref();
    // An array has one column, without a name.
    let is_array = match stated {
        Some(columns) => columns.iter().any(|leaf| leaf.path.is_empty()),
        None => survey.columns.iter().all(|column| column.path.is_empty()),
    };
    if is_array {
        report.format = "blsk array";
    }
    let stated = stated.unwrap_or_default();
    let mut others =
        survey.columns.iter().filter(|column| !stated.iter().any(|leaf| leaf.path == column.path));
    let mut columns: Vec<Typed<'s>> = Vec::new();
    for leaf in stated {
        let own = survey.columns.iter().find(|column| column.path == leaf.path);
        // One of the two has a damaged name.
        let files = own.or_else(|| {
            let other = others.find(|other| other.path.is_empty() == is_array)?;
            let words = format!("there is no such folder, but one called `{}`", told(&other.path));
            report.lose(FoundAt::File(format!("data/{}", told(&leaf.path))), words);
            Some(other)
        });
        columns.push(match files {
            Some(files) => typed(Some(leaf), files, report)?,
            None => Typed { leaf: leaf.clone(), files: None },
        });
    }
    if stated.is_empty() && !is_array {
        report.order = ChunkOrder::Storage;
        report.notes.push("columns come in the order of their names".to_owned());
    }
    // What has chunks was a column, even if damage has made it a comment.
    for other in others {
        let path = other.path.as_slice();
        let apart = |typed: &Typed<'_>| {
            !typed.leaf.path.starts_with(path) && !path.starts_with(&typed.leaf.path)
        };
        let fits = path.is_empty() == is_array && columns.iter().all(apart);
        let words = match fits {
            true if stated.is_empty() => None,
            true => Some("no column has this name, but a folder with chunks"),
            false => Some("its chunks belong to no column"),
        };
        if let Some(words) = words {
            report.lose(FoundAt::File(format!("data/{}", told(path))), words.to_owned());
        }
        if fits {
            columns.push(typed(None, other, report)?);
        }
    }
    Ok(columns)
}

fn told(path: &[String]) -> String {
    path.join("/")
}

/// A column that has files: of its type, unless they have items of another size.
fn typed<'s>(
    stated: Option<&Leaf>,
    files: &'s Column,
    report: &mut SalvageReport,
) -> Result<Typed<'s>> {
    let (in_heads, in_chunks) = files.item_sizes();
    let path = files.path.clone();
    if let Some(Leaf { dtype, .. }) = stated {
        let size = dtype.item_size();
        let in_chunk = if size > LONG { 1 } else { size };
        let silent = in_heads.is_none() && in_chunks.is_none();
        if silent || in_heads == Some(size) || in_chunks == Some(in_chunk) {
            return Ok(Typed { leaf: Leaf { path, dtype: dtype.clone() }, files: Some(files) });
        }
        let words = format!("chunks do not have items like `{dtype}`");
        report.lose(FoundAt::File("meta/storage".to_owned()), words);
    }
    let size = match (in_heads, in_chunks) {
        (Some(head), Some(chunk)) if head == chunk || (chunk == 1 && head > LONG) => head,
        (head, chunk) => chunk.or(head).unwrap_or(1),
    };
    let dtype = match size {
        1 => DType::of::<u8>(),
        _ => DType::parse(&format!("|V{size}")).unwrap_or_else(|_| DType::of::<u8>()),
    };
    let name = if path.is_empty() { String::new() } else { format!(" of `{}`", told(&path)) };
    report.notes.push(format!("the type{name} is lost: items are assumed to be `{dtype}`"));
    Ok(Typed { leaf: Leaf { path, dtype }, files: Some(files) })
}
