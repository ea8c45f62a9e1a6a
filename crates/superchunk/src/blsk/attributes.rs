//! The file `meta/attributes`: what users keep with a tree.
//!
//! ```text
//! temperature:
//!   value: 23.5
//!   type: scalar
//!   dtype: float32
//! ids:
//!   value: [1, 3, 6, 10]
//!   type: array
//!   dtype: int32
//! ```

use std::fmt;

use crate::dtype::{ByteOrder, DKind, DType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::superfile::{Root, Yaml};
use crate::text::Bytes;

/// The longest file of attributes.
const MAX_LEN: u64 = 16 << 20;

/// A value that a user keeps with a tree.
#[non_exhaustive]
#[derive(Clone, PartialEq)]
pub enum Attribute {
    /// Items of a type: one if the shape is empty, else an array in C order.
    Items {
        /// The type of an item.
        dtype: DType,
        /// The shape of an array; empty for a single value.
        shape: Vec<usize>,
        /// The bytes of the items.
        bytes: Vec<u8>,
    },
    /// What has no type that is known here, as the file has it.
    Text(String),
}

impl fmt::Debug for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Items { dtype, shape, bytes } => f
                .debug_struct("Items")
                .field("dtype", dtype)
                .field("shape", shape)
                .field("bytes", &Bytes(bytes))
                .finish(),
            Self::Text(text) => f.debug_tuple("Text").field(text).finish(),
        }
    }
}

impl Attribute {
    /// An array of numbers.
    pub fn array<T: Element>(items: &[T]) -> Self {
        let bytes = bytemuck::cast_slice(items).to_vec();
        Self::Items { dtype: T::dtype(), shape: vec![items.len()], bytes }
    }

    fn scalar<T: Element>(value: T) -> Self {
        let bytes = bytemuck::bytes_of(&value).to_vec();
        Self::Items { dtype: T::dtype(), shape: Vec::new(), bytes }
    }

    /// The number that this is, if it is a single one.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        let Self::Items { dtype, shape, bytes } = self else { return None };
        shape.is_empty().then(|| dtype.format_item(bytes).parse().ok())?
    }

    /// The text that this is, if it is a single one.
    #[must_use]
    pub fn as_text(&self) -> Option<String> {
        match self {
            Self::Items { dtype, shape, bytes } if shape.is_empty() => text_of(dtype, bytes),
            Self::Items { .. } => None,
            Self::Text(text) => Some(text.clone()),
        }
    }
}

macro_rules! numbers {
    ($($rust:ty)*) => {$(
        impl From<$rust> for Attribute {
            fn from(value: $rust) -> Self {
                Self::scalar(value)
            }
        }
    )*};
}

numbers! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        let bytes: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        let dtype = DType::parse(&format!("<U{}", bytes.len() / 4));
        match dtype {
            Ok(dtype) if !bytes.is_empty() => Self::Items { dtype, shape: Vec::new(), bytes },
            _ => Self::Text(text.to_owned()),
        }
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Items { dtype, shape, bytes } => {
                let mut items = bytes.chunks_exact(dtype.item_size().max(1));
                print_items(dtype, shape, &mut items, f)
            }
        }
    }
}

fn print_items(
    dtype: &DType,
    shape: &[usize],
    items: &mut std::slice::ChunksExact<'_, u8>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let Some((side, inner)) = shape.split_first() else {
        return f.write_str(&dtype.format_item(items.next().unwrap_or_default()));
    };
    f.write_str("[")?;
    for number in 0..*side {
        if number > 0 {
            f.write_str(", ")?;
        }
        print_items(dtype, inner, items, f)?;
    }
    f.write_str("]")
}

/// The attributes of a tree. What is not understood stays as it is.
#[derive(Default)]
pub(super) struct Attributes {
    entries: Vec<(String, Yaml)>,
    /// Whether they differ from those of the file.
    has_changed: bool,
}

impl Attributes {
    /// Reads the file; a missing one has none.
    pub(super) fn read(root: &Root) -> Result<Self> {
        let text = match root.meta_text("attributes", MAX_LEN) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text?,
        };
        let told = |error: Error| error.within(format!("{}/meta/attributes", root.name));
        let entries = match Yaml::parse(&text).map_err(told)? {
            Yaml::Map(entries) => entries,
            _ => Vec::new(),
        };
        Ok(Self { entries, has_changed: false })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Attribute)> {
        self.entries.iter().map(|(name, yaml)| (name.as_str(), from_yaml(yaml)))
    }

    pub(super) fn get(&self, name: &str) -> Option<Attribute> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, yaml)| from_yaml(yaml))
    }

    pub(super) fn set(&mut self, name: &str, value: &Attribute) -> Result<()> {
        if name.is_empty() {
            return Err(Error::invalid("an attribute needs a name"));
        }
        let yaml = to_yaml(value)?;
        let mut entries = self.entries.clone();
        match entries.iter_mut().find(|(known, _)| known == name) {
            Some((_, place)) => *place = yaml,
            None => entries.push((name.to_owned(), yaml)),
        }
        let new = Self { entries, has_changed: true };
        if new.to_text().len() as u64 > MAX_LEN {
            return Err(Error::limit(format!("attributes take at most {MAX_LEN} bytes")));
        }
        *self = new;
        Ok(())
    }

    /// Removes an attribute; returns whether there was one.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        let known = self.entries.len();
        self.entries.retain(|(other, _)| other != name);
        let found = self.entries.len() < known;
        self.has_changed |= found;
        found
    }

    /// The same attributes for a new tree, as the file has them.
    pub(super) fn copied(&self) -> Self {
        Self { entries: self.entries.clone(), has_changed: !self.entries.is_empty() }
    }

    /// The new content of the file, if it differs.
    pub(super) fn changed_text(&self) -> Option<String> {
        self.has_changed.then(|| self.to_text())
    }

    fn to_text(&self) -> String {
        Yaml::Map(self.entries.clone()).to_text()
    }

    /// The file has these attributes.
    pub(super) fn settle(&mut self) {
        self.has_changed = false;
    }
}

fn from_yaml(yaml: &Yaml) -> Attribute {
    let typed = || {
        let text = yaml.get("dtype")?.as_str()?;
        let dtype = DType::parse(text).ok()?;
        let explicit = text.starts_with(['<', '>', '=', '|']);
        let dtype = if explicit { dtype } else { dtype.with_order(ByteOrder::Little) };
        let (mut shape, mut bytes) = (Vec::new(), Vec::new());
        collect(yaml.get("value")?, &dtype, 0, &mut shape, &mut bytes)?;
        Some(Attribute::Items { dtype, shape, bytes })
    };
    typed().unwrap_or_else(|| Attribute::Text(plain_text(yaml)))
}

/// The items of a value, if they are all of the type and the lists equally long.
fn collect(
    yaml: &Yaml,
    dtype: &DType,
    depth: usize,
    shape: &mut Vec<usize>,
    bytes: &mut Vec<u8>,
) -> Option<()> {
    let Yaml::List(items) = yaml else {
        bytes.extend_from_slice(&item_bytes(yaml.as_str()?, dtype)?);
        return (shape.len() == depth).then_some(());
    };
    match shape.get(depth) {
        Some(side) if *side != items.len() => return None,
        Some(_) => {}
        // The first list of this depth tells.
        None if bytes.is_empty() => shape.push(items.len()),
        None => return None,
    }
    items.iter().try_for_each(|item| collect(item, dtype, depth + 1, shape, bytes))
}

/// An item from its text.
fn item_bytes(text: &str, dtype: &DType) -> Option<Vec<u8>> {
    let size = dtype.item_size();
    let mut bytes = match dtype.kind() {
        DKind::Bool => match text {
            "true" | "True" | "1" => vec![1],
            "false" | "False" | "0" => vec![0],
            _ => return None,
        },
        DKind::Int | DKind::Uint => {
            let value: i128 = text.parse().ok()?;
            let bits = u32::try_from(8 * size).ok()?;
            let least = if dtype.kind() == DKind::Int { -(1i128 << (bits - 1)) } else { 0 };
            let range = least..least + (1i128 << bits);
            let bytes = range.contains(&value).then(|| value.to_le_bytes())?;
            bytes.get(..size)?.to_vec()
        }
        DKind::Float if size == 4 => rust_float(text).parse::<f32>().ok()?.to_le_bytes().to_vec(),
        DKind::Float if size == 8 => rust_float(text).parse::<f64>().ok()?.to_le_bytes().to_vec(),
        DKind::Bytes => text.as_bytes().to_vec(),
        DKind::Unicode => text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
        _ => return None,
    };
    if bytes.len() > size {
        return None;
    }
    bytes.resize(size, 0);
    if dtype.byte_order() == ByteOrder::Big {
        let unit = if dtype.kind() == DKind::Unicode { 4 } else { size.max(1) };
        bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
    }
    Some(bytes)
}

/// YAML's spelling of numbers that are none.
fn rust_float(text: &str) -> &str {
    match text {
        ".nan" | ".NaN" => "nan",
        ".inf" | "+.inf" => "inf",
        "-.inf" => "-inf",
        text => text,
    }
}

fn to_yaml(value: &Attribute) -> Result<Yaml> {
    let plain = |text: &str| Yaml::Plain(text.to_owned());
    let Attribute::Items { dtype, shape, bytes } = value else {
        return Ok(Yaml::Quoted(value.to_string()));
    };
    let items = shape.iter().try_fold(dtype.item_size(), |len, side| len.checked_mul(*side));
    if items != Some(bytes.len()) || dtype.item_size() == 0 {
        return Err(Error::invalid(format!(
            "{} bytes are not {shape:?} items of `{dtype}`",
            bytes.len()
        )));
    }
    let mut items = bytes.chunks_exact(dtype.item_size());
    let listed = list(dtype, shape, &mut items).ok_or_else(|| {
        Error::invalid(format!("attributes of type `{dtype}` cannot be written as text"))
    })?;
    let kind = if shape.is_empty() { "scalar" } else { "array" };
    Ok(Yaml::Map(vec![
        ("value".to_owned(), listed),
        ("type".to_owned(), plain(kind)),
        ("dtype".to_owned(), Yaml::Quoted(dtype.to_string())),
    ]))
}

fn list(
    dtype: &DType,
    shape: &[usize],
    items: &mut std::slice::ChunksExact<'_, u8>,
) -> Option<Yaml> {
    if let Some((side, inner)) = shape.split_first() {
        return (0..*side)
            .map(|_| list(dtype, inner, items))
            .collect::<Option<_>>()
            .map(Yaml::List);
    }
    let item = items.next()?;
    let yaml = match dtype.kind() {
        DKind::Bytes | DKind::Unicode => Yaml::Quoted(text_of(dtype, item)?),
        _ => {
            let text = dtype.format_item(item);
            Yaml::Plain(match text.as_str() {
                "True" => "true".to_owned(),
                "False" => "false".to_owned(),
                "nan" => ".nan".to_owned(),
                "inf" => ".inf".to_owned(),
                "-inf" => "-.inf".to_owned(),
                _ => text,
            })
        }
    };
    // What does not read back as it was is better refused than lost; a NaN has many bit patterns.
    let same = item_bytes(yaml.as_str()?, dtype)? == item || yaml.as_str() == Some(".nan");
    same.then_some(yaml)
}

/// The text of an item of bytes or letters.
fn text_of(dtype: &DType, item: &[u8]) -> Option<String> {
    let text = match dtype.kind() {
        DKind::Bytes => String::from_utf8(item.to_vec()).ok()?,
        DKind::Unicode => {
            let letter = |letter: &[u8]| {
                let bytes: [u8; 4] = letter.try_into().ok()?;
                char::from_u32(match dtype.byte_order() {
                    ByteOrder::Big => u32::from_be_bytes(bytes),
                    _ => u32::from_le_bytes(bytes),
                })
            };
            item.chunks_exact(4).map(letter).collect::<Option<String>>()?
        }
        _ => return None,
    };
    Some(text.trim_end_matches('\0').to_owned())
}

/// What is kept as text: the value, if there is one, as the file has it.
fn plain_text(yaml: &Yaml) -> String {
    match yaml {
        Yaml::Null => String::new(),
        Yaml::Plain(text) | Yaml::Quoted(text) => text.clone(),
        Yaml::List(items) => {
            format!("[{}]", items.iter().map(plain_text).collect::<Vec<_>>().join(", "))
        }
        Yaml::Map(entries) => match yaml.get("value") {
            Some(value) => plain_text(value),
            None => Yaml::Map(entries.clone()).to_text(),
        },
    }
}
