//! What is at a location: recognised once, and opened by what takes it.
//!
//! ```text
//! Location ── Found::at ──┬ open ── Held:   what the door of the library gives, or plain bytes
//!                         └ edit ── Edited: a frame, a Bloscpack file, a table
//! ```

use std::path::{Path, PathBuf};

use superchunk::bloscpack::Pack;
use superchunk::detect::{Detected, Format};
use superchunk::frame::create_lock_file;
use superchunk::store::FileReader;
use superchunk::{ErrorKind, OpenOptions, Opened, SuperChunk};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::folders;
use crate::foreign;
use crate::interrupt;
use crate::location::Location;
use crate::scratch::Scratch;

/// What is at a location, recognised.
pub(crate) struct Found {
    pub(crate) location: Location,
    /// Where it is, which for stdin is a temporary file.
    pub(crate) path: PathBuf,
    /// What it was recognised as.
    pub(crate) detected: Detected,
    /// Keeps the bytes of stdin.
    spool: Option<Scratch>,
}

/// What is opened for reading.
pub(crate) enum Held {
    Opened(Opened),
    /// Plain bytes, and files of formats that are only recognised.
    Raw(FileReader),
}

/// What is opened for changes.
pub(crate) enum Edited {
    /// A frame, whatever it holds: its attributes and dead space are alike.
    Frame(Box<SuperChunk>),
    Pack(Box<Pack>),
    /// A table, or an array that is one of one column.
    Table(Opened),
}

impl Found {
    /// Recognises what is at a location. Only tables have something inside.
    pub(crate) fn at(location: &Location) -> Outcome<Self> {
        if location.path.is_none() && location.inner.is_some() {
            return Err(nothing_inside(location));
        }
        let (path, spool) = match &location.path {
            Some(path) => (path.clone(), None),
            None => {
                let spool = Scratch::of_stdin()?;
                (spool.path().to_owned(), Some(spool))
            }
        };
        let mut detected = folders::detect(&path)?;
        if location.inner.is_some() && !is_of_tables(detected.format) {
            return Err(nothing_inside(location));
        }
        if detected.format == Format::Raw {
            detected.reason = foreign::reason(&path).unwrap_or(detected.reason);
        }
        Ok(Self { location: location.clone(), path, detected, spool })
    }

    /// Recognises all of a file or folder.
    pub(crate) fn at_path(path: &Path) -> Outcome<Self> {
        Self::at(&Location::whole(Some(path.to_owned())))
    }

    /// Recognises what is at a location; `None` if that is a folder of files, which may be arrays.
    pub(crate) fn or_folder(location: &Location) -> Outcome<Option<Self>> {
        match &location.path {
            Some(path) if folders::is_plain(path) => Ok(None),
            _ => Self::at(location).map(Some),
        }
    }

    pub(crate) fn format(&self) -> Format {
        self.detected.format
    }

    /// Whether it is a table, or an array in a folder that is one of one column.
    pub(crate) fn is_table(&self) -> bool {
        is_of_tables(self.format())
    }

    /// Whether it is a frame, whatever that holds.
    pub(crate) fn is_frame(&self) -> bool {
        matches!(self.format(), Format::Frame | Format::SparseFrame)
    }

    /// Refuses it, because the command takes something else.
    pub(crate) fn refuse(&self, wanted: &str) -> Failure {
        foreign::refuse(&self.location.name(), &self.path, &self.detected, wanted)
    }

    /// Refuses it, because the command takes a table.
    pub(crate) fn refuse_as_table(&self) -> Failure {
        foreign::refuse_as_table(&self.location.name(), &self.path, &self.detected)
    }

    /// Opens it for reading.
    pub(crate) fn open(&self, context: &Context) -> Outcome<Held> {
        let options = context.reading(&self.path);
        if matches!(self.format(), Format::Raw | Format::BlskFile | Format::Blosc2Zip) {
            return Ok(Held::Raw(FileReader::open(&self.path)?));
        }
        match options.open(&self.path) {
            // What only python-blosc2 reads has chunks, too.
            Err(error)
                if error.kind() == ErrorKind::Unsupported && self.format() == Format::Frame =>
            {
                let frame = SuperChunk::open_with(&self.path, &options)?;
                context.warn(error.message());
                Ok(Held::Opened(Opened::SuperChunk(Box::new(frame))))
            }
            opened => Ok(Held::Opened(opened?)),
        }
    }

    /// Opens it for changes.
    pub(crate) fn edit(&self, context: &Context) -> Outcome<Edited> {
        match self.format() {
            Format::Bloscpack => {
                let pack = edit_pack(&self.path, &context.open_options())?;
                Ok(Edited::Pack(Box::new(pack)))
            }
            _ if self.is_table() => {
                let table = context.open_options().edit(&self.path)?;
                interrupt::grows(&self.path);
                Ok(Edited::Table(table))
            }
            _ => Ok(Edited::Frame(Box::new(self.edit_frame(context)?))),
        }
    }

    /// Opens a frame for changes. What a change makes beside it goes when it is interrupted.
    pub(crate) fn edit_frame(&self, context: &Context) -> Outcome<SuperChunk> {
        if !self.is_frame() {
            return Err(self.refuse("a frame"));
        }
        if context.creates_lock_file() {
            create_lock_file(&self.path)?;
        }
        let frame = SuperChunk::edit_with(&self.path, &context.open_options())?;
        interrupt::edits(&index_file(&self.path, self.format()));
        if self.format() == Format::SparseFrame {
            interrupt::grows(&self.path);
        }
        Ok(frame)
    }

    /// The temporary file that has the bytes of stdin.
    pub(crate) fn into_spool(self) -> Option<Scratch> {
        self.spool
    }
}

/// Opens a Bloscpack file for changes.
pub(crate) fn edit_pack(path: &Path, options: &OpenOptions) -> Outcome<Pack> {
    let pack = Pack::edit_with(path, options).map_err(|error| match error.kind() {
        ErrorKind::Unsupported => Failure::said(Exit::Unsupported, error.to_string())
            .with_help("`superchunk repack` brings old versions to version 3"),
        _ => error.into(),
    })?;
    interrupt::edits(path);
    Ok(pack)
}

/// The file of a frame that holds header, index and trailer.
pub(crate) fn index_file(path: &Path, format: Format) -> PathBuf {
    if format == Format::SparseFrame { path.join("chunks.b2frame") } else { path.to_owned() }
}

/// Refuses a location with a name inside of something that has no names inside.
pub(crate) fn nothing_inside(location: &Location) -> Failure {
    let inner = location.inner.as_deref().unwrap_or_default();
    let words = format!("`{}` has nothing inside that is called `{inner}`", location.name());
    Failure::said(Exit::Unsupported, words)
        .with_help("frames, chunks and arrays have no parts with names")
}

/// What was opened is not what it was recognised as: another writer has replaced it.
pub(crate) fn changed(path: &Path) -> Failure {
    Failure::said(Exit::Busy, format!("`{}` has changed", path.display()))
}

fn is_of_tables(format: Format) -> bool {
    matches!(format, Format::BcolzTable | Format::BcolzArray | Format::Blsk | Format::Columns)
}
