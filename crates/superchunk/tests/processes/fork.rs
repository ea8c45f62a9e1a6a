//! A forked child may use what it inherited: executor, encoder and decoder work in it, with helper
//! threads of its own, whatever the parent's threads were doing at the moment of the fork.

#![cfg(unix)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use superchunk::chunk::{Decoder, Encoder};
use superchunk::store::{Dir, MemoryFolder};
use superchunk::table::Source;
use superchunk::{
    Codec, CompressOptions, Executor, Filter, FrameOptions, Objects, ObjectsOptions, OpenOptions,
    SuperChunk, bcolz, blsk,
};
use superchunk_testkit::fork::{Outcome, in_child};

const CHILDREN: usize = 60;

/// Slowly rising numbers with noise in the low bits: neither constant nor incompressible.
fn data(seed: u32) -> Vec<u8> {
    (0..128 * 1024_u32)
        .flat_map(|i| (seed + i / 7 + (i.wrapping_mul(2_654_435_761) >> 28)).to_le_bytes())
        .collect()
}

fn options(executor: &Executor) -> CompressOptions {
    CompressOptions::new(4)
        .with_codec(Codec::Lz4)
        .with_filters([Filter::Shuffle])
        .with_block_size(32 * 1024)
        .with_executor(executor.clone())
}

/// Whether `bytes` survive the way there and back.
fn round_trip(encoder: &mut Encoder, decoder: &mut Decoder, bytes: &[u8]) -> bool {
    encoder
        .compress(bytes)
        .and_then(|chunk| Ok(chunk.len() < bytes.len() && decoder.decompress(&chunk)? == bytes))
        .unwrap_or(false)
}

/// Runs `fork` while three threads of this process do `work` again and again.
fn while_working(work: &(dyn Fn() -> bool + Sync), fork: impl FnOnce()) {
    let (stop, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    assert!(work());
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let _stop = Stop(&stop);
        while rounds.load(Ordering::Relaxed) < 3 {
            thread::yield_now();
        }
        fork();
    });
}

/// Ends the load also when there was a panic.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Keeps the executor at work until told to stop; counts the rounds.
#[expect(clippy::unwrap_used, reason = "part of a test")]
fn load(executor: &Executor, seed: u32, stop: &AtomicBool, rounds: &AtomicUsize) {
    let bytes = data(seed);
    let mut encoder = Encoder::new(&options(executor)).unwrap();
    let mut decoder = Decoder::new().with_executor(executor.clone());
    while !stop.load(Ordering::Relaxed) {
        assert!(round_trip(&mut encoder, &mut decoder, &bytes));
        rounds.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs `fork` while three threads of this process keep `executor` busy.
fn under_load(executor: &Executor, fork: impl FnOnce()) {
    let (stop, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for seed in 1..=3 {
            let (stop, rounds) = (&stop, &rounds);
            scope.spawn(move || load(executor, seed, stop, rounds));
        }
        let _stop = Stop(&stop);
        while rounds.load(Ordering::Relaxed) < 3 {
            thread::yield_now();
        }
        fork();
    });
}

/// How many threads this process has, where that can be known.
fn threads_of_this_process() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

#[test]
fn children_compress_and_decompress_with_what_they_inherited() {
    let executor = Executor::threads(4);
    let bytes = data(99);
    let mut encoder = Encoder::new(&options(&executor)).unwrap();
    let mut decoder = Decoder::new().with_executor(executor.clone());
    assert!(round_trip(&mut encoder, &mut decoder, &bytes));
    under_load(&executor, || {
        for child in 0..CHILDREN {
            let outcome =
                in_child(|| (0..3).all(|_| round_trip(&mut encoder, &mut decoder, &bytes)));
            assert_eq!(outcome, Outcome::Passed, "child {child}");
        }
    });
}

#[test]
fn children_have_helpers_of_their_own() {
    let executor = Executor::threads(4);
    let bytes = data(7);
    let mut encoder = Encoder::new(&options(&executor)).unwrap();
    let mut decoder = Decoder::new().with_executor(executor.clone());
    assert!(round_trip(&mut encoder, &mut decoder, &bytes));
    let outcome = in_child(|| {
        let alone = threads_of_this_process();
        let helped = round_trip(&mut encoder, &mut decoder, &bytes);
        let together = threads_of_this_process();
        let expected = executor.thread_count();
        helped && alone.is_none_or(|alone| alone == 1) && together.is_none_or(|n| n == expected)
    });
    assert_eq!(outcome, Outcome::Passed);
}

#[test]
fn grandchildren_work_too() {
    let executor = Executor::threads(3);
    let bytes = data(5);
    let mut encoder = Encoder::new(&options(&executor)).unwrap();
    let mut decoder = Decoder::new().with_executor(executor.clone());
    let outcome = in_child(|| {
        let here = round_trip(&mut encoder, &mut decoder, &bytes);
        let below = in_child(|| round_trip(&mut encoder, &mut decoder, &bytes));
        here && below == Outcome::Passed
    });
    assert_eq!(outcome, Outcome::Passed);
}

#[test]
fn dropping_an_inherited_executor_does_not_wait_for_the_parents_threads() {
    let mut executor = Some(Executor::threads(4));
    let bytes = data(3);
    for _ in 0..10 {
        {
            let executor = executor.as_ref().unwrap();
            let mut encoder = Encoder::new(&options(executor)).unwrap();
            let mut decoder = Decoder::new().with_executor(executor.clone());
            assert!(round_trip(&mut encoder, &mut decoder, &bytes));
        }
        let outcome = in_child(|| executor.take().is_some());
        assert_eq!(outcome, Outcome::Passed);
    }
}

/// What reads a handle: the same answer every time.
type Reading = (&'static str, Box<dyn Fn() -> bool + Sync>);

/// A reader of each kind of handle that keeps memory, decoded blocks or open files between reads.
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
fn readings() -> Vec<Reading> {
    let numbers: Vec<u32> = (0..4000).collect();
    let bytes: &[u8] = bytemuck::cast_slice(&numbers);
    let compress = CompressOptions::new(4);
    let is_right = |found: superchunk::Result<Vec<u32>>| found.is_ok_and(|found| found == [77, 78]);

    let mut frame =
        SuperChunk::in_memory(&FrameOptions::new(compress).with_chunk_size(400)).unwrap();
    frame.append(bytes).unwrap();
    let mut objects = Objects::in_memory(&ObjectsOptions::bytes()).unwrap();
    objects.extend((0..500u32).map(u32::to_le_bytes)).unwrap();

    let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let column = bcolz::ArrayOptions::of::<u32>().with_chunk_rows(100);
    let options = bcolz::TableOptions::new().with_column("n", column).with_bounds();
    let mut table = bcolz::Table::create_in_dir(Arc::clone(&dir), &options).unwrap();
    table.append(&[("n", bytes)]).unwrap();
    table.close().unwrap();
    let bcolz = bcolz::Table::open_in_dir(dir, &OpenOptions::new()).unwrap().into_source();

    let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let options = blsk::ArrayOptions::of::<u32>().with_chunk_rows(100).with_superchunk_size(2);
    let mut array = blsk::Array::create_in_dir(Arc::clone(&dir), &options).unwrap();
    array.append(bytes).unwrap();
    array.close().unwrap();
    let blsk = blsk::Array::open_in_dir(dir, &OpenOptions::new()).unwrap();

    vec![
        ("super-chunk", Box::new(move || is_right(frame.items(77..79)))),
        ("objects", Box::new(move || objects.get(77).is_ok_and(|found| found == [77, 0, 0, 0]))),
        (
            "bcolz table",
            Box::new(move || {
                let mut item = [0; 8];
                let bounds = bcolz.bounds(0, 7).is_some();
                bounds && bcolz.read(0, 77..79, &mut item).is_ok() && item[4] == 78
            }),
        ),
        ("blsk array", Box::new(move || is_right(blsk.read(77..79)))),
    ]
}

#[test]
fn children_read_with_handles_that_other_threads_of_the_parent_were_reading() {
    for (kind, read) in readings() {
        while_working(&*read, || {
            for child in 0..500 {
                assert_eq!(in_child(&*read), Outcome::Passed, "{kind}, child {child}");
            }
        });
    }
}
