//! The real libraries read what we write, and we read what they write.
//!
//! Peers: C-Blosc2 of today and of 2024, C-Blosc 1 through python-blosc and numcodecs. Of the matrix, from
//! no bytes to four megabytes, every triple of options (every pair for long inputs) is tried here, and
//! every combination by `cargo xtask interop`; the other sets are thinned as each test says.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use superchunk::chunk::{self, Content, Decoder, Encoder, Header, Repair};
use superchunk::{ChunkFormat, Codec, CompressOptions, Executor, Filter, SplitMode};
use superchunk_testkit::covering::covering;
use superchunk_testkit::peers::{Answer, Peer, PeerKind, PeerParams, Request};
use superchunk_testkit::samples::{mixed, recurring};

const CODECS: [(Codec, u8); 5] =
    [(Codec::BloscLz, 0), (Codec::Lz4, 1), (Codec::Lz4Hc, 2), (Codec::Zlib, 4), (Codec::Zstd, 5)];
const LEVELS: [u8; 4] = [0, 1, 5, 9];
const ITEM_SIZES: [usize; 13] = [1, 2, 3, 4, 7, 8, 12, 16, 17, 32, 255, 256, 300];
const SHORT: [usize; 11] = [0, 1, 15, 16, 17, 31, 32, 33, 127, 128, 1003];
/// From here on the bytes of a chunk recur.
const LONG: usize = 1 << 20;
const SPLITS: [(SplitMode, u8); 3] =
    [(SplitMode::Auto, 4), (SplitMode::Always, 1), (SplitMode::Never, 2)];

/// A pipeline by our names and by the peer's numbers.
type Pipeline = (Vec<Filter>, Vec<(u8, u8)>);

/// The pipelines of the matrix.
fn pipelines(item_size: usize) -> Vec<Pipeline> {
    let group = u8::try_from(item_size).unwrap_or(1);
    let mut pipelines = vec![
        (vec![], vec![]),
        (vec![Filter::Shuffle], vec![(1, 0)]),
        (vec![Filter::BitShuffle], vec![(2, 0)]),
        (vec![Filter::Delta, Filter::Shuffle], vec![(3, 0), (1, 0)]),
        (vec![Filter::Shuffle, Filter::ByteDelta(0)], vec![(1, 0), (35, group)]),
    ];
    if matches!(item_size, 4 | 8) {
        pipelines.push((vec![Filter::TruncPrec(12), Filter::Shuffle], vec![(4, 12), (1, 0)]));
    }
    pipelines
}

/// One cell of the matrix.
struct Cell {
    options: CompressOptions,
    params: PeerParams,
    bytes: Vec<u8>,
}

impl Cell {
    fn told(&self) -> String {
        format!("{} bytes, {:?}", self.bytes.len(), self.params)
    }

    /// What must come back from a chunk: the bytes, without the bits that a lossy filter drops.
    fn expected(&self, chunk: &[u8]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        // No filter touches a chunk that had to be stored.
        let stored = Header::parse(chunk).is_ok_and(|header| header.content() == Content::Stored);
        if self.has_filter(TRUNC_PREC) && !stored {
            // Twelve bits of the mantissa are kept: 23 - 12 or 52 - 12 are cleared.
            match self.options.item_size {
                4 => clear(&mut bytes, |word: &mut [u8; 4]| {
                    *word = (u32::from_le_bytes(*word) & (u32::MAX << 11)).to_le_bytes();
                }),
                _ => clear(&mut bytes, |word: &mut [u8; 8]| {
                    *word = (u64::from_le_bytes(*word) & (u64::MAX << 40)).to_le_bytes();
                }),
            }
        }
        bytes
    }

    /// How many of the bytes the reference really writes: delta and truncation drop what follows
    /// the last whole word (T6 of the errata).
    fn certain_len(&self) -> usize {
        let item_size = self.options.item_size;
        let word = match item_size {
            1 | 2 | 4 | 8 => item_size,
            16 | 32 => 8,
            _ => 1,
        };
        let cut = self.has_filter(DELTA) || self.has_filter(TRUNC_PREC);
        self.bytes.len() - if cut { self.bytes.len() % word } else { 0 }
    }

    /// Older bytedelta neither writes nor reads the bytes behind the last whole item.
    fn is_safe_before_2026(&self) -> bool {
        !self.has_filter(BYTEDELTA) || self.bytes.len().is_multiple_of(self.options.item_size)
    }

    /// The reference writes what nobody can read: forced splits without a whole item (T11), and
    /// blocks that it rounds down to items whose size the header has no room for (T1).
    fn is_lost_to_all(&self) -> bool {
        let block_size = (self.params.block_size as usize).min(self.bytes.len());
        let rounded = !block_size.is_multiple_of(self.options.item_size);
        self.params.split == 1 || (self.options.item_size > 255 && rounded)
    }

    fn has_filter(&self, id: u8) -> bool {
        self.params.filters.iter().any(|(filter, _)| *filter == id)
    }
}

const DELTA: u8 = 3;
const TRUNC_PREC: u8 = 4;
const BYTEDELTA: u8 = 35;

fn clear<const N: usize>(bytes: &mut [u8], word: impl Fn(&mut [u8; N])) {
    bytes.as_chunks_mut().0.iter_mut().for_each(word);
}

/// A cell whose bytes are still to be made: those of a long matrix do not fit the memory at once.
struct Recipe {
    options: CompressOptions,
    params: PeerParams,
    size: usize,
    seed: u64,
    /// The options as numbers.
    values: Vec<usize>,
}

impl Recipe {
    fn cell(&self) -> Cell {
        let item_size = self.options.item_size;
        // Megabytes that never recur would keep the slow levels busy for half an hour.
        let bytes = match self.size {
            0..=LONG => mixed(self.size, item_size, self.seed),
            _ => recurring(self.size, item_size, self.seed),
        };
        Cell { options: self.options.clone(), params: self.params.clone(), bytes }
    }
}

/// All cells, of which every `step`-th is kept; `sizes` are lengths of the input.
fn matrix(sizes: &[usize], levels: &[u8], step: usize) -> Vec<Cell> {
    recipes(sizes, levels).iter().skip(step - 1).step_by(step).map(Recipe::cell).collect()
}

fn recipes(sizes: &[usize], levels: &[u8]) -> Vec<Recipe> {
    let mut recipes = Vec::new();
    for item_size in ITEM_SIZES {
        for &size in sizes {
            for (codec, peer_codec) in CODECS {
                for &level in levels {
                    for (pipeline, (filters, peer_filters)) in
                        pipelines(item_size).into_iter().enumerate()
                    {
                        for (split, peer_split) in SPLITS {
                            let options = CompressOptions::new(item_size)
                                .with_codec(codec)
                                .with_level(level)
                                .with_filters(filters.clone())
                                .with_split(split);
                            let params = PeerParams {
                                codec: peer_codec,
                                level,
                                split: peer_split,
                                filters: peer_filters.clone(),
                                ..PeerParams::new(u32::try_from(item_size).unwrap())
                            };
                            let numbers = [peer_codec, level, peer_split].map(usize::from);
                            let values = [&numbers[..], &[item_size, size, pipeline]].concat();
                            let seed = recipes.len() as u64 + 1;
                            recipes.push(Recipe { options, params, size, seed, values });
                        }
                    }
                }
            }
        }
    }
    recipes
}

/// The peer decodes our chunks to the same bytes as we do.
fn check_ours(peer: &mut Peer, cells: &[Cell]) {
    for cells in cells.chunks(500) {
        let chunks: Vec<Vec<u8>> =
            cells.iter().map(|cell| chunk::compress(&cell.bytes, &cell.options).unwrap()).collect();
        let requests: Vec<Request<'_>> =
            chunks.iter().map(|chunk| Request::Decompress(chunk)).collect();
        for ((cell, chunk), answer) in cells.iter().zip(&chunks).zip(peer.ask_all(&requests)) {
            let decoded = answer.unwrap_or_else(|words| panic!("{words}: {}", cell.told()));
            let sure = cell.certain_len();
            assert!(decoded[..sure] == cell.expected(chunk)[..sure], "{}", cell.told());
            assert!(chunk::decompress(chunk).unwrap() == cell.expected(chunk), "{}", cell.told());
        }
    }
}

/// We decode the peer's chunks to the bytes that went in, also where the peer misreads them itself.
/// What we refuse, the peer must refuse too.
fn check_theirs(peer: &mut Peer, cells: &[Cell]) {
    for cells in cells.chunks(500) {
        let requests: Vec<Request<'_>> =
            cells.iter().map(|cell| Request::Compress(cell.params.clone(), &cell.bytes)).collect();
        let chunks: Vec<Answer> = peer.ask_all(&requests);
        let written: Vec<(&Cell, Vec<u8>)> = cells
            .iter()
            .zip(chunks)
            .filter_map(|(cell, chunk)| match chunk {
                Ok(chunk) => Some((cell, chunk)),
                // The reference refuses to write what it could not read: splitting empty streams.
                Err(words) => {
                    assert!(cell.params.split == 1, "{words}: {}", cell.told());
                    None
                }
            })
            .collect();
        let requests: Vec<Request<'_>> =
            written.iter().map(|(_, chunk)| Request::Decompress(chunk)).collect();
        for ((cell, chunk), answer) in written.iter().zip(peer.ask_all(&requests)) {
            let sure = cell.certain_len();
            match (chunk::decompress(chunk), answer) {
                (Ok(ours), _) => {
                    assert!(ours[..sure] == cell.expected(chunk)[..sure], "{}", cell.told());
                }
                (Err(error), Ok(_)) => panic!("{error}: {}", cell.told()),
                (Err(error), Err(_)) => {
                    assert!(cell.is_lost_to_all(), "{error}: {}", cell.told());
                }
            }
        }
    }
}

/// Checks the cells that hold every group of `strength` options.
fn check_both_ways(recipes: Vec<Recipe>, strength: usize) {
    let recipes = covering(recipes, strength, |recipe| recipe.values.clone());
    let longest = recipes.iter().map(|recipe| recipe.size).max().unwrap();
    // A few megabytes at a time, whatever the size.
    let pieces: Vec<&[Recipe]> = recipes.chunks((8 << 20) / longest + 1).collect();
    let check = |half: usize| {
        let mut peer = Peer::spawn(PeerKind::Blosc2);
        for recipes in pieces.iter().skip(half).step_by(2) {
            let cells: Vec<Cell> = recipes.iter().map(Recipe::cell).collect();
            check_ours(&mut peer, &cells);
            check_theirs(&mut peer, &cells);
        }
    };
    // These tests are the longest of all: the last one shall not leave a core idle.
    std::thread::scope(|scope| {
        scope.spawn(|| check(0));
        check(1);
    });
}

#[test]
fn short_chunks_cross_both_ways() {
    check_both_ways(recipes(&SHORT, &LEVELS), 3);
}

#[test]
fn chunks_around_one_block_cross_both_ways() {
    check_both_ways(recipes(&[32_767, 32_768, 65_537, 131_071], &LEVELS), 3);
}

#[test]
fn chunks_of_several_blocks_cross_both_ways() {
    check_both_ways(recipes(&[300_001], &LEVELS), 2);
}

#[test]
fn chunks_of_four_megabytes_and_a_bit_cross_both_ways() {
    check_both_ways(recipes(&[(4 << 20) + 13], &LEVELS), 2);
}

#[test]
fn an_older_c_blosc2_reads_ours() {
    let mut peer = Peer::spawn(PeerKind::Blosc2Old);
    let mut cells = matrix(&[0, 17, 128, 1003, 40_001], &LEVELS, 7);
    cells.retain(Cell::is_safe_before_2026);
    check_ours(&mut peer, &cells);
    check_theirs(&mut peer, &cells);
}

#[test]
fn blosc1_chunks_cross_both_ways() {
    for kind in [PeerKind::Blosc1, PeerKind::Numcodecs] {
        let mut peer = Peer::spawn(kind);
        let mut cells = matrix(&[1, 127, 128, 1003, 40_001, 300_001], &[0, 1, 5], 3);
        cells.retain(|cell| {
            let plain =
                matches!(cell.options.filters[..], [] | [Filter::Shuffle | Filter::BitShuffle]);
            plain && cell.options.item_size <= 255
        });
        for cell in &mut cells {
            cell.options.format = ChunkFormat::Blosc1;
        }
        check_ours(&mut peer, &cells);
        cells.retain(|cell| cell.options.split == SplitMode::Auto);
        check_theirs(&mut peer, &cells);
        // What C-Blosc 1 can read, C-Blosc2 must be able to read as well.
        check_ours(&mut Peer::spawn(PeerKind::Blosc2), &cells);
    }
}

#[test]
fn user_block_sizes_and_dictionaries_cross_both_ways() {
    let mut peer = Peer::spawn(PeerKind::Blosc2);
    for block_size in [1u32, 7, 100, 1001, 4096, 1 << 20] {
        let mut cells = matrix(&[4095, 4096, 4097, 5000, 8191, 8193, 40_003], &[5], 41);
        // A block shorter than an item has no word to truncate.
        cells.retain(|cell| !cell.has_filter(TRUNC_PREC) || block_size > 8);
        for cell in &mut cells {
            cell.options.block_size = Some(block_size as usize);
            cell.params.block_size = block_size;
        }
        check_ours(&mut peer, &cells);
        check_theirs(&mut peer, &cells);
    }
    let mut cells = matrix(&[6000, 40_003, 200_000], &[1, 5], 13);
    cells.retain(|cell| matches!(cell.options.codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd));
    for cell in &mut cells {
        cell.options.dictionary = true;
        cell.options.block_size = Some(4096);
        cell.params.dictionary = true;
        cell.params.block_size = 4096;
    }
    check_ours(&mut peer, &cells);
    check_theirs(&mut peer, &cells);
    cells.retain(|cell| cell.options.codec == Codec::Zstd && cell.is_safe_before_2026());
    check_ours(&mut Peer::spawn(PeerKind::Blosc2Old), &cells);
}

#[test]
fn a_chunk_that_c_blosc2_cannot_read_itself_is_read_and_said_to_be_repaired() {
    let mut peer = Peer::spawn(PeerKind::Blosc2);
    let bytes = mixed(5000, 8, 1);
    let params = PeerParams { block_size: 1001, ..PeerParams::new(8) };
    let packed = peer.compress(&bytes, &params).unwrap();
    assert!(peer.decompress(&packed) != Ok(bytes.clone()), "the reference has been mended");
    assert_eq!(Header::parse(&packed).unwrap().repair(), Some(Repair::RoundedBlockSize));
    assert!(chunk::decompress(&packed).unwrap() == bytes);
}

#[test]
fn chunks_written_by_many_threads_are_read() {
    let mut peer = Peer::spawn(PeerKind::Blosc2);
    let mut cells = matrix(&[900_001], &[1], 67);
    for cell in &mut cells {
        cell.options.executor = Executor::threads(4);
        cell.params.threads = 4;
    }
    check_ours(&mut peer, &cells);
    check_theirs(&mut peer, &cells);
}

#[test]
fn items_are_those_that_the_peer_reads() {
    let mut peer = Peer::spawn(PeerKind::Blosc2);
    for cell in matrix(&[40_000], &[5], 11) {
        // Where the reference is wrong (delta) or items have no size in the header, the whole chunk
        // is the judge, see tests/chunks/partial.rs.
        if cell.has_filter(DELTA) || cell.has_filter(TRUNC_PREC) || cell.options.item_size > 255 {
            continue;
        }
        let Ok(packed) = peer.compress(&cell.bytes, &cell.params) else { continue };
        let item_size = cell.options.item_size;
        let mut item = vec![0; 3 * item_size];
        Decoder::new().read_items(&packed, 50..53, &mut item).unwrap();
        assert!(item == cell.bytes[50 * item_size..53 * item_size], "{}", cell.told());
        let size = u32::try_from(item_size).unwrap();
        assert_eq!(peer.items(&packed, size, 50, 3), Ok(item), "{}", cell.told());
    }
}

#[test]
fn special_chunks_of_ours_are_read() {
    let mut peer = Peer::spawn(PeerKind::Blosc2);
    let wide = mixed(300, 1, 4);
    for (packed, bytes) in [
        (chunk::zeros(8, 8000).unwrap(), vec![0; 8000]),
        (chunk::nans(4, 400).unwrap(), f32::NAN.to_le_bytes().repeat(100)),
        (chunk::nans(8, 800_000).unwrap(), f64::NAN.to_le_bytes().repeat(100_000)),
        (chunk::repeated(b"abc", 50_000).unwrap(), b"abc".repeat(50_000)),
        (chunk::repeated(&wide, 1000).unwrap(), wide.repeat(1000)),
    ] {
        assert!(peer.decompress(&packed).unwrap() == bytes);
    }
    // The reference leaves the bytes open; it must at least accept the chunk.
    assert_eq!(peer.decompress(&chunk::uninitialised(8, 800).unwrap()).unwrap().len(), 800);
}

#[test]
fn variable_length_blocks_of_ours_are_read() {
    let mut peer = Peer::spawn(PeerKind::Blosc2);
    let objects: Vec<Vec<u8>> = (0..60).map(|i| mixed(i * 37 % 2000 + 1, 4, i as u64)).collect();
    let blocks: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
    for (codec, _) in CODECS {
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle]] {
            for dictionary in [false, true] {
                let takes = matches!(codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd);
                let options = CompressOptions::new(4)
                    .with_codec(codec)
                    .with_filters(filters.clone())
                    .with_dictionary(dictionary && takes);
                let mut packed = Vec::new();
                let mut encoder = Encoder::new(&options).unwrap();
                encoder.compress_blocks_into(&blocks, &mut packed).unwrap();
                let decoded = peer.decompress(&packed);
                assert!(decoded == Ok(objects.concat()), "{options:?}: {:?}", decoded.err());
            }
        }
    }
}
