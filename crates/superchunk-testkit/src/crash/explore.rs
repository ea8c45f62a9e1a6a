//! The search: every cut of a history, some images of each, and what is found in them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use superchunk::Result;
use superchunk::store::Dir;

use super::image::Image;
use super::operation::Operation;
use super::replay::{Luck, Replay};
use crate::rng::Rng;

/// How many images to make of each cut.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    images: usize,
    seed: u64,
    first: usize,
}

impl Effort {
    /// So many.
    #[must_use]
    pub fn new(images: usize, seed: u64) -> Self {
        Self { images, seed, first: 0 }
    }

    /// The same, but no cut before this operation.
    #[must_use]
    pub fn from(self, first: usize) -> Self {
        Self { first, ..self }
    }
}

/// The seeds of so many histories, and of ten times as many if the variable `SUPERCHUNK_CRASH_FULL` is
/// set, as `cargo xtask crash --full` does.
#[must_use]
pub fn seeds(count: u64) -> Range<u64> {
    let full = std::env::var_os("SUPERCHUNK_CRASH_FULL").is_some();
    0..if full { count * 10 } else { count }
}

/// What a search has found.
#[derive(Debug, Default)]
pub struct Findings {
    /// The numbers of all images that were looked at, each once.
    pub images: HashSet<u64>,
    /// How many had the last safe state, and how many the one after it.
    pub old_and_new: (usize, usize),
    /// Images that had neither: in words.
    pub bad: Vec<String>,
}

impl Findings {
    /// Adds what another search has found.
    pub fn join(&mut self, other: Self) {
        self.images.extend(other.images);
        self.old_and_new.0 += other.old_and_new.0;
        self.old_and_new.1 += other.old_and_new.1;
        self.bad.extend(other.bad);
    }

    /// Tells the figures, and fails unless there were so many images and none was bad.
    #[track_caller]
    pub fn must_be_good(&self, what: &str, images: usize) {
        let (old, new) = self.old_and_new;
        eprintln!(
            "{what}: {} images, {old} with the old state, {new} with the new",
            self.images.len()
        );
        let worst = self.bad.first();
        assert!(self.bad.is_empty(), "{} bad images, such as {worst:?}", self.bad.len());
        assert!(self.images.len() >= images, "only {} images", self.images.len());
        assert!(self.old_and_new.0 > 0 && self.old_and_new.1 > 0, "{:?}", self.old_and_new);
    }
}

/// Cuts a history after each operation. What `read` finds in the images must be the state that was
/// safe last or the one that follows it in `states`; before the first it may be an error. Every image
/// that is good goes to `look`, too, with the number of its state.
pub fn explore<S: PartialEq>(
    history: &[Operation],
    states: &[S],
    effort: Effort,
    read: impl Fn(Arc<dyn Dir>) -> Result<S>,
    mut look: impl FnMut(&Image, usize),
) -> Findings {
    let mut findings = Findings::default();
    let mut seen = HashSet::new();
    let mut replay = Replay::new();
    for (cut, operation) in history.iter().enumerate() {
        replay.apply(operation);
        if cut < effort.first {
            continue;
        }
        for sample in 0..effort.images {
            let mut luck = match sample {
                0 => Luck::All,
                1 => Luck::Nothing,
                _ => Luck::Some(Rng::new(effort.seed ^ ((cut << 16) | sample) as u64)),
            };
            let image = replay.cut(&mut luck);
            let hash = image.hash();
            // The same image at another moment may be too old.
            if !seen.insert((hash, replay.reached)) {
                continue;
            }
            findings.images.insert(hash);
            match judge(&image, replay.reached, states, &read) {
                Ok(None) => {}
                Ok(Some(state)) if state < replay.reached => {
                    findings.old_and_new.0 += 1;
                    look(&image, state);
                }
                Ok(Some(state)) => {
                    findings.old_and_new.1 += 1;
                    look(&image, state);
                }
                Err(words) => findings.bad.push(format!(
                    "cut {cut} after {}, state {}: {words}; {:?}",
                    brief(operation),
                    replay.reached,
                    image.listing()
                )),
            }
        }
    }
    findings
}

/// The state that an image has; none where nothing was safe yet.
fn judge<S: PartialEq>(
    image: &Image,
    reached: usize,
    states: &[S],
    read: impl Fn(Arc<dyn Dir>) -> Result<S>,
) -> std::result::Result<Option<usize>, String> {
    let folder = image.to_memory().map_err(|error| error.to_string())?;
    let found = match read(Arc::new(folder)) {
        Ok(found) => found,
        Err(_) if reached == 0 => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    // Before anything is promised, a container may be there already, and empty.
    let allowed = reached.saturating_sub(1)..=reached.max(1);
    let same = |state: &usize| states.get(*state).is_some_and(|state| *state == found);
    let state = allowed.clone().find(same);
    state.map(Some).ok_or_else(|| match states.iter().position(|state| *state == found) {
        Some(other) => format!("it has state {other}"),
        None => "it has a state that never was".to_owned(),
    })
}

fn brief(operation: &Operation) -> String {
    match operation {
        Operation::Write { file, position, bytes } => {
            format!("a write of {} bytes to file {file} at {position}", bytes.len())
        }
        other => format!("{other:?}"),
    }
}
