//! A table of twenty columns: superchunk in bcolz's own format beside bcolz, and its scan beside others.
//!
//! The others are measured by `tables_bench.py`, each in a process of its own that does one thing when
//! told: bcolz with the interpreter of `SUPERCHUNK_PEER_PYTHON_LEGACY`, python-blosc2 with that of
//! `SUPERCHUNK_PEER_PYTHON`, pyarrow with that of `SUPERCHUNK_BENCH_PYTHON`. Both sides of a line work in
//! turns on the same values with one thread, the fastest round counts, and every round must have the
//! right answer.

mod data;
mod ours;
mod peer;

use superchunk::frame::Durability;

use crate::args::Args;
use crate::contestant::Answer;
use crate::frame_report::FrameReport;
use crate::python::{BCOLZ, BLOSC2, PYARROW};
use crate::report::say;
use crate::rounds::{Folder, Times};
use data::{Data, IDS};
use ours::Ours;
use peer::Peer;

/// A number to compare, and the times it took to find it.
type Outcome = Answer<(f64, Times)>;

/// How a table grows.
#[derive(Clone, Copy)]
struct Appends {
    /// Of a batch.
    rows: usize,
    count: usize,
    /// Or only once in the end.
    commit_each: bool,
}

/// Rows, rows of a batch to append, rows read one by one, rounds.
const FULL: [usize; 4] = [1_000_000, 1000, 1000, 5];
const QUICK: [usize; 4] = [100_000, 100, 200, 3];
/// Batches that are appended, and rounds of it at most: bcolz takes its time.
const BATCHES: usize = 20;
const APPEND_ROUNDS: usize = 2;

/// Who takes part in the scan beside bcolz.
const SCANNERS: [(&str, &str, &str); 3] = [
    ("Parquet (snappy)", "parquet", PYARROW),
    ("Parquet (lz4)", "parquet-lz4", PYARROW),
    ("python-blosc2 CTable", "ctable", BLOSC2),
];

/// Runs all; `false` when an answer was wrong.
pub(crate) fn run(args: &Args, c_version: &str) -> Answer<bool> {
    let [rows, batch, picks, rounds] = if args.quick { QUICK } else { FULL };
    let data = data::make(rows, picks);
    let folder = Folder::new(args.folder.as_deref())?;
    let source = folder.at("source");
    data.save(&source)?;
    let bytes: usize = data.columns.iter().map(|column| column.bytes.len()).sum();
    say(&format!("\n{rows} rows, 20 columns, {bytes} bytes; one thread; bcolz never syncs"));
    let mut bench =
        Bench { report: FrameReport::new(args, c_version, "tables", "bcolz"), right: true, rounds };
    let plain = Ours { data: &data, path: folder.at("plain") };
    let bounded = Ours { data: &data, path: folder.at("bounded") };
    let mut bcolz = Peer::start("bcolz", BCOLZ, &source, &folder.at("bcolz"))?;
    bench.imports(&plain, &bounded, &mut bcolz);
    bench.reads(&plain, &bounded, &mut bcolz);
    for (name, format, variable) in SCANNERS {
        let mut peer = Peer::start(format, variable, &source, &folder.at(format))?;
        let made = || plain.make(Durability::Process, false);
        bench.line_beside(name, "import", rows as f64, made, || peer.ask("make"));
        let scan = "sum of 2 of 20 columns";
        bench.line_beside(name, scan, data.sum, || plain.scan(), || peer.ask("scan"));
    }
    bench.rounds = rounds.min(APPEND_ROUNDS);
    bench.appends(&plain, &mut bcolz, batch);
    bench.report.finish()?;
    Ok(bench.right)
}

/// A run.
struct Bench<'a> {
    report: FrameReport<'a>,
    right: bool,
    rounds: usize,
}

impl Bench<'_> {
    fn imports(&mut self, plain: &Ours<'_>, bounded: &Ours<'_>, bcolz: &mut Peer) {
        let rows = plain.data.rows as f64;
        let mut line = |name, durability, ours: &Ours<'_>, bounds| {
            self.line(name, rows, || ours.make(durability, bounds), || bcolz.ask("make"));
        };
        line("import", Durability::Process, plain, false);
        line("import, ours with bounds", Durability::Process, bounded, true);
        line("import, ours synced", Durability::Full, plain, false);
    }

    fn reads(&mut self, plain: &Ours<'_>, bounded: &Ours<'_>, bcolz: &mut Peer) {
        let data: &Data = plain.data;
        let scan = "sum of 2 of 20 columns";
        self.line(scan, data.sum, || plain.scan(), || bcolz.ask("scan"));
        let summaries = "sum of 2 of 20 columns, ours by summary()";
        self.line(summaries, data.sum, || plain.summaries(), || bcolz.ask("scan"));
        for (column, order, range, sum) in
            [("id", "unsorted", [0, IDS], data.unsorted), ("day", "sorted", data.days, data.sorted)]
        {
            let ask = format!("where {column} {} {}", range[0], range[1]);
            for (ours, how) in [(plain, "without bounds"), (bounded, "with bounds")] {
                let name = format!("where 1 %, {order} column, {how}");
                self.line(&name, sum, || ours.where_in(column, range), || bcolz.ask(&ask));
            }
        }
        let name = format!("{} random rows, one by one", data.picks.len());
        self.line(&name, data.picked, || plain.one_by_one(), || bcolz.ask("one_by_one"));
    }

    fn appends(&mut self, ours: &Ours<'_>, bcolz: &mut Peer, rows: usize) {
        let sum = ours.data.price_of(rows * (BATCHES + 1));
        let batches = format!("append {BATCHES} batches of {rows}");
        for (how, word, durability) in [
            ("one commit", "once", Durability::Process),
            ("one commit, ours synced", "once", Durability::Full),
            ("each committed", "each", Durability::Process),
        ] {
            let appends = Appends { rows, count: BATCHES, commit_each: word == "each" };
            let ask = format!("append {rows} {BATCHES} {word}");
            let name = format!("{batches}, {how}");
            self.line(&name, sum, || ours.append(appends, durability), || bcolz.ask(&ask));
        }
    }

    /// A line of ours and bcolz.
    fn line(
        &mut self,
        name: &str,
        expected: f64,
        ours: impl FnMut() -> Outcome,
        theirs: impl FnMut() -> Outcome,
    ) {
        match in_turns(self.rounds, expected, ours, theirs) {
            Ok(times) => self.report.add(name, times),
            Err(reason) => self.wrong(name, &reason),
        }
    }

    /// A line of ours and another one.
    fn line_beside(
        &mut self,
        other: &str,
        name: &str,
        expected: f64,
        ours: impl FnMut() -> Outcome,
        theirs: impl FnMut() -> Outcome,
    ) {
        let name = format!("{name}, beside {other}");
        match in_turns(self.rounds, expected, ours, theirs) {
            Ok(times) => self.report.add_beside(&name, other, times),
            Err(reason) => self.wrong(&name, &reason),
        }
    }

    fn wrong(&mut self, name: &str, reason: &str) {
        self.right = false;
        self.report.wrong(name, reason);
    }
}

/// The fastest of some rounds of both sides; one round before does not count.
fn in_turns(
    rounds: usize,
    expected: f64,
    mut ours: impl FnMut() -> Outcome,
    mut theirs: impl FnMut() -> Outcome,
) -> Answer<[Times; 2]> {
    let checked = |name: &str, outcome: Outcome| match outcome? {
        (found, times) if found == expected => Ok(times),
        (found, _) => Err(format!("{name} found {found}, not {expected}")),
    };
    let mut fastest = [Times::NEVER; 2];
    for round in 0..=rounds {
        let times = [checked("superchunk", ours())?, checked("the other", theirs())?];
        if round > 0 {
            fastest = [fastest[0].min(times[0]), fastest[1].min(times[1])];
        }
    }
    Ok(fastest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_round_counts_and_a_wrong_answer_is_told() {
        let mut wall = 8.0;
        let mut faster = || {
            wall /= 2.0;
            Ok((3.0, Times { processor: 1.0, wall }))
        };
        let other = || Ok((3.0, Times { processor: 2.0, wall: 2.0 }));
        let [ours, theirs] = in_turns(2, 3.0, &mut faster, other).unwrap();
        assert!(ours.wall == 1.0 && theirs.wall == 2.0);
        assert!(in_turns(1, 4.0, &mut faster, other).unwrap_err().contains("found 3, not 4"));
    }
}
