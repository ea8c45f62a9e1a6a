//! Where results go: a new file or folder, something that is written from front to back, stdout.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use superchunk::{SuperChunk, Value};

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output::{self, path_value};
use crate::readers::Reader;
use crate::replace::replace;

/// What the extension of an output says that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// There is no extension.
    Nothing,
    Frame,
    /// A frame that is a folder.
    Sparse,
    /// An array in a frame.
    B2nd,
    /// A Bloscpack file.
    Blp,
    Npy,
    Chunk,
    /// Plain bytes.
    Raw,
    Bcolz,
    Blsk,
    Csv,
    /// An extension of something else.
    Other,
}

/// The extensions, the usual one first.
const EXTENSIONS: [(&str, Named); 13] = [
    ("b2frame", Named::Frame),
    ("b2b", Named::Frame),
    ("b2", Named::Frame),
    ("sparse", Named::Sparse),
    ("b2nd", Named::B2nd),
    ("blp", Named::Blp),
    ("npy", Named::Npy),
    ("chunk", Named::Chunk),
    ("raw", Named::Raw),
    ("bin", Named::Raw),
    ("bcolz", Named::Bcolz),
    ("blsk", Named::Blsk),
    ("csv", Named::Csv),
];

impl Named {
    /// What the name of the output says.
    pub(crate) fn of(output: &OsStr) -> Self {
        let Some(extension) = Path::new(output).extension() else { return Self::Nothing };
        let known = EXTENSIONS.iter().find(|(known, _)| extension == *known);
        known.map_or(Self::Other, |(_, named)| *named)
    }

    /// Refuses an output whose name says that it is something else than what is `made`.
    pub(crate) fn check(output: &OsStr, made: &[Self], help: &str) -> Outcome {
        let named = Self::of(output);
        if named == Self::Nothing || made.contains(&named) {
            return Ok(());
        }
        let usual = made.iter().filter_map(|made| made.extension());
        let expected: Vec<String> = usual.map(|extension| format!(".{extension}")).collect();
        let expected = match expected.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => "without an extension".to_owned(),
        };
        let words = format!("expected an output called {expected}, got `{}`", output.display());
        Err(Failure::usage(words).with_help(help))
    }

    /// The usual extension.
    fn extension(self) -> Option<&'static str> {
        let known = EXTENSIONS.iter().find(|(_, named)| *named == self);
        known.map(|(extension, _)| *extension)
    }
}

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Stdout.
    Stdout,
    /// A device or a pipe with a name.
    Device(PathBuf),
    /// A new file or folder.
    Path(PathBuf),
}

impl Target {
    /// Reads what was typed behind `-o`.
    pub(crate) fn parse(given: &OsStr) -> Self {
        if given == "-" {
            return Self::Stdout;
        }
        let path = PathBuf::from(given);
        // Renaming a file to the name of a device would remove the device.
        match std::fs::metadata(&path) {
            Ok(found) if !found.is_file() && !found.is_dir() => Self::Device(path),
            _ => Self::Path(path),
        }
    }

    /// Locks what is going to be replaced, if there is something that may be.
    pub(crate) fn claim(&self, force: bool, context: &Context) -> Outcome {
        match self {
            Self::Path(path) if force => context.claim(path),
            _ => Ok(()),
        }
    }

    /// Has what goes there checked before it gets its name: all of these programs must be able to
    /// read it.
    pub(crate) fn require_readers(&self, readers: &[Reader], context: &Context) -> Outcome {
        if !readers.is_empty() && !matches!(self, Self::Path(_)) {
            let words = "--compat checks what was written, which a pipe cannot take back";
            return Err(Failure::usage(words).with_help("write to a file with -o FILE"));
        }
        context.require_readers(readers);
        Ok(())
    }

    /// How to call it in a sentence.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdout => "stdout".to_owned(),
            Self::Device(path) | Self::Path(path) => path.display().to_string(),
        }
    }

    /// How a document calls it.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Stdout => "stdout".into(),
            Self::Device(path) | Self::Path(path) => path_value(path),
        }
    }

    /// It could not be written to.
    pub(crate) fn failed(&self, error: io::Error) -> Failure {
        match self {
            Self::Stdout => Failure::stdout(error),
            Self::Device(path) | Self::Path(path) => Failure::io("write to it", path, error),
        }
    }

    /// Writes text, which may be seen on a terminal.
    pub(crate) fn write_text(
        &self,
        (force, context): (bool, &Context),
        write: &mut dyn FnMut(&mut dyn Write) -> Outcome,
    ) -> Outcome {
        match self {
            Self::Stdout => write(&mut output::text()),
            _ => self.write(force, context, write),
        }
    }

    /// Writes bytes from front to back; `write` gets what takes them.
    pub(crate) fn write<T>(
        &self,
        force: bool,
        context: &Context,
        write: impl FnOnce(&mut dyn Write) -> Outcome<T>,
    ) -> Outcome<T> {
        match self {
            Self::Stdout => {
                let mut out = output::binary()?;
                let done = write(&mut out)?;
                out.flush().map_err(Failure::stdout)?;
                Ok(done)
            }
            Self::Device(path) => {
                let file = OpenOptions::new().write(true).open(path);
                let file = file.map_err(|error| Failure::io("open it for writing", path, error))?;
                fill(file, path, write)
            }
            Self::Path(path) => replace(path, force, context, |temporary| {
                let file = File::create_new(temporary)
                    .map_err(|error| Failure::io("make a new file", path, error))?;
                fill(file, path, write)
            }),
        }
    }

    /// Writes a frame from front to back, and returns its length.
    pub(crate) fn write_frame(
        &self,
        frame: &SuperChunk,
        force: bool,
        context: &Context,
    ) -> Outcome<u64> {
        self.write(force, context, |out| {
            let mut counter = Counter { out, count: 0 };
            frame.write_to(&mut counter)?;
            Ok(counter.count)
        })
    }
}

/// Writes a file from front to back, until it is on the disk.
pub(crate) fn fill<T>(
    file: File,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Outcome<T>,
) -> Outcome<T> {
    let failed = |error| Failure::io("write to it", path, error);
    let mut out = BufWriter::with_capacity(1 << 16, file);
    let done = write(&mut out)?;
    out.flush().map_err(failed)?;
    // Devices cannot be synced, and need not be.
    if out.get_ref().metadata().is_ok_and(|found| found.is_file()) {
        out.get_ref().sync_all().map_err(failed)?;
    }
    Ok(done)
}

/// Counts what is written.
pub(crate) struct Counter<'a> {
    pub(crate) out: &'a mut dyn Write,
    pub(crate) count: u64,
}

impl Write for Counter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.count += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
