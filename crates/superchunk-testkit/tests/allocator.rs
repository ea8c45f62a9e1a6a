//! The counting allocator, installed for real.

use superchunk_testkit::alloc::{CountingAllocator, peak_of};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn the_peak_is_what_was_live_at_once_not_the_sum() {
    let ((), peak) = peak_of(|| {
        for _ in 0..10 {
            drop(std::hint::black_box(vec![1u8; 100_000]));
        }
        let two = [vec![1u8; 60_000], vec![1u8; 60_000]];
        drop(std::hint::black_box(two));
    });
    assert!((120_000..121_000).contains(&peak), "peak {peak}");
}

#[test]
fn memory_taken_before_does_not_count() {
    let earlier = vec![1u8; 1_000_000];
    let (sum, peak) = peak_of(|| earlier.iter().map(|&b| u64::from(b)).sum::<u64>());
    assert_eq!((sum, peak), (1_000_000, 0));
}

#[test]
fn growing_a_vector_counts_old_and_new_block() {
    let (grown, peak) = peak_of(|| {
        let mut bytes = Vec::with_capacity(10_000);
        bytes.resize(10_000, 1u8);
        bytes.reserve_exact(20_000);
        bytes
    });
    assert!(peak >= 10_000 + grown.capacity(), "peak {peak}");
}
