//! Values of msgpack, as they lie in metalayers.

use superchunk::{CompressOptions, FrameOptions, Json, JsonStyle, SuperChunk, Value};

use crate::bounds::{bounded, no_bug};

/// How much larger a value in memory may be than its bytes: one byte may be a value.
const PER_BYTE: usize = 200;

/// Any bytes as a value, as text, and as the value of a frame.
pub(crate) fn vlmeta_msgpack(input: &[u8]) {
    bounded(PER_BYTE * input.len(), || {
        if let Ok(value) = Value::decode(input) {
            survives(&value);
        }
        if let Ok(text) = std::str::from_utf8(input) {
            if let Ok(value) = Value::from_json(text) {
                survives(&value);
            }
            if let Ok(json) = Json::parse(text) {
                for style in [JsonStyle::Compact, JsonStyle::Spaced] {
                    let printed = json.to_text(style);
                    let again = Json::parse(&printed).map(|json| json.to_text(style));
                    assert_eq!(again.ok().as_deref(), Some(printed.as_str()));
                }
            }
        }
    });
    let _ = no_bug(in_a_frame(input));
}

/// Written and read again a value is the same. Printed, because NaN is not itself.
fn survives(value: &Value) {
    let Ok(bytes) = value.encode() else { return };
    let again = Value::decode(&bytes).unwrap_or_else(|error| panic!("our own bytes: {error}"));
    assert_eq!(format!("{again:?}"), format!("{value:?}"), "msgpack");
    let json = value.to_json();
    let again = Value::from_json(&json).unwrap_or_else(|error| panic!("our own {json}: {error}"));
    // Not the value: NaN and the infinities are texts in JSON.
    assert_eq!(again.to_json(), json);
}

fn in_a_frame(bytes: &[u8]) -> superchunk::Result<()> {
    let options = FrameOptions::new(CompressOptions::new(1)).with_chunk_size(100);
    let mut frame = SuperChunk::in_memory(&options)?;
    frame.set_attribute_bytes("value", bytes)?;
    let copy = SuperChunk::from_bytes(frame.to_bytes()?)?;
    assert_eq!(copy.attribute_bytes("value")?, bytes);
    assert_eq!(copy.attribute("value").is_ok(), Value::decode(bytes).is_ok());
    Ok(())
}
