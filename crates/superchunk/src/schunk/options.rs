//! What a caller can choose when creating or opening a super-chunk.

use std::fmt;
use std::time::Duration;

use crate::container::MAX_CHUNK_SIZE;
use crate::error::{Error, Result};
use crate::exec::Executor;
use crate::frame::{Dialect, Durability, Kind, LAYERS, Locking, MAX_NAME};
use crate::limits::Limits;
use crate::options::CompressOptions;
use crate::registry::Registry;
use crate::text::Bytes;

/// The chunk size when none is given: enough blocks to share among threads, little enough to decode
/// for one item of a codec without blocks.
const DEFAULT_CHUNK_SIZE: usize = 1 << 20;

/// How a new super-chunk is made.
///
/// ```
/// use superchunk::{Codec, CompressOptions, FrameOptions, SuperChunk};
///
/// let options = FrameOptions::new(CompressOptions::of::<f64>().with_codec(Codec::Zstd))
///     .with_chunk_size(1 << 16)
///     .with_metalayer("unit", b"metre");
/// let lengths = SuperChunk::in_memory(&options)?;
/// assert_eq!(lengths.metalayer("unit"), Some(&b"metre"[..]));
/// # Ok::<(), superchunk::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone)]
pub struct FrameOptions {
    /// How chunks are compressed.
    pub compress: CompressOptions,
    /// The bytes of a chunk, a multiple of the item size. When `None`, the first chunk tells if it is
    /// appended compressed, else it is about a mebibyte.
    pub chunk_size: Option<usize>,
    /// Whether every append makes a chunk of its own, of any size. C-Blosc2 reads such frames since
    /// 3.0, chunk by chunk.
    pub variable: bool,
    /// One file, or a folder with a file for each chunk.
    pub kind: Kind,
    /// The revision of the format of a contiguous frame.
    pub dialect: Dialect,
    /// Names and bytes that are stored in the header.
    pub metalayers: Vec<(String, Vec<u8>)>,
    /// Whether chunks get checksums where C-Blosc2 ignores them. On by default.
    pub checksums: bool,
    /// When a commit returns.
    pub durability: Durability,
    /// Who is kept out during a change.
    pub locking: Locking,
}

impl fmt::Debug for FrameOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metalayers: Vec<_> =
            self.metalayers.iter().map(|(name, content)| (name, Bytes(content))).collect();
        f.debug_struct("FrameOptions")
            .field("compress", &self.compress)
            .field("chunk_size", &self.chunk_size)
            .field("variable", &self.variable)
            .field("kind", &self.kind)
            .field("dialect", &self.dialect)
            .field("metalayers", &metalayers)
            .field("checksums", &self.checksums)
            .field("durability", &self.durability)
            .field("locking", &self.locking)
            .finish()
    }
}

impl FrameOptions {
    /// A contiguous frame with chunks compressed like this.
    #[must_use]
    pub fn new(compress: CompressOptions) -> Self {
        Self {
            compress,
            chunk_size: None,
            variable: false,
            kind: Kind::Contiguous,
            dialect: Dialect::Modern,
            metalayers: Vec::new(),
            checksums: true,
            durability: Durability::Full,
            locking: Locking::Writers,
        }
    }

    /// The same options with chunks of this many bytes.
    #[must_use]
    pub fn with_chunk_size(mut self, bytes: usize) -> Self {
        self.chunk_size = Some(bytes);
        self
    }

    /// The same options for chunks of any size.
    #[must_use]
    pub fn with_variable_chunks(mut self) -> Self {
        self.variable = true;
        self
    }

    /// The same options for one file or a folder.
    #[must_use]
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The same options for another revision of the format.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// The same options with one more value in the header.
    #[must_use]
    pub fn with_metalayer(mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        self.metalayers.push((name.into(), content.into()));
        self
    }

    /// The same options with or without checksums.
    #[must_use]
    pub fn with_checksums(mut self, checksums: bool) -> Self {
        self.checksums = checksums;
        self
    }

    /// The same options with another durability.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same options with another way of locking.
    #[must_use]
    pub fn with_locking(mut self, locking: Locking) -> Self {
        self.locking = locking;
        self
    }

    /// The chunk size, checked.
    pub(super) fn checked_chunk_size(&self) -> Result<Option<usize>> {
        let Some(size) = self.chunk_size else { return Ok(None) };
        let item_size = self.compress.item_size.max(1);
        if size == 0 || size > MAX_CHUNK_SIZE || !size.is_multiple_of(item_size) {
            return Err(Error::invalid(format!(
                "a chunk of {size} bytes: it must be a multiple of the item size {item_size} and at \
                 most {MAX_CHUNK_SIZE}"
            )));
        }
        Ok(Some(size))
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.dialect != Dialect::Modern && (self.kind == Kind::Sparse || self.variable) {
            return Err(Error::invalid("old dialects are contiguous, with chunks of one size"));
        }
        if self.dialect == Dialect::Beta1 {
            return Err(Error::unsupported("frames of beta 1 are only read"));
        }
        if self.metalayers.len() > LAYERS {
            return Err(Error::invalid(format!(
                "{} metalayers: a frame has at most {LAYERS}",
                self.metalayers.len()
            )));
        }
        self.metalayers.iter().try_for_each(|(name, _)| check_name(name))
    }
}

/// The chunk size for items of this size.
pub(super) fn default_chunk_size(item_size: usize) -> usize {
    (DEFAULT_CHUNK_SIZE / item_size).max(1) * item_size
}

/// Refuses names that the format or C strings cannot hold.
pub(super) fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.len() > MAX_NAME || name.contains('\0') {
        return Err(Error::invalid(format!(
            "`{name}` is no name: 1 to {MAX_NAME} bytes, none of them NUL"
        )));
    }
    Ok(())
}

/// How a container of any format is opened.
///
/// [`OpenOptions::open`] opens whatever is there; each type takes the same options, as in
/// [`SuperChunk::open_with`](crate::SuperChunk::open_with). An option applies to every format that
/// has what it is about, and says so where some formats have not.
///
/// ```no_run
/// use superchunk::{Executor, Limits, NdArray, OpenOptions};
///
/// let options = OpenOptions::new()
///     .with_executor(Executor::threads(0))
///     .with_limits(Limits::default().with_max_decoded(1 << 24));
/// let opened = options.open("anything")?;
/// let cube = NdArray::open_with("cube.b2nd", &options)?;
/// # Ok::<(), superchunk::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Who decodes, and compresses new chunks.
    pub executor: Executor,
    /// What the input may make us allocate.
    pub limits: Limits,
    /// The user's codecs and filters.
    pub registry: Registry,
    /// The byte of the file at which the container starts. Containers that are folders start at 0.
    pub offset: u64,
    /// When a commit returns.
    pub durability: Durability,
    /// Which other writers are kept out during a change, and which ones a reader waits for. Formats
    /// other than frames have no lock file of C-Blosc2, only the lock of the file or folder itself.
    pub locking: Locking,
    /// How long to wait for other writers before [`ErrorKind::Locked`](crate::ErrorKind::Locked).
    /// When `None`: not at all for writers of this library, as long as it takes for C-Blosc2's lock
    /// file, which its users hold only while they work.
    pub wait: Option<Duration>,
    /// Whether every read makes sure that no writer has changed the frame since it was opened or
    /// refreshed, and fails with [`ErrorKind::Changed`](crate::ErrorKind::Changed) if one has. Without
    /// it a reader keeps to the state it knows, whose chunks an editing writer may overwrite some
    /// commits later. For frames.
    pub follows_writer: bool,
    /// Whether to open a frame whose fingerprint does not match.
    pub ignores_fingerprint: bool,
    /// Whether a few items are found by the marks of chunks that have some: chunks of frames, and
    /// single chunks of the Blosc2 generation.
    pub uses_marks: bool,
    /// Whether every new chunk is decoded and compared before it is stored.
    pub checks_chunks: bool,
    /// Whether to open a Bloscpack file whose header, offsets or metadata contradict its chunks.
    pub is_lenient: bool,
    /// Whether the digests of a Bloscpack file are left unchecked.
    pub skips_digests: bool,
    /// The room that a writer leaves after each object of a Bloscpack file that it appends, moves
    /// or writes anew, in per cent of the bytes that the object takes.
    pub reserve: u32,
    /// How appended chunks are compressed. When `None`: as the container says, or like its first
    /// chunk. bcolz and blsk store how all their chunks are compressed and refuse this option.
    pub compress: Option<CompressOptions>,
}

impl OpenOptions {
    /// One thread, default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same options with the work done by `executor`.
    #[must_use]
    pub fn with_executor(mut self, executor: Executor) -> Self {
        self.executor = executor;
        self
    }

    /// The same options with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same options with the user's codecs and filters.
    #[must_use]
    pub fn with_registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// The same options for a container that starts at this byte of the file.
    #[must_use]
    pub fn with_offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// The same options with another durability.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same options with another way of locking.
    #[must_use]
    pub fn with_locking(mut self, locking: Locking) -> Self {
        self.locking = locking;
        self
    }

    /// The same options with a limit to the time that is waited for other writers.
    #[must_use]
    pub fn with_wait(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self
    }

    /// The same options for a reader that follows a writer.
    ///
    /// Changes are known by the header, and by the fingerprint where the frame has one, as all have that are
    /// written with checksums. Without it only appends are sure to be seen: a change that replaces chunks by
    /// others of the same lengths may leave the header as it was, and needs
    /// [`Locking::Sidecar`](crate::frame::Locking) on both sides.
    #[must_use]
    pub fn with_following(mut self, following: bool) -> Self {
        self.follows_writer = following;
        self
    }

    /// The same options for a reader that finds a few items by the marks of chunks, where the
    /// writer has made some ([`CompressOptions::with_marks`]), and so trusts the writer: see
    /// [`Decoder::with_marks`](crate::chunk::Decoder::with_marks).
    #[must_use]
    pub fn with_marks(mut self, marks: bool) -> Self {
        self.uses_marks = marks;
        self
    }

    /// The same options for a writer that decodes and compares every new chunk, see
    /// [`CompressOptions::with_check`].
    #[must_use]
    pub fn with_check(mut self, check: bool) -> Self {
        self.checks_chunks = check;
        self
    }

    /// The same options, but a fingerprint that does not match is no error.
    #[must_use]
    pub fn with_trust(mut self, trusting: bool) -> Self {
        self.ignores_fingerprint = trusting;
        self
    }

    /// The same options, but where header, offsets or metadata of a Bloscpack file contradict the
    /// chunks, the chunks count: that is how bloscpack itself reads.
    #[must_use]
    pub fn with_lenient(mut self, lenient: bool) -> Self {
        self.is_lenient = lenient;
        self
    }

    /// The same options, but the digests of a Bloscpack file are not compared: a part of a chunk
    /// can then be read without the rest.
    #[must_use]
    pub fn with_unchecked_digests(mut self, unchecked: bool) -> Self {
        self.skips_digests = unchecked;
        self
    }

    /// The same options, but a writer leaves this much room after each object of a Bloscpack file
    /// that it appends, moves or writes anew, in per cent of the bytes that it takes.
    #[must_use]
    pub fn with_reserve(mut self, percent: u32) -> Self {
        self.reserve = percent;
        self
    }

    /// The same options, but appended chunks are compressed like this. Item size, blocks of an
    /// array and the generation of chunks stay those of the container; executor and registry are
    /// those of these options.
    #[must_use]
    pub fn with_compress(mut self, compress: CompressOptions) -> Self {
        self.compress = Some(compress);
        self
    }

    /// Refuses options that say how new chunks are compressed, for a format that stores it.
    pub(crate) fn check_no_compress(&self, format: &str) -> Result<()> {
        match self.compress {
            None => Ok(()),
            Some(_) => Err(Error::invalid(format!(
                "a {format} stores how its chunks are compressed: `OpenOptions::compress` cannot \
                 change that"
            ))),
        }
    }

    /// Refuses an offset in a container that is a folder.
    pub(crate) fn check_no_offset(&self) -> Result<()> {
        match self.offset {
            0 => Ok(()),
            offset => Err(Error::invalid(format!(
                "`OpenOptions::offset` is {offset}, but a container that is a folder starts at 0"
            ))),
        }
    }
}
