//! Chooses the content of a dictionary: the bytes that many streams of a chunk have in common.
//!
//! The result is *raw content*, no trained Zstandard dictionary with a header and entropy tables.
//! Every reader takes both forms, LZ4 knows no other, and raw content packed better or equally in
//! most measurements: the streams of a chunk are long enough to pay for their own tables.
//!
//! How, after the COVER method (Liao, Petri, Moffat, Wirth 2016):
//!
//! 1. Every 8-byte *word* is counted once per sample that contains it. The gain of a word is the
//!    number of samples in which the dictionary would save it from being spelled out.
//! 2. The samples are cut into *epochs*, as many as segments fit the dictionary. Each epoch gives
//!    the [`SEGMENT`]-byte window with the largest sum of gains of its distinct words, whose words
//!    are then worth nothing to later epochs. A window that gains too little is not taken, since
//!    the dictionary is stored uncompressed.
//! 3. The best segments go last: nearest to the data, so that offsets to them are short.
//!
//! The outcome depends on the arguments alone.

use std::cmp::Reverse;

/// Bytes in a word, the shortest repetition that counts.
const WORD: usize = 8;
/// Bytes in the windows that a dictionary is made of.
const SEGMENT: usize = 256;
/// Gain per byte below which a segment is not worth the room it takes.
const MIN_GAIN: u64 = 6;
/// No more bytes than this are looked at; larger inputs are thinned out by whole samples.
const MAX_ANALYSED: usize = 1 << 20;
/// Base-2 logarithm of the number of cells in the table of words, at most.
const TABLE_BITS: u32 = 18;
/// What readers take for the start of a trained dictionary.
const TRAINED_MAGIC: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];

/// Picks at most `capacity` bytes that streams of `sample_size` bytes, concatenated in `samples`,
/// have in common, to be used as a raw-content dictionary.
///
/// `None` if they do not share enough to pay for a dictionary.
pub(crate) fn pick_dictionary_content(
    samples: &[u8],
    sample_size: usize,
    capacity: usize,
) -> Option<Vec<u8>> {
    if sample_size < WORD || capacity < WORD || samples.len() < 2 * sample_size {
        return None;
    }
    let stride = samples.len().div_ceil(MAX_ANALYSED).max(1);
    let analysed: Vec<&[u8]> = samples.chunks(sample_size).step_by(stride).collect();
    let mut words = WordTable::count(&analysed);
    let mut picked = pick_segments(&analysed, &mut words, stride, capacity);
    // A stable sort, and ties keep their order: nothing depends on addresses or hashing.
    picked.sort_by_key(|segment| Reverse(segment.gain));
    let mut content = Vec::with_capacity(capacity);
    let mut room = capacity;
    let mut kept = Vec::new();
    for segment in picked {
        let fitting = segment.bytes.split_at_checked(room);
        let bytes = fitting.map_or(segment.bytes, |(fitting, _)| fitting);
        room -= bytes.len();
        kept.push(bytes);
    }
    for bytes in kept.iter().rev() {
        content.extend_from_slice(bytes);
    }
    while content.starts_with(&TRAINED_MAGIC) {
        content.remove(0);
    }
    (content.len() >= WORD).then_some(content)
}

/// A piece of a sample that goes into the dictionary.
struct Segment<'a> {
    bytes: &'a [u8],
    gain: u64,
}

/// How many samples contain a word. Words share cells by their hash; the cell knows its owner.
#[derive(Clone, Copy, Default)]
struct Cell {
    word: u64,
    /// Number of samples that contain the word.
    samples: u32,
    /// One more than the index of the last sample that did.
    last_sample: u32,
    /// Occurrences in the window that is being scored.
    in_window: u32,
}

/// The counted words.
struct WordTable {
    cells: Vec<Cell>,
    /// The top bits of a hash are the number of a cell; this moves the others out.
    shift: u32,
}

impl WordTable {
    /// Counts the words of `samples`.
    fn count(samples: &[&[u8]]) -> Self {
        // Two cells a word are enough; a small input shall not pay for a large one.
        let words: usize = samples.iter().map(|sample| sample.len()).sum();
        let bits = (2 * words).next_power_of_two().trailing_zeros().clamp(1, TABLE_BITS);
        let mut table = Self { cells: vec![Cell::default(); 1 << bits], shift: u64::BITS - bits };
        for (index, sample) in (1_u32..).zip(samples) {
            for word in words_of(sample) {
                let Some(cell) = table.cell(word) else { continue };
                if cell.word != word || cell.samples == 0 {
                    // A word seen in one sample only gives way, one that was repeated stays.
                    if cell.samples > 1 {
                        continue;
                    }
                    *cell = Cell { word, samples: 1, last_sample: index, in_window: 0 };
                } else if cell.last_sample != index {
                    cell.last_sample = index;
                    cell.samples = cell.samples.saturating_add(1);
                }
            }
        }
        table
    }

    /// The gain of adding `word` to the window: nothing if it is there already.
    fn enter(&mut self, word: u64) -> u64 {
        match self.cell(word) {
            Some(cell) if cell.word == word => {
                cell.in_window += 1;
                if cell.in_window == 1 { cell.gain() } else { 0 }
            }
            _ => 0,
        }
    }

    /// The gain lost when an occurrence of `word` leaves the window.
    fn leave(&mut self, word: u64) -> u64 {
        match self.cell(word) {
            Some(cell) if cell.word == word => {
                cell.in_window = cell.in_window.saturating_sub(1);
                if cell.in_window == 0 { cell.gain() } else { 0 }
            }
            _ => 0,
        }
    }

    /// The cell for a word: the top bits of a multiplicative hash.
    fn cell(&mut self, word: u64) -> Option<&mut Cell> {
        let hash = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.cells.get_mut(usize::try_from(hash >> self.shift).ok()?)
    }

    /// Makes the words of a chosen segment worth nothing.
    fn spend(&mut self, segment: &[u8]) {
        for word in words_of(segment) {
            if let Some(cell) = self.cell(word).filter(|cell| cell.word == word) {
                cell.samples = 1;
            }
        }
    }
}

impl Cell {
    /// Samples that would profit, besides the one that the word is taken from.
    fn gain(&self) -> u64 {
        u64::from(self.samples.saturating_sub(1))
    }
}

/// Takes the best window of each epoch, if it is worth it.
fn pick_segments<'a>(
    samples: &[&'a [u8]],
    words: &mut WordTable,
    stride: usize,
    capacity: usize,
) -> Vec<Segment<'a>> {
    let epochs = capacity.div_ceil(SEGMENT);
    let per_epoch = samples.len().div_ceil(epochs).max(1);
    // Thinned-out samples stand for all of them.
    let weight = u64::try_from(stride).unwrap_or(1);
    let mut picked = Vec::new();
    for epoch in samples.chunks(per_epoch) {
        // With fewer samples than epochs, a sample gives several segments.
        for _ in 0..epochs.div_ceil(samples.len().div_ceil(per_epoch)) {
            let Some(best) = best_window(epoch, words) else { break };
            let cost = MIN_GAIN * u64::try_from(best.bytes.len()).unwrap_or(u64::MAX);
            if best.gain.saturating_mul(weight) < cost {
                break;
            }
            words.spend(best.bytes);
            picked.push(best);
        }
    }
    picked
}

/// The window of the largest gain in `samples`; the first one of several.
fn best_window<'a>(samples: &[&'a [u8]], words: &mut WordTable) -> Option<Segment<'a>> {
    let mut best: Option<Segment<'a>> = None;
    for sample in samples {
        let length = SEGMENT.min(sample.len());
        let in_window = length.saturating_sub(WORD) + 1;
        let mut gain = 0_u64;
        let mut leaving = words_of(sample);
        for (at, word) in words_of(sample).enumerate() {
            gain += words.enter(word);
            let Some(start) = (at + 1).checked_sub(in_window) else { continue };
            if best.as_ref().is_none_or(|best| gain > best.gain) {
                let bytes = sample.get(start..start + length)?;
                best = Some(Segment { bytes, gain });
            }
            gain = gain.saturating_sub(leaving.next().map_or(0, |word| words.leave(word)));
        }
        // Empty the window again.
        for word in leaving {
            words.leave(word);
        }
    }
    best.filter(|best| best.gain > 0)
}

/// The words that start at each byte of `bytes`.
fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes
        .windows(WORD)
        .map(|word| word.first_chunk::<WORD>().map_or(0, |word| u64::from_le_bytes(*word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(len: usize, seed: u32) -> Vec<u8> {
        let mut state = seed;
        (0..len)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state.to_le_bytes()[3]
            })
            .collect()
    }

    /// Samples of 1000 bytes of noise that share `shared` at a place of their own.
    fn samples_with(shared: &[u8], count: usize) -> Vec<u8> {
        let mut samples = Vec::new();
        for (seed, index) in (1000..).zip(0..count) {
            let mut sample = noise(1000, seed);
            let at = (index * 37) % (1000 - shared.len());
            sample[at..at + shared.len()].copy_from_slice(shared);
            samples.extend_from_slice(&sample);
        }
        samples
    }

    #[test]
    fn finds_what_the_samples_share_and_little_else() {
        let shared = noise(200, 5);
        let content = pick_dictionary_content(&samples_with(&shared, 60), 1000, 8192).unwrap();
        assert!(content.windows(200).any(|window| window == shared));
        assert!(content.len() <= 2 * SEGMENT, "{} bytes", content.len());
    }

    #[test]
    fn samples_that_share_nothing_give_no_dictionary() {
        assert_eq!(pick_dictionary_content(&noise(100_000, 3), 1000, 8192), None);
        // Repetition inside one sample is no reason for a dictionary.
        let mut samples = noise(100_000, 3);
        samples[..1000].fill(7);
        assert_eq!(pick_dictionary_content(&samples, 1000, 8192), None);
    }

    #[test]
    fn never_exceeds_the_capacity_and_is_the_same_every_time() {
        let samples: Vec<u8> =
            (0..300_000_u32).map(|i| (i % 997 * 31 / 7).to_le_bytes()[0]).collect();
        for capacity in [8, 9, 255, 256, 300, 1000, 32_768] {
            let content = pick_dictionary_content(&samples, 4096, capacity).unwrap();
            assert!(content.len() <= capacity);
            assert_eq!(pick_dictionary_content(&samples, 4096, capacity), Some(content));
        }
    }

    #[test]
    fn odd_arguments_give_nothing() {
        for (len, sample_size, capacity) in
            [(0, 0, 0), (100, 0, 100), (100, 7, 100), (100, 60, 100), (1000, 10, 7), (8, 8, 8)]
        {
            assert_eq!(pick_dictionary_content(&vec![1; len], sample_size, capacity), None);
        }
    }

    #[test]
    fn inputs_larger_than_the_analysed_part_are_thinned_out() {
        let shared = noise(300, 9);
        let samples = samples_with(&shared, 3000);
        assert!(samples.len() > 2 * MAX_ANALYSED);
        let content = pick_dictionary_content(&samples, 1000, 4096).unwrap();
        assert!(content.windows(100).any(|window| window == &shared[100..200]));
    }

    #[test]
    fn raw_content_is_never_taken_for_a_trained_dictionary() {
        let mut shared = TRAINED_MAGIC.to_vec();
        shared.extend_from_slice(&noise(SEGMENT - 4, 77));
        let samples: Vec<u8> = (0..50).flat_map(|_| shared.clone()).collect();
        let content = pick_dictionary_content(&samples, SEGMENT, 4096).unwrap();
        assert_eq!(content, shared[1..]);
    }
}
