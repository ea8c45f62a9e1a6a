//! The header of a `.npy` file, NumPy's own format for one array.
//!
//! ```text
//! ┌───────────────┬───────┬───────┬─────┬───────────────────────────────────────────────┬──────┐
//! │ 93 N U M P Y  │ major │ minor │ len │ {'descr': …, 'fortran_order': …, 'shape': …}  │ data │
//! └───────────────┴───────┴───────┴─────┴───────────────────────────────────────────────┴──────┘
//!                                   u16 (version 1) or u32, little endian; the text ends with a
//!                                   newline and is padded with spaces to a multiple of 64 bytes
//! ```
//!
//! Version 3 says that the text is UTF-8; before it was Latin-1.

use crate::dtype::{DType, Literal, tuple};
use crate::error::{Error, Result};
use crate::wire::Reader;

const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// Where the data of a written file begins is a multiple of this.
const ALIGNMENT: usize = 64;
/// The most dimensions of a NumPy array.
const MAX_DIMENSIONS: usize = 64;

/// What a `.npy` file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// The type of an item.
    pub dtype: DType,
    /// The length of each dimension.
    pub shape: Vec<u64>,
    /// Whether the first index varies fastest.
    pub fortran_order: bool,
    /// Where the items begin.
    pub data_offset: usize,
}

impl NpyHeader {
    /// The bytes of all items.
    pub fn data_len(&self) -> Result<usize> {
        let items = self.shape.iter().try_fold(1u64, |items, side| items.checked_mul(*side));
        let len = items.and_then(|items| items.checked_mul(self.dtype.item_size() as u64));
        len.and_then(|len| usize::try_from(len).ok())
            .ok_or_else(|| Error::limit("the array has more bytes than the memory can hold"))
    }
}

/// Reads the header at the start of `bytes`; the items may be missing.
///
/// ```
/// use superchunk::{npy, DType};
///
/// let bytes = npy::write_header(&DType::of::<f32>(), &[3, 4]);
/// let header = npy::read_header(&bytes)?;
/// assert_eq!((header.shape, header.data_offset), (vec![3, 4], bytes.len()));
/// # Ok::<(), superchunk::Error>(())
/// ```
pub fn read_header(bytes: &[u8]) -> Result<NpyHeader> {
    let mut reader = Reader::new("npy", bytes);
    if reader.array::<6>("magic")? != MAGIC {
        return Err(Error::corrupt("this is no .npy file").at("npy", "magic", 0));
    }
    let (major, _minor) = (reader.u8("major")?, reader.u8("minor")?);
    let len = match major {
        1 => usize::from(u16::from_le_bytes(reader.array("header_len")?)),
        2 | 3 => {
            let len = u32::from_le_bytes(reader.array("header_len")?);
            usize::try_from(len).unwrap_or(usize::MAX)
        }
        _ => {
            return Err(
                Error::unsupported(format!("version {major} of the format")).at("npy", "major", 6)
            );
        }
    };
    let stored = reader.take("header", len)?;
    let text = match major {
        3 => String::from_utf8(stored.to_vec())
            .map_err(|_| Error::corrupt("the header is no UTF-8").at("npy", "header", 12))?,
        _ => stored.iter().map(|byte| char::from(*byte)).collect(),
    };
    let literal = Literal::parse(text.trim())?;
    let field = |name: &'static str| {
        let missing = || Error::corrupt("the header does not have it").at("npy", name, 10);
        literal.get(name).ok_or_else(missing)
    };
    let dtype = DType::from_literal(field("descr")?)?;
    let fortran_order = match field("fortran_order")? {
        Literal::Bool(order) => *order,
        _ => {
            return Err(Error::corrupt("is neither True nor False").at("npy", "fortran_order", 10));
        }
    };
    let shape = shape_of(field("shape")?)?;
    Ok(NpyHeader { dtype, shape, fortran_order, data_offset: reader.position() })
}

/// The header of a file whose items follow in C order.
#[must_use]
pub fn write_header(dtype: &DType, shape: &[u64]) -> Vec<u8> {
    let text = format!(
        "{{'descr': {}, 'fortran_order': False, 'shape': {}, }}",
        dtype.descriptor(),
        tuple(shape)
    );
    let padded = |head: usize| (head + text.len() + 1).next_multiple_of(ALIGNMENT) - head;
    let mut out = MAGIC.to_vec();
    let len = match u16::try_from(padded(10)) {
        Ok(len) if text.is_ascii() => {
            out.extend([1, 0]);
            out.extend(len.to_le_bytes());
            usize::from(len)
        }
        _ => {
            let len = padded(12);
            out.extend([if text.is_ascii() { 2 } else { 3 }, 0]);
            // Spellings are far shorter than four gigabytes.
            out.extend(u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
            len
        }
    };
    let start = out.len();
    out.extend(text.bytes());
    out.resize(start + len - 1, b' ');
    out.push(b'\n');
    out
}

fn shape_of(shape: &Literal) -> Result<Vec<u64>> {
    let wrong = || Error::corrupt("is no tuple of lengths").at("npy", "shape", 10);
    let Literal::Tuple(sides) = shape else { return Err(wrong()) };
    if sides.len() > MAX_DIMENSIONS {
        return Err(wrong());
    }
    let side = |side: &Literal| match side {
        Literal::Integer(side) => Ok(*side),
        _ => Err(wrong()),
    };
    sides.iter().map(side).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_written_header_is_that_of_numpy() {
        // numpy.save of zeros((3, 4), "<f4"), up to the items.
        let mut expected = b"\x93NUMPY\x01\0\x76\0".to_vec();
        expected.extend(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
        expected.resize(127, b' ');
        expected.push(b'\n');
        assert_eq!(write_header(&DType::parse("<f4").unwrap(), &[3, 4]), expected);
    }

    #[test]
    fn every_header_reads_back() {
        let aligned = "{'names': ['a', 'b'], 'formats': ['i1', '<f8'], 'offsets': [0, 8], \
                       'itemsize': 24}";
        let long = format!("[('{}', '<i4')]", "a".repeat(60_000));
        for dtype in ["|b1", ">c16", "<M8[25us]", "[('α', '<i4', (2, 3))]", aligned, &long] {
            for shape in [&[][..], &[7], &[0, 5], &[1 << 40, 2, 3]] {
                let dtype = DType::parse(dtype).unwrap();
                let bytes = write_header(&dtype, shape);
                let header = read_header(&bytes).unwrap();
                assert_eq!(header.dtype.to_string(), dtype.to_string());
                assert_eq!(header.shape, shape);
                assert_eq!(header.data_offset % 64, 0);
                assert_eq!(header.data_offset, bytes.len());
                assert!(!header.fortran_order);
                for end in 0..bytes.len() {
                    let kind = read_header(&bytes[..end]).unwrap_err().kind();
                    assert_eq!(kind, ErrorKind::Truncated);
                    if end > 200 {
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn other_versions_orders_and_shapes_are_read() {
        let text = b"{'shape': (5,), 'fortran_order': True, 'descr': [('a', '<i2'), ('', '|V2')]}";
        let mut bytes = b"\x93NUMPY\x02\0".to_vec();
        bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend(text);
        let header = read_header(&bytes).unwrap();
        assert_eq!((header.shape.as_slice(), header.fortran_order), (&[5][..], true));
        assert_eq!(header.dtype.item_size(), 4);
        assert_eq!(header.data_len().unwrap(), 20);
        bytes[6] = 4;
        assert_eq!(read_header(&bytes).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn a_damaged_header_names_its_field() {
        let with = |text: &str| {
            let mut bytes = b"\x93NUMPY\x01\0".to_vec();
            bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
            bytes.extend(text.as_bytes());
            read_header(&bytes).unwrap_err().place().unwrap().field
        };
        assert_eq!(with("{'fortran_order': False, 'shape': ()}"), "descr");
        assert_eq!(with("{'descr': '<i4', 'fortran_order': 0, 'shape': ()}"), "fortran_order");
        assert_eq!(with("{'descr': '<i4', 'fortran_order': False, 'shape': 5}"), "shape");
    }
}
