//! What is written of one thing: arrays, objects of any length, Bloscpack files. Plain bytes need no more than
//! a frame takes, and tables have a module of their own.

pub(crate) mod array;
pub(crate) mod object;
pub(crate) mod pack;

use superchunk::bloscpack::ItemOrder;

use crate::context::Context;
use crate::encoding::EncodingArgs;
use crate::failure::Outcome;
use crate::input::{Content, Input};
use crate::target::Target;

/// Makes a Bloscpack file of anything.
pub(crate) fn to_pack(
    input: &Input,
    encoding: &EncodingArgs,
    pack_file: &pack::PackFileArgs,
    (target, force): (&Target, bool),
    context: &Context,
) -> Outcome {
    let attributes = input.free_attributes()?;
    if let Content::Objects(list) = &input.content {
        let pack_file = Some(pack_file);
        let attributes = &attributes;
        let request = object::Request { encoding, pack_file, packing: None, attributes, force };
        return object::convert(list, &request, target, context);
    }
    let usual = pack::options_like(input)?;
    let options = pack_file.options(usual, encoding, context)?;
    let options = match &input.content {
        Content::Array(_) => {
            let (dtype, shape) = input.type_and_shape()?;
            pack::array_metadata(options, dtype, &shape, ItemOrder::C, &attributes)?
        }
        _ => {
            let mut options = options.with_expected_len(input.len());
            options.metadata = pack::metadata_of(&attributes)?;
            options
        }
    };
    let mut progress = context.progress("converting", Some(input.len()));
    pack::write(target, force, &options, context, &mut |sink| {
        input.pieces(&mut |bytes| {
            progress.add(bytes.len());
            sink(bytes)
        })
    })?;
    Ok(())
}
