//! Bloscpack files: what is special about them. The bytes of one are a super-chunk, which all commands
//! treat alike; an array in one is an array, and objects in one are objects.

mod fields;
mod write;

pub(crate) use fields::{chunk, header_fields, index_start};
pub(crate) use write::{
    PackFileArgs, array_metadata, json_of, metadata_of, options_like, percent, write,
};

use std::ffi::OsString;
use std::path::Path;

use superchunk::bloscpack::Pack;
use superchunk::{Json, JsonStyle, Value};

use crate::arrays;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::Content;
use crate::interrupt;
use crate::objects::ObjectList;
use crate::source::Source;
use crate::verbs::append::packed;

/// The keys by which metadata says what an array of NumPy is.
const ARRAY_KEYS: [&str; 4] = ["dtype", "shape", "order", "container"];
/// The keys by which it says what objects are.
const OBJECT_KEYS: [&str; 3] = ["dtype", "shape", "format"];

/// What a file holds.
pub(crate) fn content(pack: Box<Pack>, context: &Context) -> Outcome<Content> {
    if pack.has_objects() {
        return Ok(Content::Objects(ObjectList::Pack(pack)));
    }
    Ok(match arrays::of_pack(pack, context.memory())? {
        Ok(array) => Content::Array(array),
        Err(pack) => Content::Pack(pack),
    })
}

/// What the metadata of a file says, key by key; what has no keys is called `metadata`.
pub(crate) fn attributes(pack: &Pack) -> Vec<(String, Value)> {
    match pack.metadata() {
        None => Vec::new(),
        Some(Json::Object(entries)) => {
            entries.iter().map(|(name, value)| (name.clone(), value_of(value))).collect()
        }
        Some(other) => vec![("metadata".to_owned(), value_of(other))],
    }
}

/// The same without what says how the bytes are to be understood: what goes along into other formats.
pub(crate) fn free_attributes(pack: &Pack) -> Vec<(String, Value)> {
    let bound: &[&str] = match pack.array() {
        Some(_) => &ARRAY_KEYS,
        None if pack.has_objects() => &OBJECT_KEYS,
        None => &[],
    };
    let is_free = |(name, _): &(String, Value)| !bound.contains(&name.as_str());
    attributes(pack).into_iter().filter(is_free).collect()
}

fn value_of(json: &Json) -> Value {
    let text = json.to_text(JsonStyle::Compact);
    Value::from_json(&text).unwrap_or_else(|_| text.into())
}

/// Changes the metadata of a file.
pub(crate) fn change(
    path: &Path,
    context: &Context,
    change: impl FnOnce(&mut Json) -> Outcome,
) -> Outcome {
    let mut pack = context.edit_pack(&context.open_options(), path)?;
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
pub(crate) fn append(path: &Path, inputs: &[OsString], context: &Context) -> Outcome<(u64, u64)> {
    let mut pack = context.edit_pack(&context.open_options(), path)?;
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
            crate::input::to_usize(row.max(1))?
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
