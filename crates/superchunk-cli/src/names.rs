//! Codecs, filters, sizes and extensions as words: what users type, and what they read.

use std::ffi::OsStr;
use std::path::Path;

use superchunk::{Codec, Filter, SplitMode};

/// The codecs that can be asked for by name alone.
pub(crate) const CODECS: [(&str, Codec); 5] = [
    ("blosclz", Codec::BloscLz),
    ("lz4", Codec::Lz4),
    ("lz4hc", Codec::Lz4Hc),
    ("zlib", Codec::Zlib),
    ("zstd", Codec::Zstd),
];

/// The filters as they are written in lists; `N` is a number.
pub(crate) const FILTERS: [&str; 8] = [
    "shuffle[:N]",
    "bitshuffle",
    "delta",
    "bytedelta[:N]",
    "trunc:N",
    "inttrunc:N",
    "ndcell:N",
    "ndmean:N",
];

/// The extensions that packing gives, and unpacking takes away.
const PACKED: [&str; 5] = ["b2frame", "b2nd", "b2b", "b2", "blp"];

/// Whether a file is called like something that was packed.
pub(crate) fn is_packed_name(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|suffix| PACKED.contains(&suffix))
}

/// The name of a codec.
pub(crate) fn codec_name(codec: Codec) -> String {
    if let Some((name, _)) = CODECS.iter().find(|(_, known)| *known == codec) {
        return (*name).to_owned();
    }
    match codec {
        Codec::NdLz { cell } => format!("ndlz:{cell}"),
        Codec::Registered { id, meta } => format!("codec-{id}:{meta}"),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// The codec of that name.
pub(crate) fn parse_codec(text: &str) -> Result<Codec, String> {
    let names = || CODECS.map(|(name, _)| name).join(", ");
    let found = CODECS.iter().find(|(name, _)| *name == text).map(|(_, codec)| *codec);
    found.ok_or_else(|| format!("the codecs are {}", names()))
}

/// The name of a filter, with its number.
pub(crate) fn filter_name(filter: Filter) -> String {
    match filter {
        Filter::Shuffle => "shuffle".to_owned(),
        Filter::ShuffleBy(bytes) => format!("shuffle:{bytes}"),
        Filter::BitShuffle => "bitshuffle".to_owned(),
        Filter::Delta => "delta".to_owned(),
        Filter::ByteDelta(0) => "bytedelta".to_owned(),
        Filter::ByteDelta(channels) => format!("bytedelta:{channels}"),
        Filter::TruncPrec(bits) => format!("trunc:{bits}"),
        Filter::IntTrunc(bits) => format!("inttrunc:{bits}"),
        Filter::NdCell(side) => format!("ndcell:{side}"),
        Filter::NdMean(side) => format!("ndmean:{side}"),
        Filter::Registered { id, meta } => format!("filter-{id}:{meta}"),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// The names of a pipeline, with a plus between them; `none` when there are none.
pub(crate) fn pipeline_name(filters: &[Filter]) -> String {
    if filters.is_empty() {
        return "none".to_owned();
    }
    filters.iter().map(|filter| filter_name(*filter)).collect::<Vec<_>>().join("+")
}

/// The pipeline that a list with commas or plus signs names.
pub(crate) fn parse_pipeline(text: &str) -> Result<Vec<Filter>, String> {
    if text == "none" || text.is_empty() {
        return Ok(Vec::new());
    }
    text.split([',', '+']).map(parse_filter).collect()
}

fn parse_filter(text: &str) -> Result<Filter, String> {
    let (name, number) = match text.split_once(':') {
        Some((name, number)) => (name, Some(number)),
        None => (text, None),
    };
    let bad = || format!("`{text}` is no filter; there are none, {}", FILTERS.join(", "));
    let signed = || number.and_then(|number| number.parse::<i8>().ok()).ok_or_else(bad);
    let unsigned = || number.map_or(Some(0), |number| number.parse::<u8>().ok()).ok_or_else(bad);
    let needed = || number.and_then(|number| number.parse::<u8>().ok()).ok_or_else(bad);
    match (name, number) {
        ("shuffle", None) => Ok(Filter::Shuffle),
        ("shuffle", _) => Ok(Filter::ShuffleBy(needed()?)),
        ("bitshuffle", None) => Ok(Filter::BitShuffle),
        ("delta", None) => Ok(Filter::Delta),
        ("bytedelta", _) => Ok(Filter::ByteDelta(unsigned()?)),
        ("trunc", _) => Ok(Filter::TruncPrec(signed()?)),
        ("inttrunc", _) => Ok(Filter::IntTrunc(signed()?)),
        ("ndcell", _) => Ok(Filter::NdCell(needed()?)),
        ("ndmean", _) => Ok(Filter::NdMean(needed()?)),
        _ => Err(bad()),
    }
}

/// The name of a split mode.
pub(crate) fn split_name(split: SplitMode) -> &'static str {
    match split {
        SplitMode::Always => "always",
        SplitMode::Never => "never",
        _ => "auto",
    }
}

/// A length: a number of bytes, or with `K`, `M`, `G`, `T` of 1024 of them; `max` for no bound.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    if text == "max" {
        return Ok(u64::MAX);
    }
    let upper = text.to_ascii_uppercase();
    let upper = upper.trim_end_matches("IB").trim_end_matches('B');
    let (digits, shift) = match upper.chars().last() {
        Some('K') => (upper.trim_end_matches('K'), 10),
        Some('M') => (upper.trim_end_matches('M'), 20),
        Some('G') => (upper.trim_end_matches('G'), 30),
        Some('T') => (upper.trim_end_matches('T'), 40),
        _ => (upper, 0),
    };
    let number = digits.parse::<u64>().ok();
    number
        .and_then(|number| number.checked_mul(1 << shift))
        .filter(|size| *size > 0)
        .ok_or_else(|| "a size is like 4096, 128K, 8M, 2G or max".to_owned())
}

/// The same for lengths that must fit the memory.
pub(crate) fn parse_length(text: &str) -> Result<usize, String> {
    let size = parse_size(text)?;
    Ok(usize::try_from(size).unwrap_or(usize::MAX))
}

/// A length for people, in powers of 1000.
pub(crate) fn human(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes as f64;
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut unit = "B";
    for next in units {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if value < 9.995 { format!("{value:.2} {unit}") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_pipelines_read_back() {
        for (name, codec) in CODECS {
            assert_eq!(parse_codec(name), Ok(codec));
            assert_eq!(codec_name(codec), name);
        }
        let text = "trunc:-10+shuffle:4+bytedelta:2+delta+bitshuffle";
        assert_eq!(pipeline_name(&parse_pipeline(text).unwrap()), text);
        assert_eq!(parse_pipeline("none"), Ok(Vec::new()));
        for bad in ["shuffel", "trunc", "trunc:x", "delta:1", "ndcell", "shuffle,,delta"] {
            assert!(parse_pipeline(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("8M"), Ok(8 << 20));
        assert_eq!(parse_size("128KiB"), Ok(128 << 10));
        assert_eq!(parse_size("2gb"), Ok(2 << 30));
        assert_eq!(parse_size("max"), Ok(u64::MAX));
        for bad in ["", "0", "x", "1.5M", "-1", "99999999T", "M"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lengths_are_told_in_three_digits() {
        assert_eq!(human(999), "999 B");
        assert_eq!(human(1000), "1.00 kB");
        assert_eq!(human(12_345_678), "12.3 MB");
        assert_eq!(human(999_999), "1.00 MB");
    }
}
