//! Folders with an array in a frame for each column of a table.

use std::fs;
use std::path::Path;

use super::SalvageOptions;
use super::frame;
use super::rebuild::unless_limit;
use super::report::{ATTRIBUTE, ChunkOrder, FoundAt, SalvageReport};
use crate::columns::{ColumnFolder, ColumnFolderOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::nd::NdArray;
use crate::schunk::{FrameOptions, OpenOptions, SuperChunk};
use crate::store::FileReader;
use crate::wire::json::Json;

/// Recovers what can be recovered of the folder of columns at `from` into a new one at `to`.
///
/// A column is lost if nothing of its frame can be read, or its shape is lost. Columns become as
/// long as the shortest of them. Without the list they come by name, and where it names arrays that are
/// not there, those that it does not name come last.
pub fn columns(
    from: &Path,
    to: &Path,
    options: impl Into<SalvageOptions>,
) -> Result<SalvageReport> {
    let options = options.into();
    let limits = &options.limits;
    let mut report = SalvageReport::new("folder of columns", ChunkOrder::Index);
    let open = OpenOptions::new().with_limits(*limits);
    let old = match unless_limit(ColumnFolder::open_with(from, &open))? {
        Ok(old) => old.with_misnamed()?,
        Err(error) => {
            report.lose(FoundAt::File(ColumnFolder::LIST.to_owned()), error.to_string());
            ColumnFolder::without_list(from)?
        }
    };
    // The folder, and those of its groups.
    let new = ColumnFolder::create(to, &ColumnFolderOptions::new().with_columns(old.names()))?;
    let mut arrays = Vec::new();
    for name in old.names() {
        let place = new.place(name);
        match column(&old.place(name), &place, &options)? {
            Ok((array, found)) => {
                arrays.push((name, array));
                report.columns.push((name.clone(), found));
            }
            Err(error) => {
                let _ = fs::remove_file(&place);
                let words = format!("the column is lost: {error}");
                report.lose(FoundAt::File(format!("{name}.b2nd")), words);
            }
        }
    }
    let rows = |array: &NdArray| array.shape().first().map_or(0, |rows| *rows);
    let Some(shortest) = arrays.iter().map(|(_, array)| rows(array)).min() else {
        return Err(Error::corrupt("nothing can be read of any column").within("salvage"));
    };
    for (name, array) in &mut arrays {
        let mut shape = array.shape().to_vec();
        let count = rows(array);
        if count > shortest {
            let words = format!("rows {shortest} to {count} are cut: another column lacks them");
            report.lose(FoundAt::File(format!("{name}.b2nd")), words);
            shape.splice(..1, [shortest]);
            array.resize(&shape)?;
        }
    }
    let mut kept = new.with_names(arrays.iter().map(|(name, _)| (*name).clone()).collect());
    arrays.into_iter().try_for_each(|(_, array)| array.close())?;
    for (name, value) in old.attributes().as_object().unwrap_or_default() {
        kept.set_attribute(name.clone(), value.clone())?;
    }
    let lines: Vec<Json> = report.uncertain().into_iter().map(Json::from).collect();
    if !lines.is_empty() {
        kept.set_attribute(ATTRIBUTE, lines)?;
    }
    kept.commit()?;
    Ok(report)
}

/// What can be read of a column, or why nothing can.
fn column(
    from: &Path,
    to: &Path,
    options: &SalvageOptions,
) -> Result<Result<(NdArray, SalvageReport)>> {
    let file = match FileReader::open(from) {
        Ok(file) => file,
        Err(error) => return Ok(Err(error)),
    };
    let create = &mut |options: &FrameOptions| SuperChunk::create(to, options);
    match frame(&file, create, options) {
        // A failed write does not mean that the column is lost.
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok(Err(error)),
        saved => {
            let (saved, report) = saved?;
            Ok(NdArray::from_superchunk(saved).map(|array| (array, report)))
        }
    }
}
