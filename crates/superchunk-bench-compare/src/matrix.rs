//! The matrix of a run, read back from its CSV file, and as tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What is compared in one cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) threads: usize,
    pub(crate) filter: String,
    pub(crate) codec: String,
    pub(crate) level: u8,
    pub(crate) dataset: String,
}

/// Superchunk over C-Blosc2: above 1 is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quotients {
    pub(crate) ratio: f64,
    pub(crate) compress: f64,
    pub(crate) decompress: f64,
}

/// All cells of a run, and what its file says of it.
#[derive(Debug)]
pub(crate) struct Matrix {
    pub(crate) about: Vec<String>,
    pub(crate) cells: BTreeMap<Place, Quotients>,
}

impl Matrix {
    /// Reads the CSV that a report writes.
    pub(crate) fn parse(csv: &str) -> Result<Self, String> {
        let about = csv.lines().filter_map(|line| line.strip_prefix("# ")).map(str::to_owned);
        let mut sides: BTreeMap<Place, [Option<[f64; 3]>; 2]> = BTreeMap::new();
        for line in csv.lines().filter(|line| !line.starts_with('#')).skip(1) {
            let wrong = || format!("not a line of a bench: {line}");
            let fields: Vec<&str> = line.split(',').collect();
            let [dataset, codec, level, filter, threads, who, ratio, compress, decompress, ..] =
                fields.as_slice()
            else {
                return Err(wrong());
            };
            let place = Place {
                threads: threads.parse().map_err(|_| wrong())?,
                filter: (*filter).to_owned(),
                codec: (*codec).to_owned(),
                level: level.parse().map_err(|_| wrong())?,
                dataset: (*dataset).to_owned(),
            };
            let number = |word: &str| word.parse::<f64>().map_err(|_| wrong());
            let numbers = [number(ratio)?, number(compress)?, number(decompress)?];
            let [ours, c] = sides.entry(place).or_default();
            match *who {
                "superchunk" => *ours = Some(numbers),
                "C-Blosc2" => *c = Some(numbers),
                _ => {}
            }
        }
        let cells = sides.into_iter().filter_map(|(place, sides)| match sides {
            [Some([ratio, compress, decompress]), Some(c)] => {
                let [c_ratio, c_compress, c_decompress] = c;
                let quotients = Quotients {
                    ratio: ratio / c_ratio,
                    compress: compress / c_compress,
                    decompress: decompress / c_decompress,
                };
                Some((place, quotients))
            }
            _ => None,
        });
        Ok(Self { about: about.collect(), cells: cells.collect() })
    }

    /// A table for each filter and number of threads: codecs and levels down, datasets across.
    pub(crate) fn tables(&self) -> String {
        let mut out = String::from(
            "# Superchunk over C-Blosc2, every cell\n\nRatio, compress, decompress (each its own \
             chunks): above 1 superchunk is ahead.\n\n",
        );
        for line in &self.about {
            let _ = writeln!(out, "- {line}");
        }
        let mut group = None;
        for place in self.cells.keys() {
            if group != Some((place.threads, place.filter.as_str())) {
                group = Some((place.threads, place.filter.as_str()));
                self.table(place.threads, &place.filter, &mut out);
            }
        }
        out
    }

    fn table(&self, threads: usize, filter: &str, out: &mut String) {
        let inside = |place: &&Place| place.threads == threads && place.filter == filter;
        let mut datasets: Vec<&str> =
            self.cells.keys().filter(inside).map(|place| place.dataset.as_str()).collect();
        datasets.sort_unstable();
        datasets.dedup();
        let _ = writeln!(out, "\n## {filter}, threads: {threads}\n");
        let _ = writeln!(out, "| codec | {} |", datasets.join(" | "));
        let _ = writeln!(out, "|---|{}", "---|".repeat(datasets.len()));
        let mut rows: Vec<(&str, u8)> = self
            .cells
            .keys()
            .filter(inside)
            .map(|place| (place.codec.as_str(), place.level))
            .collect();
        rows.dedup();
        for (codec, level) in rows {
            let _ = write!(out, "| {codec} {level} |");
            for dataset in &datasets {
                let cell = self.cells.iter().find(|(place, _)| {
                    inside(place)
                        && place.codec == codec
                        && place.level == level
                        && place.dataset == *dataset
                });
                let _ = match cell {
                    Some((_, Quotients { ratio, compress, decompress })) => {
                        write!(out, " {ratio:.3} {compress:.2} {decompress:.2} |")
                    }
                    None => write!(out, " |"),
                };
            }
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str = "\
# machine: m
dataset,codec,level,filter,threads,implementation,ratio,compress_mb_s,decompress_mb_s,rest
walk,lz4,5,none,1,superchunk,2.0000,300.0,500.0,1
walk,lz4,5,none,1,C-Blosc2,1.0000,100.0,1000.0,1
walk,lz4,5,none,1,blosc2-pure-rs,1.0000,1.0,1.0,1
walk,lz4,9,none,1,superchunk,2.0000,300.0,500.0,1
";

    #[test]
    fn a_cell_is_the_quotient_of_two_lines() {
        let matrix = Matrix::parse(CSV).unwrap();
        let cells: Vec<_> = matrix.cells.values().copied().collect();
        assert_eq!(cells, [Quotients { ratio: 2.0, compress: 3.0, decompress: 0.5 }]);
        assert_eq!(matrix.about, ["machine: m"]);
    }

    #[test]
    fn tables_have_codecs_down_and_datasets_across() {
        let tables = Matrix::parse(CSV).unwrap().tables();
        assert!(
            tables.contains("## none, threads: 1\n\n| codec | walk |\n|---|---|\n"),
            "{tables}"
        );
        assert!(tables.contains("| lz4 5 | 2.000 3.00 0.50 |\n"), "{tables}");
    }

    #[test]
    fn a_broken_line_is_named() {
        let broken = CSV.replace("300.0", "fast");
        assert!(Matrix::parse(&broken).unwrap_err().contains("fast"));
        assert!(Matrix::parse("a\nb,c").unwrap_err().contains("b,c"));
    }
}
