//! Groups against what can be counted by hand.

use super::*;
use crate::error::ErrorKind;
use crate::limits::Limits;
use crate::table::{Source, scan};

fn table() -> MemoryTable {
    let name = Column::new("name", DType::parse("S2").unwrap());
    let day = Column::new("day", DType::parse("<M8[D]").unwrap());
    let days = [1i64, i64::MIN, 5, 2, i64::MIN].iter().flat_map(|x| x.to_le_bytes()).collect();
    MemoryTable::new()
        .with_values("id", &[1u8, 2, 1, 2, 1])
        .and_then(|t| t.with_values("x", &[1.5f64, f64::NAN, 2.5, -0.0, f64::NAN]))
        .and_then(|t| t.with_values("n", &[i64::MAX, 7, i64::MAX, -7, 2]))
        .and_then(|t| t.with_column(name, b"a\0b\0a\0b\0ab".to_vec()))
        .and_then(|t| t.with_column(day, days))
        .unwrap()
}

fn shown(table: &MemoryTable, column: &str) -> Vec<String> {
    let batch = scan(table).with_columns([column]).batches().unwrap().next().unwrap().unwrap();
    (0..batch.len()).map(|row| batch.columns()[0].format_row(row).unwrap()).collect()
}

#[test]
fn measures_of_groups_are_those_of_their_rows() {
    use Measure as M;
    let wanted = [
        Aggregate::new(M::Count, "x"),
        Aggregate::new(M::Sum, "x"),
        Aggregate::new(M::Mean, "x"),
        Aggregate::new(M::Min, "n").named("least"),
        Aggregate::new(M::Max, "day"),
        Aggregate::new(M::Std, "x"),
    ];
    let groups = scan(&table()).group_by(&["id"], &wanted).unwrap();
    let column = |name| shown(&groups, name);
    assert_eq!(column("id"), ["1", "2"]);
    assert_eq!(column("count"), ["3", "2"]);
    assert_eq!(column("count(x)"), ["2", "1"]);
    assert_eq!(column("sum(x)"), ["4.0", "0.0"]);
    assert_eq!(column("mean(x)"), ["2.0", "0.0"]);
    assert_eq!(column("least"), ["2", "-7"]);
    assert_eq!(column("max(day)"), ["1970-01-06", "1970-01-03"]);
    assert_eq!(column("std(x)"), ["0.5", "0.0"]);
}

#[test]
fn sums_find_a_type_that_holds_them() {
    let sum = |by: &str, column: &str| {
        let table =
            scan(&table()).group_by(&[by], &[Aggregate::new(Measure::Sum, column)]).unwrap();
        (table.columns()[2].dtype.to_string(), shown(&table, &format!("sum({column})")))
    };
    assert_eq!(sum("name", "n").0, "<u8".to_owned());
    assert_eq!(sum("name", "n").1, ["18446744073709551614", "0", "2"]);
    assert_eq!(sum("id", "id"), ("<i8".to_owned(), vec!["3".into(), "4".into()]));
    let both = MemoryTable::new()
        .with_values("g", &[1u8, 1, 2, 2])
        .and_then(|t| t.with_values("n", &[i64::MAX, i64::MAX, -1, 0]))
        .unwrap();
    let sums = scan(&both).group_by(&["g"], &[Aggregate::new(Measure::Sum, "n")]).unwrap();
    assert_eq!(shown(&sums, "sum(n)"), ["1.8446744073709552e19", "-1.0"]);
}

#[test]
fn nulls_and_zeros_are_one_key_each() {
    let distinct = |columns: &[&str]| scan(&table()).distinct(columns).unwrap();
    assert_eq!(shown(&distinct(&["x"]), "x"), ["1.5", "nan", "2.5", "-0.0"]);
    assert_eq!(
        shown(&distinct(&["day"]), "day"),
        ["1970-01-02", "NaT", "1970-01-06", "1970-01-03"]
    );
    assert_eq!(distinct(&["id", "name"]).rows(), 3);
    let some = scan(&table()).with_condition("id == 2").unwrap().distinct(&["name"]).unwrap();
    assert_eq!(shown(&some, "name"), ["b"]);
    let table = table();
    let empty = scan(&table).with_condition("id == 9").unwrap();
    assert_eq!(empty.group_by(&["id"], &[]).unwrap().rows(), 0);
}

#[test]
fn what_cannot_be_grouped_is_refused() {
    let table = table();
    let error = |by: &[&str], wanted: &[Aggregate]| scan(&table).group_by(by, wanted).unwrap_err();
    assert_eq!(error(&["idd"], &[]).kind(), ErrorKind::NotFound);
    assert_eq!(
        error(&["id"], &[Aggregate::new(Measure::Sum, "name")]).kind(),
        ErrorKind::Unsupported
    );
    assert_eq!(
        error(&["id"], &[Aggregate::new(Measure::Sum, "day")]).kind(),
        ErrorKind::Unsupported
    );
    let many: Vec<u64> = (0..10_000).collect();
    let many = MemoryTable::new().with_values("n", &many).unwrap();
    let small = scan(&many).with_limits(Limits::default().with_max_decoded(100_000));
    assert_eq!(small.distinct(&["n"]).unwrap_err().kind(), ErrorKind::LimitExceeded);
}
