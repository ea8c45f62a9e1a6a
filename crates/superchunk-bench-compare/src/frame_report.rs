//! A line for each bench of files, and the numbers as CSV.

use std::fmt::Write as _;

use crate::args::Args;
use crate::report::{about, save_as, say, write};
use crate::rounds::Times;

/// Collects the lines of a run.
pub(crate) struct FrameReport<'a> {
    args: &'a Args,
    /// What the benches are of: the word of the command line, and how many threads there are if several.
    subject: String,
    /// The other side.
    other: &'static str,
    csv: String,
}

impl<'a> FrameReport<'a> {
    /// Starts a report and prints its head.
    pub(crate) fn new(args: &'a Args, c_version: &str, subject: &str, other: &'static str) -> Self {
        let mut csv = about(c_version);
        let _ = writeln!(csv, "case,implementation,processor_ms,wall_ms");
        say(&format!("\nms as superchunk/{other} and how many times faster superchunk is"));
        let title = format!("{subject}, LZ4 and shuffle");
        say(&format!("{title:<48} {:^30} {:^30}", "processor", "wall"));
        Self { args, subject: subject.to_owned(), other, csv }
    }

    /// Adds and prints a line.
    pub(crate) fn add(&mut self, case: &str, times: [Times; 2]) {
        self.add_beside(case, self.other, times);
    }

    /// The same with another one at the other side.
    pub(crate) fn add_beside(&mut self, case: &str, other: &str, [ours, theirs]: [Times; 2]) {
        let pair = |ours: f64, theirs: f64| {
            format!("{:>10.3}/{:<10.3}{:>7.2}", ours * 1e3, theirs * 1e3, theirs / ours)
        };
        let processor = pair(ours.processor, theirs.processor);
        say(&format!("{case:<48} {processor:<30} {}", pair(ours.wall, theirs.wall)));
        for (name, times) in [("superchunk", ours), (other, theirs)] {
            let (processor, wall) = (times.processor * 1e3, times.wall * 1e3);
            // Writing to a String cannot fail.
            let _ = writeln!(self.csv, "\"{case}\",{name},{processor:.4},{wall:.4}");
        }
    }

    /// Prints why a case could not be timed.
    pub(crate) fn wrong(&mut self, case: &str, reason: &str) {
        say(&format!("WRONG {case}: {reason}"));
    }

    /// Writes the files that were asked for.
    pub(crate) fn finish(self) -> Result<(), String> {
        if let Some(path) = &self.args.csv {
            write(path, &self.csv)?;
        }
        if self.args.save {
            write(&save_as(&format!("-{}", self.subject)), &self.csv)?;
        }
        Ok(())
    }
}
