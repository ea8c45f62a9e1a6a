//! Any selection of an array is the same selection of a plain one, after any changes.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use superchunk::frame::Durability;
use superchunk::store::MemoryFolder;
use superchunk::{
    AxisIndexes, AxisSlice, Codec, CompressOptions, DType, Executor, FillValue, Filter,
    FrameOptions, NdArray, NdOptions, OpenOptions, Selection, SuperChunk,
};
use superchunk_testkit::rng::Rng;

/// An array as plain as can be.
#[derive(Clone)]
struct Plain {
    shape: Vec<u64>,
    item_size: usize,
    bytes: Vec<u8>,
}

impl Plain {
    fn zeros(shape: &[u64], item_size: usize) -> Self {
        let len = shape.iter().product::<u64>() as usize * item_size;
        Self { shape: shape.to_vec(), item_size, bytes: vec![0; len] }
    }

    fn at(&self, index: &[u64]) -> usize {
        let item = index.iter().zip(&self.shape).fold(0, |item, (i, side)| item * side + i);
        item as usize * self.item_size
    }

    fn item(&self, index: &[u64]) -> &[u8] {
        &self.bytes[self.at(index)..][..self.item_size]
    }

    fn set(&mut self, index: &[u64], item: &[u8]) {
        let at = self.at(index);
        self.bytes[at..at + self.item_size].copy_from_slice(item);
    }

    /// An array of another shape, each item of which is that of `from` in this one, or zero.
    fn remade(&self, shape: &[u64], from: impl Fn(&[u64]) -> Option<Vec<u64>>) -> Self {
        let mut new = Self::zeros(shape, self.item_size);
        for index in
            combinations(&shape.iter().map(|side| (0..*side).collect()).collect::<Vec<_>>())
        {
            if let Some(old) = from(&index) {
                new.set(&index, self.item(&old));
            }
        }
        new
    }
}

/// All combinations of one index of each list, in C order.
fn combinations(lists: &[Vec<u64>]) -> Vec<Vec<u64>> {
    lists.iter().fold(vec![Vec::new()], |heads, list| {
        let longer = |head: &Vec<u64>| {
            list.iter().map(|index| [head.as_slice(), &[*index]].concat()).collect::<Vec<_>>()
        };
        heads.iter().flat_map(longer).collect()
    })
}

fn indexes(slice: &AxisSlice) -> Vec<u64> {
    (0..slice.count as i64).map(|k| (slice.start as i64 + k * slice.step) as u64).collect()
}

fn random_slice(rng: &mut Rng, side: u64) -> AxisSlice {
    if side > 0 && rng.index(4) == 0 {
        return AxisSlice { start: rng.below(side), count: 1, step: 1, dropped: true };
    }
    let start = rng.below(side + 1);
    let stop = start + rng.below(side - start + 1);
    let step = [1, 1, 1, 2, 3, 7][rng.index(6)];
    let count = (stop - start).div_ceil(step);
    match rng.index(4) {
        0 if count > 0 => {
            let last = start + (count - 1) * step;
            AxisSlice { start: last, count, step: -(step as i64), dropped: false }
        }
        _ => AxisSlice { start, count, step: step as i64, dropped: false },
    }
}

fn random_selection(rng: &mut Rng, shape: &[u64]) -> Selection {
    Selection::new(shape.iter().map(|side| random_slice(rng, *side)).collect::<Vec<_>>())
}

fn random_options(rng: &mut Rng, shape: &[u64]) -> NdOptions {
    let threads = if rng.index(3) == 0 { Executor::threads(3) } else { Executor::inline() };
    let filters = [vec![Filter::Shuffle], vec![], vec![Filter::Delta, Filter::BitShuffle]];
    let compress = CompressOptions::new(1)
        .with_codec([Codec::Lz4, Codec::BloscLz, Codec::Zlib][rng.index(3)])
        .with_level([0, 1, 5][rng.index(3)])
        .with_filters(filters[rng.index(3)].clone())
        .with_executor(threads);
    let frame = FrameOptions::new(compress).with_durability(Durability::Process);
    let options = NdOptions::new(frame);
    if rng.index(4) == 0 {
        return options;
    }
    let chunks: Vec<usize> = shape.iter().map(|_| 1 + rng.index(6)).collect();
    let blocks: Vec<usize> = chunks.iter().map(|side| 1 + rng.index(*side)).collect();
    options.with_chunks(&chunks).with_blocks(&blocks)
}

/// Where the array of a run lives.
enum Home {
    Memory,
    File(Arc<MemoryFolder>),
    Folder(Arc<MemoryFolder>),
}

fn reopened(array: NdArray, home: &Home, options: &NdOptions) -> NdArray {
    let open = OpenOptions::new()
        .with_executor(options.frame.compress.executor.clone())
        .with_durability(Durability::Process);
    let frame = match home {
        Home::Memory => return array,
        Home::File(dir) => {
            array.close().unwrap();
            SuperChunk::edit_in_dir(dir.clone(), Some("array"), &open)
        }
        Home::Folder(dir) => {
            array.close().unwrap();
            SuperChunk::edit_in_dir(dir.clone(), None, &open)
        }
    };
    NdArray::from_superchunk(frame.unwrap()).unwrap()
}

fn new_array(shape: &[u64], item_size: usize, home: &Home, options: &NdOptions) -> NdArray {
    let dtype = DType::opaque(item_size);
    let (dir, name) = match home {
        Home::Memory => return NdArray::in_memory(shape, &dtype, options).unwrap(),
        Home::File(dir) => (dir.clone(), Some("array")),
        Home::Folder(dir) => (dir.clone(), None),
    };
    NdArray::create_in_dir(dir, name, shape, &dtype, FillValue::Zeros, options).unwrap()
}

fn check(array: &NdArray, plain: &Plain, rng: &mut Rng) {
    assert_eq!(array.shape(), plain.shape);
    assert!(array.to_vec().unwrap() == plain.bytes, "shape {:?}", plain.shape);
    for _ in 0..4 {
        check_selection(array, plain, &random_selection(rng, &plain.shape));
    }
    let lists: Vec<Vec<u64>> = plain
        .shape
        .iter()
        .map(|side| {
            (0..if *side > 0 { rng.index(5) } else { 0 }).map(|_| rng.below(*side)).collect()
        })
        .collect();
    let expected: Vec<u8> =
        combinations(&lists).iter().flat_map(|index| plain.item(index).to_vec()).collect();
    let borrowed: Vec<AxisIndexes<'_>> = lists.iter().map(|list| list.as_slice().into()).collect();
    assert_eq!(array.read_orthogonal(&borrowed).unwrap(), expected, "{lists:?}");
    check_mixed(array, plain, &lists, rng);
    // Of dense masks chunks are read whole, of sparse ones items.
    let rarity = if rng.index(2) == 0 { 3 } else { 60 };
    let mask: Vec<bool> = (0..array.item_count()).map(|_| rng.index(rarity) == 0).collect();
    let items = plain.bytes.chunks(plain.item_size).zip(&mask);
    let expected: Vec<u8> =
        items.filter(|(_, bit)| **bit).flat_map(|(item, _)| item.to_vec()).collect();
    assert_eq!(array.read_mask(&mask).unwrap(), expected);
    let mut got = vec![7; expected.len()];
    array.read_mask_into(&mask, &mut got).unwrap();
    assert_eq!(got, expected);
    assert!(array.read_mask_into(&mask, &mut [7].repeat(expected.len() + 1)).is_err());
    if !plain.shape.contains(&0) {
        let points: Vec<Vec<u64>> = (0..rng.index(20))
            .map(|_| plain.shape.iter().map(|side| rng.below(*side)).collect())
            .collect();
        let mut got = vec![7; points.len() * plain.item_size];
        array.read_points(&points.concat(), &mut got).unwrap();
        let expected: Vec<u8> = points.iter().flat_map(|p| plain.item(p).to_vec()).collect();
        assert_eq!(got, expected);
    }
}

/// Slices, also descending ones, for some axes and lists for the others.
fn check_mixed(array: &NdArray, plain: &Plain, lists: &[Vec<u64>], rng: &mut Rng) {
    let selection = random_selection(rng, &plain.shape);
    let mut mixed = Vec::new();
    let mut chosen = Vec::new();
    for (list, slice) in lists.iter().zip(selection.axes()) {
        let is_list = rng.index(2) == 0;
        mixed.push(if is_list { AxisIndexes::List(list) } else { AxisIndexes::Slice(*slice) });
        chosen.push(if is_list { list.clone() } else { indexes(slice) });
    }
    let expected: Vec<u8> =
        combinations(&chosen).iter().flat_map(|index| plain.item(index).to_vec()).collect();
    let mut got = vec![7; expected.len()];
    array.read_orthogonal_into(&mixed, &mut got).unwrap();
    assert_eq!(got, expected, "{mixed:?}");
    // One byte after every item, which stays.
    let (mut strides, mut stride) = (vec![0; chosen.len()], plain.item_size + 1);
    for (place, list) in strides.iter_mut().zip(&chosen).rev() {
        *place = stride;
        stride *= list.len();
    }
    let mut spread = vec![0xee; expected.len() / plain.item_size * (plain.item_size + 1)];
    array.read_orthogonal_strided(&mixed, &mut spread, &strides).unwrap();
    let items = spread.chunks(plain.item_size + 1).zip(expected.chunks(plain.item_size));
    for (item, wanted) in items {
        assert!(item[..plain.item_size] == *wanted && item[plain.item_size] == 0xee, "{mixed:?}");
    }
}

fn check_selection(array: &NdArray, plain: &Plain, selection: &Selection) {
    let lists: Vec<Vec<u64>> = selection.axes().iter().map(indexes).collect();
    let expected: Vec<u8> =
        combinations(&lists).iter().flat_map(|index| plain.item(index).to_vec()).collect();
    let (shape, bytes) = array.read_bytes(selection).unwrap();
    assert!(bytes == expected, "{selection:?}");
    assert_eq!(shape, selection.shape());
    let unit = selection.axes().iter().all(|axis| axis.step == 1);
    if unit && !expected.is_empty() {
        // The same into a buffer in Fortran order, with room between the items.
        let (size, gap) = (plain.item_size, 3);
        let mut strides = vec![0; lists.len()];
        let mut stride = size + gap;
        for (place, list) in strides.iter_mut().zip(&lists) {
            *place = stride;
            stride *= list.len();
        }
        let (start, stop): (Vec<u64>, Vec<u64>) =
            selection.axes().iter().map(|axis| (axis.start, axis.stop())).unzip();
        let mut spread = vec![0xee; stride];
        array.read_box_strided(&start, &stop, &mut spread, &strides).unwrap();
        for index in combinations(&lists) {
            let at: usize = index
                .iter()
                .zip(&start)
                .zip(&strides)
                .map(|((i, start), stride)| (i - start) as usize * stride)
                .sum();
            assert_eq!(&spread[at..at + size], plain.item(&index));
            assert!(spread[at + size..at + size + gap].iter().all(|byte| *byte == 0xee));
        }
    }
}

/// One random change, done to both.
fn change(array: &mut NdArray, plain: &mut Plain, rng: &mut Rng) {
    match rng.index(10) {
        0 | 1 => write_some(array, plain, rng),
        7 => fill_some(array, plain, rng),
        8 => write_masked(array, plain, rng),
        9 => write_spread(array, plain, rng),
        2 if !plain.shape.contains(&0) => write_points(array, plain, rng),
        3 => {
            let shape: Vec<u64> = plain.shape.iter().map(|_| rng.below(9)).collect();
            array.resize(&shape).unwrap();
            let old = plain.shape.clone();
            let inside = |index: &[u64]| index.iter().zip(&old).all(|(i, side)| i < side);
            *plain = plain.remade(&shape, |index| inside(index).then(|| index.to_vec()));
        }
        4 | 5 if !plain.shape.is_empty() => insert_some(array, plain, rng),
        6 if !plain.shape.is_empty() => delete_some(array, plain, rng),
        _ => {}
    }
}

fn write_some(array: &mut NdArray, plain: &mut Plain, rng: &mut Rng) {
    let selection = random_selection(rng, &plain.shape);
    let lists: Vec<Vec<u64>> = selection.axes().iter().map(indexes).collect();
    let all = combinations(&lists);
    let data = rng.bytes(all.len() * plain.item_size);
    array.write_bytes(&selection, &data).unwrap();
    for (index, item) in all.iter().zip(data.chunks(plain.item_size)) {
        plain.set(index, item);
    }
}

fn fill_some(array: &mut NdArray, plain: &mut Plain, rng: &mut Rng) {
    let selection = random_selection(rng, &plain.shape);
    let lists: Vec<Vec<u64>> = selection.axes().iter().map(indexes).collect();
    let item = rng.bytes(plain.item_size);
    array.fill(&selection, &item).unwrap();
    combinations(&lists).iter().for_each(|index| plain.set(index, &item));
}

fn write_masked(array: &mut NdArray, plain: &mut Plain, rng: &mut Rng) {
    let mask: Vec<bool> = (0..array.item_count()).map(|_| rng.index(4) == 0).collect();
    let data = rng.bytes(mask.iter().filter(|bit| **bit).count() * plain.item_size);
    array.write_mask(&mask, &data).unwrap();
    let places = plain.bytes.chunks_mut(plain.item_size).zip(&mask).filter(|(_, bit)| **bit);
    for ((place, _), item) in places.zip(data.chunks(plain.item_size)) {
        place.copy_from_slice(item);
    }
}

/// A box from a buffer in Fortran order, with a byte after every item; or the same items in lists,
/// each in descending order.
fn write_spread(array: &mut NdArray, plain: &mut Plain, rng: &mut Rng) {
    let start: Vec<u64> = plain.shape.iter().map(|side| rng.below(side + 1)).collect();
    let room = plain.shape.iter().zip(&start).map(|(side, start)| side - start);
    let stop: Vec<u64> =
        room.zip(&start).map(|(room, start)| start + rng.below(room + 1)).collect();
    let is_box = rng.index(2) == 0;
    let list = |(start, stop): (&u64, &u64)| match is_box {
        true => (*start..*stop).collect(),
        false => (*start..*stop).rev().collect(),
    };
    let lists: Vec<Vec<u64>> = start.iter().zip(&stop).map(list).collect();
    let (mut strides, mut stride) = (vec![0; lists.len()], plain.item_size + 1);
    for (place, list) in strides.iter_mut().zip(&lists) {
        *place = stride;
        stride *= list.len();
    }
    let data = rng.bytes(stride);
    if is_box {
        array.write_box_strided(&start, &stop, &data, &strides).unwrap();
    } else {
        let indexes: Vec<AxisIndexes<'_>> = lists.iter().map(|list| list[..].into()).collect();
        array.write_orthogonal_strided(&indexes, &data, &strides).unwrap();
    }
    let place = |(list, index): (&Vec<u64>, &u64)| list.iter().position(|i| i == index).unwrap();
    for index in combinations(&lists) {
        let places = lists.iter().zip(&index).map(place);
        let at: usize = places.zip(&strides).map(|(place, stride)| place * stride).sum();
        plain.set(&index, &data[at..at + plain.item_size]);
    }
}

fn write_points(array: &mut NdArray, plain: &mut Plain, rng: &mut Rng) {
    let mut point = || plain.shape.iter().map(|side| rng.below(*side)).collect();
    let points: Vec<Vec<u64>> = (0..5).map(|_| point()).collect();
    let data = rng.bytes(5 * plain.item_size);
    array.write_points(&points.concat(), &data).unwrap();
    for (point, item) in points.iter().zip(data.chunks(plain.item_size)) {
        plain.set(point, item);
    }
}

fn insert_some(array: &mut NdArray, plain: &mut Plain, rng: &mut Rng) {
    let axis = rng.index(plain.shape.len());
    let side = plain.shape[axis];
    let position = if rng.index(2) == 0 { side } else { rng.below(side + 1) };
    let mut rows = plain.shape.clone();
    rows[axis] = rng.below(5);
    let mut data = Plain::zeros(&rows, plain.item_size);
    data.bytes = rng.bytes(data.bytes.len());
    // Where a row has no items, no bytes tell how many rows there are.
    let count = if data.bytes.is_empty() { 0 } else { rows[axis] };
    match position == side {
        true => array.append(axis, &data.bytes).unwrap(),
        false => array.insert(axis, position, &data.bytes).unwrap(),
    }
    let mut shape = plain.shape.clone();
    shape[axis] += count;
    let mut new = plain.remade(&shape, |index| {
        let mut old = index.to_vec();
        if index[axis] >= position + count {
            old[axis] -= count;
        }
        (!(position..position + count).contains(&index[axis])).then_some(old)
    });
    let lists: Vec<Vec<u64>> = rows.iter().map(|side| (0..*side).collect()).collect();
    for index in combinations(&lists).into_iter().filter(|_| count > 0) {
        let mut to = index.clone();
        to[axis] += position;
        new.set(&to, data.item(&index));
    }
    *plain = new;
}

fn delete_some(array: &mut NdArray, plain: &mut Plain, rng: &mut Rng) {
    let axis = rng.index(plain.shape.len());
    let side = plain.shape[axis];
    let start = rng.below(side + 1);
    let count = rng.below(side - start + 1);
    array.delete(axis, start, count).unwrap();
    let mut shape = plain.shape.clone();
    shape[axis] -= count;
    *plain = plain.remade(&shape, |index| {
        let mut old = index.to_vec();
        old[axis] += if index[axis] < start { 0 } else { count };
        Some(old)
    });
}

#[test]
fn arrays_are_what_plain_ones_are() {
    for seed in 0..150 {
        let mut rng = Rng::new(seed);
        let rank = rng.index(6);
        let most = [0, 60, 14, 9, 6, 4][rank];
        let shape: Vec<u64> = (0..rank).map(|_| rng.below(most + 1)).collect();
        let item_size = [1, 2, 3, 4, 8, 16, 300][rng.index(7)];
        let options = random_options(&mut rng, &shape);
        let home = match rng.index(3) {
            0 => Home::Memory,
            1 => Home::File(Arc::default()),
            _ => Home::Folder(Arc::default()),
        };
        let mut array = new_array(&shape, item_size, &home, &options);
        let mut plain = Plain::zeros(&shape, item_size);
        plain.bytes = rng.bytes(plain.bytes.len());
        array.write_bytes(&Selection::all(&shape), &plain.bytes).unwrap();
        check(&array, &plain, &mut rng);
        for _ in 0..6 {
            change(&mut array, &mut plain, &mut rng);
            if rng.index(3) == 0 {
                array = reopened(array, &home, &options);
            }
            check(&array, &plain, &mut rng);
        }
    }
}

#[test]
fn large_reads_on_many_threads_are_the_same() {
    let mut rng = Rng::new(77);
    let shape = [70, 90, 50];
    for (chunks, blocks) in [([32, 40, 50], [8, 20, 25]), ([70, 90, 50], [70, 9, 10])] {
        let compress = CompressOptions::new(2).with_executor(Executor::threads(4));
        let options =
            NdOptions::new(FrameOptions::new(compress)).with_chunks(&chunks).with_blocks(&blocks);
        let mut array = NdArray::in_memory(&shape, &DType::of::<u16>(), &options).unwrap();
        array.fill_with(|at| (at[0] * 4500 + at[1] * 50 + at[2]) as u16).unwrap();
        let all: Vec<u16> = array.read(&Selection::all(&shape)).unwrap();
        assert!(all.iter().enumerate().all(|(number, item)| *item == number as u16));
        let mut plain = Plain::zeros(&shape, 2);
        plain.bytes = all.iter().flat_map(|item| item.to_ne_bytes()).collect();
        for text in
            ["::-1, ::2, :", ":, 3, :", "5, :, :", ":, :, 7", "3:69, 1:80, 2:49", "::3, :, ::-1"]
        {
            check_selection(&array, &plain, &Selection::parse(text, &shape).unwrap());
        }
        for _ in 0..10 {
            check_selection(&array, &plain, &random_selection(&mut rng, &shape));
        }
    }
}
