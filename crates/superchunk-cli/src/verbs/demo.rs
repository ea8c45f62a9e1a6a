//! `demo`: a newcomer's two minutes. Everything happens in a temporary folder.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use superchunk::{Codec, CompressOptions, FrameOptions, SuperChunk, Value};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::names::human;
use crate::opened::Found;
use crate::output::{self, Document, Table, object, ratio};
use crate::scratch::Scratch;

const EXAMPLES: &str = "\
Example:
  superchunk demo";

/// Three months of readings, ten a second.
const READINGS: u32 = 3_000_000;
const CHUNK: usize = 2 << 20;
const BAR: usize = 40;

/// The options of `demo`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {}

/// What the demo says: printed as it goes on, or kept for a JSON document.
struct Tour<'a> {
    context: &'a Context,
    /// The heading of each step, and what it said.
    steps: Vec<(String, String)>,
}

impl Tour<'_> {
    /// Begins the next step.
    fn step(&mut self, heading: &str) -> Outcome {
        self.steps.push((heading.to_owned(), String::new()));
        let numbered = format!("{}. {heading}", self.steps.len());
        self.print(&format!("\n{}\n", self.context.style().bold(&numbered)))
    }

    /// Adds to what the step says.
    fn say(&mut self, text: &str) -> Outcome {
        if let Some((_, said)) = self.steps.last_mut() {
            said.push_str(text);
        }
        self.print(text)
    }

    fn print(&self, text: &str) -> Outcome {
        if self.context.json() { Ok(()) } else { output::print(text) }
    }

    /// The document, or how to go on.
    fn end(self) -> Outcome {
        if self.context.json() {
            let step = |(heading, said): &(String, String)| {
                let lines = said.lines().map(|line| Value::from(line.trim())).collect();
                object([("heading", heading.as_str().into()), ("said", Value::Array(lines))])
            };
            let steps = self.steps.iter().map(step).collect::<Vec<_>>();
            return Document::new("demo").with("steps", steps).print();
        }
        output::print(&format!(
            "\n{}\n\
             \x20  superchunk pack FILE -t 8          your own data, items of 8 bytes\n\
             \x20  superchunk tune FILE               which parameters suit it\n\
             \x20  superchunk info FILE.b2frame       what came of it\n\
             \x20  superchunk cat FILE.b2frame@:5     the first five items\n\
             \x20  superchunk --help                  all the rest\n",
            self.context.style().bold("Now try:")
        ))
    }
}

pub(crate) fn run(context: &Context) -> Outcome {
    let folder = Scratch::new()?;
    std::fs::create_dir(folder.path())
        .map_err(|error| Failure::io("make a temporary folder", folder.path(), error))?;
    let mut tour = Tour { context, steps: Vec::new() };

    tour.step("A logger has written temperatures: 64-bit floats, with two decimals.")?;
    let readings = temperatures(READINGS);
    tour.say(&format!("   {READINGS} readings, {}\n", human(readings.len() as u64)))?;

    tour.step("Packed: cut into chunks, shuffled, compressed.")?;
    let path = folder.path().join("temperatures.b2frame");
    let frame = pack(&path, &readings, &mut tour)?;

    tour.step(
        "Chunk by chunk: calm weather packs well, a storm does not, a dead sensor takes nothing.",
    )?;
    picture(&frame, &mut tour)?;
    drop(frame);

    tour.step("Five readings from the middle: one block is decoded, not the file.")?;
    slice(&path, &mut tour)?;

    tour.step("One more day is appended.")?;
    append(&path, &mut tour)?;

    tour.step("Another program appends, and is killed in the middle of it.")?;
    kill(&path, &mut tour)?;

    tour.step("Whatever happens, the file has its last commit.")?;
    survives(&path, &mut tour)?;

    tour.end()
}

/// Packs with three codecs; the last result stays.
fn pack(path: &Path, readings: &[u8], tour: &mut Tour<'_>) -> Outcome<SuperChunk> {
    let mut table = Table::new(["   codec", "level", "size", "ratio", "pack MB/s", "unpack MB/s"]);
    for (codec, level) in [(Codec::Lz4, 5), (Codec::Zstd, 1), (Codec::Zstd, 5)] {
        let compress = CompressOptions::of::<f64>().with_codec(codec).with_level(level);
        let options = FrameOptions::new(compress.with_executor(tour.context.executor()))
            .with_chunk_size(CHUNK);
        if path.exists() {
            std::fs::remove_file(path).map_err(|error| Failure::io("remove it", path, error))?;
        }
        let start = Instant::now();
        let mut frame = SuperChunk::create(path, &options)?;
        frame.append(readings)?;
        let packing = start.elapsed();
        frame.set_attribute("unit", Value::from("Celsius"))?;
        frame.close()?;
        let frame = SuperChunk::open_with(path, &tour.context.open_options())?;
        let start = Instant::now();
        let back = frame.to_vec()?;
        let unpacking = start.elapsed();
        if back != readings {
            return Err(Failure::said(Exit::Corrupt, "the data did not come back as it was"));
        }
        let speed =
            |time: std::time::Duration| readings.len() as f64 / 1e6 / time.as_secs_f64().max(1e-9);
        let stored = frame.stored_len()?;
        table.row([
            format!("   {}", codec),
            level.to_string(),
            human(stored),
            format!("{:.2}", ratio(readings.len() as u64, stored)),
            format!("{:.0}", speed(packing)),
            format!("{:.0}", speed(unpacking)),
        ]);
    }
    tour.say(&table.render())?;
    Ok(SuperChunk::open_with(path, &tour.context.open_options())?)
}

/// A bar for each chunk, as long as its share of the largest.
fn picture(frame: &SuperChunk, tour: &mut Tour<'_>) -> Outcome {
    let mut text = String::new();
    for number in 0..frame.chunk_count() {
        let header = frame.chunk_header(number)?;
        let cells =
            (header.compressed_len() * BAR).div_ceil(header.byte_len().max(1)).clamp(1, BAR);
        let times = ratio(header.byte_len() as u64, header.compressed_len() as u64);
        let bar = format!("{}{}", "█".repeat(cells), "·".repeat(BAR - cells));
        text.push_str(&format!("   chunk {number:>2} {bar} {times:>7.1} x smaller\n"));
    }
    tour.say(&text)
}

fn slice(path: &Path, tour: &mut Tour<'_>) -> Outcome {
    let frame = SuperChunk::open_with(path, &tour.context.open_options())?;
    let middle = frame.item_count() / 2;
    let start = Instant::now();
    let some: Vec<f64> = frame.items(middle..middle + 5)?;
    let time = start.elapsed().as_secs_f64() * 1e6;
    let values = some.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    tour.say(&format!(
        "   $ superchunk cat temperatures.b2frame@{middle}:{} --dtype '<f8'\n   {values}   ({time:.0} µs)\n",
        middle + 5
    ))
}

fn append(path: &Path, tour: &mut Tour<'_>) -> Outcome {
    let mut frame = Found::at_path(path)?.edit_frame(tour.context)?;
    let before = frame.stored_len()?;
    frame.append(&temperatures(86_400))?;
    frame.commit()?;
    let grown = frame.stored_len()?.saturating_sub(before);
    let count = frame.item_count();
    frame.close()?;
    tour.say(&format!(
        "   86400 readings more, {count} in all; the file grew by {}\n",
        human(grown)
    ))
}

/// Starts a writer, and kills it when it has committed once and written on.
fn kill(path: &Path, tour: &mut Tour<'_>) -> Outcome {
    let failed = |error| Failure::io("run the writer", path, error);
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .arg("demo-writer")
        .arg(path)
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let mut said = String::new();
    if let Some(out) = child.stdout.take() {
        let mut lines = BufReader::new(out).take(1 << 16);
        while !said.contains("writing") && lines.read_line(&mut said).map_err(failed)? > 0 {}
    }
    let killed = child.kill();
    let status = child.wait().map_err(failed)?;
    killed.map_err(failed)?;
    let said: String = said.lines().map(|line| format!("   writer: {line}\n")).collect();
    tour.say(&format!("{said}   killed: {status}\n"))
}

fn survives(path: &Path, tour: &mut Tour<'_>) -> Outcome {
    let frame = SuperChunk::open_with(path, &tour.context.open_options())?;
    let found = frame.verify()?;
    let expected = u64::from(READINGS) + 2 * 86_400;
    if frame.item_count() != expected || !found.is_good() {
        let words = format!(
            "{} readings instead of {expected}, damaged: {:?}",
            frame.item_count(),
            found.damaged
        );
        return Err(Failure::said(Exit::Corrupt, words));
    }
    tour.say(&format!(
        "   {} readings are there, {} chunks checked, none damaged\n",
        frame.item_count(),
        found.checked + found.decoded
    ))
}

/// A day's wave with noise, a storm, and a sensor that is dead for a while.
pub(super) fn temperatures(count: u32) -> Vec<u8> {
    let mut noise = Noise(1);
    let mut drift = 0.0;
    let reading = |at: u32| {
        drift = 0.9 * drift + 0.03 * noise.next();
        let share = f64::from(at) / f64::from(count);
        let storm = if (0.35..0.5).contains(&share) { 40.0 * noise.next() } else { 0.0 };
        let value = 15.0 + 8.0 * (f64::from(at) / 13_750.0).sin() + drift + storm;
        let value = if (0.7..0.85).contains(&share) { 0.0 } else { value };
        ((value * 100.0).round() / 100.0).to_le_bytes()
    };
    (0..count).flat_map(reading).collect()
}

/// A small deterministic generator (xorshift): the demo shows the same data every time.
struct Noise(u64);

impl Noise {
    /// A number from -1 to 1.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let high = u32::try_from(self.0 >> 32).unwrap_or(0);
        f64::from(high) / f64::from(u32::MAX) * 2.0 - 1.0
    }
}
