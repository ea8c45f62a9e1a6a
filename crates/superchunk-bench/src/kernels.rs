//! The filter kernels alone: GB/s by instruction set and item size.
//!
//! The kernels decide once a process which instruction set they use, so each set runs in a process of
//! its own: this program starts itself again with `SUPERCHUNK_CPU`. Each kernel must first be undone by
//! its inverse.

use std::hint::black_box;
use std::io::Write as _;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use superchunk_kernels::{bitshuffle, cpu, shuffle};
use superchunk_testkit::datasets;

const VARIABLE: &str = "SUPERCHUNK_CPU";
const INSTRUCTION_SETS: [&str; 4] = ["scalar", "sse2", "avx2", "avx512"];
const ITEM_SIZES: [usize; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 20, 24, 32];
const BLOCK_SIZE: usize = 128 << 10;

type Kernel = fn(usize, &[u8], &mut [u8]);
const KERNELS: [(&str, Kernel, Kernel); 4] = [
    ("shuffle", shuffle::shuffle, shuffle::unshuffle),
    ("unshuffle", shuffle::unshuffle, shuffle::shuffle),
    ("bitshuffle", bitshuffle::bitshuffle, bitshuffle::bitunshuffle),
    ("bitunshuffle", bitshuffle::bitunshuffle, bitshuffle::bitshuffle),
];

fn main() -> ExitCode {
    if std::env::var_os(VARIABLE).is_some() || !cfg!(target_arch = "x86_64") {
        return table();
    }
    let Ok(program) = std::env::current_exe() else { return ExitCode::FAILURE };
    let run = |set: &&str| Command::new(&program).env(VARIABLE, set).status();
    let all_right = INSTRUCTION_SETS.iter().map(run).all(|end| end.is_ok_and(|s| s.success()));
    if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The table of this process's instruction set.
fn table() -> ExitCode {
    say(&format!("\n{:?}, {} KiB blocks in cache, GB/s", cpu::isa(), BLOCK_SIZE >> 10));
    let names: Vec<String> = KERNELS.iter().map(|(name, ..)| format!("{name:>13}")).collect();
    say(&format!("item{}", names.concat()));
    for item_size in ITEM_SIZES {
        let source = datasets::walk(BLOCK_SIZE / (8 * item_size) * (8 * item_size));
        let mut line = format!("{item_size:>4}");
        for (name, kernel, inverse) in KERNELS {
            let (mut there, mut back) = (vec![0; source.len()], vec![0; source.len()]);
            kernel(item_size, &source, &mut there);
            inverse(item_size, &there, &mut back);
            if back != source {
                say(&format!(
                    "WRONG: {name} of {item_size}-byte items is not undone by its inverse"
                ));
                return ExitCode::FAILURE;
            }
            let seconds = fastest(|| kernel(item_size, black_box(&source), black_box(&mut there)));
            line += &format!("{:>13.1}", source.len() as f64 / 1e9 / seconds);
        }
        say(&line);
    }
    ExitCode::SUCCESS
}

/// The shortest of many runs, in seconds.
fn fastest(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while start.elapsed() < Duration::from_millis(30) {
        let begin = Instant::now();
        work();
        best = best.min(begin.elapsed().as_secs_f64());
    }
    best
}

fn say(line: &str) {
    // A closed pipe is no reason to stop.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
