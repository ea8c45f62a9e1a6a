//! Expressions as NumPy understands them, and bounds of chunks while the real bcolz changes the table.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use superchunk::DType;
use superchunk::bcolz::{ArrayOptions, Table, TableOptions};
use superchunk::table::{self, Column, MemoryTable};
use superchunk_testkit::legacy_peer::LegacyPeer;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::table_peer::TablePeer;

const ROWS: usize = 500;

/// The same expression for us and for NumPy.
#[derive(Clone)]
struct Pair {
    ours: String,
    theirs: String,
}

fn pair(ours: impl Into<String>, theirs: impl Into<String>) -> Pair {
    Pair { ours: ours.into(), theirs: theirs.into() }
}

fn same(text: &str) -> Pair {
    pair(text, text)
}

/// Columns: integers that do not overflow, floats with all that is special, texts, moments.
fn columns(rng: &mut Rng) -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let mut ints = |low: i64, count: u64| -> Vec<u8> {
        (0..ROWS)
            .flat_map(|_| (low + i64::try_from(rng.below(count)).unwrap()).to_le_bytes())
            .collect()
    };
    let (i, j) = (ints(-20, 41), ints(-3, 7));
    let day: Vec<u8> = (0i64..)
        .take(ROWS)
        .flat_map(|row| if row % 17 == 0 { i64::MIN } else { row * 37 - 3000 }.to_le_bytes())
        .collect();
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e300, 5e-324];
    let mut floats = |scale: f64| -> Vec<u8> {
        let values = (0..ROWS).map(|row| match row % 9 {
            0 => special[rng.index(special.len())],
            _ => (rng.unit() * scale).round() / 4.0 - scale / 8.0,
        });
        values.flat_map(f64::to_le_bytes).collect()
    };
    let (f, g) = (floats(40.0), floats(12.0));
    let words = ["", "a", "ab", "b", "ba", "abc"];
    let word = |row: usize| words[row * 7 % words.len()];
    let s = (0..ROWS).flat_map(|row| {
        let mut bytes = word(row).as_bytes().to_vec();
        bytes.resize(3, 0);
        bytes
    });
    let w = (0..ROWS).flat_map(|row| {
        let mut bytes: Vec<u8> =
            word(row + 1).chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
        bytes.resize(12, 0);
        bytes
    });
    let flag = (0..ROWS).map(|row| u8::from(row % 3 == 0));
    vec![
        ("i", "<i8", i),
        ("j", "<i8", j),
        ("f", "<f8", f),
        ("g", "<f8", g),
        ("s", "|S3", s.collect()),
        ("w", ">U3", w.collect()),
        ("flag", "|b1", flag.collect()),
        ("day", "<M8[D]", day),
    ]
}

/// A number, of any depth.
fn number(rng: &mut Rng, depth: u32) -> Pair {
    if depth == 0 {
        let leaves = ["i", "j", "f", "g", "3", "-2", "0.25", "i", "g"];
        return same(leaves[rng.index(leaves.len())]);
    }
    let (a, b) = (number(rng, depth - 1), number(rng, depth - 1));
    let binary = |sign: &str| {
        pair(
            format!("({} {sign} {})", a.ours, b.ours),
            format!("({} {sign} {})", a.theirs, b.theirs),
        )
    };
    let call = |ours: &str, theirs: &str| {
        pair(format!("{ours}({})", a.ours), format!("np.{theirs}({})", a.theirs))
    };
    match rng.below(14) {
        0 => binary("+"),
        1 => binary("-"),
        2 => binary("*"),
        // Python's own numbers refuse what arrays do.
        3 => pair(
            format!("({} / {})", a.ours, b.ours),
            format!("np.divide({}, {})", a.theirs, b.theirs),
        ),
        4 => pair(
            format!("({} // {})", a.ours, b.ours),
            format!("np.floor_divide({}, {})", a.theirs, b.theirs),
        ),
        5 => pair(
            format!("({} % {})", a.ours, b.ours),
            format!("np.mod({}, {})", a.theirs, b.theirs),
        ),
        6 => pair(format!("-({})", a.ours), format!("-({})", a.theirs)),
        7 => call("abs", "abs"),
        8 => call("floor", "floor"),
        9 => call("ceil", "ceil"),
        10 => call("sqrt", "sqrt"),
        11 => pair(
            format!("min({}, {})", a.ours, b.ours),
            format!("np.minimum({}, {})", a.theirs, b.theirs),
        ),
        12 => pair(
            format!("max({}, {})", a.ours, b.ours),
            format!("np.maximum({}, {})", a.theirs, b.theirs),
        ),
        _ => pair(
            format!("where(flag, {}, {})", a.ours, b.ours),
            format!("np.where(flag, {}, {})", a.theirs, b.theirs),
        ),
    }
}

fn condition(rng: &mut Rng, depth: u32) -> Pair {
    if depth > 0 && rng.below(2) == 0 {
        let (a, b) = (condition(rng, depth - 1), condition(rng, depth - 1));
        return match rng.below(3) {
            0 => pair(
                format!("({}) and ({})", a.ours, b.ours),
                format!("np.logical_and({}, {})", a.theirs, b.theirs),
            ),
            1 => pair(
                format!("({}) or ({})", a.ours, b.ours),
                format!("np.logical_or({}, {})", a.theirs, b.theirs),
            ),
            _ => pair(format!("not ({})", a.ours), format!("np.logical_not({})", a.theirs)),
        };
    }
    let order = ["==", "!=", "<", "<=", ">", ">="][rng.index(6)];
    let level = u32::try_from(rng.below(3)).unwrap();
    let (a, b) = (number(rng, level), number(rng, 1));
    match rng.below(8) {
        0 => pair(format!("({}) is nan", a.ours), format!("np.isnan({})", a.theirs)),
        1 => pair(
            format!("{} between -2 and 3.5", a.ours),
            format!("np.logical_and({0} >= -2, {0} <= 3.5)", a.theirs),
        ),
        2 => pair(
            format!("({}) in (1, 2.5, -3, 0)", a.ours),
            format!("np.isin({}, [1, 2.5, -3, 0])", a.theirs),
        ),
        3 => {
            let word = ["a", "ab", "", "b"][rng.index(4)];
            match rng.below(2) {
                0 => pair(format!("s {order} '{word}'"), format!("s {order} b'{word}'")),
                _ => same(&format!("w {order} '{word}'")),
            }
        }
        4 => {
            let date = ["1970-01-01", "1965-03-02", "2001-12-31", "1999"][rng.index(4)];
            pair(format!("day {order} '{date}'"), format!("day {order} np.datetime64('{date}')"))
        }
        _ => pair(
            format!("{} {order} {}", a.ours, b.ours),
            format!("{} {order} {}", a.theirs, b.theirs),
        ),
    }
}

#[test]
fn numpy_finds_the_same_rows() {
    let mut rng = Rng::new(2024);
    let mut peer = TablePeer::spawn();
    let mut table = MemoryTable::new();
    for (name, dtype, bytes) in columns(&mut rng) {
        peer.load(name, dtype, &bytes).unwrap();
        let column = Column::new(name, DType::parse(dtype).unwrap()).with_chunk_rows(64);
        table = table.with_column(column, bytes).unwrap();
    }
    let table = table.with_bounds().unwrap();
    let fixed = [
        same("flag"),
        pair("day is null", "np.isnat(day)"),
        pair("day is not null and flag", "np.logical_and(~np.isnat(day), flag)"),
        same("(i > 3) & (j < 2) | flag"),
        same("flag ^ (f > 0)"),
        same("~flag"),
        same("i & 3 == 1"),
        same("i ** 2 > 100"),
        same("f ** 2 > 100"),
        same("(i << 2) >= (j * 8)"),
        same("i >> 1 == -3"),
        pair("exp(g) < log(abs(f) + 1)", "np.exp(g) < np.log(abs(f) + 1)"),
        pair("startswith(s, 'a')", "np.char.startswith(s, b'a')"),
        pair("w endswith 'b'", "np.char.endswith(w, 'b')"),
        pair("contains(w, 'b')", "np.char.find(w, 'b') >= 0"),
        pair("s in ('a', 'b', 'x')", "np.isin(s, [b'a', b'b', b'x'])"),
        pair("round(f) == 2", "np.round(f) == 2"),
        pair("isfinite(f) or isinf(g)", "np.isfinite(f) | np.isinf(g)"),
    ];
    let made = (0..320).map(|n| condition(&mut rng, n % 3)).collect::<Vec<_>>();
    let mut found = 0;
    for pair in fixed.iter().chain(&made) {
        let theirs =
            peer.mask(&pair.theirs).unwrap_or_else(|error| panic!("{}: {error}", pair.theirs));
        let rows: Vec<u64> =
            (0..).zip(&theirs).filter(|(_, truth)| **truth != 0).map(|(row, _)| row).collect();
        let scan = table::scan(&table).with_condition(&pair.ours).unwrap();
        let ours = scan.row_numbers().unwrap_or_else(|error| panic!("{}: {error}", pair.ours));
        let differ = ours.iter().find(|row| !rows.contains(row));
        let differ = differ.or_else(|| rows.iter().find(|row| !ours.contains(row)));
        assert!(differ.is_none(), "{}\n{}\ndiffer in row {differ:?}", pair.ours, pair.theirs);
        found += usize::from(!rows.is_empty());
    }
    assert!(found > 200, "only {found} expressions found anything");
}

#[test]
fn bounds_are_never_wrong_whatever_bcolz_does_to_the_table() {
    let (scratch, mut peer) = (Scratch::new(), LegacyPeer::spawn());
    let path = scratch.path("t.bcolz");
    let numbers =
        |range: std::ops::Range<u32>| -> Vec<u8> { range.flat_map(u32::to_le_bytes).collect() };
    let array = || ArrayOptions::of::<u32>().with_chunk_len(1000);
    let options = TableOptions::new().with_column("n", array()).with_column("m", array());
    let mut table = Table::create(&path, &options).unwrap();
    table.append(&[("n", &numbers(0..5500)), ("m", &numbers(0..5500))]).unwrap();
    table.refresh_bounds().unwrap();
    table.close().unwrap();

    let check = |peer: &mut LegacyPeer, text: &str, rows: u64| {
        let theirs = peer.bcolz_count_where(&path, text).unwrap();
        let table = Table::open(&path).unwrap();
        let source = table.source();
        let mut batches = table::scan(&source).with_condition(text).unwrap().batches().unwrap();
        let ours: u64 = batches.by_ref().map(|batch| batch.unwrap().len() as u64).sum();
        assert_eq!((ours, theirs), (rows, rows), "{text}");
        batches.stats().rows_tested
    };
    assert_eq!(check(&mut peer, "n == 77", 1), 1000);
    assert_eq!(check(&mut peer, "n == 5400", 1), 500);
    peer.bcolz_append(&path, &[&numbers(77..78), &numbers(0..1)]).unwrap();
    assert_eq!(check(&mut peer, "n == 77", 2), 1000 + 501);
    peer.bcolz_write(&path.join("n"), 2500, &numbers(77..79)).unwrap();
    assert_eq!(check(&mut peer, "n == 77", 3), 1000 + 1000 + 501);
    peer.bcolz_trim(&path, 700).unwrap();
    check(&mut peer, "n == 5400", 0);
    check(&mut peer, "n == 77", 2);
    let mut table = Table::edit(&path).unwrap();
    table.refresh_bounds().unwrap();
    table.close().unwrap();
    assert_eq!(check(&mut peer, "n == 4799", 1), 1000 - 199);
}
