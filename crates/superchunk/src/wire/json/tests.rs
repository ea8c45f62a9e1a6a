use super::*;
use crate::error::ErrorKind;

const STRICT: Dialect = Dialect { is_strict: true, is_exact: true, max_depth: 128, field: "text" };

fn strict(text: &str) -> Result<Json> {
    parse(text, &STRICT)
}

fn number(text: &str) -> Json {
    Json::Number(text.to_owned())
}

#[test]
fn a_text_is_read_in_its_order_with_its_numbers_as_written() {
    let text = " { \"b\" : [ 1 , -0, 1.50e+3, 1E2 ] ,\n\"\" : {\"x\":null}, \"a\":[true,false] }\t";
    let numbers = ["1", "-0", "1.50e+3", "1E2"].map(number).to_vec();
    let expected = Json::from(vec![
        ("b".to_owned(), numbers.into()),
        (String::new(), vec![("x".to_owned(), Json::Null)].into()),
        ("a".to_owned(), vec![Json::from(true), false.into()].into()),
    ]);
    assert_eq!(Json::parse(text).unwrap(), expected);
    assert_eq!(strict(text).unwrap(), expected);
    let compact = r#"{"b":[1,-0,1.50e+3,1E2],"":{"x":null},"a":[true,false]}"#;
    assert_eq!(expected.to_text(Style::Compact), compact);
    let spaced = r#"{"b": [1, -0, 1.50e+3, 1E2], "": {"x": null}, "a": [true, false]}"#;
    assert_eq!(expected.to_text(Style::Spaced), spaced);
}

#[test]
fn only_the_dialect_of_python_has_names_for_numbers() {
    for name in ["NaN", "Infinity", "-Infinity"] {
        assert_eq!(Json::parse(name).unwrap(), number(name));
        assert_eq!(strict(name).unwrap_err().kind(), ErrorKind::InvalidArgument, "{name}");
    }
    for name in ["nan", "inf", "-NaN", "+Infinity", "infinity", "-Inf", "NaN1", "--Infinity"] {
        assert!(Json::parse(name).is_err(), "{name}");
    }
}

#[test]
fn of_equal_keys_the_last_value_counts_unless_it_is_refused() {
    let text = r#"{"a": 1, "b": 2, "\u0061": 3}"#;
    let expected = r#"{"a": 3, "b": 2}"#;
    assert_eq!(Json::parse(text).unwrap().to_text(Style::Spaced), expected);
    for error in [strict(text).unwrap_err(), Json::parse_exact(text).unwrap_err()] {
        assert_eq!(error.to_string(), "json text: the object has this key already, at byte 25");
    }
    assert_eq!(Json::parse_exact("NaN").unwrap(), Json::Number("NaN".to_owned()));
}

#[test]
fn half_of_a_surrogate_pair_is_replaced_unless_it_is_refused() {
    let halves = [
        (r#""\ud800""#, "\u{fffd}"),
        (r#""\udc00x""#, "\u{fffd}x"),
        (r#""\ud800\u0041""#, "\u{fffd}A"),
        (r#""\ud800\n""#, "\u{fffd}\n"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
    ];
    for (text, expected) in halves {
        assert_eq!(Json::parse(text).unwrap().as_str(), Some(expected), "{text}");
        assert!(strict(text).is_err() && Json::parse_exact(text).is_err(), "{text}");
    }
    let whole = r#""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00""#;
    assert_eq!(strict(whole).unwrap().as_str(), Some("\"\\/\u{8}\u{c}\n\r\té😀"));
    assert!(Json::parse(r#""\ud800\u12""#).is_err());
}

#[test]
fn an_error_tells_its_byte() {
    let at = |text: &str| Json::parse(text).unwrap_err().to_string();
    assert_eq!(at("[1, x]"), "json text: a JSON value is expected, at byte 4");
    assert_eq!(at("{\"é\": 01}"), "json text: this is not a JSON number, at byte 7");
    assert_eq!(at("[\"abc"), "json text: the text has no closing '\"', at byte 5");
    assert_eq!(at("1 2"), "json text: nothing may follow the value, at byte 2");
}

#[test]
fn nesting_is_taken_to_its_limit_and_no_further() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert_eq!(Json::parse(&nested(128)).unwrap().to_text(Style::Compact), nested(128));
        for text in [nested(129), open.repeat(1_000_000)] {
            let error = Json::parse(&text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
            assert_eq!(error.place().unwrap().offset, Some(128 * open.len() as u64));
        }
    }
    // Side by side is not inside each other.
    assert!(Json::parse(&format!("[{}[]]", "[],".repeat(1000))).is_ok());
}

#[test]
fn accessors_convert_what_is_exact_and_answer_only_for_their_own_kind() {
    assert_eq!(number("9223372036854775807").as_i64(), Some(i64::MAX));
    assert_eq!(number("9223372036854775808").as_i64(), None);
    assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(number("18446744073709551616").as_u64(), None);
    assert_eq!(number("-0").as_u64(), Some(0));
    assert_eq!(number("-1").as_u64(), None);
    assert_eq!(number("1.0").as_i64(), None);
    assert_eq!(number("1e2").as_u64(), None);
    assert_eq!(number("1e2").as_f64(), Some(100.0));
    assert_eq!(number("-Infinity").as_f64(), Some(f64::NEG_INFINITY));
    assert_eq!(number("1e999").as_f64(), Some(f64::INFINITY));
    assert!(number("NaN").as_f64().unwrap().is_nan());

    let text = Json::from("1");
    assert_eq!((text.as_i64(), text.as_u64(), text.as_f64()), (None, None, None));
    assert_eq!((text.as_bool(), text.as_array(), text.get("1")), (None, None, None));
    assert_eq!(Json::from(true).as_bool(), Some(true));
    assert_eq!(Json::from(vec![Json::Null]).as_array(), Some(&[Json::Null][..]));
    assert!(Json::Null.is_null() && Json::Null.as_str().is_none());
}

#[test]
fn objects_are_edited_in_place() {
    let mut json = Json::parse(r#"{"a": 1, "b": 2}"#).unwrap();
    json.set("c", vec![Json::from(1), 2u32.into(), 3usize.into()]).unwrap();
    json.set("a", "one").unwrap();
    assert_eq!(json.remove("b"), Some(number("2")));
    assert_eq!(json.remove("b"), None);
    assert_eq!(json.to_text(Style::Spaced), r#"{"a": "one", "c": [1, 2, 3]}"#);
    assert_eq!(json.as_object().unwrap().len(), 2);
    let mut list = Json::Array(vec![]);
    assert_eq!(list.set("a", 1).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(list.remove("a"), None);
}

#[test]
fn floats_and_texts_print_as_python_prints_them() {
    // Each text is what `json.dumps` of Python gives for the value.
    let floats = [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (0.00012345, "0.00012345"),
        (0.000_098_765, "9.8765e-05"),
        (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
        (9_999_999_999_999_998.0, "9999999999999998.0"),
        (4_888_161_086_151_713.0 / 4.0, "1222040271537928.2"),
        (-4_523_581_924_205_741.0 / 4.0, "-1130895481051435.2"),
        (4_888_161_086_151_715.0 / 4.0, "1222040271537928.8"),
        (f64::from_bits(0x3d30_0000_0000_0000), "5.684341886080802e-14"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"),
        (-1e22, "-1e+22"),
        (1e100, "1e+100"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
    ];
    for (value, text) in floats {
        assert_eq!(Json::from(value).to_text(Style::Compact), text);
    }
    assert_eq!(Json::from(u64::MAX).to_text(Style::Compact), "18446744073709551615");
    assert_eq!(Json::from(i64::MIN).to_text(Style::Compact), "-9223372036854775808");

    let text = "\"\\/\u{8}\u{c}\n\r\t\0\u{1f}\u{7f}\u{80}é\u{2028}\u{ffff}😀\u{10ffff}";
    let python = concat!(
        r#""\"\\/\b\f\n\r\t\u0000\u001f\u007f\u0080"#,
        r#"\u00e9\u2028\uffff\ud83d\ude00\udbff\udfff""#
    );
    assert_eq!(Json::from(text).to_text(Style::Compact), python);
    assert_eq!(Json::from(vec![(text.to_owned(), Json::Null)]).to_text(Style::Compact), {
        format!("{{{python}:null}}")
    });
}
