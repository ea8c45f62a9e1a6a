//! `verify`: is it still what was written? Level by level, all chunks or a sample.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, ValueEnum};
use superchunk::Value;
use superchunk::detect::{self, Format};
use superchunk::verify::{self, Finding, Level, Options, Report, Sample, Verdict};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::{self, Input};
use crate::location::Location;
use crate::output::{self, Document, object};
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  superchunk verify big.b2frame
  superchunk verify --level checksums --sample 1% huge.b2nd
  superchunk verify --json *.b2nd | jq .good
Exits with 3 when anything is damaged, with 4 when something could not be looked at.";

/// The options of `verify`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Files, folders, or - for stdin
    #[arg(required = true, value_name = "LOCATION")]
    locations: Vec<OsString>,

    /// How far to look; each level takes in those before it
    #[arg(long, value_name = "LEVEL", value_enum, default_value = "all")]
    level: LevelArg,

    /// Look at this many chunks only (of each column), or at a share like 5%
    #[arg(long, value_name = "N|N%", value_parser = parse_sample)]
    sample: Option<Sample>,
}

/// The levels, as they are typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LevelArg {
    /// Headers, trailers and metadata can be read
    Structure,
    /// The index leads to valid chunk headers
    Index,
    /// Checksums are right
    Checksums,
    /// Chunks decode
    Decode,
    /// Shapes, columns, files and folders agree
    #[value(alias = "files")]
    All,
}

pub(crate) fn run(args: &VerifyArgs, context: &Context) -> Outcome {
    let (mut all_good, mut complete) = (true, true);
    for given in &args.locations {
        let location = Location::parse(given);
        let report = look(&location, args, context)?;
        all_good &= report.is_good();
        complete &= report.is_complete();
        if context.json() {
            document(&report, &location.name()).print()?;
        } else {
            tell(&report, &location.name(), context)?;
        }
    }
    match (all_good, complete) {
        (false, _) => Err(Failure::Quiet(Exit::Corrupt)),
        (true, false) => Err(Failure::Quiet(Exit::Unsupported)),
        (true, true) => Ok(()),
    }
}

fn look(location: &Location, args: &VerifyArgs, context: &Context) -> Outcome<Report> {
    let Some(path) = &location.path else {
        let spool = input::spool_stdin()?;
        return look_at(spool.path(), location, args, context);
    };
    look_at(path, location, args, context)
}

fn look_at(
    path: &Path,
    location: &Location,
    args: &VerifyArgs,
    context: &Context,
) -> Outcome<Report> {
    let detected = detect::path(path)?;
    if matches!(detected.format, Format::Raw | Format::BlskFile) {
        let words = format!("`{}` cannot be checked: {}", location.name(), detected.reason);
        return Err(Failure::said(Exit::Unsupported, words));
    }
    let mut options = Options::new().with_level(args.level.into());
    options = options.with_open(context.reading(path));
    options.sample = args.sample.unwrap_or_default();
    if let Some(inner) = &location.inner {
        if !matches!(detected.format, Format::BcolzTable | Format::Blsk) {
            // Which says that there is nothing inside.
            Input::open(location, context)?;
        }
        options = options.with_column(inner.clone());
    }
    let mut bar: Option<Progress> = None;
    let report = verify::path(path, &options, &mut |bytes, total| {
        let bar = bar.get_or_insert_with(|| context.progress("verifying", Some(total)));
        bar.add(usize::try_from(bytes).unwrap_or(usize::MAX));
    })?;
    Ok(report)
}

fn document(report: &Report, name: &str) -> Document {
    let chunk = |finding: &Finding| finding.chunk.map_or(Value::Nil, Value::from);
    let damaged = report.corrupt().map(|finding| {
        object([("chunk", chunk(finding)), ("error", finding.words.as_str().into())])
    });
    let levels = report.levels.iter().map(|found| {
        object([
            ("level", found.level.name().into()),
            ("checked", found.checked().into()),
            ("verified", found.verified.into()),
            ("unverified", found.unverified.into()),
            ("corrupt", found.corrupt.into()),
        ])
    });
    let findings = report.findings.iter().map(|finding| {
        object([
            ("level", finding.level.name().into()),
            ("verdict", finding.verdict.name().into()),
            ("chunk", chunk(finding)),
            ("what", finding.words.as_str().into()),
        ])
    });
    Document::new("verify")
        .with("path", name)
        .with("good", report.is_good())
        .with("complete", report.is_complete())
        .with("checksums", report.checksums)
        .with("checked", report.by_checksum)
        .with("decoded", report.by_decoding)
        .with("chunks", report.chunks)
        .with(
            "sampled",
            report.is_sample().then_some(report.chosen).map_or(Value::Nil, Value::from),
        )
        .with("levels", levels.collect::<Vec<_>>())
        .with("findings", findings.collect::<Vec<_>>())
        .with("damaged", damaged.collect::<Vec<_>>())
}

fn tell(report: &Report, name: &str, context: &Context) -> Outcome {
    let style = context.style();
    let mut text = String::new();
    for finding in &report.findings {
        let label = match finding.verdict {
            Verdict::Corrupt => style.red("damaged:"),
            other => format!("{}:", other.name()),
        };
        text.push_str(&format!("{label} {}\n", finding.words));
    }
    let damaged = report.corrupt().count();
    let verdict = match (damaged, report.is_complete()) {
        (0, true) => style.green("good"),
        (0, false) => "not all of it could be looked at".to_owned(),
        (1, _) => style.red("1 part is damaged"),
        (many, _) => style.red(&format!("{many} parts are damaged")),
    };
    let counts = format!("{} by checksum, {} by decoding", report.by_checksum, report.by_decoding);
    let sample = match report.is_sample() {
        true => format!("a sample of {} of {} chunks", report.chosen, report.chunks),
        false => "chunks checked".to_owned(),
    };
    text.push_str(&format!("{name}: {verdict} ({sample}: {counts})\n"));
    for found in &report.levels {
        let parts = [
            (found.verified, "verified"),
            (found.unverified, "unverified"),
            (found.corrupt, "corrupt"),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let said =
            if parts.is_empty() { "nothing to look at".to_owned() } else { parts.join(", ") };
        text.push_str(&format!("  {:<9}  {said}\n", found.level.name()));
    }
    if context.is_quiet() && report.is_good() && report.is_complete() {
        return Ok(());
    }
    output::print(&text)
}

/// A number of chunks, or a share of them.
fn parse_sample(text: &str) -> Result<Sample, String> {
    let wrong = || format!("`{text}` is no number of chunks and no share such as 5%");
    if let Some(percent) = text.strip_suffix('%') {
        let (whole, fraction) = percent.split_once('.').unwrap_or((percent, ""));
        let digits: String = fraction.chars().chain("0000".chars()).take(4).collect();
        let parts = whole.parse::<u64>().ok().filter(|whole| *whole <= 100);
        let parts = parts.zip(digits.parse::<u64>().ok()).map(|(a, b)| a * 10_000 + b);
        let parts = parts.filter(|parts| (1..=1_000_000).contains(parts) && fraction.len() <= 4);
        return parts.map(Sample::PartsPerMillion).ok_or_else(wrong);
    }
    let count = text.parse().ok().filter(|count| *count > 0);
    count.map(Sample::Count).ok_or_else(wrong)
}

impl From<LevelArg> for Level {
    fn from(level: LevelArg) -> Self {
        match level {
            LevelArg::Structure => Self::Structure,
            LevelArg::Index => Self::Index,
            LevelArg::Checksums => Self::Checksums,
            LevelArg::Decode => Self::Decode,
            LevelArg::All => Self::Files,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_numbers_or_shares() {
        assert_eq!(parse_sample("12"), Ok(Sample::Count(12)));
        assert_eq!(parse_sample("5%"), Ok(Sample::PartsPerMillion(50_000)));
        assert_eq!(parse_sample("0.5%"), Ok(Sample::PartsPerMillion(5_000)));
        assert_eq!(parse_sample("100%"), Ok(Sample::PartsPerMillion(1_000_000)));
        for text in ["", "0", "0%", "101%", "-1", "x%", "1.23456%", "5 %"] {
            assert!(parse_sample(text).is_err(), "{text}");
        }
    }
}
