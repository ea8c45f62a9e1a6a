//! A process that is killed before any change of the files of a table leaves a table of which the real
//! bcolz and we read the old rows or the new ones, of all columns alike.
//!
//! In a forked child, a folder counts what is done in it and kills the process when its number has
//! come.

#![cfg(unix)]
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use superchunk::bcolz::{ArrayOptions, Table, TableOptions};
use superchunk::frame::Durability;
use superchunk::store::Folder;
use superchunk::{OpenOptions, Result};
use superchunk_testkit::crash::{Killer, Moment};
use superchunk_testkit::fork::{Outcome, in_child};
use superchunk_testkit::legacy_peer::LegacyPeer;
use superchunk_testkit::scratch::Scratch;

const KILLED: i32 = 9;
const OLD: u64 = 25;

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scene {
    /// Rows come: a chunk is filled up, others begin.
    Append,
    /// Rows come one by one, each committed: the last chunks grow where they are, are full, begin anew.
    Often,
    /// Rows go, up to the middle of a chunk.
    Trim,
    /// Rows go and others come, so that it becomes longer.
    Both,
    /// A column comes.
    AddColumn,
    /// A column goes.
    RemoveColumn,
    /// A column gets another name.
    Rename,
}

const SCENES: [Scene; 7] = [
    Scene::Append,
    Scene::Often,
    Scene::Trim,
    Scene::Both,
    Scene::AddColumn,
    Scene::RemoveColumn,
    Scene::Rename,
];

impl Scene {
    /// Rows and columns after the change.
    fn new_state(self) -> State {
        let names = |names: &[&'static str]| names.to_vec();
        let old = State { rows: OLD, names: names(&["a", "b", "c"]) };
        match self {
            Self::Append => State { rows: 47, ..old },
            Self::Often => State { rows: 31, ..old },
            Self::Trim => State { rows: 13, ..old },
            Self::Both => State { rows: 33, ..old },
            Self::AddColumn => State { names: names(&["a", "b", "c", "d"]), ..old },
            Self::RemoveColumn => State { names: names(&["a", "c"]), ..old },
            Self::Rename => State { names: names(&["a", "beta", "c"]), ..old },
        }
    }

    fn change(self, table: &mut Table) -> Result<()> {
        match self {
            Self::Append => append(table, OLD..47)?,
            Self::Often => {
                for row in OLD..31 {
                    append(table, row..row + 1)?;
                    table.commit()?;
                }
            }
            Self::Trim => table.truncate(table.row_count() - 12)?,
            Self::Both => {
                table.truncate(table.row_count() - 8)?;
                append(table, 17..33)?;
            }
            Self::AddColumn => {
                table.add_column(
                    "d",
                    &ArrayOptions::of::<i64>().with_chunk_rows(6),
                    &content("d", 0..OLD),
                )?;
            }
            Self::RemoveColumn => table.remove_column("b")?,
            Self::Rename => table.rename_column("b", "beta")?,
        }
        table.commit()
    }
}

/// What can be seen of a table.
#[derive(Clone, Debug, PartialEq)]
struct State {
    rows: u64,
    names: Vec<&'static str>,
}

/// The rows of a column; `beta` is another name for `b`.
fn content(name: &str, rows: std::ops::Range<u64>) -> Vec<u8> {
    let base = u64::from(name.as_bytes().first().copied().unwrap()) << 32;
    rows.flat_map(|row| (base + row * row).to_le_bytes()).collect()
}

fn append(table: &mut Table, rows: std::ops::Range<u64>) -> Result<()> {
    let parts = ["a", "b", "c"].map(|name| (name, content(name, rows.clone())));
    table.append(&parts.each_ref().map(|(name, bytes)| (*name, &**bytes)))
}

fn prepare(path: &Path) {
    let column = |chunk_len| ArrayOptions::of::<i64>().with_chunk_rows(chunk_len);
    let options = TableOptions::new()
        .with_column("a", column(10))
        .with_column("b", column(7))
        .with_column("c", column(100));
    let options = options.with_durability(Durability::Process);
    let mut table = Table::create(path, &options).unwrap();
    append(&mut table, 0..OLD).unwrap();
    table.close().unwrap();
}

/// A killed process loses nothing that it has written: there is no need to wait for the disk.
fn quick() -> OpenOptions {
    OpenOptions::new().with_durability(Durability::Process)
}

/// Changes a table, in a child that is killed at a moment; true when it came to its end.
fn change_in_child(scene: Scene, path: &Path, moment: usize) -> bool {
    let end = in_child(|| {
        let folder = Arc::new(Folder::open(path).unwrap());
        let deadly = Killer::new(Moment::Before(moment)).folder(folder);
        let changed = Table::edit_in_dir(deadly, &quick()).and_then(|mut table| {
            scene.change(&mut table)?;
            table.close()
        });
        changed.is_ok()
    });
    let killed = end == Outcome::Killed(KILLED);
    assert!(killed || end == Outcome::Passed, "{scene:?} at {moment}: {end:?}");
    !killed
}

/// What we see, which must be the right rows of all columns.
fn ours(path: &Path) -> State {
    let table = Table::open(path).unwrap_or_else(|error| panic!("{error}"));
    let columns = table.arrays().into_iter().map(|(name, array)| (name, array.to_vec().unwrap()));
    state(table.row_count(), columns.collect())
}

/// What the peer sees, likewise.
fn theirs(peer: &mut LegacyPeer, path: &Path) -> State {
    let table = peer.bcolz_read_table(path).unwrap_or_else(|words| panic!("{words}"));
    state(table.len, table.names.into_iter().zip(table.columns).collect())
}

fn state(rows: u64, columns: Vec<(String, Vec<u8>)>) -> State {
    let known = ["a", "b", "c", "d", "beta"];
    let names = columns.into_iter().map(|(name, bytes)| {
        assert!(bytes == content(&name, 0..rows), "column {name} of {rows} rows is wrong");
        *known.iter().find(|known| **known == name).unwrap()
    });
    State { rows, names: names.collect() }
}

/// Kills the child at every moment, and counts in how many of them we saw the old state.
fn run_scene(scene: Scene, peer: &mut LegacyPeer) -> (u64, u64) {
    let old = State { rows: OLD, names: vec!["a", "b", "c"] };
    let new = scene.new_state();
    // Where there are many commits, each is a state.
    let between = |found: &State| {
        scene == Scene::Often && found.names == old.names && (OLD..31).contains(&found.rows)
    };
    let (mut saw_old, mut saw_new) = (0, 0);
    for moment in 0.. {
        let scratch = Scratch::new();
        let path = scratch.path("t.bcolz");
        prepare(&path);
        let ended = change_in_child(scene, &path, moment);
        let what = format!("{scene:?}, moment {moment}");
        let found = ours(&path);
        assert!(found == old || found == new || between(&found), "{what}: we see {found:?}");
        saw_old += u64::from(found == old);
        saw_new += u64::from(found == new);
        // bcolz finds a column by its name, so a new name is the one thing that it can see half done.
        if scene != Scene::Rename || !path.join(".b2commit").exists() {
            let seen = theirs(peer, &path);
            let fits = seen.rows <= found.rows && between(&seen);
            assert!(seen == old || seen == new || fits, "{what}: bcolz sees {seen:?}");
        }
        // The next writer completes what was begun, and from then on both see the same.
        Table::edit_with(&path, &quick()).unwrap().close().unwrap();
        assert!(!path.join(".b2commit").exists(), "{what}");
        assert_eq!((ours(&path), theirs(peer, &path)), (found.clone(), found), "{what}");
        if ended {
            assert_eq!(ours(&path), new, "{what}");
            return (saw_old, saw_new);
        }
    }
    unreachable!("a child ends some time")
}

#[test]
fn a_killed_writer_leaves_the_old_table_or_the_new_one() {
    let mut peer = LegacyPeer::spawn();
    for scene in SCENES {
        let (old, new) = run_scene(scene, &mut peer);
        assert!(old > 3 && new > 0, "{scene:?}: {old} moments old, {new} new");
    }
}
