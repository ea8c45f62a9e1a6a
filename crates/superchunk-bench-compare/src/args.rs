//! The options of the command line.

use std::path::PathBuf;
use std::time::Duration;

use superchunk_testkit::datasets::{self, Dataset};

use crate::choice::{CODECS, CodecChoice, FILTERS, FilterChoice, Setup};

/// What `--help` prints.
pub(crate) const HELP: &str = "\
superchunk-bench-compare [frame | nd | objects | tables] [options]

  frame               the benches of frames instead of chunks; heeds only the four options below,
                      and one number of --threads
  nd                  the benches of N-d arrays, likewise
  objects             a million strings beside Parquet and others, likewise (run it by cargo xtask)
  tables              a table of 20 columns beside bcolz and others, likewise
  --folder DIR        where their files are made (default: the folder for temporary files)
  --quick, --csv, --save   as below; --save writes <date>-<word>.csv

  --datasets a,b      only these (by name or its beginning): a_walk_f64 a_sensor_f64 b_ts_i32
                      c_small_i64 d_field_f32 e_csv f_random g_zeros
  --codecs lz4,zstd   only these: blosclz lz4 lz4hc zlib zstd
  --levels 1,5        only these levels of the default ones
  --filters none      only these: none shuffle bitshuffle
  --threads 1,2       thread counts (default 1)
  --sample 16         megabytes (MiB) of each dataset
  --chunk 4096        kilobytes (KiB) of each chunk
  --kernels           the table of filter kernels as well; --kernels-only: nothing else
  --quick             8 MB samples and short races: less exact, minutes instead of quarter hours
  --passes 3          measure every cell so many times, minutes apart, and keep the best of each side
  --summary           end with the geometric mean and the worst cell of each codec and filter
  --csv FILE          write all numbers to FILE
  --save              write them to docs/bench/<machine>/<date>.csv
  --plot              make docs/bench/<machine>/matrix.svg and matrix.md of them
  plot FILE           only make these two, of an earlier CSV file

`cargo xtask bench` also lets the crate blosc2-pure-rs take part (feature pure-rs);
`cargo xtask bench --no-pure-rs` does not.
";

/// What to run.
pub(crate) struct Args {
    pub(crate) datasets: Vec<Dataset>,
    pub(crate) codecs: Vec<CodecChoice>,
    pub(crate) levels: Option<Vec<u8>>,
    pub(crate) filters: Vec<FilterChoice>,
    pub(crate) threads: Vec<usize>,
    /// Bytes of each dataset.
    pub(crate) sample: usize,
    /// Bytes of each chunk before compression.
    pub(crate) chunk: usize,
    /// Time for one race.
    pub(crate) budget: Duration,
    /// How often every cell is measured; the best of each side counts.
    pub(crate) passes: usize,
    pub(crate) kernels: bool,
    pub(crate) chunks: bool,
    pub(crate) frames: bool,
    pub(crate) arrays: bool,
    pub(crate) objects: bool,
    pub(crate) tables: bool,
    /// Less exact and much shorter.
    pub(crate) quick: bool,
    /// Where the files of the benches of frames, arrays, objects and tables are made.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) summary: bool,
    pub(crate) csv: Option<PathBuf>,
    pub(crate) save: bool,
    /// Picture and tables of the run.
    pub(crate) plot: bool,
    /// Picture and tables of an earlier run, and nothing else.
    pub(crate) plot_of: Option<PathBuf>,
}

impl Args {
    /// Reads the command line; `None` when help was asked for.
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut args = Self::default();
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--datasets" => args.datasets = chosen(&value()?, &datasets::ALL, |d| d.name)?,
                "--codecs" => args.codecs = named(&value()?, &CODECS, |c| c.name)?,
                "--filters" => args.filters = named(&value()?, &FILTERS, |f| f.name)?,
                "--levels" => args.levels = Some(numbers(&value()?)?),
                "--threads" => args.threads = numbers(&value()?)?,
                "--sample" => args.sample = number::<usize>(&value()?)? << 20,
                "--chunk" => args.chunk = (number::<usize>(&value()?)? << 10).max(1),
                "--passes" => args.passes = number::<usize>(&value()?)?.max(1),
                "--csv" => args.csv = Some(value()?.into()),
                "frame" => (args.frames, args.chunks) = (true, false),
                "nd" => (args.arrays, args.chunks) = (true, false),
                "objects" => (args.objects, args.chunks) = (true, false),
                "tables" => (args.tables, args.chunks) = (true, false),
                "--folder" => args.folder = Some(value()?.into()),
                "--kernels" => args.kernels = true,
                "--kernels-only" => (args.kernels, args.chunks) = (true, false),
                "--summary" => args.summary = true,
                "--save" => args.save = true,
                "--plot" => args.plot = true,
                "plot" => args.plot_of = Some(value()?.into()),
                "--quick" => {
                    args.quick = true;
                    (args.sample, args.budget) = (8 << 20, Duration::from_millis(40));
                }
                "--help" | "-h" => return Ok(None),
                _ => return Err(format!("unknown option {word}\n\n{HELP}")),
            }
        }
        Ok(Some(args))
    }

    /// Every cell of a dataset.
    pub(crate) fn setups(&self, item_size: usize) -> Vec<Setup> {
        let mut setups = Vec::new();
        for &threads in &self.threads {
            for &filter in &self.filters {
                for &codec in &self.codecs {
                    let wanted =
                        |level: &&u8| self.levels.as_ref().is_none_or(|list| list.contains(level));
                    let levels = codec.levels.iter().filter(wanted);
                    setups.extend(levels.map(|&level| Setup {
                        codec,
                        level,
                        filter,
                        item_size,
                        threads,
                    }));
                }
            }
        }
        setups
    }
}

impl Default for Args {
    fn default() -> Self {
        Self {
            datasets: datasets::ALL.to_vec(),
            codecs: CODECS.to_vec(),
            levels: None,
            filters: FILTERS.to_vec(),
            threads: vec![1],
            sample: 16 << 20,
            chunk: 4 << 20,
            budget: Duration::from_millis(200),
            passes: 1,
            kernels: false,
            chunks: true,
            frames: false,
            arrays: false,
            objects: false,
            tables: false,
            quick: false,
            folder: None,
            summary: false,
            csv: None,
            save: false,
            plot: false,
            plot_of: None,
        }
    }
}

/// The entries whose names begin with one of the words.
fn chosen<T: Copy>(list: &str, all: &[T], name: fn(&T) -> &str) -> Result<Vec<T>, String> {
    pick(list, all, |entry, word| name(entry).starts_with(word))
}

/// The entries with exactly these names.
fn named<T: Copy>(list: &str, all: &[T], name: fn(&T) -> &str) -> Result<Vec<T>, String> {
    pick(list, all, |entry, word| name(entry) == word)
}

fn pick<T: Copy>(list: &str, all: &[T], is: impl Fn(&T, &str) -> bool) -> Result<Vec<T>, String> {
    let mut picked = Vec::new();
    for word in list.split(',') {
        let before = picked.len();
        picked.extend(all.iter().filter(|entry| is(entry, word)));
        if picked.len() == before {
            return Err(format!("nothing is called {word}"));
        }
    }
    Ok(picked)
}

fn numbers<T: std::str::FromStr>(list: &str) -> Result<Vec<T>, String> {
    list.split(',').map(number).collect()
}

fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{word} is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Args>, String> {
        Args::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn the_default_is_every_cell_once() {
        let args = parse("").unwrap().unwrap();
        assert_eq!(args.setups(8).len(), 14 * 3);
        assert_eq!(args.datasets.len(), 8);
    }

    #[test]
    fn options_narrow_the_cells() {
        let line = "--codecs lz4,zstd --levels 5 --filters shuffle --threads 1,2 --datasets a_,e";
        let args = parse(line).unwrap().unwrap();
        assert_eq!(args.setups(8).len(), 4);
        assert_eq!((args.datasets.len(), args.passes), (3, 1));
        assert_eq!(parse("--passes 3").unwrap().unwrap().passes, 3);
    }

    #[test]
    fn mistakes_are_named() {
        assert!(parse("--codecs lz5").err().unwrap().contains("lz5"));
        assert!(parse("--threads").err().unwrap().contains("--threads"));
        assert!(parse("--treads 1").err().unwrap().contains("--treads"));
        assert!(parse("--help").unwrap().is_none());
    }

    #[test]
    fn the_word_frame_replaces_the_cells_of_chunks() {
        let args = parse("frame --folder here").unwrap().unwrap();
        assert!(args.frames && !args.chunks);
        assert_eq!(args.folder, Some("here".into()));
        assert!(!parse("").unwrap().unwrap().frames);
    }

    #[test]
    fn the_word_nd_replaces_them_by_arrays() {
        let args = parse("nd --quick").unwrap().unwrap();
        assert!(args.arrays && args.quick && !args.chunks && !args.frames);
    }
}
