//! The end of a run: each aim of the project's speed beside what was measured, and every cell that misses.

use crate::cell::Cell;
use crate::choice::Setup;
use crate::report::say;
use crate::summary::geometric_mean;

/// A dataset, a setup, and what was measured there.
pub(crate) type Place = (&'static str, Setup, Cell);

type Quotient = fn(&Cell) -> f64;

/// The two directions, superchunk over C-Blosc2.
const DIRECTIONS: [(&str, Quotient); 2] = [
    ("compress", |cell| cell.ours.compress / cell.c.compress),
    ("decompress", |cell| cell.ours.decompress / cell.c.decompress),
];

/// Below this a direction is behind beyond noise, and a ratio below the second beyond what was allowed.
const BEHIND: f64 = 0.97;
const LEAST_RATIO: f64 = 0.995;

/// Prints the aims and the cells that miss them.
pub(crate) fn print(cells: &[Place]) {
    say(
        "\nAims, over cells that compress: one side at least makes 1.05 of 1, neither a special chunk",
    );
    let mut threads: Vec<usize> = cells.iter().map(|(_, setup, _)| setup.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    for threads in &threads {
        let all = cells.iter().filter(|(_, setup, _)| setup.threads == *threads);
        print_means(*threads, &all.collect::<Vec<_>>());
    }
    print_scaling(cells);
    print_misses(cells);
}

fn print_means(threads: usize, cells: &[&Place]) {
    let chosen: Vec<&Cell> =
        cells.iter().map(|(_, _, cell)| cell).filter(|cell| compresses(cell)).collect();
    let mean = |quotient: Quotient| geometric_mean(chosen.iter().map(|cell| quotient(cell)));
    for (name, quotient) in DIRECTIONS {
        say(&format!("  {threads}T {name:<10} {:>6.3}   aim 1.5", mean(quotient)));
    }
    let both: Vec<&Cell> = chosen.iter().copied().filter(|cell| both_compress(cell)).collect();
    let of_both = |quotient: Quotient| geometric_mean(both.iter().map(|cell| quotient(cell)));
    let [compress, decompress] = DIRECTIONS.map(|(_, quotient)| of_both(quotient));
    say(&format!(
        "  {threads}T where both compress ({} of {} cells): {compress:.3}, {decompress:.3}, one item of own chunks {:.3}",
        both.len(),
        chosen.len(),
        of_both(|cell| cell.c.read_own_us / cell.ours.read_own_us)
    ));
    say(&format!(
        "  {threads}T same bytes {:>6.3}",
        mean(|c| c.ours.decompress_c / c.c.decompress_c)
    ));
    let reads: [(&str, Quotient); 2] = [
        ("same bytes", |cell| cell.c.read_us / cell.ours.read_us),
        ("own chunks", |cell| cell.c.read_own_us / cell.ours.read_own_us),
    ];
    for (from, read) in reads {
        let sum: f64 = chosen.iter().map(|cell| read(cell)).sum();
        say(&format!(
            "  {threads}T one item   {:>6.3}   aim 5 (arithmetic mean {:.3}), {from}",
            mean(read),
            sum / f64::max(1.0, chosen.len() as f64)
        ));
    }
    say(&format!("  {threads}T ratio      {:>6.4}   aim 1", mean(|c| c.ours.ratio / c.c.ratio)));
    let lz4 = cells.iter().filter(|(_, setup, cell)| {
        setup.codec.name == "lz4" && setup.filter.name == "shuffle" && compresses(cell)
    });
    let shares: Vec<f64> = lz4.map(|(_, _, cell)| cell.ours.decompress / cell.copy).collect();
    if !shares.is_empty() {
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let mean = geometric_mean(shares.into_iter());
        let aim = if threads == 2 { "   aim 0.7" } else { "" };
        say(&format!(
            "  {threads}T shuffle+lz4 decodes at {mean:.2} of a copy, least {least:.2}{aim}"
        ));
    }
}

/// Two threads over one, where a run has both: sharing a chunk, and sharing nothing.
fn print_scaling(cells: &[Place]) {
    type Speed = fn(&Cell) -> Option<f64>;
    let speeds: [(&str, Quotient, Speed); 2] = [
        ("compress", |cell| cell.ours.compress, |cell| Some(cell.apart?.compress)),
        ("decompress", |cell| cell.ours.decompress, |cell| Some(cell.apart?.decompress)),
    ];
    let pairs = || {
        let two = cells.iter().filter(|(_, setup, cell)| setup.threads == 2 && compresses(cell));
        two.filter_map(|(dataset, two, cell)| Some((cell, alone(cells, dataset, two)?)))
    };
    for (name, speed, apart) in speeds {
        let gains: Vec<f64> = pairs().map(|(two, one)| speed(two) / speed(one)).collect();
        let limits = pairs().filter_map(|(two, one)| Some(apart(two)? / speed(one)));
        if !gains.is_empty() {
            let (mean, limit) = (geometric_mean(gains.into_iter()), geometric_mean(limits));
            say(&format!(
                "  2T over 1T, {name:<10} {mean:>6.3}   aim 1.9; threads that share nothing: {limit:.3}"
            ));
        }
    }
}

/// The cell of one thread that is otherwise like this one.
fn alone<'c>(cells: &'c [Place], dataset: &str, two: &Setup) -> Option<&'c Cell> {
    let one = cells.iter().find(|(other, setup, _)| {
        *other == dataset
            && setup.threads == 1
            && Setup { threads: two.threads, ..*setup }.to_string() == two.to_string()
    });
    one.map(|(_, _, cell)| cell)
}

fn print_misses(cells: &[Place]) {
    let mut missed = 0;
    say(&format!(
        "\nBelow {BEHIND} in a direction, or {LEAST_RATIO} in ratio (ratio beside, ours over theirs)"
    ));
    for (dataset, setup, cell) in cells {
        let ratio = cell.ours.ratio / cell.c.ratio;
        let behind = DIRECTIONS.iter().filter(|(_, quotient)| quotient(cell) < BEHIND);
        let mut words: Vec<String> =
            behind.map(|(name, quotient)| format!("{name} {:.2}", quotient(cell))).collect();
        if ratio < LEAST_RATIO {
            words.push("ratio".to_owned());
        }
        if !words.is_empty() {
            missed += 1;
            let cell = format!("{dataset:<12} {:<24}", setup.to_string());
            say(&format!("  {cell} {:<36} ratio {ratio:.3}", words.join(", ")));
        }
    }
    say(&format!("  {missed} of {} cells", cells.len()));
}

/// Whether a side has something to compress here, and not just one value.
fn compresses(cell: &Cell) -> bool {
    let best = cell.ours.ratio.max(cell.c.ratio);
    (1.05..1000.0).contains(&best)
}

/// Whether neither side merely copies.
fn both_compress(cell: &Cell) -> bool {
    cell.ours.ratio.min(cell.c.ratio) >= 1.05
}
