//! The type of an item, in NumPy's words.
//!
//! A [`DType`] is read from the spelling of NumPy by a grammar of our own; nothing is ever evaluated.
//!
//! ```text
//! dtype  = plain | struct
//! plain  = order? code size? unit?            <f4  >i8  |b1  |S7  <U5  <M8[25us]  float32  ?
//! struct = "[" field, … "]"                   [('a', '<i4'), ('b', '<f8', (2, 3))]
//!        | "{" 'names': […], 'formats': […], 'offsets': […], 'itemsize': n, 'aligned': True "}"
//! field  = "(" name | (title, name) , format [, shape] ")"
//! format = 'plain' | struct | (format, shape)
//! ```

mod element;
mod exact;
mod literal;
mod parse;
mod print;
mod structure;
mod time;
mod value;

pub use element::Element;
pub(crate) use literal::Literal;
pub(crate) use print::tuple;
pub use time::{TimeBase, TimeUnit};
pub(crate) use value::{half, nearest_half, printable};

/// The deepest nesting of a structure.
pub(crate) const MAX_DEPTH: usize = 16;
/// The longest spelling.
pub(crate) const MAX_TEXT: usize = 64 * 1024;
/// The largest item: what a block can hold.
const MAX_ITEM: usize = 536_866_816;

/// In which order the items of an array or a chunk lie.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ItemOrder {
    /// The last index changes fastest.
    #[default]
    C,
    /// The first index changes fastest.
    Fortran,
}

/// The type of an item, as NumPy knows it.
///
/// ```
/// use superchunk::{DKind, DType};
///
/// let price = DType::parse(">f8")?;
/// assert_eq!((price.kind(), price.item_size()), (DKind::Float, 8));
/// assert_eq!(price.format_item(&1.5f64.to_be_bytes()), "1.5");
///
/// let row = DType::parse("[('id', '<u4'), ('name', 'S8')]")?;
/// assert_eq!(row.item_size(), 12);
/// assert_eq!(row.to_string(), "[('id', '<u4'), ('name', 'S8')]");
/// # Ok::<(), superchunk::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DType {
    kind: DKind,
    order: ByteOrder,
    item_size: usize,
    fields: Vec<Field>,
    /// Whether the fields of a structure lie where a C compiler puts them.
    aligned: bool,
}

/// What kind of values a type has.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DKind {
    /// One byte, zero or not.
    Bool,
    /// Signed integers.
    Int,
    /// Unsigned integers.
    Uint,
    /// Floating point.
    Float,
    /// Two floats.
    Complex,
    /// Bytes of text, padded with zeros.
    Bytes,
    /// Text of 32-bit code points, padded with zeros.
    Unicode,
    /// A moment, counted from 1970.
    Datetime {
        /// What is counted.
        unit: TimeUnit,
    },
    /// A duration.
    Timedelta {
        /// What is counted.
        unit: TimeUnit,
    },
    /// Bytes without a meaning.
    Void,
    /// Fields, each with a name and a type.
    Struct,
}

/// Which byte of a number comes first.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The lowest.
    Little,
    /// The highest.
    Big,
    /// The type has no order: single bytes, structures.
    Irrelevant,
}

/// A part of a structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    name: String,
    title: Option<String>,
    dtype: DType,
    shape: Vec<usize>,
    offset: usize,
}

impl DType {
    /// A type of this kind whose numbers have the byte order of this machine; the size is in bytes.
    /// For kinds that consist of more than a size, use [`DType::parse`].
    pub(crate) fn plain(kind: DKind, item_size: usize) -> Self {
        let order = match kind {
            _ if item_size == 1 => ByteOrder::Irrelevant,
            DKind::Bool | DKind::Bytes | DKind::Void | DKind::Struct => ByteOrder::Irrelevant,
            _ => ByteOrder::native(),
        };
        Self { kind, order, item_size, fields: Vec::new(), aligned: false }
    }

    /// Bytes of which nothing but their number is known: `|S<size>`, C-Blosc2's word for it.
    #[must_use]
    pub fn opaque(item_size: usize) -> Self {
        Self::plain(DKind::Bytes, item_size)
    }

    /// The type of the items of a Rust slice.
    #[must_use]
    pub fn of<T: Element>() -> Self {
        T::dtype()
    }

    /// What kind of values it has.
    #[must_use]
    pub fn kind(&self) -> DKind {
        self.kind
    }

    /// Which byte comes first.
    #[must_use]
    pub fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// The bytes of an item.
    #[must_use]
    pub fn item_size(&self) -> usize {
        self.item_size
    }

    /// The parts of a structure; none for other kinds.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Whether the fields of a structure lie where a C compiler puts them.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        self.aligned
    }

    /// The multiple that a C compiler places such an item at.
    #[must_use]
    pub fn alignment(&self) -> usize {
        match self.kind {
            DKind::Bool | DKind::Bytes | DKind::Void => 1,
            DKind::Unicode => 4,
            DKind::Complex => (self.item_size / 2).max(1),
            DKind::Struct if self.aligned => {
                self.fields.iter().map(|field| field.dtype.alignment()).max().unwrap_or(1)
            }
            DKind::Struct => 1,
            _ => self.item_size.max(1),
        }
    }
}

impl ByteOrder {
    /// The order of this machine.
    #[must_use]
    pub fn native() -> Self {
        if cfg!(target_endian = "little") { Self::Little } else { Self::Big }
    }
}

impl Field {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its title, a second name that few have.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Its type; with a [shape](Field::shape), that of its items.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// The shape of a field that is an array itself; empty for a single value.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Where it begins in the item.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Its bytes; a field's size was checked when it was read.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.shape.iter().fold(self.dtype.item_size, |len, side| len.saturating_mul(*side))
    }
}

#[cfg(test)]
mod tests;
