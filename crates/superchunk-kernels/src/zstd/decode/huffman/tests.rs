//! The loops against each other and against symbols taken one by one.

use alloc::vec;
use alloc::vec::Vec;

use super::lanes;
use super::streams::Stream;
use super::table::Table;

/// Descriptions of codes by weights of 4 bits: one more symbol completes them.
fn tables() -> Vec<Table> {
    let steep: Vec<u8> = (1..=11).rev().collect();
    let flat = |symbols: usize| vec![1; symbols - 1];
    let mixed = [vec![4; 8], vec![3; 8], vec![2; 8], vec![1; 15]].concat();
    // Few short codes and 64 of the longest, which have so many bits.
    let two_kinds = |longest: u8| [(7..=longest).rev().collect(), vec![1; 63]].concat();
    let [eight, nine, ten, eleven] = [8, 9, 10, 11].map(two_kinds);
    [vec![1], steep, flat(64), flat(128), mixed, eight, nine, ten, eleven]
        .map(|weights| {
            let mut description = vec![u8::try_from(127 + weights.len()).unwrap()];
            let nibbles = weights.chunks(2).map(|pair| (pair[0] << 4) | pair.get(1).unwrap_or(&0));
            description.extend(nibbles);
            let mut table = Table::new();
            assert_eq!(table.read(&description), Ok(description.len()), "{weights:?}");
            table
        })
        .into()
}

fn noise(len: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_le_bytes()[3]
    };
    (0..len).map(|_| next()).collect()
}

/// What a loop and then single symbols make of `count` streams: the symbols, and the places behind them.
fn decoded(
    table: &Table,
    src: &[u8],
    count: usize,
    len: usize,
    run: impl Fn(&Table, &mut [Stream<'_>]),
) -> (Vec<u8>, Vec<Result<usize, &'static str>>) {
    const GUARD: usize = 9;
    let mut dst = vec![0xA5; count * (len + GUARD)];
    let share = src.len() / 8;
    let mut streams: Vec<Stream<'_>> = dst
        .chunks_mut(len + GUARD)
        .enumerate()
        .map(|(part, dst)| {
            let begin = part * share;
            Stream::new(src, begin, begin + share, &mut dst[..len]).unwrap()
        })
        .collect();
    run(table, &mut streams);
    let ends = streams.iter_mut().map(|stream| {
        while stream.written < stream.dst.len() {
            stream.take(table)?;
        }
        Ok(stream.unread)
    });
    let ends = ends.collect();
    (dst, ends)
}

/// Loops that take any number of streams. Not all of them are there everywhere.
fn check_all(table: &Table, src: &[u8], len: usize) {
    for count in [1, 2, 4, 8] {
        let expected = decoded(table, src, count, len, |_, _| {});
        let plain = decoded(table, src, count, len, |table, streams| match streams.len() {
            1 => lanes::run_inlined::<1>(table, streams.try_into().unwrap()),
            2 => lanes::run_inlined::<2>(table, streams.try_into().unwrap()),
            4 => lanes::run_inlined::<4>(table, streams.try_into().unwrap()),
            _ => lanes::run_inlined::<8>(table, streams.try_into().unwrap()),
        });
        assert!(plain == expected, "{count} streams of {len} symbols, plain");
        let dispatched = decoded(table, src, count, len, |table, streams| match streams.len() {
            1 => lanes::run::<1>(table, streams.try_into().unwrap()),
            2 => lanes::run::<2>(table, streams.try_into().unwrap()),
            4 => lanes::run::<4>(table, streams.try_into().unwrap()),
            _ => lanes::run::<8>(table, streams.try_into().unwrap()),
        });
        assert!(dispatched == expected, "{count} streams of {len} symbols, as this processor can");
    }
}

#[test]
fn all_loops_find_the_same_symbols() {
    for (seed, mut table) in (1..).zip(tables()) {
        for (share, len) in [(3, 5), (40, 77), (40, 300), (800, 600), (5000, 4000), (5000, 9000)] {
            let mut src = noise(8 * share, seed);
            // Each stream ends with a mark.
            src.chunks_mut(share).for_each(|stream| stream[share - 1] |= 1);
            check_all(&table, &src, len);
        }
        table.make_pairs();
        for (share, len) in [(3, 5), (40, 77), (800, 600), (5000, 9000)] {
            let mut src = noise(8 * share, seed + 100);
            src.chunks_mut(share).for_each(|stream| stream[share - 1] |= 1);
            check_all(&table, &src, len);
        }
    }
}
