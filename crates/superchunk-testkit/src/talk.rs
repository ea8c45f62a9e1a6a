//! Requests and replies: how all peers but that of chunks are spoken to.
//!
//! A request is one line of JSON with the lengths of the payloads that follow it as raw bytes; so is
//! the reply (`serve.py` is the other end). What the peer refuses comes back as its own words. A process
//! that has died gives `Err` to the call that notices it; the next call starts a new one.

use std::io::{self, BufRead, Read, Write};
use std::path::Path;

use serde_json::{Map, Value};

use crate::peers::PeerKind;
use crate::process::{Input, Output, Process, not_started};

/// A result, or the peer's words for refusing.
pub type Reply<T> = Result<T, String>;

/// A script that answers requests; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Talk {
    kind: PeerKind,
    script: &'static str,
    /// `None` before the first request, and after it died.
    process: Option<Process>,
}

impl Talk {
    /// Starts a script of this crate.
    ///
    /// # Panics
    ///
    /// When it does not start, with a sentence that says what to run.
    #[expect(clippy::panic, reason = "a missing peer must fail the test that needs it")]
    pub(crate) fn start(kind: PeerKind, script: &'static str) -> Self {
        let mut talk = Self { kind, script, process: None };
        if let Err(words) = talk.process() {
            panic!("{words}");
        }
        talk
    }

    /// Which library answers.
    pub(crate) fn kind(&self) -> PeerKind {
        self.kind
    }

    /// The number of the process, when one runs.
    pub(crate) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// One request with its reply.
    pub(crate) fn ask(
        &mut self,
        op: &str,
        mut arguments: Value,
        payload: &[&[u8]],
    ) -> Reply<(Value, Vec<Vec<u8>>)> {
        if let Some(map) = arguments.as_object_mut() {
            map.insert("op".to_owned(), op.into());
            let lengths: Vec<usize> = payload.iter().map(|part| part.len()).collect();
            map.insert("payload".to_owned(), lengths.into());
        }
        let Some((input, output, mut ending)) = self.process()?.pipes() else {
            return Err("the peer process is ending".to_owned());
        };
        let answer = send(input, &arguments, payload).and_then(|()| receive(output));
        answer.map_err(|error| ending.words(&error)).unwrap_or_else(|words| {
            self.process = None;
            Err(words)
        })
    }

    /// The last payload of the reply.
    pub(crate) fn one(&mut self, op: &str, arguments: Value, payload: &[&[u8]]) -> Reply<Vec<u8>> {
        let (_, mut parts) = self.ask(op, arguments, payload)?;
        parts.pop().ok_or_else(|| format!("{op} gave no bytes"))
    }

    fn process(&mut self) -> Reply<&mut Process> {
        match &mut self.process {
            Some(process) => Ok(process),
            none => Ok(none.insert(
                Process::start(self.kind, self.script, &[])
                    .map_err(|error| not_started(self.kind, &error))?,
            )),
        }
    }
}

/// A path as text.
pub(crate) fn text_of(path: &Path) -> Reply<&str> {
    path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()))
}

fn send(input: &mut Input, head: &Value, payload: &[&[u8]]) -> io::Result<()> {
    writeln!(input, "{head}")?;
    payload.iter().try_for_each(|part| input.write_all(part))?;
    input.flush()
}

fn receive(output: &mut Output) -> io::Result<Reply<(Value, Vec<Vec<u8>>)>> {
    let mut line = String::new();
    if output.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut head: Map<String, Value> = serde_json::from_str(&line)?;
    let lengths: Vec<usize> = serde_json::from_value(head.remove("payload").unwrap_or_default())?;
    let mut parts = Vec::new();
    for length in lengths {
        let mut part = vec![0; length];
        output.read_exact(&mut part)?;
        parts.push(part);
    }
    Ok(match head.remove("error") {
        Some(words) => Err(words.as_str().unwrap_or("refused").to_owned()),
        None => Ok((head.remove("ok").unwrap_or_default(), parts)),
    })
}
