//! The lock file that C-Blosc2 puts beside a frame.
//!
//! ```text
//! x.b2frame.b2lock     beside a contiguous frame
//! folder/.b2lock       inside of a sparse one
//!
//!  0        8           16
//!  ├────────┼───────────┤
//!  │ unused │ generation│   u64 in the byte order of the machine; missing bytes count as 0
//!  └────────┴───────────┘
//! ```
//!
//! Readers hold the system's advisory lock of this file as shared, writers as exclusive, for the
//! length of one operation. A writer adds 1 to the generation as soon as it has the lock and before it
//! changes anything, so that everyone sees by the generation whether what he remembers may be old.
//! The file is made when it is first needed, or used only where it exists, and never removed:
//! removing it would let two processes lock two different files.
//!
//! The lock of the system belongs to the open file, which all threads share. Among themselves the
//! threads therefore agree first ([`State`]); only the first one in and the last one out talk to the
//! system.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::PoisonError;

use super::file::{Links, named, open_regular, read_up_to, write_all};
use super::sync::{Arc, Condvar, Mutex, MutexGuard, wait_exclusive, wait_shared};
use crate::error::{Error, Result};

/// Where the generation is.
const GENERATION_AT: u64 = 8;

/// The lock file of one frame. Clones are handles of the same open file.
#[derive(Clone, Debug)]
pub(crate) struct Sidecar(Arc<Inner>);

impl Sidecar {
    /// The lock file beside a contiguous frame.
    pub(crate) fn for_file(path: &Path) -> Self {
        let mut name = path.as_os_str().to_owned();
        name.push(".b2lock");
        Self::at(name.into(), true)
    }

    /// The lock file inside of a sparse frame.
    pub(crate) fn for_folder(path: &Path) -> Self {
        Self::at(path.join(Self::IN_FOLDER), true)
    }

    /// The lock file of the frame at `path`, a file or a folder, if there is one.
    pub(crate) fn existing(path: &Path) -> Option<Self> {
        let sidecar = if path.is_dir() { Self::for_folder(path) } else { Self::for_file(path) };
        sidecar.if_existing()
    }

    /// This lock file if it is there, which is not made.
    pub(crate) fn if_existing(&self) -> Option<Self> {
        let path = &self.0.path;
        path.symlink_metadata().is_ok().then(|| Self::at(path.clone(), false))
    }

    /// The name of the lock file inside of a sparse frame.
    pub(crate) const IN_FOLDER: &str = ".b2lock";

    /// Makes the file, if it is missing.
    pub(crate) fn create(&self) -> Result<()> {
        self.0.opened(&mut self.0.state(), Mode::Exclusive).map(drop)
    }

    /// Waits until there is no writer, then keeps writers out.
    pub(crate) fn shared(&self) -> Result<Guard> {
        self.acquire(Mode::Shared, Patience::Wait)
    }

    /// Waits until there is nobody else, then keeps everybody out. A thread that holds a guard of this
    /// handle already would wait for itself.
    pub(crate) fn exclusive(&self) -> Result<Guard> {
        self.acquire(Mode::Exclusive, Patience::Wait)
    }

    /// Keeps writers out, or fails at once if there is one.
    pub(crate) fn try_shared(&self) -> Result<Guard> {
        self.acquire(Mode::Shared, Patience::Fail)
    }

    /// Keeps everybody out, or fails at once if there is somebody.
    pub(crate) fn try_exclusive(&self) -> Result<Guard> {
        self.acquire(Mode::Exclusive, Patience::Fail)
    }

    fn at(path: PathBuf, creates: bool) -> Self {
        let state = Mutex::new(State { file: None, held: Held::Free, owner: 0 });
        Self(Arc::new(Inner { path, creates, state, changed: Condvar::new() }))
    }

    fn acquire(&self, mode: Mode, patience: Patience) -> Result<Guard> {
        let file = match self.0.enter(mode, patience)? {
            Entered::Joined(generation) => {
                return Ok(Guard { sidecar: Arc::clone(&self.0), generation, mode });
            }
            Entered::First(file) => file,
        };
        // Other threads wait or fail meanwhile, but are not stopped by a mutex that is held.
        let locked = lock(&file, mode, patience).and_then(|()| {
            count(&file, mode).inspect_err(|_| drop(file.unlock())).map_err(LockFailure::System)
        });
        self.0.settle(match (&locked, mode) {
            (Err(_), _) => Held::Free,
            (Ok(_), Mode::Exclusive) => Held::Exclusive,
            (Ok(generation), Mode::Shared) => Held::Shared { holders: 1, generation: *generation },
        });
        match locked {
            Ok(generation) => Ok(Guard { sidecar: Arc::clone(&self.0), generation, mode }),
            Err(LockFailure::InUse) => Err(self.0.in_use()),
            Err(LockFailure::System(error)) => {
                Err(Error::io("cannot lock it", error).within(named(&self.0.path)))
            }
        }
    }
}

/// The lock, until it is dropped.
#[derive(Debug)]
pub(crate) struct Guard {
    sidecar: Arc<Inner>,
    generation: u64,
    mode: Mode,
}

impl Guard {
    /// The generation that was found: when it is not the one last seen, others have written since.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The generation to remember as seen: a writer's own step counted in.
    pub(crate) fn generation_to_remember(&self) -> u64 {
        match self.mode {
            Mode::Shared => self.generation,
            Mode::Exclusive => self.generation.wrapping_add(1),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.sidecar.leave();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Shared,
    Exclusive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    Wait,
    Fail,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    /// Whether the file is made where it is missing.
    creates: bool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Opened at the first lock, then kept.
    file: Option<Arc<File>>,
    held: Held,
    /// The process that has the lock of the system, or had it last: no other one may release it.
    owner: u32,
}

/// What the threads of this handle have together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Free,
    /// One of them is asking the system.
    Asking,
    Shared {
        holders: usize,
        generation: u64,
    },
    Exclusive,
}

enum Entered {
    /// Readers of this handle hold the lock already; nobody can have written since they took it.
    Joined(u64),
    /// Nobody of this handle does: ask the system.
    First(Arc<File>),
}

enum LockFailure {
    InUse,
    System(io::Error),
}

impl Inner {
    /// Waits for the other threads of this handle, as far as they are in the way.
    fn enter(&self, mode: Mode, patience: Patience) -> Result<Entered> {
        let mut state = self.state();
        loop {
            match (state.held, mode) {
                (Held::Free, _) => {
                    let file = self.opened(&mut state, mode)?;
                    state.held = Held::Asking;
                    return Ok(Entered::First(file));
                }
                (Held::Shared { holders, generation }, Mode::Shared) => {
                    let holders = holders.saturating_add(1);
                    state.held = Held::Shared { holders, generation };
                    return Ok(Entered::Joined(generation));
                }
                _ if patience == Patience::Fail => return Err(self.in_use()),
                _ => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn settle(&self, held: Held) {
        let mut state = self.state();
        (state.held, state.owner) = (held, process::id());
        drop(state);
        self.changed.notify_all();
    }

    fn leave(&self) {
        let mut state = self.state();
        match state.held {
            Held::Shared { holders, generation } if holders > 1 => {
                state.held = Held::Shared { holders: holders - 1, generation };
            }
            _ => {
                // It fails only on a file that is not open, which has no lock either.
                let mine = state.file.as_ref().filter(|_| state.owner == process::id());
                let _ = mine.map(|file| file.unlock());
                state.held = Held::Free;
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    fn opened(&self, state: &mut State, mode: Mode) -> Result<Arc<File>> {
        if let Some(file) = &state.file {
            return Ok(Arc::clone(file));
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(self.creates).truncate(false);
        // A link could make us count up the bytes of any file of the user.
        let open = |options: &mut OpenOptions| {
            open_regular(&self.path, options, Links::Refuse, "open the lock file")
        };
        let file = open(&mut options).or_else(|error| match mode {
            // Readers only look at the count.
            Mode::Shared if self.path.exists() => open(OpenOptions::new().read(true)),
            _ => Err(error),
        })?;
        Ok(Arc::clone(state.file.insert(Arc::new(file))))
    }

    fn in_use(&self) -> Error {
        Error::locked("another process or thread holds the lock; wait until it is done")
            .within(named(&self.path))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the system for the lock.
fn lock(file: &File, mode: Mode, patience: Patience) -> std::result::Result<(), LockFailure> {
    loop {
        let answer = match (mode, patience) {
            (Mode::Shared, Patience::Wait) => wait_shared(file),
            (Mode::Exclusive, Patience::Wait) => wait_exclusive(file),
            (Mode::Shared, Patience::Fail) => file.try_lock_shared(),
            (Mode::Exclusive, Patience::Fail) => file.try_lock(),
        };
        return match answer {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(LockFailure::InUse),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {
                continue;
            }
            Err(TryLockError::Error(error)) => Err(LockFailure::System(error)),
        };
    }
}

/// Reads the generation, which a writer then counts up; returns what was read.
#[expect(clippy::host_endian_bytes, reason = "the peer keeps it in the machine's byte order")]
fn count(file: &File, mode: Mode) -> io::Result<u64> {
    let mut bytes = [0; 8];
    let found = match read_up_to(file, GENERATION_AT, &mut bytes)? {
        8 => u64::from_ne_bytes(bytes),
        _ => 0,
    };
    if mode == Mode::Exclusive {
        write_all(file, GENERATION_AT, &found.wrapping_add(1).to_ne_bytes())?;
    }
    Ok(found)
}

#[cfg(test)]
#[cfg(loom)]
mod loom_tests;

#[cfg(test)]
mod tests {
    use super::super::file::scratch::Scratch;
    use super::*;
    use crate::error::ErrorKind;
    use std::fs;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn kind<T>(result: Result<T>) -> ErrorKind {
        result.err().unwrap().kind()
    }

    #[test]
    fn the_file_is_made_at_the_first_lock_and_stays() {
        let scratch = Scratch::new();
        let path = scratch.path("x.b2frame.b2lock");
        let sidecar = Sidecar::for_file(&scratch.path("x.b2frame"));
        assert!(!path.exists());
        assert_eq!(sidecar.shared().unwrap().generation(), 0);
        assert_eq!(fs::read(&path).unwrap(), b"");
        drop(sidecar);
        assert!(path.exists());
        Sidecar::for_folder(&scratch.path("")).exclusive().unwrap();
        assert_eq!(fs::read(scratch.path(".b2lock")).unwrap().len(), 16);
    }

    #[test]
    fn writers_count_and_readers_see_it() {
        let scratch = Scratch::new();
        let (ours, theirs) = two_handles(&scratch);
        for step in 0..3u8 {
            let guard = ours.exclusive().unwrap();
            let (before, after) = (u64::from(step), u64::from(step) + 1);
            assert_eq!((guard.generation(), guard.generation_to_remember()), (before, after));
            // Before anything is changed, and not when it is done.
            let bytes = fs::read(scratch.path("x.b2lock")).unwrap();
            let mut expected = vec![0; 16];
            expected[if cfg!(target_endian = "little") { 8 } else { 15 }] = step + 1;
            assert_eq!(bytes, expected);
            drop(guard);
            let guard = theirs.try_shared().unwrap();
            assert_eq!((guard.generation(), guard.generation_to_remember()), (after, after));
        }
    }

    #[test]
    fn handles_keep_each_other_out() {
        let scratch = Scratch::new();
        let (ours, theirs) = two_handles(&scratch);
        let reading = ours.shared().unwrap();
        let also_reading = theirs.try_shared().unwrap();
        assert_eq!(kind(theirs.try_exclusive()), ErrorKind::Locked);
        drop((reading, also_reading));
        let writing = theirs.try_exclusive().unwrap();
        assert_eq!(kind(ours.try_shared()), ErrorKind::Locked);
        let error = ours.try_exclusive().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
        assert!(error.to_string().contains("x.b2lock: another process"));
        drop(writing);
        ours.try_exclusive().unwrap();
    }

    #[test]
    fn guards_of_one_handle_keep_each_other_out_too() {
        let scratch = Scratch::new();
        let (ours, theirs) = two_handles(&scratch);
        let first = ours.shared().unwrap();
        let second = ours.clone().shared().unwrap();
        assert_eq!(kind(ours.try_exclusive()), ErrorKind::Locked);
        drop(first);
        // The one that is left still holds the lock of the system.
        assert_eq!(kind(theirs.try_exclusive()), ErrorKind::Locked);
        drop(ours);
        assert_eq!(kind(theirs.try_exclusive()), ErrorKind::Locked);
        drop(second);
        theirs.try_exclusive().unwrap();
    }

    #[test]
    fn threads_of_several_handles_write_one_after_the_other() {
        let scratch = Scratch::new();
        let (ours, theirs) = two_handles(&scratch);
        let (lower, upper) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for sidecar in [&ours, &theirs, &ours, &theirs] {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let guard = sidecar.exclusive().unwrap();
                        assert_eq!(guard.generation(), lower.fetch_add(1, Ordering::Relaxed));
                        upper.fetch_add(1, Ordering::Relaxed);
                        drop(guard);
                        let guard = sidecar.shared().unwrap();
                        let seen = lower.load(Ordering::Relaxed);
                        assert_eq!(seen, upper.load(Ordering::Relaxed));
                        assert_eq!(seen, guard.generation());
                    }
                });
            }
        });
        assert_eq!(ours.shared().unwrap().generation(), 200);
    }

    #[test]
    fn any_content_is_tolerated() {
        let scratch = Scratch::new();
        for (content, generation) in [
            (vec![7; 3], 0),
            (vec![7; 15], 0),
            (vec![255; 16], u64::MAX),
            (vec![1; 99], 0x0101_0101_0101_0101),
        ] {
            fs::write(scratch.path("x.b2lock"), &content).unwrap();
            let (ours, theirs) = two_handles(&scratch);
            assert_eq!(ours.exclusive().unwrap().generation(), generation);
            assert_eq!(theirs.shared().unwrap().generation(), generation.wrapping_add(1));
            let after = fs::read(scratch.path("x.b2lock")).unwrap();
            let kept = content.len().min(8);
            assert_eq!((&after[..kept], after.len()), (&content[..kept], content.len().max(16)));
        }
    }

    #[test]
    #[cfg(unix)]
    fn nothing_but_a_regular_file_is_locked() {
        let scratch = Scratch::new();
        fs::write(scratch.path("private"), "sixteen bytes ..").unwrap();
        std::os::unix::fs::symlink("private", scratch.path("link.b2lock")).unwrap();
        scratch.fifo("fifo.b2lock");
        fs::create_dir(scratch.path("directory.b2lock")).unwrap();
        for name in ["link", "fifo", "directory"] {
            let sidecar = Sidecar::for_file(&scratch.path(name));
            assert_eq!(kind(sidecar.exclusive()), ErrorKind::InvalidArgument);
            assert_eq!(kind(sidecar.shared()), ErrorKind::InvalidArgument);
        }
        assert_eq!(fs::read(scratch.path("private")).unwrap(), b"sixteen bytes ..");
        let nowhere = Sidecar::for_folder(&scratch.path("nowhere"));
        assert_eq!(kind(nowhere.shared()), ErrorKind::NotFound);
    }

    fn two_handles(scratch: &Scratch) -> (Sidecar, Sidecar) {
        let path = scratch.path("x");
        (Sidecar::for_file(&path), Sidecar::for_file(&path))
    }
}
