//! The digests that follow chunks and metadata: of the compressed bytes, nothing around them.
//!
//! ```text
//! id  0     1        2      3    4     5       6       7       8
//!     none  adler32  crc32  md5  sha1  sha224  sha256  sha384  sha512
//!     0     4 LE     4 LE   16   20    28      32      48      64      bytes
//! ```

use std::fmt;
use std::str::FromStr;

use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use superchunk_kernels::adler32;

use crate::error::{Error, Result};
use crate::text::named;

/// Which digest follows every chunk of a Bloscpack file.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// None at all.
    None,
    /// Adler-32, the default: four bytes, the fastest.
    #[default]
    Adler32,
    /// The CRC of zlib: four bytes.
    Crc32,
    /// MD5: 16 bytes.
    Md5,
    /// SHA-1: 20 bytes.
    Sha1,
    /// SHA-224: 28 bytes.
    Sha224,
    /// SHA-256: 32 bytes.
    Sha256,
    /// SHA-384: 48 bytes.
    Sha384,
    /// SHA-512: 64 bytes.
    Sha512,
}

impl Checksum {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Adler32,
        Self::Crc32,
        Self::Md5,
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
    ];

    /// The name that bloscpack calls it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Adler32 => "adler32",
            Self::Crc32 => "crc32",
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha224 => "sha224",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// The bytes of a digest.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "the length of a digest, not of a collection")]
    pub fn len(self) -> usize {
        match self {
            Self::None => 0,
            Self::Adler32 | Self::Crc32 => 4,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// The number that a header states.
    pub(crate) fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Adler32 => 1,
            Self::Crc32 => 2,
            Self::Md5 => 3,
            Self::Sha1 => 4,
            Self::Sha224 => 5,
            Self::Sha256 => 6,
            Self::Sha384 => 7,
            Self::Sha512 => 8,
        }
    }

    /// The one of this number.
    pub(crate) fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|checksum| checksum.id() == id)
    }

    /// Appends the digest of `bytes` to `out`.
    pub(crate) fn append(self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::Adler32 => out.extend(adler32(1, bytes).to_le_bytes()),
            Self::Crc32 => out.extend(crc32fast::hash(bytes).to_le_bytes()),
            Self::Md5 => out.extend(Md5::digest(bytes)),
            Self::Sha1 => out.extend(Sha1::digest(bytes)),
            Self::Sha224 => out.extend(Sha224::digest(bytes)),
            Self::Sha256 => out.extend(Sha256::digest(bytes)),
            Self::Sha384 => out.extend(Sha384::digest(bytes)),
            Self::Sha512 => out.extend(Sha512::digest(bytes)),
        }
    }

    /// Compares the digest of `bytes` with the one that `behind` begins with.
    pub(crate) fn compare(self, bytes: &[u8], behind: &[u8]) -> Result<()> {
        let Some(stated) = behind.get(..self.len()) else {
            return Err(Error::truncated(format!(
                "the {} has {} bytes, {} are here",
                self.name(),
                self.len(),
                behind.len()
            ))
            .at("bloscpack", "digest", bytes.len()));
        };
        let mut found = Vec::with_capacity(self.len());
        self.append(bytes, &mut found);
        if found == stated {
            return Ok(());
        }
        Err(Error::corrupt(format!(
            "the {} is {}, the file says {}: the bytes are not those that were written",
            self.name(),
            hex(&found),
            hex(stated)
        ))
        .at("bloscpack", "digest", bytes.len()))
    }
}

/// The name that bloscpack calls it by.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reads the name that bloscpack calls it by, and `none`.
///
/// ```
/// use superchunk::bloscpack::Checksum;
///
/// assert_eq!("sha256".parse::<Checksum>()?, Checksum::Sha256);
/// assert!("xxh3".parse::<Checksum>().is_err());
/// # Ok::<(), superchunk::Error>(())
/// ```
impl FromStr for Checksum {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "none" {
            return Ok(Self::None);
        }
        named(text, &Self::ALL, Self::name)
    }
}

/// The first bytes, which are enough to tell digests apart.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn numbers_names_and_lengths_belong_together() {
        for (id, checksum) in (0u8..).zip(Checksum::ALL) {
            assert_eq!(checksum.id(), id);
            assert_eq!(Checksum::from_id(id), Some(checksum));
            assert_eq!(checksum.to_string().parse::<Checksum>().unwrap(), checksum);
            let mut digest = Vec::new();
            checksum.append(b"abc", &mut digest);
            assert_eq!(digest.len(), checksum.len());
            checksum.compare(b"abc", &digest).unwrap();
            if checksum != Checksum::None {
                let cut = &digest[..digest.len() - 1];
                assert_eq!(checksum.compare(b"abc", cut).unwrap_err().kind(), ErrorKind::Truncated);
                let error = checksum.compare(b"abd", &digest).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corrupt);
            }
        }
        assert_eq!(Checksum::from_id(9), None);
        assert_eq!("none".parse::<Checksum>().unwrap(), Checksum::None);
        let error = "xxh3".parse::<Checksum>().unwrap_err().to_string();
        assert_eq!(
            error,
            "expected one of None, adler32, crc32, md5, sha1, sha224, sha256, sha384, sha512, got `xxh3`"
        );
    }

    /// The published digests of `abc`.
    #[test]
    fn the_digests_are_those_of_their_standards() {
        let start = |checksum: Checksum| {
            let mut digest = Vec::new();
            checksum.append(b"abc", &mut digest);
            hex(&digest)
        };
        assert_eq!(start(Checksum::Adler32), "27014d02");
        assert_eq!(start(Checksum::Crc32), "c2412435");
        assert_eq!(start(Checksum::Md5), "900150983cd24fb0");
        assert_eq!(start(Checksum::Sha1), "a9993e364706816a");
        assert_eq!(start(Checksum::Sha224), "23097d223405d822");
        assert_eq!(start(Checksum::Sha256), "ba7816bf8f01cfea");
        assert_eq!(start(Checksum::Sha384), "cb00753f45a35e8b");
        assert_eq!(start(Checksum::Sha512), "ddaf35a193617aba");
    }
}
