//! `caps`: what this build can do.

use clap::Args;
use superchunk::{Codec, Filter, Limits, Value};

use crate::context::Context;
use crate::failure::Outcome;
use crate::names::human;
use crate::output::{self, Document, Table, object, texts};

/// Format, read, write, change in place.
const FORMATS: [(&str, &str, bool, bool, bool); 13] = [
    ("b2frame", "contiguous frame: one file", true, true, true),
    ("sframe", "sparse frame: a folder", true, true, true),
    ("b2nd", "N-d array in a frame", true, true, true),
    ("objects", "texts, bytes or values of any length, in a frame or a .blp", true, true, true),
    ("blp", "Bloscpack file; versions 1 and 2 are read", true, true, true),
    ("chunk", "one Blosc1 or Blosc2 chunk", true, true, false),
    ("bcolz", "bcolz array or table: a folder; Python objects are only read", true, true, true),
    ("blsk", "array or table of the carray proposal: a folder", true, true, true),
    ("columns", "a table as a folder with an array for each column", true, true, true),
    ("npy", "NumPy array", true, true, false),
    ("raw", "plain bytes", true, true, false),
    ("csv", "rows of text with headings", true, true, false),
    ("jsonl", "an object of JSON on each line; written by `cat --format jsonl`", true, true, false),
];

const EXAMPLES: &str = "\
Example:
  superchunk caps --json | jq .cpu";

/// The options of `caps`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CapsArgs {}

pub(crate) fn run(context: &Context) -> Outcome {
    let codecs = Codec::PLAIN.map(|codec| codec.to_string());
    let filters = Filter::SPELLINGS.map(str::to_owned);
    let threads = context.executor().thread_count();
    let limits = context.limits();
    if context.json() {
        return Document::new("caps")
            .with("version", env!("CARGO_PKG_VERSION"))
            .with("formats", FORMATS.iter().map(format_entry).collect::<Vec<Value>>())
            .with("codecs", texts(codecs))
            .with("codecs_read_only", texts(["snappy".to_owned()]))
            .with("filters", texts(filters))
            .with("cpu", texts(cpu_features()))
            .with("threads", threads as u64)
            .with("max_decoded", limits.max_decoded as u64)
            .with("max_metadata", limits.max_metadata as u64)
            .print();
    }
    let mut table = Table::new(["format", "read", "write", "edit", "what"]);
    for (name, what, read, write, edit) in FORMATS {
        let mark = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        table.row([name.to_owned(), mark(read), mark(write), mark(edit), what.to_owned()]);
    }
    let Limits { max_decoded, max_metadata, .. } = limits;
    output::print(&format!(
        "superchunk {}\n\n{}\ncodecs    {}; snappy is only read\nfilters   {}\ncpu       {}\n\
         threads   {threads}\nlimits    {} for a chunk, {} for metadata\n",
        env!("CARGO_PKG_VERSION"),
        table.render(),
        codecs.join(", "),
        filters.join(", "),
        cpu_features().join(", "),
        human(max_decoded as u64),
        human(max_metadata as u64),
    ))
}

fn format_entry((name, what, read, write, edit): &(&str, &str, bool, bool, bool)) -> Value {
    object([
        ("format", (*name).into()),
        ("what", (*what).into()),
        ("read", (*read).into()),
        ("write", (*write).into()),
        ("edit", (*edit).into()),
    ])
}

/// What the processor has of what the library uses.
fn cpu_features() -> Vec<String> {
    let mut found = vec![std::env::consts::ARCH.to_owned()];
    #[cfg(target_arch = "x86_64")]
    {
        let known = [
            ("sse2", is_x86_feature_detected!("sse2")),
            ("ssse3", is_x86_feature_detected!("ssse3")),
            ("avx2", is_x86_feature_detected!("avx2")),
            ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ];
        found.extend(known.iter().filter(|(_, has)| *has).map(|(name, _)| (*name).to_owned()));
    }
    #[cfg(target_arch = "aarch64")]
    found.push("neon".to_owned());
    found
}
