//! One cell: all contestants on one dataset with one setup, checked and then timed.

use std::time::{Duration, Instant};

use crate::apart::{self, Apart};
use crate::args::Args;
use crate::c_blosc2::Library;
use crate::choice::Setup;
use crate::clock::Clock;
use crate::contestant::{Answer, Contestant};
use crate::ours::Ours;
use crate::timing::{Ring, copy_seconds, race};

/// Reads of one item in one timing.
const READS: usize = 32;

/// The numbers of one contestant; speeds are in MB (10⁶ bytes) of plain data a second.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    pub(crate) name: &'static str,
    pub(crate) ratio: f64,
    pub(crate) compress: f64,
    /// Decoding its own chunks.
    pub(crate) decompress: f64,
    /// Decoding the chunks that C-Blosc2 wrote: the same bytes for everyone.
    pub(crate) decompress_c: f64,
    /// Microseconds for reading one item of such a chunk.
    pub(crate) read_us: f64,
    /// The same from a chunk of its own.
    pub(crate) read_own_us: f64,
}

/// The numbers of a cell: superchunk first, C-Blosc2 second, then who else takes part.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) ours: Numbers,
    pub(crate) c: Numbers,
    pub(crate) others: Vec<Numbers>,
    /// MB/s of a plain copy of the same pieces.
    pub(crate) copy: f64,
    /// With several threads: superchunk on as many that share nothing.
    pub(crate) apart: Option<Apart>,
}

impl Cell {
    /// The best of two measurements for each side.
    pub(crate) fn best_with(&mut self, other: &Self) {
        self.ours.best_with(&other.ours);
        self.c.best_with(&other.c);
        for (mine, other) in self.others.iter_mut().zip(&other.others) {
            mine.best_with(other);
        }
        self.copy = self.copy.max(other.copy);
        self.apart = self.apart.zip(other.apart).map(|(mine, other)| mine.best_with(other));
    }
}

impl Numbers {
    fn best_with(&mut self, other: &Self) {
        self.compress = self.compress.max(other.compress);
        self.decompress = self.decompress.max(other.decompress);
        self.decompress_c = self.decompress_c.max(other.decompress_c);
        self.read_us = self.read_us.min(other.read_us);
        self.read_own_us = self.read_own_us.min(other.read_own_us);
    }
}

struct Entrant<'a> {
    name: &'static str,
    side: Box<dyn Contestant + 'a>,
    /// What it makes of the pieces.
    chunks: Vec<Vec<u8>>,
}

/// Checks and times one cell; an error is a wrong answer, in words.
pub(crate) fn measure(library: &Library, args: &Args, data: &[u8], setup: &Setup) -> Answer<Cell> {
    let mut entrants = vec![
        Entrant::new("superchunk", Ours::new(setup)?),
        Entrant::new("C-Blosc2", library.contestant(setup)?),
    ];
    let mut pieces: Vec<&[u8]> = data.chunks(args.chunk).collect();
    pieces.truncate(affordable(&mut entrants, &pieces, args.budget)?);
    let mut ring = Ring::new(args.chunk);
    check(&mut entrants, &pieces, &mut ring)?;
    #[cfg(feature = "pure-rs")]
    {
        let side = crate::pure_rs::PureRs::new(setup)?;
        let mut rival = vec![Entrant::new("blosc2-pure-rs", side)];
        match check(&mut rival, &pieces, &mut ring) {
            Ok(()) => entrants.append(&mut rival),
            // Not our answer: said, but no reason to fail.
            Err(reason) => crate::report::say(&format!("blosc2-pure-rs leaves {setup}: {reason}")),
        }
    }
    time(&mut entrants, &pieces, &mut ring, setup, args.budget)
}

impl<'a> Entrant<'a> {
    fn new(name: &'static str, side: impl Contestant + 'a) -> Self {
        Self { name, side: Box::new(side), chunks: Vec::new() }
    }

    /// Reads an item of a chunk, or of its own first one.
    fn read(&mut self, chunk: Option<&Vec<u8>>, start: usize, item: &mut [u8]) -> Answer<()> {
        let chunk = chunk.or(self.chunks.first()).map(Vec::as_slice).unwrap_or_default();
        self.side.items(chunk, start, item)
    }
}

/// How many pieces fit in the budget, going by the first: slow encoders get a smaller sample.
fn affordable(entrants: &mut [Entrant<'_>], pieces: &[&[u8]], budget: Duration) -> Answer<usize> {
    let first = pieces.first().copied().unwrap_or_default();
    let start = Instant::now();
    for entrant in entrants {
        entrant.side.compress(first, &mut Vec::new())?;
    }
    let round = start.elapsed().as_secs_f64().max(1e-9);
    let most = pieces.len();
    Ok((1..most).take_while(|&n| n as f64 * round < budget.as_secs_f64()).last().unwrap_or(1))
}

/// Compresses every piece with everyone, and lets everyone decode everyone's chunks.
fn check(entrants: &mut [Entrant<'_>], pieces: &[&[u8]], ring: &mut Ring) -> Answer<()> {
    for entrant in entrants.iter_mut() {
        for piece in pieces {
            let mut chunk = Vec::new();
            entrant.side.compress(piece, &mut chunk)?;
            entrant.chunks.push(chunk);
        }
    }
    let written: Vec<(&str, Vec<Vec<u8>>)> =
        entrants.iter().map(|entrant| (entrant.name, entrant.chunks.clone())).collect();
    for reader in entrants {
        for (writer, chunks) in &written {
            for (chunk, piece) in chunks.iter().zip(pieces) {
                let decoded = space(ring, piece.len())?;
                decoded.fill(0xA5);
                let result = reader.side.decompress(chunk, decoded);
                result.map_err(|e| format!("{} reading a chunk of {writer}: {e}", reader.name))?;
                if decoded != *piece {
                    return Err(format!("{} misreads a chunk of {writer}", reader.name));
                }
            }
        }
    }
    Ok(())
}

fn time(
    entrants: &mut [Entrant<'_>],
    pieces: &[&[u8]],
    ring: &mut Ring,
    setup: &Setup,
    budget: Duration,
) -> Answer<Cell> {
    let c_chunks = entrants.get(1).map(|entrant| entrant.chunks.clone()).unwrap_or_default();
    let len_of = |piece: usize| pieces.get(piece).map_or(0, |bytes| bytes.len());
    let clock = Clock::of(setup.threads);
    let mut packed = Ring::new(len_of(0) + 4096);
    let compress = race(entrants, pieces.len(), budget, clock, |entrant, _, piece| {
        entrant.side.compress(pieces.get(piece).copied().unwrap_or_default(), packed.turn()?)
    })?;
    drop(packed);
    let own = race(entrants, pieces.len(), budget, clock, |entrant, _, piece| {
        let chunk = entrant.chunks.get(piece).map(Vec::as_slice).unwrap_or_default();
        entrant.side.decompress(chunk, space(ring, len_of(piece))?)
    })?;
    let same = race(entrants, pieces.len(), budget, clock, |entrant, _, piece| {
        let chunk = c_chunks.get(piece).map(Vec::as_slice).unwrap_or_default();
        entrant.side.decompress(chunk, space(ring, len_of(piece))?)
    })?;
    let first = pieces.first().copied().unwrap_or_default();
    let own_reads = reads(entrants, first, None, setup)?;
    let same_reads = reads(entrants, first, c_chunks.first(), setup)?;

    let plain: usize = pieces.iter().map(|piece| piece.len()).sum();
    let speed = |seconds: &f64| plain as f64 / 1e6 / seconds;
    let reads = same_reads.iter().zip(&own_reads);
    let all = entrants.iter().zip(&compress).zip(&own).zip(&same).zip(reads);
    let each = |reads: &f64| reads * 1e6 / READS as f64;
    let mut numbers = all.map(|((((entrant, compress), own), same), reads)| Numbers {
        name: entrant.name,
        ratio: plain as f64 / entrant.chunks.iter().map(Vec::len).sum::<usize>() as f64,
        compress: speed(compress),
        decompress: speed(own),
        decompress_c: speed(same),
        read_us: each(reads.0),
        read_own_us: each(reads.1),
    });
    let (Some(ours), Some(c)) = (numbers.next(), numbers.next()) else {
        return Err("two contestants at least".to_owned());
    };
    let others = numbers.collect();
    let apart = (setup.threads > 1).then(|| apart::measure(setup, first)).transpose()?;
    Ok(Cell { ours, c, others, copy: speed(&copy_seconds(pieces, ring)?), apart })
}

/// Seconds that everyone needs for items of this chunk, or of its own one, read one by one. The answers are
/// checked first.
fn reads(
    entrants: &mut [Entrant<'_>],
    piece: &[u8],
    chunk: Option<&Vec<u8>>,
    setup: &Setup,
) -> Answer<Vec<f64>> {
    let size = setup.item_size;
    let items = piece.len() / size;
    // Spread by a step that shares no small factor with block sizes.
    let starts: Vec<usize> = (0..READS).map(|n| n * 1_299_709 % items.max(1)).collect();
    let mut item = vec![0; size.min(piece.len())];
    for entrant in entrants.iter_mut() {
        for start in &starts {
            entrant.read(chunk, *start, &mut item)?;
            if piece.get(start * size..start * size + item.len()) != Some(&item) {
                return Err(format!("{} misreads item {start}", entrant.name));
            }
        }
    }
    race(entrants, 1, Duration::from_millis(20), Clock::of(setup.threads), |entrant, _, _| {
        starts.iter().try_for_each(|start| entrant.read(chunk, *start, &mut item))
    })
}

fn space(ring: &mut Ring, len: usize) -> Answer<&mut [u8]> {
    ring.turn()?.get_mut(..len).ok_or_else(|| "the ring is too small".to_owned())
}
