//! The file `meta/storage` of a `blsk` tree: what its columns are and how they are cut.
//!
//! ```text
//! dtype:                          a type, or a mapping of columns to types, of any depth
//!   price: float64
//!   place:
//!     x: int16
//!     y: int16
//! shape: (300, 200)               of every column; the first number is the number of rows
//! chunkshape: (30, 200)
//! superchunksize: 10              chunks in a file
//! endianness: little              of types that do not say it themselves
//! order: C                        of the items inside of a chunk
//! compression:
//!   library: blosclz              for new chunks; every chunk tells what it was made with
//!   level: 5
//!   filters: [shuffle, truncate]
//!   truncate: 12                  ours: the bits of a mantissa that `truncate` keeps
//! reserve: 8                      ours: a rewritten file leaves 1/8 of each chunk free behind it
//! ```

mod compression;
mod partial;

use super::yaml::Yaml;
use crate::dtype::{ByteOrder, DKind, DType, ItemOrder, tuple};
use crate::error::{Error, ErrorKind, Result};
pub(crate) use compression::{Compression, Truncation};
pub(crate) use partial::Partial;

/// The deepest nesting of columns.
const MAX_DEPTH: usize = 16;
/// The most dimensions.
const MAX_DIMENSIONS: usize = 16;
/// The most bytes of a chunk: what Blosc 1 can state.
pub(crate) const MAX_CHUNK: usize = 2_147_483_631;
/// The longest name of a column.
const MAX_NAME: usize = 255;

/// The keys that have a meaning here.
const KNOWN: [&str; 8] = [
    "dtype",
    "shape",
    "chunkshape",
    "superchunksize",
    "endianness",
    "order",
    "compression",
    "reserve",
];

/// What `meta/storage` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Storage {
    /// The columns in order; one with an empty path when the tree is a single array.
    pub(crate) columns: Vec<Leaf>,
    pub(crate) shape: Vec<u64>,
    pub(crate) chunkshape: Vec<usize>,
    /// The most chunks of a file.
    pub(crate) superchunksize: usize,
    pub(crate) endianness: ByteOrder,
    pub(crate) order: ItemOrder,
    pub(crate) compression: Compression,
    pub(crate) reserve: Reserve,
    /// Keys that are not known here; they stay.
    pub(crate) other: Vec<(String, Yaml)>,
}

/// A column: the folders that lead to it below `data`, and the type of its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) path: Vec<String>,
    pub(crate) dtype: DType,
}

/// How many bytes stay free behind a chunk, so that it can grow where it is.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reserve {
    /// None: a chunk that grows has its whole file rewritten.
    None,
    /// This part of the chunk's own length: 8 is an eighth.
    Part(u32),
    /// As many as the chunk can ever need.
    Full,
}

impl Storage {
    /// Reads the file.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let yaml = Yaml::parse(text)?;
        let Yaml::Map(entries) = &yaml else { return Err(wrong("storage", "is no mapping")) };
        let other = entries.iter().filter(|(key, _)| !KNOWN.contains(&key.as_str())).cloned();
        let storage = Self {
            columns: read_columns(&yaml)?,
            shape: sides(&yaml, "shape")?,
            chunkshape: read_chunkshape(&yaml)?,
            superchunksize: read_superchunksize(&yaml)?,
            endianness: read_endianness(&yaml)?,
            order: read_order(&yaml)?,
            compression: Compression::parse(yaml.get("compression"))?,
            reserve: read_reserve(&yaml)?,
            other: other.collect(),
        };
        storage.check().map_err(|error| error.of_kind(ErrorKind::Corrupt))?;
        Ok(storage)
    }

    /// The file.
    pub(crate) fn to_text(&self) -> String {
        let plain = |text: String| Yaml::Plain(text);
        let big = self.endianness == ByteOrder::Big;
        let mut entries = vec![
            ("dtype".to_owned(), self.dtypes()),
            ("shape".to_owned(), plain(tuple(&self.shape))),
            ("chunkshape".to_owned(), plain(tuple(&self.chunkshape))),
            ("superchunksize".to_owned(), plain(self.superchunksize.to_string())),
            ("endianness".to_owned(), plain(if big { "big" } else { "little" }.to_owned())),
            (
                "order".to_owned(),
                plain(if self.order == ItemOrder::C { "C" } else { "F" }.to_owned()),
            ),
            ("compression".to_owned(), self.compression.to_yaml()),
        ];
        let reserve = match self.reserve {
            Reserve::None => None,
            Reserve::Part(part) => Some(part.max(2)),
            Reserve::Full => Some(1),
        };
        entries.extend(reserve.map(|part| ("reserve".to_owned(), plain(part.to_string()))));
        entries.extend(self.other.iter().cloned());
        Yaml::Map(entries).to_text()
    }

    /// Refuses what cannot be stored.
    pub(crate) fn check(&self) -> Result<()> {
        if self.shape.is_empty() || self.shape.len() > MAX_DIMENSIONS {
            let count = self.shape.len();
            return Err(refused(
                "shape",
                format!("{count} dimensions, 1 to {MAX_DIMENSIONS} work"),
            ));
        }
        if self.chunkshape.len() != self.shape.len() || self.chunkshape.contains(&0) {
            return Err(refused(
                "chunkshape",
                format!("{:?} does not fit shape {:?}", self.chunkshape, self.shape),
            ));
        }
        if self.shape.iter().skip(1).any(|side| *side == 0) {
            return Err(refused("shape", "rows without items"));
        }
        if self.superchunksize == 0 {
            return Err(refused("superchunksize", "is 0"));
        }
        if self.columns.is_empty() {
            return Err(refused("dtype", "there is no column"));
        }
        for leaf in &self.columns {
            let size = leaf.dtype.item_size();
            let chunk = self.chunkshape.iter().try_fold(size, |all, side| all.checked_mul(*side));
            if size == 0 || chunk.is_none_or(|chunk| chunk > MAX_CHUNK) {
                return Err(refused(
                    "chunkshape",
                    format!("{:?} of `{}` is no chunk", self.chunkshape, leaf.dtype),
                ));
            }
            let all = self.shape.iter().try_fold(size as u64, |all, side| all.checked_mul(*side));
            if all.is_none_or(|all| all > i64::MAX as u64) {
                return Err(refused("shape", "more bytes than can be counted"));
            }
        }
        Ok(())
    }

    /// The bytes of a row of a column.
    pub(crate) fn row_len(&self, column: &Leaf) -> usize {
        self.shape.iter().skip(1).fold(column.dtype.item_size(), |len, side| {
            len.saturating_mul(usize::try_from(*side).unwrap_or(usize::MAX))
        })
    }

    /// The types as they are written: a word, or a mapping.
    fn dtypes(&self) -> Yaml {
        match self.columns.as_slice() {
            [Leaf { path, dtype }] if path.is_empty() => self.dtype_text(dtype),
            columns => {
                let mut root = Vec::new();
                columns.iter().for_each(|leaf| self.insert(&mut root, &leaf.path, &leaf.dtype));
                Yaml::Map(root)
            }
        }
    }

    fn insert(&self, map: &mut Vec<(String, Yaml)>, path: &[String], dtype: &DType) {
        let Some((first, rest)) = path.split_first() else { return };
        if rest.is_empty() {
            map.push((first.clone(), self.dtype_text(dtype)));
            return;
        }
        if !map.iter().any(|(name, _)| name == first) {
            map.push((first.clone(), Yaml::Map(Vec::new())));
        }
        if let Some((_, Yaml::Map(inner))) = map.iter_mut().find(|(name, _)| name == first) {
            self.insert(inner, rest, dtype);
        }
    }

    fn dtype_text(&self, dtype: &DType) -> Yaml {
        let order = dtype.byte_order();
        if dtype.kind() == DKind::Struct
            || ![ByteOrder::Irrelevant, self.endianness].contains(&order)
        {
            return Yaml::Quoted(dtype.to_string());
        }
        Yaml::Plain(type_name(dtype))
    }
}

impl Reserve {
    /// The free bytes behind a chunk of `len` bytes that holds `nbytes`.
    pub(crate) fn behind(self, len: usize, nbytes: usize) -> usize {
        let most = nbytes.saturating_add(16).saturating_sub(len);
        match self {
            Self::None => 0,
            Self::Part(part) => {
                len.div_ceil(usize::try_from(part.max(1)).unwrap_or(usize::MAX)).min(most)
            }
            Self::Full => most,
        }
    }
}

/// Refuses a name that could lead elsewhere, or be taken for a file of chunks.
pub(crate) fn check_column_name(name: &str) -> Result<()> {
    let odd = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    if matches!(name, "" | "." | "..") || name.contains(odd) || name.len() > MAX_NAME {
        return Err(Error::invalid(format!("{name:?} cannot be the name of a column")));
    }
    let number = name.strip_prefix("__").and_then(|rest| rest.strip_suffix("__.bin"));
    if number.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit())) {
        return Err(Error::invalid(format!("`{name}` is the name of a file of chunks")));
    }
    Ok(())
}

/// The number of rows, as `meta/nrows` has it.
pub(crate) fn parse_nrows(text: &str) -> Result<u64> {
    let digits = text.trim();
    let digits = Some(digits).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        wrong("nrows", format!("{shown:?} is no number of rows"))
    })
}

fn read_columns(yaml: &Yaml) -> Result<Vec<Leaf>> {
    let dtype = yaml.get("dtype").ok_or_else(|| wrong("dtype", "is missing"))?;
    let mut columns = Vec::new();
    leaves(dtype, read_endianness(yaml)?, &mut Vec::new(), &mut columns)?;
    Ok(columns)
}

fn read_chunkshape(yaml: &Yaml) -> Result<Vec<usize>> {
    let chunks = sides(yaml, "chunkshape")?.into_iter();
    Ok(chunks.map(|side| usize::try_from(side).unwrap_or(usize::MAX)).collect())
}

fn read_superchunksize(yaml: &Yaml) -> Result<usize> {
    let size = whole(yaml, "superchunksize")?;
    let size = size.ok_or_else(|| wrong("superchunksize", "is missing"))?;
    Ok(usize::try_from(size).unwrap_or(usize::MAX))
}

fn read_endianness(yaml: &Yaml) -> Result<ByteOrder> {
    match word(yaml, "endianness")?.unwrap_or("little") {
        "little" => Ok(ByteOrder::Little),
        "big" => Ok(ByteOrder::Big),
        other => Err(wrong("endianness", format!("`{other}` is neither little nor big"))),
    }
}

fn read_order(yaml: &Yaml) -> Result<ItemOrder> {
    match word(yaml, "order")?.unwrap_or("C") {
        "C" => Ok(ItemOrder::C),
        "F" => Ok(ItemOrder::Fortran),
        other => Err(wrong("order", format!("`{other}` is neither C nor F"))),
    }
}

fn read_reserve(yaml: &Yaml) -> Result<Reserve> {
    Ok(match whole(yaml, "reserve")? {
        None | Some(0) => Reserve::None,
        Some(1) => Reserve::Full,
        Some(part) => Reserve::Part(u32::try_from(part).unwrap_or(u32::MAX)),
    })
}

fn leaves(
    yaml: &Yaml,
    endianness: ByteOrder,
    path: &mut Vec<String>,
    out: &mut Vec<Leaf>,
) -> Result<()> {
    if let Some(text) = yaml.as_str() {
        let dtype = DType::parse(text)?;
        let explicit = text.starts_with(['<', '>', '=', '|']);
        let dtype = if explicit { dtype } else { dtype.with_order(endianness) };
        out.push(Leaf { path: path.clone(), dtype });
        return Ok(());
    }
    let Yaml::Map(columns) = yaml else {
        return Err(wrong("dtype", "a type or a mapping of columns was expected"));
    };
    if path.len() >= MAX_DEPTH {
        return Err(
            Error::limit(format!("columns in more than {MAX_DEPTH} levels")).at("blsk", "dtype", 0)
        );
    }
    for (name, inner) in columns {
        let checked = check_column_name(name).map_err(|error| error.of_kind(ErrorKind::Corrupt));
        checked.map_err(|error| error.at("blsk", "dtype", 0))?;
        path.push(name.clone());
        leaves(inner, endianness, path, out)?;
        path.pop();
    }
    Ok(())
}

fn type_name(dtype: &DType) -> String {
    let bits = 8 * dtype.item_size();
    match dtype.kind() {
        DKind::Bool => "bool".to_owned(),
        DKind::Int => format!("int{bits}"),
        DKind::Uint => format!("uint{bits}"),
        DKind::Float if bits <= 64 => format!("float{bits}"),
        DKind::Complex if bits <= 128 => format!("complex{bits}"),
        _ => dtype.to_string().trim_start_matches(['<', '>', '|', '=']).to_owned(),
    }
}

fn word<'y>(yaml: &'y Yaml, key: &'static str) -> Result<Option<&'y str>> {
    match yaml.get(key) {
        None | Some(Yaml::Null) => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or_else(|| wrong(key, "is no single value")),
    }
}

fn whole(yaml: &Yaml, key: &'static str) -> Result<Option<u64>> {
    let Some(text) = word(yaml, key)? else { return Ok(None) };
    let number = text.parse().map_err(|_| wrong(key, format!("`{text}` is no whole number")))?;
    Ok(Some(number))
}

/// `(300, 200)`, `(5,)`, `[300, 200]` or a bare number.
fn sides(yaml: &Yaml, key: &'static str) -> Result<Vec<u64>> {
    let bad = || wrong(key, "a list of lengths such as (300, 200) was expected");
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| bad());
    match yaml.get(key) {
        Some(Yaml::List(items)) => {
            items.iter().map(|item| number(item.as_str().unwrap_or_default())).collect()
        }
        Some(Yaml::Plain(text) | Yaml::Quoted(text)) => {
            let text = text.trim();
            let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
            let Some(inner) = inner else { return Ok(vec![number(text)?]) };
            let inner = inner.trim().strip_suffix(',').unwrap_or(inner);
            inner.split(',').map(number).collect()
        }
        _ => Err(bad()),
    }
}

fn wrong(field: &'static str, words: impl Into<String>) -> Error {
    Error::corrupt(words.into()).at("blsk", field, 0)
}

/// What a caller asked for, or a file says.
fn refused(field: &'static str, words: impl Into<String>) -> Error {
    Error::invalid(words.into()).at("blsk", field, 0)
}

#[cfg(test)]
mod tests;
