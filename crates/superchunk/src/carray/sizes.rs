//! `meta/sizes`: how long the carray is. Replacing this file is what makes new rows visible.
//!
//! ```text
//! {"shape": [60, 3], "nbytes": 360, "cbytes": 332}
//!            rows, then the shape of a row
//! ```
//!
//! `nbytes` and `cbytes` are for information: real writers let them drift.

use crate::error::{Error, ErrorKind, Result};
use crate::wire::json::{Json, Style};

/// The most dimensions that NumPy, and so bcolz, had.
pub(super) const MAX_DIMENSIONS: usize = 32;

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) rows: u64,
    /// The shape of one row; empty for plain values.
    pub(crate) row_shape: Vec<usize>,
    pub(crate) nbytes: u64,
    pub(crate) cbytes: u64,
}

impl Sizes {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let json = object(text, "sizes")?;
        let shape = json.get("shape").ok_or_else(|| corrupt("there is no `shape`".to_owned()))?;
        let single = std::slice::from_ref(shape);
        let sides = shape.as_array().unwrap_or(single);
        let (rows, row_shape) =
            sides.split_first().ok_or_else(|| corrupt("there are no dimensions".to_owned()))?;
        if sides.len() > MAX_DIMENSIONS {
            return Err(corrupt(format!(
                "{} dimensions, at most {MAX_DIMENSIONS} are possible",
                sides.len()
            )));
        }
        let rows = rows.as_u64().ok_or_else(|| corrupt(format!("{} is no length", told(rows))))?;
        let row_shape = row_shape.iter().map(|side| {
            let side_len = side.as_u64().filter(|len| *len > 0);
            let side_len = side_len.and_then(|len| usize::try_from(len).ok());
            side_len.ok_or_else(|| corrupt(format!("{} is no side of a row", told(side))))
        });
        let informative = |key| json.get(key).and_then(Json::as_u64).unwrap_or(0);
        Ok(Self {
            rows,
            row_shape: row_shape.collect::<Result<_>>()?,
            nbytes: informative("nbytes"),
            cbytes: informative("cbytes"),
        })
    }

    /// The file as bcolz writes it.
    pub(crate) fn write(&self) -> String {
        let rows = Json::from(self.rows);
        let sides = self.row_shape.iter().map(|side| Json::from(*side));
        let json = Json::Object(vec![
            ("shape".to_owned(), Json::Array(std::iter::once(rows).chain(sides).collect())),
            ("nbytes".to_owned(), self.nbytes.into()),
            ("cbytes".to_owned(), self.cbytes.into()),
        ]);
        line(&json)
    }
}

/// A JSON value as one of bcolz's files: a line of its own.
pub(super) fn line(json: &Json) -> String {
    let mut text = json.to_text(Style::Spaced);
    text.push('\n');
    text
}

/// The JSON object that a file is.
pub(super) fn object(text: &str, file: &'static str) -> Result<Json> {
    if text.trim().is_empty() {
        return Err(Error::truncated("the file is empty: its writer was stopped while making it")
            .at("bcolz", file, 0));
    }
    let json = Json::parse(text).map_err(|error| match error.kind() {
        ErrorKind::InvalidArgument => error.of_kind(ErrorKind::Corrupt),
        _ => error,
    })?;
    match json {
        Json::Object(_) => Ok(json),
        _ => Err(Error::corrupt("this is no JSON object").at("bcolz", file, 0)),
    }
}

/// A value as it is quoted in an error, not longer than a line.
pub(super) fn told(json: &Json) -> String {
    let text = json.to_text(Style::Spaced);
    let start: String = text.chars().take(60).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("`{start}{more}`")
}

fn corrupt(words: String) -> Error {
    Error::corrupt(words).at("bcolz", "sizes", 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_bcolz_writes_them() {
        let text = "{\"shape\": [60, 3], \"nbytes\": 360, \"cbytes\": 332}\n";
        let sizes = Sizes::parse(text).unwrap();
        assert_eq!((sizes.rows, sizes.row_shape.as_slice()), (60, &[3][..]));
        assert_eq!(sizes.write(), text);
    }

    #[test]
    fn a_bare_number_is_the_length_of_plain_values() {
        let sizes = Sizes::parse("{\"shape\": 7}").unwrap();
        assert_eq!((sizes.rows, sizes.row_shape.len(), sizes.cbytes), (7, 0, 0));
    }

    #[test]
    fn impossible_shapes_are_refused() {
        for shape in ["[]", "[-5]", "[1.5]", "[2, 0]", "[2, -1]", "[\"2\"]", "null", "[[1]]"] {
            let error = Sizes::parse(&format!("{{\"shape\": {shape}}}")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{shape}: {error}");
        }
        let many = "1, ".repeat(32) + "1";
        assert!(Sizes::parse(&format!("{{\"shape\": [{many}]}}")).is_err());
        assert_eq!(Sizes::parse(" \n").unwrap_err().kind(), ErrorKind::Truncated);
        assert_eq!(Sizes::parse("{\"shape\": [1").unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(Sizes::parse("[1]").unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(Sizes::parse("{}").unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
