//! What threads reach that share nothing: the limit that the machine sets to those who share a chunk.
//!
//! Processors that work at the same time share their memory, the clock, and sometimes more; so twice the threads
//! are less than twice as fast even when none of them ever waits for another.

use std::sync::Barrier;
use std::thread;

use crate::choice::Setup;
use crate::clock::Clock;
use crate::contestant::{Answer, Contestant};
use crate::ours::Ours;
use crate::timing::Ring;

/// The best of so many rounds counts.
const ROUNDS: usize = 5;

/// MB (10⁶ bytes) a second of all threads together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    pub(crate) compress: f64,
    pub(crate) decompress: f64,
}

impl Apart {
    /// The better of two measurements.
    pub(crate) fn best_with(self, other: Self) -> Self {
        Self {
            compress: self.compress.max(other.compress),
            decompress: self.decompress.max(other.decompress),
        }
    }
}

/// Lets every thread compress and decompress `piece` on its own, all at the same time.
pub(crate) fn measure(setup: &Setup, piece: &[u8]) -> Answer<Apart> {
    let barrier = Barrier::new(setup.threads);
    let alone = Setup { threads: 1, ..*setup };
    let sides: Answer<Vec<Ours>> = (0..setup.threads).map(|_| Ours::new(&alone)).collect();
    let sides = sides?;
    let seconds: Answer<Vec<Seconds>> = thread::scope(|scope| {
        let start = |mut side| {
            let barrier = &barrier;
            scope.spawn(move || work(&mut side, piece, barrier))
        };
        let threads: Vec<_> = sides.into_iter().map(start).collect();
        let panicked = || "a thread panicked".to_owned();
        threads.into_iter().map(|thread| thread.join().map_err(|_| panicked())?).collect()
    });
    let seconds = seconds?;
    // A round lasts as long as the slowest of its threads.
    let longest = |longest: [f64; 2], [compress, decompress]: [f64; 2]| {
        [longest[0].max(compress), longest[1].max(decompress)]
    };
    let round = |number: usize| {
        let all = seconds.iter().filter_map(|seconds| seconds.get(number).copied());
        all.fold([0.0; 2], longest)
    };
    let [compress, decompress] = (0..ROUNDS)
        .map(round)
        .fold([f64::INFINITY; 2], |best, round| [best[0].min(round[0]), best[1].min(round[1])]);
    let speed = |seconds: f64| (setup.threads * piece.len()) as f64 / 1e6 / seconds;
    Ok(Apart { compress: speed(compress), decompress: speed(decompress) })
}

/// For each round, the time to compress and that to decompress.
type Seconds = [[f64; 2]; ROUNDS];

fn work(side: &mut Ours, piece: &[u8], barrier: &Barrier) -> Answer<Seconds> {
    let (mut packed, mut plain) = (Ring::new(piece.len() + 4096), Ring::new(piece.len()));
    let mut seconds = [[0.0; 2]; ROUNDS];
    // Who fails still comes to every barrier: the others wait there.
    let mut outcome = Ok(());
    for [compress, decompress] in &mut seconds {
        let chunk = packed.turn()?;
        barrier.wait();
        let (result, time) = Clock::Wall.time(|| side.compress(piece, chunk));
        (*compress, outcome) = (time, outcome.and(result));
        barrier.wait();
        let plain = plain.turn()?;
        let (result, time) = Clock::Wall.time(|| side.decompress(chunk, plain));
        (*decompress, outcome) = (time, outcome.and(result));
    }
    outcome.map(|()| seconds)
}
