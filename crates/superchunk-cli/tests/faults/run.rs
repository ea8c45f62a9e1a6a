//! One command on one container: the states before and after it, and runs of it with a fault.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use superchunk_testkit::inject::{self, Call, Ended, Fault};

use crate::cases::Container;
use crate::content::Content;
use crate::peers::{Peers, View};
use crate::program::{command, copy_folder, words};

const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;
/// The exit code of a program that this signal has ended.
const ENDED_BY_SIGTERM: i32 = 128 + SIGTERM;
/// The exit code for a new state whose durability is unknown.
const DURABILITY_UNKNOWN: i32 = 8;
/// The exit code for what the system refuses, such as writing to a full disk.
const REFUSED_BY_SYSTEM: i32 = 5;
/// The exit code of `salvage` for a new file that does not hold everything.
const SALVAGED_IN_PART: i32 = 3;
/// The bytes that a disk writes in one piece.
const SECTOR: usize = 512;
/// The faults of every call.
const FAULTS: [Fault; 8] = [
    Fault::KillBefore,
    Fault::KillInside,
    Fault::Once(ENOSPC),
    Fault::Once(EIO),
    Fault::Once(EINTR),
    Fault::FromThenOn(ENOSPC),
    Fault::FromThenOn(EIO),
    Fault::Signal(SIGTERM),
];
/// The faults of calls that write at least two bytes.
const SHORT_WRITES: [Fault; 2] = [Fault::ShortThen(ENOSPC), Fault::Short];

/// A container at one moment.
struct State {
    content: Content,
    /// The paths of everything in the folder.
    names: BTreeSet<PathBuf>,
    is_folder: bool,
    mode: u32,
    view: Option<View>,
}

/// The change that a run has made to the container.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The process was killed: the content may be the old one or the new one.
    Killed,
    /// A signal has ended the program before the change was final: nothing has happened.
    Interrupted,
    /// The program reported an error: nothing has happened.
    Failed,
    /// The program reported success, or a new state whose durability is unknown.
    Succeeded,
}

/// A command, the folder it starts from, and the states before and after a run without a fault.
pub(crate) struct Case<'a> {
    container: &'a Container,
    line: String,
    template: &'a Path,
    peers: &'a Mutex<Peers>,
    before: State,
    after: State,
    calls: Vec<Call>,
}

impl<'a> Case<'a> {
    /// Runs the command once without a fault, in `folder`; an error says which check failed.
    pub(crate) fn new(
        (container, line): (&'a Container, &str),
        template: &'a Path,
        folder: &Path,
        peers: &'a Mutex<Peers>,
    ) -> Result<Self, String> {
        let line = line.replace("{}", container.name);
        let failed = |problem: String| format!("{line}: without a fault: {problem}");
        copy_folder(template, folder).map_err(|error| failed(error.to_string()))?;
        let before = State::with_view(folder, container, peers).map_err(failed)?;
        let ended = inject::run(&mut command(folder, &line), folder, None);
        let ended = ended.map_err(|error| failed(error.to_string()))?;
        let success = success_of(&line);
        if ended.status.code() != Some(success) || ended.calls.is_empty() {
            return Err(failed(format!("{} calls, {}", ended.calls.len(), ending(&ended))));
        }
        let after = State::with_view(folder, container, peers).map_err(failed)?;
        if before.is_folder == after.is_folder && before.mode != after.mode {
            return Err(failed(format!("mode {:o} becomes {:o}", before.mode, after.mode)));
        }
        // Dead space is not content, nor is what a killed command has left.
        let drops_only_dead_space =
            ["repack", "recover"].iter().any(|verb| line == format!("{verb} {}", container.name));
        if before.content == after.content && !drops_only_dead_space {
            return Err(failed("nothing is changed".to_owned()));
        }
        let calls = ended.calls;
        Ok(Self { container, line, template, peers, before, after, calls })
    }

    /// Every call of the command with every fault that it can have.
    pub(crate) fn combinations(&self) -> Vec<(usize, Fault)> {
        let faults = |(number, call): (usize, &Call)| {
            let can_be_short = is_write(call) && call.len.is_some_and(|len| len >= 2);
            let short: &[Fault] = if can_be_short { &SHORT_WRITES } else { &[] };
            // A sector is written as a whole or not at all, and so is what a process writes of it.
            let is_whole = is_write(call) && call.len.is_some_and(|len| len <= SECTOR);
            let can_happen = |fault: &&Fault| !(is_whole && matches!(fault, Fault::KillInside));
            let all = FAULTS.iter().filter(can_happen).chain(short);
            all.map(|fault| (number, *fault)).collect::<Vec<_>>()
        };
        self.calls.iter().enumerate().flat_map(faults).collect()
    }

    /// Runs the command with a fault in a fresh copy of the folder; an error says which check
    /// failed.
    pub(crate) fn check(
        &self,
        folder: &Path,
        (number, fault): (usize, Fault),
        asks_peer: bool,
    ) -> Result<(), String> {
        copy_folder(self.template, folder).map_err(|error| error.to_string())?;
        let ended = inject::run(&mut command(folder, &self.line), folder, Some((number, fault)));
        let ended = ended.map_err(|error| format!("{}: no run: {error}", self.line))?;
        let judged = self.judge(folder, (number, fault), &ended);
        let judged = judged.and_then(|()| if asks_peer { self.ask_peer(folder) } else { Ok(()) });
        judged.map_err(|problem| {
            let call = ended.calls.get(number).map_or_else(|| "no call".to_owned(), describe);
            let (line, said) = (&self.line, ending(&ended));
            format!("{line}: call {number}, {call}, {fault:?}: {problem}\n    it ended with {said}")
        })
    }

    fn judge(&self, folder: &Path, at: (usize, Fault), ended: &Ended) -> Result<(), String> {
        let outcome = outcome(&self.line, at, ended)?;
        let found = self.state_of(folder)?;
        let (old, new) = (&self.before.content, &self.after.content);
        match outcome {
            Outcome::Killed if found.content == *old || found.content == *new => {}
            Outcome::Killed => {
                return Err(format!("neither old nor new: {}", found.content.difference(new)));
            }
            Outcome::Failed | Outcome::Interrupted if found.content != *old => {
                return Err(format!("an error, not old: {}", found.content.difference(old)));
            }
            Outcome::Succeeded if found.content != *new => {
                return Err(format!("success, not new: {}", found.content.difference(new)));
            }
            Outcome::Failed | Outcome::Interrupted | Outcome::Succeeded => {}
        }
        let strays = self.strays(&found);
        // After an error past the commit point the next writer, or `recover`, may have to finish.
        let may_leave_strays = match outcome {
            Outcome::Killed => true,
            Outcome::Interrupted | Outcome::Failed => false,
            Outcome::Succeeded => !matches!(at.1, Fault::Once(EINTR) | Fault::Short),
        };
        let is_excused = |stray: &Path| {
            let path = folder.join(stray);
            let is_unlisted =
                matches!(outcome, Outcome::Interrupted) && is_made_by(ended.calls.get(at.0), &path);
            may_leave_strays || is_unlisted || removal_was_tried(&path, ended)
        };
        if let Some(stray) = strays.iter().find(|stray| !is_excused(stray)) {
            return Err(format!("`{}` is left", stray.display()));
        }
        let is_cut_off = matches!(outcome, Outcome::Killed | Outcome::Interrupted);
        if is_cut_off || !strays.is_empty() {
            self.recover(folder, &found.content)?;
        }
        Ok(())
    }

    /// Runs `recover`: it removes the leftovers and keeps the content.
    fn recover(&self, folder: &Path, content: &Content) -> Result<(), String> {
        let line = format!("recover {}", self.container.name);
        let output = command(folder, &line).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("`recover` failed: {}", words(&output)));
        }
        let found = self.state_of(folder)?;
        if found.content != *content {
            return Err(format!("`recover` changed it: {}", found.content.difference(content)));
        }
        match self.strays(&found).first() {
            Some(stray) => Err(format!("`{}` is left by `recover`", stray.display())),
            None => Ok(()),
        }
    }

    /// Reads the container, whose mode must be that of a known state.
    fn state_of(&self, folder: &Path) -> Result<State, String> {
        let found = State::of(folder, self.container.name)?;
        let expected = [&self.before, &self.after].map(|state| (state.is_folder, state.mode));
        if !expected.contains(&(found.is_folder, found.mode)) {
            return Err(format!("its mode is {:o}", found.mode));
        }
        Ok(found)
    }

    /// Lists the topmost paths that do not belong to the state that was found.
    fn strays(&self, found: &State) -> Vec<PathBuf> {
        let states = [&self.before, &self.after].into_iter();
        let known: Vec<&State> = states.filter(|state| state.content == found.content).collect();
        let is_stray = |path: &Path| !known.iter().any(|state| state.names.contains(path));
        let has_stray_parent = |path: &Path| {
            path.ancestors().skip(1).any(|folder| found.names.contains(folder) && is_stray(folder))
        };
        let strays = found.names.iter().filter(|path| is_stray(path) && !has_stray_parent(path));
        strays.cloned().collect()
    }

    /// Compares what the real library reads with what it reads of a known state.
    fn ask_peer(&self, folder: &Path) -> Result<(), String> {
        let found = State::with_view(folder, self.container, self.peers)?;
        let is_same = |state: &State| state.content == found.content && state.view == found.view;
        match is_same(&self.before) || is_same(&self.after) {
            true => Ok(()),
            false => Err("the peer finds something else".to_owned()),
        }
    }
}

impl State {
    /// Reads a container with this library and with the real one.
    fn with_view(
        folder: &Path,
        container: &Container,
        peers: &Mutex<Peers>,
    ) -> Result<Self, String> {
        let mut state = Self::of(folder, container.name)?;
        if let Some(library) = container.peer {
            let mut peers = peers.lock().unwrap_or_else(PoisonError::into_inner);
            let view = peers.read(library, &folder.join(container.name));
            state.view = Some(view.map_err(|error| format!("the peer refuses it: {error}"))?);
        }
        Ok(state)
    }

    /// Reads the container `name` of a folder. It is an error if it cannot be read, or if other
    /// users can read any file of the folder.
    fn of(folder: &Path, name: &str) -> Result<Self, String> {
        let mut names = BTreeSet::new();
        each_path(folder, &mut |path, mode| {
            let name = path.strip_prefix(folder).unwrap_or(path).to_owned();
            // Nobody else can enter the folder in which a new one is made.
            let is_inside = |folder: &Path| folder.extension().is_some_and(|end| end == "tmp");
            let is_private = mode & 0o077 == 0 || name.ancestors().skip(1).any(is_inside);
            let refusal = || format!("`{}` has mode {mode:o}", name.display());
            is_private.then_some(()).ok_or_else(refusal)?;
            names.insert(name);
            Ok(())
        })?;
        let path = folder.join(name);
        let content = Content::of(&path).map_err(|error| format!("it cannot be read: {error}"))?;
        let metadata = fs::metadata(&path).map_err(|error| error.to_string())?;
        let mode = metadata.permissions().mode() & 0o7777;
        Ok(Self { content, names, is_folder: metadata.is_dir(), mode, view: None })
    }
}

/// Calls a function with every path below a folder and its mode; a folder comes before its content.
pub(crate) fn each_path(
    folder: &Path,
    act: &mut impl FnMut(&Path, u32) -> Result<(), String>,
) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let metadata = fs::symlink_metadata(&path).map_err(failed)?;
        let mode = metadata.permissions().mode() & 0o7777;
        act(&path, mode)?;
        if metadata.is_dir() {
            each_path(&path, act)?;
        }
    }
    Ok(())
}

/// Returns what the exit status claims; an error if the program must not end like this.
fn outcome(line: &str, (number, fault): (usize, Fault), ended: &Ended) -> Result<Outcome, String> {
    let kills = matches!(fault, Fault::KillBefore | Fault::KillInside);
    let is_signal = matches!(fault, Fault::Signal(_));
    let is_harmless = matches!(fault, Fault::Once(EINTR) | Fault::Short)
        && ended.calls.get(number).is_some_and(is_write);
    let can_fail = ended.injected && !kills && !is_harmless && !is_signal;
    let mut later = ended.calls.iter().skip(number);
    let sync_failed = match fault {
        Fault::FromThenOn(_) => later.any(is_sync),
        _ => later.next().is_some_and(is_sync),
    };
    match (ended.status.code(), ended.status.signal()) {
        (None, Some(SIGKILL)) if kills && ended.injected => Ok(Outcome::Killed),
        (Some(ENDED_BY_SIGTERM), _) if is_signal => Ok(Outcome::Interrupted),
        (Some(code), _) if code == success_of(line) && (!kills || !ended.injected) => {
            Ok(Outcome::Succeeded)
        }
        (Some(DURABILITY_UNKNOWN), _) if can_fail && sync_failed => Ok(Outcome::Succeeded),
        // What cannot be written is not taken for damage of the input.
        (Some(REFUSED_BY_SYSTEM), _) if can_fail => Ok(Outcome::Failed),
        (Some(1..=7), _) if can_fail && !line.starts_with("salvage") => Ok(Outcome::Failed),
        _ => Err("it must not end like this".to_owned()),
    }
}

/// The exit code of a command that succeeds: `salvage` reports that something is lost.
pub(crate) fn success_of(line: &str) -> i32 {
    if line.starts_with("salvage") && line.contains("damaged") { SALVAGED_IN_PART } else { 0 }
}

/// Returns whether a signal came in the very call that makes this folder, which is empty: the
/// program had no chance to know of it, and `recover` removes it.
fn is_made_by(call: Option<&Call>, folder: &Path) -> bool {
    let makes_it = |call: &Call| {
        call.name.starts_with("mkdir") && call.path.as_deref().is_some_and(|path| path == folder)
    };
    let is_empty = || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    call.is_some_and(makes_it) && is_empty()
}

/// Returns whether the program has tried to remove a path, or something in it. A leftover is
/// excused only when the fault also made its removal fail.
fn removal_was_tried(path: &Path, ended: &Ended) -> bool {
    let is_removal = |call: &&Call| call.name.starts_with("unlink") || call.name == "rmdir";
    let mut removed = ended.calls.iter().filter(is_removal).filter_map(|call| call.path.as_ref());
    removed.any(|removed| removed.starts_with(path))
}

fn is_write(call: &Call) -> bool {
    call.name.contains("write")
}

fn is_sync(call: &Call) -> bool {
    call.name.contains("sync")
}

fn describe(call: &Call) -> String {
    let path = call.path.as_deref().and_then(Path::file_name).unwrap_or_default();
    format!("{} of `{}`", call.name, path.display())
}

fn ending(ended: &Ended) -> String {
    format!("{}: {}", ended.status, String::from_utf8_lossy(&ended.stderr).trim_end())
}
