//! A peer's process: a Python script at the other end of two pipes.

use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::peers::PeerKind;

/// What requests are written to.
pub(crate) type Input = BufWriter<ChildStdin>;
/// What replies are read from.
pub(crate) type Output = BufReader<ChildStdout>;

/// A running script; it is told to end when this is dropped, and waited for.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    // `None` only while being dropped.
    input: Option<Input>,
    output: Output,
}

impl Process {
    /// Runs a script of this crate's `src` with the interpreter of a peer.
    pub(crate) fn start(kind: PeerKind, script: &str, arguments: &[&str]) -> io::Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(script);
        let mut command = Command::new(python_of(kind));
        command.arg(script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        // BLOSC_* variables change what the libraries do; a test says all it wants in its request.
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("BLOSC") {
                command.env_remove(variable);
            }
        }
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let input = Some(BufWriter::new(input));
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    /// The two pipes, and what tells why they broke.
    pub(crate) fn pipes(&mut self) -> Option<(&mut Input, &mut Output, Ending<'_>)> {
        Some((self.input.as_mut()?, &mut self.output, Ending(&mut self.child)))
    }

    /// Whether the process is gone.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A closed pipe is the peer's sign to end.
        self.input = None;
        let _ = self.child.wait();
    }
}

/// Puts the end of a peer into words.
pub(crate) struct Ending<'a>(&'a mut Child);

impl Ending<'_> {
    pub(crate) fn words(&mut self, error: &io::Error) -> String {
        // A broken output means that the process is gone or as good as gone.
        let broken =
            matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe);
        let status = if broken { self.0.wait().map(Some) } else { self.0.try_wait() };
        match status {
            Ok(Some(status)) => format!("the peer process ended ({status})"),
            _ => format!("the pipe to the peer broke: {error}"),
        }
    }
}

/// The sentence for a peer that does not start, with what to run.
pub(crate) fn not_started(kind: PeerKind, error: &io::Error) -> String {
    format!(
        "the peer {kind:?} did not start with {}: {error}; run cargo xtask test (or cargo xtask setup)",
        python_of(kind).display()
    )
}

/// The interpreter of a peer: the environment's word, or the place where `cargo xtask setup` puts it.
fn python_of(kind: PeerKind) -> PathBuf {
    let (variable, folder) = match kind {
        PeerKind::Blosc2Old => ("SUPERCHUNK_PEER_PYTHON_OLD", "blosc2-old"),
        PeerKind::Legacy => ("SUPERCHUNK_PEER_PYTHON_LEGACY", "legacy"),
        PeerKind::Blosc2 | PeerKind::Blosc1 | PeerKind::Numcodecs => {
            ("SUPERCHUNK_PEER_PYTHON", "blosc2")
        }
    };
    let place = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    let fallback = || crate::repository().join("target/venv").join(folder).join(place);
    std::env::var_os(variable).map_or_else(fallback, PathBuf::from)
}
