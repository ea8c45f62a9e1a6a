//! The objects with one `$` key that stand for what JSON does not have; [`Value::to_json`] lists
//! them.

use super::Value;

/// What an object of one key that begins with `$` stands for; `None` if it is not one of ours or
/// its content is of another kind.
pub(super) fn meaning(tag: &str, content: &Value) -> Option<Value> {
    if tag == "$bin" {
        return content.as_str().and_then(bytes_of_hex).map(Value::Bin);
    }
    if tag == "$float" {
        return match content.as_str()? {
            "nan" => Some(Value::Float(f64::NAN)),
            "inf" => Some(Value::Float(f64::INFINITY)),
            "-inf" => Some(Value::Float(f64::NEG_INFINITY)),
            _ => None,
        };
    }
    let Value::Array(items) = content else { return None };
    match (tag, items.as_slice()) {
        ("$tuple", items) => Some(Value::Tuple(items.to_vec())),
        ("$set", items) => Some(Value::Set(items.to_vec())),
        ("$complex", [real, imaginary]) => Some(Value::Complex(float(real)?, float(imaginary)?)),
        ("$ext", [number, hex]) => {
            let number = i8::try_from(number.as_i64()?).ok()?;
            Some(Value::Ext(number, bytes_of_hex(hex.as_str()?)?))
        }
        ("$map", pairs) => pairs.iter().map(pair).collect::<Option<_>>().map(Value::Map),
        _ => None,
    }
}

fn pair(value: &Value) -> Option<(Value, Value)> {
    match value {
        Value::Array(items) => match items.as_slice() {
            [key, value] => Some((key.clone(), value.clone())),
            _ => None,
        },
        _ => None,
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

fn bytes_of_hex(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, []) = hex.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn wrong_content_of_a_notation_is_refused() {
        let bad = [
            r#"{"$bin": 1}"#,
            r#"{"$bin": "0"}"#,
            r#"{"$bin": "0g"}"#,
            r#"{"$float": "1.5"}"#,
            r#"{"$float": 1.5}"#,
            r#"{"$complex": [1.0]}"#,
            r#"{"$complex": [1, 2]}"#,
            r#"{"$ext": [128, ""]}"#,
            r#"{"$map": [[1]]}"#,
            r#"{"$set": {}}"#,
            r#"{"$other": 1}"#,
        ];
        for text in bad {
            assert_eq!(
                Value::from_json(text).unwrap_err().kind(),
                ErrorKind::InvalidArgument,
                "{text}"
            );
        }
        assert!(Value::from_json(r#"{"$bin": "0", "other": 1}"#).is_ok());
    }

    #[test]
    fn what_was_printed_is_read_back_equal() {
        let pair = (Value::Int(1), "one".into());
        let value = Value::Array(vec![
            b"\x00\xfe"[..].into(),
            Value::Tuple(vec![Value::Set(vec![Value::Ext(-128, vec![])])]),
            Value::Complex(-0.5, f64::INFINITY),
            Value::Map(vec![pair.clone(), pair]),
            Value::Map(vec![("$bin".into(), "00".into())]),
            Value::Map(vec![("$bin".into(), "00".into()), ("x".into(), 1e-300f64.into())]),
            f64::MAX.into(),
            f64::NEG_INFINITY.into(),
            Value::Map(vec![(Value::Float(f64::INFINITY), Value::Int(1))]),
            (1u64 << 63).into(),
            "\u{7f}\u{2028}\u{10ffff}".into(),
        ]);
        assert_eq!(Value::from_json(&value.to_json()).unwrap(), value);
    }
}
