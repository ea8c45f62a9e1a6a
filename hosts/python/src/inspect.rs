//! `detect` and `verify`: what something is, and whether it is still what was written.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use superchunk::verify::{Level, Sample, VerifyOptions, VerifyReport};
use superchunk::{OpenOptions, Work, detect as detection, verify as verification};

use crate::buffers::Input;
use crate::errors::Outcome;
use crate::signals::Watch;
use crate::threads;

/// What something is, by its content.
#[pyclass(frozen, get_all, module = "superchunk")]
#[derive(Debug)]
pub(crate) struct Detected {
    /// The format in a word or two, such as 'frame' or 'bcolz array'.
    format: String,
    /// How it was recognised, as half a sentence.
    reason: &'static str,
}

#[pymethods]
impl Detected {
    fn __repr__(&self) -> String {
        format!("Detected(format='{}', reason='{}')", self.format, self.reason)
    }
}

/// Tells what a file or folder is, or what bytes are.
#[pyfunction]
#[pyo3(signature = (path_or_bytes, /))]
pub(crate) fn detect(py: Python<'_>, path_or_bytes: &Bound<'_, PyAny>) -> Outcome<Detected> {
    let is_path =
        path_or_bytes.is_instance_of::<PyString>() || path_or_bytes.hasattr("__fspath__")?;
    let found = if is_path {
        let path: PathBuf = path_or_bytes.extract()?;
        threads::run(py, usize::MAX, || Ok(detection::path(path)?))?
    } else {
        let input = Input::of(path_or_bytes)?;
        detection::bytes(input.as_slice(), input.as_slice().len() as u64)
    };
    Ok(Detected { format: found.format.to_string(), reason: found.reason })
}

/// What a verification has found; true if nothing is damaged.
#[pyclass(frozen, get_all, module = "superchunk")]
#[derive(Debug)]
pub(crate) struct Report {
    /// The format.
    format: String,
    /// What vouches for the content: 'sealed', 'unverified', 'none', or the name of a digest.
    checksums: &'static str,
    /// The number of chunks.
    chunks: u64,
    /// The number of chunks that were looked at.
    chosen: u64,
    /// The number of chunks that have the checksum they were written with.
    by_checksum: u64,
    /// The number of chunks that decode, but have no checksum.
    by_decoding: u64,
    /// Whether all that was chosen could be looked at.
    is_complete: bool,
    is_good: bool,
    findings: Vec<Py<Finding>>,
}

#[pymethods]
impl Report {
    fn __bool__(&self) -> bool {
        self.is_good
    }

    fn __repr__(&self) -> String {
        let findings = self.findings.iter().map(|found| found.get().__repr__());
        format!(
            "Report({}, format='{}', chunks={}, checksums='{}', findings=[{}])",
            if self.is_good { "good" } else { "damaged" },
            self.format,
            self.chunks,
            self.checksums,
            findings.collect::<Vec<_>>().join(", ")
        )
    }

    /// The same as a dict of plain values.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("good", self.is_good)?;
        dict.set_item("complete", self.is_complete)?;
        dict.set_item("format", &self.format)?;
        dict.set_item("checksums", self.checksums)?;
        dict.set_item("chunks", self.chunks)?;
        dict.set_item("chosen", self.chosen)?;
        dict.set_item("by_checksum", self.by_checksum)?;
        dict.set_item("by_decoding", self.by_decoding)?;
        let findings = self.findings.iter().map(|found| found.get().to_dict(py));
        dict.set_item("findings", findings.collect::<PyResult<Vec<_>>>()?)?;
        Ok(dict)
    }
}

/// Something that a verification has to say.
#[pyclass(frozen, get_all, module = "superchunk")]
#[derive(Debug)]
pub(crate) struct Finding {
    /// The level it was found on.
    level: &'static str,
    /// 'corrupt', 'stray', 'unchecked' or 'unverified'.
    verdict: &'static str,
    /// The number of the chunk, if it is about one.
    chunk: Option<u64>,
    /// What it is, and where.
    words: String,
}

#[pymethods]
impl Finding {
    fn __repr__(&self) -> String {
        format!("Finding('{}', '{}', {:?})", self.level, self.verdict, self.words)
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("level", self.level)?;
        dict.set_item("verdict", self.verdict)?;
        dict.set_item("chunk", self.chunk)?;
        dict.set_item("words", &self.words)?;
        Ok(dict)
    }
}

/// Looks at a file or folder up to a level: 'structure', 'index', 'checksums', 'decode' or 'files'.
/// `sample` is a number of chunks, or a share of them below 1.
#[pyfunction]
#[pyo3(
    signature = (path, level = "files", *, sample = None, column = None, nthreads = None,
                 progress = None)
)]
pub(crate) fn verify(
    py: Python<'_>,
    path: PathBuf,
    level: &str,
    sample: Option<f64>,
    column: Option<String>,
    nthreads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> Outcome<Report> {
    let level = Level::ALL.into_iter().find(|found| found.name() == level).ok_or_else(|| {
        let names = Level::ALL.map(Level::name).join(", ");
        PyValueError::new_err(format!("level: expected one of {names}, got '{level}'"))
    })?;
    let watch = Watch::new(progress);
    let executor = watch.over(threads::executor(nthreads), Work::Verify);
    let open = OpenOptions::new().with_executor(executor);
    let mut options = VerifyOptions::new().with_level(level).with_open(open);
    options.column = column;
    options.sample = sample.map(chosen).transpose()?.unwrap_or_default();
    let found = threads::run(py, usize::MAX, || watch.outcome(verification::path(path, &options)))?;
    report(py, &found)
}

fn chosen(sample: f64) -> PyResult<Sample> {
    const MILLION: f64 = 1_000_000.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "both are checked to be in range"
    )]
    match sample {
        share if share > 0.0 && share < 1.0 => {
            Ok(Sample::PartsPerMillion((share * MILLION).ceil() as u64))
        }
        count if count >= 1.0 && count.fract() == 0.0 && count < 1e15 => {
            Ok(Sample::Count(count as u64))
        }
        _ => Err(PyValueError::new_err(format!(
            "sample: expected a number of chunks, or a share between 0 and 1, got {sample}"
        ))),
    }
}

fn report(py: Python<'_>, found: &VerifyReport) -> Outcome<Report> {
    let findings = found.findings.iter().map(|finding| {
        let finding = Finding {
            level: finding.level.name(),
            verdict: finding.verdict.name(),
            chunk: finding.chunk,
            words: finding.words.clone(),
        };
        Py::new(py, finding)
    });
    Ok(Report {
        format: found.format.to_string(),
        checksums: found.checksums,
        chunks: found.chunks,
        chosen: found.chosen,
        by_checksum: found.by_checksum,
        by_decoding: found.by_decoding,
        is_complete: found.is_complete(),
        is_good: found.is_good(),
        findings: findings.collect::<PyResult<_>>()?,
    })
}
