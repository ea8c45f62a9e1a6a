//! Another format's process: it does what a line says, and answers with a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::Outcome;
use crate::contestant::Answer;
use crate::python;

/// A running script; when dropped, it is told to end and waited for.
pub(super) struct Peer {
    child: Child,
    /// `None` only while being dropped.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts the script for a format.
    pub(super) fn start(
        format: &str,
        variable: &str,
        source: &Path,
        target: &Path,
    ) -> Answer<Self> {
        let mut command = python::script(variable, "tables")?;
        command.arg(format).arg(source).arg(target).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("cannot run Python: {e}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".to_owned());
        };
        Ok(Self { child, input: Some(input), output: BufReader::new(output) })
    }

    /// Has one thing done.
    pub(super) fn ask(&mut self, line: &str) -> Outcome {
        let mut answer = String::new();
        let input = self.input.as_mut().ok_or("the script has ended")?;
        writeln!(input, "{line}")
            .and_then(|()| self.output.read_line(&mut answer))
            .map_err(|e| format!("the pipe to the script broke: {e}"))?;
        parse(&answer).map_err(|reason| format!("{line}: {reason}"))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

fn parse(answer: &str) -> Outcome {
    let numbers = answer.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>();
    match numbers.as_deref() {
        Ok([result, times @ ..]) => Ok((*result, python::times(times)?)),
        _ => Err(format!("the script did not answer: {answer}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_script_are_understood() {
        let (result, times) = parse("12.25 1.5 2e-3\n").unwrap();
        assert!(result == 12.25 && times.processor == 1.5 && times.wall == 0.002);
        assert!(parse("12.25 1.5\n").is_err() && parse("").is_err() && parse("a b c").is_err());
    }
}
