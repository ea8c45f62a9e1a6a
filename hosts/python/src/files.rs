//! `copy`, `salvage`, `remove`: whole files and folders, whatever they hold.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use superchunk::store::Replacement;
use superchunk::{
    CompressOptions, Error, Limits, OpenOptions, Opened, SuperChunk, Work, bcolz, bloscpack,
    detect, salvage as salvaging,
};

use crate::errors::Outcome;
use crate::options::Choice;
use crate::signals::Watch;
use crate::threads;

/// Copies a file or folder of any format to a new one of the same format. With options its chunks
/// are compressed anew. What is at `dst` stays unless `overwrite` is true, and until the copy is
/// complete.
#[pyfunction]
#[pyo3(
    signature = (src, dst, *, overwrite = false, progress = None, **options),
    text_signature = "(src, dst, *, overwrite=False, progress=None, codec=None, level=None, \
                      filters=None, blocksize=None, split=None, dictionary=None, marks=None, \
                      check=None, nthreads=None, cparams=None)"
)]
pub(crate) fn copy(
    py: Python<'_>,
    src: PathBuf,
    dst: PathBuf,
    overwrite: bool,
    progress: Option<Py<PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> Outcome {
    let choice = Choice::from_all(options)?;
    let is_changed = choice != Choice { nthreads: choice.nthreads, ..Choice::default() };
    let watch = Watch::new(progress);
    let executor = watch.over(threads::executor(choice.nthreads), Work::Copy);
    let open = OpenOptions::new().with_executor(executor.clone());
    threads::run(py, usize::MAX, || {
        let opened = open.open(&src)?;
        make(&dst, overwrite, |to| {
            let options = |old| choice.over(old).with_executor(executor.clone());
            let copied = copy_opened(&opened, to, &options, is_changed);
            watch.outcome(copied.map_err(|error| error.within(dst.display().to_string())))
        })
    })
}

/// Hands `work` a private place, and what it makes there the name `to` when all is done.
fn make<T>(to: &Path, overwrite: bool, work: impl FnOnce(&Path) -> Outcome<T>) -> Outcome<T> {
    let new = Replacement::begin(to, Duration::ZERO)?;
    if new.replaces() && !overwrite {
        let error = Error::io("it is left as it is", io::ErrorKind::AlreadyExists.into());
        return Err(error.within(to.display().to_string()).into());
    }
    let done = work(new.path())?;
    match new.finish()? {
        Some(error) => Err(error.into()),
        None => Ok(done),
    }
}

fn copy_opened(
    opened: &Opened,
    to: &Path,
    compress: &impl Fn(CompressOptions) -> CompressOptions,
    is_changed: bool,
) -> superchunk::Result<()> {
    match opened {
        Opened::BcolzArray(array) => {
            let mut options = array.options();
            options.compress = compress(options.compress);
            array.copy_to(to, &options)
        }
        Opened::BcolzTable(table) => {
            let options =
                |name: &str| is_changed.then(|| changed_column(table, name, compress)).flatten();
            table.copy_to(to, options)
        }
        Opened::BlskArray(array) => {
            let mut options = array.options()?;
            options.compress = compress(options.compress);
            array.copy_to(to, &options)
        }
        Opened::BlskTable(table) => {
            let mut options = table.options()?;
            options.compress = compress(options.compress);
            table.copy_to(to, &options)
        }
        Opened::Pack(pack) => {
            let old = pack.superchunk().map(|data| data.options().clone());
            let options = bloscpack::PackOptions::new();
            let old = old.unwrap_or_else(|_| options.compress.clone());
            pack.copy_to(to, &options.with_compress(compress(old))).map(drop)
        }
        other => match other.superchunk() {
            Some(frame) => copy_frame(frame, to, compress),
            None => Err(Error::unsupported(format!(
                "{} is not copied: copy the file",
                other.format().description()
            ))),
        },
    }
}

/// Frames of bytes, arrays and objects alike: what they hold is in their metadata.
fn copy_frame(
    frame: &SuperChunk,
    to: &Path,
    compress: &impl Fn(CompressOptions) -> CompressOptions,
) -> superchunk::Result<()> {
    let mut options = frame.frame_options();
    options.compress = compress(options.compress);
    frame.copy_to(to, &options).map(drop)
}

/// How a column is compressed anew; `None` for what is none.
fn changed_column(
    table: &bcolz::Table,
    name: &str,
    compress: &impl Fn(CompressOptions) -> CompressOptions,
) -> Option<bcolz::ArrayOptions> {
    let bcolz::TableColumn::Array(array) = table.column(name).ok()? else { return None };
    let mut options = array.options();
    options.compress = compress(options.compress);
    Some(options)
}

/// What a salvage has found; true if everything is there and in its place.
#[pyclass(frozen, get_all, module = "superchunk")]
#[derive(Debug)]
pub(crate) struct SalvageReport {
    /// What was salvaged.
    format: &'static str,
    /// The bytes that the result holds.
    nbytes: u64,
    is_whole: bool,
    /// The number of chunks that were recovered.
    pieces: usize,
    /// The number of losses that can be named.
    holes: usize,
    /// What is lost or uncertain, a line each.
    lines: Vec<String>,
}

#[pymethods]
impl SalvageReport {
    fn __bool__(&self) -> bool {
        self.is_whole
    }

    fn __repr__(&self) -> String {
        format!(
            "SalvageReport({}, format='{}', nbytes={}, pieces={}, holes={})",
            if self.is_whole { "whole" } else { "incomplete" },
            self.format,
            self.nbytes,
            self.pieces,
            self.holes
        )
    }

    /// The same as a dict of plain values.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("whole", self.is_whole)?;
        dict.set_item("format", self.format)?;
        dict.set_item("nbytes", self.nbytes)?;
        dict.set_item("pieces", self.pieces)?;
        dict.set_item("holes", self.holes)?;
        dict.set_item("lines", &self.lines)?;
        Ok(dict)
    }
}

/// Recovers what can be recovered of a damaged file or folder into a new one, `out`.
#[pyfunction]
#[pyo3(signature = (path, out, *, overwrite = false))]
pub(crate) fn salvage(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    overwrite: bool,
) -> Outcome<SalvageReport> {
    let (report, nbytes) = threads::run(py, usize::MAX, || {
        make(&out, overwrite, |to| Ok(salvaging::path(&path, to, &Limits::default())?))
    })?;
    let (pieces, holes) = counts(&report);
    Ok(SalvageReport {
        format: report.format,
        nbytes,
        is_whole: report.is_whole(),
        pieces,
        holes,
        lines: report.uncertain(),
    })
}

/// The numbers of pieces and holes, those of all columns included.
fn counts(report: &salvaging::SalvageReport) -> (usize, usize) {
    let own = (report.pieces.len(), report.holes.len());
    report
        .columns
        .iter()
        .map(|(_, column)| counts(column))
        .fold(own, |sum, column| (sum.0 + column.0, sum.1 + column.1))
}

/// Removes a file, or a folder that holds a container; any other folder stays.
#[pyfunction]
pub(crate) fn remove(py: Python<'_>, path: PathBuf) -> Outcome {
    threads::run(py, usize::MAX, || {
        let failed =
            |error| Error::io("cannot remove it", error).within(path.display().to_string());
        let is_folder = fs::symlink_metadata(&path).map_err(failed)?.is_dir();
        if !is_folder {
            return Ok(fs::remove_file(&path).map_err(failed)?);
        }
        detect::path(&path)?;
        Ok(fs::remove_dir_all(&path).map_err(failed)?)
    })
}
