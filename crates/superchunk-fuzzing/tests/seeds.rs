//! Every target holds for its seeds, cut short and damaged, too: what the fuzzers do for long, in short.

use superchunk_fuzzing::{TARGETS, run, seeds};
use superchunk_testkit::rng::Rng;

/// The longest input that is damaged here.
const SMALL: usize = 4000;

/// How often each seed is damaged.
const DAMAGES: usize = 6;

fn check(target: &str) {
    let mut rng = Rng::new(9);
    let seeds = seeds::of(target);
    assert!(seeds.len() >= 3, "{target} has {} seeds", seeds.len());
    for (_, seed) in seeds {
        run(target, &seed);
        for _ in 0..if seed.len() <= SMALL { DAMAGES } else { 0 } {
            let mut bytes = seed.clone();
            for _ in 0..=rng.index(4) {
                let at = rng.index(bytes.len());
                if let (Some(byte), [value, ..]) = (bytes.get_mut(at), rng.bytes(1).as_slice()) {
                    *byte = *value;
                }
            }
            bytes.truncate(bytes.len() - rng.index(bytes.len() / 4 + 1));
            run(target, &bytes);
        }
    }
}

#[test]
fn every_target_has_its_test() {
    assert_eq!(TARGETS.len(), TESTED.len());
    assert!(TARGETS.iter().all(|(name, _)| TESTED.contains(name)));
}

macro_rules! tests {
    ($($name:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*
    };
}

tests! {
    chunk_decode chunk1_decode blosclz zlib_zstd filters_roundtrip frame_open frame_file_ops sframe_dir b2nd_meta
    vlmeta_msgpack blp bcolz_meta_json salvage
}
