//! How long the texts of a column may be: `S10` holds 10 bytes, `U10` ten characters.

use std::borrow::Cow;

use superchunk::table::Column;
use superchunk::{ByteOrder, DKind, DType};

use crate::failure::Outcome;

/// The bytes or characters that texts of a type have at most; `None` of other types.
pub(super) fn room(dtype: &DType) -> Option<usize> {
    match dtype.kind() {
        DKind::Bytes => Some(dtype.item_size()),
        DKind::Unicode => Some(dtype.item_size() / 4),
        _ => None,
    }
}

/// The bytes or characters that a text takes in a column of texts of this type.
pub(super) fn length(dtype: &DType, text: &str) -> usize {
    match dtype.kind() {
        DKind::Unicode => text.chars().count(),
        _ => text.len(),
    }
}

/// The same type with this much room.
pub(super) fn with_room(dtype: &DType, room: usize) -> Outcome<DType> {
    let code = match (dtype.kind(), dtype.byte_order()) {
        (DKind::Bytes, _) => "|S",
        (_, ByteOrder::Big) => ">U",
        _ => "<U",
    };
    Ok(DType::parse(&format!("{code}{room}"))?)
}

/// Whether both hold texts that differ in their lengths at most.
pub(super) fn is_same_text(one: &Column, other: &Column) -> bool {
    let (left, right) = (&one.dtype, &other.dtype);
    let is_text = room(left).is_some() && one.row_shape == other.row_shape;
    is_text && left.kind() == right.kind() && left.byte_order() == right.byte_order()
}

/// Whether the rows of a column are rows of another one, at most after zeros were added to texts.
pub(super) fn fits(column: &Column, other: &Column) -> bool {
    let is_equal = column.dtype == other.dtype && column.row_shape == other.row_shape;
    is_equal || is_same_text(column, other) && room(&column.dtype) <= room(&other.dtype)
}

/// Rows of columns as rows of others that they [fit](fits).
pub(super) fn filled_up<'p>(
    parts: &'p [Vec<u8>],
    from: &[Column],
    to: &[Column],
) -> Cow<'p, [Vec<u8>]> {
    if from.iter().zip(to).all(|(from, to)| from.dtype == to.dtype) {
        return Cow::Borrowed(parts);
    }
    let wider = parts.iter().zip(from.iter().zip(to)).map(|(part, (from, to))| {
        let (old, new) = (from.dtype.item_size().max(1), to.dtype.item_size());
        let items = part.chunks_exact(old);
        let zeros = std::iter::repeat_n(0, new.saturating_sub(old));
        items.flat_map(|item| item.iter().copied().chain(zeros.clone())).collect()
    });
    Cow::Owned(wider.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(dtype: &str) -> Column {
        Column::new("a", DType::parse(dtype).unwrap())
    }

    #[test]
    fn texts_fit_where_there_is_room_for_them() {
        assert!(fits(&column("|S3"), &column("|S5")) && !fits(&column("|S5"), &column("|S3")));
        assert!(fits(&column("<i4"), &column("<i4")) && !fits(&column("<i4"), &column("<i8")));
        assert!(!fits(&column("<U3"), &column(">U5")) && !fits(&column("|S3"), &column("<U5")));
        assert!(!fits(&column("|S3").with_row_shape(&[2]), &column("|S5")));
    }

    #[test]
    fn zeros_fill_them_up() {
        let (from, to) = ([column("|S2"), column("|u1")], [column("|S4"), column("|u1")]);
        let parts = [b"abc\0".to_vec(), vec![1, 2]];
        assert_eq!(*filled_up(&parts, &from, &to), [b"ab\0\0c\0\0\0".to_vec(), vec![1, 2]]);
        assert_eq!(with_room(&to[0].dtype, 42).unwrap().to_string(), "|S42");
        assert_eq!(with_room(&column(">U2").dtype, 7).unwrap().to_string(), ">U7");
    }
}
