//! Tests of pipelines: every order of steps comes back, cells are laid out as drawn.

use super::*;
use crate::options::{CompressOptions, Filter};

fn pipeline(filters: &[Filter], item_size: usize, shape: Option<&BlockShape>) -> Pipeline {
    let registry = Registry::new();
    let options = CompressOptions::new(item_size).with_filters(filters.iter().copied());
    let slots = Slot::from_options(&options).unwrap();
    Pipeline::resolve(&slots, &Setting { item_size, version2: false, shape, registry: &registry })
        .unwrap()
}

fn there_and_back(pipeline: &Pipeline, reference: Reference<'_>, block: &[u8]) -> Vec<u8> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let filtered = pipeline.forward(reference, block, &mut a, &mut b).unwrap().to_vec();
    let mut out = vec![0xEE; block.len()];
    pipeline.backward(reference, false, &filtered, &mut out, (&mut a, &mut b)).unwrap();
    out
}

fn sample(len: usize) -> Vec<u8> {
    (0..len).map(|i| ((i * i / 7 + i) % 256).try_into().unwrap()).collect()
}

#[test]
fn lossless_pipelines_come_back_for_any_length() {
    let steps = [
        Filter::Shuffle,
        Filter::ShuffleBy(3),
        Filter::BitShuffle,
        Filter::Delta,
        Filter::ByteDelta(0),
        Filter::ByteDelta(5),
    ];
    let first = sample(400);
    for item_size in [1, 2, 3, 4, 7, 8, 12, 16, 255] {
        for one in steps {
            for two in steps {
                let pipeline = pipeline(&[one, two, Filter::Shuffle], item_size, None);
                for len in [0, 1, 7, 8, 15, 64, 129, 400] {
                    let block = sample(len);
                    for reference in [Reference::Itself, Reference::FirstBlock(&first)] {
                        let back = there_and_back(&pipeline, reference, &block);
                        assert_eq!(back, block, "{one:?} {two:?} {item_size} {len}");
                    }
                }
            }
        }
    }
}

#[test]
fn identity_steps_vanish() {
    assert!(pipeline(&[Filter::Shuffle], 1, None).reads_as_is());
    assert!(pipeline(&[Filter::TruncPrec(10)], 4, None).reads_as_is());
    assert_eq!(pipeline(&[Filter::TruncPrec(10), Filter::Shuffle], 4, None).only_planes(), Some(4));
    assert_eq!(pipeline(&[Filter::Delta, Filter::Shuffle], 4, None).only_planes(), None);
}

#[test]
fn cells_come_in_the_order_of_the_drawing() {
    let shape = BlockShape::new(&[4, 5]).unwrap();
    let pipeline = pipeline(&[Filter::NdCell(2)], 1, Some(&shape));
    // The drawing of cells.rs, row by row: the place that each item of the block gets.
    let places: [u8; 20] = [0, 1, 4, 5, 8, 2, 3, 6, 7, 9, 10, 11, 14, 15, 18, 12, 13, 16, 17, 19];
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let celled = pipeline.forward(Reference::Itself, &places, &mut a, &mut b).unwrap();
    assert_eq!(celled, (0..20).collect::<Vec<u8>>());
    assert_eq!(there_and_back(&pipeline, Reference::Itself, &places), places);
}

#[test]
fn cell_means_replace_each_item_by_the_mean_of_its_cell() {
    let shape = BlockShape::new(&[2, 3]).unwrap();
    let pipeline = pipeline(&[Filter::NdMean(2)], 4, Some(&shape));
    let block: Vec<u8> =
        [1.0f32, 2.0, 10.0, 3.0, 6.0, 20.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let expected: Vec<u8> =
        [3.0f32, 3.0, 15.0, 3.0, 3.0, 15.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(there_and_back(&pipeline, Reference::Itself, &block), expected);
}

#[test]
fn impossible_truncations_are_refused() {
    for filter in [Filter::TruncPrec(0), Filter::TruncPrec(24), Filter::TruncPrec(-23)] {
        let options = CompressOptions::new(4).with_filters([filter]);
        assert!(Slot::from_options(&options).is_err(), "{filter:?}");
    }
    let options = CompressOptions::new(3).with_filters([Filter::IntTrunc(4)]);
    assert!(Slot::from_options(&options).is_err());
}
