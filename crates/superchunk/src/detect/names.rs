//! The names of formats, which are those of the program where it has one.

use std::fmt;
use std::str::FromStr;

use super::Format;
use crate::error::{Error, Result};
use crate::text::named;

impl Format {
    /// All formats that this version knows.
    pub const ALL: [Self; 13] = [
        Self::Frame,
        Self::SparseFrame,
        Self::BcolzArray,
        Self::BcolzTable,
        Self::Chunk,
        Self::Bloscpack,
        Self::Npy,
        Self::Blsk,
        Self::BlskFile,
        Self::Columns,
        Self::Blosc2Folder,
        Self::Blosc2Zip,
        Self::Raw,
    ];

    /// Its name: `b2frame`, `bcolz table`, …
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frame => "b2frame",
            Self::SparseFrame => "sframe",
            Self::BcolzArray => "bcolz array",
            Self::BcolzTable => "bcolz table",
            Self::Chunk => "chunk",
            Self::Bloscpack => "blp",
            Self::Npy => "npy",
            Self::Blsk => "blsk",
            Self::BlskFile => "blsk file",
            Self::Columns => "folder of columns",
            Self::Blosc2Folder => "b2d",
            Self::Blosc2Zip => "b2z",
            Self::Raw => "raw",
        }
    }
}

/// Its [name](Format::name).
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// ```
/// use superchunk::detect::Format;
///
/// assert_eq!("b2frame".parse::<Format>()?, Format::Frame);
/// assert_eq!(Format::BcolzTable.to_string(), "bcolz table");
/// # Ok::<(), superchunk::Error>(())
/// ```
impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(text, &Self::ALL, Self::name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_reads_back() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        let error = "zip".parse::<Format>().unwrap_err().to_string();
        assert!(error.starts_with("expected one of b2frame, sframe,"), "{error}");
        assert!(error.ends_with("raw, got `zip`"), "{error}");
    }
}
