//! What a command needs to know of the global options.

use std::io::{self, Write};
use std::path::Path;

use superchunk::bloscpack::{Pack, PackReader};
use superchunk::{ErrorKind, Executor, Limits, OpenOptions, SuperChunk};

use crate::args::Global;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::progress::Progress;
use crate::style::Style;

/// The global options, worked out.
#[derive(Debug)]
pub(crate) struct Context {
    global: Global,
    executor: Executor,
}

impl Context {
    pub(crate) fn new(global: Global) -> Self {
        let executor = Executor::threads(global.threads);
        Self { global, executor }
    }

    /// Who does the work.
    pub(crate) fn executor(&self) -> Executor {
        self.executor.clone()
    }

    /// What an input may make us allocate.
    pub(crate) fn limits(&self) -> Limits {
        let limits = Limits::default();
        let Some(most) = self.global.limit_mem else { return limits };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        limits.with_max_decoded(most.min(limits.max_decoded)).with_max_metadata(most)
    }

    /// How frames are opened.
    pub(crate) fn open_options(&self) -> OpenOptions {
        OpenOptions::new().with_executor(self.executor()).with_limits(self.limits())
    }

    /// How Bloscpack files are opened.
    pub(crate) fn pack_reader(&self) -> PackReader {
        PackReader::new().with_executor(self.executor()).with_limits(self.limits())
    }

    /// Opens a frame for changes. What a change makes beside it goes when it is interrupted.
    pub(crate) fn edit(&self, path: &Path) -> Outcome<SuperChunk> {
        let file = if path.is_dir() { path.join("chunks.b2frame") } else { path.to_owned() };
        expect_temporary(&file);
        Ok(self.open_options().edit(path)?)
    }

    /// The same for a Bloscpack file, as `reader` opens it.
    pub(crate) fn edit_pack(&self, reader: &PackReader, path: &Path) -> Outcome<Pack> {
        expect_temporary(path);
        reader.edit(path).map_err(|error| match error.kind() {
            ErrorKind::Unsupported => Failure::said(Exit::Unsupported, error.to_string())
                .with_help("`superchunk repack` brings old versions to version 3"),
            _ => error.into(),
        })
    }

    /// Whether reports are JSON.
    pub(crate) fn json(&self) -> bool {
        self.global.json
    }

    /// Whether to say more.
    pub(crate) fn is_verbose(&self) -> bool {
        self.global.verbose > 0
    }

    /// Whether reports of what was done are unwanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.global.quiet > 0
    }

    /// How text on stdout looks.
    pub(crate) fn style(&self) -> Style {
        Style::of(&io::stdout(), self.global.color)
    }

    /// How text on stderr looks.
    pub(crate) fn error_style(&self) -> Style {
        Style::of(&io::stderr(), self.global.color)
    }

    /// Tells on stderr what was done.
    pub(crate) fn tell(&self, text: &str) {
        if !self.is_quiet() {
            // Nobody is left to tell that stderr is closed.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    /// Tells of an error, unless even that is unwanted.
    pub(crate) fn complain(&self, text: &str) {
        if self.global.quiet < 2 {
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }

    /// A bar for work on this many bytes.
    pub(crate) fn progress(&self, what: &str, total: Option<u64>) -> Progress {
        Progress::new(what, total, self.global.progress, self.is_quiet())
    }
}

/// Writes down what a change may make beside a file.
fn expect_temporary(file: &Path) {
    if let Some(name) = file.file_name() {
        let name = format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id());
        interrupt::began(&file.with_file_name(name));
    }
}
