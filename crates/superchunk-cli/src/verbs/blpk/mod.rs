//! The program `blpk`, as scripts know it: bloscpack's commands and options, its lines on stdout and its
//! exit codes. Invoked by that name, or as `superchunk blpk`.
//!
//! Everything is said on stdout, each line behind `blpk: `. The exit code is 0, 1 after an error, 2 for a
//! command line that makes no sense, and 8 for a change that may not survive a power cut.

mod args;
mod info;
mod words;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, Parser};
use superchunk::bloscpack::{Pack, PackOptions};
use superchunk::{CompressOptions, Json};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::opened;
use crate::output;
use crate::source::Source;
use crate::target::Target;
use crate::write;
use args::{BloscArgs, Blpk, Command, CompressArgs, DecompressArgs};
use words::{double_pretty, pretty, python};

/// What is added to the names of files.
const EXTENSION: &str = "blp";
/// How much is read at once.
const PIECE: usize = 1 << 20;

/// Runs a command line, whose first word is the name of the program. What is wrong has been said. The options of
/// `superchunk` itself count where `blpk`'s own are not given.
pub(crate) fn run(
    arguments: impl IntoIterator<Item = OsString>,
    outer: Option<&Context>,
) -> Outcome {
    let blpk = match Blpk::try_parse_from(arguments) {
        Ok(blpk) => blpk,
        Err(error) => {
            // A help text that nobody reads to its end is no failure.
            let _ = error.print();
            let exit = if error.exit_code() == 0 { Failure::Enough } else { quiet(Exit::Usage) };
            return Err(exit);
        }
    };
    let Some(command) = &blpk.command else {
        output::print(&format!("{}\n", Blpk::command().render_usage()))?;
        say("error: too few arguments")?;
        return Err(quiet(Exit::Usage));
    };
    let done = blpk.context(outer).and_then(|context| {
        let shop = Shop { blpk: &blpk, context: &context };
        shop.run(command)
    });
    match done {
        Err(failure) if failure.exit().is_some() => {
            for line in failure.words().unwrap_or_default().lines().chain(failure.help()) {
                say(&format!("error: {line}"))?;
            }
            let exit = failure.exit().filter(|exit| *exit == Exit::DurabilityUnknown);
            Err(quiet(exit.unwrap_or(Exit::Failure)))
        }
        done => done,
    }
}

fn quiet(exit: Exit) -> Failure {
    Failure::Quiet(exit)
}

/// Prints a line.
fn say(text: &str) -> Outcome {
    let lines = text.lines().map(|line| format!("blpk: {line}\n"));
    output::print(&lines.collect::<String>())
}

/// An error in so many words.
fn refuse(words: impl Into<String>) -> Failure {
    Failure::said(Exit::Failure, words)
}

/// What the commands share.
struct Shop<'a> {
    blpk: &'a Blpk,
    context: &'a Context,
}

impl Shop<'_> {
    fn run(&self, command: &Command) -> Outcome {
        let threads = self.context.executor().thread_count();
        self.tell(format!("using {threads} thread{}", if threads > 1 { "s" } else { "" }))?;
        match command {
            Command::Compress(args) => self.compress(args)?,
            Command::Decompress(args) => self.decompress(args)?,
            Command::Append { original, new, check, blosc, metadata } => {
                self.append((original, new), check.off, blosc, metadata.as_deref())?;
            }
            Command::Info { file } => info::show(file, self.context)?,
        }
        self.tell("done")
    }

    /// Says something to those who want to know more.
    fn tell(&self, text: impl AsRef<str>) -> Outcome {
        if self.blpk.verbose || self.blpk.debug { say(text.as_ref()) } else { Ok(()) }
    }

    /// Both files are as they have to be.
    fn check_files(&self, input: &Path, output: &Path) -> Outcome {
        if !input.exists() {
            return Err(refuse(format!("input file '{}' does not exist!", input.display())));
        }
        if output.exists() {
            if !self.blpk.force {
                return Err(refuse(format!("output file '{}' exists!", output.display())));
            }
            self.tell(format!("overwriting existing file: '{}'", output.display()))?;
        }
        self.tell(format!("input file is: '{}'", input.display()))?;
        self.tell(format!("output file is: '{}'", output.display()))
    }

    fn compress(&self, args: &CompressArgs) -> Outcome {
        self.tell("getting ready for compression")?;
        let output = args.output.clone().unwrap_or_else(|| {
            let mut name = args.input.clone().into_os_string();
            name.push(".");
            name.push(EXTENSION);
            PathBuf::from(name)
        });
        self.check_files(&args.input, &output)?;
        let chunk_size = args::chunk_size(&args.chunk_size)?;
        let mut source = Source::open(Some(&args.input))?;
        let mut options = PackOptions::new()
            .with_compress(self.compression(&args.blosc)?)
            .with_chunk_size(chunk_size)
            .with_checksum(args.checksum)
            .with_offsets(!args.no_offsets);
        options.expected_len = source.total;
        options.metadata = self.metadata(args.metadata.as_deref())?;
        let total = source.total.unwrap_or(0);
        self.tell(format!("input file size: {}", double_pretty(total)))?;
        let mut progress = self.context.progress("packing", source.total);
        let target = Target::parse(output.as_os_str());
        let (_, stored) =
            write::pack::write(&target, self.blpk.force, &options, self.context, &mut |sink| {
                source.pieces(PIECE, &mut progress, &mut *sink)
            })?;
        self.tell(format!("output file size: {}", double_pretty(stored)))?;
        self.tell(format!("compression ratio: {:.6}", output::ratio(total, stored)))
    }

    fn decompress(&self, args: &DecompressArgs) -> Outcome {
        self.tell("getting ready for decompression")?;
        let output = match (&args.output, args.check.off) {
            (Some(output), true) => output.clone(),
            (None, true) => {
                return Err(refuse("--no-check-extension requires use of <out_file>"));
            }
            (given, false) => {
                let plain = without_extension(&args.input, "input")?;
                given.clone().unwrap_or(plain)
            }
        };
        self.check_files(&args.input, &output)?;
        let pack = Pack::open_with(&args.input, &self.context.open_options())?;
        let stored = fs::metadata(&args.input).map_or(0, |found| found.len());
        self.tell(format!("input file size: {}", pretty(stored)))?;
        let target = Target::parse(output.as_os_str());
        let data = pack.superchunk()?;
        self.context.check_output(&args.input.display().to_string(), data.byte_len(), stored)?;
        target.write(self.blpk.force, self.context, |out| {
            for chunk in data.chunks() {
                out.write_all(&chunk?).map_err(|error| target.failed(error))?;
            }
            Ok(())
        })?;
        self.tell(format!("output file size: {}", pretty(data.byte_len())))?;
        self.tell(format!("decompression ratio: {:.6}", output::ratio(data.byte_len(), stored)))?;
        show_metadata(&pack)
    }

    fn append(
        &self,
        (original, new): (&Path, &Path),
        any_name: bool,
        blosc: &BloscArgs,
        metadata_file: Option<&Path>,
    ) -> Outcome {
        self.tell("getting ready for append")?;
        if !any_name {
            without_extension(original, "original")?;
        }
        for (file, what) in [(original, "original"), (new, "new")] {
            if !file.exists() {
                return Err(refuse(format!("{what} file '{}' does not exist!", file.display())));
            }
        }
        self.tell(format!("original file is: '{}'", original.display()))?;
        self.tell(format!("new file is: '{}'", new.display()))?;
        let metadata = self.metadata(metadata_file)?;
        let size = || fs::metadata(original).map_or(0, |found| found.len());
        let before = size();
        self.tell(format!("orig file size before append: {}", double_pretty(before)))?;
        let options = self.context.open_options().with_compress(self.compression(blosc)?);
        let mut pack = opened::edit_pack(original, &options)?;
        let mut source = Source::open(Some(new))?;
        self.tell(format!("new file size: {}", double_pretty(source.total.unwrap_or(0))))?;
        let mut progress = self.context.progress("appending", source.total);
        source
            .pieces(PIECE, &mut progress, |bytes| Ok(pack.append(bytes)?))
            .and_then(|()| match metadata {
                Some(json) => Ok(pack.set_metadata(Some(json))?),
                None => Ok(()),
            })
            .and_then(|()| interrupt::finally(|| pack.close()))?;
        self.tell(format!("orig file size after append: {}", double_pretty(size())))
    }

    fn metadata(&self, file: Option<&Path>) -> Outcome<Option<Json>> {
        let Some(file) = file else { return Ok(None) };
        let failed = |error| Failure::io("read it", file, error);
        let len = fs::metadata(file).map_err(failed)?.len();
        self.context.memory().check_text(&file.display().to_string(), len)?;
        let text = fs::read_to_string(file).map_err(failed)?;
        Ok(Some(Json::parse(text.trim())?))
    }

    fn compression(&self, args: &BloscArgs) -> Outcome<CompressOptions> {
        let most = usize::from(u8::MAX);
        if !(1..=most).contains(&args.typesize) {
            return Err(refuse(format!("typesize must be 1 <= n <= {most}")));
        }
        let options =
            CompressOptions::new(args.typesize).with_codec(args.codec).with_level(args.level);
        let options = self.context.equip(options);
        Ok(if args.no_shuffle { options.with_filters([]) } else { options })
    }
}

/// The name of a file without `.blp`, which it must have.
fn without_extension(path: &Path, what: &str) -> Outcome<PathBuf> {
    if path.extension().is_some_and(|suffix| suffix == EXTENSION) {
        return Ok(path.with_extension(""));
    }
    Err(refuse(format!("{what} file '{}' does not end with '.{EXTENSION}'", path.display())))
}

fn show_metadata(pack: &Pack) -> Outcome {
    let Some(json) = pack.metadata() else { return Ok(()) };
    say("Metadata:")?;
    say(&python(json))
}
