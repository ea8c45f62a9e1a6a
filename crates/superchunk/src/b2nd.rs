//! The metalayer of an N-d array: its shape, how it is cut into chunks and blocks, its item type.
//!
//! ```text
//! ┌────┬─────────┬────┬──────┬────────────────┬──────┬────────────────┬──────┬────────────────┬────────┬────┬─────┬───────┐
//! │ 97 │ version │ nd │ 90+nd│ nd × (d3, i64) │ 90+nd│ nd × (d2, i32) │ 90+nd│ nd × (d2, i32) │ format │ db │ len │ dtype │
//! └────┴─────────┴────┴──────┴────────────────┴──────┴────────────────┴──────┴────────────────┴────────┴────┴─────┴───────┘
//!                              shape                   chunk shape             block shape      u8            u32
//! ```
//!
//! Integers are big endian. With 16 dimensions `90+nd` is `a0`, which msgpack reads as an empty text:
//! all writers write it so, and C-Blosc2 skips these marks. The older metalayer `caterva` begins with
//! `95` and ends behind the block shape. See `docs/formats/b2nd.md`.

use crate::error::{Error, MustGet, Result};
use crate::wire::Reader;

/// The name of the metalayer.
pub(crate) const NAME: &str = "b2nd";
/// The names of metalayers that describe an array, the newer one first.
pub(crate) const NAMES: [&str; 2] = [NAME, "caterva"];
/// The most dimensions of an array.
pub(crate) const MAX_DIMENSIONS: usize = 16;
/// The longest spelling of a type.
const MAX_DTYPE: usize = 64 * 1024;

/// What the metalayer says, field by field; how the fields fit together is not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) shape: Vec<u64>,
    pub(crate) chunks: Vec<usize>,
    pub(crate) blocks: Vec<usize>,
    /// NumPy's spelling of the item type; `caterva` has none.
    pub(crate) dtype: Option<String>,
}

impl Meta {
    /// Reads the metalayer called `name`.
    pub(crate) fn parse(name: &str, content: &[u8]) -> Result<Self> {
        let mut reader = Reader::new("b2nd", content);
        // Readers agree on the name; the number of entries only says which writer it was.
        reader.u8("entries")?;
        let version = reader.u8("version")?;
        if version != 0 {
            return Err(Error::unsupported(format!("version {version} of the metalayer"))
                .at("b2nd", "version", 1));
        }
        let dimensions = usize::from(reader.u8("ndim")?);
        if dimensions > MAX_DIMENSIONS {
            return Err(Error::corrupt(format!(
                "{dimensions} dimensions, an array has at most {MAX_DIMENSIONS}"
            ))
            .at("b2nd", "ndim", 2));
        }
        let shape = lengths(&mut reader, "shape", dimensions, Reader::i64_be)?;
        let chunks = lengths(&mut reader, "chunkshape", dimensions, Reader::i32_be)?;
        let blocks = lengths(&mut reader, "blockshape", dimensions, Reader::i32_be)?;
        let dtype = if name == NAME { Some(dtype(&mut reader)?) } else { None };
        Ok(Self { shape, chunks, blocks, dtype })
    }

    /// The bytes of a metalayer that was read, with another shape of as many dimensions; all else,
    /// and the length, stays.
    pub(crate) fn reshaped(content: &[u8], shape: &[u64]) -> Result<Vec<u8>> {
        let mut content = content.to_vec();
        let lengths = content.must_get_mut(4..)?.chunks_exact_mut(9);
        for (place, side) in lengths.zip(shape) {
            let side = i64::try_from(*side).map_err(|_| Error::limit("an axis is too long"))?;
            if let Some((_, number)) = place.split_first_mut() {
                number.copy_from_slice(&side.to_be_bytes());
            }
        }
        Ok(content)
    }

    /// The bytes of the metalayer `b2nd`.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let dimensions = u8::try_from(self.shape.len()).unwrap_or(u8::MAX);
        let too_large = |_| Error::limit("a length does not fit the metalayer");
        let mut out = vec![0x97, 0, dimensions];
        out.push(0x90 + dimensions);
        for side in &self.shape {
            out.push(0xd3);
            out.extend(i64::try_from(*side).map_err(too_large)?.to_be_bytes());
        }
        for sides in [&self.chunks, &self.blocks] {
            out.push(0x90 + dimensions);
            for side in sides {
                out.push(0xd2);
                out.extend(i32::try_from(*side).map_err(too_large)?.to_be_bytes());
            }
        }
        let dtype = self.dtype.as_deref().unwrap_or_default();
        out.extend([0, 0xdb]);
        out.extend(u32::try_from(dtype.len()).map_err(too_large)?.to_be_bytes());
        out.extend(dtype.as_bytes());
        Ok(out)
    }
}

/// Reads a mark and as many lengths as there are dimensions, each with a mark of its own.
fn lengths<'r, I, L>(
    reader: &mut Reader<'r>,
    field: &'static str,
    dimensions: usize,
    integer: impl Fn(&mut Reader<'r>, &'static str) -> Result<I>,
) -> Result<Vec<L>>
where
    I: Copy + std::fmt::Display,
    L: TryFrom<I>,
{
    let mark = reader.u8(field)?;
    if usize::from(mark) != 0x90 + dimensions {
        return Err(Error::corrupt(format!(
            "the mark {mark:#04x} is not that of {dimensions} lengths"
        ))
        .at("b2nd", field, reader.position() - 1));
    }
    let one = |_| {
        reader.u8(field)?;
        let position = reader.position();
        let length = integer(reader, field)?;
        L::try_from(length).map_err(|_| {
            Error::corrupt(format!("a length of {length}")).at("b2nd", field, position)
        })
    };
    (0..dimensions).map(one).collect()
}

fn dtype(reader: &mut Reader<'_>) -> Result<String> {
    let format = reader.u8("dtype_format")?;
    if format != 0 {
        return Err(Error::unsupported(format!(
            "types in format {format}, only 0 (NumPy) is known"
        ))
        .at("b2nd", "dtype_format", reader.position() - 1));
    }
    let position = reader.position();
    let mark = reader.u8("dtype")?;
    if mark != 0xdb {
        return Err(Error::corrupt(format!("a text begins with 0xdb, not {mark:#04x}"))
            .at("b2nd", "dtype", position));
    }
    let len = reader.u32_be("dtype_len")?;
    let len = usize::try_from(len).ok().filter(|len| *len <= MAX_DTYPE).ok_or_else(|| {
        Error::corrupt(format!("a spelling of {len} bytes, the longest is {MAX_DTYPE}")).at(
            "b2nd",
            "dtype_len",
            position + 1,
        )
    })?;
    let text = reader.take("dtype", len)?;
    let text = String::from_utf8(text.to_vec());
    text.map_err(|_| Error::corrupt("the spelling is no UTF-8").at("b2nd", "dtype", position + 5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn example() -> Meta {
        Meta {
            shape: vec![3, 4],
            chunks: vec![2, 3],
            blocks: vec![2, 2],
            dtype: Some("<i4".into()),
        }
    }

    #[test]
    fn the_examples_of_the_format() {
        let scalar =
            Meta { shape: vec![], chunks: vec![], blocks: vec![], dtype: Some("<i8".into()) };
        assert_eq!(scalar.to_bytes().unwrap(), b"\x97\0\0\x90\x90\x90\0\xdb\0\0\0\x03<i8");
        let bytes = example().to_bytes().unwrap();
        assert_eq!(bytes.len(), 53);
        assert_eq!(Meta::parse("b2nd", &bytes).unwrap(), example());
        let old = Meta::parse("caterva", &bytes[..44]).unwrap();
        assert_eq!(old, Meta { dtype: None, ..example() });
    }

    #[test]
    fn sixteen_dimensions_have_the_mark_of_an_empty_text() {
        let meta =
            Meta { shape: vec![2; 16], chunks: vec![2; 16], blocks: vec![1; 16], dtype: None };
        let bytes = meta.to_bytes().unwrap();
        assert_eq!(bytes[3], 0xa0);
        assert_eq!(Meta::parse("b2nd", &bytes).unwrap().blocks, vec![1; 16]);
    }

    #[test]
    fn every_missing_byte_is_noticed_and_every_field_is_named() {
        let bytes = example().to_bytes().unwrap();
        for end in 0..bytes.len() {
            assert_eq!(
                Meta::parse("b2nd", &bytes[..end]).unwrap_err().kind(),
                ErrorKind::Truncated
            );
        }
        for (at, byte, field) in [
            (1, 1, "version"),
            (2, 17, "ndim"),
            (3, 0x91, "shape"),
            (5, 0x80, "shape"),
            (24, 0x80, "chunkshape"),
            (35, 0x80, "blockshape"),
            (44, 1, "dtype_format"),
            (45, 0xd9, "dtype"),
            (46, 0xff, "dtype_len"),
            (50, 0xff, "dtype"),
        ] {
            let mut bad = bytes.clone();
            bad[at] = byte;
            let error = Meta::parse("b2nd", &bad).unwrap_err();
            assert_eq!(error.place().unwrap().field, field, "byte {at}: {error}");
        }
    }
}
