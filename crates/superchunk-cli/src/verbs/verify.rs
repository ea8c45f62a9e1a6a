//! `verify`: is it still what was written? Level by level, all chunks or a sample.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, ValueEnum};
use superchunk::detect::{self, Format};
use superchunk::verify::{self, Finding, Level, Sample, Verdict, VerifyOptions, VerifyReport};
use superchunk::{Value, Work};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::folders;
use crate::location::Location;
use crate::names::is_packed_name;
use crate::opened::{self, Found};
use crate::output::{self, Document, object};
use crate::tables::Rows;

const EXAMPLES: &str = "\
Examples:
  superchunk verify big.b2frame
  superchunk verify --level checksums --sample 1% huge.b2nd
  superchunk verify -r data                     what is not good, and how many are
  superchunk verify --json big.b2nd | jq .good
Of several, only those are shown that are not good, and all with -v.
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

    /// Look at all files of folders, and of the folders inside of them
    #[arg(short, long)]
    recursive: bool,

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
    let locations = locations(args)?;
    let only = locations.first().filter(|_| locations.len() == 1 && !args.recursive);
    let Some(location) = only else { return many(&locations, args, context) };
    let report = look(location, args, context)?;
    if context.json() {
        document(&report, location).print()?;
    } else {
        tell(&report, &location.name(), context)?;
    }
    match (report.is_good(), report.is_complete()) {
        (false, _) => Err(Failure::Quiet(Exit::Corrupt)),
        (true, false) => Err(Failure::Quiet(Exit::Unsupported)),
        (true, true) => Ok(()),
    }
}

/// What was named, and what is in the folders among it.
fn locations(args: &VerifyArgs) -> Outcome<Vec<Location>> {
    let mut locations = Vec::new();
    for given in &args.locations {
        let location = Location::parse(given);
        match location.path.as_ref().filter(|path| folders::is_plain(path)) {
            Some(folder) if args.recursive => {
                let paths = folders::entries(folder, true)?;
                let paths = paths.into_iter().filter(|path| !is_other(path));
                locations.extend(paths.map(|path| Location::whole(Some(path))));
            }
            Some(folder) if args.locations.len() == 1 => {
                let words = format!("`{}` is a folder of files", folder.display());
                return Err(Failure::said(Exit::Unsupported, words)
                    .with_help("-r looks at all files in it"));
            }
            _ => locations.push(location),
        }
    }
    Ok(locations)
}

/// Whether a file that nobody has named is of another program, and not called like one of ours.
fn is_other(path: &Path) -> bool {
    let is_raw = detect::path(path).is_ok_and(|found| found.format == Format::Raw);
    is_raw && !is_packed_name(path)
}

/// How many of several are good, and how many are not.
#[derive(Default)]
struct Tally {
    good: u64,
    /// Good, but without checksums for all of it.
    unverified: u64,
    damaged: u64,
    /// Not looked at, or not all of it.
    unread: u64,
}

impl Tally {
    /// Counts a report; returns whether it is worth a word.
    fn count(&mut self, report: &VerifyReport) -> bool {
        let is_unverified = report.levels.iter().any(|level| level.unverified > 0);
        let place = match (report.is_good(), report.is_complete()) {
            (false, _) => &mut self.damaged,
            (true, false) => &mut self.unread,
            (true, true) if is_unverified => &mut self.unverified,
            (true, true) => &mut self.good,
        };
        *place += 1;
        !(report.is_good() && report.is_complete())
    }
}

/// Looks at several: shows what is not good, and how many are.
fn many(locations: &[Location], args: &VerifyArgs, context: &Context) -> Outcome {
    let (mut tally, mut documents, mut failed) = (Tally::default(), Vec::new(), None);
    for location in locations {
        let name = location.name();
        match look(location, args, context) {
            Ok(report) => {
                let is_told = tally.count(&report) || context.is_verbose();
                if context.json() {
                    documents.push(document(&report, location).into_part());
                } else if is_told {
                    tell(&report, &name, context)?;
                }
            }
            Err(failure) => {
                tally.unread += 1;
                failed = failed.or(failure.exit());
                let words = failure.words().unwrap_or_default();
                documents
                    .push(object([("path", location.value()), ("error", words.as_str().into())]));
                if !context.json() {
                    output::print(&format!("{name}: not looked at: {words}\n"))?;
                }
            }
        }
    }
    sum_up(&tally, documents, context)?;
    match (tally.damaged, tally.unread) {
        (0, 0) => Ok(()),
        (0, _) => Err(Failure::Quiet(failed.unwrap_or(Exit::Unsupported))),
        _ => Err(Failure::Quiet(Exit::Corrupt)),
    }
}

fn sum_up(tally: &Tally, documents: Vec<Value>, context: &Context) -> Outcome {
    let Tally { good, unverified, damaged, unread } = tally;
    if context.json() {
        return Document::new("verify")
            .with("files", documents)
            .with("good", *good)
            .with("unverified", *unverified)
            .with("damaged", *damaged)
            .with("not_looked_at", *unread)
            .print();
    }
    if context.is_quiet() && damaged + unread == 0 {
        return Ok(());
    }
    let all = good + unverified + damaged + unread;
    output::print(&format!(
        "{all} looked for: {good} good, {unverified} unverified, {damaged} damaged, {unread} not \
         looked at\n"
    ))
}

fn look(location: &Location, args: &VerifyArgs, context: &Context) -> Outcome<VerifyReport> {
    location.check_unsliced("verify")?;
    let found = Found::at(location)?;
    if matches!(found.format(), Format::Raw | Format::BlskFile) {
        return Err(found.refuse("something that can be verified"));
    }
    let mut options = VerifyOptions::new().with_level(args.level.into());
    let watched = context.watched("verifying", Work::Verify, None);
    options = options.with_open(context.reading(&found.path).with_executor(watched));
    options.sample = args.sample.unwrap_or_default();
    if let Some(inner) = &location.inner {
        if found.format() == Format::BcolzArray {
            return Err(opened::nothing_inside(location));
        }
        match Rows::of(&found, context) {
            Err(failure) if failure.exit() == Some(Exit::Usage) => return Err(failure),
            // What is damaged is reported.
            _ => {}
        }
        options = options.with_column(inner.clone());
    }
    Ok(verify::path(&found.path, &options)?)
}

fn document(report: &VerifyReport, location: &Location) -> Document {
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
        .with("path", location.value())
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

fn tell(report: &VerifyReport, name: &str, context: &Context) -> Outcome {
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
