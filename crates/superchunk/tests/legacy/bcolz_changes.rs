//! Arrays of bcolz that change many times between commits.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the numbers of these tests are small"
)]

use std::sync::Arc;

use superchunk::OpenOptions;
use superchunk::bcolz::{Array, ArrayOptions};
use superchunk::store::{Dir, MemoryFolder};

fn small() -> ArrayOptions {
    ArrayOptions::of::<i32>().with_chunk_rows(10)
}

#[test]
fn random_changes_between_commits_are_those_of_a_vector() {
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
        (state >> 33) as usize % below
    };
    for round in 0..300 {
        let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
        let mut array = Array::create_in_dir(dir.clone(), &small()).unwrap();
        let mut model: Vec<i32> = Vec::new();
        for step in 0..20 {
            let len = model.len();
            match random(6) {
                0 | 1 => model.extend((0..random(25) as i32).map(|item| item + step + 1)),
                2 => {
                    let start = random(len + 1);
                    let count = random(len - start + 1);
                    model[start..start + count].fill(-step);
                    array.write_items(start as u64, &vec![-step; count]).unwrap();
                }
                3 => model.truncate(len - random(len + 1) / 3),
                4 => model.resize(len + random(15), 0),
                _ => array.commit().unwrap(),
            }
            let kept = model.len().min(len);
            array.resize(kept as u64).unwrap();
            if model[kept..].iter().all(|item| *item == 0) {
                array.resize(model.len() as u64).unwrap();
            } else {
                array.append_items(&model[kept..]).unwrap();
            }
            let found = array.read::<i32>(0..array.row_count()).unwrap();
            assert_eq!(found, model, "round {round}, step {step}");
        }
        array.close().unwrap();
        let array = Array::open_in_dir(dir, &OpenOptions::new()).unwrap();
        assert_eq!(array.read::<i32>(0..array.row_count()).unwrap(), model, "round {round}");
    }
}

#[test]
fn an_append_after_a_change_of_earlier_rows_keeps_the_last_chunk() {
    let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let mut array = Array::create_in_dir(dir.clone(), &small()).unwrap();
    array.append_items(&(0..17).collect::<Vec<i32>>()).unwrap();
    array.write_items(2, &[-2]).unwrap();
    array.append_items(&(17..25).collect::<Vec<i32>>()).unwrap();
    array.close().unwrap();
    let mut expected: Vec<i32> = (0..25).collect();
    expected[2] = -2;
    assert_eq!(
        Array::open_in_dir(dir, &OpenOptions::new()).unwrap().read::<i32>(0..25).unwrap(),
        expected
    );
}
