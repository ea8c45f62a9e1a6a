//! Rounds of work on files: two sides in turns, and the folder that their files are made in.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::contestant::Answer;

/// Rounds that are always run, and that are enough.
const ROUNDS: Range<usize> = 3..100;

/// Seconds of one side by both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) processor: f64,
    pub(crate) wall: f64,
}

impl Times {
    /// Longer than any.
    pub(crate) const NEVER: Self = Self { processor: f64::INFINITY, wall: f64::INFINITY };

    /// What work takes.
    pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let ((result, processor), wall) = Clock::Wall.time(|| Clock::Thread.time(work));
        (result, Self { processor, wall })
    }

    /// The shorter of two, by each clock.
    pub(crate) fn min(self, other: Self) -> Self {
        Self { processor: self.processor.min(other.processor), wall: self.wall.min(other.wall) }
    }
}

/// Names within a case and the times of ours and theirs.
pub(crate) type Lines = Vec<(&'static str, [Times; 2])>;

/// The fastest of several rounds of each of two runners, in turns; `prepare` is not timed.
pub(crate) fn turns<R>(
    budget: Duration,
    runners: &mut [R],
    mut prepare: impl FnMut(&mut R) -> Answer<()>,
    mut work: impl FnMut(&mut R) -> Answer<()>,
) -> Answer<[Times; 2]> {
    let mut fastest = [Times::NEVER; 2];
    let start = Instant::now();
    for round in 0..ROUNDS.end {
        if round >= ROUNDS.start && start.elapsed() > budget {
            break;
        }
        for turn in 0..2 {
            let who = (turn + round) % 2;
            let (Some(runner), Some(times)) = (runners.get_mut(who), fastest.get_mut(who)) else {
                return Err("two sides are needed".to_owned());
            };
            prepare(runner)?;
            let (result, taken) = Times::of(|| work(runner));
            result?;
            *times = times.min(taken);
        }
    }
    Ok(fastest)
}

/// Removes a file that may not be there.
pub(crate) fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}

/// Moves a folder that may not be there out of the way, within a [`Folder`]. Removing it would slow down whoever makes
/// files next: ext4 looks at every inode that was given up lately before it takes one.
pub(crate) fn set_aside(path: &Path) -> Answer<()> {
    let free = |number: &u32| path.with_extension(format!("old{number}"));
    let place = (0..).map(|number| free(&number)).find(|place| !place.exists());
    let moved = place.map_or(Ok(()), |place| std::fs::rename(path, place));
    moved.or_else(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(format!("{}: {e}", path.display())),
    })
}

/// A new folder for the files of the benches, removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes it in `within`, or in the folder for temporary files.
    pub(crate) fn new(within: Option<&Path>) -> Answer<Self> {
        let within = within.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let path = within.join(format!("superchunk-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self(path))
    }

    /// The path of a file in it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_work_equally_often_and_each_begins_in_turn() {
        let mut log = Vec::new();
        let mut prepared = 0;
        let times = turns(
            Duration::ZERO,
            &mut ["a", "b"],
            |_| {
                prepared += 1;
                Ok(())
            },
            |name| {
                log.push(*name);
                Ok(())
            },
        );
        assert_eq!(log, ["a", "b", "b", "a", "a", "b"]);
        assert_eq!(prepared, log.len());
        assert!(times.unwrap().iter().all(|times| times.wall.is_finite()));
    }

    #[test]
    fn a_folder_goes_with_its_files_and_with_what_was_set_aside() {
        let folder = Folder::new(None).unwrap();
        let table = folder.at("table");
        set_aside(&table).unwrap();
        for round in 0..3 {
            std::fs::create_dir(&table).unwrap();
            set_aside(&table).unwrap();
            assert!(!table.exists() && folder.at(&format!("table.old{round}")).is_dir());
        }
        let file = folder.at("file");
        std::fs::write(&file, "x").unwrap();
        drop(folder);
        assert!(!file.exists() && !file.with_file_name("table.old0").exists());
    }
}
