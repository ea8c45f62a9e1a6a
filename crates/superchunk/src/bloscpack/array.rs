//! NumPy arrays in Bloscpack files: bytes, and metadata that says what they are.
//!
//! ```text
//! {"dtype": "'<f8'", "shape": [3, 4], "order": "C", "container": "numpy"}
//! ```
//!
//! The type is Python's own spelling inside of the JSON text: a quoted string, or a list of tuples. Files
//! of bloscpack before 0.7.2 have the bare string, or a JSON list. It is read by our own grammar.

use crate::dtype::{DType, ItemOrder, Literal};
use crate::error::{Error, ErrorKind, Result};
use crate::wire::json::Json;

/// The most dimensions.
const MAX_DIMENSIONS: usize = 64;
const FORMAT: &str = "bloscpack metadata";

/// What the bytes of a file are, when they are an array of NumPy.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackArray {
    /// The type of an item.
    pub dtype: DType,
    /// The length of each dimension.
    pub shape: Vec<u64>,
    /// The order of the items in the file.
    pub order: ItemOrder,
}

impl PackArray {
    /// An array in C order.
    #[must_use]
    pub fn new(dtype: DType, shape: impl Into<Vec<u64>>) -> Self {
        Self { dtype, shape: shape.into(), order: ItemOrder::C }
    }

    /// The same array with its items in another order.
    #[must_use]
    pub fn with_order(mut self, order: ItemOrder) -> Self {
        self.order = order;
        self
    }

    /// The bytes of all items; `None` when no file could hold them.
    #[must_use]
    pub fn byte_len(&self) -> Option<u64> {
        let item = self.dtype.item_size() as u64;
        // A dimension of length 0 makes the rest of no account.
        if self.shape.contains(&0) {
            return Some(0);
        }
        self.shape.iter().try_fold(item, |len, side| len.checked_mul(*side))
    }

    /// What metadata says of an array; `None` when it says nothing of one.
    pub(crate) fn parse(metadata: Option<&Json>) -> Result<Option<Self>> {
        let Some(json) = metadata.filter(|json| is_numpy(json)) else { return Ok(None) };
        let wrong = |words: String, field| Error::corrupt(words).at(FORMAT, field, 0);
        let dtype = json.get("dtype").ok_or_else(|| wrong("is missing".to_owned(), "dtype"))?;
        let dtype = parse_dtype(dtype).map_err(|error| match error.kind() {
            ErrorKind::InvalidArgument => error.of_kind(ErrorKind::Corrupt),
            _ => error,
        })?;
        let shape: Option<Vec<u64>> = json
            .get("shape")
            .and_then(Json::as_array)
            .filter(|shape| shape.len() <= MAX_DIMENSIONS)
            .and_then(|shape| shape.iter().map(Json::as_u64).collect());
        let shape = shape.ok_or_else(|| wrong("is no list of lengths".to_owned(), "shape"))?;
        let order = match json.get("order").and_then(Json::as_str) {
            Some("C") => ItemOrder::C,
            Some("F") => ItemOrder::Fortran,
            other => return Err(wrong(format!("{other:?} is neither C nor F"), "order")),
        };
        Ok(Some(Self { dtype, shape, order }))
    }

    /// The shape as metadata has it.
    pub(crate) fn shape_json(&self) -> Json {
        self.shape.iter().map(|side| Json::from(*side)).collect::<Vec<_>>().into()
    }

    /// Refuses an array that does not have `len` bytes.
    pub(super) fn check_len(&self, len: u64) -> Result<()> {
        if self.byte_len() == Some(len) {
            return Ok(());
        }
        let words = format!("{:?} items of {} are not {len} bytes", self.shape, self.dtype);
        Err(Error::corrupt(words).at(FORMAT, "shape", 0))
    }

    /// The array that the first `len` bytes are: all of it, or fewer or more rows. `None` when they are
    /// none.
    pub(crate) fn at_len(&self, len: u64) -> Option<Self> {
        if self.byte_len() == Some(len) {
            return Some(self.clone());
        }
        let (_, rest) = self.shape.split_first()?;
        // The rows of an array in Fortran order are spread.
        let item = self.dtype.item_size() as u64;
        let row = rest.iter().try_fold(item, |len, side| len.checked_mul(*side));
        let row = row.filter(|row| *row > 0 && len.is_multiple_of(*row))?;
        (self.order == ItemOrder::C || rest.is_empty()).then(|| {
            let mut array = self.clone();
            array.shape.iter_mut().take(1).for_each(|rows| *rows = len / row);
            array
        })
    }

    /// The metadata that says what it is, as bloscpack writes it.
    pub(super) fn to_json(&self) -> Json {
        let order = match self.order {
            ItemOrder::C => "C",
            ItemOrder::Fortran => "F",
        };
        Json::from(vec![
            ("dtype".to_owned(), Json::from(self.dtype.descriptor())),
            ("shape".to_owned(), self.shape_json()),
            ("order".to_owned(), order.into()),
            ("container".to_owned(), "numpy".into()),
        ])
    }
}

/// Whether metadata is that of an array.
fn is_numpy(json: &Json) -> bool {
    json.get("container").and_then(Json::as_str) == Some("numpy")
}

fn parse_dtype(json: &Json) -> Result<DType> {
    match json {
        Json::Str(text) if text.starts_with(['\'', '"']) => match Literal::parse(text)? {
            Literal::Text(plain) => DType::parse(&plain),
            _ => DType::parse(text),
        },
        Json::Str(text) => DType::parse(text),
        list => {
            let text = spell(list, 0).ok_or_else(|| Error::invalid("is no type of NumPy"))?;
            DType::parse(&text)
        }
    }
}

/// A JSON list of lists as the list of tuples that it was.
fn spell(json: &Json, depth: usize) -> Option<String> {
    if depth > 32 {
        return None;
    }
    Some(match json {
        Json::Str(text) if text.contains(['\'', '\\']) => return None,
        Json::Str(text) => format!("'{text}'"),
        Json::Number(_) => json.as_u64()?.to_string(),
        Json::Array(items) => {
            let parts: Option<Vec<String>> =
                items.iter().map(|item| spell(item, depth + 1)).collect();
            let parts = parts?.join(", ");
            match items.as_slice() {
                [Json::Array(_), ..] => format!("[{parts}]"),
                [_] => format!("({parts},)"),
                _ => format!("({parts})"),
            }
        }
        _ => return None,
    })
}
