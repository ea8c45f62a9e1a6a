//! The options of `cargo xtask flaky`.

use super::programs::{TestProgram, all};
use crate::step::Outcome;

const DEFAULT_TIMES: u32 = 50;

/// The parsed options.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FlakyOptions {
    /// The number of runs of each program.
    pub(super) times: u32,
    pub(super) programs: Vec<TestProgram>,
}

impl FlakyOptions {
    pub(super) fn parse(options: &[String]) -> Outcome<Self> {
        let mut times = DEFAULT_TIMES;
        let mut named = Vec::new();
        let mut words = options.iter();
        while let Some(option) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{option} requires a value"));
            match option.as_str() {
                "--times" => times = number_of_runs(value()?)?,
                "--only" => named.push(program(value()?)?),
                _ => return Err(format!("expected --times N or --only NAME, got '{option}'")),
            }
        }
        let programs = if named.is_empty() { all() } else { named };
        Ok(Self { times, programs })
    }
}

fn number_of_runs(text: &str) -> Outcome<u32> {
    let times = text.parse().ok().filter(|times| *times > 0);
    times.ok_or_else(|| format!("--times: expected a number of runs, at least 1, got '{text}'"))
}

fn program(name: &str) -> Outcome<TestProgram> {
    let found = all().into_iter().find(|program| program.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = all().iter().map(|program| program.name).collect();
        format!("--only: expected one of {}, got '{name}'", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Outcome<FlakyOptions> {
        FlakyOptions::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn without_options_every_program_runs_fifty_times() {
        assert_eq!(parse(&[]), Ok(FlakyOptions { times: 50, programs: all() }));
    }

    #[test]
    fn programs_and_times_can_be_chosen() {
        let chosen = parse(&["--only", "races", "--times", "3", "--only", "cli"]).unwrap();
        assert_eq!(chosen.times, 3);
        let names: Vec<&str> = chosen.programs.iter().map(|program| program.name).collect();
        assert_eq!(names, ["races", "cli"]);
    }

    #[test]
    fn wrong_options_are_refused() {
        for words in [
            &["--times"][..],
            &["--times", "0"],
            &["--times", "x"],
            &["--only"],
            &["--only", "loom_follow"],
            &["races"],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
