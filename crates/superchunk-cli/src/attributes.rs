//! What users keep with their data: values of frames, JSON of Bloscpack files and bcolz, typed
//! values of blsk.

use superchunk::bloscpack::Pack;
use superchunk::blsk::Attribute;
use superchunk::{Json, JsonStyle, Value};

use crate::failure::Outcome;

/// The keys by which metadata says what an array of NumPy is.
const ARRAY_KEYS: [&str; 4] = ["dtype", "shape", "order", "container"];
/// The keys by which it says what objects are.
const OBJECT_KEYS: [&str; 3] = ["dtype", "shape", "format"];

/// The value of a frame that says how many objects each chunk has.
const LENGTHS: &str = "_batch_array_metadata";

/// An attribute of blsk as JSON; text stays text.
pub(crate) fn of_blsk(value: &Attribute) -> Json {
    match value.as_text() {
        Some(text) => Json::Str(text),
        None => Json::parse(&value.to_string()).unwrap_or_else(|_| Json::Str(value.to_string())),
    }
}

/// JSON as blsk keeps it: numbers and texts; all else as its text.
pub(crate) fn blsk_attribute(value: &Json) -> Attribute {
    if let Some(number) = value.as_i64() {
        return number.into();
    }
    match (value, value.as_f64()) {
        (Json::Str(text), _) => text.as_str().into(),
        (_, Some(number)) => number.into(),
        _ => value.to_text(JsonStyle::Spaced).as_str().into(),
    }
}

/// JSON as frames and documents have it; values that other JSON lacks, such as NaN, are text.
pub(crate) fn value_of(value: &Json) -> Value {
    let text = value.to_text(JsonStyle::Compact);
    Value::from_json(&text).unwrap_or_else(|_| text.as_str().into())
}

/// A value in JSON; those that JSON does not have are objects, as in reports.
pub(crate) fn json_of(value: &Value) -> Outcome<Json> {
    Ok(Json::parse(&value.to_json())?)
}

/// What the metadata of a file says, key by key; what has no keys is called `metadata`.
pub(crate) fn of_pack(pack: &Pack) -> Vec<(String, Value)> {
    match pack.metadata() {
        None => Vec::new(),
        Some(Json::Object(entries)) => {
            entries.iter().map(|(name, value)| (name.clone(), value_of(value))).collect()
        }
        Some(other) => vec![("metadata".to_owned(), value_of(other))],
    }
}

/// The same without what says how the bytes are to be understood: what goes along into other formats.
pub(crate) fn free_of_pack(pack: &Pack) -> Vec<(String, Value)> {
    let bound: &[&str] = match pack.array() {
        Some(_) => &ARRAY_KEYS,
        None if pack.has_objects() => &OBJECT_KEYS,
        None => &[],
    };
    let is_free = |(name, _): &(String, Value)| !bound.contains(&name.as_str());
    of_pack(pack).into_iter().filter(is_free).collect()
}

/// The attributes of a frame of objects that are not of the list itself.
pub(crate) fn free_of_objects(all: Vec<(String, Value)>) -> Vec<(String, Value)> {
    all.into_iter().filter(|(name, _)| name != LENGTHS).collect()
}

/// A value as it was typed: JSON, or the text itself if it is none.
pub(crate) fn json_or_text(text: &str) -> Value {
    Value::from_json(text).unwrap_or_else(|_| text.into())
}
