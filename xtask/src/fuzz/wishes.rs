//! What the user of `cargo xtask fuzz` asks for.

use std::path::PathBuf;

use crate::step::Outcome;

/// All targets, as they are called in `fuzz/fuzz_targets`.
pub(super) const TARGETS: [&str; 13] = [
    "chunk_decode",
    "chunk1_decode",
    "blosclz",
    "zlib_zstd",
    "filters_roundtrip",
    "frame_open",
    "frame_file_ops",
    "sframe_dir",
    "b2nd_meta",
    "vlmeta_msgpack",
    "blp",
    "bcolz_meta_json",
    "salvage",
];

/// The options, understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wishes {
    /// How long each target runs.
    pub(super) seconds: u64,
    pub(super) targets: Vec<&'static str>,
    /// One input instead of a search.
    pub(super) input: Option<PathBuf>,
    /// Whether nothing of earlier searches is used, and the random numbers are the same each time.
    pub(super) afresh: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Self { seconds: 600, targets: TARGETS.to_vec(), input: None, afresh: false }
    }
}

impl Wishes {
    /// All targets for a short time each, the same every time.
    pub(super) fn smoke() -> Self {
        Self { seconds: 15, afresh: true, ..Self::default() }
    }

    pub(super) fn parse(options: &[String]) -> Outcome<Self> {
        let mut wishes = Self::default();
        let mut named = Vec::new();
        let mut words = options.iter();
        if options == ["--smoke"] {
            return Ok(Self::smoke());
        }
        while let Some(option) = words.next() {
            let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
            match option.as_str() {
                "--minutes" => wishes.seconds = seconds(value)?,
                "--target" => named.push(target(value)?),
                "--input" => wishes.input = Some(value.into()),
                _ => return Err(format!("fuzz has no option {option}")),
            }
        }
        if wishes.input.is_some() && named.len() != 1 {
            return Err("--input needs one --target".to_owned());
        }
        if !named.is_empty() {
            wishes.targets = named;
        }
        Ok(wishes)
    }
}

fn seconds(minutes: &str) -> Outcome<u64> {
    let minutes: u64 = minutes.parse().map_err(|_| format!("{minutes} is no number of minutes"))?;
    minutes.checked_mul(60).filter(|seconds| *seconds > 0).ok_or("a minute at least".to_owned())
}

fn target(name: &str) -> Outcome<&'static str> {
    let found = TARGETS.into_iter().find(|target| *target == name);
    found.ok_or_else(|| format!("there is no target {name}, but {}", TARGETS.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Outcome<Wishes> {
        Wishes::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_understood() {
        assert_eq!(parse(&[]), Ok(Wishes::default()));
        let two = parse(&["--target", "blp", "--minutes", "3", "--target", "salvage"]);
        let targets = vec!["blp", "salvage"];
        let expected = Wishes { seconds: 180, targets, ..Wishes::default() };
        assert_eq!(two, Ok(expected));
        assert_eq!(parse(&["--smoke"]), Ok(Wishes::smoke()));
        assert!(parse(&["--target", "blp", "--input", "x"]).is_ok_and(|w| w.input.is_some()));
    }

    #[test]
    fn others_are_refused() {
        for words in [
            &["--minutes"][..],
            &["--minutes", "0"],
            &["--minutes", "x"],
            &["--target", "x"],
            &["--x", "1"],
            &["--input", "x"],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn every_target_has_its_file() {
        let folder = crate::step::root().join("fuzz/fuzz_targets");
        let files = std::fs::read_dir(&folder).map(Iterator::count).unwrap_or(0);
        assert_eq!(files, TARGETS.len());
        assert!(TARGETS.iter().all(|name| folder.join(format!("{name}.rs")).is_file()));
    }
}
