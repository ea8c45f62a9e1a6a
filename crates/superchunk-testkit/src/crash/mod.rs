//! A simulated file system that can be cut off at any moment, and the search for moments that hurt.
//!
//! A test writes to a [`Disk`] through the store traits. The disk notes every [`Operation`]; from that
//! [`History`] it can be told what a real disk may hold after a cut, for between two syncs nothing is
//! promised:
//!
//! - a sector of 512 bytes has the content that it had after *some* of the writes since the last sync
//!   of its file, each sector for itself: long writes are torn, and writes change places;
//! - a file has one of the lengths that it had since then, with or without the bytes in it;
//! - a name made, changed or removed since the last sync of its folder may be as before;
//! - bytes that a failed sync was to save may be missing for ever, whatever later syncs say. Names are
//!   saved by a later sync: file systems keep them in a journal, which does not go on over a hole.
//!
//! [`explore`] makes such [`Image`]s for a cut after every operation, opens each and compares what is
//! found with what the test calls the old and the new state. [`Fault`]s make single operations fail,
//! and [`Careless`] breaks the rules on purpose: a search that does not notice proves nothing.

mod careless;
mod disk;
mod explore;
mod fault;
mod file_state;
mod folder_state;
mod image;
#[cfg(unix)]
mod kill;
mod operation;
mod replay;
mod wrapped;

pub use careless::{Careless, Sin};
pub use disk::Disk;
pub use explore::{Effort, Findings, explore, seeds};
pub use fault::Fault;
pub use image::Image;
#[cfg(unix)]
pub use kill::{Killer, Moment};
pub use operation::{History, Node, Operation};

/// What a disk writes in one piece.
const SECTOR: usize = 512;

/// How many bytes of a write are done when it stops in the middle, between two sectors; none where it
/// has only one.
fn half(position: usize, len: usize) -> usize {
    let middle = (position + len / 2) / SECTOR * SECTOR;
    let first = position / SECTOR * SECTOR + SECTOR;
    middle.max(first).checked_sub(position).filter(|done| *done < len).unwrap_or(0)
}
