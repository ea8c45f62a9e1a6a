//! The filter pipeline: up to six steps between a block and its streams.
//!
//! Writing applies slots 0 to 5 to each block on its own; reading undoes them from 5 to 0. A
//! pipeline is resolved once per encoder or chunk from the slots of the header, so that a block
//! meets only steps that do something. See `docs/formats/chunk.md#filters`.

mod cells;
mod rows;
mod slot;
mod step;

pub(crate) use rows::Rows;
pub(crate) use slot::{SLOTS, Slot, Slots};
use step::Step;

use crate::block_shape::BlockShape;
use crate::error::Result;
use crate::registry::Registry;

/// What the slots mean in one chunk.
pub(crate) struct Setting<'a> {
    /// The item size as the header states it.
    pub(crate) item_size: usize,
    /// Whether the chunk follows the bit-shuffle rule of version 2.
    pub(crate) version2: bool,
    /// The N-d shape of a block, where known.
    pub(crate) shape: Option<&'a BlockShape>,
    /// The user's filters.
    pub(crate) registry: &'a Registry,
}

/// The block that the delta filter compares with.
#[derive(Clone, Copy)]
pub(crate) enum Reference<'a> {
    /// The block is its own reference: block 0, or any variable-length block.
    Itself,
    /// The finished bytes of block 0.
    FirstBlock(&'a [u8]),
}

/// The steps of one chunk that change bytes.
#[derive(Default)]
pub(crate) struct Pipeline {
    steps: Vec<Step>,
}

impl Pipeline {
    /// Resolves the slots of a header.
    pub(crate) fn resolve(slots: &Slots, setting: &Setting<'_>) -> Result<Self> {
        let steps = slots.iter().filter_map(|slot| Step::resolve(*slot, setting).transpose());
        Ok(Self { steps: steps.collect::<Result<_>>()? })
    }

    /// Whether block 0 must be known before any other block can be read.
    pub(crate) fn has_delta(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Delta { .. }))
    }

    /// Whether a block comes back with other bytes than went in.
    pub(crate) fn is_lossy(&self) -> bool {
        self.steps.iter().any(Step::is_lossy)
    }

    /// The steps up to the last lossy one, if there is one: those after it give back what they got.
    pub(crate) fn lossy_part(&self) -> Option<Self> {
        let last = self.steps.iter().rposition(Step::is_lossy)?;
        Some(Self { steps: self.steps.iter().take(last + 1).cloned().collect() })
    }

    /// Whether a step of the user's is among them, of which nothing is known.
    pub(crate) fn has_user_step(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::User { .. }))
    }

    /// Whether reading has nothing to undo.
    pub(crate) fn reads_as_is(&self) -> bool {
        self.undone().next().is_none()
    }

    /// The byte planes that the last step left, if it was a shuffle and the only one to undo.
    pub(crate) fn only_planes(&self) -> Option<usize> {
        let mut undone = self.undone();
        match (undone.next(), undone.next()) {
            (Some(Step::Shuffle { group }), None) => Some(*group),
            _ => None,
        }
    }

    /// A block of `len` bytes as rows, if a shuffle of bytes or bits is all there is to undo.
    pub(crate) fn only_rows(&self, len: usize) -> Option<Rows<'_>> {
        let mut undone = self.undone();
        match (undone.next(), undone.next()) {
            (Some(step), None) => Rows::of(step, len),
            _ => None,
        }
    }

    /// Applies the steps to `src`; the result lies in `src`, `a` or `b`.
    pub(crate) fn forward<'a>(
        &self,
        reference: Reference<'_>,
        src: &'a [u8],
        a: &'a mut Vec<u8>,
        b: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        run(self.steps.iter(), src, a, b, |step, src, dst| step.forward(reference, src, dst))
    }

    /// Applies the steps to `block` and undoes them: what a reader gets of it.
    pub(crate) fn there_and_back(
        &self,
        reference: Reference<'_>,
        block: &mut [u8],
        (filtered, a, b): (&mut Vec<u8>, &mut Vec<u8>, &mut Vec<u8>),
    ) -> Result<()> {
        filtered.clear();
        filtered.extend_from_slice(self.forward(reference, block, a, b)?);
        self.backward(reference, false, filtered, block, (a, b))
    }

    /// Undoes the steps: `src` holds the decoded streams, `dst` receives the block; `far` says that
    /// this is a piece of an output too large for the caches. `a` and `b` are scratch. With nothing
    /// to undo it copies.
    pub(crate) fn backward(
        &self,
        reference: Reference<'_>,
        far: bool,
        src: &[u8],
        dst: &mut [u8],
        (a, b): (&mut Vec<u8>, &mut Vec<u8>),
    ) -> Result<()> {
        let count = self.undone().count();
        let before_last = self.undone().take(count.saturating_sub(1));
        let src = run(before_last, src, a, b, |step, src, dst| step.backward(reference, src, dst))?;
        match self.undone().last() {
            Some(last) if far => last.backward_far(reference, src, dst),
            Some(last) => last.backward(reference, src, dst),
            None => {
                dst.copy_from_slice(src);
                Ok(())
            }
        }
    }

    fn undone(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().rev().filter(|step| step.changes_on_read())
    }
}

/// Sends `src` through the steps, from one scratch buffer to the other.
fn run<'a, 's>(
    steps: impl Iterator<Item = &'s Step>,
    src: &'a [u8],
    a: &'a mut Vec<u8>,
    b: &'a mut Vec<u8>,
    apply: impl Fn(&Step, &[u8], &mut [u8]) -> Result<()>,
) -> Result<&'a [u8]> {
    let (mut from, mut to) = (a, b);
    let mut in_scratch = false;
    for step in steps {
        let dst = scratch(to, src.len());
        apply(step, if in_scratch { scratch(from, src.len()) } else { src }, dst)?;
        in_scratch = true;
        std::mem::swap(&mut from, &mut to);
    }
    Ok(if in_scratch { scratch(from, src.len()) } else { src })
}

/// The first `len` bytes of a scratch buffer, grown when needed and never cleared.
pub(crate) fn scratch(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    buffer.get_mut(..len).unwrap_or_default()
}

#[cfg(test)]
mod tests;
