//! A folder between two syncs: the names that are on the disk, and changes that may not be.

use std::collections::BTreeMap;

use super::operation::Node;
use super::replay::Luck;

/// A folder of a disk that may be cut off.
#[derive(Clone, Debug, Default)]
pub(super) struct FolderState {
    durable: BTreeMap<String, Node>,
    /// All names, with all changes.
    now: BTreeMap<String, Node>,
    pending: Vec<Change>,
}

/// Names that change together, and what they mean then.
type Change = Vec<(String, Option<Node>)>;

impl FolderState {
    pub(super) fn create(&mut self, name: &str, node: Node) {
        self.change(vec![(name.to_owned(), Some(node))]);
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) {
        let node = self.now.get(from).copied();
        self.change(vec![(from.to_owned(), None), (to.to_owned(), node)]);
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.change(vec![(name.to_owned(), None)]);
    }

    pub(super) fn sync(&mut self) {
        self.durable.clone_from(&self.now);
        self.pending.clear();
    }

    /// One of the lists of names that the folder may have after a cut.
    pub(super) fn cut(&self, luck: &mut Luck) -> BTreeMap<String, Node> {
        let mut names = self.durable.clone();
        if self.pending.is_empty() {
            return names;
        }
        let mood = luck.mood(self.pending.len());
        for (number, change) in self.pending.iter().enumerate() {
            if number < luck.how_many(mood, self.pending.len()) {
                apply(&mut names, change);
            }
        }
        names
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.now, &change);
        self.pending.push(change);
    }
}

fn apply(names: &mut BTreeMap<String, Node>, change: &Change) {
    for (name, node) in change {
        match node {
            Some(node) => drop(names.insert(name.clone(), *node)),
            None => drop(names.remove(name)),
        }
    }
}
