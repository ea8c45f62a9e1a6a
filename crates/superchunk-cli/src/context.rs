//! What a command needs to know of the global options.

use std::cell::RefCell;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use superchunk::frame::Locking;
use superchunk::{CompressOptions, Executor, Limits, OpenOptions, Work};

use crate::args::Global;
use crate::claim::Claim;
use crate::failure::{Exit, Failure, Outcome};
use crate::memory::{Memory, threads_within};
use crate::names::human;
use crate::progress::Progress;
use crate::readers::{self, Reader};
use crate::style::Style;

/// So much may be written whatever it comes from.
const FREE_OUTPUT: u64 = 1 << 30;
/// Beyond, at most this many times the stored bytes.
const MOST_EXPANSION: u64 = 10_000;

/// The global options, worked out.
#[derive(Debug)]
pub(crate) struct Context {
    global: Global,
    executor: Executor,
    /// What the command is going to replace.
    claim: RefCell<Option<Claim>>,
    /// The programs that must be able to read what the command writes.
    readers: RefCell<Vec<Reader>>,
    /// The warnings so far.
    warned: RefCell<Vec<String>>,
}

impl Context {
    pub(crate) fn new(global: Global) -> Self {
        let executor = Executor::threads(threads_within(global.limit_mem, global.threads));
        Self {
            global,
            executor,
            claim: RefCell::default(),
            readers: RefCell::default(),
            warned: RefCell::default(),
        }
    }

    /// Who does the work.
    pub(crate) fn executor(&self) -> Executor {
        self.executor.clone()
    }

    /// `--limit-mem` and `--limit-output`, where they are given.
    pub(crate) fn given_limits(&self) -> [Option<u64>; 2] {
        [self.global.limit_mem, self.global.limit_output]
    }

    /// How much memory the command may take.
    pub(crate) fn memory(&self) -> Memory {
        Memory::new(self.global.limit_mem, self.executor.thread_count(), self.verifies_writes())
    }

    /// The same options for chunks that this command writes.
    pub(crate) fn equip(&self, compress: CompressOptions) -> CompressOptions {
        compress.with_executor(self.executor()).with_check(self.verifies_writes())
    }

    /// Whether every new chunk is decoded and compared before it is written.
    pub(crate) fn verifies_writes(&self) -> bool {
        self.global.verify_write
    }

    /// What an input may make us allocate.
    pub(crate) fn limits(&self) -> Limits {
        self.memory().limits()
    }

    /// Refuses to write `len` bytes that come out of `stored` bytes of a file: a few bytes may
    /// claim to be terabytes.
    pub(crate) fn check_output(&self, name: &str, len: u64, stored: u64) -> Outcome {
        let is_refused = match self.global.limit_output {
            Some(most) => len > most,
            None => len > FREE_OUTPUT && len / MOST_EXPANSION > stored,
        };
        if !is_refused {
            return Ok(());
        }
        let words = format!("`{name}` has {} and would become {}", human(stored), human(len));
        let help = format!("if you trust it, allow that with --limit-output {len}, or max");
        Err(Failure::said(Exit::Limit, words).with_help(help))
    }

    /// How containers are opened. C-Blosc2's lock file is used where it exists.
    pub(crate) fn open_options(&self) -> OpenOptions {
        let options = OpenOptions::new().with_executor(self.executor()).with_limits(self.limits());
        let options = options.with_check(self.verifies_writes());
        options.with_locking(Locking::Existing).with_wait(self.wait())
    }

    /// How the frame at `path` is opened for reading, which notices when another writer changes it:
    /// without its lock file if this command has that already, because it is going to replace the
    /// frame.
    pub(crate) fn reading(&self, path: &Path) -> OpenOptions {
        let is_claimed = self.claim.borrow().as_ref().is_some_and(|claim| claim.is_of(path));
        let options = self.open_options().with_following(true);
        if is_claimed { options.with_locking(Locking::Writers) } else { options }
    }

    /// How long to wait for another writer.
    pub(crate) fn wait(&self) -> Duration {
        Duration::from_secs(self.global.wait)
    }

    /// Whether new frames get C-Blosc2's lock file.
    pub(crate) fn creates_lock_file(&self) -> bool {
        self.global.lock
    }

    /// Locks what is at `target`, which this command is going to replace. To be called before the
    /// input is read: that may be the same.
    pub(crate) fn claim(&self, target: &Path) -> Outcome {
        let claim = Claim::of(target, self.wait())?;
        *self.claim.borrow_mut() = claim;
        Ok(())
    }

    /// Unlocks what a command that is repeated is going to lock again.
    pub(crate) fn forget_claim(&self) {
        *self.claim.borrow_mut() = None;
    }

    /// What was locked at `target`.
    pub(crate) fn take_claim(&self, target: &Path) -> Option<Claim> {
        let mut claim = self.claim.borrow_mut();
        if claim.as_ref().is_some_and(|claim| claim.is_of(target)) { claim.take() } else { None }
    }

    /// Has everything that this command writes checked before it gets its name: all of these
    /// programs must be able to read it.
    pub(crate) fn require_readers(&self, readers: &[Reader]) {
        *self.readers.borrow_mut() = readers.to_vec();
    }

    /// Refuses a new file or folder that a required program does not read.
    pub(crate) fn check_readers(&self, path: &Path) -> Outcome {
        readers::check_path(path, &self.readers.borrow(), &self.open_options())
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

    /// Prints a warning, once; the command still succeeds.
    pub(crate) fn warn(&self, text: &str) {
        if self.warned.borrow().iter().any(|known| known == text) {
            return;
        }
        self.warned.borrow_mut().push(text.to_owned());
        self.tell(&format!("{} {text}", self.error_style().yellow("warning:")));
    }

    /// Tells of an error, unless even that is unwanted.
    pub(crate) fn complain(&self, text: &str) {
        if self.global.quiet < 2 {
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }

    /// The threads of the command, and a bar for steps of this kind: for this many bytes, or for the
    /// total that the steps state.
    pub(crate) fn watched(&self, what: &'static str, work: Work, total: Option<u64>) -> Executor {
        let (when, is_quiet) = (self.global.progress, self.is_quiet());
        let bar: Mutex<Option<Progress>> = Mutex::default();
        self.executor().with_observer(move |step| {
            if step.work == work {
                let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
                let new = || Progress::new(what, total.or(step.total), when, is_quiet);
                bar.get_or_insert_with(new).add(usize::try_from(step.len).unwrap_or(usize::MAX));
            }
            ControlFlow::Continue(())
        })
    }

    /// A bar for work on this many bytes.
    pub(crate) fn progress(&self, what: &str, total: Option<u64>) -> Progress {
        Progress::new(what, total, self.global.progress, self.is_quiet())
    }
}
