//! Keys against what NumPy 2.5 gives for `numpy.arange(60).reshape(3, 4, 5)[key]`. Random keys are
//! compared by `tests/test_indexing.py`.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the numbers of these tests are small"
)]

use superchunk::AxisSlice;

use super::*;

const SHAPE: [u64; 3] = [3, 4, 5];

fn range(start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Item {
    Item::Slice(Slice { start, stop, step })
}

fn all() -> Item {
    range(None, None, None)
}

fn ints(shape: &[usize], values: &[i64]) -> Item {
    Item::Ints(Array { shape: shape.to_vec(), values: values.to_vec() })
}

fn mask(values: &[bool]) -> Item {
    Item::Mask(Array { shape: vec![values.len()], values: values.to_vec() })
}

fn indexes(slice: &AxisSlice) -> Vec<u64> {
    (0..slice.count).map(|k| slice.start.wrapping_add_signed(slice.step * k as i64)).collect()
}

/// The number of an item in C order.
fn number(at: &[u64]) -> u64 {
    at.iter().zip(SHAPE).fold(0, |number, (at, side)| number * side + at)
}

/// The numbers of the items of a plan, in C order of the result.
fn numbers(plan: &Plan) -> Vec<u64> {
    let len = plan.shape.iter().product();
    let axes: Vec<(Vec<u64>, usize)> = match &plan.access {
        Access::Nothing => return Vec::new(),
        Access::Points(gather) => {
            let points = gather.coordinates(0..gather.count());
            return points.chunks(3).map(number).collect();
        }
        Access::Mask(mask) => {
            return (0..60).filter(|item| mask[*item as usize]).collect();
        }
        Access::Slices(slices) => {
            let mut stride = len;
            let axis = |slice: &AxisSlice| {
                stride /= slice.count as usize;
                (indexes(slice), stride)
            };
            slices.iter().map(axis).collect()
        }
        Access::Orthogonal(axes) => {
            let axis = |axis: &Axis| match &axis.indexes {
                Picks::Slice(slice) => (indexes(slice), axis.stride),
                Picks::List(list) => (list.clone(), axis.stride),
            };
            axes.iter().map(axis).collect()
        }
    };
    let mut found = vec![u64::MAX; len];
    for (i, x) in axes[0].0.iter().enumerate() {
        for (j, y) in axes[1].0.iter().enumerate() {
            for (k, z) in axes[2].0.iter().enumerate() {
                let place = i * axes[0].1 + j * axes[1].1 + k * axes[2].1;
                found[place] = number(&[*x, *y, *z]);
            }
        }
    }
    found
}

fn check(key: &[Item], shape: &[usize], items: &[u64]) {
    let plan = plan(key.to_vec(), &SHAPE, Rule::NumPy).unwrap();
    assert_eq!((plan.shape.as_slice(), numbers(&plan).as_slice()), (shape, items), "{key:?}");
}

#[test]
fn keys_without_lists() {
    use Item::{Ellipsis, Int, NewAxis};
    check(&[Int(1), Int(-1)], &[5], &[35, 36, 37, 38, 39]);
    let slices = [range(None, None, Some(-2)), Int(1), range(Some(1), Some(100), Some(3))];
    check(&slices, &[2, 2], &[46, 49, 6, 9]);
    check(&[Ellipsis, Int(0)], &[3, 4], &[0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55]);
    let rows: Vec<u64> = (40..60).collect();
    check(&[NewAxis, Int(2), Ellipsis, NewAxis], &[1, 4, 5, 1], &rows);
    check(&[range(Some(2), Some(1), None)], &[0, 4, 5], &[]);
    let kind = |key: &[Item]| plan(key.to_vec(), &SHAPE, Rule::NumPy).unwrap().kind;
    assert_eq!(kind(&[Int(0), Int(0), Int(0)]), Kind::Item);
    assert_eq!(kind(&[Int(0), Int(0), Int(0), Ellipsis]), Kind::Slices);
}

#[test]
fn axes_of_lists_stand_where_the_lists_do_if_those_are_adjacent() {
    use Item::Int;
    let two = range(None, Some(2), None);
    let middle = [all(), ints(&[2], &[3, 0]), two.clone()];
    check(&middle, &[3, 2, 2], &[15, 16, 0, 1, 35, 36, 20, 21, 55, 56, 40, 41]);
    let apart = [ints(&[2], &[0, 2]), range(Some(1), Some(3), None), ints(&[2], &[4, 1])];
    check(&apart, &[2, 2], &[9, 14, 46, 51]);
    let adjacent = [range(None, Some(1), None), ints(&[2], &[0, 2]), ints(&[2], &[4, 1])];
    check(&adjacent, &[1, 2], &[4, 11]);
    check(&[Int(0), two, ints(&[2], &[1, 1])], &[2, 2], &[1, 6, 1, 6]);
    let mesh = [ints(&[2, 1], &[0, 2]), ints(&[1, 2], &[1, 3]), Int(0)];
    check(&mesh, &[2, 2], &[5, 15, 45, 55]);
    let deep = [ints(&[2, 2], &[0, 1, 2, 0]), Int(3), range(None, None, Some(4))];
    check(&deep, &[2, 2, 2], &[15, 19, 35, 39, 55, 59, 15, 19]);
}

#[test]
fn masks_are_lists_of_what_is_set() {
    let rows = [mask(&[true, false, true]), all(), Item::Int(2)];
    check(&rows, &[2, 4], &[2, 7, 12, 17, 42, 47, 52, 57]);
    let yes = Item::Mask(Array { shape: Vec::new(), values: vec![true] });
    check(&[yes, Item::Int(0), ints(&[2], &[1, 2]), Item::Int(0)], &[2], &[5, 10]);
    for set in [1, 2, 30] {
        let values: Vec<bool> = (0..60).map(|item| item % (60 / set) == 3 % (60 / set)).collect();
        let items: Vec<u64> = (0..60).filter(|item| values[*item as usize]).collect();
        let whole = Item::Mask(Array { shape: vec![3, 4, 5], values });
        check(&[whole], &[items.len()], &items);
    }
}

#[test]
fn lists_with_axes_of_their_own_are_read_together() {
    let access = |key: &[Item]| plan(key.to_vec(), &SHAPE, Rule::NumPy).unwrap().access;
    let mesh = [ints(&[2, 1], &[0, 2]), ints(&[1, 2], &[1, 3])];
    assert!(matches!(access(&mesh), Access::Orthogonal(_)));
    assert!(matches!(access(&[ints(&[2, 2], &[0, 2, 1, 1])]), Access::Orthogonal(_)));
    assert!(matches!(access(&[ints(&[2], &[0, 2]), ints(&[2], &[1, 3])]), Access::Points(_)));
}

#[test]
fn the_other_rules() {
    let lists = [all(), ints(&[2], &[3, 0]), ints(&[3], &[0, 0, 4])];
    let outer = plan(lists.to_vec(), &SHAPE, Rule::Outer).unwrap();
    assert_eq!(outer.shape, [3, 2, 3]);
    assert_eq!(numbers(&outer)[..6], [15, 15, 19, 0, 0, 4]);
    let pairs = [all(), ints(&[2], &[3, 0]), ints(&[2], &[0, 4])];
    let first = plan(pairs.to_vec(), &SHAPE, Rule::Vectorised).unwrap();
    assert_eq!(
        (first.shape.as_slice(), numbers(&first)),
        (&[2, 3][..], vec![15, 35, 55, 4, 24, 44])
    );
}

#[test]
fn what_does_not_fit_is_said_in_numpys_words() {
    let text = |key: &[Item]| match plan(key.to_vec(), &SHAPE, Rule::NumPy).unwrap_err() {
        KeyError::Index(text) | KeyError::Value(text) => text,
    };
    assert_eq!(text(&[Item::Int(3)]), "index 3 is out of bounds for axis 0 with size 3");
    let outside = text(&[all(), ints(&[2], &[0, -5])]);
    assert_eq!(outside, "index -5 is out of bounds for axis 1 with size 4");
    let many = text(&[Item::Int(0), Item::Int(0), Item::Int(0), Item::Int(0)]);
    assert_eq!(many, "too many indices for array: array is 3-dimensional, but 4 were indexed");
    let lists = text(&[ints(&[2], &[0, 1]), ints(&[3], &[0, 1, 2])]);
    assert_eq!(
        lists,
        "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,) "
    );
    let dots = text(&[Item::Ellipsis, Item::Ellipsis]);
    assert_eq!(dots, "an index can only have a single ellipsis ('...')");
    assert_eq!(text(&[range(None, None, Some(0))]), "slice step cannot be zero");
    assert_eq!(
        text(&[mask(&[true; 4])]),
        "boolean index did not match indexed array along axis 0; size of axis is 3 but size of \
         corresponding boolean axis is 4"
    );
}
