//! The end of a long table: geometric means and worst cells of each codec and filter, then the aims.

use crate::aims;
use crate::cell::Cell;
use crate::choice::Setup;
use crate::report::say;

type Quotient = fn(&Cell) -> f64;

/// The quotients (superchunk over C-Blosc2, above 1 is better) that are summed up.
const QUOTIENTS: [(&str, Quotient); 5] = [
    ("ratio", |cell| cell.ours.ratio / cell.c.ratio),
    ("compress", |cell| cell.ours.compress / cell.c.compress),
    ("decompress", |cell| cell.ours.decompress / cell.c.decompress),
    ("same bytes", |cell| cell.ours.decompress_c / cell.c.decompress_c),
    ("read", |cell| cell.c.read_us / cell.ours.read_us),
];

/// All cells of a run.
#[derive(Default)]
pub(crate) struct Summary {
    cells: Vec<aims::Place>,
}

impl Summary {
    /// Adds a cell, or what was measured of it once more.
    pub(crate) fn add(&mut self, dataset: &'static str, setup: &Setup, cell: Cell) {
        let is_same = |place: &&mut aims::Place| place.0 == dataset && place.1 == *setup;
        match self.cells.iter_mut().find(is_same) {
            Some((_, _, known)) => known.best_with(&cell),
            None => self.cells.push((dataset, *setup, cell)),
        }
    }

    pub(crate) fn cells(&self) -> &[aims::Place] {
        &self.cells
    }

    /// Prints a line for each codec, filter and thread count, and one for everything.
    pub(crate) fn print(&self) {
        say("\nsuperchunk over C-Blosc2: geometric mean (worst, where)");
        let mut groups: Vec<String> = Vec::new();
        for (_, setup, _) in &self.cells {
            let group = group(setup);
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        for name in groups {
            self.print_group(&name, |setup| group(setup) == name);
        }
        self.print_group("everything", |_| true);
        aims::print(&self.cells);
    }

    fn print_group(&self, name: &str, is_in: impl Fn(&Setup) -> bool) {
        say(name);
        for (quantity, quotient) in QUOTIENTS {
            let cells = self.cells.iter().filter(|(_, setup, _)| is_in(setup));
            let values: Vec<(f64, String)> = cells
                .map(|(dataset, setup, cell)| {
                    (quotient(cell), format!("{dataset} {} {}", setup.codec.name, setup.level))
                })
                .collect();
            let worst = values.iter().min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((least, place)) = worst {
                let mean = geometric_mean(values.iter().map(|value| value.0));
                say(&format!("  {quantity:<11} {mean:>6.3}  ({least:.3}, {place})"));
            }
        }
    }
}

fn group(setup: &Setup) -> String {
    format!("{} {} {}T", setup.codec.name, setup.filter.name, setup.threads)
}

/// The geometric mean; 1 of nothing.
pub(crate) fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value.ln(), n + 1.0));
    (sum / f64::max(count, 1.0)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Numbers;
    use crate::choice::{CODECS, FILTERS};

    #[test]
    fn of_several_passes_the_best_of_each_side_is_kept() {
        let numbers = |compress, read_us| Numbers {
            name: "a side",
            ratio: 2.0,
            compress,
            decompress: 1.0,
            decompress_c: 1.0,
            read_us,
            read_own_us: 1.0,
        };
        let cell = |ours, c, copy| Cell { ours, c, others: Vec::new(), copy, apart: None };
        let setup =
            Setup { codec: CODECS[0], level: 5, filter: FILTERS[0], item_size: 8, threads: 1 };
        let mut summary = Summary::default();
        summary.add("walk", &setup, cell(numbers(3.0, 9.0), numbers(5.0, 9.0), 7.0));
        summary.add(
            "walk",
            &Setup { threads: 2, ..setup },
            cell(numbers(1.0, 1.0), numbers(1.0, 1.0), 1.0),
        );
        summary.add("walk", &setup, cell(numbers(4.0, 8.0), numbers(2.0, 9.5), 6.0));
        let [(_, _, one), (_, other, _)] = summary.cells() else { panic!("two cells") };
        assert_eq!((one.ours.compress, one.c.compress, one.copy), (4.0, 5.0, 7.0));
        assert_eq!((one.ours.read_us, one.c.read_us), (8.0, 9.0));
        assert_eq!(other.threads, 2);
    }

    #[test]
    fn the_mean_of_a_quotient_and_its_inverse_is_one() {
        assert!((geometric_mean([0.25, 4.0].into_iter()) - 1.0).abs() < 1e-12);
        assert!((geometric_mean([2.0, 8.0].into_iter()) - 4.0).abs() < 1e-12);
    }
}
