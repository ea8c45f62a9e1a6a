//! What the bounds of chunks tell of a condition without looking at a row.

use super::range::Test;
use super::typed::{Cond, Members, Num, NumKind};
use crate::table::bounds::{BoundRange, Bounds};

/// Whether rows match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// None of them.
    Never,
    /// All of them.
    Always,
    /// They must be looked at.
    Perhaps,
}

use Verdict as V;

/// What holds for all rows, given the bounds of the columns by their slots.
pub(super) fn verdict(cond: &Cond, bounds: &dyn Fn(usize) -> Option<Bounds>) -> Verdict {
    match cond {
        Cond::Const(true) => V::Always,
        Cond::Const(false) => V::Never,
        Cond::Flag(slot) => known(*slot, bounds, |b| inside(b, Test::Int { low: 1, high: 1 })),
        Cond::Range { value, test, outside } => {
            of_column(value, bounds, |b| inside(b, *test)).opposite_if(*outside)
        }
        Cond::Member { value, list, outside } => {
            of_column(value, bounds, |b| among(b, list)).opposite_if(*outside)
        }
        Cond::Absent(value) => of_column(value, bounds, |bounds| match bounds {
            Bounds { nulls: 0, .. } => V::Never,
            Bounds { range: None, .. } => V::Always,
            _ => V::Perhaps,
        }),
        Cond::And(terms) => {
            let all = || terms.iter().map(|term| verdict(term, bounds));
            match () {
                () if all().any(|v| v == V::Never) => V::Never,
                () if all().all(|v| v == V::Always) => V::Always,
                () => V::Perhaps,
            }
        }
        Cond::Or(terms) => {
            let all = || terms.iter().map(|term| verdict(term, bounds));
            match () {
                () if all().any(|v| v == V::Always) => V::Always,
                () if all().all(|v| v == V::Never) => V::Never,
                () => V::Perhaps,
            }
        }
        Cond::Not(inner) => verdict(inner, bounds).opposite_if(true),
        Cond::Text { .. } | Cond::TextPair { .. } | Cond::Compare { .. } => V::Perhaps,
        Cond::Asks { .. } | Cond::Xor(..) => V::Perhaps,
    }
}

impl Verdict {
    fn opposite_if(self, not: bool) -> Self {
        match self {
            V::Never if not => V::Always,
            V::Always if not => V::Never,
            same => same,
        }
    }
}

fn of_column(
    value: &Num,
    bounds: &dyn Fn(usize) -> Option<Bounds>,
    test: impl Fn(Bounds) -> Verdict,
) -> Verdict {
    match value.kind {
        NumKind::Column(slot) | NumKind::Ticks(slot) => known(slot, bounds, test),
        _ => V::Perhaps,
    }
}

fn known(
    slot: usize,
    bounds: &dyn Fn(usize) -> Option<Bounds>,
    test: impl Fn(Bounds) -> Verdict,
) -> Verdict {
    bounds(slot).map_or(V::Perhaps, test)
}

/// Nulls are in no range.
fn inside(bounds: Bounds, test: Test) -> Verdict {
    let (none, all) = match (bounds.range, test) {
        (None, _) => (true, false),
        (Some(BoundRange::Int { min, max }), Test::Int { low, high }) => {
            (max < low || min > high || low > high, low <= min && max <= high)
        }
        (Some(BoundRange::Float { min, max }), Test::Float { low, high }) => {
            (max < low || min > high || low > high, low <= min && max <= high)
        }
        _ => return V::Perhaps,
    };
    match (none, all && bounds.nulls == 0) {
        (true, _) => V::Never,
        (_, true) => V::Always,
        _ => V::Perhaps,
    }
}

fn among(bounds: Bounds, list: &Members) -> Verdict {
    let any = match (bounds.range, list) {
        (None, _) => false,
        (Some(BoundRange::Int { min, max }), Members::Int(list)) => {
            list.get(list.partition_point(|x| *x < min)).is_some_and(|x| *x <= max)
        }
        (Some(BoundRange::Float { min, max }), Members::Float(list)) => {
            list.get(list.partition_point(|x| *x < min)).is_some_and(|x| *x <= max)
        }
        _ => return V::Perhaps,
    };
    if any { V::Perhaps } else { V::Never }
}
