//! The spelling of a type, as NumPy writes it: `dtype.str` for plain types, `str(dtype)` for
//! structures.

use std::fmt;

use super::literal::quoted;
use super::{ByteOrder, DKind, DType, Field};

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            DKind::Struct => f.write_str(&self.structure(true)),
            _ => {
                let order = match self.order {
                    ByteOrder::Irrelevant => "|",
                    _ => self.order_sign(),
                };
                write!(f, "{order}{}", self.code())
            }
        }
    }
}

impl DType {
    /// The descriptor of a `.npy` file: like the spelling, but padding is written as nameless fields.
    pub(crate) fn descriptor(&self) -> String {
        if self.kind != DKind::Struct {
            return format!("'{self}'");
        }
        let (mut parts, mut end) = (Vec::new(), 0);
        for field in &self.fields {
            if field.offset > end {
                parts.push(format!("('', '|V{}')", field.offset - end));
            }
            let (name, format) = (field.name_in_list(), field.dtype.descriptor());
            parts.push(match field.shape.as_slice() {
                [] => format!("({name}, {format})"),
                shape => format!("({name}, {format}, {})", tuple(shape)),
            });
            end = field.offset + field.byte_len();
        }
        if self.item_size > end {
            parts.push(format!("('', '|V{}')", self.item_size - end));
        }
        format!("[{}]", parts.join(", "))
    }

    /// Code, size and unit.
    fn code(&self) -> String {
        let size = self.item_size;
        match self.kind {
            DKind::Bool => "b1".to_owned(),
            DKind::Int => format!("i{size}"),
            DKind::Uint => format!("u{size}"),
            DKind::Float => format!("f{size}"),
            DKind::Complex => format!("c{size}"),
            DKind::Bytes => format!("S{size}"),
            DKind::Unicode => format!("U{}", size / 4),
            DKind::Datetime { unit } => format!("M8{unit}"),
            DKind::Timedelta { unit } => format!("m8{unit}"),
            DKind::Void | DKind::Struct => format!("V{size}"),
        }
    }

    fn order_sign(&self) -> &'static str {
        match self.order {
            ByteOrder::Little => "<",
            ByteOrder::Big => ">",
            ByteOrder::Irrelevant => "",
        }
    }

    /// As a part of a structure.
    fn as_format(&self) -> String {
        match self.kind {
            DKind::Struct => self.structure(false),
            DKind::Bool => "'?'".to_owned(),
            // NumPy spells items without a size by the code alone.
            DKind::Bytes | DKind::Unicode | DKind::Void if self.item_size == 0 => {
                let code: String = self.code().chars().take(1).collect();
                format!("'{}{code}'", self.order_sign())
            }
            _ => format!("'{}{}'", self.order_sign(), self.code()),
        }
    }

    /// The list form where the fields lie one behind the other, else the dictionary.
    fn structure(&self, outermost: bool) -> String {
        if self.is_packed() && !(outermost && self.aligned) {
            let fields: Vec<String> = self.fields.iter().map(Field::in_list).collect();
            return format!("[{}]", fields.join(", "));
        }
        let join = |part: &dyn Fn(&Field) -> String| {
            self.fields.iter().map(part).collect::<Vec<_>>().join(", ")
        };
        let titles = match self.fields.iter().any(|field| field.title.is_some()) {
            true => format!(
                ", 'titles': [{}]",
                join(&|field| field.title.as_deref().map_or("None".to_owned(), quoted))
            ),
            false => String::new(),
        };
        let aligned = if outermost && self.aligned { ", 'aligned': True" } else { "" };
        format!(
            "{{'names': [{}], 'formats': [{}], 'offsets': [{}]{titles}, 'itemsize': {}{aligned}}}",
            join(&|field| quoted(&field.name)),
            join(&Field::in_dict),
            join(&|field| field.offset.to_string()),
            self.item_size,
        )
    }

    /// Whether the fields lie one behind the other, with no more padding than alignment asks for.
    fn is_packed(&self) -> bool {
        let mut end = 0usize;
        for field in &self.fields {
            if self.aligned {
                end = end.next_multiple_of(field.dtype.alignment());
            }
            if field.offset != end {
                return false;
            }
            end += field.byte_len();
        }
        if self.aligned {
            end = end.next_multiple_of(self.alignment());
        }
        end == self.item_size
    }
}

impl Field {
    fn name_in_list(&self) -> String {
        match &self.title {
            Some(title) => format!("({}, {})", quoted(title), quoted(&self.name)),
            None => quoted(&self.name),
        }
    }

    fn in_list(&self) -> String {
        let name = self.name_in_list();
        match self.shape.as_slice() {
            [] => format!("({name}, {})", self.dtype.as_format()),
            shape => format!("({name}, {}, {})", self.dtype.as_format(), tuple(shape)),
        }
    }

    fn in_dict(&self) -> String {
        match self.shape.as_slice() {
            [] => self.dtype.as_format(),
            shape => format!("({}, {})", self.dtype.as_format(), tuple(shape)),
        }
    }
}

/// A shape as Python writes it.
pub(crate) fn tuple<T: ToString>(shape: &[T]) -> String {
    match shape {
        [side] => format!("({},)", side.to_string()),
        sides => {
            let sides: Vec<String> = sides.iter().map(ToString::to_string).collect();
            format!("({})", sides.join(", "))
        }
    }
}
