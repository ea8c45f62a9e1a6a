//! The table that `cargo xtask flaky` ends with: a line for each program.

use super::repeat::Tally;

const MIN_NAME_COLUMNS: usize = "program".len();

/// Returns the table: program, runs, failed runs, seconds, and which tests failed how often.
pub(super) fn render(tallies: &[Tally]) -> String {
    let longest = tallies.iter().map(|tally| tally.name.len()).max();
    let width = longest.unwrap_or(0).max(MIN_NAME_COLUMNS);
    let header = format!("{:width$}  runs  failures   seconds  failed tests: times", "program");
    let lines = tallies.iter().map(|tally| {
        let Tally { name, runs, failures, .. } = tally;
        let seconds = tally.time.as_secs_f64();
        let causes = causes(tally);
        format!("{name:width$}  {runs:4}  {failures:8}  {seconds:8.1}  {causes}")
            .trim_end()
            .to_owned()
    });
    std::iter::once(header).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Lists what failed, the most frequent first.
fn causes(tally: &Tally) -> String {
    let mut causes: Vec<(&String, &u32)> = tally.causes.iter().collect();
    // The sort is stable: causes that are equally frequent stay in the order of their names.
    causes.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
    let causes = causes.into_iter().map(|(cause, times)| format!("{cause}: {times}"));
    causes.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn columns_are_aligned_and_frequent_failures_come_first() {
        let causes =
            [("a::x", 1), ("b", 3), ("c", 1)].map(|(name, times)| (name.to_owned(), times));
        let tallies = [
            Tally { name: "fork", runs: 50, time: Duration::from_millis(1300), ..Tally::default() },
            Tally {
                name: "frame_interop",
                runs: 50,
                failures: 4,
                causes: causes.into(),
                time: Duration::from_secs(1234),
            },
        ];
        let expected = "\
program        runs  failures   seconds  failed tests: times
fork             50         0       1.3
frame_interop    50         4    1234.0  b: 3, a::x: 1, c: 1";
        assert_eq!(render(&tallies), expected);
    }
}
