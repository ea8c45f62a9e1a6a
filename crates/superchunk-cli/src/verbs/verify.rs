//! `verify`: every chunk is decoded, and compared with its checksum where it has one.

use std::ffi::OsString;

use clap::Args;
use superchunk::bloscpack::Checksum;
use superchunk::detect::{self, Format};
use superchunk::{Integrity, SuperChunk, Value};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::{Content, Input};
use crate::location::Location;
use crate::output::{self, Document, object};
use crate::packs;
use crate::tables::Rows;

const EXAMPLES: &str = "\
Examples:
  superchunk verify big.b2frame
  superchunk verify --json *.b2nd | jq .good
Exits with 3 when anything is damaged.";

/// Stands for damage that is in no chunk.
const NO_CHUNK: u64 = u64::MAX;

/// The options of `verify`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Files, folders, or - for stdin
    #[arg(required = true, value_name = "LOCATION")]
    locations: Vec<OsString>,
}

/// What was found.
struct Findings {
    integrity: &'static str,
    checked: u64,
    decoded: u64,
    damaged: Vec<(u64, String)>,
}

pub(crate) fn run(args: &VerifyArgs, context: &Context) -> Outcome {
    let mut all_good = true;
    for given in &args.locations {
        let location = Location::parse(given);
        let findings = match Rows::open(&location, context)? {
            Some(rows) => of_rows(&rows)?,
            None => match Input::open(&location, context) {
                Ok(input) => look(&input, context)?,
                Err(failure) => unsealed(&location, failure, context)?,
            },
        };
        all_good &= findings.damaged.is_empty();
        if context.json() {
            findings.document(&location.name()).print()?;
        } else {
            findings.tell(&location.name(), context)?;
        }
    }
    if all_good { Ok(()) } else { Err(Failure::Quiet(Exit::Corrupt)) }
}

fn of_rows(rows: &Rows) -> Outcome<Findings> {
    let (decoded, damaged) = rows.verify()?;
    Ok(Findings { integrity: "none", checked: 0, decoded, damaged })
}

/// Looks at the chunks of a frame whose header or index is damaged, but can be read.
fn unsealed(location: &Location, failure: Failure, context: &Context) -> Outcome<Findings> {
    let (Failure::Library(error), Some(path)) = (&failure, &location.path) else {
        return Err(failure);
    };
    if detect::path(path)?.format == Format::Bloscpack {
        let Ok(pack) = packs::lenient(path, context) else { return Err(failure) };
        let mut findings = of_chunks(pack.data()?, pack.header().checksum, context)?;
        findings.damaged.insert(0, (NO_CHUNK, error.to_string()));
        return Ok(findings);
    }
    if error.place().is_none_or(|place| place.field != "fingerprint") {
        return Err(failure);
    }
    let Ok(frame) = context.open_options().with_trust(true).open(path) else {
        return Err(failure);
    };
    let mut findings = of_frame(&frame, context)?;
    findings.damaged.insert(0, (NO_CHUNK, error.to_string()));
    Ok(findings)
}

fn look(input: &Input, context: &Context) -> Outcome<Findings> {
    if let Some(pack) = input.pack() {
        return of_chunks(pack.data()?, pack.header().checksum, context);
    }
    if let Some(frame) = input.frame() {
        return of_frame(frame, context);
    }
    let mut findings = Findings { integrity: "none", checked: 0, decoded: 0, damaged: Vec::new() };
    if matches!(input.content, Content::Raw(_)) {
        let words = format!("`{}` cannot be checked: {}", input.name, input.detected.reason);
        return Err(Failure::said(Exit::Unsupported, words));
    }
    match input.pieces(&mut |_| Ok(())) {
        Ok(()) => findings.decoded = 1,
        Err(Failure::Library(error)) => findings.damaged.push((0, error.to_string())),
        Err(failure) => return Err(failure),
    }
    Ok(findings)
}

fn of_frame(frame: &SuperChunk, context: &Context) -> Outcome<Findings> {
    let mut progress = context.progress("verifying", Some(frame.len()));
    let found = frame.verify_with(|bytes| progress.add(bytes))?;
    drop(progress);
    let values = frame.value_names().filter_map(|name| frame.value_bytes(name).err());
    let values = values.map(|error| (NO_CHUNK, error.to_string()));
    let damaged = found.damaged.iter().map(|(number, error)| (*number as u64, error.to_string()));
    Ok(Findings {
        integrity: match found.integrity {
            Integrity::None => "none",
            Integrity::Sealed => "sealed",
            _ => "unverified",
        },
        checked: found.checked as u64,
        decoded: found.decoded as u64,
        damaged: damaged.chain(values).collect(),
    })
}

/// The chunks of a Bloscpack file.
fn of_chunks(data: &SuperChunk, checksum: Checksum, context: &Context) -> Outcome<Findings> {
    let found = of_frame(data, context)?;
    let integrity = if checksum == Checksum::None { "none" } else { checksum.name() };
    Ok(Findings { integrity, ..found })
}

impl Findings {
    fn document(&self, name: &str) -> Document {
        let damaged = self.damaged.iter().map(|(number, words)| {
            let chunk = if *number == NO_CHUNK { Value::Nil } else { (*number).into() };
            object([("chunk", chunk), ("error", words.as_str().into())])
        });
        Document::new("verify")
            .with("path", name)
            .with("good", self.damaged.is_empty())
            .with("checksums", self.integrity)
            .with("checked", self.checked)
            .with("decoded", self.decoded)
            .with("damaged", damaged.collect::<Vec<_>>())
    }

    fn tell(&self, name: &str, context: &Context) -> Outcome {
        let style = context.style();
        let mut text = String::new();
        for (_, words) in &self.damaged {
            text.push_str(&format!("{} {words}\n", style.red("damaged:")));
        }
        let counts = format!("{} by checksum, {} by decoding", self.checked, self.decoded);
        let verdict = match self.damaged.len() {
            0 => style.green("good"),
            1 => style.red("1 part is damaged"),
            many => style.red(&format!("{many} parts are damaged")),
        };
        text.push_str(&format!("{name}: {verdict} (chunks checked: {counts})\n"));
        if context.is_quiet() && self.damaged.is_empty() { Ok(()) } else { output::print(&text) }
    }
}
