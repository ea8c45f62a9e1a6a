//! A folder in which one command runs on a copy of one input, and what the command leaves in it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use superchunk_testkit::scratch::Scratch;

/// What a command is allowed to take, as it is typed.
pub(crate) const LIMIT_MEM: &str = "64M";
/// The same for each thread, in MB.
const LIMIT_PER_THREAD: usize = 64;
/// The address space of a process that is more than its limit, in MB.
const ADDRESS_SPACE_ABOVE: usize = 64;
/// How a shell starts the program: more than a minute of processor time is an endless loop, whatever
/// else the machine is doing; ten minutes on the clock only end a process that waits for ever.
pub(crate) const BOUNDED: &str = "ulimit -t 60; exec timeout -s KILL 600";
/// What `timeout` exits with when it has killed a process.
const KILLED: i32 = 128 + 9;
/// The exit codes that `docs/cli.md` lists, but for the one that needs a failing sync.
const DOCUMENTED: std::ops::RangeInclusive<i32> = 0..=7;
/// Longer files are compared by their lengths and times.
const MAX_COMPARED_LEN: u64 = 4 << 20;

/// A folder with an input, and what it holds before a command runs.
pub(crate) struct Arena {
    folder: PathBuf,
    /// The input as it was made; it is copied to the folder again after every change.
    original: PathBuf,
    before: Listing,
}

/// Every path of a folder with what can be seen of it.
type Listing = BTreeMap<PathBuf, Seen>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Folder,
    Short(Vec<u8>),
    /// Length and time of the last change.
    Long(u64, i64, i64),
    Other(u32),
}

impl Arena {
    /// A folder with a copy of `original` under its own name.
    pub(crate) fn new(folder: PathBuf, original: &Path) -> io::Result<Self> {
        let mut arena = Self { folder, original: original.to_owned(), before: Listing::new() };
        arena.restore()?;
        Ok(arena)
    }

    /// Runs a command line, in which `{}` is the input, with this many threads. An error says what
    /// is wrong with its end.
    pub(crate) fn run(&mut self, line: &str, threads: usize) -> Result<Output, String> {
        let name = self.original.file_name().unwrap_or_default().to_string_lossy();
        let line = line.replace("{}", &name);
        let output = limited(&self.folder, &line, threads).map_err(|error| error.to_string())?;
        let judged = judge(&output).and_then(|code| self.judge_folder(&line, code));
        if self.before != listing(&self.folder).map_err(|error| error.to_string())? {
            self.restore().map_err(|error| error.to_string())?;
        }
        judged.map_err(|problem| {
            let said = String::from_utf8_lossy(&output.stderr);
            let said: String = said.chars().take(300).collect();
            format!("-T {threads} {line}: {problem} ({}): {}", output.status, said.trim_end())
        })?;
        Ok(output)
    }

    /// After a failure everything is as it was. Commands that report a difference or damage, or that
    /// recover what they can, change what they are meant to change.
    fn judge_folder(&self, line: &str, code: i32) -> Result<(), String> {
        let after = listing(&self.folder).map_err(|error| error.to_string())?;
        let is_salvaged = line.starts_with("salvage") && code == 3;
        if code == 0 || is_salvaged {
            return Ok(());
        }
        let paths = self.before.keys().chain(after.keys());
        match paths.into_iter().find(|path| self.before.get(*path) != after.get(*path)) {
            Some(path) => Err(format!("`{}` has changed", path.display())),
            None => Ok(()),
        }
    }

    fn restore(&mut self) -> io::Result<()> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        fs::create_dir(&self.folder)?;
        copy(&self.original, &self.folder.join(self.original.file_name().unwrap_or_default()))?;
        self.before = listing(&self.folder)?;
        Ok(())
    }
}

/// Runs a command line in a folder within the limits; its output goes through a reader that has seen
/// enough after two million bytes.
fn limited(folder: &Path, line: &str, threads: usize) -> io::Result<Output> {
    let program = env!("CARGO_BIN_EXE_superchunk");
    let limit = threads * LIMIT_PER_THREAD;
    let address_space = (limit + ADDRESS_SPACE_ABOVE) << 10;
    let script = format!(
        "ulimit -v {address_space}; {BOUNDED} {program} -T {threads} --limit-mem {limit}M {line}"
    );
    run_until_enough(&mut shell(folder, &script))
}

/// A line of a shell in a folder, without anything that makes two runs differ.
pub(crate) fn shell(folder: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder).stdin(Stdio::null());
    // Only threads have arenas of their own, and each reserves as much as the limit.
    command.env("TMPDIR", folder).env("NO_COLOR", "1").env("MALLOC_ARENA_MAX", "1");
    // A trace takes more memory than the limit leaves.
    command.env("RUST_BACKTRACE", "0");
    command
}

/// Runs a process and reads the start of its output; then the pipe is closed.
fn run_until_enough(command: &mut Command) -> io::Result<Output> {
    const ENOUGH: u64 = 2_000_000;
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdout = Vec::new();
    if let Some(out) = child.stdout.take() {
        io::Read::read_to_end(&mut io::Read::take(out, ENOUGH), &mut stdout)?;
    }
    let mut output = child.wait_with_output()?;
    output.stdout = stdout;
    Ok(output)
}

/// The exit code of a process that has ended by itself and in order.
pub(crate) fn judge(output: &Output) -> Result<i32, String> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("panicked") || stderr.contains("memory allocation") {
        return Err("it panics".to_owned());
    }
    match (output.status.code(), output.status.signal()) {
        (Some(code), _) if DOCUMENTED.contains(&code) => Ok(code),
        (Some(KILLED), _) | (_, Some(9)) => Err("it does not end".to_owned()),
        _ => Err("it must not end like this".to_owned()),
    }
}

/// Runs the lines of each input, which its number decides, with as many threads each as they say,
/// on all processors; returns what went wrong.
pub(crate) fn run_all(
    inputs: &[PathBuf],
    lines: impl Fn(usize) -> Vec<(String, usize)> + Sync,
) -> Vec<String> {
    let scratch = Scratch::new();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for thread in 0..threads {
            let (next, failures, lines) = (&next, &failures, &lines);
            let folder = scratch.path(&thread.to_string());
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(input) = inputs.get(number) else { break };
                    let mut arena = Arena::new(folder.clone(), input).unwrap();
                    let run = |(line, threads): &(String, usize)| arena.run(line, *threads).err();
                    let failed: Vec<String> = lines(number).iter().filter_map(run).collect();
                    failures.lock().unwrap().extend(failed);
                }
            });
        }
    });
    failures.into_inner().unwrap()
}

fn listing(folder: &Path) -> io::Result<Listing> {
    fn add(root: &Path, folder: &Path, into: &mut Listing) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let about = fs::symlink_metadata(&path)?;
            let seen = match about.file_type() {
                kind if kind.is_dir() => Seen::Folder,
                kind if kind.is_file() && about.len() <= MAX_COMPARED_LEN => {
                    Seen::Short(fs::read(&path)?)
                }
                kind if kind.is_file() => {
                    Seen::Long(about.len(), about.mtime(), about.mtime_nsec())
                }
                kind => Seen::Other(u32::from(kind.is_fifo()) + 2 * u32::from(kind.is_socket())),
            };
            into.insert(path.strip_prefix(root).unwrap_or(&path).to_owned(), seen);
            if about.is_dir() {
                add(root, &path, into)?;
            }
        }
        Ok(())
    }
    let mut found = Listing::new();
    add(folder, folder, &mut found)?;
    Ok(found)
}

/// Copies a file or folder with its links and holes.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let done = Command::new("cp").arg("-a").arg("--sparse=always").args([from, to]).status()?;
    if done.success() { Ok(()) } else { Err(io::Error::other("cp has failed")) }
}
