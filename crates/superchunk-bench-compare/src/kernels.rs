//! The filter kernels alone: GB/s by item size, superchunk against C-Blosc2.

use std::time::Duration;

use superchunk_kernels::{bitshuffle, shuffle};
use superchunk_testkit::datasets;

use crate::args::Args;
use crate::c_blosc2::{Kernel, Library};
use crate::clock::Clock;
use crate::contestant::Answer;
use crate::report::say;
use crate::timing::race;

const ITEM_SIZES: [usize; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 20, 24, 32];
const BLOCK_SIZES: [usize; 2] = [128 << 10, 512 << 10];

type Ours = fn(usize, &[u8], &mut [u8]);
const KERNELS: [(&str, Ours, Kernel); 4] = [
    ("shuffle", shuffle::shuffle, Kernel::Shuffle),
    ("unshuffle", shuffle::unshuffle, Kernel::Unshuffle),
    ("bitshuffle", bitshuffle::bitshuffle, Kernel::BitShuffle),
    ("bitunshuffle", bitshuffle::bitunshuffle, Kernel::BitUnshuffle),
];

/// Prints the table; `false` when an answer differs from that of C-Blosc2.
pub(crate) fn run(library: &Library, args: &Args) -> Result<bool, String> {
    let mut right = true;
    for block_size in BLOCK_SIZES {
        say(&format!(
            "\nkernels, {} KiB blocks in cache: GB/s superchunk/C-Blosc2",
            block_size >> 10
        ));
        say(&format!(
            "item {:^21} {:^21} {:^21} {:^21}",
            "shuffle", "unshuffle", "bitshuffle", "bitunshuffle"
        ));
        for item_size in ITEM_SIZES {
            // A whole number of groups of eight items, so that nothing is left over.
            let source = datasets::walk(block_size / (8 * item_size) * (8 * item_size));
            let mut line = format!("{item_size:>4}");
            for (name, ours, theirs) in KERNELS {
                match measure(library, &source, item_size, ours, theirs, args.budget / 8) {
                    Ok((a, b)) => line += &format!(" {a:>6.1}/{b:<6.1}{:>7.2}", a / b),
                    Err(reason) => {
                        right = false;
                        line += &format!(" WRONG {name}: {reason}");
                    }
                }
            }
            say(&line);
        }
    }
    Ok(right)
}

fn measure(
    library: &Library,
    source: &[u8],
    item_size: usize,
    ours: Ours,
    theirs: Kernel,
    budget: Duration,
) -> Answer<(f64, f64)> {
    let (mut a, mut b) = (vec![0; source.len()], vec![0; source.len()]);
    ours(item_size, source, &mut a);
    library.filter(theirs, item_size, source, &mut b)?;
    if a != b {
        return Err("the two differ".to_owned());
    }
    let times = race(&mut [a, b], 8, budget, Clock::Wall, |target, who, _| {
        if who == 0 {
            ours(item_size, source, target);
            return Ok(());
        }
        library.filter(theirs, item_size, source, target)
    })?;
    let speed = |who: usize| times.get(who).map_or(0.0, |t| 8.0 * source.len() as f64 / 1e9 / t);
    Ok((speed(0), speed(1)))
}
