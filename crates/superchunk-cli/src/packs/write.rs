//! Bloscpack files, made from front to back.

use std::io::Write;

use clap::Args;
use superchunk::bloscpack::{Checksum, ItemOrder, Pack, PackArray, PackOptions, PackStream};
use superchunk::{Codec, DType, Error, FrameOptions, Json, Value};

use crate::context::Context;
use crate::encoding::{EncodingArgs, Holder};
use crate::failure::{Failure, Outcome};
use crate::input::Input;
use crate::replace::replace;
use crate::target::{Counter, Target};
use crate::verbs::pack::size_of_path;

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

/// A value in JSON; those that JSON does not have are objects, as in reports.
pub(crate) fn json_of(value: &Value) -> Outcome<Json> {
    Ok(Json::parse(&value.to_json())?)
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
