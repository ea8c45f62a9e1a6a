//! What is done to a disk.

use std::sync::Arc;

/// A file or folder; it keeps its number when its name changes. The root folder is number 0.
pub type Node = usize;

/// One thing done to a disk.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Operation {
    /// A new file or folder gets a name.
    Create { folder: Node, name: String, node: Node, is_folder: bool },
    /// A file or folder gets another name; what had it is gone.
    Rename { folder: Node, from: String, to: String },
    /// A name, and what is below it, goes.
    Remove { folder: Node, name: String },
    /// Bytes are written.
    Write { file: Node, position: usize, bytes: Arc<[u8]> },
    /// A file is cut or extended.
    SetLen { file: Node, len: usize },
    /// Everything done to this file, or to the names of this folder, is on the disk.
    Sync(Node),
    /// A sync of it has failed: what was not on the disk yet may never get there.
    SyncFailed(Node),
    /// The state of this number, counted from 0, was reported as safe.
    Reached(usize),
}

/// All that was done to a disk, in order.
pub type History = Vec<Operation>;
