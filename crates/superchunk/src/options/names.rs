//! The names of codecs, filters and split modes.
//!
//! ```text
//! codec    = blosclz | lz4 | lz4hc | zlib | zstd | ndlz:N | codec-ID:META
//! filter   = shuffle | shuffle:N | bitshuffle | delta | bytedelta | bytedelta:N | trunc:N
//!          | inttrunc:N | ndcell:N | ndmean:N | filter-ID:META
//! pipeline = none | filter, filter …      with commas or plus signs between them
//! split    = auto | always | never
//! ```

use std::fmt;
use std::str::FromStr;

use super::{Codec, Filter, SplitMode};
use crate::error::{Error, Result};
use crate::text::named;

impl Codec {
    /// The codecs that need no parameter.
    pub const PLAIN: [Self; 5] = [Self::BloscLz, Self::Lz4, Self::Lz4Hc, Self::Zlib, Self::Zstd];

    /// How the built-in codecs are written; `N` is a number. One of the registry is
    /// `codec-ID:META`.
    pub const SPELLINGS: [&'static str; 6] = ["blosclz", "lz4", "lz4hc", "zlib", "zstd", "ndlz:N"];
}

/// The name, as [`FromStr`] reads it.
impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BloscLz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Lz4Hc => "lz4hc",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
            Self::NdLz { cell } => return write!(f, "ndlz:{cell}"),
            Self::Registered { id, meta } => return write!(f, "codec-{id}:{meta}"),
        })
    }
}

/// ```
/// use superchunk::Codec;
///
/// assert_eq!("zstd".parse::<Codec>()?, Codec::Zstd);
/// assert_eq!("codec-200:3".parse::<Codec>()?, Codec::Registered { id: 200, meta: 3 });
/// assert_eq!(Codec::NdLz { cell: 4 }.to_string(), "ndlz:4");
/// # Ok::<(), superchunk::Error>(())
/// ```
impl FromStr for Codec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::SPELLINGS.into_iter().zip(Self::PLAIN).find(|(name, _)| *name == text);
        let cell = || Some(Self::NdLz { cell: text.strip_prefix("ndlz:")?.parse().ok()? });
        let registered = || {
            let (id, meta) = registered(text, "codec-")?;
            Some(Self::Registered { id, meta })
        };
        found.map(|(_, codec)| codec).or_else(cell).or_else(registered).ok_or_else(|| {
            let known = Self::SPELLINGS.join(", ");
            Error::invalid(format!("expected a codec: {known}; got `{text}`"))
        })
    }
}

impl Filter {
    /// How the built-in filters are written; `N` is a number. One of the registry is
    /// `filter-ID:META`.
    pub const SPELLINGS: [&'static str; 8] = [
        "shuffle[:N]",
        "bitshuffle",
        "delta",
        "bytedelta[:N]",
        "trunc:N",
        "inttrunc:N",
        "ndcell:N",
        "ndmean:N",
    ];

    /// Reads a pipeline: names of filters in the order in which they are applied, with commas or
    /// plus signs between them; `none` or nothing for none.
    ///
    /// ```
    /// use superchunk::Filter;
    ///
    /// let filters = Filter::parse_pipeline("trunc:10, shuffle")?;
    /// assert_eq!(filters, [Filter::TruncPrec(10), Filter::Shuffle]);
    /// assert_eq!(Filter::pipeline_name(&filters), "trunc:10+shuffle");
    /// # Ok::<(), superchunk::Error>(())
    /// ```
    pub fn parse_pipeline(text: &str) -> Result<Vec<Self>> {
        if text.is_empty() || text == "none" {
            return Ok(Vec::new());
        }
        text.split([',', '+']).map(|name| name.trim().parse()).collect()
    }

    /// The names of these filters with plus signs between them; `none` if there are none.
    #[must_use]
    pub fn pipeline_name(filters: &[Self]) -> String {
        if filters.is_empty() {
            return "none".to_owned();
        }
        filters.iter().map(Self::to_string).collect::<Vec<_>>().join("+")
    }
}

/// The name, as [`FromStr`] reads it.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shuffle => f.write_str("shuffle"),
            Self::ShuffleBy(bytes) => write!(f, "shuffle:{bytes}"),
            Self::BitShuffle => f.write_str("bitshuffle"),
            Self::Delta => f.write_str("delta"),
            Self::ByteDelta(0) => f.write_str("bytedelta"),
            Self::ByteDelta(channels) => write!(f, "bytedelta:{channels}"),
            Self::TruncPrec(bits) => write!(f, "trunc:{bits}"),
            Self::IntTrunc(bits) => write!(f, "inttrunc:{bits}"),
            Self::NdCell(side) => write!(f, "ndcell:{side}"),
            Self::NdMean(side) => write!(f, "ndmean:{side}"),
            Self::Registered { id, meta } => write!(f, "filter-{id}:{meta}"),
        }
    }
}

/// ```
/// use superchunk::Filter;
///
/// assert_eq!("bytedelta:4".parse::<Filter>()?, Filter::ByteDelta(4));
/// assert_eq!(Filter::TruncPrec(-10).to_string(), "trunc:-10");
/// # Ok::<(), superchunk::Error>(())
/// ```
impl FromStr for Filter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = match text.split_once(':') {
            None => without_number(text),
            Some((name, number)) => with_number(name, number).or_else(|| {
                let (id, meta) = registered(text, "filter-")?;
                Some(Self::Registered { id, meta })
            }),
        };
        found.ok_or_else(|| {
            let known = Self::SPELLINGS.join(", ");
            Error::invalid(format!("expected a filter: {known}; got `{text}`"))
        })
    }
}

fn without_number(name: &str) -> Option<Filter> {
    match name {
        "shuffle" => Some(Filter::Shuffle),
        "bitshuffle" => Some(Filter::BitShuffle),
        "delta" => Some(Filter::Delta),
        "bytedelta" => Some(Filter::ByteDelta(0)),
        _ => None,
    }
}

fn with_number(name: &str, number: &str) -> Option<Filter> {
    Some(match name {
        "shuffle" => Filter::ShuffleBy(number.parse().ok()?),
        "bytedelta" => Filter::ByteDelta(number.parse().ok()?),
        "trunc" => Filter::TruncPrec(number.parse().ok()?),
        "inttrunc" => Filter::IntTrunc(number.parse().ok()?),
        "ndcell" => Filter::NdCell(number.parse().ok()?),
        "ndmean" => Filter::NdMean(number.parse().ok()?),
        _ => return None,
    })
}

/// The id and the parameter of what the registry holds.
fn registered(text: &str, prefix: &str) -> Option<(u8, u8)> {
    let (id, meta) = text.strip_prefix(prefix)?.split_once(':')?;
    Some((id.parse().ok()?, meta.parse().ok()?))
}

impl SplitMode {
    const ALL: [Self; 3] = [Self::Auto, Self::Always, Self::Never];

    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// The name, as [`FromStr`] reads it.
impl fmt::Display for SplitMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SplitMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(text, &Self::ALL, Self::name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_reads_back() {
        let names = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
        assert_eq!(Codec::PLAIN.map(|codec| codec.to_string()), names);
        let numbers = 0..=u8::MAX;
        let registered = numbers.clone().map(|id| Codec::Registered { id, meta: 255 - id });
        let cells = numbers.map(|cell| Codec::NdLz { cell });
        for codec in Codec::PLAIN.into_iter().chain(registered).chain(cells) {
            assert_eq!(codec.to_string().parse::<Codec>().unwrap(), codec);
        }
        for bad in ["", "gzip", "ZSTD", "zstd:1", "ndlz", "ndlz:", "codec-1", "codec-1:256"] {
            assert!(bad.parse::<Codec>().is_err(), "{bad}");
        }
        let sentence = "expected a codec: blosclz, lz4, lz4hc, zlib, zstd, ndlz:N; got `gzip`";
        assert_eq!("gzip".parse::<Codec>().unwrap_err().to_string(), sentence);
    }

    #[test]
    fn every_filter_reads_back() {
        let plain = [Filter::Shuffle, Filter::BitShuffle, Filter::Delta];
        let by_number = (0..=u8::MAX).flat_map(|number| {
            let bits = i8::from_le_bytes([number]);
            [
                Filter::ShuffleBy(number),
                Filter::ByteDelta(number),
                Filter::TruncPrec(bits),
                Filter::IntTrunc(bits),
                Filter::NdCell(number),
                Filter::NdMean(number),
                Filter::Registered { id: number, meta: 255 - number },
            ]
        });
        for filter in plain.into_iter().chain(by_number) {
            assert_eq!(filter.to_string().parse::<Filter>().unwrap(), filter);
        }
        for bad in ["", "shuffel", "trunc", "trunc:x", "trunc:128", "delta:1", "ndcell", "none"] {
            let error = bad.parse::<Filter>().unwrap_err().to_string();
            let (start, end) = ("expected a filter: shuffle[:N],", format!("; got `{bad}`"));
            assert!(error.starts_with(start) && error.ends_with(&end), "{error}");
        }
    }

    #[test]
    fn pipelines_read_back() {
        let text = "trunc:-10+shuffle:4+bytedelta:2+delta+bitshuffle";
        let filters = Filter::parse_pipeline(text).unwrap();
        assert_eq!(filters.len(), 5);
        assert_eq!(Filter::pipeline_name(&filters), text);
        assert_eq!(Filter::parse_pipeline(&text.replace('+', ",")).unwrap(), filters);
        for none in ["", "none"] {
            assert_eq!(Filter::parse_pipeline(none).unwrap(), []);
        }
        assert_eq!(Filter::pipeline_name(&[]), "none");
        for bad in ["shuffle,,delta", "shuffle,none", "+"] {
            assert!(Filter::parse_pipeline(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn split_modes_read_back() {
        for split in SplitMode::ALL {
            assert_eq!(split.to_string().parse::<SplitMode>().unwrap(), split);
        }
        let error = "often".parse::<SplitMode>().unwrap_err();
        assert_eq!(error.to_string(), "expected one of auto, always, never, got `often`");
    }
}
