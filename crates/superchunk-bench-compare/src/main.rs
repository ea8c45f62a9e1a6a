//! superchunk against C-Blosc2, and against `blosc2-pure-rs`, side by side in one process.
//!
//! Every cell of dataset × codec × level × filter × threads is first checked (each side decodes its own
//! chunks and the other's), then timed in turns; the fastest time of each piece counts, so that a busy
//! machine disturbs the quotient little. What disturbs it for longer is met by several passes. `--help` tells the options. The exit code says whether every
//! answer was right, not who was faster. With the word `frame` it is files of chunks instead,
//! with `nd` files of arrays, with `objects` files of strings and with `tables` tables,
//! beside other formats.

mod aims;
mod apart;
mod args;
mod arrays;
mod c_blosc2;
mod c_nd;
mod c_schunk;
mod cell;
mod choice;
mod clock;
mod contestant;
mod frame_report;
mod frame_side;
mod frames;
mod kernels;
mod locate;
mod many_chunks;
mod matrix;
mod nd_side;
mod objects;
mod opened;
mod ours;
mod ours_nd;
mod ours_schunk;
mod picture;
#[cfg(feature = "pure-rs")]
mod pure_rs;
mod python;
mod report;
mod rounds;
mod summary;
mod tables;
mod timing;

use std::process::ExitCode;

use args::Args;
use c_blosc2::Library;
use report::Report;

fn main() -> ExitCode {
    let outcome = Args::parse(std::env::args().skip(1)).and_then(|args| match args {
        Some(args) => run(&args),
        None => {
            report::say(args::HELP);
            Ok(true)
        }
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("bench-compare: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Runs what was asked; `false` when an answer was wrong.
fn run(args: &Args) -> Result<bool, String> {
    if let Some(path) = &args.plot_of {
        let csv = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        return report::plot(&csv).map(|()| true);
    }
    if (args.frames || args.arrays) && !opened::is_prepared(args)? {
        return opened::run_prepared(args);
    }
    let library = Library::open(&locate::libblosc2()?)?;
    report::say(&format!("superchunk against C-Blosc2 {}", library.version()));
    let mut right = !args.kernels || kernels::run(&library, args)?;
    right &= !args.frames || frames::run(&library, args)?;
    right &= !args.arrays || arrays::run(&library, args)?;
    right &= !args.objects || objects::run(args, &library.version())?;
    right &= !args.tables || tables::run(args, &library.version())?;
    if !args.chunks {
        return Ok(right);
    }
    let mut report = Report::new(args, &library.version());
    for _ in 0..args.passes {
        right &= pass(&library, args, &mut report);
    }
    report.finish()?;
    Ok(right)
}

/// Measures every cell once; `false` when an answer was wrong.
fn pass(library: &Library, args: &Args, report: &mut Report<'_>) -> bool {
    let mut right = true;
    for dataset in &args.datasets {
        let data = (dataset.make)(args.sample);
        for setup in args.setups(dataset.item_size) {
            match cell::measure(library, args, &data, &setup) {
                Ok(cell) => report.add(dataset.name, &setup, cell),
                Err(reason) => {
                    right = false;
                    report::say(&format!("WRONG {} {setup}: {reason}", dataset.name));
                }
            }
        }
    }
    right
}
