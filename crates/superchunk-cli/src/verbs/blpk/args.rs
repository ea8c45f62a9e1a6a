//! The command line of `blpk`. Global options stand before the command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use superchunk::Codec;
use superchunk::bloscpack::Checksum;

use super::refuse;
use crate::args::{Global, When};
use crate::context::Context;
use crate::failure::Outcome;
use crate::names::parse_size;

const EXAMPLES: &str = "\
Examples, for a link to superchunk that is called blpk, or without one:
  blpk -f compress -k sha256 readings.f8     makes readings.f8.blp
  superchunk blpk info readings.f8.blp";

/// The most threads that Blosc has.
const MOST_THREADS: i64 = 256;
/// The most bytes that a chunk of Blosc can hold.
const MOST_BYTES: usize = 2_147_483_631;

/// Command line de/compression with Blosc, as bloscpack has it.
#[derive(Debug, Parser)]
#[command(name = "blpk", bin_name = "blpk", version, max_term_width = 100)]
#[command(after_help = EXAMPLES)]
#[command(disable_help_subcommand = true)]
pub(super) struct Blpk {
    /// Be verbose about actions
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// Print debugging output, too
    #[arg(short, long, conflicts_with = "verbose")]
    pub(super) debug: bool,
    /// Overwrite existing files
    #[arg(short, long)]
    pub(super) force: bool,
    /// Threads, 1 to 256; those of the machine if not given
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    nthreads: Option<i64>,
    /// Decode every new chunk, and compare it, before it is written
    #[arg(long)]
    verify_write: bool,
    /// The most memory to take, about; not an option of bloscpack
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    limit_mem: Option<u64>,
    /// The most bytes to decompress to; not an option of bloscpack
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    limit_output: Option<u64>,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Compress a file
    #[command(visible_alias = "c")]
    Compress(CompressArgs),
    /// Decompress a file
    #[command(visible_alias = "d")]
    Decompress(DecompressArgs),
    /// Append data to a compressed file
    #[command(visible_alias = "a")]
    Append {
        /// File to append to
        #[arg(value_name = "original_file")]
        original: PathBuf,
        /// File to append from
        #[arg(value_name = "new_file")]
        new: PathBuf,
        #[command(flatten)]
        check: CheckArgs,
        #[command(flatten)]
        blosc: BloscArgs,
        /// File with metadata in JSON, which takes the place of what is there
        #[arg(short, long, value_name = "FILE")]
        metadata: Option<PathBuf>,
    },
    /// Print information about a compressed file
    #[command(visible_alias = "i")]
    Info {
        /// The file
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(super) struct CompressArgs {
    /// File to be compressed
    #[arg(value_name = "in_file")]
    pub(super) input: PathBuf,
    /// File to compress to; in_file.blp if not given
    #[arg(value_name = "out_file")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) blosc: BloscArgs,
    /// Bytes of a chunk, like 512K, or max
    #[arg(short = 'z', long, value_name = "SIZE", default_value = "1M")]
    pub(super) chunk_size: String,
    /// None, adler32, crc32, md5, sha1, sha224, sha256, sha384 or sha512
    #[arg(short = 'k', long, value_name = "NAME", default_value = "adler32")]
    pub(super) checksum: Checksum,
    /// Do not list the positions of chunks
    #[arg(short = 'o', long)]
    pub(super) no_offsets: bool,
    /// File with metadata in JSON
    #[arg(short, long, value_name = "FILE")]
    pub(super) metadata: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct DecompressArgs {
    /// File to be decompressed
    #[arg(value_name = "in_file")]
    pub(super) input: PathBuf,
    /// File to decompress to; in_file without .blp if not given
    #[arg(value_name = "out_file")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) check: CheckArgs,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Take files whose names do not end with .blp
    #[arg(short = 'e', long = "no-check-extension")]
    pub(super) off: bool,
}

/// How Blosc compresses.
#[derive(Debug, Args)]
pub(super) struct BloscArgs {
    /// Bytes of an item
    #[arg(short, long, value_name = "SIZE", default_value_t = 8)]
    pub(super) typesize: usize,
    /// Compression level, 0 to 9
    #[arg(short = 'l', long = "clevel", value_name = "N", default_value_t = 7)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=9))]
    pub(super) level: u8,
    /// Deactivate shuffle
    #[arg(short = 's', long)]
    pub(super) no_shuffle: bool,
    /// blosclz, lz4, lz4hc, zlib or zstd
    #[arg(short, long, value_name = "NAME", default_value = "blosclz")]
    pub(super) codec: Codec,
}

impl Blpk {
    /// The context of the commands, which say what they have to say themselves.
    pub(super) fn context(&self, outer: Option<&Context>) -> Outcome<Context> {
        if self.nthreads.is_some_and(|count| !(1..=MOST_THREADS).contains(&count)) {
            return Err(refuse(format!("-n must be 1 <= n <= {MOST_THREADS}")));
        }
        let given = self.nthreads.and_then(|count| usize::try_from(count).ok());
        let of_outer = outer.map_or(0, |outer| outer.executor().thread_count());
        let [limit_mem, limit_output] = outer.map(Context::given_limits).unwrap_or_default();
        Ok(Context::new(Global {
            json: false,
            quiet: 1,
            verbose: 0,
            threads: given.unwrap_or(of_outer),
            limit_output: self.limit_output.or(limit_output),
            wait: 10,
            lock: false,
            verify_write: self.verify_write || outer.is_some_and(Context::verifies_writes),
            limit_mem: self.limit_mem.or(limit_mem),
            progress: When::Never,
            color: When::Never,
        }))
    }
}

/// A number of bytes, with a letter behind it or `max`.
pub(super) fn chunk_size(text: &str) -> Outcome<usize> {
    if text == "max" {
        return Ok(MOST_BYTES);
    }
    let shifts = [('B', 0), ('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    let unit = shifts.iter().find_map(|(letter, shift)| Some((text.strip_suffix(*letter)?, shift)));
    let bytes = match unit {
        // Fractions of units are fine, as in 1.5M.
        Some((number, shift)) => {
            number.parse::<f64>().ok().map(|number| number * (1_u64 << shift) as f64)
        }
        None => text.parse::<u32>().ok().map(f64::from),
    };
    let fits = |bytes: &f64| (1.0..=MOST_BYTES as f64).contains(bytes);
    let words =
        || refuse(format!("-z must be 1 to {MOST_BYTES} bytes like 4096, 512K, 1.5M or max"));
    let whole = bytes.filter(fits).map(|bytes| format!("{:.0}", bytes.floor()));
    whole.and_then(|digits| digits.parse().ok()).ok_or_else(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        use clap::CommandFactory;
        Blpk::command().debug_assert();
    }

    #[test]
    fn chunk_sizes_are_bloscpacks() {
        let size = |text| chunk_size(text).ok();
        assert_eq!(size("1M"), Some(1 << 20));
        assert_eq!(size("1.5K"), Some(1536));
        assert_eq!(size("100"), Some(100));
        assert_eq!(size("7B"), Some(7));
        assert_eq!(size("max"), Some(2_147_483_631));
        for bad in ["0", "-1", "5Q", "", "K", "3G", "nanK"] {
            assert_eq!(size(bad), None, "{bad}");
        }
    }
}
