//! The journal of a commit: everything that a commit changes, written down before it is done.
//!
//! ```text
//! meta/.b2journal
//!   0   8 bytes   "b2jrnl\0\1": the last byte is the version
//!   8   u64       XXH3-64 of all that follows, little endian
//!  16   msgpack   a list of changes:
//!                   ["patch", column, file, position, bytes]     bytes of a file are replaced
//!                   ["replace", column, file]                    the finished copy takes its place
//!                   ["meta", name, text]                         `storage`, `attributes` or `nrows` is replaced
//!                   ["remove", column, file]                     a file goes
//! ```
//!
//! The journal gets its name when it is complete: from then on the commit has happened. Each change can
//! be done again without harm, so whoever finds a journal does them all, and removes it.

use twox_hash::XxHash3_64;

use super::storage::check_column_name;
use crate::error::{Error, ErrorKind, MustGet, Result};
use crate::limits::Limits;
use crate::store::{Dir, ReadAt};
use crate::wire::Reader;
use crate::wire::msgpack::Value;

/// The name of the journal in `meta`.
pub(crate) const JOURNAL: &str = ".b2journal";
const MAGIC: &[u8; 8] = b"b2jrnl\0\x01";
const FORMAT: &str = "blsk journal";

/// A file of chunks: its column, and its number from 0 on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileId {
    /// The folders below `data`, joined by `/`.
    pub(crate) column: String,
    pub(crate) number: u64,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// These bytes go to this position.
    Patch { file: FileId, position: u64, bytes: Vec<u8> },
    /// The finished copy takes the place of the file.
    Replace(FileId),
    /// A file of `meta` gets this content.
    Meta { name: &'static str, text: String },
    /// The file is no longer needed.
    Remove(FileId),
}

/// The files of `meta` that a commit may change.
const META: [&str; 3] = ["storage", "attributes", "nrows"];

/// Reads the journal of a folder `meta`, if there is one.
pub(crate) fn read(meta: &dyn Dir, limits: &Limits) -> Result<Option<Vec<Action>>> {
    let store = match meta.open(JOURNAL) {
        Ok(store) => store,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let len = store.len()?;
    limits.check_metadata("journal", len)?;
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    store.read_exact_at(0, &mut bytes)?;
    parse(&bytes).map(Some)
}

/// The bytes of a journal.
pub(crate) fn write(actions: &[Action]) -> Result<Vec<u8>> {
    let body = Value::Array(actions.iter().map(Action::to_value).collect()).encode()?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&XxHash3_64::oneshot(&body).to_le_bytes());
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> Result<Vec<Action>> {
    let mut reader = Reader::new(FORMAT, bytes);
    if reader.array::<8>("magic")? != *MAGIC {
        return Err(
            Error::unsupported("a journal of another kind or version").at(FORMAT, "magic", 0)
        );
    }
    let stated = u64::from_le_bytes(reader.array("checksum")?);
    let body = bytes.must_get(reader.position()..)?;
    if XxHash3_64::oneshot(body) != stated {
        return Err(Error::corrupt("the journal has another checksum than it says")
            .at(FORMAT, "checksum", 8));
    }
    let Value::Array(actions) = Value::decode(body)? else { return Err(malformed()) };
    actions.iter().map(Action::from_value).collect()
}

impl FileId {
    fn from_values(column: &Value, number: &Value) -> Result<Self> {
        let column = column.as_str().ok_or_else(malformed)?;
        // A journal from elsewhere must not lead out of the tree.
        if !column.is_empty() {
            column.split('/').try_for_each(check_column_name).map_err(|_| malformed())?;
        }
        let number = number.as_u64().filter(|number| *number < u64::MAX).ok_or_else(malformed)?;
        Ok(Self { column: column.to_owned(), number })
    }
}

impl Action {
    fn to_value(&self) -> Value {
        Value::Array(match self {
            Self::Patch { file, position, bytes } => vec![
                "patch".into(),
                file.column.as_str().into(),
                file.number.into(),
                (*position).into(),
                Value::Bin(bytes.clone()),
            ],
            Self::Replace(file) => {
                vec!["replace".into(), file.column.as_str().into(), file.number.into()]
            }
            Self::Meta { name, text } => vec!["meta".into(), (*name).into(), text.as_str().into()],
            Self::Remove(file) => {
                vec!["remove".into(), file.column.as_str().into(), file.number.into()]
            }
        })
    }

    fn from_value(value: &Value) -> Result<Self> {
        let parts = value.as_slice().ok_or_else(malformed)?;
        let (kind, rest) = parts.split_first().ok_or_else(malformed)?;
        Ok(match (kind.as_str().unwrap_or_default(), rest) {
            ("patch", [column, number, position, bytes]) => Self::Patch {
                file: FileId::from_values(column, number)?,
                position: position.as_u64().ok_or_else(malformed)?,
                bytes: bytes.as_bytes().ok_or_else(malformed)?.to_vec(),
            },
            ("replace", [column, number]) => Self::Replace(FileId::from_values(column, number)?),
            ("remove", [column, number]) => Self::Remove(FileId::from_values(column, number)?),
            ("meta", [name, text]) => {
                let name = META.into_iter().find(|known| name.as_str() == Some(known));
                Self::Meta {
                    name: name.ok_or_else(malformed)?,
                    text: text.as_str().ok_or_else(malformed)?.to_owned(),
                }
            }
            _ => return Err(malformed()),
        })
    }
}

fn malformed() -> Error {
    Error::corrupt("no change has this form").at(FORMAT, "changes", 16)
}

/// A file as it is when the patches of a journal are done.
pub(crate) struct Patched<S> {
    pub(crate) inner: S,
    pub(crate) patches: Vec<(u64, Vec<u8>)>,
}

impl<S: ReadAt> ReadAt for Patched<S> {
    fn len(&self) -> Result<u64> {
        let ends = self.patches.iter().map(|(at, bytes)| at.saturating_add(bytes.len() as u64));
        Ok(ends.fold(self.inner.len()?, u64::max))
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        let left = self.len()?.saturating_sub(position);
        let wanted = usize::try_from(left).map_or(dst.len(), |left| left.min(dst.len()));
        let dst = dst.must_get_mut(..wanted)?;
        let found = self.inner.read_at(position, dst)?;
        dst.iter_mut().skip(found).for_each(|byte| *byte = 0);
        for (at, bytes) in &self.patches {
            // One of the two begins first; what they share is copied.
            let skip = usize::try_from(position.saturating_sub(*at)).unwrap_or(usize::MAX);
            let start = usize::try_from(at.saturating_sub(position)).unwrap_or(usize::MAX);
            let (to, from) = (dst.iter_mut().skip(start), bytes.iter().skip(skip));
            to.zip(from).for_each(|(to, from)| *to = *from);
        }
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Bytes;

    fn journal() -> Vec<Action> {
        let file = FileId { column: "a/b".to_owned(), number: 3 };
        vec![
            Action::Patch { file: file.clone(), position: 1 << 40, bytes: vec![1, 2, 3] },
            Action::Replace(FileId { column: String::new(), number: 0 }),
            Action::Meta { name: "nrows", text: "12\n".to_owned() },
            Action::Remove(file),
        ]
    }

    #[test]
    fn a_journal_reads_back_and_every_damage_is_seen() {
        let bytes = write(&journal()).unwrap();
        assert_eq!(parse(&bytes).unwrap(), journal());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(parse(&damaged).is_err(), "byte {at}");
            assert!(parse(&bytes[..at]).is_err(), "{at} bytes");
        }
    }

    #[test]
    fn a_journal_cannot_lead_out_of_its_tree() {
        for column in ["..", "a/../b", "/", "a//b", "a\\b"] {
            let file = FileId { column: column.to_owned(), number: 0 };
            let bytes = write(&[Action::Remove(file)]).unwrap();
            assert_eq!(parse(&bytes).unwrap_err().kind(), ErrorKind::Corrupt, "{column}");
        }
        let bytes = write(&[Action::Meta { name: "../x", text: String::new() }]).unwrap();
        assert!(parse(&bytes).is_err());
    }

    #[test]
    fn patches_lie_over_the_file() {
        let patches = vec![(2, vec![7, 8]), (6, vec![9; 4])];
        let store = Patched { inner: Bytes::new(vec![0, 1, 2, 3, 4]), patches };
        let expected = [0, 1, 7, 8, 4, 0, 9, 9, 9, 9];
        assert_eq!(store.len().unwrap(), 10);
        for start in 0..=10usize {
            for len in 0..12 {
                let mut dst = vec![0xee; len];
                let found = store.read_at(start as u64, &mut dst).unwrap();
                assert_eq!(found, len.min(10 - start));
                assert_eq!(dst[..found], expected[start..start + found]);
            }
        }
    }
}
