//! The section of named values that closes the header, and the one that opens the trailer.
//!
//! ```text
//! ┌────┬────┬──────────┬────┬────┬──────────────────────────────┬────┬────┬─────────────────────────┐
//! │ 93 │ cd │ map size │ de │ n  │ n × (a0+len name d2 offset)  │ dc │ n  │ n × (c6 length content) │
//! └────┴────┴──────────┴────┴────┴──────────────────────────────┴────┴────┴─────────────────────────┘
//! ```
//!
//! An offset points at the `c6`, from the start of the part the section belongs to. All integers are
//! big endian. See `docs/formats/metalayers.md`.

use super::{LAYERS, MAX_NAME};
use crate::container::Layer;
use crate::error::{Error, Result};
use crate::wire::Reader;

/// The longest list that a reader accepts; writers stop at [`LAYERS`].
const MOST_READ: usize = 8192;

/// Reads the section at `position` of `part`, which belongs to a `format`.
pub(super) fn parse(format: &'static str, part: &[u8], position: usize) -> Result<Vec<Layer>> {
    let mut reader = Reader::new(format, part).seek(position);
    reader.take("metalayers", 4)?;
    if reader.u8("metalayers")? != 0xde {
        return Err(Error::corrupt("the list of metalayers does not begin with its mark 0xde").at(
            format,
            "metalayers",
            position + 4,
        ));
    }
    let count = usize::from(reader.u16_be("metalayers")?);
    let most = if format == "frame" { LAYERS } else { MOST_READ };
    if count > most {
        return Err(Error::corrupt(format!("{count} metalayers are stated, {most} are possible"))
            .at(format, "metalayers", position + 5));
    }
    let mut layers = Vec::new();
    let mut room = part.len();
    for _ in 0..count {
        let layer = parse_layer(format, part, &mut reader)?;
        // Else a small part could claim its own bytes a thousand times.
        room = room.checked_sub(layer.content.len()).ok_or_else(|| {
            Error::corrupt("the metalayers overlap").at(format, "metalayers", position)
        })?;
        layers.push(layer);
    }
    Ok(layers)
}

fn parse_layer(format: &'static str, part: &[u8], reader: &mut Reader<'_>) -> Result<Layer> {
    let at = reader.position();
    let mark = reader.u8("metalayer name")?;
    if mark & 0xe0 != 0xa0 {
        return Err(Error::corrupt(format!("{mark:#04x} does not begin a name")).at(
            format,
            "metalayer name",
            at,
        ));
    }
    let name = reader.take("metalayer name", usize::from(mark & 0x1f))?;
    let name = String::from_utf8_lossy(name).into_owned();
    reader.u8("metalayer offset")?;
    let at = reader.position();
    let offset = reader.i32_be("metalayer offset")?;
    let begin = usize::try_from(offset).map_err(|_| {
        Error::corrupt(format!("{offset} is negative")).at(format, "metalayer offset", at)
    })?;
    let mut content = Reader::new(format, part).seek(begin);
    if content.u8("metalayer")? != 0xc6 {
        return Err(Error::corrupt(format!(
            "metalayer `{name}` does not begin with its mark 0xc6"
        ))
        .at(format, "metalayer", begin));
    }
    let len = usize::try_from(content.u32_be("metalayer length")?).unwrap_or(usize::MAX);
    let left = part.len().saturating_sub(content.position());
    if len > left {
        return Err(Error::corrupt(format!(
            "metalayer `{name}` is said to have {len} bytes, {left} are left"
        ))
        .at(format, "metalayer length", begin));
    }
    let content = content.take("metalayer", len)?.to_vec();
    Ok(Layer { name, content })
}

/// Appends the section to `part`, whose bytes so far count for the offsets. `counted_from` is the
/// byte of the section from which the stored size of the map is counted.
pub(super) fn write(layers: &[Layer], counted_from: usize, part: &mut Vec<u8>) -> Result<()> {
    let start = part.len();
    let names: usize = layers.iter().map(|layer| 6 + layer.name.len()).sum();
    let map_end = start + 7 + names;
    let count = u16::try_from(layers.len()).map_err(|_| too_large())?;
    let map_size = u16::try_from(map_end - start - counted_from).map_err(|_| too_large())?;
    part.extend([0x93, 0xcd]);
    part.extend(map_size.to_be_bytes());
    part.push(0xde);
    part.extend(count.to_be_bytes());
    let mut offset = map_end + 3;
    for layer in layers {
        let len = u8::try_from(layer.name.len()).ok().filter(|len| usize::from(*len) <= MAX_NAME);
        part.push(0xa0 | len.ok_or_else(too_large)?);
        part.extend(layer.name.as_bytes());
        part.push(0xd2);
        part.extend(i32::try_from(offset).map_err(|_| too_large())?.to_be_bytes());
        offset += 5 + layer.content.len();
    }
    part.push(0xdc);
    part.extend(count.to_be_bytes());
    for layer in layers {
        part.push(0xc6);
        part.extend(u32::try_from(layer.content.len()).map_err(|_| too_large())?.to_be_bytes());
        part.extend(&layer.content);
    }
    Ok(())
}

fn too_large() -> Error {
    Error::limit(format!(
        "the metadata do not fit: {LAYERS} names of {MAX_NAME} bytes, 2 GiB in all"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(name: &str, content: &[u8]) -> Layer {
        Layer { name: name.to_owned(), content: content.to_vec() }
    }

    #[test]
    fn what_is_written_is_read() {
        let layers = [layer("b2nd", b"abc"), layer("", b""), layer(&"x".repeat(31), &[7; 300])];
        let mut part = vec![1, 2, 3];
        write(&layers, 0, &mut part).unwrap();
        assert_eq!(parse("frame", &part, 3).unwrap(), layers);
    }

    #[test]
    fn an_empty_section_has_the_bytes_of_real_frames() {
        let mut part = Vec::new();
        write(&[], 0, &mut part).unwrap();
        assert_eq!(part, [0x93, 0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0]);
        let mut part = Vec::new();
        write(&[], 1, &mut part).unwrap();
        assert_eq!(part, [0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0]);
    }

    #[test]
    fn a_name_of_32_bytes_is_refused() {
        assert!(write(&[layer(&"x".repeat(32), b"")], 0, &mut Vec::new()).is_err());
    }
}
