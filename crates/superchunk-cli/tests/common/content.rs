//! The content of a container as a list of named parts, read by the library in this process.
//!
//! Two contents are equal when chunks, metadata, types and lengths are equal. Dead space and file
//! names do not count.

use std::fs;
use std::path::Path;

use superchunk::bloscpack::Pack;
use superchunk::detect::{self, Format};
use superchunk::{ErrorKind, Result, SuperChunk, bcolz, blsk};

/// The named parts of a container.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Content(Vec<(String, Vec<u8>)>);

impl Content {
    /// Reads all of a file or folder.
    ///
    /// # Errors
    ///
    /// When it is missing, incomplete or damaged.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let mut content = Self(Vec::new());
        let format = match detect::path(path) {
            // A folder of no known format, such as one with a NumPy file for each column.
            Err(error) if error.kind() == ErrorKind::Unsupported && path.is_dir() => {
                content.add_folder(path)?;
                return Ok(content);
            }
            detected => detected?.format,
        };
        content.add("format", format!("{format:?}"));
        match format {
            Format::Frame | Format::SparseFrame => content.add_chunks(&SuperChunk::open(path)?)?,
            Format::Bloscpack => content.add_pack(&Pack::open(path)?)?,
            Format::BcolzTable => content.add_bcolz_table(&bcolz::Table::open(path)?)?,
            Format::BcolzArray => content.add_bcolz_array("", &bcolz::Array::open(path)?)?,
            Format::Blsk => content.add_blsk(path)?,
            Format::Columns => content.add_folder(path)?,
            _ => content.add("bytes", read(path)?),
        }
        Ok(content)
    }

    /// Names the first part in which another content differs.
    pub(crate) fn difference(&self, other: &Self) -> String {
        let parts = self.0.iter().zip(&other.0);
        let differing = parts.into_iter().find(|(ours, theirs)| ours != theirs);
        match differing {
            Some(((name, ours), (other_name, theirs))) => {
                let (ours, theirs) = (shown(ours), shown(theirs));
                format!("`{name}` is {ours}, expected `{other_name}` as {theirs}")
            }
            None => format!("{} parts, expected {}", self.0.len(), other.0.len()),
        }
    }

    fn add(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.push((name.into(), bytes.into()));
    }

    /// Adds the compressed chunks, which also record codec and filters, and all metadata.
    fn add_chunks(&mut self, frame: &SuperChunk) -> Result<()> {
        self.add("length", format!("{} of {} bytes", frame.byte_len(), frame.item_size()));
        self.add("codec", format!("{:?}", frame.options().codec));
        self.add("integrity", format!("{:?}", frame.integrity()));
        for number in 0..frame.chunk_count() {
            self.add(format!("chunk {number}"), frame.compressed_chunk(number)?);
        }
        for name in frame.metalayer_names() {
            self.add(format!("metalayer {name}"), frame.metalayer(name).unwrap_or_default());
        }
        for name in frame.attribute_names() {
            self.add(format!("attribute {name}"), frame.attribute_bytes(name)?);
        }
        Ok(())
    }

    fn add_pack(&mut self, pack: &Pack) -> Result<()> {
        self.add("metadata", format!("{:?}", pack.metadata()));
        self.add_chunks(pack.superchunk()?)
    }

    fn add_bcolz_table(&mut self, table: &bcolz::Table) -> Result<()> {
        self.add("attributes", format!("{:?}", table.attributes()));
        for (name, array) in table.arrays() {
            self.add_bcolz_array(&name, array)?;
        }
        Ok(())
    }

    fn add_bcolz_array(&mut self, name: &str, array: &bcolz::Array) -> Result<()> {
        self.add(format!("type of {name}"), format!("{} {:?}", array.dtype(), array.shape()));
        self.add(format!("attributes of {name}"), format!("{:?}", array.attributes()));
        self.add(format!("codec of {name}"), format!("{:?}", array.options().compress.codec));
        self.add(format!("rows of {name}"), array.to_vec()?);
        Ok(())
    }

    fn add_blsk(&mut self, path: &Path) -> Result<()> {
        match blsk::Table::open(path) {
            Ok(table) => {
                let attributes: Vec<_> = table.attributes().collect();
                self.add("attributes", format!("{attributes:?}"));
                self.add("codec", format!("{:?}", table.options()?.compress.codec));
                for name in table.names() {
                    let (dtype, shape) = (table.dtype(name)?, table.shape());
                    self.add(format!("type of {name}"), format!("{dtype} {shape:?}"));
                    let mut rows = buffer(table.row_count(), table.row_size(name)?);
                    table.read_rows(name, 0..table.row_count(), &mut rows)?;
                    self.add(format!("rows of {name}"), rows);
                }
            }
            // The one column of an array has no name.
            Err(error) if error.kind() == ErrorKind::InvalidArgument => {
                let array = blsk::Array::open(path)?;
                let attributes: Vec<_> = array.attributes().collect();
                self.add("attributes", format!("{attributes:?}"));
                self.add("codec", format!("{:?}", array.options()?.compress.codec));
                self.add("type", format!("{} {:?}", array.dtype(), array.shape()));
                let mut rows = buffer(array.row_count(), array.row_size());
                array.read_rows(0..array.row_count(), &mut rows)?;
                self.add("rows", rows);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Adds the content of everything in a folder, in the order of the names. What a killed command
    /// left is none of it.
    fn add_folder(&mut self, path: &Path) -> Result<()> {
        let entries = fs::read_dir(path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        let mut entries =
            entries.map_err(|error| superchunk::Error::io("list the folder", error))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            for (part, bytes) in Self::of(&entry.path())?.0 {
                self.add(format!("{name}: {part}"), bytes);
            }
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| superchunk::Error::io("read the file", error))
}

fn buffer(rows: u64, row_size: usize) -> Vec<u8> {
    vec![0; usize::try_from(rows).unwrap_or(usize::MAX) * row_size]
}

/// Shows a short part as text, a long one by its length and its first bytes.
fn shown(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= 80 => format!("`{text}`"),
        _ => format!("{} bytes from {:02x?}", bytes.len(), bytes.get(..24).unwrap_or(bytes)),
    }
}
