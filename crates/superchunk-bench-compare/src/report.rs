//! What the reader sees: a line a cell, and the numbers as CSV.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use superchunk_testkit::machine::machine;
use superchunk_testkit::time::iso_time;

use crate::args::Args;
use crate::cell::{Cell, Numbers};
use crate::choice::Setup;
use crate::matrix::Matrix;
use crate::picture;
use crate::summary::Summary;

const COLUMNS: &str = "dataset,codec,level,filter,threads,implementation,ratio,compress_mb_s,\
                       decompress_mb_s,decompress_c_chunks_mb_s,read_item_us,copy_mb_s,\
                       read_item_own_us";

/// Collects the cells of a run.
pub(crate) struct Report<'a> {
    args: &'a Args,
    csv: String,
    summary: Summary,
}

impl<'a> Report<'a> {
    /// Starts a report and prints its head.
    pub(crate) fn new(args: &'a Args, c_version: &str) -> Self {
        let mut csv = about(c_version);
        let Args { sample, chunk, passes, .. } = args;
        let sample = format!("sample: {sample} bytes in chunks of {chunk}, best of {passes}");
        say(&sample);
        // Writing to a String cannot fail.
        let _ = writeln!(csv, "# {sample}");
        let _ = writeln!(csv, "{COLUMNS}");
        say(
            "\nMB/s as superchunk/C-Blosc2 and their quotient; 'same bytes' decodes C-Blosc2's chunks",
        );
        say(&format!(
            "{:<12} {:<24} {:^19} {:^21} {:^21} {:^21} {:>5} {:^20}",
            "dataset", "cell", "ratio", "compress", "decompress", "same bytes", "copy", "read µs"
        ));
        Self { args, csv, summary: Summary::default() }
    }

    /// Adds and prints a cell.
    pub(crate) fn add(&mut self, dataset: &'static str, setup: &Setup, cell: Cell) {
        say(&line(dataset, setup, &cell));
        for other in &cell.others {
            say(&format!("{:>37} {}", other.name, against(&cell.ours, other)));
        }
        self.summary.add(dataset, setup, cell);
    }

    /// Prints the summary and writes the files that were asked for.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        if self.args.summary {
            self.summary.print();
        }
        for (dataset, setup, cell) in self.summary.cells() {
            write_rows(dataset, setup, cell, &mut self.csv);
        }
        if let Some(path) = &self.args.csv {
            write(path, &self.csv)?;
        }
        if self.args.save {
            write(&save_as(""), &self.csv)?;
        }
        if self.args.plot { plot(&self.csv) } else { Ok(()) }
    }
}

/// Appends the rows of a cell, one for each side.
fn write_rows(dataset: &str, setup: &Setup, cell: &Cell, csv: &mut String) {
    let Setup { codec, level, filter, threads, .. } = setup;
    for side in [&cell.ours, &cell.c].into_iter().chain(&cell.others) {
        let Numbers { name, ratio, compress, decompress, decompress_c, .. } = side;
        let (read, own) = (side.read_us, side.read_own_us);
        let copy = cell.copy;
        let _ = writeln!(
            csv,
            "{dataset},{},{level},{},{threads},{name},{ratio:.4},{compress:.1},\
             {decompress:.1},{decompress_c:.1},{read:.3},{copy:.0},{own:.3}",
            codec.name, filter.name
        );
    }
}

/// Writes the matrix of a CSV file as a picture and as tables, beside the numbers of this machine.
pub(crate) fn plot(csv: &str) -> Result<(), String> {
    let matrix = Matrix::parse(csv)?;
    let folder = save_as("");
    write(&folder.with_file_name("matrix.svg"), &picture::svg(&matrix))?;
    write(&folder.with_file_name("matrix.md"), &matrix.tables())
}

/// Prints where, when and with what a run is made; returns the same as the head of a CSV file.
pub(crate) fn about(c_version: &str) -> String {
    let mut csv = String::new();
    for line in [
        format!("machine: {}", machine()),
        format!("date: {}", now()),
        format!("commit: {}", commit()),
        format!("peer: C-Blosc2 {c_version}"),
    ] {
        say(&line);
        let _ = writeln!(csv, "# {line}");
    }
    csv
}

/// The file of this machine and day under `docs/bench`, its name ending so.
pub(crate) fn save_as(ending: &str) -> PathBuf {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bench");
    let day: String = now().chars().take(10).collect();
    docs.join(machine()).join(format!("{day}{ending}.csv"))
}

/// Prints a line; a closed pipe is no reason to stop.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn line(dataset: &str, setup: &Setup, cell: &Cell) -> String {
    let share = 100.0 * cell.ours.decompress / cell.copy;
    let reads = (cell.ours.read_us, cell.c.read_us);
    let reads = format!("{:>6.1}/{:<6.1} {:>5.2}", reads.0, reads.1, reads.1 / reads.0);
    let numbers = against(&cell.ours, &cell.c);
    format!("{dataset:<12} {:<24} {numbers} {share:>4.0}% {reads}", setup.to_string())
}

fn against(ours: &Numbers, theirs: &Numbers) -> String {
    let pair = |ours: f64, theirs: f64| format!("{ours:>7.0}/{theirs:<7.0}{:>6.2}", ours / theirs);
    format!(
        "{:>6.2}/{:<6.2}{:>6.3} {} {} {}",
        ours.ratio,
        theirs.ratio,
        ours.ratio / theirs.ratio,
        pair(ours.compress, theirs.compress),
        pair(ours.decompress, theirs.decompress),
        pair(ours.decompress_c, theirs.decompress_c)
    )
}

/// Writes a file and the folders that it needs.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}

fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    iso_time(since.as_secs())
}

fn commit() -> String {
    let git = Command::new("git").args(["describe", "--always", "--dirty"]).output();
    let text = git.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
}
