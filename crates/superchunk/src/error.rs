//! The one error type of the library: a kind to match on, a place to look at, a sentence to read.

mod must;

use std::borrow::Cow;
use std::fmt;
use std::io;

pub(crate) use must::{MustGet, OrBug};

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, where, and in words.
///
/// ```
/// use superchunk::{chunk, ErrorKind};
///
/// let error = chunk::decompress(&[2, 1, 0]).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Truncated);
/// assert_eq!(error.place().unwrap().format, "chunk");
/// ```
pub struct Error(Box<Inner>);

/// What a caller may want to tell apart.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The bytes contradict the format or themselves.
    Corrupt,
    /// The bytes end too early; more of them could cure it.
    Truncated,
    /// The bytes are valid, but need something that is not built in or not registered.
    Unsupported,
    /// The caller asked for something impossible.
    InvalidArgument,
    /// Going on would exceed the caller's [`Limits`](crate::Limits) or those of the format.
    LimitExceeded,
    /// There is nothing of that name.
    NotFound,
    /// Another writer holds it.
    Locked,
    /// Another writer has changed it since it was opened: refresh, then try again.
    Changed,
    /// The operating system said no.
    Io,
    /// The observer of the [executor](crate::Executor::with_observer) has stopped the work.
    Interrupted,
    /// A new chunk does not decode to what went into it, as
    /// [`CompressOptions::with_check`](crate::CompressOptions::with_check) has found out before it
    /// was stored: a bug of the encoder, or a fault of the memory.
    Miscompressed,
    /// The new state is in place, but whether it survives a power cut is unknown: the last sync
    /// failed. Every other error of a change means that nothing has happened.
    DurabilityUnknown,
    /// This library has broken a rule of its own; nothing is wrong with the data or the call. The
    /// message says where: please report it.
    Bug,
}

/// Where an error was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The structure being read, such as `chunk` or `frame`.
    pub format: &'static str,
    /// The field or part, in the format's own spelling.
    pub field: &'static str,
    /// Its position, in bytes from the start of the structure.
    pub offset: Option<u64>,
}

struct Inner {
    kind: ErrorKind,
    subject: Option<String>,
    message: Cow<'static, str>,
    place: Option<Place>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

// A `Result<usize>` stays two words.
const _: () = assert!(size_of::<Error>() == size_of::<usize>());

impl Error {
    /// An error of this kind, with a sentence that says what is wrong and, if possible, what to do.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        Self(Box::new(Inner { kind, subject: None, message, place: None, source: None }))
    }

    /// The bytes contradict the format or themselves.
    pub fn corrupt(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// The bytes end too early.
    pub fn truncated(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Truncated, message)
    }

    /// Valid, but not available in this build or registry.
    pub fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// The caller asked for something impossible.
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    /// A limit of the caller or of the format would be exceeded.
    pub fn limit(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::LimitExceeded, message)
    }

    /// There is nothing of that name.
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// Another writer holds it.
    pub fn locked(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Locked, message)
    }

    /// The operating system refused what `message` says; its own words follow.
    pub fn io(message: impl fmt::Display, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::NotFound => ErrorKind::NotFound,
            _ => ErrorKind::Io,
        };
        Self::new(kind, format!("{message}: {source}")).because(source)
    }

    /// The failure of a last sync: what it was to save is in place.
    pub(crate) fn after_change(self) -> Self {
        let words =
            format!("the change is in place, but may not survive a power cut: {}", self.0.message);
        let subject = self.0.subject.clone();
        let error = Self::new(ErrorKind::DurabilityUnknown, words).because(self);
        match subject {
            Some(subject) => error.within(subject),
            None => error,
        }
    }

    /// Whether it says nothing of the data: a limit or a wish of the caller, or a bug of the library.
    pub(crate) fn is_no_damage(&self) -> bool {
        use ErrorKind::{Bug, Interrupted, LimitExceeded};
        matches!(self.0.kind, LimitExceeded | Interrupted | Bug)
    }

    /// Whether something could not be made because there is one of that name already.
    pub(crate) fn is_about_existing(&self) -> bool {
        let source = self.0.source.as_ref().and_then(|source| source.downcast_ref::<io::Error>());
        source.is_some_and(|source| source.kind() == io::ErrorKind::AlreadyExists)
    }

    /// The same error with the name of the file or chunk it is about, unless it has one already.
    #[must_use]
    pub fn within(mut self, subject: impl Into<String>) -> Self {
        self.0.subject.get_or_insert_with(|| subject.into());
        self
    }

    /// The same error with the place it was found at, unless it knows a closer one already.
    #[must_use]
    pub fn at(mut self, format: &'static str, field: &'static str, offset: usize) -> Self {
        let offset = u64::try_from(offset).ok();
        self.0.place.get_or_insert(Place { format, field, offset });
        self
    }

    /// The error with the field it is about, where the bytes of the field have no meaning for the
    /// reader. An error that has a place keeps it.
    #[must_use]
    pub(crate) fn of_field(mut self, format: &'static str, field: &'static str) -> Self {
        self.0.place.get_or_insert(Place { format, field, offset: None });
        self
    }

    /// The same error with its place moved by `base` bytes: a part tells positions from its own
    /// start, the whole knows where the part begins.
    #[must_use]
    pub fn moved_by(mut self, base: usize) -> Self {
        if let Some(offset) = self.0.place.as_mut().and_then(|place| place.offset.as_mut()) {
            *offset = offset.saturating_add(u64::try_from(base).unwrap_or(u64::MAX));
        }
        self
    }

    /// The same error as one of another kind: what is a wrong argument of a caller is damage in a
    /// file. A bug stays one, and work that was stopped.
    #[must_use]
    pub(crate) fn of_kind(mut self, kind: ErrorKind) -> Self {
        if !matches!(self.0.kind, ErrorKind::Bug | ErrorKind::Interrupted) {
            self.0.kind = kind;
        }
        self
    }

    /// The same error with the error that caused it.
    #[must_use]
    pub fn because(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Box::new(source));
        self
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The sentence alone, without subject and place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The file or chunk it is about, if it has been told.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.0.subject.as_deref()
    }

    /// Where it was found, if it was found in stored bytes.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.0.place
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(subject) = &self.0.subject {
            write!(f, "{subject}: ")?;
        }
        let Some(place) = self.0.place else { return f.write_str(&self.0.message) };
        write!(f, "{} {}: {}", place.format, place.field, self.0.message)?;
        match place.offset {
            Some(offset) => write!(f, ", at byte {offset}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as _)
    }
}

/// The error as the source of one of [`std::io`]: [`io::Error::get_ref`] and
/// [`io::Error::downcast`] give it back.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let system = error.0.source.as_ref().and_then(|source| source.downcast_ref::<Self>());
        let kind = match (error.kind(), system.map(Self::kind)) {
            // What the system calls interrupted would be tried again for ever.
            (ErrorKind::Io, Some(kind)) if kind != io::ErrorKind::Interrupted => kind,
            (ErrorKind::Corrupt | ErrorKind::Truncated, _) => io::ErrorKind::InvalidData,
            (ErrorKind::Unsupported, _) => io::ErrorKind::Unsupported,
            (ErrorKind::InvalidArgument, _) => io::ErrorKind::InvalidInput,
            (ErrorKind::NotFound, _) => io::ErrorKind::NotFound,
            (ErrorKind::Locked, _) => io::ErrorKind::ResourceBusy,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_as_place_sentence_offset() {
        let error = Error::corrupt("blocksize is 0").at("chunk", "blocksize", 8);
        assert_eq!(error.to_string(), "chunk blocksize: blocksize is 0, at byte 8");
        assert_eq!(format!("{error:?}"), "Corrupt: chunk blocksize: blocksize is 0, at byte 8");
    }

    #[test]
    fn the_closest_place_wins_and_moves_with_its_part() {
        let error = Error::corrupt("bad").at("chunk", "stream", 3).moved_by(40).at("frame", "x", 1);
        assert_eq!(error.place().unwrap().offset, Some(43));
        assert_eq!(error.place().unwrap().field, "stream");
    }
    #[test]
    fn the_subject_comes_first_and_the_first_one_stays() {
        let error = Error::corrupt("is 0").at("frame", "len", 16).within("a.b2frame").within("b");
        assert_eq!(error.to_string(), "a.b2frame: frame len: is 0, at byte 16");
        assert_eq!((error.subject(), error.message()), (Some("a.b2frame"), "is 0"));
        assert_eq!(Error::locked("is in use").within("x").to_string(), "x: is in use");
        assert_eq!(Error::locked("").kind(), ErrorKind::Locked);
        assert_eq!(Error::not_found("").kind(), ErrorKind::NotFound);
    }

    #[test]
    fn an_error_of_the_system_keeps_its_words_and_its_cause() {
        let full = Error::io("cannot write", io::Error::other("the disk is full"));
        assert_eq!(full.kind(), ErrorKind::Io);
        assert_eq!(full.to_string(), "cannot write: the disk is full");
        let cause = std::error::Error::source(&full).unwrap();
        assert!(cause.downcast_ref::<io::Error>().is_some());

        let missing = Error::io("cannot open", io::ErrorKind::NotFound.into());
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn an_error_of_std_io_carries_this_one() {
        let full = Error::io("cannot write", io::ErrorKind::StorageFull.into());
        let interrupted = Error::io("cannot write", io::ErrorKind::Interrupted.into());
        for (error, kind) in [
            (full, io::ErrorKind::StorageFull),
            (interrupted, io::ErrorKind::Other),
            (Error::truncated("ends"), io::ErrorKind::InvalidData),
            (Error::invalid("no"), io::ErrorKind::InvalidInput),
            (Error::limit("too much"), io::ErrorKind::Other),
        ] {
            let (own_kind, words) = (error.kind(), error.to_string());
            let error = io::Error::from(error);
            assert_eq!((error.kind(), error.to_string()), (kind, words));
            assert_eq!(error.downcast::<Error>().unwrap().kind(), own_kind);
        }
    }
}
