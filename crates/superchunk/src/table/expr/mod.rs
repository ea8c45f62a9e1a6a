//! Expressions over columns: text, tree, typed expression, kernels.
//!
//! ```text
//! "close > open and volume > 1e6"
//!    lexer    words with their places
//!    parser   tree (Pratt), binding as in Python
//!    compile  + columns, parameters: every part gets its type, comparisons become ranges
//!    prune    bounds of chunks → never, always, perhaps
//!    eval     blocks of 8192 rows → a truth a row
//! ```

mod compile;
mod eval;
mod interval;
mod lanes;
mod lexer;
pub(super) mod moment;
mod parser;
mod prune;
pub(super) mod range;
mod text;
mod tree;
mod typed;

pub(crate) use compile::Slot;
pub(crate) use eval::{BLOCK, Feeder};
pub(crate) use prune::Verdict;
pub use tree::Const;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::bounds::Bounds;
use super::params::Params;
use super::source::Column;
use crate::error::{Error, Result};
use compile::Compiler;
use eval::Block;
use tree::Tree;
use typed::Cond;

/// The longest text.
const MAX_TEXT: usize = 64 * 1024;
/// The deepest nesting.
const MAX_DEPTH: usize = 100;
/// The most parts.
const MAX_PARTS: usize = 20_000;

/// An expression that was read, and not yet met its columns.
///
/// The language is described in `docs/guide/tables.md`.
///
/// ```
/// use superchunk::table::Expr;
///
/// assert!(Expr::parse("close > open and volume between 1e5 and 1e6").is_ok());
///
/// let error = Expr::parse("close >< open").unwrap_err();
/// assert_eq!(error.place().unwrap().offset, Some(7)); // where a caret goes
/// ```
#[derive(Clone, PartialEq)]
pub struct Expr {
    text: String,
    tree: Tree,
}

impl Expr {
    /// Reads an expression. An error's [place](crate::Error::place) tells the byte of the text it is about.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(Self { text: text.to_owned(), tree: parser::parse(text)? })
    }

    /// The text it was read from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expr").field(&self.text).finish()
    }
}

/// As [`Expr::parse`].
impl FromStr for Expr {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// A condition over the columns of one table.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    cond: Cond,
    slots: Vec<Slot>,
}

impl Filter {
    /// What holds where all of these expressions do.
    pub(crate) fn new(exprs: &[Expr], columns: &[Column], params: &Params) -> Result<Self> {
        let mut compiler = Compiler { columns, params, slots: Vec::new() };
        let terms = exprs.iter().map(|expr| compiler.cond(&expr.tree)).collect::<Result<_>>()?;
        Ok(Self { cond: compile::all_of(terms), slots: compiler.slots })
    }

    /// The columns it uses; its other methods call them by their place here.
    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// What is known of all rows of a stretch whose columns have these bounds.
    pub(crate) fn verdict(&self, bounds: &dyn Fn(usize) -> Option<Bounds>) -> Verdict {
        prune::verdict(&self.cond, bounds)
    }

    /// A truth for each of these rows, which should be a [`BLOCK`] at most.
    pub(crate) fn mask(&self, feeder: &dyn Feeder, rows: Range<usize>) -> Result<Vec<u8>> {
        Block { feeder, slots: &self.slots, rows }.cond(&self.cond)
    }
}

#[cfg(test)]
mod tests;
