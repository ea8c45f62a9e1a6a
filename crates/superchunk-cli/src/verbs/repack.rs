//! `repack`: the same data in less space, or compressed in another way.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use superchunk::detect::Format;
use superchunk::frame::Kind;

use crate::context::Context;
use crate::encoding::EncodingArgs;
use crate::failure::{Failure, Outcome};
use crate::input::{Content, Input};
use crate::interrupt;
use crate::location::Location;
use crate::names::human;
use crate::opened::Found;
use crate::output::{Document, path_value};
use crate::readers;
use crate::replace::replace;
use crate::sizes::size_of_path;
use crate::tables::Rows;
use crate::target::{Named, Target};
use crate::write::{
    self,
    pack::{PackFileArgs, percent},
};

const EXAMPLES: &str = "\
Examples:
  superchunk repack big.b2frame               drop dead space
  superchunk repack big.b2frame -c zstd -9    compress anew
  superchunk repack big.b2frame -o small.b2frame --dict
  superchunk repack quotes.bcolz -c zstd      all columns of a table
  superchunk repack quotes.bcolz::close -9    one, if each has its own";

/// The options of `repack`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RepackArgs {
    /// The frame, Bloscpack file or table; PATH::COLUMN for one column
    frame: PathBuf,
    /// Where to; it takes the place of its input if not given
    #[arg(short, long, value_name = "OUT")]
    output: Option<OsString>,
    /// Overwrite OUT
    #[arg(short, long)]
    force: bool,
    /// Bytes to leave free after each object of a .blp, in per cent
    #[arg(long, value_name = "PERCENT", value_parser = percent())]
    reserve: Option<u32>,
    // Without these the parser would suggest --chunk-size and --block-size.
    #[arg(long, hide = true, value_name = "LIST")]
    chunks: Option<String>,
    #[arg(long, hide = true, value_name = "LIST")]
    blocks: Option<String>,
    #[command(flatten)]
    encoding: EncodingArgs,
}

impl RepackArgs {
    /// What the name of the output says.
    fn named(&self) -> Named {
        self.output.as_deref().map_or(Named::Nothing, Named::of)
    }

    /// Refuses room after objects, because the input is not a Bloscpack file.
    fn refuse_reserve(&self) -> Outcome {
        if self.reserve.is_none() {
            return Ok(());
        }
        let name = self.frame.display();
        let words = format!("--reserve is for Bloscpack files of objects, and `{name}` is none");
        Err(Failure::usage(words).with_help("leave it out"))
    }

    /// Refuses an output whose name says that it is something else than what is `made`.
    fn check_name(&self, made: &[Named]) -> Outcome {
        let help = "`repack` keeps the format, `superchunk convert` makes another one";
        Named::check(self.output.as_deref().unwrap_or_default(), made, help)
    }
}

pub(crate) fn run(args: &RepackArgs, context: &Context) -> Outcome {
    let location = Location::parse(args.frame.as_os_str());
    if args.chunks.is_some() || args.blocks.is_some() {
        return Err(Failure::usage("`repack` keeps the shapes of chunks and blocks")
            .with_help("`superchunk convert IN OUT` takes --chunks and --blocks"));
    }
    let found = match &location.path {
        Some(path) if path.is_dir() => Found::at(&location)?,
        _ => Found::at_path(&args.frame)?,
    };
    if found.location.slice.is_some() {
        return Err(Failure::usage("repack takes all rows")
            .with_help("`unpack PATH@10:20 -o OUT.csv` writes some"));
    }
    run_on(&found.path, args, context, |target| match found.is_table() {
        true => table(args, &found, target, context),
        false => file(args, &found, target, context),
    })
}

/// Repacks what is at `path`, and says how much smaller it has become.
fn run_on(
    path: &Path,
    args: &RepackArgs,
    context: &Context,
    repack: impl FnOnce(&Path) -> Outcome,
) -> Outcome {
    let before = size_of_path(path);
    let target = args.output.as_ref().map_or(path, Path::new);
    Target::Path(target.to_owned()).require_readers(&args.encoding.compat, context)?;
    repack(target)?;
    let after = size_of_path(target);
    if context.json() {
        return Document::new("repack")
            .with("path", path_value(path))
            .with("output", path_value(target))
            .with("before", before)
            .with("after", after)
            .print();
    }
    context.tell(&format!("{}: {} -> {}", target.display(), human(before), human(after)));
    Ok(())
}

/// Writes a table anew, all columns or the one that is named with other parameters.
fn table(args: &RepackArgs, found: &Found, target: &Path, context: &Context) -> Outcome {
    // Nobody may write to what is about to be replaced.
    context.claim(target)?;
    let rows = Rows::of(found, context)?;
    rows.check_encoding(&args.encoding)?;
    args.refuse_reserve()?;
    if args.output.is_some() {
        rows.check_name(target)?;
    }
    if found.location.inner.is_some() && rows.encodes_alike() {
        let words = format!("the columns of a {} are compressed alike", rows.kind());
        return Err(Failure::usage(words).with_help("leave out ::COLUMN: all of them change"));
    }
    let is_meant = |name: &str| rows.columns().iter().any(|column| column.name == name);
    let encoding = |name: &str| match is_meant(name) {
        true => args.encoding.clone(),
        false => EncodingArgs::default(),
    };
    replace(target, args.output.is_none() || args.force, context, |temporary| {
        rows.rewrite(temporary, &encoding, context)
    })
}

fn file(args: &RepackArgs, found: &Found, target: &Path, context: &Context) -> Outcome {
    let in_place = args.output.is_none();
    let compacts = in_place
        && !args.encoding.changes_chunks()
        && !args.encoding.no_checksums
        && !args.encoding.sparse;
    let is_pack = found.format() == Format::Bloscpack;
    if !is_pack {
        args.refuse_reserve()?;
    }
    if !is_pack && compacts {
        readers::check_path(&args.frame, &args.encoding.compat, &context.open_options())?;
        let mut frame = found.edit_frame(context)?;
        interrupt::hold();
        frame.compact()?;
        return Ok(frame.close()?);
    }
    // Nobody may write to what is about to be replaced.
    context.claim(target)?;
    let input = Input::of(Found::at_path(&args.frame)?, context)?;
    match is_pack {
        true => pack_file(args, &input, target, in_place || args.force, context),
        false => copy(args, &input, target, in_place || args.force, context),
    }
}

/// Writes a Bloscpack file anew, in version 3 or, with objects, 4.
fn pack_file(
    args: &RepackArgs,
    input: &Input,
    target: &Path,
    force: bool,
    context: &Context,
) -> Outcome {
    input.check_expansion(context)?;
    args.check_name(&[Named::Blp])?;
    let target = (&Target::Path(target.to_owned()), force);
    let pack_file = PackFileArgs { reserve: args.reserve, ..PackFileArgs::default() };
    write::to_pack(input, &args.encoding, &pack_file, target, context)
}

fn copy(
    args: &RepackArgs,
    input: &Input,
    target: &Path,
    force: bool,
    context: &Context,
) -> Outcome {
    input.need_frame()?;
    args.check_name(match &input.content {
        Content::Array(_) => &[Named::Frame, Named::Sparse, Named::B2nd],
        _ => &[Named::Frame, Named::Sparse],
    })?;
    let in_place = args.output.is_none();
    if in_place && args.encoding.sparse && !args.frame.is_dir() {
        return Err(Failure::usage("a file does not become a folder in its place")
            .with_help("say where to with -o FOLDER"));
    }
    if args.encoding.changes_chunks() {
        input.check_expansion(context)?;
    }
    let stays_sparse = in_place && args.frame.is_dir();
    let sparse = args.encoding.sparse || stays_sparse || args.named() == Named::Sparse;
    let kind = if sparse { Kind::Sparse } else { Kind::Contiguous };
    if let Content::Objects(list) = &input.content
        && args.encoding.changes_chunks()
    {
        input.check_expansion(context)?;
        let encoding = &EncodingArgs { sparse, ..args.encoding.clone() };
        let attributes = &input.free_attributes()?;
        let request =
            write::object::Request { encoding, pack_file: None, packing: None, attributes, force };
        return write::object::convert(list, &request, &Target::Path(target.to_owned()), context);
    }
    replace(target, force, context, |temporary| {
        let request = write::array::Request::of(&args.encoding, force);
        write::array::copy(input, temporary, &request, kind, context)
    })
}
