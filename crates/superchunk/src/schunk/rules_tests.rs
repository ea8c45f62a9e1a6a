//! A super-chunk keeps the rules of the format under it.

use super::SuperChunk;
use crate::container::{ChunkSize, Contents, Heap, Layout, Params, Rules};
use crate::error::ErrorKind;
use crate::limits::Limits;
use crate::options::{ChunkFormat, CompressOptions};

fn options() -> CompressOptions {
    CompressOptions::new(4).with_format(ChunkFormat::Blosc1)
}

fn over(rules: Rules, size: usize) -> SuperChunk {
    let params = Params::from_options(&options()).unwrap();
    let contents = Contents { rules, ..Contents::new(4, ChunkSize::Fixed(size), params) };
    SuperChunk::over(contents, Box::new(Heap::default()), options(), Limits::default(), true)
}

fn numbers(count: u32) -> Vec<u8> {
    (1..=count).flat_map(u32::to_le_bytes).collect()
}

#[test]
fn without_runs_zeros_are_stored_in_chunks_of_blosc1() {
    let mut data = over(Rules::blosc1(), 400);
    data.append(&numbers(30)).unwrap();
    data.resize(1000).unwrap();
    data.commit().unwrap();
    let mut expected = numbers(30);
    expected.resize(4000, 0);
    assert_eq!(data.to_vec().unwrap(), expected);
    for number in 0..10 {
        assert_eq!(data.chunk_header(number).unwrap().version(), 2);
    }
    let blosc2 = crate::chunk::compress(&numbers(100), &CompressOptions::new(4)).unwrap();
    assert_eq!(data.append_chunk(&blosc2).unwrap_err().kind(), ErrorKind::InvalidArgument);
    data.append_chunk(&crate::chunk::compress(&numbers(100), &options()).unwrap()).unwrap();
    // A frame has chunks of Blosc2 all the same.
    let frame = SuperChunk::from_bytes(data.to_bytes().unwrap()).unwrap();
    assert_eq!(frame.to_vec().unwrap(), data.to_vec().unwrap());
    assert!(frame.chunk_header(0).unwrap().version() > 2);
}

#[test]
fn a_short_chunk_that_is_committed_stays_if_the_format_wants_it() {
    let mut data = over(Rules { keep_short: true, ..Rules::blosc1() }, 400);
    data.append(&numbers(30)).unwrap();
    data.append(&numbers(30)).unwrap();
    assert_eq!(data.chunk_count(), 1);
    data.commit().unwrap();
    let first = data.compressed_chunk(0).unwrap();
    data.append(&numbers(150)).unwrap();
    data.commit().unwrap();
    data.append(&numbers(1)).unwrap();
    let lens = |data: &SuperChunk| data.chunks().map(|c| c.unwrap().len()).collect::<Vec<_>>();
    assert_eq!(lens(&data), [240, 400, 200, 4]);
    assert_eq!(data.compressed_chunk(0).unwrap(), first);
    let expected: Vec<u8> = [30, 30, 150, 1].into_iter().flat_map(numbers).collect();
    assert_eq!(data.to_vec().unwrap(), expected);
    let mut some = [0; 16];
    data.read_items(59..63, &mut some).unwrap();
    assert_eq!(some, expected[59 * 4..63 * 4]);
}

#[test]
fn of_a_last_chunk_that_is_too_long_the_first_bytes_count() {
    let rules = Rules { longer_last: true, ..Rules::blosc1() };
    let params = Params::from_options(&options()).unwrap();
    let mut heap = Heap::default();
    let mut entries = Vec::new();
    for _ in 0..2 {
        let mut chunk = crate::chunk::compress(&numbers(100), &options()).unwrap();
        entries.push(crate::container::Entry::stored(heap.put(&mut chunk).unwrap()));
    }
    let contents =
        Contents { rules, entries, nbytes: 440, ..Contents::new(4, ChunkSize::Fixed(400), params) };
    let limits = Limits::default();
    let mut data = SuperChunk::over(contents, Box::new(heap), options(), limits, true);
    let mut expected = [numbers(100), numbers(10)].concat();
    assert_eq!(data.to_vec().unwrap(), expected);
    assert!(data.verify().unwrap().is_good());
    data.append(&numbers(3)).unwrap();
    data.commit().unwrap();
    expected.extend(numbers(3));
    assert_eq!(data.to_vec().unwrap(), expected);
}
