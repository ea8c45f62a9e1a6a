//! JSON beside serde_json: generated values, and their texts with a few characters changed.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use superchunk::{ErrorKind, Json, JsonStyle, Value};
use superchunk_testkit::rng::Rng;

#[test]
fn what_was_printed_is_read_back_equal_and_by_serde_json_too() {
    let mut rng = Rng::new(20);
    for _ in 0..2000 {
        let json = any(&mut rng, 4, true);
        for style in [JsonStyle::Compact, JsonStyle::Spaced] {
            assert_eq!(Json::parse(&json.to_text(style)).unwrap(), json);
        }
        let json = any(&mut rng, 4, false);
        let text = json.to_text(JsonStyle::Compact);
        let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(as_serde(&json), theirs, "{text}");
        assert_eq!(Json::parse(&theirs.to_string()).map(|json| as_serde(&json)).unwrap(), theirs);
    }
}

#[test]
fn both_dialects_refuse_what_serde_json_refuses() {
    let mut rng = Rng::new(21);
    let mut taken = 0;
    for _ in 0..20_000 {
        let text = changed(&mut rng);
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match (Json::parse(&text), &theirs) {
            (Ok(ours), Ok(theirs)) => assert_eq!(as_serde(&ours), *theirs, "{text}"),
            (Err(error), Err(_)) => assert_eq!(error.kind(), ErrorKind::InvalidArgument),
            // What no float can hold, and halves of surrogate pairs.
            (Ok(_), Err(error)) => {
                let is_known = ["out of range", "surrogate", "hex escape"]
                    .iter()
                    .any(|words| error.to_string().contains(words));
                assert!(is_known, "{text}: {error}");
            }
            (Err(error), Ok(_)) => panic!("{text}: {error}"),
        }
        match (Value::from_json(&text), theirs) {
            (Ok(_), Ok(_)) => taken += 1,
            (Err(error), Err(_)) => assert_eq!(error.kind(), ErrorKind::InvalidArgument),
            (Ok(_), Err(error)) => panic!("{text}: {error}"),
            (Err(error), Ok(_)) => {
                let message = error.message();
                assert!(message.contains("already") || message.contains("out of range"), "{text}");
            }
        }
    }
    assert!((2000..18_000).contains(&taken), "{taken} of 20000 are JSON: that shows little");
}

/// The text of some value, with up to two characters put in or changed.
fn changed(rng: &mut Rng) -> String {
    let alphabet: Vec<char> = "{}[],:\"\\u0123e-+.dtn \u{1}\u{a0}é".chars().collect();
    let json = any(rng, 3, false);
    let mut text: Vec<char> = json.to_text(JsonStyle::Spaced).chars().collect();
    for _ in 0..rng.index(3) {
        let place = rng.index(text.len());
        let end = place + rng.index(2);
        text.splice(place..end, [alphabet[rng.index(alphabet.len())]]);
    }
    text.into_iter().collect()
}

/// Any value; when `python`, also numbers that only Python's dialect has.
fn any(rng: &mut Rng, depth: usize, python: bool) -> Json {
    match rng.index(if depth == 0 { 6 } else { 10 }) {
        0 => Json::Null,
        1 => (rng.index(2) == 0).into(),
        2 => (rng.next_u64() >> rng.index(64)).into(),
        3 => rng.next_u64().cast_signed().into(),
        4 => {
            let float = f64::from_bits(rng.next_u64());
            let names = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
            if python && rng.index(4) == 0 {
                names[rng.index(3)].into()
            } else if float.is_finite() {
                float.into()
            } else {
                0.5.into()
            }
        }
        5 => any_text(rng).into(),
        6 | 7 => (0..rng.index(5)).map(|_| any(rng, depth - 1, python)).collect::<Vec<_>>().into(),
        _ => {
            let mut object = Json::Object(vec![]);
            for _ in 0..rng.index(5) {
                object.set(any_text(rng), any(rng, depth - 1, python)).unwrap();
            }
            object
        }
    }
}

/// A short text of controls, ASCII and all else; no `$`, which means something to `Value`.
fn any_text(rng: &mut Rng) -> String {
    let bounds = [0x20, 0x80, 0x800, 0x11_0000];
    let mut any_char = || {
        let bound = bounds[rng.index(bounds.len())];
        char::from_u32(u32::try_from(rng.below(bound)).unwrap()).filter(|c| *c != '$')
    };
    (0..4).filter_map(|_| any_char()).collect()
}

/// The same value in the words of serde_json, whose numbers are of 64 bits.
fn as_serde(json: &Json) -> serde_json::Value {
    match json {
        Json::Null => serde_json::Value::Null,
        Json::Bool(value) => (*value).into(),
        // An integer with the sign of zero is a float to serde_json.
        Json::Number(text) if text == "-0" => (-0.0).into(),
        Json::Number(_) => match (json.as_u64(), json.as_i64()) {
            (Some(value), _) => value.into(),
            (_, Some(value)) => value.into(),
            _ => json.as_f64().into(),
        },
        Json::Str(text) => text.as_str().into(),
        Json::Array(items) => items.iter().map(as_serde).collect(),
        Json::Object(entries) => {
            entries.iter().map(|(key, value)| (key.clone(), as_serde(value))).collect()
        }
    }
}
