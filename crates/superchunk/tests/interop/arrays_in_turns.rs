//! An array that python-blosc2 and we change in turn is what NumPy would have, after every step.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by panicking"
)]

use std::path::Path;

use superchunk::frame::Kind;
use superchunk::{CompressOptions, FrameOptions, NdArray, NdOptions, NdStorage, Selection};
use superchunk_testkit::nd_peer::{KeyPart, NdPeer, PeerShape};
use superchunk_testkit::peers::PeerKind;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

/// An array of `<i4` as plain as can be: what NumPy would have.
#[derive(Clone)]
struct Plain {
    shape: Vec<u64>,
    items: Vec<u8>,
}

impl Plain {
    /// The bytes of one row along an axis, and of all rows that lie behind each other.
    fn rows(&self, axis: usize) -> (usize, usize) {
        let row = self.shape[axis + 1..].iter().product::<u64>() as usize * 4;
        (row, row * self.shape[axis] as usize)
    }

    fn insert(&mut self, axis: usize, position: u64, bytes: &[u8]) {
        let (row, all) = self.rows(axis);
        let outer = self.shape[..axis].iter().product::<u64>() as usize;
        let new = bytes.len() / outer;
        let mut items = Vec::new();
        for number in 0..outer {
            let old = &self.items[number * all..(number + 1) * all];
            let (before, behind) = old.split_at(position as usize * row);
            items.extend([before, &bytes[number * new..(number + 1) * new], behind].concat());
        }
        self.shape[axis] += (new / row) as u64;
        self.items = items;
    }

    fn delete(&mut self, axis: usize, start: u64, count: u64) {
        let (row, all) = self.rows(axis);
        let gone = start..start + count;
        let bytes = self.items.iter().enumerate();
        let bytes = bytes.filter(|(at, _)| !gone.contains(&((at % all / row) as u64)));
        self.items = bytes.map(|(_, byte)| *byte).collect();
        self.shape[axis] -= count;
    }

    fn resize(&mut self, shape: &[u64]) {
        for (axis, side) in shape.iter().enumerate() {
            let old = self.shape[axis];
            if *side < old {
                self.delete(axis, *side, old - side);
            } else {
                let bytes = self.shape.iter().product::<u64>() / old * (side - old) * 4;
                self.insert(axis, old, &vec![0; bytes as usize]);
            }
        }
    }

    fn put(&mut self, start: &[u64], stop: &[u64], bytes: &[u8]) {
        let mut bytes = bytes.chunks(4);
        for item in 0..self.items.len() / 4 {
            let mut rest = item as u64;
            let mut inside = true;
            for axis in (0..self.shape.len()).rev() {
                inside &= (start[axis]..stop[axis]).contains(&(rest % self.shape[axis]));
                rest /= self.shape[axis];
            }
            if inside {
                self.items[item * 4..][..4].copy_from_slice(bytes.next().unwrap());
            }
        }
    }
}

/// A change that either side can make.
#[derive(Debug)]
enum Change {
    Put { start: Vec<u64>, stop: Vec<u64>, bytes: Vec<u8> },
    Resize(Vec<u64>),
    Insert { axis: usize, position: u64, bytes: Vec<u8> },
    Append { axis: usize, bytes: Vec<u8> },
    Delete { axis: usize, start: u64, count: u64 },
}

impl Change {
    fn random(rng: &mut Rng, shape: &[u64]) -> Self {
        let axis = rng.index(shape.len());
        let row = shape.iter().product::<u64>() / shape[axis] * 4;
        let rows = |rng: &mut Rng| {
            let count = 1 + rng.below(5);
            rng.bytes((row * count) as usize)
        };
        match rng.index(6) {
            0 | 1 => {
                let start: Vec<u64> = shape.iter().map(|side| rng.below(*side)).collect();
                let pairs = start.iter().zip(shape);
                let stop: Vec<u64> =
                    pairs.map(|(start, side)| start + 1 + rng.below(side - start)).collect();
                let count: u64 = start.iter().zip(&stop).map(|(a, b)| b - a).product();
                Self::Put { start, stop, bytes: rng.bytes(count as usize * 4) }
            }
            2 => Self::Resize(shape.iter().map(|side| 1 + rng.below(side + 4)).collect()),
            3 => Self::Insert { axis, position: rng.below(shape[axis] + 1), bytes: rows(rng) },
            4 => Self::Append { axis, bytes: rows(rng) },
            _ => {
                let start = rng.below(shape[axis]);
                // Something is always left.
                let most = shape[axis] - start - u64::from(start == 0);
                Self::Delete { axis, start, count: rng.below(most + 1) }
            }
        }
    }

    /// Makes it a change that the peer can do right. It inserts and deletes whole chunks only, or at the
    /// end. When it shrinks, it leaves old items behind the edge and shows them when it grows again, so
    /// after that it may not grow; and its append has a shortcut for a buffer of one chunk that forgets to
    /// look whether the array ends with a whole chunk.
    fn for_peer(self, array: &NdArray, may_grow: bool) -> Option<Self> {
        let shape = array.shape();
        let side = |axis: usize| (shape[axis], array.chunk_shape()[axis] as u64);
        let item = |axis: usize| shape.iter().product::<u64>() / shape[axis] * 4;
        match self {
            Self::Resize(new) => {
                let grows = new.iter().zip(shape).any(|(new, old)| new > old);
                let pairs = new.iter().zip(shape);
                let new = pairs.map(
                    |(new, old)| if grows && may_grow { *new.max(old) } else { *new.min(old) },
                );
                Some(Self::Resize(new.collect()))
            }
            Self::Insert { axis, position, bytes } => {
                let (end, chunk) = side(axis);
                let count = bytes.len() as u64 / item(axis);
                let aligned = position.is_multiple_of(chunk) && count.is_multiple_of(chunk);
                let position = if aligned { position } else { end };
                may_grow.then_some(Self::Insert { axis, position, bytes })
            }
            Self::Append { axis, bytes } => {
                let size = array.superchunk().chunk_size().unwrap();
                (may_grow && bytes.len() != size).then_some(Self::Append { axis, bytes })
            }
            Self::Delete { axis, start, count } => {
                let (end, chunk) = side(axis);
                let aligned = start.is_multiple_of(chunk) && count.is_multiple_of(chunk);
                let count = if aligned { count } else { end - start };
                (start > 0 || count < end).then_some(Self::Delete { axis, start, count })
            }
            put => Some(put),
        }
    }

    fn shrinks(&self, shape: &[u64]) -> bool {
        match self {
            Self::Resize(new) => new.iter().zip(shape).any(|(new, old)| new < old),
            Self::Delete { count, .. } => *count > 0,
            _ => false,
        }
    }

    fn by_us(&self, path: &Path) {
        let mut array = NdArray::edit(path).unwrap();
        match self {
            Self::Put { start, stop, bytes } => array.write_box(start, stop, bytes),
            Self::Resize(shape) => array.resize(shape),
            Self::Insert { axis, position, bytes } => array.insert(*axis, *position, bytes),
            Self::Append { axis, bytes } => array.append(*axis, bytes),
            Self::Delete { axis, start, count } => array.delete(*axis, *start, *count),
        }
        .unwrap();
        array.close().unwrap();
    }

    fn by_peer(&self, path: &Path, peer: &mut NdPeer) {
        let done = match self {
            Self::Put { start, stop, bytes } => {
                let pairs = || start.iter().zip(stop);
                let key: Vec<KeyPart> = pairs()
                    .map(|(a, b)| KeyPart::Slice(Some(*a as i64), Some(*b as i64), None))
                    .collect();
                let sides: Vec<u64> = pairs().map(|(a, b)| b - a).collect();
                peer.put(path, &key, &sides, bytes)
            }
            Self::Resize(shape) => peer.resize(path, shape),
            Self::Insert { axis, position, bytes } => peer.insert(path, *axis, *position, bytes),
            Self::Append { axis, bytes } => peer.append(path, *axis, bytes),
            Self::Delete { axis, start, count } => peer.delete(path, *axis, *start, *count),
        };
        done.unwrap_or_else(|words| panic!("{self:?}: {words}"));
    }

    fn by_numpy(&self, plain: &mut Plain) {
        match self {
            Self::Put { start, stop, bytes } => plain.put(start, stop, bytes),
            Self::Resize(shape) => plain.resize(shape),
            Self::Insert { axis, position, bytes } => plain.insert(*axis, *position, bytes),
            Self::Append { axis, bytes } => plain.insert(*axis, plain.shape[*axis], bytes),
            Self::Delete { axis, start, count } => plain.delete(*axis, *start, *count),
        }
    }
}

fn run(peer: &mut NdPeer, path: &Path, seed: u64) {
    let mut rng = Rng::new(seed);
    let rank = 1 + rng.index(4);
    let shape: Vec<u64> = (0..rank).map(|_| 1 + rng.below([40, 12, 7, 5][rank - 1])).collect();
    let chunks: Vec<usize> = shape.iter().map(|side| 1 + rng.index(*side as usize)).collect();
    let blocks: Vec<usize> = chunks.iter().map(|side| 1 + rng.index(*side)).collect();
    let bytes = rng.bytes(shape.iter().product::<u64>() as usize * 4);
    let contiguous = rng.index(3) > 0;
    if rng.index(2) == 0 {
        let kind = if contiguous { Kind::Contiguous } else { Kind::Sparse };
        let frame = FrameOptions::new(CompressOptions::of::<i32>()).with_kind(kind);
        let options = NdStorage::new(frame).with_chunks(&chunks).with_blocks(&blocks);
        let mut array =
            NdArray::create(path, &NdOptions::of::<i32>(&shape).with_storage(options.clone()))
                .unwrap();
        array.write_bytes(&Selection::all(&shape), &bytes).unwrap();
        array.close().unwrap();
    } else {
        let (chunks, blocks) = (Some(chunks.as_slice()), Some(blocks.as_slice()));
        let made = PeerShape { dtype: "<i4", shape: &shape, chunks, blocks, contiguous };
        peer.create(path, made, &bytes).unwrap();
    }
    let mut plain = Plain { shape, items: bytes };
    let mut may_grow = true;
    for step in 0..8 {
        let change = Change::random(&mut rng, &plain.shape);
        let told = format!("seed {seed}, step {step}: {change:.200?}");
        if rng.index(2) == 0 {
            change.by_us(path);
            change.by_numpy(&mut plain);
        } else {
            let Some(change) = change.for_peer(&NdArray::open(path).unwrap(), may_grow) else {
                continue;
            };
            may_grow &= !change.shrinks(&plain.shape);
            change.by_peer(path, peer);
            change.by_numpy(&mut plain);
        }
        let here = NdArray::open(path).unwrap_or_else(|error| panic!("{told}: {error}"));
        assert_eq!(here.shape(), plain.shape, "{told}");
        assert!(here.to_vec().unwrap() == plain.items, "{told}");
        let there = peer.read(path).unwrap_or_else(|words| panic!("{told}: {words}"));
        assert_eq!(there.shape, plain.shape, "{told}");
        assert!(there.bytes == plain.items, "{told}");
    }
}

#[test]
fn changes_of_either_side_are_seen_by_the_other() {
    let scratch = Scratch::new();
    let mut peer = NdPeer::spawn(PeerKind::Blosc2);
    for seed in 0..40 {
        run(&mut peer, &scratch.path(&format!("{seed}.b2nd")), seed);
    }
}

fn line(path: &Path, count: i32, chunk: usize) -> NdArray {
    let options = NdStorage::default().with_chunks(&[chunk]).with_blocks(&[chunk]);
    let shape = [count.unsigned_abs().into()];
    let mut array =
        NdArray::create(path, &NdOptions::of::<i32>(&shape).with_storage(options.clone())).unwrap();
    array.write_items(&Selection::all(&shape), &(1..=count).collect::<Vec<i32>>()).unwrap();
    array
}

fn read(path: &Path) -> Vec<i32> {
    let array = NdArray::open(path).unwrap();
    array.read(&Selection::all(array.shape())).unwrap()
}

#[test]
fn an_append_that_the_peer_gets_wrong_is_right_here() {
    let scratch = Scratch::new();
    let mut peer = NdPeer::spawn(PeerKind::Blosc2);
    let (ours, theirs) = (scratch.path("ours"), scratch.path("theirs"));
    let bytes: Vec<u8> = [104i32, 105].iter().flat_map(|item| item.to_le_bytes()).collect();
    let mut array = line(&ours, 3, 2);
    array.append(0, &bytes).unwrap();
    array.close().unwrap();
    assert_eq!(read(&ours), [1, 2, 3, 104, 105]);

    // The peer's shortcut puts the two items into a chunk of their own and cuts it off.
    line(&theirs, 3, 2).close().unwrap();
    peer.append(&theirs, 0, &bytes).unwrap();
    assert_eq!(read(&theirs), [1, 2, 3, 0, 104]);
}

#[test]
fn items_dropped_by_either_side_never_come_back_through_us() {
    let scratch = Scratch::new();
    let mut peer = NdPeer::spawn(PeerKind::Blosc2);
    let path = |name: &str| scratch.path(name);
    let zeroed: Vec<i32> = (1..=9).chain([0, 0, 0]).collect();

    // Shrunk here, grown by the peer: nothing is left for it to show.
    let mut array = line(&path("a"), 10, 4);
    array.resize(&[9]).unwrap();
    array.close().unwrap();
    peer.resize(&path("a"), &[12]).unwrap();
    assert_eq!(read(&path("a")), zeroed);

    // Shrunk by the peer, grown here: what it left is cleared.
    line(&path("b"), 10, 4).close().unwrap();
    peer.resize(&path("b"), &[9]).unwrap();
    let mut array = NdArray::edit(path("b")).unwrap();
    array.resize(&[12]).unwrap();
    array.close().unwrap();
    assert_eq!(read(&path("b")), zeroed);

    // Both by the peer: item 9 is the old 10 again.
    line(&path("c"), 10, 4).close().unwrap();
    peer.resize(&path("c"), &[9]).unwrap();
    peer.resize(&path("c"), &[12]).unwrap();
    assert_eq!(read(&path("c"))[9], 10);
}
