//! The mapping `compression` of `meta/storage`: codec, level and filters of new chunks.
//!
//! Chunks of Blosc1 state a shuffle only. `truncate` is no filter of theirs: it clears low bits of
//! mantissas before the items become a chunk, and a reader has nothing to undo.

use super::{whole, word, wrong};
use crate::dtype::{ByteOrder, DKind, DType};
use crate::error::{Error, Result};
use crate::options::{ChunkFormat, Codec, CompressOptions, Filter};
use crate::superfile::yaml::Yaml;

const TRUNCATE: &str = "truncate";
/// The most bits of a mantissa that can be kept: all of a `float64`.
const MAX_KEPT_BITS: u8 = 52;

/// How new chunks are compressed, in the words of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compression {
    pub(crate) library: String,
    pub(crate) level: u8,
    pub(crate) filters: Vec<String>,
    /// The bits of a mantissa that the filter `truncate` keeps, a key of superchunk.
    pub(crate) kept_bits: Option<u8>,
}

impl Compression {
    /// Reads the mapping.
    pub(crate) fn parse(yaml: Option<&Yaml>) -> Result<Self> {
        let none = Yaml::Map(Vec::new());
        let yaml = yaml.filter(|yaml| **yaml != Yaml::Null).unwrap_or(&none);
        if !matches!(yaml, Yaml::Map(_)) {
            return Err(wrong("compression", "is no mapping"));
        }
        let filters = match yaml.get("filters") {
            None | Some(Yaml::Null) => Vec::new(),
            Some(Yaml::List(items)) => {
                let names = items.iter().map(|item| item.as_str().map(str::to_owned));
                names.collect::<Option<_>>().ok_or_else(|| wrong("filters", "are names"))?
            }
            Some(one) => one.as_str().into_iter().map(str::to_owned).collect(),
        };
        Ok(Self {
            library: word(yaml, "library")?.unwrap_or("blosclz").to_owned(),
            level: small(yaml, "level", 0, 9)?.unwrap_or(5),
            filters,
            kept_bits: small(yaml, TRUNCATE, 1, MAX_KEPT_BITS)?,
        })
    }

    /// The mapping.
    pub(super) fn to_yaml(&self) -> Yaml {
        let plain = |text: String| Yaml::Plain(text);
        let filters = self.filters.iter().cloned().map(Yaml::Plain).collect();
        let mut entries = vec![
            ("library".to_owned(), plain(self.library.clone())),
            ("level".to_owned(), plain(self.level.to_string())),
            ("filters".to_owned(), Yaml::List(filters)),
        ];
        entries.extend(self.kept_bits.map(|bits| (TRUNCATE.to_owned(), plain(bits.to_string()))));
        Yaml::Map(entries)
    }

    /// The words for these options.
    pub(crate) fn from_options(options: &CompressOptions) -> Result<Self> {
        let library = match options.codec {
            Codec::BloscLz => "blosclz",
            Codec::Lz4 => "lz4",
            Codec::Lz4Hc => "lz4hc",
            Codec::Zlib => "zlib",
            Codec::Zstd => "zstd",
            _ => {
                return Err(Error::invalid(
                    "a Blosc1 chunk takes BloscLZ, LZ4, LZ4HC, Zlib or Zstd",
                ));
            }
        };
        let mut kept_bits = None;
        let filters = options.filters.iter().map(|filter| match filter {
            Filter::Shuffle => Ok("shuffle".to_owned()),
            Filter::BitShuffle => Ok("bitshuffle".to_owned()),
            Filter::TruncPrec(bits @ 1..) if bits.unsigned_abs() <= MAX_KEPT_BITS => {
                kept_bits = Some(bits.unsigned_abs());
                Ok(TRUNCATE.to_owned())
            }
            _ => Err(Error::invalid(
                "a blsk tree takes no filter, Shuffle or BitShuffle, and TruncPrec of 1 to 52 bits",
            )),
        });
        let filters = filters.collect::<Result<_>>()?;
        Ok(Self { library: library.to_owned(), level: options.level, filters, kept_bits })
    }

    /// The options that the words stand for. What [`Compression::truncation`] does is not among them.
    pub(crate) fn to_options(&self, item_size: usize) -> Result<CompressOptions> {
        let unsupported = |field, words: String| Error::unsupported(words).of_field("blsk", field);
        let codec = match self.library.as_str() {
            "blosclz" => Codec::BloscLz,
            "lz4" => Codec::Lz4,
            "lz4hc" => Codec::Lz4Hc,
            "zlib" => Codec::Zlib,
            "zstd" => Codec::Zstd,
            other => {
                let words = format!("new chunks would have to be compressed by `{other}`");
                return Err(unsupported("library", words));
            }
        };
        let mut shuffle = None;
        for name in self.filters.iter().filter(|name| *name != TRUNCATE) {
            let filter = match name.as_str() {
                "shuffle" => Filter::Shuffle,
                "bitshuffle" => Filter::BitShuffle,
                other => {
                    let words = format!("new chunks would have to be filtered by `{other}`");
                    return Err(unsupported("filters", words));
                }
            };
            if shuffle.replace(filter).is_some() {
                let words = format!("a chunk of Blosc1 has one shuffle, and `{name}` is another");
                return Err(unsupported("filters", words));
            }
        }
        // What Blosc 1 cannot state in its byte counts as bytes.
        let item_size = if item_size > 255 { 1 } else { item_size };
        Ok(CompressOptions::new(item_size)
            .with_format(ChunkFormat::Blosc1)
            .with_codec(codec)
            .with_level(self.level)
            .with_filters(shuffle))
    }

    /// The words without those that are going to be replaced, which need not be known.
    pub(crate) fn without(&self, codec: bool, filters: bool) -> Self {
        let mut rest = self.clone();
        if codec {
            "lz4".clone_into(&mut rest.library);
        }
        if filters {
            rest.filters.clear();
        }
        rest
    }

    /// All of the words as options, so that [`Compression::from_options`] gives the same words.
    pub(crate) fn to_full_options(&self) -> Result<CompressOptions> {
        let options = self.to_options(1)?;
        let shuffle = options.filters.iter().copied();
        let asks = self.filters.iter().any(|name| name == TRUNCATE);
        let bits = match asks {
            true => Some(self.need_kept_bits()?),
            false => None,
        };
        let truncate = bits.and_then(|bits| i8::try_from(bits).ok()).map(Filter::TruncPrec);
        let filters: Vec<Filter> = shuffle.chain(truncate).collect();
        Ok(options.with_filters(filters))
    }

    /// The bits that `truncate` keeps.
    fn need_kept_bits(&self) -> Result<u8> {
        self.kept_bits.ok_or_else(|| {
            let words = "`truncate` without `truncate: BITS`, the bits that it keeps";
            Error::unsupported(words).of_field("blsk", "filters")
        })
    }

    /// What the filter `truncate` does to new items of this type; `None` if it is not asked for, or
    /// the items have no mantissa or one that is not longer.
    pub(crate) fn truncation(&self, dtype: &DType) -> Result<Option<Truncation>> {
        if self.filters.iter().all(|name| name != TRUNCATE) {
            return Ok(None);
        }
        let unsupported = |words: String| Error::unsupported(words).of_field("blsk", "filters");
        let kept = u32::from(self.need_kept_bits()?);
        let parts = match dtype.kind() {
            DKind::Float => 1,
            DKind::Complex => 2,
            DKind::Struct => {
                return Err(unsupported(format!("`truncate` of structured items, `{dtype}`")));
            }
            _ => return Ok(None),
        };
        let size = dtype.item_size() / parts;
        let (exponent, mantissa) = match size {
            2 => (5, 10),
            4 => (8, 23),
            8 => (11, 52),
            _ => return Err(unsupported(format!("`truncate` of `{dtype}`"))),
        };
        Ok((kept < mantissa).then(|| Truncation {
            size,
            is_big_endian: dtype.byte_order() == ByteOrder::Big,
            cleared: (1 << (mantissa - kept)) - 1,
            exponent: ((1 << exponent) - 1) << mantissa,
        }))
    }
}

/// Clears the low bits of the mantissas of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Truncation {
    /// The bytes of a float.
    size: usize,
    is_big_endian: bool,
    /// The bits to clear.
    cleared: u64,
    /// The bits of the exponent: all are set in infinities and NaN, which must not become each other.
    exponent: u64,
}

impl Truncation {
    /// The items as they are stored.
    pub(crate) fn apply(&self, items: &[u8]) -> Vec<u8> {
        let mut items = items.to_vec();
        for float in items.chunks_exact_mut(self.size) {
            if self.is_big_endian {
                float.reverse();
            }
            let mut word = [0; 8];
            word.iter_mut().zip(&*float).for_each(|(to, from)| *to = *from);
            let word = u64::from_le_bytes(word);
            if word & self.exponent != self.exponent {
                let truncated = (word & !self.cleared).to_le_bytes();
                float.iter_mut().zip(truncated).for_each(|(to, from)| *to = from);
            }
            if self.is_big_endian {
                float.reverse();
            }
        }
        items
    }
}

/// A number of a mapping that is in this range.
fn small(yaml: &Yaml, key: &'static str, least: u8, most: u8) -> Result<Option<u8>> {
    let Some(stated) = whole(yaml, key)? else { return Ok(None) };
    let fits = u8::try_from(stated).ok().filter(|number| (least..=most).contains(number));
    let outside = || wrong(key, format!("is {stated}, {least} to {most} exist"));
    fits.map(Some).ok_or_else(outside)
}
