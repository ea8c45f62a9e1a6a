//! What users keep with a table: JSON of bcolz, typed values of blsk, values of frames.

use superchunk::blsk::Attribute;
use superchunk::{Json, JsonStyle, Value};

/// An attribute of blsk as JSON; text stays text.
pub(super) fn of_blsk(value: &Attribute) -> Json {
    match value.as_text() {
        Some(text) => Json::Str(text),
        None => Json::parse(&value.to_string()).unwrap_or_else(|_| Json::Str(value.to_string())),
    }
}

/// JSON as blsk keeps it: numbers and texts; all else as its text.
pub(super) fn blsk_attribute(value: &Json) -> Attribute {
    if let Some(number) = value.as_i64() {
        return number.into();
    }
    match (value, value.as_f64()) {
        (Json::Str(text), _) => text.as_str().into(),
        (_, Some(number)) => number.into(),
        _ => value.to_text(JsonStyle::Spaced).as_str().into(),
    }
}

/// JSON as frames and documents have it; what is no JSON elsewhere, such as NaN, is text.
pub(crate) fn value_of(value: &Json) -> Value {
    let text = value.to_text(JsonStyle::Compact);
    Value::from_json(&text).unwrap_or_else(|_| text.as_str().into())
}
