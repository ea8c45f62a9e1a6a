//! A column of any kind that is going to be rebuilt.

use std::sync::Arc;

use super::super::report::{ChunkOrder, SalvageReport};
use super::objects::Objects;
use super::plain::Plain;
use super::survey::Survey;
use crate::error::Result;
use crate::limits::Limits;
use crate::store::Dir;

/// A column.
pub(super) enum Column {
    /// Rows of a fixed size.
    Plain(Box<Plain>),
    /// Python objects, each in a file of its own.
    Objects(Box<Objects>),
}

impl Column {
    /// Finds out what it is; `None` if there is nothing of it.
    pub(super) fn of(root: &dyn Dir, limits: &Limits) -> Result<Option<Self>> {
        let survey = Survey::of(root, limits)?;
        if !survey.is_something() {
            return Ok(None);
        }
        let mut report = SalvageReport::new("bcolz array", ChunkOrder::Index);
        survey.tell_losses(&mut report);
        Ok(Some(match Objects::are_in(&survey, root, limits) {
            true => Self::Objects(Box::new(Objects::of(survey, report))),
            false => Self::Plain(Box::new(Plain::of(survey, report)?)),
        }))
    }

    /// The number of its rows.
    pub(super) fn rows(&self) -> u64 {
        match self {
            Self::Plain(plain) => plain.shape.rows,
            Self::Objects(objects) => objects.rows,
        }
    }

    /// Whether it states that number, and nothing speaks against it.
    pub(super) fn is_stated(&self) -> bool {
        match self {
            Self::Plain(plain) => plain.shape.is_stated,
            Self::Objects(objects) => objects.is_stated,
        }
    }

    /// Takes the length of the other columns for its own, where that tells what a row is.
    pub(super) fn refit(&mut self, rows: u64) -> Result<()> {
        match self {
            Self::Plain(plain) => plain.refit(rows),
            // Each is a file of its own, whatever the number of rows.
            Self::Objects(_) => Ok(()),
        }
    }

    /// Whether nearly as many files are there as this many rows need: what a damaged column says of another
    /// one may be any number.
    pub(super) fn can_have(&self, rows: u64) -> bool {
        match self {
            Self::Plain(plain) => plain.can_have(rows),
            Self::Objects(objects) => objects.can_have(rows),
        }
    }

    /// Makes it anew in `to`, with this many rows.
    pub(super) fn rebuild(
        self,
        from: &dyn Dir,
        to: Arc<dyn Dir>,
        rows: u64,
        limits: &Limits,
    ) -> Result<SalvageReport> {
        match self {
            Self::Plain(plain) => plain.rebuild(from, to, rows, limits),
            Self::Objects(objects) => objects.rebuild(from, to, rows, limits),
        }
    }
}
