//! Structures: from the list and the dictionary form of NumPy.

use super::literal::Literal;
use super::{ByteOrder, DKind, DType, Field, MAX_DEPTH, MAX_ITEM};
use crate::error::{Error, MustGet, Result};

/// A format before it has a place: an item type and the shape of an array of them.
type Format = (DType, Vec<usize>);

impl DType {
    /// Reads the descriptor of a `.npy` file: a plain spelling, or a list of fields.
    pub(crate) fn from_literal(literal: &Literal) -> Result<Self> {
        match literal {
            Literal::Text(text) => Self::parse_plain(text),
            structure => from_literal(structure, 0),
        }
    }
}

/// Reads `[…]` or `{…}`.
pub(super) fn from_literal(literal: &Literal, depth: usize) -> Result<DType> {
    if depth >= MAX_DEPTH {
        return Err(Error::limit("the structure is nested too deeply").at("dtype", "text", 0));
    }
    match literal {
        Literal::List(fields) => {
            let fields = fields.iter().map(|field| list_field(field, depth));
            Layout { fields: fields.collect::<Result<_>>()?, ..Layout::default() }.build()
        }
        Literal::Dict(_) => dict(literal, depth),
        _ => Err(malformed("a list of fields or a dictionary was expected")),
    }
}

/// What a structure is made of.
#[derive(Default)]
struct Layout {
    fields: Vec<Named>,
    /// Where the fields are; `None` for one behind the other.
    offsets: Option<Vec<usize>>,
    item_size: Option<usize>,
    aligned: bool,
}

struct Named {
    name: String,
    title: Option<String>,
    format: Format,
}

impl Layout {
    fn build(self) -> Result<DType> {
        let mut dtype = DType {
            kind: DKind::Struct,
            order: ByteOrder::Irrelevant,
            item_size: 0,
            fields: Vec::with_capacity(self.fields.len()),
            aligned: self.aligned,
        };
        if self.offsets.as_ref().is_some_and(|offsets| offsets.len() != self.fields.len()) {
            return Err(malformed("names and offsets are not equally many"));
        }
        let mut end = 0usize;
        for (number, Named { name, title, format: (item, shape) }) in
            self.fields.into_iter().enumerate()
        {
            let offset = match &self.offsets {
                Some(offsets) => *offsets.must_get(number)?,
                None if self.aligned => end.next_multiple_of(item.alignment()),
                None => end,
            };
            if name.is_empty() && item.kind == DKind::Void && self.offsets.is_none() {
                // How `.npy` files write padding.
                end = end.saturating_add(item.item_size);
                continue;
            }
            if dtype.fields.iter().any(|field: &Field| field.name == name) {
                return Err(malformed(format!("two fields are called `{name}`")));
            }
            let field = Field { name, title, dtype: item, shape, offset };
            let field_end = offset.saturating_add(field.byte_len());
            if field_end > MAX_ITEM {
                return Err(Error::limit(format!("an item of more than {MAX_ITEM} bytes"))
                    .at("dtype", "itemsize", 0));
            }
            end = end.max(field_end);
            dtype.fields.push(field);
        }
        if self.aligned {
            end = end.next_multiple_of(dtype.alignment());
        }
        dtype.item_size = match self.item_size {
            Some(size) if size < end || size > MAX_ITEM => {
                return Err(malformed(format!("itemsize {size}, but the fields end at {end}")));
            }
            Some(size) => size,
            None => end,
        };
        Ok(dtype)
    }
}

/// `('name', format)`, `('name', format, shape)`; the name may be `('title', 'name')`.
fn list_field(field: &Literal, depth: usize) -> Result<Named> {
    let Literal::Tuple(parts) = field else { return Err(malformed("a field is no tuple")) };
    let (name, format, shape) = match parts.as_slice() {
        [name, format] => (name, format, Vec::new()),
        [name, format, shape] => (name, format, shape_of(shape)?),
        _ => return Err(malformed("a field has a name, a format and perhaps a shape")),
    };
    let (name, title) = match name {
        Literal::Text(name) => (name.clone(), None),
        Literal::Tuple(both) => match both.as_slice() {
            [Literal::Text(title), Literal::Text(name)] => (name.clone(), Some(title.clone())),
            _ => return Err(malformed("a name is a text, or a title and a name")),
        },
        _ => return Err(malformed("a name is a text, or a title and a name")),
    };
    let (item, inner) = format_of(format, depth)?;
    Ok(Named { name, title, format: (item, [shape, inner].concat()) })
}

fn format_of(format: &Literal, depth: usize) -> Result<Format> {
    match format {
        Literal::Text(text) => Ok((DType::parse_plain(text)?, Vec::new())),
        Literal::Tuple(parts) => match parts.as_slice() {
            [format, shape] => {
                // Arrays of arrays have the sides of both.
                let (item, inner) = format_of(format, depth + 1)?;
                Ok((item, [shape_of(shape)?, inner].concat()))
            }
            _ => Err(malformed("an array format is a format and a shape")),
        },
        structure => Ok((from_literal(structure, depth + 1)?, Vec::new())),
    }
}

fn shape_of(shape: &Literal) -> Result<Vec<usize>> {
    match shape {
        Literal::Integer(_) => number_of(shape).map(|side| vec![side]),
        Literal::Tuple(sides) | Literal::List(sides) if sides.len() <= 32 => {
            sides.iter().map(number_of).collect()
        }
        _ => Err(malformed("a shape is a number or up to 32 of them")),
    }
}

fn number_of(number: &Literal) -> Result<usize> {
    match number {
        Literal::Integer(number) => {
            usize::try_from(*number).map_err(|_| malformed("a number that is too large"))
        }
        _ => Err(malformed("a number was expected")),
    }
}

fn dict(literal: &Literal, depth: usize) -> Result<DType> {
    let list = |key: &str| match literal.get(key) {
        Some(Literal::List(values) | Literal::Tuple(values)) => Ok(Some(values.as_slice())),
        Some(_) => Err(malformed(format!("`{key}` is no list"))),
        None => Ok(None),
    };
    let missing = |key: &str| malformed(format!("the dictionary has no `{key}`"));
    let names = list("names")?.ok_or_else(|| missing("names"))?;
    let formats = list("formats")?.ok_or_else(|| missing("formats"))?;
    let titles = list("titles")?.unwrap_or_default();
    if names.len() != formats.len() {
        return Err(malformed("names and formats are not equally many"));
    }
    let mut fields = Vec::with_capacity(names.len());
    for (number, (name, format)) in names.iter().zip(formats).enumerate() {
        let Literal::Text(name) = name else { return Err(malformed("a name is no text")) };
        let title = match titles.get(number) {
            Some(Literal::Text(title)) => Some(title.clone()),
            _ => None,
        };
        fields.push(Named { name: name.clone(), title, format: format_of(format, depth)? });
    }
    let offsets = list("offsets")?;
    let offsets = offsets.map(|offsets| offsets.iter().map(number_of).collect::<Result<_>>());
    Layout {
        fields,
        offsets: offsets.transpose()?,
        item_size: literal.get("itemsize").map(number_of).transpose()?,
        aligned: literal.get("aligned") == Some(&Literal::Bool(true)),
    }
    .build()
}

fn malformed(message: impl Into<String>) -> Error {
    Error::corrupt(message.into()).at("dtype", "text", 0)
}
