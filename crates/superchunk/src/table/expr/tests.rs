//! What expressions mean, on small tables.

use crate::dtype::DType;
use crate::error::{Error, ErrorKind};
use crate::table::{Column, Expr, MemoryTable, Params, scan};

fn bytes_of<T: bytemuck::Pod>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

fn texts(dtype: &str, values: &[&str]) -> (DType, Vec<u8>) {
    let dtype = DType::parse(dtype).unwrap();
    let mut bytes = Vec::new();
    for value in values {
        let mut row = super::text::encoded(&dtype, value);
        row.resize(dtype.item_size(), 0);
        bytes.extend(row);
    }
    (dtype, bytes)
}

/// Four rows of everything.
fn table() -> MemoryTable {
    let column = |name: &str, dtype: &str| Column::new(name, DType::parse(dtype).unwrap());
    let (s, s_bytes) = texts("S5", &["", "apple", "pear", "fig"]);
    let (u, u_bytes) = texts("<U5", &["ärger", "apple", "", "ß"]);
    let big: Vec<u8> = [1i32, -2, 300, 40_000].iter().flat_map(|x| x.to_be_bytes()).collect();
    let halves: Vec<u8> =
        [0u16, 0x3c00, 0x7e00, 0xc000].iter().flat_map(|x| x.to_le_bytes()).collect();
    MemoryTable::new()
        .with_values("i", &[-3i32, 0, 5, 9])
        .and_then(|t| t.with_values("l", &[i64::MIN, -1, 9_007_199_254_740_993, i64::MAX]))
        .and_then(|t| t.with_values("u", &[0u64, 1, 1 << 63, u64::MAX]))
        .and_then(|t| t.with_values("f", &[-0.5f64, f64::NAN, 9_007_199_254_740_992.0, 2.5]))
        .and_then(|t| t.with_values("s", &[0.1f32, 0.5, -1.0, f32::INFINITY]))
        .and_then(|t| t.with_column(column("flag", "?"), vec![1, 0, 1, 0]))
        .and_then(|t| t.with_column(column("be", ">i4"), big))
        .and_then(|t| t.with_column(column("h", "<f2"), halves))
        .and_then(|t| t.with_column(Column::new("name", s), s_bytes))
        .and_then(|t| t.with_column(Column::new("word", u), u_bytes))
        .and_then(|t| {
            t.with_column(column("day", "<M8[D]"), bytes_of(&[0i64, 19_782, i64::MIN, -1]))
        })
        .and_then(|t| {
            t.with_column(column("at", "<M8[s]"), bytes_of(&[0i64, 1_709_164_800, 5, -1]))
        })
        .and_then(|t| {
            t.with_column(column("took", "<m8[s]"), bytes_of(&[90i64, 0, i64::MIN, 3600]))
        })
        .and_then(|t| t.with_column(column("c", "<c8"), vec![0; 32]))
        .and_then(|t| t.with_column(column("v", "<f4").with_row_shape(&[2]), vec![0; 32]))
        .and_then(|t| t.with_column(column("two words", "|u1"), vec![1, 2, 3, 4]))
        .unwrap()
}

fn rows(text: &str) -> Vec<u64> {
    let found = scan(&table()).with_condition(text).and_then(|scan| scan.row_numbers());
    found.unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> Error {
    let table = table();
    let found = scan(&table).with_condition(text).and_then(|scan| scan.row_numbers());
    found.expect_err(text)
}

#[test]
fn numbers_are_compared_exactly() {
    assert_eq!(rows("l > 9007199254740992"), [2, 3]);
    assert_eq!(rows("l > 9007199254740992.0"), [2, 3]);
    assert_eq!(rows("l == f"), [] as [u64; 0]);
    assert_eq!(rows("l > f"), [2, 3]);
    assert_eq!(rows("f < l"), [2, 3]);
    assert_eq!(rows("f < 9007199254740993"), [0, 2, 3]);
    assert_eq!(rows("u > l"), [0, 1, 2, 3]);
    assert_eq!(rows("u >= 9223372036854775808"), [2, 3]);
    assert_eq!(rows("u == 18446744073709551615"), [3]);
    assert_eq!(rows("u > -1"), [0, 1, 2, 3]);
    assert_eq!(rows("i > 4.5"), [2, 3]);
    assert_eq!(rows("i == 5.0"), [2]);
    assert_eq!(rows("s == 0.1"), [] as [u64; 0]);
    assert_eq!(rows("s == float32(0.1)"), [0]);
    assert_eq!(rows("be > 100"), [2, 3]);
    assert_eq!(rows("h >= 0"), [0, 1]);
}

#[test]
fn chains_lists_and_words_of_comparison() {
    assert_eq!(rows("0 <= i < 9"), [1, 2]);
    assert_eq!(rows("i between 0 and 5"), [1, 2]);
    assert_eq!(rows("i not between 0 and 5"), [0, 3]);
    assert_eq!(rows("f not between 0 and 5"), [0, 1, 2]);
    assert_eq!(rows("i in (9, -3, 2.5, 7)"), [0, 3]);
    assert_eq!(rows("i not in (4, 5, 6)"), [0, 1, 3]);
    assert_eq!(rows("f in (2.5, nan, -0.5)"), [0, 3]);
    assert_eq!(rows("h in (0, -2)"), [0, 3]);
    assert_eq!(rows("i in (5, be, i + 0)"), [0, 1, 2, 3]);
    assert_eq!(rows("i in ()"), [] as [u64; 0]);
    assert_eq!(rows("i in (1,2,3,4,5,6,7,8,11,12,13,14,15,17)"), [2]);
    assert_eq!(rows("f is nan"), [1]);
    assert_eq!(rows("f is not nan and not isnan(h)"), [0, 3]);
    assert_eq!(rows("f is null or i is null"), [1]);
    assert_eq!(rows("isinf(s) or not isfinite(f)"), [1, 3]);
}

#[test]
fn logic_has_words_and_signs() {
    assert_eq!(rows("flag"), [0, 2]);
    assert_eq!(rows("not flag"), [1, 3]);
    assert_eq!(rows("~flag & (i > 0)"), [3]);
    assert_eq!(rows("flag | (i > 0) and true"), [0, 2, 3]);
    assert_eq!(rows("flag ^ (i > 0)"), [0, 3]);
    assert_eq!(rows("flag == false"), [1, 3]);
    assert_eq!(rows("flag + 1 == 2"), [0, 2]);
    assert_eq!(rows("(i > 0) == flag"), [1, 2]);
    assert_eq!(rows("1 < 2"), [0, 1, 2, 3]);
    assert_eq!(rows("'a' > 'b' or 2 ** 10 != 1024"), [] as [u64; 0]);
    assert_eq!(rows("i & 4 != 0"), [0, 2]);
    assert_eq!(rows("~i == -10"), [3]);
}

#[test]
fn integers_do_not_overflow() {
    assert_eq!(rows("l + 1 > l"), [0, 1, 2, 3]);
    assert_eq!(rows("l * l == 85070591730234615847396907784232501249"), [3]);
    assert_eq!(rows("-l == 9223372036854775808"), [0]);
    assert_eq!(rows("abs(l) > 9223372036854775807"), [0]);
    assert_eq!(rows("u - 1 == -1"), [0]);
    assert_eq!(rows("u % 10 == 5"), [3]);
    assert_eq!(rows("u << 1 > u"), [1, 2, 3]);
    assert_eq!(rows("u >> 63 == 1"), [2, 3]);
    // Beyond 126 bits they become floats.
    assert_eq!(rows("l ** 3 > 7.8e56"), [3]);
    assert_eq!(rows("i ** 2 == 81"), [3]);
    assert_eq!(rows("2 ** i > 30"), [2, 3]);
}

#[test]
fn arithmetic_is_that_of_python() {
    assert_eq!(rows("i // 2 == -2"), [0]);
    assert_eq!(rows("i % 4 == 1"), [0, 2, 3]);
    assert_eq!(rows("i / 2 == 2.5"), [2]);
    assert_eq!(rows("1 / i == inf"), [1]);
    assert_eq!(rows("i // 0 == 0 and i % 0 == 0"), [0, 1, 2, 3]);
    assert_eq!(rows("f % 1 == 0.5"), [0, 3]);
    assert_eq!(rows("floor(f) == -1 or ceil(f) == 3"), [0, 3]);
    assert_eq!(rows("sqrt(i) == 3"), [3]);
    assert_eq!(rows("exp(log(i)) > 8"), [3]);
    assert_eq!(rows("min(i, 2, be) == -3"), [0]);
    assert_eq!(rows("max(f, 0) is nan"), [1]);
    assert_eq!(rows("where(flag, i, -i) == -9"), [3]);
    assert_eq!(rows("round(2.5) == 2 and -2 ** 2 == -4"), [0, 1, 2, 3]);
    assert_eq!(rows("trunc(f) == 2 or abs(f) == 0.5"), [0, 3]);
}

#[test]
fn texts_and_moments() {
    assert_eq!(rows("name == 'apple'"), [1]);
    assert_eq!(rows("name == b'apple' or 'pear' == name"), [1, 2]);
    assert_eq!(rows("name in ('fig', '', 'none')"), [0, 3]);
    assert_eq!(rows("name < 'b' and name != ''"), [1]);
    assert_eq!(rows("word startswith 'är' or endswith(word, 'ß')"), [0, 3]);
    assert_eq!(rows("name contains 'p' and not name endswith 'r'"), [1]);
    assert_eq!(rows("name not contains 'p'"), [0, 3]);
    assert_eq!(rows("day >= '1970-01-01'"), [0, 1]);
    assert_eq!(rows("day != '2024-02-29'"), [0, 2, 3]);
    assert_eq!(rows("day < '2024-02-29T00:00:01'"), [0, 1, 3]);
    assert_eq!(rows("day is null"), [2]);
    assert_eq!(rows("day in ('2024-02-29', '1969-12-31')"), [1, 3]);
    assert_eq!(rows("day between '1969' and '1971'"), [0, 3]);
    assert_eq!(rows("day == at"), [0, 1]);
    assert_eq!(rows("day != at"), [2, 3]);
    assert_eq!(rows("day < at"), [3]);
    assert_eq!(rows("took > '1 minute'"), [0, 3]);
    assert_eq!(rows("`two words` == 3"), [2]);
}

#[test]
fn parameters_are_values_and_never_text() {
    let table = table();
    let count =
        |text: &str, params: Params| scan(&table).with_condition(text)?.with_params(params).count();
    assert_eq!(
        count("i > :low and i < $1", Params::new().with("low", -5).with("1", 6)).unwrap(),
        3
    );
    let hostile = Params::new().with("name", "' or true or '");
    assert_eq!(count("name == :name", hostile).unwrap(), 0);
    let missing = count("i > :lwo", Params::new().with("low", 1)).unwrap_err();
    assert!(missing.message().contains("did you mean `low`"), "{missing}");
    let many: Params = [("a", 1.5), ("b", 7.0)].into_iter().collect();
    assert_eq!(count("i between :a and :b", many).unwrap(), 1);
}

#[test]
fn errors_name_the_place_and_what_would_do() {
    for (text, offset, words) in [
        ("i > 1 and clsoe < 2", 10, "there is no column `clsoe`"),
        ("i > 1 and flga", 10, "did you mean `flag`"),
        ("i + 1", 2, "a condition was expected, this is a number"),
        ("i > 'x'", 2, "a number is not compared with a text"),
        ("name > 1", 7, "a text was expected"),
        ("word == b'x'", 8, "leave the b away"),
        ("day > 1", 6, "write '2024-02-29'"),
        ("day > '2023-02-29'", 6, "write '2024-02-29'"),
        ("took > '2024-01-01'", 7, "write '90s'"),
        ("day > took", 4, "a moment is not compared with a duration"),
        ("c == 1", 0, "holds items of type <c8"),
        ("v > 1", 0, "arrays of shape [2]"),
        ("name + 1 > 2", 5, "`+` takes numbers, not a text and a number"),
        ("f & 1 == 1", 2, "two conditions or two integers"),
        ("sqtr(i) > 1", 0, "did you mean `sqrt`"),
        ("sqrt(i, i) > 1", 0, "does not take 2 arguments"),
        ("i << i > 1", 2, "shifted by a constant"),
        ("name == word", 5, "one column is bytes"),
        ("i in (1, 'a')", 9, "a text is never a number"),
        ("i startswith 'x'", 0, "asks a column of text"),
    ] {
        let error = refused(text);
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{text}");
        assert!(error.message().contains(words), "{text}: {error}");
        assert_eq!(error.place().unwrap().offset, Some(offset), "{text}: {error}");
    }
}

#[test]
fn an_expression_remembers_its_text() {
    let expr = Expr::parse(" i > 1 ").unwrap();
    assert_eq!((expr.text(), expr.to_string().as_str()), (" i > 1 ", " i > 1 "));
    assert_eq!(expr.to_string().parse::<Expr>().unwrap(), expr);
    assert_eq!(format!("{expr:?}"), r#"Expr(" i > 1 ")"#);
    assert!("i >".parse::<Expr>().is_err());
}
