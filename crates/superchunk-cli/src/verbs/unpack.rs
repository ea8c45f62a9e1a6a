//! `unpack`: the data itself, all of it or a slice.

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Write};
use std::path::Path;

use clap::Args;
use superchunk::npy;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::{Content, Input};
use crate::location::{Location, LocationArg};
use crate::names::{human, is_packed_name};
use crate::objects::{self, Framing, RecordArgs};
use crate::opened::Found;
use crate::output::Document;
use crate::tables::{self, Rows, Unpacked};
use crate::target::{Named, Target};
use crate::values::{Escape, parse_dtype};

const EXAMPLES: &str = "\
Examples:
  superchunk unpack readings.f8.b2frame              readings.f8
  superchunk unpack big.b2frame@1000:2000 -o some.f8
  superchunk unpack cube.b2nd --raw -o - | wc -c     bytes in C order
  superchunk unpack quotes.bcolz -o quotes.csv       rows of a table
  superchunk unpack quotes.bcolz -o quotes           a folder with a .npy file for each column
  superchunk unpack quotes.bcolz::close -o close.npy";

/// The options of `unpack`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UnpackArgs {
    #[command(flatten)]
    from: LocationArg,
    /// Where to; - is stdout
    #[arg(short, long, value_name = "OUT")]
    output: Option<OsString>,
    /// Write the bytes alone, in C order (arrays become .npy files otherwise)
    #[arg(long)]
    raw: bool,
    /// Write a NumPy file, of a table one for each column, as .npy in OUT does
    #[arg(long, conflicts_with = "raw")]
    npy: bool,
    /// Type of an item as NumPy spells it, for --npy
    #[arg(long, value_name = "TYPE")]
    dtype: Option<String>,
    /// In CSV, write bytes that are no text as \xff, and a backslash as two
    #[arg(long)]
    escape: bool,
    /// Overwrite
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    records: RecordArgs,
}

pub(crate) fn run(args: &UnpackArgs, context: &Context) -> Outcome {
    let location = args.from.location();
    let found = Found::at(&location)?;
    if found.is_table() {
        let rows = Rows::of(&found, context)?;
        return unpack_table(args, &rows, location.slice.as_deref(), context);
    }
    if args.escape {
        return Err(Failure::usage("--escape is for tables that become CSV"));
    }
    let input = Input::of(found, context)?;
    input.need_packed()?;
    if !matches!(input.content, Content::Objects(_)) {
        args.records.refuse(&input.name)?;
    }
    check_name(args, &input)?;
    let header = header_of(args, &input)?;
    if args.dtype.is_some() && header.is_none() {
        return Err(Failure::usage("--dtype is for NumPy files, which is not made here")
            .with_help("make one with --npy, or -o OUT.npy"));
    }
    let target = match &args.output {
        Some(output) => Target::parse(output),
        None => default_target(&location, header.is_some())?,
    };
    input.check_expansion(context)?;
    let written = match &input.content {
        Content::Objects(list) => {
            let slice = input.slice.as_deref();
            let (framing, to) = (args.records.framing(), (&target, args.force));
            objects::unpack(list, slice, framing, to, context)?
        }
        _ => unpack(&input, header.as_deref(), &target, args.force, context)?,
    };
    report(&location, &target, written, context)
}

fn report(from: &Location, target: &Target, written: u64, context: &Context) -> Outcome {
    if *target == Target::Stdout {
        return Ok(());
    }
    if context.json() {
        return Document::new("unpack")
            .with("path", from.value())
            .with("output", target.value())
            .with("nbytes", written)
            .print();
    }
    context.tell(&format!("{} -> {}: {}", from.name(), target.name(), human(written)));
    Ok(())
}

/// Writes the rows of a table.
fn unpack_table(args: &UnpackArgs, rows: &Rows, slice: Option<&str>, context: &Context) -> Outcome {
    let Some(output) = &args.output else {
        let words = format!("`{}` is a {}: say with -o what becomes of it", rows.name, rows.kind());
        return Err(Failure::usage(words).with_help(
            "-o OUT.csv writes rows as text, -o FOLDER a .npy file for each column; PATH::COLUMN \
             takes one",
        ));
    };
    if args.dtype.is_some() || args.records.given().is_some() {
        return Err(Failure::usage("the columns of a table have their types")
            .with_help("leave out --dtype, --null, --lengths and --jsonl"));
    }
    let made = made_of(args, rows, output)?;
    let target = Target::parse(output);
    let written = tables::unpack(rows, slice, made, (&target, args.force), context)?;
    report(&args.from.location(), &target, written, context)
}

/// What the options and the name of the output say.
fn made_of(args: &UnpackArgs, rows: &Rows, output: &OsStr) -> Outcome<Unpacked> {
    let csv = Unpacked::Csv(Escape::of(args.escape));
    let extension = Path::new(output).extension().and_then(OsStr::to_str);
    let is_stream = !matches!(Target::parse(output), Target::Path(_));
    let made = match extension {
        _ if args.raw && rows.is_array() => Unpacked::Raw,
        _ if args.raw => {
            return Err(Failure::usage("--raw takes one column: those of a table have many types")
                .with_help("name it as PATH::COLUMN"));
        }
        Some("csv") if args.npy => {
            return Err(
                Failure::usage("--npy makes no CSV").with_help("leave it out, or say -o FOLDER")
            );
        }
        Some("csv") => csv,
        Some("npy") => Unpacked::Npy,
        _ if rows.is_array() && (args.npy || is_stream || extension.is_none()) => Unpacked::Npy,
        _ if args.npy => Unpacked::Folder,
        _ if is_stream => csv,
        None => Unpacked::Folder,
        Some(_) => {
            let words = format!("a table does not become what `{}` is called", output.display());
            return Err(Failure::usage(words).with_help(
                "say -o OUT.csv, -o OUT.npy or -o FOLDER; `convert` makes other tables",
            ));
        }
    };
    match made {
        Unpacked::Csv(_) => Ok(made),
        _ if args.escape => Err(Failure::usage("--escape is for CSV, which is not made here")),
        _ => Ok(made),
    }
}

/// Decompresses stdin to stdout.
pub(crate) fn filter(context: &Context) -> Outcome {
    let stdin = Location::whole(None);
    drop(crate::output::binary()?);
    let input = Input::open(&stdin, context)?;
    input.need_packed()?;
    input.check_expansion(context)?;
    if let Content::Objects(list) = &input.content {
        let to = (&Target::Stdout, false);
        return objects::unpack(list, None, Framing::Lines, to, context).map(drop);
    }
    unpack(&input, None, &Target::Stdout, false, context).map(drop)
}

/// Writes the data behind `header`, and returns its length.
fn unpack(
    input: &Input,
    header: Option<&[u8]>,
    target: &Target,
    force: bool,
    context: &Context,
) -> Outcome<u64> {
    let mut progress = context.progress("unpacking", input.slice.is_none().then(|| input.len()));
    let failed = |error| target.failed(error);
    target.write(force, context, |out: &mut dyn Write| {
        let mut written = 0;
        out.write_all(header.unwrap_or_default()).map_err(failed)?;
        input.pieces(&mut |bytes| {
            out.write_all(bytes).map_err(failed)?;
            written += bytes.len() as u64;
            progress.add(bytes.len());
            Ok(())
        })?;
        Ok(written)
    })
}

/// Refuses an output whose name says that it is something else than the data; `--raw` writes that
/// under any name.
fn check_name(args: &UnpackArgs, input: &Input) -> Outcome {
    let Some(output) = args.output.as_deref().filter(|_| !args.raw) else { return Ok(()) };
    let help = "`superchunk convert` makes other formats; --raw writes the bytes under any name";
    let is_array = matches!(input.content, Content::Array(_));
    match Named::of(output) {
        _ if is_array || args.npy => Named::check(output, &[Named::Npy], help),
        // The bytes may be of any other format that has such a name.
        Named::Npy | Named::Raw | Named::Csv | Named::Other => Ok(()),
        _ => Named::check(output, &[Named::Raw, Named::Npy], help),
    }
}

/// The header of a NumPy file, if one is wanted.
fn header_of(args: &UnpackArgs, input: &Input) -> Outcome<Option<Vec<u8>>> {
    let is_named = args.output.as_deref().map(Named::of) == Some(Named::Npy);
    let wants_npy = args.npy || is_named;
    if (wants_npy || args.raw) && matches!(input.content, Content::Objects(_)) {
        return Err(Failure::usage("objects of any length are no array, and no bytes in a row")
            .with_help("leave it out, or say --null, --lengths or --jsonl"));
    }
    let is_array = matches!(input.content, Content::Array(_));
    if args.raw || !(wants_npy || is_array) {
        return Ok(None);
    }
    let known = args.dtype.clone().or_else(|| input.dtype()).ok_or_else(|| {
        Failure::usage("a NumPy file needs the type of its items")
            .with_help("say it with --dtype, like --dtype '<f4'")
    })?;
    let dtype = parse_dtype(&known)?;
    let count = input.item_count(&dtype)?;
    let shape = match &input.content {
        Content::Array(array) if dtype.item_size() == array.item_size() => {
            array.shape_of(input.slice.as_deref())?
        }
        _ => vec![count],
    };
    Ok(Some(npy::write_header(&dtype, &shape)))
}

fn default_target(location: &Location, as_npy: bool) -> Outcome<Target> {
    let Some(path) = &location.path else {
        return match std::io::stdout().is_terminal() {
            true => Err(Failure::usage("where to?").with_help("say it with -o FILE")),
            false => Ok(Target::Stdout),
        };
    };
    if !is_packed_name(path) || location.slice.is_some() {
        let words = format!("no name for the data of `{}` suggests itself", location.name());
        return Err(
            Failure::usage(words).with_help("say where to with -o FILE, or -o - for stdout")
        );
    }
    Ok(Target::Path(path.with_extension(if as_npy { "npy" } else { "" })))
}
