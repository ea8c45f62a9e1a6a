//! Bloscpack files: made from front to back, extended and changed.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use clap::Args;
use superchunk::bloscpack::{Checksum, ItemOrder, Pack, PackArray, PackOptions, PackStream};
use superchunk::{Codec, DType, Error, FrameOptions, Json, Value};

use crate::attributes::json_of;
use crate::context::Context;
use crate::encoding::{EncodingArgs, Holder};
use crate::failure::{Failure, Outcome};
use crate::input::{Content, Input, packed};
use crate::interrupt;
use crate::memory::to_usize;
use crate::replace::replace;
use crate::sizes::size_of_path;
use crate::source::Source;
use crate::target::{Counter, Target};

/// What only Bloscpack files have.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PackFileArgs {
    /// Of a .blp: none, adler32, md5, sha256 …; also --no-offsets, --reserve
    #[arg(long, value_name = "NAME")]
    pub(crate) checksum: Option<Checksum>,
    /// Do not list where chunks are; bloscpack cannot append then
    #[arg(long, hide = true)]
    pub(crate) no_offsets: bool,
    /// Bytes to leave free after each object of a .blp, in per cent
    #[arg(long, hide = true, value_name = "PERCENT", value_parser = percent())]
    pub(crate) reserve: Option<u32>,
}

/// The share of a chunk that may be left free after an object.
pub(crate) fn percent() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(0..=1000)
}

/// Takes the next bytes of a new file.
pub(crate) type Sink<'a> = dyn FnMut(&[u8]) -> Outcome + 'a;

impl PackFileArgs {
    /// What `pack` and `convert` write: as bloscpack does where nothing was chosen.
    pub(crate) fn options(
        &self,
        usual: PackOptions,
        encoding: &EncodingArgs,
        context: &Context,
    ) -> Outcome<PackOptions> {
        encoding.check(Holder::Pack)?;
        if self.reserve.is_some() && !usual.varlen {
            let words = "--reserve leaves bytes free after objects: other chunks follow each other";
            return Err(
                Failure::usage(words).with_help("leave it out, or pack objects with --varlen")
            );
        }
        let item_size = usual.compress.item_size.max(1);
        let chunk_size = (usual.chunk_size / item_size).max(1) * item_size;
        let base = FrameOptions::new(usual.compress.clone()).with_chunk_size(chunk_size);
        let chosen = encoding.over(base, context)?;
        let checksum = match self.checksum {
            Some(checksum) => checksum,
            None if encoding.no_checksums => Checksum::None,
            None => usual.checksum,
        };
        let chunk_size = chosen.chunk_size.unwrap_or(chunk_size);
        Ok(usual
            .with_compress(chosen.compress)
            .with_chunk_size(chunk_size)
            .with_checksum(checksum)
            .with_offsets(!self.no_offsets)
            .with_reserve(self.reserve.unwrap_or(0)))
    }

    /// Whether something was chosen.
    pub(crate) fn is_given(&self) -> bool {
        self.checksum.is_some() || self.no_offsets || self.reserve.is_some()
    }
}

/// The options of an array, whose items come in this order.
pub(crate) fn array_metadata(
    usual: PackOptions,
    dtype: DType,
    shape: &[u64],
    order: ItemOrder,
    attributes: &[(String, Value)],
) -> Outcome<PackOptions> {
    let array = PackArray::new(dtype, shape).with_order(order);
    let mut options = usual.with_array(&array);
    let mut json = options.metadata.take().unwrap_or_else(|| Json::Object(Vec::new()));
    for (name, value) in attributes {
        if json.get(name).is_some() {
            let words = format!("`{name}` says what the array is, it is no attribute");
            return Err(Failure::usage(words));
        }
        json.set(name.as_str(), json_of(value)?)?;
    }
    options.metadata = Some(json);
    Ok(options)
}

/// Attributes as metadata, if there are any.
pub(crate) fn metadata_of(attributes: &[(String, Value)]) -> Outcome<Option<Json>> {
    let entry = |(name, value): &(String, Value)| Ok((name.clone(), json_of(value)?));
    let entries = attributes.iter().map(entry).collect::<Outcome<Vec<_>>>()?;
    Ok((!entries.is_empty()).then_some(Json::Object(entries)))
}

/// Makes a file: `fill` calls what it is given with all bytes. Returns the length, decoded and stored.
///
/// A pipe gets a file whose header does not know how many chunks follow.
pub(crate) fn write(
    target: &Target,
    force: bool,
    options: &PackOptions,
    context: &Context,
    fill: &mut dyn FnMut(&mut Sink<'_>) -> Outcome,
) -> Outcome<(u64, u64)> {
    let mut nbytes = 0;
    if let Target::Path(path) = target {
        return replace(path, force, context, |temporary| {
            let mut pack = Pack::create(temporary, options)?;
            fill(&mut |bytes| {
                nbytes += bytes.len() as u64;
                Ok(pack.append(bytes)?)
            })?;
            pack.close()?;
            Ok((nbytes, size_of_path(temporary)))
        });
    }
    target.write(force, context, |out: &mut dyn Write| {
        let told = |error: Error| error.within(target.name());
        let mut stream = PackStream::new(Counter { out, count: 0 }, options).map_err(told)?;
        fill(&mut |bytes| {
            nbytes += bytes.len() as u64;
            Ok(stream.append(bytes).map_err(told)?)
        })?;
        Ok((nbytes, stream.finish().map_err(told)?.count))
    })
}

/// The options that make a file like what there is, if that is one.
pub(crate) fn options_like(input: &Input) -> Outcome<PackOptions> {
    let mut usual = PackOptions::new();
    usual.compress.item_size = input.item_size();
    let Some(pack) = input.pack() else { return Ok(usual) };
    let (header, options) = (pack.header(), pack.superchunk()?.options());
    // Some codecs are only read.
    if Codec::PLAIN.contains(&options.codec) {
        usual.compress.codec = options.codec;
    }
    usual.compress.filters.clone_from(&options.filters);
    usual.checksum = header.checksum;
    usual.chunk_size = header.chunk_size.filter(|size| *size > 0).unwrap_or(usual.chunk_size);
    Ok(usual)
}

/// Changes the metadata of a file.
pub(crate) fn change(mut pack: Pack, change: impl FnOnce(&mut Json) -> Outcome) -> Outcome {
    let mut json = pack.metadata().cloned().unwrap_or_else(|| Json::Object(Vec::new()));
    if !matches!(json, Json::Object(_)) {
        let words = "the metadata of this file is no JSON object, so it has no keys";
        return Err(Failure::usage(words));
    }
    change(&mut json)?;
    let is_empty = matches!(&json, Json::Object(entries) if entries.is_empty());
    pack.set_metadata((!is_empty).then_some(json))?;
    interrupt::finally(|| pack.close())
}

/// Appends files to a file, all of them or none; returns how many bytes came and how many there are.
pub(crate) fn append(
    mut pack: Pack,
    inputs: &[OsString],
    context: &Context,
) -> Outcome<(u64, u64)> {
    let before = pack.superchunk()?.byte_len();
    inputs.iter().try_for_each(|input| append_one(&mut pack, input, context))?;
    let after = pack.superchunk()?.byte_len();
    interrupt::finally(|| pack.close())?;
    Ok((after - before, after))
}

fn append_one(pack: &mut Pack, input: &OsString, context: &Context) -> Outcome {
    let before = pack.superchunk()?.byte_len();
    let rows = pack.array().map(|array| (array.dtype.to_string(), array.shape.clone()));
    // Only whole rows make an array again, so those of a piece are kept until it is full.
    let mut rest = Vec::new();
    let row = match &rows {
        Some((_, shape)) => {
            let row = shape.iter().skip(1).product::<u64>().saturating_mul(item_size(pack));
            context.memory().check("a row", row)?;
            to_usize(row.max(1))?
        }
        None => 1,
    };
    let mut put = |bytes: &[u8]| -> Outcome {
        rest.extend_from_slice(bytes);
        let whole = rest.len() - rest.len() % row;
        pack.append(rest.get(..whole).unwrap_or_default())?;
        rest.drain(..whole);
        Ok(())
    };
    match packed(input, context)? {
        Some(other) => {
            if let (Some((dtype, shape)), Content::Array(array)) = (&rows, &other.content)
                && (*dtype != array.dtype() || shape.get(1..) != array.shape().get(1..))
            {
                let (theirs, sides) = (array.dtype(), array.shape());
                return Err(Failure::usage(format!(
                    "{theirs} of shape {sides:?} does not go behind {dtype} of shape {shape:?}"
                )));
            }
            other.check_expansion(context)?;
            other.pieces(&mut put)?;
        }
        None => {
            let mut source = Source::open((input != "-").then(|| Path::new(input)))?;
            let mut progress = context.progress("appending", source.total);
            source.pieces(1 << 20, &mut progress, &mut put)?;
        }
    }
    if !rest.is_empty() {
        let words = format!("the data does not end with a whole row of {row} bytes");
        return Err(Failure::usage(words).with_help("nothing was appended"));
    }
    let added = pack.superchunk()?.byte_len() - before;
    let item = item_size(pack);
    if rows.is_none() && item > 1 && before.is_multiple_of(item) && !added.is_multiple_of(item) {
        context.tell(&format!("note: {added} bytes are not whole items of {item} bytes"));
    }
    Ok(())
}

fn item_size(pack: &Pack) -> u64 {
    pack.superchunk().map_or(1, |data| data.item_size() as u64)
}
