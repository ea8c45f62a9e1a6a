//! The frame benches: files of chunks, written and read by both sides in turns.
//!
//! Every answer is checked first: each side reads what each side wrote. Files that are only read were
//! written by C-Blosc2, so that both read the same bytes. A case is timed by two clocks, the processor
//! time of the thread (system calls included, waiting for the disk not) and the wall; of each the
//! fastest round counts.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use superchunk_testkit::datasets;
use superchunk_testkit::rng::Rng;

use crate::args::Args;
use crate::c_blosc2::Library;
use crate::c_schunk::CFrames;
use crate::choice::{CODECS, FILTERS, Setup};
use crate::contestant::Answer;
use crate::frame_report::FrameReport;
use crate::frame_side::{FrameReader, FrameSide};
use crate::many_chunks;
use crate::opened;
use crate::ours_schunk::OurFrames;
use crate::rounds::{Folder, Lines, Times, remove, turns};
use crate::timing::Ring;

const CHUNK_SIZE: usize = 1 << 20;
const CHUNKS: usize = 256;
/// Chunks repeat after this many.
const DISTINCT: usize = 16;
const RANDOM_CHUNKS: usize = 1000;
const RANDOM_ITEMS: usize = 10_000;
const ITEM_SIZE: usize = 4;
const MANY_CHUNKS: usize = 1_000_000;
const TINY_CHUNK: usize = 16;
const SMALL_APPENDS: usize = 10_000;
const SMALL_CHUNK: usize = 4096;

/// Runs all frame benches; `false` when an answer was wrong.
pub(crate) fn run(library: &Library, args: &Args) -> Result<bool, String> {
    let folder = Folder::new(args.folder.as_deref())?;
    let mut report =
        FrameReport::new(args, &library.version(), &opened::subject("frame", args)?, "C-Blosc2");
    let setup = setup(opened::threads(args)?)?;
    let theirs = CFrames::new(library, &setup)?;
    let ours = OurFrames::unsynced(&setup);
    let durable = OurFrames::durable(&setup);
    let budget = args.budget * 5;
    let sides = [&ours as &dyn FrameSide, &theirs];
    let bench = Bench { library, setup, sides, durable: &durable, folder, budget };
    let mut right = true;
    for (name, case) in CASES {
        match case(&bench, &theirs) {
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

type Case = fn(&Bench<'_>, &CFrames<'_>) -> Answer<Lines>;

const CASES: [(&str, Case); 6] = [
    ("append 256 chunks of 1 MiB", |bench, _| bench.append_large()),
    ("256 chunks of 1 MiB", |bench, c| bench.read_large(c)),
    ("10,000 appends of 4 KiB, one commit", |bench, _| bench.append_small()),
    ("1,000,000 chunks of zeros", |bench, c| {
        let path = bench.folder.at("zeros");
        c.write_zeros(&path, MANY_CHUNKS, TINY_CHUNK)?;
        bench.open(&path, MANY_CHUNKS, &[0; TINY_CHUNK])
    }),
    ("1,000,000 stored chunks", |bench, _| {
        let path = bench.folder.at("stored");
        let data = datasets::random(MANY_CHUNKS * TINY_CHUNK);
        many_chunks::write(bench.library, &bench.setup, &path, TINY_CHUNK, &data)?;
        bench.open(&path, MANY_CHUNKS, data.rchunks(TINY_CHUNK).next().unwrap_or_default())
    }),
    ("100 chunks", |bench, c| {
        let path = bench.folder.at("hundred");
        let data = datasets::field(100 * SMALL_CHUNK);
        c.write(&path, SMALL_CHUNK, &data.chunks(SMALL_CHUNK).collect::<Vec<_>>())?;
        bench.open(&path, 100, data.rchunks(SMALL_CHUNK).next().unwrap_or_default())
    }),
];

struct Bench<'a> {
    library: &'a Library,
    setup: Setup,
    /// Ours and theirs.
    sides: [&'a dyn FrameSide; 2],
    /// Ours, with commits that wait for the disk.
    durable: &'a dyn FrameSide,
    folder: Folder,
    budget: Duration,
}

impl Bench<'_> {
    /// Writing a frame of these pieces by two sides, in a new file each time; both sides must read
    /// what each wrote.
    fn write(
        &self,
        writers: [&dyn FrameSide; 2],
        chunk_size: usize,
        pieces: &[&[u8]],
    ) -> Answer<[Times; 2]> {
        let paths = [self.folder.at("written-by-us"), self.folder.at("written-by-c")];
        let mut sides = writers.into_iter().zip(&paths).collect::<Vec<_>>();
        for (side, path) in &sides {
            remove(path);
            side.write(path, chunk_size, pieces)?;
            for reader in self.sides {
                check(reader.open(path)?.as_mut(), pieces)
                    .map_err(|e| format!("{} read back: {e}", path.display()))?;
            }
        }
        turns(
            self.budget,
            &mut sides,
            |(_, path)| {
                remove(path);
                Ok(())
            },
            |(side, path)| side.write(path, chunk_size, pieces),
        )
    }

    /// Appending large chunks, without and with waiting for the disk on our side.
    fn append_large(&self) -> Answer<Lines> {
        let data = datasets::field(DISTINCT * CHUNK_SIZE);
        let pieces = large_pieces(&data);
        let [_, theirs] = self.sides;
        Ok(vec![
            ("", self.write(self.sides, CHUNK_SIZE, &pieces)?),
            (", only ours synced", self.write([self.durable, theirs], CHUNK_SIZE, &pieces)?),
        ])
    }

    /// Appending little by little; nothing is complete before the end.
    fn append_small(&self) -> Answer<Lines> {
        let data = datasets::field(SMALL_APPENDS * SMALL_CHUNK);
        let pieces: Vec<&[u8]> = data.chunks(SMALL_CHUNK).collect();
        Ok(vec![("", self.write(self.sides, SMALL_CHUNK, &pieces)?)])
    }

    /// Reading one large frame in three ways.
    fn read_large(&self, c: &CFrames<'_>) -> Answer<Lines> {
        let data = datasets::field(DISTINCT * CHUNK_SIZE);
        let pieces = large_pieces(&data);
        let path = self.folder.at("large");
        c.write(&path, CHUNK_SIZE, &pieces)?;
        for side in self.sides {
            check(side.open(&path)?.as_mut(), &pieces)?;
        }
        let mut rng = Rng::new(7);
        let mut picks = |count: usize, below: usize| -> Vec<u64> {
            (0..count).map(|_| rng.below(below as u64)).collect()
        };
        let in_order: Vec<u64> = (0..CHUNKS as u64).collect();
        let chunks = picks(RANDOM_CHUNKS, CHUNKS);
        let items = picks(RANDOM_ITEMS, CHUNKS * CHUNK_SIZE / ITEM_SIZE);
        for side in self.sides {
            check_items(side.open(&path)?.as_mut(), &data, &items)?;
        }
        let mut ring = Ring::new(CHUNK_SIZE);
        let mut read_chunks = |reader: &mut dyn FrameReader, which: &[u64]| {
            which.iter().try_for_each(|&n| reader.read_chunk(n, ring.turn()?).map(drop))
        };
        let sequential = self.readings(&path, |reader| read_chunks(reader, &in_order))?;
        let mut all = vec![1; CHUNKS * CHUNK_SIZE];
        let at_once = self.readings(&path, |reader| {
            reader.read_items(0..(CHUNKS * CHUNK_SIZE / ITEM_SIZE) as u64, &mut all)
        })?;
        if !all.chunks(CHUNK_SIZE).eq(pieces.iter().copied()) {
            return Err("read with one call: wrong".to_owned());
        }
        let random = self.readings(&path, |reader| read_chunks(reader, &chunks))?;
        let single = self.readings(&path, |reader| {
            let mut item = [0; ITEM_SIZE];
            items.iter().try_for_each(|&n| {
                reader.read_items(n..n + 1, &mut item)?;
                black_box(&mut item);
                Ok(())
            })
        })?;
        Ok(vec![
            (", read in order", sequential),
            (", read with one call", at_once),
            (", 1000 random chunks", random),
            (", 10,000 random items", single),
        ])
    }

    /// Reading from a frame that was opened before the clocks start, anew in each round: where the
    /// buffers of a handle happen to lie is worth several percent.
    fn readings(
        &self,
        path: &Path,
        mut work: impl FnMut(&mut dyn FrameReader) -> Answer<()>,
    ) -> Answer<[Times; 2]> {
        let mut runners = self.sides.map(|side| (side, None));
        turns(
            self.budget,
            &mut runners,
            |(side, reader)| {
                drop(reader.take());
                *reader = Some(side.open(path)?);
                Ok(())
            },
            |(_, reader)| match reader {
                Some(reader) => work(reader.as_mut()),
                None => Err("not opened".to_owned()),
            },
        )
    }

    /// Opening a frame, and opening it to read its last chunk.
    fn open(&self, path: &Path, chunks: usize, last: &[u8]) -> Answer<Lines> {
        let mut sides = self.sides;
        let index = (chunks as u64).saturating_sub(1);
        let mut space = vec![1; last.len()];
        for side in sides {
            let mut frame = side.open(path)?;
            if frame.chunk_count() != chunks as u64 {
                return Err(format!("{} chunks instead of {chunks}", frame.chunk_count()));
            }
            if frame.read_chunk(index, &mut space)? != last.len() || space != last {
                return Err("the last chunk is wrong".to_owned());
            }
        }
        let open = turns(
            self.budget,
            &mut sides,
            |_| Ok(()),
            |side| {
                black_box(side.open(path)?.chunk_count());
                Ok(())
            },
        )?;
        let first = turns(
            self.budget,
            &mut sides,
            |_| Ok(()),
            |side| side.open(path)?.read_chunk(index, &mut space).map(drop),
        )?;
        Ok(vec![(", open", open), (", open and read the last", first)])
    }
}

/// LZ4 and byte shuffle on so many threads.
pub(crate) fn setup(threads: usize) -> Answer<Setup> {
    let codec = CODECS.into_iter().find(|codec| codec.name == "lz4").ok_or("no LZ4")?;
    let filter = FILTERS.into_iter().find(|filter| filter.name == "shuffle").ok_or("no shuffle")?;
    Ok(Setup { codec, level: 5, filter, item_size: ITEM_SIZE, threads })
}

fn large_pieces(data: &[u8]) -> Vec<&[u8]> {
    data.chunks(CHUNK_SIZE).cycle().take(CHUNKS).collect()
}

fn check(frame: &mut dyn FrameReader, pieces: &[&[u8]]) -> Answer<()> {
    let total: usize = pieces.iter().map(|piece| piece.len()).sum();
    if (frame.chunk_count(), frame.len()) != (pieces.len() as u64, total as u64) {
        return Err(format!("{} chunks, {} bytes", frame.chunk_count(), frame.len()));
    }
    let mut space = vec![0; pieces.first().map_or(0, |piece| piece.len())];
    for (index, piece) in (0..).zip(pieces) {
        let len = frame.read_chunk(index, &mut space)?;
        if space.get(..len) != Some(piece) {
            return Err(format!("chunk {index} is wrong"));
        }
    }
    Ok(())
}

fn check_items(frame: &mut dyn FrameReader, data: &[u8], items: &[u64]) -> Answer<()> {
    let period = (data.len() / ITEM_SIZE) as u64;
    let mut found = [0; ITEM_SIZE];
    for &item in items {
        frame.read_items(item..item + 1, &mut found)?;
        let place = usize::try_from(item % period).map_err(|e| e.to_string())? * ITEM_SIZE;
        if data.get(place..place + ITEM_SIZE) != Some(&found) {
            return Err(format!("item {item} is wrong"));
        }
    }
    Ok(())
}
