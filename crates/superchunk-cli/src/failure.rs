//! What can go wrong, the exit code that says so, and how it is told.
//!
//! Every error ends here: kinds of the library become exit codes in one place, and what is printed
//! reads like the message of a compiler: what, where, and what to do about it.

use std::fmt::Write;
use std::io;
use std::path::Path;

use superchunk::{Error, ErrorKind};

use crate::style::Style;

/// The result of everything that can fail.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// The exit codes other than 0. They are documented and do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// An ordinary failure, or `diff` found a difference.
    Failure = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// The data is damaged or ends too early.
    Corrupt = 3,
    /// A codec, filter or format that this build does not know.
    Unsupported = 4,
    /// The operating system said no.
    Io = 5,
    /// A limit would have been exceeded.
    Limit = 6,
    /// Something would be overwritten, or another program is writing.
    Busy = 7,
    /// The change is in place, but whether it survives a power cut is unknown.
    DurabilityUnknown = 8,
    /// The program is wrong, not the data or the command.
    Bug = 9,
}

/// A reason to stop.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused.
    Library(Error),
    /// The program itself refused.
    Said {
        /// The exit code.
        exit: Exit,
        /// What is wrong.
        message: String,
        /// What to do about it.
        help: Option<String>,
    },
    /// All has been said already.
    Quiet(Exit),
    /// Nothing failed: no more is wanted.
    Enough,
}

impl Failure {
    /// The command line makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::said(Exit::Usage, message)
    }

    /// The program refuses.
    pub(crate) fn said(exit: Exit, message: impl Into<String>) -> Self {
        Self::Said { exit, message: message.into(), help: None }
    }

    /// The same failure with a hint, if it is one of the program itself.
    pub(crate) fn with_help(mut self, hint: impl Into<String>) -> Self {
        if let Self::Said { help, .. } = &mut self {
            *help = Some(hint.into());
        }
        self
    }

    /// The operating system refused to do something with a file.
    pub(crate) fn io(doing: &str, path: &Path, error: io::Error) -> Self {
        Self::Library(
            Error::io(format!("cannot {doing}"), error).within(path.display().to_string()),
        )
    }

    /// Data could not be written to stdout.
    pub(crate) fn stdout(error: io::Error) -> Self {
        Self::Library(Error::io("cannot write to stdout", error).within("stdout"))
    }

    /// Whether another writer has changed what was read.
    pub(crate) fn is_about_change(&self) -> bool {
        matches!(self, Self::Library(error) if error.kind() == ErrorKind::Changed)
    }

    /// What the process exits with; `None` is success.
    pub(crate) fn exit(&self) -> Option<Exit> {
        match self {
            Self::Library(error) if is_broken_pipe(error) => None,
            Self::Library(error) => Some(exit_of(error.kind())),
            Self::Said { exit, .. } | Self::Quiet(exit) => Some(*exit),
            Self::Enough => None,
        }
    }

    /// The message in one piece, if there is something to say.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Self::Quiet(_) | Self::Enough => None,
            Self::Said { message, .. } => Some(message.clone()),
            Self::Library(error) => Some(error.to_string()),
        }
    }

    /// What to do about it, if there is something to say.
    pub(crate) fn help(&self) -> Option<&str> {
        match self {
            Self::Said { help, .. } => help.as_deref(),
            _ => None,
        }
    }

    /// The message, in the lines that are printed.
    pub(crate) fn render(&self, style: Style) -> Option<String> {
        let (message, place, help) = match self {
            Self::Quiet(_) | Self::Enough => return None,
            Self::Said { message, help, .. } => (message.as_str(), None, help.clone()),
            Self::Library(error) => {
                (error.message(), place_of(error), hint_of(error.kind()).map(str::to_owned))
            }
        };
        let mut text = format!("{} {message}\n", style.red("error:"));
        if let Some(place) = place {
            let _ = writeln!(text, "  {} {place}", style.blue("-->"));
        }
        if let Some(help) = help {
            let _ = writeln!(text, "  {} {help}", style.blue("help:"));
        }
        Some(text)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

/// The one place where kinds become exit codes.
fn exit_of(kind: ErrorKind) -> Exit {
    match kind {
        ErrorKind::Corrupt | ErrorKind::Truncated => Exit::Corrupt,
        ErrorKind::Unsupported => Exit::Unsupported,
        ErrorKind::InvalidArgument => Exit::Usage,
        ErrorKind::LimitExceeded => Exit::Limit,
        ErrorKind::NotFound | ErrorKind::Io => Exit::Io,
        ErrorKind::Locked | ErrorKind::Changed => Exit::Busy,
        ErrorKind::DurabilityUnknown => Exit::DurabilityUnknown,
        ErrorKind::Miscompressed | ErrorKind::Interrupted => Exit::Failure,
        ErrorKind::Bug => Exit::Bug,
        _ => Exit::Failure,
    }
}

fn hint_of(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::Corrupt => Some("`superchunk verify` tells which chunks can still be read"),
        ErrorKind::Truncated => Some("the end is missing: was a copy or a download interrupted?"),
        ErrorKind::Unsupported => Some("`superchunk caps` lists what this build knows"),
        ErrorKind::LimitExceeded => Some(
            "raise the limit with --limit-mem, to eight times what is needed (nine with --verify-write), if you trust the data",
        ),
        ErrorKind::Locked => Some(
            "another program is writing to it: try again when it has finished, or --wait longer",
        ),
        ErrorKind::Changed => Some("another program has written to it meanwhile: try again"),
        ErrorKind::Miscompressed => Some("nothing was written; --codec (-c) chooses another codec"),
        ErrorKind::DurabilityUnknown => {
            Some("do not repeat the command: look at the disk, then at the file")
        }
        ErrorKind::Bug => Some(concat!(
            "report this message with the command, and the file if it may be shared; this is superchunk ",
            env!("CARGO_PKG_VERSION"),
        )),
        _ => None,
    }
}

/// File or chunk, field and byte offset, as far as they are known.
fn place_of(error: &Error) -> Option<String> {
    let mut parts: Vec<String> = error.subject().map(str::to_owned).into_iter().collect();
    if let Some(place) = error.place() {
        parts.push(format!("{} {}", place.format, place.field));
        parts.extend(place.offset.map(|offset| format!("byte {offset}")));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A reader that has seen enough, such as `head`, is no failure.
fn is_broken_pipe(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    let cause = source.and_then(|source| source.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_library_reads_like_a_compilers() {
        let error = Error::corrupt("is 0").at("chunk", "blocksize", 8).within("a.b2frame, chunk 3");
        let text = Failure::from(error).render(Style::plain()).unwrap();
        let expected = "error: is 0\n  --> a.b2frame, chunk 3, chunk blocksize, byte 8\n  \
                        help: `superchunk verify` tells which chunks can still be read\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn every_kind_has_its_exit_code() {
        let codes = [
            (Error::corrupt(""), 3),
            (Error::truncated(""), 3),
            (Error::unsupported(""), 4),
            (Error::invalid(""), 2),
            (Error::limit(""), 6),
            (Error::not_found(""), 5),
            (Error::locked(""), 7),
            (Error::new(ErrorKind::Miscompressed, ""), 1),
            (Error::new(ErrorKind::DurabilityUnknown, ""), 8),
            (Error::new(ErrorKind::Bug, ""), 9),
            (Error::io("", io::ErrorKind::PermissionDenied.into()), 5),
        ];
        for (error, code) in codes {
            let words = format!("{error:?}");
            assert_eq!(Failure::from(error).exit().unwrap() as u8, code, "{words}");
        }
    }

    #[test]
    fn a_reader_that_has_seen_enough_is_no_failure() {
        assert_eq!(Failure::stdout(io::ErrorKind::BrokenPipe.into()).exit(), None);
        let full = Failure::stdout(io::ErrorKind::StorageFull.into());
        assert_eq!(full.exit(), Some(Exit::Io));
    }
}
