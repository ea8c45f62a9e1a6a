//! What the disk does not give back is a hole: its bytes are never made up.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use superchunk::bloscpack::{Checksum, Pack, PackOptions};
use superchunk::salvage::{self, ATTRIBUTE, FoundAt};
use superchunk::store::{Bytes, ReadAt};
use superchunk::{CompressOptions, Error, ErrorKind, FrameOptions, Limits, SuperChunk};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::salvaged::named_chunks;

use crate::doubt::file_of;
use crate::frames::{Original, check};

/// A file that the disk gives back but for a part.
struct BrokenDisk(Vec<u8>, Range<u64>);

impl ReadAt for BrokenDisk {
    fn len(&self) -> Result<u64, Error> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize, Error> {
        if position < self.1.end && position + dst.len() as u64 > self.1.start {
            return Err(Error::new(ErrorKind::Io, "the disk is broken here"));
        }
        Bytes::new(&self.0).read_at(position, dst)
    }
}

/// A file that gives a part back only for the first reads of it.
struct FailingDisk {
    bytes: Vec<u8>,
    part: Range<u64>,
    good_reads: AtomicUsize,
}

impl FailingDisk {
    fn new(bytes: &[u8], part: Range<usize>, good_reads: usize) -> Self {
        let part = part.start as u64..part.end as u64;
        Self { bytes: bytes.to_vec(), part, good_reads: AtomicUsize::new(good_reads) }
    }
}

impl ReadAt for FailingDisk {
    fn len(&self) -> Result<u64, Error> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize, Error> {
        let overlaps = position < self.part.end && position + dst.len() as u64 > self.part.start;
        let uses_up = |left: usize| left.checked_sub(1);
        if overlaps
            && self.good_reads.fetch_update(Ordering::Relaxed, Ordering::Relaxed, uses_up).is_err()
        {
            return Err(Error::new(ErrorKind::Io, "the disk has broken here"));
        }
        Bytes::new(&self.bytes).read_at(position, dst)
    }
}

#[test]
fn what_the_disk_does_not_give_back_is_a_hole_and_named() {
    let original = Original::new(3);
    let places = original.chunks.iter().filter_map(|(_, place)| place.clone());
    let place = places.max_by_key(|place| place.start).unwrap();
    let broken = place.start as u64..place.start as u64 + 8;
    let disk = BrokenDisk(original.bytes.clone(), broken.clone());
    let (saved, report) =
        salvage::frame(&disk, &mut SuperChunk::in_memory, &Limits::default()).unwrap();
    // What is given up is a sector, so that neighbours may be lost, too.
    let same: Vec<bool> = (0..original.bytes.len())
        .map(|at| at / 4096 != place.start / 4096 && at / 4096 != (place.start + 8) / 4096)
        .collect();
    check(&original, &same, &saved, &report, "a broken disk");
    let is_named =
        |source: &FoundAt| matches!(source, FoundAt::Bytes(range) if range.contains(&broken.start));
    assert!(report.holes.iter().any(|hole| is_named(&hole.source)), "{report:?}");
    let nothing = BrokenDisk(original.bytes.clone(), 0..u64::MAX);
    let error = salvage::frame(&nothing, &mut SuperChunk::in_memory, &Limits::default());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Io);
}

/// Noise in chunks that are stored as they are.
fn noise(chunk: usize) -> Vec<Vec<u8>> {
    let mut rng = Rng::new(3);
    (0..4).map(|_| rng.bytes(chunk)).collect()
}

fn frame_of_noise(chunks: &[Vec<u8>], checksums: bool) -> Vec<u8> {
    let options = FrameOptions::new(CompressOptions::new(4).with_level(0));
    let options = options.with_chunk_size(chunks[0].len()).with_checksums(checksums);
    file_of(&options, |frame| chunks.iter().for_each(|chunk| frame.append(chunk).unwrap()))
}

fn place_of(file: &[u8], chunk: &[u8]) -> usize {
    file.windows(64).position(|found| found == &chunk[..64]).unwrap()
}

#[test]
fn a_stored_chunk_without_checksum_on_a_bad_sector_is_a_hole() {
    let chunks = noise(3 << 12);
    let file = frame_of_noise(&chunks, false);
    let sector = (place_of(&file, &chunks[1]) as u64 + 5000) / 4096 * 4096;
    let disk = BrokenDisk(file, sector..sector + 4096);
    let (saved, report) =
        salvage::frame(&disk, &mut SuperChunk::in_memory, &Limits::default()).unwrap();
    assert!(report.holes.iter().any(|hole| hole.chunk == Some(1)), "{report:?}");
    let zeros = vec![0; chunks[1].len()];
    let expected = [&chunks[0], &zeros, &chunks[2], &chunks[3]];
    assert!(saved.to_vec().unwrap() == expected.map(Vec::as_slice).concat());

    let options = PackOptions::new().with_checksum(Checksum::None).with_chunk_size(3 << 12);
    let options = options.with_compress(CompressOptions::new(4).with_level(0));
    let file = options.pack(&chunks.concat()).unwrap();
    let sector = (place_of(&file, &chunks[1]) as u64 + 5000) / 4096 * 4096;
    let (disk, mut saved) = (BrokenDisk(file, sector..sector + 4096), Vec::new());
    let report = salvage::pack(&disk, &mut saved, &Limits::default()).unwrap();
    assert!(report.holes.iter().any(|hole| hole.chunk == Some(1)), "{report:?}");
    let saved = Pack::from_bytes(saved).unwrap().superchunk().unwrap().to_vec().unwrap();
    assert!(saved == expected.map(Vec::as_slice).concat());
}

/// The first reads judge a chunk, later ones copy it.
#[test]
fn a_chunk_that_cannot_be_read_again_is_a_hole_and_named() {
    let chunks = noise(700_000);
    let file = frame_of_noise(&chunks, true);
    let at = place_of(&file, &chunks[0]);
    let mut holes = 0;
    for good_reads in 0..12 {
        let disk = FailingDisk::new(&file, at + 9000..at + 9001, good_reads);
        let saved = salvage::frame(&disk, &mut SuperChunk::in_memory, &Limits::default());
        let (saved, report) = saved.unwrap();
        for (number, chunk) in chunks.iter().enumerate() {
            if saved.read_chunk(number).unwrap() != *chunk {
                assert!(report.holes.iter().any(|hole| hole.chunk == Some(number)), "{report:?}");
                assert!(saved.read_chunk(number).unwrap().iter().all(|byte| *byte == 0));
                let lines = format!("{:?}", saved.attribute(ATTRIBUTE).unwrap());
                assert!(named_chunks(&lines, "").contains(&number), "{lines}");
                holes += 1;
            }
        }
    }
    assert!((2..12).contains(&holes), "{holes}");
}

#[test]
fn a_chunk_of_a_pack_that_cannot_be_read_again_ends_the_salvage() {
    let chunks = noise(700_000);
    let options = PackOptions::new().with_checksum(Checksum::Crc32).with_chunk_size(700_000);
    let file = options.pack(&chunks.concat()).unwrap();
    let at = place_of(&file, &chunks[0]);
    let mut failures = 0;
    for good_reads in 0..12 {
        let (disk, mut saved) =
            (FailingDisk::new(&file, at + 9000..at + 9001, good_reads), Vec::new());
        match salvage::pack(&disk, &mut saved, &Limits::default()) {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Io, "{error}");
                failures += 1;
            }
            Ok(report) => {
                let saved =
                    Pack::from_bytes(saved).unwrap().superchunk().unwrap().to_vec().unwrap();
                let is_lost = report.holes.iter().any(|hole| hole.chunk == Some(0));
                assert_eq!(saved.starts_with(&chunks[0]), !is_lost, "{report:?}");
            }
        }
    }
    assert!((1..12).contains(&failures), "{failures}");
}
