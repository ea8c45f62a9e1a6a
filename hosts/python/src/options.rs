//! How things are compressed and opened, as Python code says it: keywords with plain strings, tuples
//! such as `("trunc_prec", 10)`, members of enumerations, or the `cparams=` of python-blosc2.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyMapping, PyString, PyTuple};
use superchunk::{ChunkFormat, Codec, CompressOptions, Filter, SplitMode};

use crate::errors::{Failure, Outcome};
use crate::threads;

/// The steps of the longest pipeline.
const MAX_FILTERS: usize = 6;

/// What a call has chosen, `None` where it says nothing; cheap to copy and to compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The bytes of an item; else those of the buffer or the dtype.
    pub(crate) item_size: Option<usize>,
    pub(crate) codec: Option<Codec>,
    pub(crate) level: Option<u8>,
    pub(crate) filters: Option<Filters>,
    pub(crate) block_size: Option<usize>,
    pub(crate) split: Option<SplitMode>,
    pub(crate) dictionary: Option<bool>,
    pub(crate) format: Option<ChunkFormat>,
    pub(crate) marks: Option<bool>,
    pub(crate) check: Option<bool>,
    pub(crate) nthreads: Option<usize>,
}

/// A pipeline of filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filters {
    /// These, in order.
    List([Option<Filter>; MAX_FILTERS]),
    /// Whichever do best with the data: `filters="auto"`.
    Auto,
}

impl Choice {
    /// Reads the keywords of a call, all of which must be options; see [`Self::from_some`].
    pub(crate) fn from_all(options: Option<&Bound<'_, PyDict>>) -> Outcome<Self> {
        Self::from_some(options, |name, _| Err(unknown(name)))
    }

    /// Reads the keywords of a call and hands those that are not options to `other`.
    pub(crate) fn from_some<'py>(
        options: Option<&Bound<'py, PyDict>>,
        mut other: impl FnMut(&str, Bound<'py, PyAny>) -> Outcome,
    ) -> Outcome<Self> {
        let mut choice = Self::default();
        for (name, value) in options.into_iter().flatten() {
            let name = name.cast::<PyString>().map_err(PyErr::from)?;
            let name = name.to_str()?;
            if !choice.set(name, &value)? {
                other(name, value)?;
            }
        }
        Ok(choice)
    }

    /// Sets one option; returns whether there is one of that name.
    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> Outcome<bool> {
        match name {
            "codec" => self.codec = Some(codec(value)?),
            "level" => self.level = Some(number(name, value, "an integer 0 to 9")?),
            "filters" => self.filters = Some(filters(value)?),
            "typesize" => self.item_size = optional(name, value)?,
            "blocksize" => self.block_size = optional(name, value)?.filter(|size| *size > 0),
            "split" => self.split = Some(split(value)?),
            "dictionary" => self.dictionary = Some(value.is_truthy()?),
            "format" => self.format = Some(format(value)?),
            "marks" => self.marks = Some(value.is_truthy()?),
            "check" => self.check = Some(value.is_truthy()?),
            "nthreads" => {
                self.nthreads = optional(name, value)?.map(threads::checked).transpose()?;
            }
            "cparams" if value.is_none() => {}
            "cparams" => self.set_all(&mapping(value)?)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Sets the options of a `cparams` of python-blosc2, whose names are accepted beside ours.
    fn set_all(&mut self, params: &Bound<'_, PyDict>) -> Outcome {
        let get = |name: &str| params.get_item(name);
        for (name, value) in params {
            let name: String = name.extract()?;
            let known = match name.as_str() {
                "clevel" => self.set("level", &value)?,
                "use_dict" => self.set("dictionary", &value)?,
                "splitmode" => self.set("split", &value)?,
                "filters" => match get("filters_meta")?.filter(|meta| !meta.is_none()) {
                    Some(meta) => {
                        self.filters = Some(with_numbers(&value, &meta)?);
                        true
                    }
                    None => self.set(&name, &value)?,
                },
                "filters_meta" | "codec_meta" | "tuner" => true,
                _ => name != "cparams" && self.set(&name, &value)?,
            };
            if !known {
                return Err(unknown(&name));
            }
        }
        Ok(())
    }

    /// The options of the library for items of this size, unless the call says another.
    pub(crate) fn compress_options(&self, item_size: usize) -> CompressOptions {
        self.over(CompressOptions::new(item_size))
    }

    /// These options with what the call says in their place.
    pub(crate) fn over(&self, base: CompressOptions) -> CompressOptions {
        let filters = match self.filters {
            Some(Filters::List(filters)) => filters.into_iter().flatten().collect(),
            Some(Filters::Auto) | None => base.filters.clone(),
        };
        let mut options =
            base.with_filters(filters).with_executor(threads::executor(self.nthreads));
        replace(&mut options.item_size, self.item_size);
        replace(&mut options.codec, self.codec);
        replace(&mut options.level, self.level);
        replace(&mut options.split, self.split);
        replace(&mut options.dictionary, self.dictionary);
        replace(&mut options.format, self.format);
        replace(&mut options.marks, self.marks);
        replace(&mut options.check, self.check);
        options.block_size = self.block_size.or(options.block_size);
        options
    }
}

fn replace<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn unknown(name: &str) -> Failure {
    Failure::from(PyTypeError::new_err(format!("got an unexpected keyword argument '{name}'")))
}

fn mapping<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let params = PyDict::new(value.py());
    match value.cast::<PyMapping>() {
        Ok(mapping) => params.update(mapping)?,
        // A `CParams` of python-blosc2.
        Err(_) => params.update(value.getattr("__dict__")?.cast::<PyMapping>()?)?,
    }
    Ok(params)
}

/// The word of a string or of a member of an enumeration, as it is written.
fn word(option: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    let name = value.getattr("name").and_then(|name| name.extract::<String>());
    name.map_err(|_| {
        let kind = value.get_type();
        PyTypeError::new_err(format!("{option}: expected a string, got {kind}"))
    })
}

fn codec(value: &Bound<'_, PyAny>) -> Outcome<Codec> {
    // The usual spelling, without a copy.
    let exact = value.cast::<PyString>().ok().and_then(|text| text.to_str().ok()?.parse().ok());
    match exact {
        Some(codec) => Ok(codec),
        None => Ok(word("codec", value)?.to_ascii_lowercase().parse()?),
    }
}

fn split(value: &Bound<'_, PyAny>) -> Outcome<SplitMode> {
    Ok(match word("split", value)?.to_ascii_lowercase().as_str() {
        "always_split" => SplitMode::Always,
        "never_split" => SplitMode::Never,
        "auto_split" | "forward_compat_split" => SplitMode::Auto,
        other => other.parse()?,
    })
}

fn format(value: &Bound<'_, PyAny>) -> PyResult<ChunkFormat> {
    match word("format", value)?.as_str() {
        "blosc1" => Ok(ChunkFormat::Blosc1),
        "blosc2" => Ok(ChunkFormat::Blosc2),
        other => Err(PyValueError::new_err(format!(
            "format: expected 'blosc1' or 'blosc2', got '{other}'"
        ))),
    }
}

fn filters(value: &Bound<'_, PyAny>) -> Outcome<Filters> {
    let mut list = Vec::new();
    if value.is_none() {
        return listed(list);
    }
    if let Ok(text) = value.cast::<PyString>() {
        if text.to_str()? == "auto" {
            return Ok(Filters::Auto);
        }
        add_words(&mut list, text.to_str()?)?;
        return listed(list);
    }
    if value.hasattr("name")? || is_with_number(value) {
        add(&mut list, value)?;
        return listed(list);
    }
    let several = value.try_iter().map_err(|_| {
        PyTypeError::new_err(format!("filters: expected strings, got {}", value.get_type()))
    });
    for filter in several? {
        add(&mut list, &filter?)?;
    }
    listed(list)
}

/// Whether it is a filter and its number, such as `("trunc_prec", 10)`.
fn is_with_number(value: &Bound<'_, PyAny>) -> bool {
    let Ok(tuple) = value.cast::<PyTuple>() else { return false };
    tuple.len() == 2 && tuple.get_item(1).is_ok_and(|number| number.is_instance_of::<PyInt>())
}

fn add(list: &mut Vec<Filter>, value: &Bound<'_, PyAny>) -> Outcome {
    if is_with_number(value) {
        let (filter, number): (Bound<'_, PyAny>, i64) = value.extract()?;
        return add_with_number(list, &filter, number);
    }
    add_words(list, &word("filters", value)?)
}

/// The filters and the `filters_meta` of python-blosc2, of which most have no use for it.
fn with_numbers(filters: &Bound<'_, PyAny>, numbers: &Bound<'_, PyAny>) -> Outcome<Filters> {
    let mut list = Vec::new();
    let numbers: Vec<i64> = numbers.extract()?;
    for (place, filter) in filters.try_iter()?.enumerate() {
        let filter = filter?;
        match numbers.get(place) {
            Some(number) if *number != 0 => add_with_number(&mut list, &filter, *number)?,
            _ => add(&mut list, &filter)?,
        }
    }
    listed(list)
}

fn add_with_number(list: &mut Vec<Filter>, filter: &Bound<'_, PyAny>, number: i64) -> Outcome {
    let name = word("filters", filter)?;
    match spelled(&name).as_str() {
        // Their numbers mean nothing.
        "none" | "bitshuffle" | "delta" => add_words(list, &name),
        name => add_words(list, &format!("{name}:{number}")),
    }
}

fn add_words(list: &mut Vec<Filter>, text: &str) -> Outcome {
    for name in text.split([',', '+']).map(|name| spelled(name.trim())) {
        list.extend(Filter::parse_pipeline(&name)?);
    }
    Ok(())
}

/// The name of a filter as the library spells it.
fn spelled(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "nofilter" | "noshuffle" => "none".to_owned(),
        _ => name.replace("trunc_prec", "trunc").replace("int_trunc", "inttrunc"),
    }
}

fn listed(list: Vec<Filter>) -> Outcome<Filters> {
    let mut filters = [None; MAX_FILTERS];
    if list.len() > MAX_FILTERS {
        let count = list.len();
        let words = format!("filters: expected at most {MAX_FILTERS}, got {count}");
        return Err(PyValueError::new_err(words).into());
    }
    for (place, filter) in filters.iter_mut().zip(list) {
        *place = Some(filter);
    }
    Ok(Filters::List(filters))
}

/// A number, or nothing for `None`.
fn optional(option: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    match value.is_none() {
        true => Ok(None),
        false => number(option, value, "a number of at least 0, or None").map(Some),
    }
}

fn number<'py, T: for<'a> FromPyObject<'a, 'py>>(
    option: &str,
    value: &Bound<'py, PyAny>,
    expected: &str,
) -> PyResult<T> {
    value.extract().map_err(|_: <T as FromPyObject<'_, 'py>>::Error| {
        let words = format!("{option}: expected {expected}, got {value}");
        match value.is_instance_of::<PyInt>() {
            true => PyValueError::new_err(words),
            false => PyTypeError::new_err(words),
        }
    })
}
