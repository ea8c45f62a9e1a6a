//! A tree and the columns of a table to a typed expression.
//!
//! Types are settled here, once, so that kernels do not ask: comparisons with constants become ranges,
//! integers get a lane that cannot overflow, texts get the form of their column. Everything that does
//! not depend on the row is computed here.

mod calls;
mod compare;
mod numbers;

use super::interval::Interval;
use super::lexer::wrong;
use super::tree::{Absence, Binary, Const, Node, Order, Tree};
use super::typed::{Cond, Num, NumKind, Scalar};
use crate::dtype::{DKind, DType, TimeUnit};
use crate::error::Result;
use crate::table::params::Params;
use crate::table::source::Column;
use crate::table::suggest;

/// A column that an expression uses.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Its number in the table.
    pub(crate) column: usize,
    pub(crate) dtype: DType,
}

/// A part with its type.
#[derive(Clone, Debug)]
pub(super) enum Typed {
    Const(Const),
    Cond(Cond),
    Num(Num),
    /// A column of text.
    Text(usize),
    /// A column that counts time.
    Time {
        slot: usize,
        unit: TimeUnit,
        moments: bool,
    },
}

/// Turns trees into typed expressions.
pub(super) struct Compiler<'a> {
    pub(super) columns: &'a [Column],
    pub(super) params: &'a Params,
    /// The columns used so far, each once.
    pub(super) slots: Vec<Slot>,
}

impl Compiler<'_> {
    /// A part that gives a truth.
    pub(super) fn cond(&mut self, tree: &Tree) -> Result<Cond> {
        match self.typed(tree)? {
            Typed::Cond(cond) => Ok(cond),
            Typed::Const(Const::Bool(truth)) => Ok(Cond::Const(truth)),
            other => Err(wrong(
                tree.at,
                format!(
                    "a condition was expected, this is {}: compare it with something",
                    other.name()
                ),
            )),
        }
    }

    /// A part that gives a number.
    pub(super) fn num(&mut self, tree: &Tree) -> Result<Num> {
        let typed = self.typed(tree)?;
        let name = typed.name();
        typed
            .into_num()
            .ok_or_else(|| wrong(tree.at, format!("a number was expected, this is {name}")))
    }

    /// Any part.
    pub(super) fn typed(&mut self, tree: &Tree) -> Result<Typed> {
        Ok(match &tree.node {
            Node::Const(constant) => Typed::Const(constant.clone()),
            Node::Param(name) => Typed::Const(self.params.get(name, tree.at)?.clone()),
            Node::Column(name) => self.column(name, tree.at)?,
            Node::Not(inner) => negated(self.cond(inner)?, true),
            Node::And(terms) => {
                let terms = terms.iter().map(|term| self.cond(term)).collect::<Result<_>>()?;
                Typed::Cond(all_of(terms))
            }
            Node::Or(terms) => {
                let terms = terms.iter().map(|term| self.cond(term)).collect::<Result<_>>()?;
                Typed::Cond(any_of(terms))
            }
            Node::Negative(inner) => {
                let inner = self.num(inner)?;
                let interval = inner.interval.and_then(Interval::negative);
                numbers::folded(NumKind::Negative(Box::new(inner)), interval)
            }
            Node::Invert(inner) => self.invert(inner)?,
            Node::Binary(binary, left, right) => self.binary(*binary, left, right, tree.at)?,
            Node::Compare(first, links) => self.compare_chain(first, links, tree.at)?,
            Node::Between { value, ends, negated: not } => {
                let low = self.compare(Order::GreaterEqual, value, &ends.0, tree.at)?;
                let high = self.compare(Order::LessEqual, value, &ends.1, tree.at)?;
                negated(all_of(vec![low, high]), *not)
            }
            Node::In { value, list, negated: not } => {
                negated(self.member(value, list, tree.at)?, *not)
            }
            Node::Is { value, what, negated: not } => negated(self.absent(value, *what)?, *not),
            Node::Call { name, arguments } => self.call(name, arguments, tree.at)?,
        })
    }

    fn column(&mut self, name: &str, at: usize) -> Result<Typed> {
        // Columns of nested tables have paths; a dot is easier to write than a slash in backticks.
        let found = |name: &str| self.columns.iter().position(|column| column.name == name);
        let Some(index) = found(name).or_else(|| found(&name.replace('.', "/"))) else {
            let names = self.columns.iter().map(|column| column.name.as_str());
            let hint = suggest::hint(name, names);
            return Err(wrong(at, format!("there is no column `{name}`{hint}")));
        };
        let column = self.columns.get(index).ok_or_else(|| wrong(at, "no such column"))?;
        let dtype = &column.dtype;
        let size = dtype.item_size();
        let refused = |what: String| Err(wrong(at, format!("column `{name}` holds {what}")));
        if !column.row_shape.is_empty() {
            return refused(format!("arrays of shape {:?}, not single values", column.row_shape));
        }
        let int = |low: i128, high: i128| Some(Interval::new(low, high));
        let interval = match (dtype.kind(), size) {
            (DKind::Bool, 1) => return Ok(Typed::Cond(Cond::Flag(self.slot(index, dtype)))),
            (DKind::Bytes | DKind::Unicode, _) => return Ok(Typed::Text(self.slot(index, dtype))),
            (DKind::Datetime { unit }, 8) => {
                return Ok(Typed::Time { slot: self.slot(index, dtype), unit, moments: true });
            }
            (DKind::Timedelta { unit }, 8) => {
                return Ok(Typed::Time { slot: self.slot(index, dtype), unit, moments: false });
            }
            (DKind::Int, 1) => int(i8::MIN.into(), i8::MAX.into()),
            (DKind::Int, 2) => int(i16::MIN.into(), i16::MAX.into()),
            (DKind::Int, 4) => int(i32::MIN.into(), i32::MAX.into()),
            (DKind::Int, 8) => int(i64::MIN.into(), i64::MAX.into()),
            (DKind::Uint, 1) => int(0, u8::MAX.into()),
            (DKind::Uint, 2) => int(0, u16::MAX.into()),
            (DKind::Uint, 4) => int(0, u32::MAX.into()),
            (DKind::Uint, 8) => int(0, u64::MAX.into()),
            (DKind::Float, 2 | 4 | 8) => None,
            _ => return refused(format!("items of type {dtype}, which expressions do not know")),
        };
        Ok(Typed::Num(Num { kind: NumKind::Column(self.slot(index, dtype)), interval }))
    }

    /// The slot of a column, a new one if it was not used yet.
    fn slot(&mut self, column: usize, dtype: &DType) -> usize {
        let known = self.slots.iter().position(|slot| slot.column == column);
        known.unwrap_or_else(|| {
            self.slots.push(Slot { column, dtype: dtype.clone() });
            self.slots.len() - 1
        })
    }

    fn invert(&mut self, inner: &Tree) -> Result<Typed> {
        match self.typed(inner)? {
            Typed::Cond(cond) => Ok(negated(cond, true)),
            Typed::Const(Const::Bool(truth)) => Ok(Typed::Const(Const::Bool(!truth))),
            typed => {
                let (name, num) = (typed.name(), typed.into_num());
                let whole = num.filter(|num| num.interval.is_some());
                let Some(inner) = whole else {
                    return Err(wrong(
                        inner.at,
                        format!("`~` takes truths and integers, not {name}"),
                    ));
                };
                let interval = inner.interval.and_then(Interval::invert);
                Ok(numbers::folded(NumKind::Invert(Box::new(inner)), interval))
            }
        }
    }

    /// NaN of floats, NaT of moments and durations; other types always have a value.
    fn absent(&mut self, value: &Tree, what: Absence) -> Result<Cond> {
        Ok(match self.typed(value)? {
            Typed::Time { slot, .. } => Cond::Absent(Box::new(ticks(slot))),
            Typed::Text(_) if what == Absence::Nan => {
                return Err(wrong(value.at, "a text is never NaN"));
            }
            Typed::Num(num) if num.interval.is_none() => Cond::Absent(Box::new(num)),
            Typed::Const(Const::Float(value)) => Cond::Const(value.is_nan()),
            _ => Cond::Const(false),
        })
    }
}

impl Typed {
    /// What it is, in words.
    fn name(&self) -> &'static str {
        match self {
            Self::Cond(_) | Self::Const(Const::Bool(_)) => "a condition",
            Self::Num(_) | Self::Const(Const::Int(_) | Const::Float(_)) => "a number",
            Self::Text(_) | Self::Const(Const::Text(_)) => "a text",
            Self::Const(Const::Bytes(_)) => "bytes",
            Self::Time { moments: true, .. } => "a moment",
            Self::Time { moments: false, .. } => "a duration",
        }
    }

    /// As a number; truths are 0 and 1.
    fn into_num(self) -> Option<Num> {
        Some(match self {
            Self::Num(num) => num,
            Self::Const(Const::Int(value)) => Num::constant(Scalar::Int(value)),
            Self::Const(Const::Float(value)) => Num::constant(Scalar::Float(value)),
            Self::Const(Const::Bool(value)) => Num::constant(Scalar::Int(value.into())),
            Self::Cond(cond) => {
                let interval = Some(Interval::new(0, 1));
                Num { kind: NumKind::Truth(Box::new(cond)), interval }
            }
            _ => return None,
        })
    }
}

/// The counts of a column of moments or durations; `NaT` is not among them.
fn ticks(slot: usize) -> Num {
    let interval = Some(Interval::new(i128::from(i64::MIN) + 1, i64::MAX.into()));
    Num { kind: NumKind::Ticks(slot), interval }
}

fn negated(cond: Cond, not: bool) -> Typed {
    Typed::Cond(match cond {
        cond if !not => cond,
        Cond::Const(truth) => Cond::Const(!truth),
        Cond::Not(inner) => *inner,
        Cond::Range { value, test, outside } => Cond::Range { value, test, outside: !outside },
        Cond::Member { value, list, outside } => Cond::Member { value, list, outside: !outside },
        other => Cond::Not(Box::new(other)),
    })
}

/// All of these; ranges of the same column become one.
pub(super) fn all_of(terms: Vec<Cond>) -> Cond {
    let mut kept: Vec<Cond> = Vec::with_capacity(terms.len());
    for term in terms {
        match term {
            Cond::Const(true) => {}
            Cond::Const(false) => return Cond::Const(false),
            Cond::And(inner) => kept.extend(inner),
            term => match kept.iter_mut().find_map(|other| merged(other, &term)) {
                Some((place, both)) => *place = both,
                None => kept.push(term),
            },
        }
    }
    match kept.len() {
        0 => Cond::Const(true),
        1 => kept.swap_remove(0),
        _ => Cond::And(kept),
    }
}

fn any_of(terms: Vec<Cond>) -> Cond {
    let mut kept: Vec<Cond> = Vec::with_capacity(terms.len());
    for term in terms {
        match term {
            Cond::Const(false) => {}
            Cond::Const(true) => return Cond::Const(true),
            Cond::Or(inner) => kept.extend(inner),
            term => kept.push(term),
        }
    }
    match kept.len() {
        0 => Cond::Const(false),
        1 => kept.swap_remove(0),
        _ => Cond::Or(kept),
    }
}

/// Two ranges of one column as one range, in the place of the first.
fn merged<'a>(first: &'a mut Cond, second: &Cond) -> Option<(&'a mut Cond, Cond)> {
    let both = match (&*first, second) {
        (
            Cond::Range { value, test, outside: false },
            Cond::Range { value: other, test: more, outside: false },
        ) => {
            let same = match (&value.kind, &other.kind) {
                (NumKind::Column(a), NumKind::Column(b)) => a == b,
                (NumKind::Ticks(a), NumKind::Ticks(b)) => a == b,
                _ => false,
            };
            let test = test.and(*more).filter(|_| same)?;
            Cond::Range { value: value.clone(), test, outside: false }
        }
        _ => return None,
    };
    Some((first, both))
}
