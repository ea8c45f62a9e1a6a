//! The array benches: boxes of a 3-D array in a file, read and written by both sides in turns.
//!
//! Every answer is checked first, against the items that the array was made of. Both sides work on
//! files that C-Blosc2 wrote, so that both read the same bytes; what is to be changed is a copy of its
//! own for each side and round. Of the two clocks the fastest round counts.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use superchunk_testkit::datasets;
use superchunk_testkit::rng::Rng;

use crate::args::Args;
use crate::c_blosc2::Library;
use crate::c_nd::CArrays;
use crate::contestant::Answer;
use crate::frame_report::FrameReport;
use crate::frames::setup;
use crate::nd_side::{Cuboid, Index, NdHandle, NdSide, Points, Shapes};
use crate::opened;
use crate::ours_nd::OurArrays;
use crate::rounds::{Folder, Lines, Times, remove, turns};

/// Items along each axis, of the array and of the shorter one for those in a hurry.
const SIDE: usize = 512;
const QUICK_SIDE: usize = 256;
const CHUNK_SIDE: usize = 128;
const BLOCK_SIDE: usize = 32;
/// The tiles of the dataset are squares of this side.
const TILE_SIDE: usize = 1024;
const ITEM_SIZE: usize = 4;
const BOXES: usize = 1000;
const PLANES: usize = 8;
const WRITTEN_BOXES: usize = 100;
const WRITTEN_SIDE: usize = 20;
const APPENDED_PLANES: usize = 16;

/// Runs all array benches; `false` when an answer was wrong.
pub(crate) fn run(library: &Library, args: &Args) -> Result<bool, String> {
    let mut report =
        FrameReport::new(args, &library.version(), &opened::subject("nd", args)?, "C-Blosc2");
    let setup = setup(opened::threads(args)?)?;
    let theirs = CArrays::new(library, &setup)?;
    let ours = OurArrays::new(&setup);
    let bench = Bench {
        sides: [&ours, &theirs],
        source: Source::new(if args.quick { QUICK_SIDE } else { SIDE }),
        folder: Folder::new(args.folder.as_deref())?,
        budget: args.budget * 10,
    };
    let mut right = true;
    for (name, case) in CASES {
        match case(&bench) {
            Ok(lines) => {
                for (detail, times) in lines {
                    report.add(&format!("{name}{detail}"), times);
                }
            }
            Err(reason) => {
                right = false;
                report.wrong(name, &reason);
            }
        }
    }
    report.finish()?;
    Ok(right)
}

type Case = fn(&Bench<'_>) -> Answer<Lines>;

const CASES: [(&str, Case); 8] = [
    ("create", |bench| bench.create()),
    ("read all", |bench| bench.boxes(&[Cuboid::all(bench.source.shape())])),
    ("8 planes across axis ", |bench| bench.planes()),
    ("1000 boxes of 8×8×8", |bench| bench.boxes(&bench.source.random(BOXES, 8))),
    ("1000 boxes of 40×40×40", |bench| bench.boxes(&bench.source.random(BOXES, 40))),
    ("1000 items", |bench| bench.items()),
    ("write 100 boxes of 20×20×20", |bench| bench.write()),
    ("append 16 planes", |bench| bench.append()),
];

struct Bench<'a> {
    /// Ours and theirs.
    sides: [&'a dyn NdSide; 2],
    source: Source,
    folder: Folder,
    budget: Duration,
}

impl Bench<'_> {
    /// A new file in each round; each side must read what each wrote.
    fn create(&self) -> Answer<Lines> {
        let paths = [self.folder.at("created-by-us"), self.path()];
        let mut sides = self.sides.into_iter().zip(&paths).collect::<Vec<_>>();
        let shapes = self.source.shapes();
        for (side, path) in &sides {
            remove(path);
            side.create(path, &shapes, &self.source.data)?;
            for reader in self.sides {
                self.source.check(reader.open(path)?.as_mut())?;
            }
        }
        let times = turns(
            self.budget,
            &mut sides,
            |(_, path)| {
                remove(path);
                Ok(())
            },
            |(side, path)| side.create(path, &shapes, &self.source.data),
        )?;
        Ok(vec![("", times)])
    }

    /// One line for each axis.
    fn planes(&self) -> Answer<Lines> {
        let mut lines = Vec::new();
        for (axis, name) in ["0", "1", "2"].into_iter().enumerate() {
            let times = self.read(&self.source.planes(axis))?;
            lines.push((name, times));
        }
        Ok(lines)
    }

    fn boxes(&self, boxes: &[Cuboid]) -> Answer<Lines> {
        Ok(vec![("", self.read(boxes)?)])
    }

    /// Items one by one, and all with one call.
    fn items(&self) -> Answer<Lines> {
        let boxes = self.source.random(BOXES, 1);
        let single = self.read(&boxes)?;
        let places: Vec<Index> = boxes.iter().map(|cuboid| cuboid.start).collect();
        let points = Points::new(&places, self.source.shape())?;
        let wanted: Vec<u8> = boxes.iter().flat_map(|cuboid| self.source.cut(cuboid)).collect();
        let mut found = vec![0; wanted.len()];
        for (side, name) in self.sides.into_iter().zip(["superchunk", "C-Blosc2"]) {
            found.fill(0);
            side.open(&self.path())?.read_points(&points, &mut found)?;
            if found != wanted {
                return Err(format!("{name} reads wrong items"));
            }
        }
        let together = self.readings(|array| {
            array.read_points(&points, &mut found)?;
            black_box(&mut found);
            Ok(())
        })?;
        Ok(vec![(", one by one", single), (", together", together)])
    }

    /// Reads boxes of one size.
    fn read(&self, boxes: &[Cuboid]) -> Answer<[Times; 2]> {
        let mut space = vec![0; boxes.first().map_or(0, bytes_in)];
        for side in self.sides {
            let mut array = side.open(&self.path())?;
            for cuboid in boxes {
                space.fill(0);
                array.read(cuboid, &mut space)?;
                if space != self.source.cut(cuboid) {
                    return Err(format!("{cuboid:?} is wrong"));
                }
            }
        }
        self.readings(|array| {
            boxes.iter().try_for_each(|cuboid| {
                array.read(cuboid, &mut space)?;
                black_box(&mut space);
                Ok(())
            })
        })
    }

    /// Reading from an array that was opened before the clocks start, anew in each round.
    fn readings(
        &self,
        mut work: impl FnMut(&mut dyn NdHandle) -> Answer<()>,
    ) -> Answer<[Times; 2]> {
        let path = self.path();
        let mut runners = self.sides.map(|side| (side, None));
        turns(
            self.budget,
            &mut runners,
            |(side, array)| {
                drop(array.take());
                *array = Some(side.open(&path)?);
                Ok(())
            },
            |(_, array)| match array {
                Some(array) => work(array.as_mut()),
                None => Err("not opened".to_owned()),
            },
        )
    }

    /// Boxes get the items of other boxes.
    fn write(&self) -> Answer<Lines> {
        let boxes = self.source.random(2 * WRITTEN_BOXES, WRITTEN_SIDE);
        let (to, from) = boxes.split_at(WRITTEN_BOXES);
        let pieces: Vec<(Cuboid, Vec<u8>)> =
            to.iter().zip(from).map(|(to, from)| (*to, self.source.cut(from))).collect();
        let mut wanted = self.source.clone();
        for (cuboid, bytes) in &pieces {
            wanted.put(cuboid, bytes);
        }
        let times = self.changes(&wanted, |array| {
            pieces.iter().try_for_each(|(cuboid, bytes)| array.write(cuboid, bytes))
        })?;
        Ok(vec![("", times)])
    }

    /// All planes with one call, and one by one.
    fn append(&self) -> Answer<Lines> {
        let first = Cuboid {
            stop: [APPENDED_PLANES as u64, self.source.side as u64, self.source.side as u64],
            ..Cuboid::all(self.source.shape())
        };
        let planes = self.source.cut(&first);
        let mut wanted = self.source.clone();
        wanted.data.extend_from_slice(&planes);
        let together = self.changes(&wanted, |array| array.append(&planes))?;
        let plane = planes.len() / APPENDED_PLANES;
        let single = self.changes(&wanted, |array| {
            planes.chunks_exact(plane).try_for_each(|plane| array.append(plane))
        })?;
        Ok(vec![(" at once", together), (" one by one", single)])
    }

    /// Changes of an array that was opened before the clocks start, up to their being in the file.
    /// Each side must read what each made of its copy.
    fn changes(
        &self,
        wanted: &Source,
        mut work: impl FnMut(&mut dyn NdHandle) -> Answer<()>,
    ) -> Answer<[Times; 2]> {
        let paths = [self.folder.at("changed-by-us"), self.folder.at("changed-by-c")];
        let mut runners = Vec::new();
        for (side, path) in self.sides.into_iter().zip(&paths) {
            let mut array = self.copy(side, path)?;
            work(array.as_mut())?;
            array.commit()?;
            drop(array);
            for reader in self.sides {
                wanted
                    .check(reader.open(path)?.as_mut())
                    .map_err(|e| format!("{} read back: {e}", path.display()))?;
            }
            runners.push((side, path, None));
        }
        let times = turns(
            self.budget,
            &mut runners,
            |(side, path, array)| {
                drop(array.take());
                *array = Some(self.copy(*side, path)?);
                Ok(())
            },
            |(_, _, array)| match array {
                Some(array) => {
                    work(array.as_mut())?;
                    array.commit()
                }
                None => Err("not opened".to_owned()),
            },
        );
        drop(runners);
        paths.iter().for_each(|path| remove(path));
        times
    }

    /// Opens a fresh copy of the array for writing.
    fn copy<'s>(&self, side: &'s dyn NdSide, path: &Path) -> Answer<Box<dyn NdHandle + 's>> {
        remove(path);
        std::fs::copy(self.path(), path).map_err(|e| format!("{}: {e}", path.display()))?;
        side.edit(path)
    }

    /// The array that C-Blosc2 has created.
    fn path(&self) -> PathBuf {
        self.folder.at("array")
    }
}

/// The items that the array is made of: a smooth field that drifts from plane to plane.
#[derive(Clone)]
struct Source {
    side: usize,
    data: Vec<u8>,
}

impl Source {
    /// Plane `n` is the square of a larger field that begins in row and column `n`.
    fn new(side: usize) -> Self {
        let tile = datasets::field(TILE_SIDE * TILE_SIDE * ITEM_SIZE);
        let mut data = Vec::with_capacity(side.pow(3) * ITEM_SIZE);
        let rows = tile.chunks_exact(TILE_SIDE * ITEM_SIZE);
        for plane in 0..side {
            let columns = plane * ITEM_SIZE..(plane + side) * ITEM_SIZE;
            let rows = rows.clone().skip(plane).take(side);
            rows.filter_map(|row| row.get(columns.clone()))
                .for_each(|row| data.extend_from_slice(row));
        }
        Self { side, data }
    }

    /// The shape of the array; planes may have been appended.
    fn shape(&self) -> Index {
        let plane = self.side * self.side * ITEM_SIZE;
        [self.data.len() / plane, self.side, self.side].map(|side| side as u64)
    }

    fn shapes(&self) -> Shapes {
        Shapes { array: self.shape(), chunk: [CHUNK_SIDE; 3], block: [BLOCK_SIDE; 3] }
    }

    /// Cubes of this side, anywhere.
    fn random(&self, count: usize, side: usize) -> Vec<Cuboid> {
        let mut rng = Rng::new(7);
        let room = (self.side - side + 1) as u64;
        let mut cube = || {
            let start = [rng.below(room), rng.below(room), rng.below(room)];
            Cuboid { start, stop: start.map(|at| at + side as u64) }
        };
        (0..count).map(|_| cube()).collect()
    }

    /// Some planes of all items of one index along an axis.
    fn planes(&self, axis: usize) -> Vec<Cuboid> {
        let mut rng = Rng::new(7);
        let mut plane = || {
            let mut plane = Cuboid::all(self.shape());
            let at = rng.below(self.side as u64);
            if let (Some(start), Some(stop)) = (plane.start.get_mut(axis), plane.stop.get_mut(axis))
            {
                (*start, *stop) = (at, at + 1);
            }
            plane
        };
        (0..PLANES).map(|_| plane()).collect()
    }

    /// Where the rows of a box begin, and their length, in bytes.
    fn rows(&self, cuboid: &Cuboid) -> (Vec<usize>, usize) {
        let as_size = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let ([a, b, c], [d, e, f]) = (cuboid.start.map(as_size), cuboid.stop.map(as_size));
        let places = (a..d).flat_map(|plane| (b..e).map(move |row| (plane, row)));
        let place = |(plane, row)| ((plane * self.side + row) * self.side + c) * ITEM_SIZE;
        (places.map(place).collect(), (f - c) * ITEM_SIZE)
    }

    fn cut(&self, cuboid: &Cuboid) -> Vec<u8> {
        let (rows, len) = self.rows(cuboid);
        let mut bytes = Vec::with_capacity(rows.len() * len);
        rows.into_iter()
            .filter_map(|at| self.data.get(at..at + len))
            .for_each(|row| bytes.extend_from_slice(row));
        bytes
    }

    fn put(&mut self, cuboid: &Cuboid, bytes: &[u8]) {
        let (rows, len) = self.rows(cuboid);
        for (at, row) in rows.into_iter().zip(bytes.chunks_exact(len)) {
            if let Some(place) = self.data.get_mut(at..at + len) {
                place.copy_from_slice(row);
            }
        }
    }

    /// Compares all items of an array.
    fn check(&self, array: &mut dyn NdHandle) -> Answer<()> {
        if array.shape()? != self.shape() {
            return Err(format!("shape {:?} instead of {:?}", array.shape()?, self.shape()));
        }
        let mut found = vec![0; self.data.len()];
        array.read(&Cuboid::all(self.shape()), &mut found)?;
        if found == self.data { Ok(()) } else { Err("an item is wrong".to_owned()) }
    }
}

fn bytes_in(cuboid: &Cuboid) -> usize {
    let items: u64 = cuboid.sides().iter().product();
    usize::try_from(items).unwrap_or(usize::MAX) * ITEM_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(source: &Source, [a, b, c]: [usize; 3]) -> &[u8] {
        let number = (a * source.side + b) * source.side + c;
        &source.data[number * ITEM_SIZE..(number + 1) * ITEM_SIZE]
    }

    #[test]
    fn the_field_drifts_by_a_row_and_a_column_from_plane_to_plane() {
        let source = Source::new(8);
        assert_eq!(source.shape(), [8, 8, 8]);
        assert_eq!(item(&source, [3, 2, 1]), item(&source, [2, 3, 2]));
        assert_ne!(item(&source, [3, 2, 1]), item(&source, [3, 2, 2]));
    }

    #[test]
    fn what_is_put_into_a_box_is_cut_out_of_it_and_the_rest_stays() {
        let before = Source::new(6);
        let mut after = before.clone();
        let cuboid = Cuboid { start: [1, 2, 3], stop: [3, 3, 5] };
        let bytes: Vec<u8> = (0..16).collect();
        after.put(&cuboid, &bytes);
        assert_eq!(after.cut(&cuboid), bytes);
        assert_eq!(item(&after, [2, 2, 4]), [12, 13, 14, 15]);
        let changed = before.data.iter().zip(&after.data).filter(|(a, b)| a != b).count();
        assert!((1..=16).contains(&changed), "{changed}");
    }

    #[test]
    fn planes_have_one_index_of_their_axis() {
        for plane in Source::new(6).planes(1) {
            assert_eq!(plane.sides(), [6, 1, 6]);
            assert_eq!(bytes_in(&plane), 144);
        }
    }
}
