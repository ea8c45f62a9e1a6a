use super::*;
use crate::error::ErrorKind;

#[test]
fn plain_types_are_spelt_as_numpy_spells_them() {
    for (text, kind, size) in [
        ("|b1", DKind::Bool, 1),
        ("|i1", DKind::Int, 1),
        ("<i8", DKind::Int, 8),
        (">u4", DKind::Uint, 4),
        ("<f2", DKind::Float, 2),
        (">f4", DKind::Float, 4),
        ("<c16", DKind::Complex, 16),
        ("|S7", DKind::Bytes, 7),
        ("<U5", DKind::Unicode, 20),
        (">U5", DKind::Unicode, 20),
        ("|V5", DKind::Void, 5),
    ] {
        let dtype: DType = text.parse().unwrap();
        assert_eq!((dtype.kind(), dtype.item_size()), (kind, size), "{text}");
        assert_eq!(dtype.to_string(), text);
    }
    for text in ["<M8[s]", ">m8[25us]", "<M8[D]", "<m8"] {
        assert_eq!(DType::parse(text).unwrap().to_string(), text);
    }
    for (alias, text) in [
        ("float32", "<f4"),
        ("?", "|b1"),
        ("<i1", "|i1"),
        ("datetime64[ns]", "<M8[ns]"),
        ("d", "<f8"),
    ] {
        assert_eq!(DType::parse(alias).unwrap().to_string(), text);
    }
}

#[test]
fn structures_are_spelt_as_numpy_spells_them() {
    // What str(numpy.dtype(…)) gives, for NumPy 2.
    for (text, size) in [
        ("[('a', '<i4'), ('b', '<f8'), ('c', 'S3')]", 15),
        ("[('a', '?'), ('b', '<U3'), ('c', 'i1'), ('d', 'V7')]", 21),
        ("[('p', '<f8', (2, 3)), ('q', '>i2', (4,))]", 56),
        ("[('o', [('x', '<f4'), ('y', '<f4')], (2,)), ('t', '<M8[ms]')]", 24),
        ("[(('the title', 'a'), '<i4'), (\"it's\", '<i4')]", 8),
        (
            "{'names': ['a', 'b', 'c'], 'formats': ['i1', ('<f8', (2, 3)), '<i2'], \
             'offsets': [0, 8, 56], 'itemsize': 64, 'aligned': True}",
            64,
        ),
        ("{'names': ['a', 'b'], 'formats': ['<i4', 'S2'], 'offsets': [2, 9], 'itemsize': 12}", 12),
    ] {
        let dtype: DType = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((dtype.kind(), dtype.item_size()), (DKind::Struct, size), "{text}");
        assert_eq!(dtype.to_string(), text);
    }
}

#[test]
fn a_dictionary_without_offsets_is_laid_out_by_its_rules() {
    let text = "{'names': ['a', 'b'], 'formats': ['i1', '<f8'], 'aligned': True}";
    let aligned = DType::parse(text).unwrap();
    assert_eq!((aligned.fields()[1].offset(), aligned.item_size()), (8, 16));
    let packed = DType::parse("{'names': ['a', 'b'], 'formats': ['i1', '<f8']}").unwrap();
    assert_eq!(packed.to_string(), "[('a', 'i1'), ('b', '<f8')]");
    let record = DType::parse("(numpy.record, [('a', '<i4')])").unwrap();
    assert_eq!(record.to_string(), "[('a', '<i4')]");
}

#[test]
fn nonsense_is_refused_in_words() {
    for text in [
        "",
        "<",
        "x4",
        "<f3",
        "<i4[s]",
        "<M8[parsecs]",
        "[",
        "[('a', '<i4')",
        "[('a',)]",
        "[1]",
        "[('a', '<i4'), ('a', '<i4')]",
        "{'names': ['a'], 'formats': []}",
        "{'names': ['a'], 'formats': ['<i4'], 'itemsize': 3}",
        "[('a', '<i4')] + []",
        "__import__('os')",
        "[('a', '<i4', 'x')]",
        "<f4 ",
        "i4,f8",
        "[('a', '<i4', (99999999999999999999,))]",
    ] {
        if text == "<f4 " {
            assert!(DType::parse(text).is_ok());
            continue;
        }
        let error = DType::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{text}: {error}");
    }
    assert_eq!(DType::parse("|O").unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(DType::parse("[('a', 'O')]").unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn depth_and_size_are_limited() {
    let deep = format!("{}'<i4'{}", "[('a', ".repeat(40), ")]".repeat(40));
    let long = format!("[('{}', '<i4')]", "a".repeat(70_000));
    for text in [deep.as_str(), &long, "|V4000000000", "[('a', '<f8', (100000, 100000))]"] {
        assert_eq!(DType::parse(text).unwrap_err().kind(), ErrorKind::LimitExceeded);
    }
    let nested = format!("{}'<i4'{}", "[('a', ".repeat(10), ")]".repeat(10));
    assert_eq!(DType::parse(&nested).unwrap().item_size(), 4);
}

#[test]
fn items_become_text() {
    let text = |dtype: &str, bytes: &[u8]| DType::parse(dtype).unwrap().format_item(bytes);
    assert_eq!(text("|b1", &[1]), "True");
    assert_eq!(text("|i1", &[0xff]), "-1");
    assert_eq!(text(">i4", &(-5i32).to_be_bytes()), "-5");
    assert_eq!(text("<u8", &u64::MAX.to_le_bytes()), u64::MAX.to_string());
    assert_eq!(text("<f4", &0.1f32.to_le_bytes()), "0.1");
    assert_eq!(text("<f8", &f64::NAN.to_le_bytes()), "nan");
    assert_eq!(text("<f2", &0x3c00u16.to_le_bytes()), "1.0");
    assert_eq!(text("<f2", &0xc000u16.to_le_bytes()), "-2.0");
    assert_eq!(text("<f2", &1u16.to_le_bytes()), "6e-8");
    assert_eq!(text("|S5", b"abc\0\0"), "abc");
    assert_eq!(text("|S2", b"\x1b["), "\\u{1b}[");
    assert_eq!(text(">U2", &[0, 0, 0, b'h', 0, 0, 3, 0xb1]), "hα");
    assert_eq!(text("|V2", &[1, 0xab]), "0x01ab");
    assert_eq!(text("<c8", &[1.5f32.to_le_bytes(), (-2f32).to_le_bytes()].concat()), "(1.5-2.0j)");
    let row = [&7i32.to_le_bytes()[..], b"xy", &[1, 2]].concat();
    assert_eq!(text("[('a', '<i4'), ('b', 'S2'), ('c', 'u1', (2,))]", &row), "(7, xy, [1, 2])");
}

#[test]
fn moments_are_those_of_the_calendar() {
    let moment = |unit: &str, count: i64| {
        DType::parse(&format!("<M8[{unit}]")).unwrap().format_item(&count.to_le_bytes())
    };
    // What numpy.datetime64(count, unit) prints.
    assert_eq!(moment("Y", 30), "2000");
    assert_eq!(moment("M", -1), "1969-12");
    assert_eq!(moment("D", 0), "1970-01-01");
    assert_eq!(moment("D", 11_016), "2000-02-29");
    assert_eq!(moment("D", -719_528), "0000-01-01");
    assert_eq!(moment("W", 1), "1970-01-08");
    assert_eq!(moment("h", 25), "1970-01-02T01");
    assert_eq!(moment("m", -1), "1969-12-31T23:59");
    assert_eq!(moment("s", 1_000_000_000), "2001-09-09T01:46:40");
    assert_eq!(moment("ms", -1), "1969-12-31T23:59:59.999");
    assert_eq!(moment("25us", 2), "1970-01-01T00:00:00.000050");
    assert_eq!(moment("ns", i64::MIN), "NaT");
    let delta = DType::parse("<m8[ms]").unwrap();
    assert_eq!(delta.format_item(&90i64.to_le_bytes()), "90 milliseconds");
}

#[test]
fn halves_have_the_digits_that_numpy_prints() {
    let half = DType::parse("<f2").unwrap();
    let cases: [(u16, &str); 11] = [
        (0x2e66, "0.1"),
        (0x3555, "0.3333"),
        (0x7bff, "65500.0"),
        (0x0400, "6.104e-5"),
        (0x8000, "-0.0"),
        (0xc248, "-3.14"),
        (0x3c01, "1.001"),
        (0xfc00, "-inf"),
        // Closest of four digits is 0.01562, which reads back as another value.
        (0x2400, "0.01563"),
        // Halfway to the next value, and to the one before.
        (0x6c04, "4110.0"),
        (0x0402, "6.115e-5"),
    ];
    for (bits, text) in cases {
        assert_eq!(half.format_item(&bits.to_le_bytes()), text, "{bits:#x}");
    }
}

/// The digits of a number without those zeros that only place it, and the power of ten of the last.
fn digits_of(text: &str) -> (i64, i32) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits: i64 = format!("{whole}{fraction}").parse().unwrap();
    let mut exponent = exponent.parse::<i32>().unwrap() - i32::try_from(fraction.len()).unwrap();
    while digits != 0 && digits % 10 == 0 {
        (digits, exponent) = (digits / 10, exponent + 1);
    }
    (digits, exponent)
}

#[test]
fn halves_read_back_equal_and_from_no_fewer_digits() {
    let half = DType::parse("<f2").unwrap();
    let finite = (0..0x7c00).map(|bits| f64::from(value::half(bits)));
    // What rounds to the value after the largest is infinite.
    let values: Vec<f64> = finite.chain([65_536.0]).collect();
    // The value that IEEE 754 rounds a number to: the closest, and of two the one that is even.
    let read = |number: f64| {
        let above = values.partition_point(|value| *value < number).min(values.len() - 1);
        let below = above.saturating_sub(1);
        let gaps = (number - values[below], values[above] - number);
        let is_below = gaps.0 < gaps.1 || gaps.0 == gaps.1 && below % 2 == 0;
        if is_below { below } else { above }
    };
    for bits in 0..=u16::MAX {
        let text = half.format_item(&bits.to_le_bytes());
        let magnitude = usize::from(bits & 0x7fff);
        if magnitude >= 0x7c00 {
            assert!(["inf", "-inf", "nan"].contains(&text.as_str()), "{bits:#x}: {text}");
            continue;
        }
        assert_eq!(text.starts_with('-'), bits > 0x7fff, "{bits:#x}: {text}");
        let text = text.trim_start_matches('-');
        assert_eq!(read(text.parse().unwrap()), magnitude, "{bits:#x}: {text}");
        let (digits, exponent) = digits_of(text);
        if digits < 10 {
            continue;
        }
        for fewer in [digits / 10, digits / 10 + 1] {
            let shorter = format!("{fewer}e{}", exponent + 1);
            let found = read(shorter.parse().unwrap());
            assert_ne!(found, magnitude, "{bits:#x}: {shorter} would do for {text}");
        }
    }
}

#[test]
fn json_has_nested_lists_and_an_object_for_what_it_does_not_have() {
    let json = |dtype: &str, bytes: &[u8], shape: &[usize]| {
        DType::parse(dtype).unwrap().to_json(bytes, shape)
    };
    assert_eq!(json("|i1", &[1, 2, 3, 4, 5, 6], &[2, 3]), "[[1, 2, 3], [4, 5, 6]]");
    assert_eq!(json("|i1", &[], &[2, 0]), "[[], []]");
    assert_eq!(json("<f4", &0.1f32.to_le_bytes(), &[]), "0.1");
    assert_eq!(json(">f8", &f64::NEG_INFINITY.to_be_bytes(), &[]), r#"{"$float": "-inf"}"#);
    let complex: Vec<u8> = [0.5f32, f32::NAN].iter().flat_map(|part| part.to_le_bytes()).collect();
    assert_eq!(json("<c8", &complex, &[]), r#"{"$complex": [0.5, {"$float": "nan"}]}"#);
    assert_eq!(json("|S4", b"a\n\\", &[]), r#""a\n\\""#);
    assert_eq!(json("|V2", &[0, 255], &[]), r#"{"$bin": "00ff"}"#);
    assert_eq!(json("<f16", &[7; 16], &[]), format!(r#"{{"$bin": "{}"}}"#, "07".repeat(16)));
    assert_eq!(json("<c32", &[8; 32], &[]), format!(r#"{{"$bin": "{}"}}"#, "08".repeat(32)));
    assert_eq!(json("<U1", &0xd800u32.to_le_bytes(), &[]), r#"{"$bin": "00d80000"}"#);
    let structure = "[('a', '|i1'), ('b', '|b1', (2,))]";
    assert_eq!(json(structure, &[7, 1, 0], &[]), r#"{"a": 7, "b": [true, false]}"#);
}

#[test]
fn text_is_exact_or_refused() {
    let text = |dtype: &str, bytes: &[u8], shape: &[usize]| {
        DType::parse(dtype).unwrap().to_text(bytes, shape)
    };
    assert_eq!(text("|S5", b"a\n\\\0", &[]).unwrap(), "a\n\\");
    assert_eq!(text("|S1", b"ab", &[2]).unwrap(), r#"["a", "b"]"#);
    assert_eq!(text("|u1", &[1, 2], &[2]).unwrap(), "[1, 2]");
    let error = text("|S2", &[0xff, b'a'], &[]).unwrap_err();
    assert!(error.to_string().contains(r#"{"$bin": "ff61"} is no text"#), "{error}");
}

#[test]
fn what_is_no_text_is_refused_inside_of_lists_and_structures_too() {
    let text = |dtype: &str, bytes: &[u8], shape: &[usize]| {
        let text = DType::parse(dtype).unwrap().to_text(bytes, shape);
        text.map_err(|error| error.to_string())
    };
    assert_eq!(text("|S2", b"ab\xc3\xa4", &[2]).unwrap(), r#"["ab", "ä"]"#);
    assert_eq!(text("|S2", b"ab\xff\0", &[2]).unwrap_err(), r#"{"$bin": "ff"} is no text"#);
    let fields = "[('a', '|u1'), ('b', [('c', '|S2', (2,)), ('v', '|V2')])]";
    let json = r#"{"a": 255, "b": {"c": ["x", "y"], "v": {"$bin": "ffff"}}}"#;
    // Bytes that are not meant as text are none, whatever they are.
    assert_eq!(text(fields, b"\xffx\0y\0\xff\xff", &[]).unwrap(), json);
    let error = text(fields, b"\x01x\0\xfey\xff\xff", &[]).unwrap_err();
    assert_eq!(error, r#"{"$bin": "fe79"} is no text"#);
    // Only as many items as the shape says.
    assert_eq!(text("|S1", b"a\xff", &[1]).unwrap(), r#"["a"]"#);
    assert!(text("<U1", &0xd800u32.to_le_bytes(), &[1]).is_err());
}
