//! Objects from streams and from other files, into frames and Bloscpack files.

use std::ffi::OsString;
use std::path::Path;

use superchunk::bloscpack::{Pack, PackOptions};
use superchunk::frame::Durability;
use superchunk::{Json, ObjectKind, ObjectPacking, Objects, ObjectsOptions, SuperChunk, Value};

use super::pack::PackFileArgs;
use crate::attributes::json_of;
use crate::context::Context;
use crate::encoding::{EncodingArgs, Holder};
use crate::failure::{Failure, Outcome};
use crate::input::{Content, Input, packed};
use crate::interrupt;
use crate::objects::{self, FORMAT, Framing, JSON, ObjectList, kind_of_pack};
use crate::replace::replace;
use crate::scratch::Scratch;
use crate::sizes::size_of_path;
use crate::source::Source;
use crate::span::Span;
use crate::target::Target;

/// The bytes of a small file.
const SMALL: u64 = 8 << 20;

/// How a new list of objects is made.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) encoding: &'a EncodingArgs,
    /// For a Bloscpack file; `None` for a frame.
    pub(crate) pack_file: Option<&'a PackFileArgs>,
    /// How a frame packs them, if it is to be another way than it was or usually is.
    pub(crate) packing: Option<ObjectPacking>,
    pub(crate) attributes: &'a [(String, Value)],
    pub(crate) force: bool,
}

/// What takes objects.
pub(crate) enum Writer {
    /// The object that the next one replaces, as long as there is one.
    Pack(Box<Pack>, ObjectKind, Option<usize>),
    Frame(Box<Objects>),
}

/// How many objects came from files, and what became of them.
pub(crate) struct Counts {
    pub(crate) replaced: u64,
    pub(crate) appended: u64,
    /// All that there are now.
    pub(crate) all: u64,
}

/// Packs the objects of a stream; returns the length of the stream, and what is stored.
pub(crate) fn pack(
    source: &mut Source,
    (framing, are_bytes): (Framing, bool),
    request: &Request<'_>,
    target: &Target,
    context: &Context,
) -> Outcome<(u64, u64)> {
    let kind = match framing {
        Framing::Jsonl => ObjectKind::Values,
        Framing::Lines | Framing::Null if !are_bytes => ObjectKind::Text,
        _ => ObjectKind::Bytes,
    };
    make(target, request, kind, context, &mut |writer| {
        take_stream(writer, source, framing, context)
    })
}

/// Makes a file of other objects.
pub(crate) fn convert(
    list: &ObjectList,
    request: &Request<'_>,
    target: &Target,
    context: &Context,
) -> Outcome {
    let request = &Request { packing: request.packing.or_else(|| list.packing()), ..*request };
    make(target, request, list.kind(), context, &mut |writer| {
        list.each(Span::all(list.count()), &mut |value| writer.put(&value))?;
        Ok(0)
    })?;
    Ok(())
}

/// Appends the objects of files, all of them or none. A Bloscpack file may have some replaced first.
pub(crate) fn append(
    mut writer: Writer,
    inputs: &[OsString],
    framing: Framing,
    context: &Context,
) -> Outcome<Counts> {
    let first = writer.next_replaced();
    let before = writer.count();
    inputs.iter().try_for_each(|input| {
        let packed = packed(input, context)?;
        if let Some(input) = &packed {
            input.check_expansion(context)?;
        }
        if let Some(Input { content: Content::Objects(list), .. }) = packed {
            return list.each(Span::all(list.count()), &mut |value| writer.put(&value));
        }
        let mut source = Source::open((input != "-").then(|| Path::new(input)))?;
        take_stream(&mut writer, &mut source, framing, context).map(drop)
    })?;
    let replaced = writer.next_replaced().zip(first).map_or(0, |(next, first)| next - first);
    let (all, appended) = (writer.count(), writer.count() - before);
    interrupt::hold();
    writer.close()?;
    Ok(Counts { replaced: replaced as u64, appended, all })
}

/// Makes a new file: under another name until it is complete, or in a temporary file if the target is
/// written from front to back.
fn make(
    target: &Target,
    request: &Request<'_>,
    kind: ObjectKind,
    context: &Context,
    fill: &mut dyn FnMut(&mut Writer) -> Outcome<u64>,
) -> Outcome<(u64, u64)> {
    if let Target::Path(path) = target {
        return replace(path, request.force, context, |temporary| {
            let mut writer = Writer::create(temporary, request, kind, false, context)?;
            let nbytes = fill(&mut writer)?;
            writer.finish(temporary, request, context)?;
            Ok((nbytes, size_of_path(temporary)))
        });
    }
    let scratch = Scratch::new()?;
    let mut writer = Writer::create(scratch.path(), request, kind, true, context)?;
    let nbytes = fill(&mut writer)?;
    writer.finish(scratch.path(), request, context)?;
    let stored = size_of_path(scratch.path());
    target.write(request.force, context, |out| {
        let mut source = Source::open(Some(scratch.path()))?;
        let mut quiet = context.progress("writing", Some(stored));
        source.pieces(1 << 20, &mut quiet, |bytes| {
            out.write_all(bytes).map_err(|error| target.failed(error))
        })
    })?;
    Ok((nbytes, stored))
}

fn take_stream(
    writer: &mut Writer,
    source: &mut Source,
    framing: Framing,
    context: &Context,
) -> Outcome<u64> {
    let mut number = 0;
    let most = match framing {
        Framing::Jsonl => context.memory().text(),
        _ => context.limits().max_decoded,
    };
    let mut progress = context.progress("packing", source.total);
    objects::read(source, framing, most, &mut |bytes| {
        match framing {
            Framing::Jsonl => writer.put(&objects::json_value(bytes, number)?)?,
            _ => writer.put_bytes(bytes, number)?,
        }
        progress.add(bytes.len());
        number += 1;
        Ok(())
    })
}

impl Writer {
    /// The objects of a Bloscpack file. If `first` is the number of one, what comes takes the places
    /// of that one and those after it, as long as there are some.
    pub(crate) fn of_pack(pack: Box<Pack>, first: Option<usize>) -> Outcome<Self> {
        let count = pack.object_count();
        if let Some(first) = first.filter(|first| *first as u64 >= count) {
            let words = format!("there is no object {first} to replace: the file has {count}");
            return Err(Failure::usage(words));
        }
        let kind = kind_of_pack(&pack);
        Ok(Self::Pack(pack, kind, first))
    }

    /// The objects of a frame.
    pub(crate) fn of_frame(frame: SuperChunk) -> Outcome<Self> {
        Ok(Self::Frame(Box::new(Objects::from_superchunk(frame)?)))
    }

    fn create(
        path: &Path,
        request: &Request<'_>,
        kind: ObjectKind,
        for_a_moment: bool,
        context: &Context,
    ) -> Outcome<Self> {
        if request.encoding.chunk_size.is_some() {
            let words = "chunks have as many bytes as their objects";
            return Err(Failure::usage(words).with_help("in frames, blocks have a --block-size"));
        }
        let Some(args) = request.pack_file else {
            request.encoding.check(Holder::Frame)?;
            let mut usual = ObjectsOptions::new(kind);
            usual.packing = request.packing.unwrap_or(usual.packing);
            usual.block_len = request.encoding.block_size.unwrap_or(usual.block_len);
            let encoding = EncodingArgs { block_size: None, ..request.encoding.clone() };
            let base = encoding.over(usual.frame.clone(), context)?;
            let frame = if for_a_moment { base.with_durability(Durability::Process) } else { base };
            let options = usual.with_frame(frame);
            return Ok(Self::Frame(Box::new(Objects::create(path, &options)?)));
        };
        let dtype = if kind == ObjectKind::Bytes { "varbinary" } else { "varchar" };
        let mut options = args.options(PackOptions::objects(dtype), request.encoding, context)?;
        let mut json = options.metadata.take().unwrap_or_else(|| Json::Object(Vec::new()));
        if kind == ObjectKind::Values {
            json.set(FORMAT, JSON)?;
        }
        for (name, value) in request.attributes {
            json.set(name.as_str(), json_of(value)?)?;
        }
        let pack = Pack::create(path, &options.with_metadata(json))?;
        Ok(Self::Pack(Box::new(pack), kind, None))
    }

    /// The object that the next one replaces, if objects are replaced.
    fn next_replaced(&self) -> Option<usize> {
        if let Self::Pack(_, _, next) = self { *next } else { None }
    }

    fn count(&self) -> u64 {
        match self {
            Self::Pack(pack, ..) => pack.object_count(),
            Self::Frame(objects) => objects.len(),
        }
    }

    /// Closes a new file, after its attributes.
    fn finish(mut self, path: &Path, request: &Request<'_>, context: &Context) -> Outcome {
        if let Self::Frame(objects) = &mut self {
            objects.commit()?;
            // The room that is left for more counts only in small files.
            if objects.superchunk().stored_len()? < SMALL {
                objects.compact()?;
            }
        }
        let in_frame = matches!(self, Self::Frame(_));
        self.close()?;
        if request.attributes.is_empty() || !in_frame {
            return Ok(());
        }
        let mut frame = SuperChunk::edit_with(path, &context.open_options())?;
        for (name, value) in request.attributes {
            frame.set_attribute(name, value.clone())?;
        }
        Ok(frame.close()?)
    }

    fn close(self) -> Outcome {
        match self {
            Self::Pack(pack, ..) => Ok(pack.close()?),
            Self::Frame(objects) => Ok(objects.close()?),
        }
    }

    /// Appends an object that came as bytes.
    fn put_bytes(&mut self, bytes: &[u8], number: u64) -> Outcome {
        let is_text = || {
            std::str::from_utf8(bytes).map(drop).map_err(|_| {
                Failure::usage(format!("object {number} is no text in UTF-8"))
                    .with_help("bytes of any kind come as --lengths, or with --bytes")
            })
        };
        match self {
            Self::Pack(pack, ObjectKind::Bytes, place) => store(pack, place, bytes),
            Self::Pack(pack, ObjectKind::Text, place) => {
                is_text()?;
                store(pack, place, bytes)
            }
            Self::Pack(..) => {
                is_text()?;
                self.put(&Value::from(String::from_utf8_lossy(bytes).into_owned()))
            }
            Self::Frame(objects) if objects.kind() == ObjectKind::Values => {
                is_text()?;
                Ok(objects.append_text(&String::from_utf8_lossy(bytes))?)
            }
            Self::Frame(objects) => {
                if objects.kind() == ObjectKind::Text {
                    is_text()?;
                }
                Ok(objects.append(bytes)?)
            }
        }
    }

    /// Appends a value, which must be of the right kind.
    fn put(&mut self, value: &Value) -> Outcome {
        match (self, value) {
            (Self::Pack(pack, ObjectKind::Values, place), value) => {
                store(pack, place, value.to_json().as_bytes())
            }
            (Self::Frame(objects), value) if objects.kind() == ObjectKind::Values => {
                Ok(objects.append_value(value)?)
            }
            (writer, Value::Str(text)) => writer.put_bytes(text.as_bytes(), writer.count()),
            (writer, Value::Bin(bytes)) => writer.put_bytes(bytes, writer.count()),
            (writer, other) => {
                let words = format!(
                    "object {} is neither text nor bytes: {}",
                    writer.count(),
                    other.to_json()
                );
                Err(Failure::usage(words).with_help("a list of values holds such objects"))
            }
        }
    }
}

/// Puts an object in the place of another one, if there is one, and otherwise after all others.
fn store(pack: &mut Pack, place: &mut Option<usize>, object: &[u8]) -> Outcome {
    match place.filter(|number| (*number as u64) < pack.object_count()) {
        Some(number) => {
            *place = Some(number + 1);
            Ok(pack.replace_object(number as u64, object)?)
        }
        None => Ok(pack.append_object(object)?),
    }
}
