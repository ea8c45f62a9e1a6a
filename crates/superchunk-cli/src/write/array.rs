//! Arrays in frames, made and extended without holding more than some rows.

use std::ffi::OsString;
use std::path::Path;

use superchunk::frame::{Durability, Kind};
use superchunk::{Codec, DType, Error, ErrorKind, Filter, NdArray, NdOptions, NdStorage};
use superchunk::{SuperChunk, Value, Work, npy};

use crate::arrays::{Array, ExactSource, Needed, RawShape, rows_at_once, to_c_order};
use crate::attributes::free_of_pack;
use crate::context::Context;
use crate::encoding::{EncodingArgs, Holder};
use crate::failure::{Failure, Outcome};
use crate::input::{Content, Input, packed};
use crate::interrupt;
use crate::memory::{Memory, to_usize};
use crate::replace::replace;
use crate::scratch::Scratch;
use crate::sizes::size_of_path;
use crate::source::Source;
use crate::target::Target;

/// What is to become an array in a frame.
pub(crate) struct Request<'a> {
    pub(crate) encoding: &'a EncodingArgs,
    /// The type and shape of plain bytes; NumPy files tell theirs.
    pub(crate) raw: Option<RawShape>,
    pub(crate) chunks: &'a [usize],
    pub(crate) blocks: &'a [usize],
    pub(crate) attributes: &'a [(String, Value)],
    pub(crate) force: bool,
}

impl<'a> Request<'a> {
    /// What is there already, compressed like this.
    pub(crate) fn of(encoding: &'a EncodingArgs, force: bool) -> Self {
        Self { encoding, raw: None, chunks: &[], blocks: &[], attributes: &[], force }
    }
}

/// Fills a buffer with the next bytes.
type Fill<'a> = dyn FnMut(&mut [u8]) -> Outcome + 'a;

/// Packs an array that comes from front to back; returns its length, decoded and stored.
pub(crate) fn pack(
    source: &mut Source,
    request: &Request<'_>,
    target: &Target,
    context: &Context,
) -> Outcome<(u64, u64)> {
    let Incoming { dtype, shape, is_fortran, needed } = Incoming::of(&request.raw, source)?;
    let by_columns = is_fortran && shape.len() > 1;
    let options = options_of(request, dtype.item_size(), shape.len(), context)?;
    let mut progress = context.progress("packing", source.total);
    let mut source = ExactSource::new(source, needed)?;
    let mut make = |path: &Path, options: &NdStorage| -> Outcome<NdArray> {
        let created = NdArray::create(
            path,
            &NdOptions::new(&shape, dtype.clone()).with_storage(options.clone()),
        );
        let mut array = created.map_err(|error| request.refused(error))?;
        for (name, value) in request.attributes {
            array.superchunk_mut().set_attribute(name, value.clone())?;
        }
        let mut next = |buffer: &mut [u8]| {
            source.fill(buffer)?;
            progress.add(buffer.len());
            Ok(())
        };
        if by_columns {
            fill_by_columns(&mut array, context.memory(), &mut next)?;
        } else {
            fill(&mut array, context.memory(), &mut next)?;
        }
        source.finish(&mut progress)?;
        Ok(array)
    };
    if let Target::Path(path) = target {
        return replace(path, request.force, context, |temporary| {
            let array = make(temporary, &options)?;
            let nbytes = len_of(&array);
            array.close()?;
            Ok((nbytes, size_of_path(temporary)))
        });
    }
    let scratch = Scratch::new()?;
    let mut options = options;
    options.frame.durability = Durability::Process;
    let array = make(scratch.path(), &options)?;
    let stored = target.write_frame(array.superchunk(), request.force, context)?;
    Ok((len_of(&array), stored))
}

/// Makes an array in a frame of a NumPy file, a frame or plain bytes.
pub(crate) fn convert(
    input: &Input,
    request: &Request<'_>,
    path: &Path,
    context: &Context,
) -> Outcome {
    let (dtype, shape) = input.type_and_shape()?;
    let options = options_of(request, dtype.item_size(), shape.len(), context)?;
    let mut progress = context.progress("converting", Some(input.len()));
    replace(path, request.force, context, |temporary| {
        let created = NdArray::create(
            temporary,
            &NdOptions::new(&shape, dtype.clone()).with_storage(options.clone()),
        );
        let mut array = created.map_err(|error| request.refused(error))?;
        for name in input.frame().into_iter().flat_map(SuperChunk::attribute_names) {
            let value = input.need_frame()?.attribute_bytes(name)?;
            array.superchunk_mut().set_attribute_bytes(name, &value)?;
        }
        for (name, value) in input.pack().map(free_of_pack).unwrap_or_default() {
            array.superchunk_mut().set_attribute(&name, value)?;
        }
        let mut at = 0;
        fill(&mut array, context.memory(), &mut |buffer| {
            let end = at + buffer.len() as u64;
            input.read(at..end, buffer)?;
            progress.add(buffer.len());
            at = end;
            Ok(())
        })?;
        Ok(array.close()?)
    })
}

/// Copies a frame, array or not, with other parameters; chunks move as they are where none changed.
pub(crate) fn copy(
    input: &Input,
    path: &Path,
    request: &Request<'_>,
    kind: Kind,
    context: &Context,
) -> Outcome {
    let encoding = request.encoding;
    if let Content::Array(array) = &input.content
        && let Array::Frame(array) = array
    {
        refuse_sizes(encoding)?;
        check_axes((request.chunks, request.blocks), array.shape().len())?;
        check_codec(encoding, array.shape().len())?;
        let has_same_chunks = request.chunks.is_empty() && request.blocks.is_empty();
        if encoding.changes_chunks() || !has_same_chunks {
            input.check_expansion(context)?;
        }
        let mut options = array.options();
        options.frame = encoding.over(options.frame, context)?.with_kind(kind);
        options.frame.compress.executor = context.watched("copying", Work::Copy, None);
        if !request.chunks.is_empty() || !request.blocks.is_empty() {
            let given = |shape: &[usize]| (!shape.is_empty()).then(|| shape.to_vec());
            (options.chunks, options.blocks) = (given(request.chunks), given(request.blocks));
        }
        let copied = array.copy_to(path, &options).and_then(NdArray::close);
        return copied.map_err(|error| request.refused(error));
    }
    let frame = input.need_frame()?;
    encoding.check(Holder::Frame)?;
    let options = encoding.over(frame.frame_options(), context)?;
    if !SuperChunk::in_memory(&options)?.takes_chunks_of(frame) {
        input.check_expansion(context)?;
    }
    let mut options = options.with_kind(kind);
    options.compress.executor = context.watched("copying", Work::Copy, None);
    Ok(frame.copy_to(path, &options).and_then(SuperChunk::close)?)
}

/// Appends files to an array, along its first axis, all of them or none; returns how many bytes came
/// and how many there are.
pub(crate) fn append(
    frame: SuperChunk,
    inputs: &[OsString],
    context: &Context,
) -> Outcome<(u64, u64)> {
    let mut array = NdArray::from_superchunk(frame)?;
    let before = len_of(&array);
    inputs.iter().try_for_each(|input| append_one(&mut array, input, context))?;
    let after = len_of(&array);
    interrupt::finally(|| array.close())?;
    Ok((after - before, after))
}

fn append_one(array: &mut NdArray, input: &OsString, context: &Context) -> Outcome {
    let row = row_of(array);
    let memory = context.memory();
    memory.check("a row", row)?;
    let piece = to_usize(rows_at_once(array, row, memory).saturating_mul(row))?;
    let (dtype, shape) = (array.dtype().to_string(), array.shape().to_vec());
    let mut put = |bytes: &[u8]| {
        if !(bytes.len() as u64).is_multiple_of(row.max(1)) {
            let words = format!("the data does not end with a whole row of {row} bytes");
            return Err(Failure::usage(words).with_help("nothing was appended"));
        }
        Ok(array.append(0, bytes)?)
    };
    let Some(packed) = packed(input, context)? else {
        let mut source = Source::open((input != "-").then(|| Path::new(input)))?;
        let mut progress = context.progress("appending", source.total);
        return source.pieces(piece, &mut progress, put);
    };
    if let Content::Array(other) = &packed.content {
        let (theirs, rows) = (other.dtype(), other.shape());
        if dtype != theirs || shape.get(1..) != rows.get(1..) {
            return Err(Failure::usage(format!(
                "{theirs} of shape {rows:?} does not go behind {dtype} of shape {shape:?}"
            )));
        }
    }
    packed.check_expansion(context)?;
    packed.pieces(&mut put)
}

fn options_of(
    request: &Request<'_>,
    item_size: usize,
    axes: usize,
    context: &Context,
) -> Outcome<NdStorage> {
    refuse_sizes(request.encoding)?;
    check_axes((request.chunks, request.blocks), axes)?;
    check_codec(request.encoding, axes)?;
    let mut options = NdStorage::new(request.encoding.fresh(item_size, context)?);
    if !request.chunks.is_empty() {
        options = options.with_chunks(request.chunks);
    }
    if !request.blocks.is_empty() {
        options = options.with_blocks(request.blocks);
    }
    Ok(options)
}

/// Refuses shapes of chunks and blocks that have another number of axes than the array.
pub(crate) fn check_axes((chunks, blocks): (&[usize], &[usize]), axes: usize) -> Outcome {
    for (option, sides) in [("--chunks", chunks), ("--blocks", blocks)] {
        if !sides.is_empty() && sides.len() != axes {
            let typed = sides.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
            let words = format!(
                "{option} {typed} needs a length for each axis: expected {axes}, got {}",
                sides.len()
            );
            return Err(Failure::usage(words));
        }
    }
    Ok(())
}

/// Refuses a codec of planes where there are none.
fn check_codec(encoding: &EncodingArgs, axes: usize) -> Outcome {
    match encoding.codec {
        Some(codec @ Codec::NdLz { .. }) if axes != 2 => Err(Failure::usage(format!(
            "--codec (-c) {codec} needs an array with 2 axes, this one has {axes}"
        ))),
        _ => Ok(()),
    }
}

/// Refuses sizes of chunks and blocks, because those of an array have shapes.
pub(crate) fn refuse_sizes(encoding: &EncodingArgs) -> Outcome {
    let (given, instead) = match (encoding.chunk_size, encoding.block_size) {
        (None, None) => return Ok(()),
        (Some(_), None) => ("--chunk-size (-z)", "--chunks 100,200"),
        (None, Some(_)) => ("--block-size (-b)", "--blocks 10,20"),
        (Some(_), Some(_)) => ("--chunk-size and --block-size", "--chunks 100,200 --blocks 10,20"),
    };
    let words = format!(
        "{given} counts bytes, but chunks and blocks of an array are boxes with a length along each axis"
    );
    Err(Failure::usage(words).with_help(format!("`pack` and `convert` take {instead} instead")))
}

/// Refuses shapes of chunks and blocks where no array is made.
pub(crate) fn refuse_shapes(chunks: &[usize], blocks: &[usize]) -> Outcome {
    if chunks.is_empty() && blocks.is_empty() {
        return Ok(());
    }
    Err(Failure::usage("--chunks and --blocks are for arrays in frames")
        .with_help("other data takes --chunk-size and --block-size, in bytes"))
}

impl Request<'_> {
    /// Names the option that the library refuses, instead of the field that would have been written.
    fn refused(&self, error: Error) -> Failure {
        let is_refusal = error.kind() == ErrorKind::InvalidArgument;
        let of_arrays = |filter: &Filter| matches!(filter, Filter::NdCell(_) | Filter::NdMean(_));
        let filters = self.encoding.filters.as_ref().map_or(&[][..], |given| &given.0);
        let Some(place) = error.place().filter(|_| is_refusal) else {
            return match filters.iter().find(|filter| of_arrays(filter)) {
                Some(filter) if is_refusal => {
                    Failure::usage(format!("--filters {filter}: {}", error.message()))
                }
                _ => error.into(),
            };
        };
        let option = match place.field {
            "chunkshape" if !self.chunks.is_empty() => "--chunks",
            "blockshape" if !self.blocks.is_empty() => "--blocks",
            "ndim" | "shape" if self.raw.is_some() => "--shape",
            _ => "the array",
        };
        Failure::usage(format!("{option} {}", error.message()))
    }
}

/// An array that comes from front to back; its items are still to be read.
pub(crate) struct Incoming {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
    /// Whether the first index varies fastest.
    pub(crate) is_fortran: bool,
    pub(crate) needed: Needed,
}

impl Incoming {
    /// What options say of plain bytes, or else the header of a NumPy file, which is read.
    pub(crate) fn of(raw: &Option<RawShape>, source: &mut Source) -> Outcome<Self> {
        if let Some(raw) = raw {
            let (RawShape { dtype, shape }, needed) = (raw.clone(), Needed::by_options(raw));
            return Ok(Self { dtype, shape, is_fortran: false, needed });
        }
        let header = take_header(source)?;
        let needed = Needed::by_header(&header)?;
        let (dtype, shape, is_fortran) = (header.dtype, header.shape, header.fortran_order);
        Ok(Self { dtype, shape, is_fortran, needed })
    }
}

/// More bytes than the header of any `.npy` file that was seen has.
const LONGEST_HEADER: usize = 1 << 20;

/// Reads the header of a NumPy file; the items come next.
fn take_header(source: &mut Source) -> Outcome<npy::NpyHeader> {
    let mut len = 1 << 12;
    loop {
        match npy::read_header(source.peek(len)?) {
            Err(error) if error.kind() == ErrorKind::Truncated && len < LONGEST_HEADER => len *= 16,
            Err(error) => return Err(error.into()),
            Ok(header) => {
                source.fill(&mut vec![0; header.data_offset])?;
                return Ok(header);
            }
        }
    }
}

fn len_of(array: &NdArray) -> u64 {
    array.item_count() * array.item_size() as u64
}

fn row_of(array: &NdArray) -> u64 {
    let rest = array.shape().iter().skip(1).product::<u64>();
    rest * array.item_size() as u64
}

/// Writes all items in C order, some rows at a time.
fn fill(array: &mut NdArray, memory: Memory, next: &mut Fill<'_>) -> Outcome {
    if len_of(array) == 0 {
        return Ok(());
    }
    let row = row_of(array);
    memory.check("a row", row)?;
    let rows = rows_at_once(array, row, memory);
    let shape = array.shape().to_vec();
    let Some(count) = shape.first().copied() else {
        let mut item = vec![0; array.item_size()];
        next(&mut item)?;
        return Ok(array.write_box(&[], &[], &item)?);
    };
    let mut buffer = vec![0; to_usize(rows.min(count).saturating_mul(row))?];
    let (mut start, mut stop) = (vec![0; shape.len()], shape);
    let mut at = 0;
    while at < count {
        let end = (at + rows).min(count);
        let part = buffer.get_mut(..to_usize((end - at) * row)?).unwrap_or_default();
        next(part)?;
        if let (Some(first), Some(last)) = (start.first_mut(), stop.first_mut()) {
            (*first, *last) = (at, end);
        }
        array.write_box(&start, &stop, part)?;
        at = end;
    }
    Ok(())
}

/// The same for items whose first index varies fastest: only all of them can be turned.
fn fill_by_columns(array: &mut NdArray, memory: Memory, next: &mut Fill<'_>) -> Outcome {
    memory.check("an array in Fortran order", len_of(array))?;
    let mut columns = vec![0; to_usize(len_of(array))?];
    next(&mut columns)?;
    let rows = to_c_order(&columns, array.shape(), array.item_size());
    let shape = array.shape().to_vec();
    Ok(array.write_box(&vec![0; shape.len()], &shape, &rows)?)
}
