//! The trailer: values of any length, and the fingerprint that closes the frame.
//!
//! ```text
//! ┌────┬────┬──────────────────────────┬────┬─────────────┬────┬──────┬─────────────┐
//! │ 94 │ 01 │ named chunks (`layers`)  │ ce │ trailer_len │ d8 │ type │ fingerprint │
//! └────┴────┴──────────────────────────┴────┴─────────────┴────┴──────┴─────────────┘
//!             or c6, length, one chunk        4 bytes              1      16 bytes
//! ```

use super::dialect::Dialect;
use super::fingerprint::Fingerprint;
use super::layers;
use crate::container::Layer;
use crate::error::{Error, Result};
use crate::wire::Reader;

/// What follows the values: mark, length, mark, type, fingerprint.
const END: usize = 23;
/// The name that the one chunk of the old trailer gets.
const USERMETA: &str = "usermeta";

/// A checked trailer.
#[derive(Clone, Debug, Default)]
pub(super) struct Trailer {
    pub(super) layers: Vec<Layer>,
    pub(super) fingerprint: Option<Fingerprint>,
}

impl Trailer {
    /// Where the trailer begins in `bytes`, which end where the frame ends.
    pub(super) fn find(bytes: &[u8]) -> Result<usize> {
        let end = bytes.len();
        let at = end.checked_sub(END).ok_or_else(|| {
            Error::truncated(format!("{end} bytes do not hold a trailer")).at("frame", "trailer", 0)
        })?;
        let mut reader = Reader::new("frame", bytes).seek(at);
        if reader.u8("trailer_len")? != 0xce {
            return Err(Error::corrupt(
                "the frame does not end with a trailer; it was cut, or a writer was interrupted",
            )
            .at("frame", "trailer_len", at));
        }
        let len = usize::try_from(reader.u32_be("trailer_len")?).unwrap_or(usize::MAX);
        end.checked_sub(len).filter(|_| len >= END + 2).ok_or_else(|| {
            Error::corrupt(format!("a trailer of {len} bytes does not fit behind the index")).at(
                "frame",
                "trailer_len",
                at + 1,
            )
        })
    }

    /// Reads a trailer, which `bytes` hold and nothing else.
    pub(super) fn parse(bytes: &[u8], dialect: Dialect) -> Result<Self> {
        // Trees of 2021 had 13 elements and named values for three months.
        let layers = if dialect.has_usermeta() && bytes.get(2) == Some(&0xc6) {
            usermeta(bytes)?
        } else {
            layers::parse("trailer", bytes, 2)?
        };
        let end = bytes.len().saturating_sub(END);
        let mut reader = Reader::new("trailer", bytes).seek(end + 6);
        let kind = reader.u8("fingerprint")?;
        let fingerprint = Fingerprint::parse(kind, reader.array("fingerprint")?);
        Ok(Self { layers, fingerprint })
    }

    /// The bytes of the trailer, with room for a fingerprint.
    pub(super) fn to_bytes(&self, dialect: Dialect) -> Result<Vec<u8>> {
        let mut out = vec![0x94, 1];
        if dialect.has_usermeta() {
            let content: &[u8] = match self.layers.as_slice() {
                [] => &[],
                [layer] if layer.name == USERMETA => &layer.content,
                _ => {
                    return Err(Error::unsupported(format!(
                        "this dialect has one value behind the chunks, called `{USERMETA}`"
                    )));
                }
            };
            out.push(0xc6);
            out.extend(u32::try_from(content.len()).map_err(|_| too_long())?.to_be_bytes());
            out.extend(content);
        } else {
            layers::write(&self.layers, 1, &mut out)?;
        }
        let len = u32::try_from(out.len() + END).map_err(|_| too_long())?;
        out.push(0xce);
        out.extend(len.to_be_bytes());
        out.push(0xd8);
        out.extend(Fingerprint::stored(self.fingerprint));
        Ok(out)
    }
}

fn usermeta(bytes: &[u8]) -> Result<Vec<Layer>> {
    let mut reader = Reader::new("trailer", bytes).seek(3);
    let len = usize::try_from(reader.u32_be("usermeta_len")?).unwrap_or(usize::MAX);
    let content = reader.take("usermeta", len)?.to_vec();
    let layer = Layer { name: USERMETA.to_owned(), content };
    Ok(if len == 0 { Vec::new() } else { vec![layer] })
}

fn too_long() -> Error {
    Error::limit("the values behind the chunks take more than 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_trailer_has_the_bytes_of_real_frames() {
        let bytes = Trailer::default().to_bytes(Dialect::Modern).unwrap();
        let mut expected = vec![0x94, 1, 0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0];
        expected.extend([0xce, 0, 0, 0, 35, 0xd8, 0]);
        expected.extend([0; 16]);
        assert_eq!(bytes, expected);
        assert_eq!(Trailer::find(&bytes).unwrap(), 0);
    }
}
