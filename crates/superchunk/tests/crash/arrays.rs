//! N-d arrays: chunks and shape change together.

use std::sync::Arc;

use superchunk::frame::Kind;
use superchunk::store::Dir;
use superchunk::{
    CompressOptions, DType, FrameOptions, NdArray, NdOptions, NdStorage, OpenOptions, Result,
    SuperChunk,
};
use superchunk_testkit::crash::{Disk, Effort, Findings, Image, explore, seeds};
use superchunk_testkit::nd_peer::NdPeer;
use superchunk_testkit::peers::PeerKind;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

const ARRAY: &str = "array";

/// The shape and the items in C order.
type Plain = (Vec<u64>, Vec<u8>);

/// The cell of a plain array of two axes and items of two bytes.
fn cell(plain: &Plain, row: u64, column: u64) -> [u8; 2] {
    let at = 2 * (row * plain.0[1] + column) as usize;
    [plain.1[at], plain.1[at + 1]]
}

/// A plain array of another shape whose cells come from `value`.
fn plain_of(shape: [u64; 2], value: impl Fn(u64, u64) -> [u8; 2]) -> Plain {
    let cells = (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| (row, column)));
    (shape.to_vec(), cells.flat_map(|(row, column)| value(row, column)).collect())
}

fn resized(plain: &Plain, shape: [u64; 2]) -> Plain {
    let inside = |row, column| row < plain.0[0] && column < plain.0[1];
    plain_of(
        shape,
        |row, column| {
            if inside(row, column) { cell(plain, row, column) } else { [0; 2] }
        },
    )
}

/// Every change of an array, a commit after each.
fn write_states(disk: &Disk, seed: u64, kind: Kind) -> Vec<Plain> {
    let frame = FrameOptions::new(CompressOptions::new(2)).with_kind(kind);
    let options = NdStorage::new(frame).with_chunks(&[20, 30]).with_blocks(&[10, 10]);
    let dtype = DType::parse("<u2").unwrap();
    let name = (kind == Kind::Contiguous).then_some(ARRAY);
    let array = NdArray::create_in_dir(
        disk.root(),
        name,
        &NdOptions::new(&[30, 40], dtype.clone()).with_storage(options.clone()),
    );
    let mut array = array.unwrap();
    let mut plain = plain_of([30, 40], |_, _| [0; 2]);
    let mut rng = Rng::new(seed);
    let mut states = Vec::new();
    for step in 0..8 {
        let [rows, columns] = [plain.0[0], plain.0[1]];
        match step {
            0 | 4 => {
                let bytes = rng.bytes(2 * 25 * 20);
                array.write_box(&[2, 3], &[27, 23], &bytes).unwrap();
                let fresh = (vec![25, 20], bytes);
                plain = plain_of([rows, columns], |row, column| {
                    let inside = (2..27).contains(&row) && (3..23).contains(&column);
                    if inside {
                        cell(&fresh, row - 2, column - 3)
                    } else {
                        cell(&plain, row, column)
                    }
                });
            }
            1 => {
                array.resize(&[50, 70]).unwrap();
                plain = resized(&plain, [50, 70]);
            }
            2 | 5 => {
                let bytes = rng.bytes(2 * 15 * columns as usize);
                array.append(0, &bytes).unwrap();
                plain.0[0] += 15;
                plain.1.extend(bytes);
            }
            3 => {
                array.resize(&[33, 41]).unwrap();
                plain = resized(&plain, [33, 41]);
            }
            6 => {
                array.delete(0, 20, 20).unwrap();
                let old = |row| if row < 20 { row } else { row + 20 };
                plain =
                    plain_of([rows - 20, columns], |row, column| cell(&plain, old(row), column));
            }
            _ => {
                array.resize(&[25, 90]).unwrap();
                plain = resized(&plain, [25, 90]);
            }
        }
        array.commit().unwrap();
        disk.reached(states.len());
        states.push(plain.clone());
    }
    array.close().unwrap();
    states
}

fn read(dir: Arc<dyn Dir>, kind: Kind) -> Result<Plain> {
    let name = (kind == Kind::Contiguous).then_some(ARRAY);
    let frame: SuperChunk = SuperChunk::open_in_dir(dir, name, &OpenOptions::new())?;
    let array = NdArray::from_superchunk(frame)?;
    Ok((array.shape().to_vec(), array.to_vec()?))
}

fn search(seed: u64, kind: Kind, images: usize, mut look: impl FnMut(&Image, &Plain)) -> Findings {
    let disk = Disk::new();
    let states = write_states(&disk, seed, kind);
    let effort = Effort::new(images, seed);
    let look = |image: &Image, state: usize| look(image, &states[state]);
    explore(&disk.history(), &states, effort, |dir| read(dir, kind), look)
}

#[test]
fn an_array_has_its_old_shape_and_items_or_the_new_ones() {
    let mut all = Findings::default();
    for seed in seeds(8) {
        all.join(search(seed, Kind::Contiguous, 48, |_, _| {}));
        all.join(search(seed, Kind::Sparse, 48, |_, _| {}));
    }
    all.must_be_good("arrays", 8_000);
}

#[test]
fn python_blosc2_sees_either_shape() {
    let mut peer = NdPeer::spawn(PeerKind::Blosc2);
    let scratch = Scratch::new();
    let (mut read, mut rng) = (0, Rng::new(3));
    search(3, Kind::Contiguous, 60, |image, state| {
        if rng.below(8) > 0 {
            return;
        }
        image.write_to(&scratch.path("image")).unwrap();
        let found = peer.read(&scratch.path("image").join(ARRAY)).unwrap();
        assert!(found.shape == state.0 && found.bytes == state.1, "{:?}", image.listing());
        read += 1;
    });
    assert!(read >= 40, "only {read}");
}
