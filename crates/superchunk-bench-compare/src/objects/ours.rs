//! The ways of superchunk: batches with blocks of four sizes and two packings, and a chunk for each string.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use superchunk::ObjectPacking::{Lengths, Msgpack};
use superchunk::frame::Durability;
use superchunk::{
    Codec, CompressOptions, FrameOptions, ObjectPacking, Objects, ObjectsOptions, SuperChunk, Value,
};
use superchunk_testkit::rng::Rng;

use super::{Effort, Row};
use crate::contestant::Answer;
use crate::rounds::{Times, remove};

/// A way to keep the strings.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// In batches, with blocks of about so many bytes, compressed at this level, packed in this way.
    Batches(usize, u8, ObjectPacking),
    /// A chunk for each, as python-blosc2's `ObjectArray` does.
    Chunks,
}

/// What is measured.
pub(super) const WAYS: [(&str, Way); 7] = [
    ("superchunk, the default (1.5 MiB blocks)", Way::Batches(3 << 19, 5, Msgpack)),
    ("superchunk, 1.5 MiB blocks packed by lengths", Way::Batches(3 << 19, 5, Lengths)),
    ("superchunk, 256 KiB blocks", Way::Batches(256 << 10, 5, Msgpack)),
    ("superchunk, 32 KiB blocks", Way::Batches(32 << 10, 5, Msgpack)),
    ("superchunk, 4 MiB blocks", Way::Batches(4 << 20, 5, Msgpack)),
    ("superchunk, 256 KiB blocks, level 1", Way::Batches(256 << 10, 1, Msgpack)),
    ("superchunk, one chunk each", Way::Chunks),
];

/// Strings that are read by their number, at most.
const PICKS: usize = 10_000;

/// Opened strings.
enum Opened {
    Batches(Objects),
    Chunks(SuperChunk),
}

/// Measures one way.
pub(super) fn measure(way: Way, strings: &[String], path: &Path, effort: Effort) -> Answer<Row> {
    remove(path);
    way.write(strings, path)?;
    let size = std::fs::metadata(path).map_err(|e| e.to_string())?.len();
    let opened = way.open(path)?;
    let mut at = 0;
    opened.each(&mut |string| {
        let expected = strings.get(at).map(String::as_bytes);
        at += 1;
        if expected == Some(string) { Ok(()) } else { Err(format!("string {} is wrong", at - 1)) }
    })?;
    if at != strings.len() {
        return Err(format!("{at} strings"));
    }
    let mut rng = Rng::new(7);
    let picks: Vec<usize> = (0..PICKS).map(|_| rng.index(strings.len())).collect();
    for pick in picks.iter().take(1000) {
        if strings.get(*pick).map(String::as_bytes) != Some(opened.get(*pick)?.as_slice()) {
            return Err(format!("string {pick} is wrong"));
        }
    }
    let all = fastest(
        effort,
        || Ok(()),
        || {
            way.open(path)?.each(&mut |string| {
                black_box(string);
                Ok(())
            })
        },
    )?;
    let random = pick(&way.open(path)?, &picks, effort.seconds)?;
    let write = fastest(
        effort,
        || {
            remove(path);
            Ok(())
        },
        || way.write(strings, path),
    )?;
    remove(path);
    Ok(Row { size, write, random, all })
}

impl Way {
    fn write(self, strings: &[String], path: &Path) -> Answer<()> {
        let told = |error: superchunk::Error| error.to_string();
        match self {
            Self::Batches(block_len, level, packing) => {
                let mut options = ObjectsOptions::texts().with_block_len(block_len);
                options.packing = packing;
                options.frame.durability = Durability::Process;
                options.frame.compress.level = level;
                let mut store = Objects::create(path, &options).map_err(told)?;
                strings.iter().try_for_each(|string| store.append_text(string)).map_err(told)?;
                store.close().map_err(told)
            }
            Self::Chunks => {
                let compress = CompressOptions::new(1).with_codec(Codec::Zstd).with_filters([]);
                let options = FrameOptions::new(compress).with_variable_chunks();
                let options = options.with_durability(Durability::Process);
                let mut frame = SuperChunk::create(path, &options).map_err(told)?;
                for string in strings {
                    let object = Value::from(string.as_str()).encode().map_err(told)?;
                    frame.append(&object).map_err(told)?;
                }
                frame.close().map_err(told)
            }
        }
    }

    fn open(self, path: &Path) -> Answer<Opened> {
        let opened = match self {
            Self::Batches(..) => Objects::open(path).map(Opened::Batches),
            Self::Chunks => SuperChunk::open(path).map(Opened::Chunks),
        };
        opened.map_err(|error| error.to_string())
    }
}

impl Opened {
    fn get(&self, index: usize) -> Answer<Vec<u8>> {
        match self {
            Self::Batches(store) => store.get(index as u64).map_err(|error| error.to_string()),
            Self::Chunks(frame) => frame
                .read_chunk(index)
                .and_then(|chunk| Value::decode(&chunk))
                .map(|value| value.as_str().unwrap_or_default().as_bytes().to_vec())
                .map_err(|error| error.to_string()),
        }
    }

    fn each(&self, see: &mut dyn FnMut(&[u8]) -> Answer<()>) -> Answer<()> {
        match self {
            Self::Batches(store) => {
                let mut answer = Ok(());
                let visited = store.visit(0..store.len(), |string| {
                    if answer.is_ok() {
                        answer = see(string);
                    }
                    Ok(())
                });
                visited.map_err(|error| error.to_string())?;
                answer
            }
            Self::Chunks(frame) => {
                (0..frame.chunk_count()).try_for_each(|index| see(&self.get(index)?))
            }
        }
    }
}

/// The fastest of some rounds; `before` is not timed.
fn fastest(
    effort: Effort,
    mut before: impl FnMut() -> Answer<()>,
    mut work: impl FnMut() -> Answer<()>,
) -> Answer<Times> {
    let mut fastest = Times::NEVER;
    for _ in 0..effort.rounds {
        before()?;
        let (done, times) = Times::of(&mut work);
        done?;
        fastest = fastest.min(times);
    }
    Ok(fastest)
}

/// Seconds for one string, of as many as there is time for. Some are read before the clock starts,
/// as the first one pays for what is done once.
fn pick(opened: &Opened, picks: &[usize], seconds: f64) -> Answer<Times> {
    picks.iter().rev().take(3).try_for_each(|pick| opened.get(*pick).map(drop))?;
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut count = 0.0;
    let read = || {
        for pick in picks {
            black_box(opened.get(*pick)?);
            count += 1.0;
            if Instant::now() > end {
                break;
            }
        }
        Ok(())
    };
    let (done, times) = Times::of(read);
    done.map(|()| Times { processor: times.processor / count, wall: times.wall / count })
}
