//! `repack`: the same data in less space, or compressed in another way.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use superchunk::detect::{self, Format};
use superchunk::frame::Kind;

use super::convert::to_pack;
use super::pack::size_of_path;
use crate::arrays;
use crate::context::Context;
use crate::encoding::EncodingArgs;
use crate::failure::{Failure, Outcome};
use crate::input::{Content, Input};
use crate::interrupt;
use crate::location::Location;
use crate::names::human;
use crate::objects;
use crate::output::Document;
use crate::packs::PackFileArgs;
use crate::replace::replace;
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  superchunk repack big.b2frame               drop dead space
  superchunk repack big.b2frame -c zstd -9    compress anew
  superchunk repack big.b2frame -o small.b2frame --dict";

/// The options of `repack`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RepackArgs {
    /// The frame
    frame: PathBuf,
    /// Where to; the frame itself is replaced if not given
    #[arg(short, long, value_name = "OUT")]
    output: Option<OsString>,
    /// Overwrite OUT
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    encoding: EncodingArgs,
}

pub(crate) fn run(args: &RepackArgs, context: &Context) -> Outcome {
    let before = size_of_path(&args.frame);
    let target = args.output.as_ref().map_or(args.frame.as_path(), Path::new);
    let in_place = args.output.is_none();
    let compacts = in_place
        && !args.encoding.changes_chunks()
        && !args.encoding.no_checksums
        && !args.encoding.sparse;
    let is_pack = detect::path(&args.frame)?.format == Format::Bloscpack;
    if is_pack || !compacts {
        // Nobody may write to what is about to be replaced.
        context.claim(target)?;
    }
    if is_pack {
        pack_file(args, target, in_place || args.force, context)?;
    } else if compacts {
        let mut frame = context.edit(&args.frame)?;
        interrupt::hold();
        frame.compact()?;
        frame.close()?;
    } else {
        copy(args, target, in_place || args.force, context)?;
    }
    let after = size_of_path(target);
    if context.json() {
        return Document::new("repack")
            .with("path", args.frame.display().to_string())
            .with("output", target.display().to_string())
            .with("before", before)
            .with("after", after)
            .print();
    }
    context.tell(&format!("{}: {} -> {}", target.display(), human(before), human(after)));
    Ok(())
}

/// Writes a Bloscpack file anew, in version 3 or, with objects, 4.
fn pack_file(args: &RepackArgs, target: &Path, force: bool, context: &Context) -> Outcome {
    let input = Input::open(&Location::whole(Some(args.frame.clone())), context)?;
    let target = (&Target::Path(target.to_owned()), force);
    to_pack(&input, &args.encoding, &PackFileArgs::default(), target, context)
}

fn copy(args: &RepackArgs, target: &Path, force: bool, context: &Context) -> Outcome {
    let location = Location::whole(Some(args.frame.clone()));
    let input = Input::open(&location, context)?;
    input.need_frame()?;
    let in_place = args.output.is_none();
    if in_place && args.encoding.sparse && !args.frame.is_dir() {
        return Err(Failure::usage("a file does not become a folder in its place")
            .with_help("say where to with -o FOLDER"));
    }
    if args.encoding.changes_chunks() {
        input.check_expansion(context)?;
    }
    let stays_sparse = in_place && args.frame.is_dir();
    let sparse = args.encoding.sparse || stays_sparse;
    let kind = if sparse { Kind::Sparse } else { Kind::Contiguous };
    if let Content::Objects(list) = &input.content
        && args.encoding.changes_chunks()
    {
        let encoding = &EncodingArgs { sparse, ..args.encoding.clone() };
        let attributes = &objects::free_attributes(&input)?;
        let request =
            objects::Request { encoding, pack_file: None, packing: None, attributes, force };
        return objects::convert(list, &request, &Target::Path(target.to_owned()), context);
    }
    replace(target, force, context, |temporary| {
        let request = arrays::Request::of(&args.encoding, force);
        arrays::copy(&input, temporary, &request, kind, context)
    })
}
