//! From the parts of a key to the shape of the result and the access that reaches its items.

use superchunk::AxisSlice;

use super::expand::{Part, check_mask, expand};
use super::gather::{Gather, Indexes};
use super::{Array, Item, KeyError, Result, Rule, shape_text};

/// Of a mask of the array's shape, one item in this many must be set for it to be read chunk by
/// chunk instead of item by item.
const SPARSE_MASK: usize = 64;

/// What a key means for an array.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The shape of the result.
    pub(crate) shape: Vec<usize>,
    pub(crate) kind: Kind,
    pub(crate) access: Access,
}

/// The kinds of keys between which NumPy makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An integer for each axis: NumPy returns the item itself, not an array that holds it.
    Item,
    /// Integers, slices, `...`, `None`.
    Slices,
    /// Lists, also with others.
    Lists,
    /// A mask of the array's shape and nothing else.
    Mask,
}

/// How to reach the items of a result.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    /// The result has no items.
    Nothing,
    /// A slice of each axis; the items are in the order of the result.
    Slices(Vec<AxisSlice>),
    /// All combinations of some indexes of each axis.
    Orthogonal(Vec<Axis>),
    /// Items at any coordinates.
    Points(Gather),
    /// The items for which a mask of the array's shape is true.
    Mask(Vec<bool>),
}

/// The indexes of one axis, and how many items of the result lie between neighbours.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) indexes: Picks,
    pub(crate) stride: usize,
}

/// The indexes of one axis.
#[derive(Clone, Debug)]
pub(crate) enum Picks {
    Slice(AxisSlice),
    List(Vec<u64>),
}

/// What a key means for an array of this shape.
pub(crate) fn plan(key: Vec<Item>, shape: &[u64], rule: Rule) -> Result<Plan> {
    let (key, is_mask) = match whole_mask(key, shape, rule)? {
        Whole::Dense(plan) => return Ok(plan),
        Whole::Sparse(key) => (key, true),
        Whole::No(key) => (key, false),
    };
    let has_dots = key.iter().any(|item| matches!(item, Item::Ellipsis));
    let parts = expand(&key, shape)?;
    let has_lists = parts.iter().any(|part| matches!(part, Part::List { .. } | Part::Flag(_)));
    let plan = if has_lists { with_lists(parts, rule)? } else { of_slices(&parts, has_dots)? };
    Ok(Plan { kind: if is_mask { Kind::Mask } else { plan.kind }, ..plan })
}

/// Whether a key is nothing but a mask of the array's shape.
enum Whole {
    /// One with many items set.
    Dense(Plan),
    Sparse(Vec<Item>),
    No(Vec<Item>),
}

fn whole_mask(mut key: Vec<Item>, shape: &[u64], rule: Rule) -> Result<Whole> {
    let [Item::Mask(mask)] = key.as_mut_slice() else { return Ok(Whole::No(key)) };
    if mask.shape.is_empty() || mask.shape.len() != shape.len() || rule == Rule::Outer {
        return Ok(Whole::No(key));
    }
    check_mask(mask, 0, shape)?;
    let count = mask.values.iter().filter(|bit| **bit).count();
    if count < mask.values.len() / SPARSE_MASK {
        return Ok(Whole::Sparse(key));
    }
    let access = Access::Mask(std::mem::take(&mut mask.values));
    let access = if count == 0 { Access::Nothing } else { access };
    Ok(Whole::Dense(Plan { shape: vec![count], kind: Kind::Mask, access }))
}

/// The plan of a key without lists.
fn of_slices(parts: &[Part], has_dots: bool) -> Result<Plan> {
    let mut slices = Vec::new();
    let mut shape = Vec::new();
    for part in parts {
        match part {
            Part::New => shape.push(1),
            Part::Range(slice) => {
                shape.push(to_usize(slice.count)?);
                slices.push(*slice);
            }
            Part::Single(index) => slices.push(single(*index)),
            Part::Gap | Part::List { .. } | Part::Flag(_) => {}
        }
    }
    let kind = if shape.is_empty() && !has_dots { Kind::Item } else { Kind::Slices };
    let access = if shape.contains(&0) { Access::Nothing } else { Access::Slices(slices) };
    Ok(Plan { shape, kind, access })
}

fn single(index: u64) -> AxisSlice {
    AxisSlice { start: index, count: 1, step: 1, dropped: true }
}

/// An axis of the array: its indexes, and their step for each axis of the result.
struct Source {
    indexes: Picks,
    strides: Vec<usize>,
}

/// The plan of a key with lists.
fn with_lists(parts: Vec<Part>, rule: Rule) -> Result<Plan> {
    let layout = Layout::new(&parts, rule)?;
    let shape = layout.shape;
    let mut sources = Vec::new();
    // The next axis of the result that is not one of the lists'.
    let mut own = layout.own.into_iter();
    for part in parts {
        let mut strides = vec![0; shape.len()];
        let indexes = match part {
            Part::New => {
                own.next();
                continue;
            }
            Part::Gap | Part::Flag(_) => continue,
            Part::Single(index) => Picks::Slice(single(index)),
            Part::Range(slice) => {
                own.next().and_then(|axis| strides.get_mut(axis)).into_iter().for_each(|s| *s = 1);
                Picks::Slice(slice)
            }
            Part::List { list, .. } if rule == Rule::Outer => {
                own.next().and_then(|axis| strides.get_mut(axis)).into_iter().for_each(|s| *s = 1);
                Picks::List(list.values)
            }
            Part::List { list, .. } => {
                let end = layout.lists_start + layout.lists_rank;
                let mut stride = 1;
                for (to, side) in strides.iter_mut().take(end).rev().zip(list.shape.iter().rev()) {
                    *to = if *side == 1 { 0 } else { stride };
                    stride *= side;
                }
                Picks::List(list.values)
            }
        };
        sources.push(Source { indexes, strides });
    }
    let access = access_to(sources, &shape);
    Ok(Plan { shape, kind: Kind::Lists, access })
}

/// Where the parts of a key with lists lie in the result.
struct Layout {
    shape: Vec<usize>,
    /// The axes that the lists share.
    lists_start: usize,
    lists_rank: usize,
    /// All other axes, in the order of their parts.
    own: Vec<usize>,
}

impl Layout {
    fn new(parts: &[Part], rule: Rule) -> Result<Self> {
        let shared = if rule == Rule::Outer { Vec::new() } else { broadcast(parts)? };
        let lists = parts.iter().enumerate().filter(|(_, part)| is_list(part));
        let places: Vec<usize> = lists.map(|(number, _)| number).collect();
        let (first, last) = (places.first().copied(), places.last().copied());
        let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
        let adjacent = last - first < places.len() && rule == Rule::NumPy;
        let mut sides = Vec::new();
        let mut lists_start = 0;
        for (number, part) in parts.iter().enumerate() {
            if adjacent && number == first {
                lists_start = sides.len();
            }
            match part {
                Part::New => sides.push(1),
                Part::Range(slice) => sides.push(to_usize(slice.count)?),
                Part::List { axis, list } if rule == Rule::Outer => {
                    sides.push(one_axis(*axis, list)?)
                }
                Part::Flag(_) if rule == Rule::Outer => {
                    return Err(KeyError::Index(
                        "an orthogonal index cannot have `True` or `False` as an element".into(),
                    ));
                }
                _ => {}
            }
        }
        let rank = shared.len();
        let own = (0..sides.len()).map(|axis| if axis < lists_start { axis } else { axis + rank });
        let own = own.collect();
        sides.splice(lists_start..lists_start, shared);
        Ok(Self { shape: sides, lists_start, lists_rank: rank, own })
    }
}

/// Whether a part goes together with the lists.
fn is_list(part: &Part) -> bool {
    matches!(part, Part::List { .. } | Part::Flag(_) | Part::Single(_))
}

/// The length of a list that is all indexes of an axis of the result.
fn one_axis(axis: usize, list: &Array<u64>) -> Result<usize> {
    match list.shape.as_slice() {
        [side] => Ok(*side),
        shape => Err(KeyError::Index(format!(
            "an orthogonal index takes lists of one dimension, that of axis {axis} has {}",
            shape.len()
        ))),
    }
}

/// The common shape of all lists.
fn broadcast(parts: &[Part]) -> Result<Vec<usize>> {
    let shapes = parts.iter().filter(|part| is_list(part)).map(|part| match part {
        Part::List { list, .. } => list.shape.clone(),
        Part::Flag(set) => vec![usize::from(*set)],
        _ => Vec::new(),
    });
    let shapes: Vec<Vec<usize>> = shapes.collect();
    let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let mut common = vec![1; rank];
    for shape in &shapes {
        for (common, side) in common.iter_mut().rev().zip(shape.iter().rev()) {
            if *common == 1 {
                *common = *side;
            } else if *side != 1 && side != common {
                let texts: Vec<String> = shapes.iter().map(|shape| shape_text(shape)).collect();
                return Err(KeyError::Index(format!(
                    "shape mismatch: indexing arrays could not be broadcast together with shapes \
                     {} ",
                    texts.join(" ")
                )));
            }
        }
    }
    Ok(common)
}

/// The access to all items of a result of this shape.
fn access_to(sources: Vec<Source>, shape: &[usize]) -> Access {
    if shape.contains(&0) {
        return Access::Nothing;
    }
    match orthogonal_strides(&sources, shape) {
        Some(strides) => {
            let axes = sources.into_iter().zip(strides);
            let axes = axes.map(|(source, stride)| Axis { indexes: source.indexes, stride });
            Access::Orthogonal(axes.collect())
        }
        None => {
            let axes = sources
                .into_iter()
                .map(|source| Indexes { values: source.indexes.listed(), strides: source.strides });
            Access::Points(Gather { shape: shape.to_vec(), axes: axes.collect() })
        }
    }
}

/// The distance of neighbouring indexes of each axis in the result, in items. `None` if two axes
/// share an axis of the result, or the indexes of one are not equally far apart.
fn orthogonal_strides(sources: &[Source], shape: &[usize]) -> Option<Vec<usize>> {
    let mut in_result = vec![1; shape.len()];
    let mut stride = 1usize;
    for (place, side) in in_result.iter_mut().zip(shape).rev() {
        *place = stride;
        stride = stride.saturating_mul(*side);
    }
    let mut taken = vec![false; shape.len()];
    let mut strides = Vec::with_capacity(sources.len());
    for source in sources {
        // From the innermost axis of the result outwards: the distance, and that of the next one.
        let mut found: Option<(usize, usize)> = None;
        let axes = source.strides.iter().zip(&mut taken).zip(shape.iter().zip(&in_result)).rev();
        for ((step, taken), (side, place)) in axes {
            if *step == 0 || *side == 1 {
                continue;
            }
            if std::mem::replace(taken, true) || found.is_some_and(|(_, next)| next != *place) {
                return None;
            }
            found = Some((found.map_or(*place, |(first, _)| first), place.saturating_mul(*side)));
        }
        strides.push(found.map_or(0, |(first, _)| first));
    }
    Some(strides)
}

impl Picks {
    fn listed(self) -> Vec<u64> {
        match self {
            Self::List(values) => values,
            Self::Slice(AxisSlice { start, count, step, .. }) => (0..count)
                .map(|k| start.wrapping_add_signed(step.wrapping_mul(k.cast_signed())))
                .collect(),
        }
    }
}

fn to_usize(count: u64) -> Result<usize> {
    let too_long = |_| KeyError::Value("the result has more items than the memory can hold".into());
    usize::try_from(count).map_err(too_long)
}
