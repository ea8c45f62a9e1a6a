//! What a damaged `meta/storage` still says: each key for itself, whatever is wrong with the others.

use super::{
    Compression, ItemOrder, Leaf, Reserve, Storage, read_chunkshape, read_columns, read_endianness,
    read_order, read_reserve, read_superchunksize, sides,
};
use crate::dtype::ByteOrder;
use crate::error::{Error, Result};
use crate::superfile::yaml::Yaml;

/// What can be read of the file; `None` where a key is missing or makes no sense.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partial {
    pub(crate) columns: Option<Vec<Leaf>>,
    pub(crate) shape: Option<Vec<u64>>,
    pub(crate) chunkshape: Option<Vec<usize>>,
    pub(crate) superchunksize: Option<usize>,
    pub(crate) endianness: Option<ByteOrder>,
    pub(crate) order: Option<ItemOrder>,
    pub(crate) compression: Option<Compression>,
    pub(crate) reserve: Option<Reserve>,
    /// Keys that are not known here, of a file that makes sense as a whole.
    pub(crate) other: Vec<(String, Yaml)>,
}

impl Partial {
    /// Reads the file key by key; an error tells why it is not read as a whole.
    pub(crate) fn parse(bytes: &[u8]) -> (Self, Result<()>) {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Error::corrupt("not UTF-8").at("blsk", "meta", error.valid_up_to()));
        match text.and_then(|text| Ok((Storage::parse(text)?, Yaml::parse(text)?))) {
            Ok((whole, yaml)) => (Self::of(whole, &yaml), Ok(())),
            Err(error) => (Self::pieces(&String::from_utf8_lossy(bytes)), Err(error)),
        }
    }

    fn of(whole: Storage, yaml: &Yaml) -> Self {
        Self {
            columns: Some(whole.columns),
            shape: Some(whole.shape),
            chunkshape: Some(whole.chunkshape),
            superchunksize: Some(whole.superchunksize),
            endianness: Some(whole.endianness),
            // A file that was cut may only look whole.
            order: Some(whole.order).filter(|_| yaml.get("order").is_some()),
            compression: Some(whole.compression),
            reserve: Some(whole.reserve),
            other: whole.other,
        }
    }

    fn pieces(text: &str) -> Self {
        let yaml = Yaml::Map(entries(text));
        let has = |key: &str| yaml.get(key).is_some();
        Self {
            columns: read_columns(&yaml).ok().filter(|columns| !columns.is_empty()),
            shape: sides(&yaml, "shape").ok(),
            chunkshape: read_chunkshape(&yaml).ok(),
            superchunksize: read_superchunksize(&yaml).ok(),
            endianness: read_endianness(&yaml).ok(),
            order: read_order(&yaml).ok().filter(|_| has("order")),
            compression: Compression::parse(yaml.get("compression")).ok(),
            reserve: read_reserve(&yaml).ok().filter(|_| has("reserve")),
            other: Vec::new(),
        }
    }
}

/// The entries of a mapping that can be read: a line that is not indented begins one.
fn entries(text: &str) -> Vec<(String, Yaml)> {
    let mut parts: Vec<String> = Vec::new();
    for line in text.lines() {
        match parts.last_mut().filter(|_| line.starts_with([' ', '#']) || line.is_empty()) {
            Some(part) => part.extend(["\n", line]),
            None => parts.push(line.to_owned()),
        }
    }
    let mut entries: Vec<(String, Yaml)> = Vec::new();
    for part in parts {
        let Ok(Yaml::Map(found)) = Yaml::parse(&part) else { continue };
        let new = |(key, _): &(String, Yaml)| !entries.iter().any(|(known, _)| known == key);
        let found: Vec<_> = found.into_iter().filter(new).collect();
        entries.extend(found);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "dtype:\n  a: int32\n  b: float64\nshape: (12,)\nchunkshape: (5,)\n\
        superchunksize: 2\norder: C\nreserve: 8\nunit: m\n";

    #[test]
    fn one_damaged_key_leaves_the_others() {
        let (whole, verdict) = Partial::parse(TEXT.as_bytes());
        assert!(verdict.is_ok() && whole.other.len() == 1);
        let (partial, verdict) = Partial::parse(TEXT.replace("(12,)", "(1x,)").as_bytes());
        assert!(verdict.is_err() && partial.shape.is_none());
        assert_eq!(partial.columns, whole.columns);
        assert_eq!((partial.chunkshape, partial.superchunksize), (Some(vec![5]), Some(2)));
        let (partial, _) = Partial::parse(TEXT.replace("float64", "flo\t64").as_bytes());
        assert!(partial.columns.is_none());
        assert_eq!((partial.shape, partial.reserve), (Some(vec![12]), Some(Reserve::Part(8))));
    }

    #[test]
    fn noise_and_cuts_leave_what_comes_before() {
        for end in 0..TEXT.len() {
            let mut bytes = TEXT.as_bytes()[..end].to_vec();
            bytes.extend([0xff, 0, 0x80]);
            let (partial, verdict) = Partial::parse(&bytes);
            assert!(verdict.is_err());
            let behind = |key: &str| TEXT[..end].contains(key);
            assert!(partial.shape.is_some() || !behind("chunkshape"), "{end}");
        }
        assert!(Partial::parse(b"").0.columns.is_none());
    }
}
