//! A million strings: superchunk's stores of objects beside other ways to keep them.
//!
//! Others are measured by `objects_bench.py`, each in a process of its own: python-blosc2 with the
//! interpreter of `SUPERCHUNK_PEER_PYTHON`, pyarrow with that of `SUPERCHUNK_BENCH_PYTHON`. All work on
//! the same strings with one thread, and every answer is compared with them before anything is timed.

mod ours;
mod report;
mod strings;

use std::path::Path;

use crate::args::Args;
use crate::contestant::Answer;
use crate::python::{self, BLOSC2, PYARROW};
use crate::report::say;
use crate::rounds::{Folder, Times};
use report::Table;

/// How many strings.
const COUNT: usize = 1_000_000;
const QUICK_COUNT: usize = 100_000;

/// What is known of one way to keep the strings.
pub(super) struct Row {
    /// Bytes on disk.
    size: u64,
    write: Times,
    /// One string by its number.
    random: Times,
    /// All of them.
    all: Times,
}

/// How long and how often to measure.
#[derive(Clone, Copy)]
struct Effort {
    rounds: usize,
    /// For random reads.
    seconds: f64,
}

/// The formats of `objects_bench.py`, and the variable that names the interpreter of each.
const OTHERS: [(&str, &str, &str); 8] = [
    ("python-blosc2 BatchArray", "batches", BLOSC2),
    ("python-blosc2 BatchArray, 2500 a block", "batches-2500", BLOSC2),
    ("python-blosc2 UTF8Array", "utf8", BLOSC2),
    ("Parquet, zstd", "parquet", PYARROW),
    ("Parquet, zstd level 9", "parquet-9", PYARROW),
    ("Parquet, zstd, groups of 10,000", "parquet-10000", PYARROW),
    ("Arrow IPC, zstd, batches of 65,536", "arrow", PYARROW),
    ("Arrow IPC, zstd, batches of 10,000", "arrow-10000", PYARROW),
];

/// Runs all; `false` when an answer was wrong.
pub(crate) fn run(args: &Args, c_version: &str) -> Result<bool, String> {
    let folder = Folder::new(args.folder.as_deref())?;
    let strings = strings::make(if args.quick { QUICK_COUNT } else { COUNT });
    let source = folder.at("strings");
    strings::save(&strings, &source)?;
    let effort = match args.quick {
        true => Effort { rounds: 1, seconds: 0.5 },
        false => Effort { rounds: 3, seconds: 3.0 },
    };
    let mut table = Table::new(args, c_version, &strings);
    let mut right = true;
    let mut add = |name: &str, row: Answer<Row>| match row {
        Ok(row) => table.add(name, row),
        Err(reason) => {
            right = false;
            say(&format!("WRONG {name}: {reason}"));
        }
    };
    for (name, way) in ours::WAYS {
        add(name, ours::measure(way, &strings, &folder.at("ours"), effort));
    }
    for (name, format, variable) in OTHERS {
        add(name, others(format, variable, &source, &folder.at("others"), effort));
    }
    table.finish()?;
    Ok(right)
}

/// Has another format measured.
fn others(
    format: &str,
    variable: &str,
    source: &Path,
    target: &Path,
    effort: Effort,
) -> Answer<Row> {
    let mut command = python::script(variable, "objects")?;
    command.arg(format).arg(source).arg(target);
    command.args([effort.rounds.to_string(), effort.seconds.to_string()]);
    let output = command.output().map_err(|e| format!("cannot run Python: {e}"))?;
    let _ = std::fs::remove_dir_all(target).or_else(|_| std::fs::remove_file(target));
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(words.lines().last().unwrap_or("it failed without words").to_owned());
    }
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// Reads what the script prints.
fn parse(text: &str) -> Answer<Row> {
    let numbers = |name: &str| -> Answer<Vec<f64>> {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let line = line.ok_or_else(|| format!("the script did not tell {name}"))?;
        line.split_whitespace().map(|word| word.parse().map_err(|_| line.to_owned())).collect()
    };
    let times = |name: &str| python::times(&numbers(name)?);
    let size = text.lines().find_map(|line| line.strip_prefix("size ")?.parse().ok());
    Ok(Row {
        size: size.ok_or("the script did not tell the size")?,
        write: times("write ")?,
        random: times("random ")?,
        all: times("all ")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_script_are_understood() {
        let row = parse("size 12\nwrite 1.5 2\nrandom 1e-3 0.002\nall 3 4\n").unwrap();
        assert_eq!(row.size, 12);
        assert!(row.write.processor == 1.5 && row.random.wall == 0.002 && row.all.wall == 4.0);
        assert!(parse("size 12\nwrite 1.5\n").is_err());
        assert!(parse("").is_err());
    }
}
