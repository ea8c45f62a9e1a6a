//! Arrays and tables of bcolz: folders whose small files tell what the chunk files hold.

mod column;
mod objects;
mod plain;
mod shape;
mod survey;

use std::sync::Arc;

use super::SalvageOptions;
use super::rebuild::unless_limit;
use super::report::{ATTRIBUTE, ChunkOrder, FoundAt, SalvageReport};
use super::watched::Watch;
use crate::carray::{Attrs, Home, Rootdirs};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::store::Dir;
use crate::wire::json::Json;
use column::Column;
use survey::{Survey, text};

/// How many tables may stand inside each other.
const MAX_DEPTH: usize = 16;

/// Recovers what can be recovered of the bcolz array or table in the folder `from` into the folder `to`,
/// which must be empty.
///
/// Chunk files are numbered, so that rows keep their places; those of a file that is missing or damaged get
/// the value of new rows. Without `meta/sizes` there are as many rows as the files hold, without
/// `meta/storage` the type is assumed from the chunks. All columns of a table become equally long: as long
/// as the shortest that states its length, for a writer that was stopped has made some of them longer.
/// Python objects are copied as they are, never brought to life; a lost one becomes `None`.
pub fn bcolz(
    from: &dyn Dir,
    to: Arc<dyn Dir>,
    options: impl Into<SalvageOptions>,
) -> Result<SalvageReport> {
    let options = options.into();
    let watch = Watch::new(&options);
    let report = watch.finish(rebuild(&watch.over(from), to.clone(), &options.limits))?;
    label(&to, &options.limits, &report)?;
    Ok(report)
}

fn rebuild(from: &dyn Dir, to: Arc<dyn Dir>, limits: &Limits) -> Result<SalvageReport> {
    if !is_table(from, limits) {
        let column = Column::of(from, limits)?.ok_or_else(nothing)?;
        let rows = column.rows();
        return column.rebuild(from, to, rows, limits);
    }
    let plan = Plan::of(from, limits, 0)?;
    let (mut stated, mut found) = (Vec::new(), Vec::new());
    plan.lengths(&mut stated, &mut found);
    let rows = stated.iter().min().or(found.iter().max()).copied();
    let rows = rows.ok_or_else(nothing)?;
    plan.rebuild(from, to, rows, limits)
}

/// Lists in the attributes of the result what is lost or uncertain in it.
fn label(to: &Arc<dyn Dir>, limits: &Limits, report: &SalvageReport) -> Result<()> {
    let lines = report.uncertain();
    if lines.is_empty() {
        return Ok(());
    }
    let mut attrs = Attrs::parse(Some(&text(to.as_ref(), Attrs::FILE, limits)?))?;
    attrs.set(ATTRIBUTE, lines.into_iter().map(Json::from).collect::<Vec<Json>>().into())?;
    let home = Home::new(to.clone(), "salvage".to_owned(), true);
    home.replace(to.as_ref(), Attrs::FILE, &attrs.write())
}

fn nothing() -> Error {
    Error::corrupt("nothing in it can be read as a column or a chunk").within("salvage")
}

/// Whether a folder is a table, or was one.
fn is_table(dir: &dyn Dir, limits: &Limits) -> bool {
    if dir.open(Rootdirs::FILE).is_ok() {
        return true;
    }
    let folders = dir.folder_names().unwrap_or_default();
    let own = ["meta", "data"].iter().any(|name| folders.iter().any(|folder| folder == name));
    !own && folders.iter().any(|name| is_column(dir, name, limits))
}

fn is_column(dir: &dyn Dir, name: &str, limits: &Limits) -> bool {
    let Ok(folder) = dir.open_folder(name) else { return false };
    !name.starts_with('.')
        && (Survey::of(folder.as_ref(), limits).map_or(true, |survey| survey.is_something())
            || folder.open(Rootdirs::FILE).is_ok())
}

/// A table that is going to be rebuilt.
struct Plan {
    columns: Vec<(String, Part)>,
    attrs: Option<Attrs>,
    report: SalvageReport,
}

enum Part {
    Array(Column),
    Table(Plan),
}

impl Plan {
    fn of(dir: &dyn Dir, limits: &Limits, depth: usize) -> Result<Self> {
        if depth >= MAX_DEPTH {
            return Err(Error::corrupt(format!("more than {MAX_DEPTH} tables inside each other")));
        }
        let mut report = SalvageReport::new("bcolz table", ChunkOrder::Index);
        let names = names(dir, limits, &mut report)?;
        let mut columns = Vec::new();
        for name in names {
            let part = dir.open_folder(&name).and_then(|folder| {
                let folder = folder.as_ref();
                if is_table(folder, limits) {
                    return Self::of(folder, limits, depth + 1).map(Part::Table);
                }
                Column::of(folder, limits)?.map(Part::Array).ok_or_else(nothing)
            });
            match unless_limit(part)? {
                Ok(part) => columns.push((name, part)),
                Err(error) => {
                    let words = format!("the column is lost: {error}");
                    report.lose(FoundAt::File(name), words);
                }
            }
        }
        let attrs = unless_limit(text(dir, Attrs::FILE, limits))?;
        let attrs = attrs.and_then(|text| Attrs::parse(Some(&text)));
        if let Err(error) = &attrs {
            report.lose(FoundAt::File(Attrs::FILE.to_owned()), error.to_string());
        }
        Ok(Self { columns, attrs: attrs.ok(), report })
    }

    /// The lengths that columns state, and those that their files have.
    fn lengths(&self, stated: &mut Vec<u64>, found: &mut Vec<u64>) {
        for (_, part) in &self.columns {
            match part {
                Part::Table(table) => table.lengths(stated, found),
                Part::Array(column) if column.is_stated() => stated.push(column.rows()),
                Part::Array(column) => found.push(column.rows()),
            }
        }
    }

    fn rebuild(
        mut self,
        from: &dyn Dir,
        to: Arc<dyn Dir>,
        rows: u64,
        limits: &Limits,
    ) -> Result<SalvageReport> {
        let mut names = Rootdirs::default();
        for (name, mut part) in self.columns {
            if let Part::Array(column) = &mut part {
                column.refit(rows)?;
                if column.rows() != rows {
                    self.report.notes.push(format!("`{name}` had {} rows", column.rows()));
                }
                if !column.can_have(rows) {
                    let words = format!("the column is lost: {rows} rows need many more files");
                    self.report.lose(FoundAt::File(name), words);
                    continue;
                }
            }
            let (from, to) = (from.open_folder(&name)?, to.create_folder(&name)?);
            let report = match part {
                Part::Array(column) => column.rebuild(from.as_ref(), to, rows, limits)?,
                Part::Table(table) => table.rebuild(from.as_ref(), to, rows, limits)?,
            };
            self.report.columns.push((name.clone(), report));
            names.names.push(name);
        }
        let home = Home::new(to.clone(), "salvage".to_owned(), true);
        let attrs = self.attrs.unwrap_or_else(Attrs::new);
        home.replace(to.as_ref(), Attrs::FILE, &attrs.write())?;
        home.replace(to.as_ref(), Rootdirs::FILE, &names.write())?;
        Ok(self.report)
    }
}

/// The listed names. For one that has no folder, a folder is taken that looks like a column and is not
/// listed: one of the two has a damaged name.
fn with_folders(
    dir: &dyn Dir,
    mut names: Vec<String>,
    limits: &Limits,
    report: &mut SalvageReport,
) -> Vec<String> {
    if names.iter().all(|name| dir.open_folder(name).is_ok()) {
        return names;
    }
    let mut others = dir.folder_names().unwrap_or_default();
    others.retain(|name| !names.contains(name) && is_column(dir, name, limits));
    others.sort_unstable();
    let mut others = others.into_iter();
    for name in names.iter_mut().filter(|name| dir.open_folder(name).is_err()) {
        if let Some(other) = others.next() {
            let words = format!("there is no such folder, but one called `{other}`");
            report.lose(FoundAt::File(std::mem::replace(name, other)), words);
        }
    }
    names
}

/// The names of the columns; without their list, those of all folders that look like columns.
fn names(dir: &dyn Dir, limits: &Limits, report: &mut SalvageReport) -> Result<Vec<String>> {
    let listed = unless_limit(text(dir, Rootdirs::FILE, limits))?;
    Ok(match listed.and_then(|text| Rootdirs::parse(&text)) {
        Ok(listed) => with_folders(dir, listed.names, limits, report),
        Err(error) => {
            report.order = ChunkOrder::Storage;
            report.lose(FoundAt::File(Rootdirs::FILE.to_owned()), error.to_string());
            report.notes.push("columns come in the order of their names".to_owned());
            let mut names = dir.folder_names().unwrap_or_default();
            names.retain(|name| is_column(dir, name, limits));
            names.sort_unstable();
            names
        }
    })
}
