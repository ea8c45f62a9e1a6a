//! A line for each way to keep the strings, and the numbers as CSV.

use std::fmt::Write as _;

use super::Row;
use crate::args::Args;
use crate::report::{about, save_as, say, write};

/// Collects the rows of a run.
pub(super) struct Table<'a> {
    args: &'a Args,
    csv: String,
    rows: Vec<(String, Row)>,
}

impl<'a> Table<'a> {
    /// Starts a table and prints its head.
    pub(super) fn new(args: &'a Args, c_version: &str, strings: &[String]) -> Self {
        let mut csv = about(c_version);
        let bytes: usize = strings.iter().map(String::len).sum();
        let what = format!("{} strings, {bytes} bytes; one thread", strings.len());
        say(&format!("\n{what}"));
        let heads = ["bytes", "size", "write s", "random µs", "all s"];
        say(&format!(
            "{:<42}{}",
            "processor time",
            heads.map(|head| format!("{head:>12}")).concat()
        ));
        // Writing to a String cannot fail.
        let _ = writeln!(csv, "# {what}");
        let _ = writeln!(
            csv,
            "way,bytes,write_processor_s,write_wall_s,random_processor_us,random_wall_us,\
             all_processor_s,all_wall_s"
        );
        Self { args, csv, rows: Vec::new() }
    }

    /// Adds and prints a row; its size is also told as a share of the first one's.
    pub(super) fn add(&mut self, name: &str, row: Row) {
        let first = self.rows.first().map_or(row.size, |(_, first)| first.size);
        let share = row.size as f64 / first as f64;
        let (write, random, all) = (row.write, row.random, row.all);
        say(&format!(
            "{name:<42}{:>12}{share:>12.3}{:>12.3}{:>12.1}{:>12.3}",
            row.size,
            write.processor,
            random.processor * 1e6,
            all.processor
        ));
        let _ = writeln!(
            self.csv,
            "\"{name}\",{},{:.4},{:.4},{:.3},{:.3},{:.4},{:.4}",
            row.size,
            write.processor,
            write.wall,
            random.processor * 1e6,
            random.wall * 1e6,
            all.processor,
            all.wall
        );
        self.rows.push((name.to_owned(), row));
    }

    /// Prints who is smallest, and writes the files that were asked for.
    pub(super) fn finish(self) -> Result<(), String> {
        if let Some((name, row)) = self.rows.iter().min_by_key(|(_, row)| row.size) {
            say(&format!("smallest: {name}, {} bytes", row.size));
        }
        if let Some(path) = &self.args.csv {
            write(path, &self.csv)?;
        }
        if self.args.save {
            write(&save_as("-objects"), &self.csv)?;
        }
        Ok(())
    }
}
