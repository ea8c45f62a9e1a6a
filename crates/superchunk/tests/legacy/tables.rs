//! Expressions and scans against a naive evaluator that looks at one row after the other.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

use std::cmp::Ordering;

use superchunk::table::{self, Column, Expr, MemoryTable, Source};
use superchunk::{DType, ErrorKind, Executor};
use superchunk_testkit::rng::Rng;

const ROWS: usize = 3000;

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Int(i128),
    Float(f64),
    Text(String),
    Truth(bool),
}

use Value::{Float, Int, Text, Truth};

/// An expression as a text and as what the naive evaluator does.
struct Part {
    text: String,
    value: Box<dyn Fn(usize) -> Value>,
}

fn part(text: String, value: impl Fn(usize) -> Value + 'static) -> Part {
    Part { text, value: Box::new(value) }
}

/// A column with its values.
#[derive(Clone)]
struct Known {
    name: &'static str,
    dtype: &'static str,
    values: Vec<Value>,
    chunk_rows: u64,
}

impl Known {
    fn bytes(&self) -> Vec<u8> {
        let dtype = DType::parse(self.dtype).unwrap();
        let size = dtype.item_size();
        let mut bytes = Vec::new();
        for value in &self.values {
            let mut item = match value {
                Int(value) => value.to_le_bytes()[..size].to_vec(),
                Float(value) if size == 4 => (*value as f32).to_le_bytes().to_vec(),
                Float(value) => value.to_le_bytes().to_vec(),
                Truth(value) => vec![u8::from(*value)],
                Text(text) if self.dtype.contains('U') => {
                    text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect()
                }
                Text(text) => text.as_bytes().to_vec(),
            };
            item.resize(size, 0);
            if self.dtype.starts_with('>') {
                item.chunks_mut(if self.dtype.contains('U') { 4 } else { size })
                    .for_each(<[u8]>::reverse);
            }
            bytes.extend(item);
        }
        bytes
    }
}

/// Columns of every kind. Values come in stretches, so that chunks differ.
fn columns(rng: &mut Rng) -> Vec<Known> {
    let ints: [(&'static str, &'static str, i128, i128); 8] = [
        ("a", "|i1", -128, 127),
        ("b", "|u1", 0, 255),
        ("c", "<i2", -500, 500),
        ("d", ">i4", -1000, 1000),
        ("e", "<u4", 0, u32::MAX as i128),
        ("big", "<i8", i64::MIN as i128, i64::MAX as i128),
        ("huge", "<u8", 0, u64::MAX as i128),
        ("f", ">u2", 0, 9),
    ];
    let mut known = Vec::new();
    for (name, dtype, low, high) in ints {
        let span = (high - low).cast_unsigned() + 1;
        let mut base = 0u128;
        let values = (0..ROWS).map(|row| {
            if row % 200 == 0 {
                base = u128::from(rng.next_u64()) % span;
            }
            let near = (base + u128::from(rng.below(7))) % span;
            Int(low + near.cast_signed())
        });
        known.push(Known {
            name,
            dtype,
            values: values.collect(),
            chunk_rows: 100 + rng.below(300),
        });
    }
    for (name, dtype) in [("x", "<f8"), ("y", ">f8"), ("z", "<f4")] {
        let values = (0..ROWS).map(|_| {
            Float(match rng.below(12) {
                0 => f64::NAN,
                1 => f64::INFINITY,
                2 => -0.0,
                3 => 9_007_199_254_740_992.0,
                n => f64::from((rng.unit() * 40.0) as f32 - 20.0 + n as f32).round() / 2.0,
            })
        });
        known.push(Known { name, dtype, values: values.collect(), chunk_rows: 256 });
    }
    for (name, dtype) in [("s", "|S4"), ("w", "<U4"), ("v", ">U4")] {
        let words = ["", "a", "ab", "abc", "b", "ba", "zz"];
        let values = (0..ROWS).map(|_| Text(words[rng.index(words.len())].to_owned()));
        known.push(Known { name, dtype, values: values.collect(), chunk_rows: 0 });
    }
    let values = (0..ROWS).map(|row| Truth(row / 500 % 2 == 0 || rng.below(5) == 0)).collect();
    known.push(Known { name: "flag", dtype: "|b1", values, chunk_rows: 250 });
    known
}

fn table_of(known: &[Known]) -> MemoryTable {
    let table = known.iter().fold(MemoryTable::new(), |table, column| {
        let dtype = DType::parse(column.dtype).unwrap();
        let of = Column::new(column.name, dtype).with_chunk_rows(column.chunk_rows);
        table.with_column(of, column.bytes()).unwrap()
    });
    table.with_bounds().unwrap()
}

/// Makes random expressions.
struct Maker<'a> {
    rng: &'a mut Rng,
    known: &'a [Known],
}

impl Maker<'_> {
    fn column(&mut self, names: &[&str]) -> Part {
        let name = names[self.rng.index(names.len())];
        let column = self.known.iter().find(|column| column.name == name).unwrap();
        let values = column.values.clone();
        part(name.to_owned(), move |row| values[row].clone())
    }

    /// Integers that stay small enough for products.
    fn small(&mut self, depth: u32) -> Part {
        if depth == 0 || self.rng.below(3) == 0 {
            if self.rng.below(3) == 0 {
                let value = i128::from(self.rng.below(25)) - 8;
                return part(format!("({value})"), move |_| Int(value));
            }
            return self.column(&["a", "b", "c", "d", "f"]);
        }
        let (left, right) = (self.small(depth - 1), self.small(depth - 1));
        let signs = ["+", "-", "*", "//", "%", "min", "max", "&", "|", "^"];
        let sign = signs[self.rng.index(signs.len())];
        let text = match sign {
            "min" | "max" => format!("{sign}({}, {})", left.text, right.text),
            _ => format!("({} {sign} {})", left.text, right.text),
        };
        part(text, move |row| {
            let (Int(a), Int(b)) = ((left.value)(row), (right.value)(row)) else {
                panic!("integers")
            };
            Int(match sign {
                "+" => a + b,
                "-" => a - b,
                "*" => a * b,
                // Rounded down, and zero beside zero.
                "//" if b == 0 => 0,
                "//" => {
                    (a - (a.rem_euclid(b) + if b < 0 && a.rem_euclid(b) > 0 { b } else { 0 })) / b
                }
                "%" if b == 0 => 0,
                "%" => a.rem_euclid(b) + if b < 0 && a.rem_euclid(b) > 0 { b } else { 0 },
                "min" => a.min(b),
                "max" => a.max(b),
                "&" => a & b,
                "|" => a | b,
                _ => a ^ b,
            })
        })
    }

    fn number(&mut self) -> Part {
        match self.rng.below(8) {
            0..3 => self.small(2),
            3..5 => {
                let (left, right) = (self.column(&["big", "huge", "e"]), self.small(1));
                part(format!("{} + {}", left.text, right.text), move |row| {
                    let (Int(a), Int(b)) = ((left.value)(row), (right.value)(row)) else {
                        panic!("integers")
                    };
                    Int(a + b)
                })
            }
            5 => self.column(&["big", "huge", "e"]),
            6 => {
                let (left, right) = (self.column(&["x", "y", "z"]), self.small(1));
                part(format!("{} * 2 - {}", left.text, right.text), move |row| {
                    let (Float(a), Int(b)) = ((left.value)(row), (right.value)(row)) else {
                        panic!("a float and an integer")
                    };
                    Float(a * 2.0 - b as f64)
                })
            }
            _ => self.column(&["x", "y", "z"]),
        }
    }

    fn constant(&mut self) -> Part {
        if self.rng.below(3) == 0 {
            let values = [0.5, -3.25, 1e300, 9_007_199_254_740_993.0, -0.0, 7.0];
            let value = values[self.rng.index(values.len())];
            return part(format!("{value:?}"), move |_| Float(value));
        }
        let any = self.column(&["a", "c", "e", "big", "huge"]);
        let value = (any.value)(self.rng.index(ROWS));
        let Int(shown) = value else { panic!("an integer") };
        part(shown.to_string(), move |_| value.clone())
    }

    fn comparison(&mut self) -> Part {
        let orders = ["==", "!=", "<", "<=", ">", ">="];
        let order = orders[self.rng.index(orders.len())];
        let (left, right) = match self.rng.below(4) {
            0 => (self.number(), self.number()),
            1 => (self.constant(), self.number()),
            2 => {
                let names: &[&str] = if self.rng.below(2) == 0 { &["s"] } else { &["w"] };
                let word = ["a", "ab", "b", "", "zzzzz"][self.rng.index(5)];
                let constant = part(format!("'{word}'"), move |_| Text(word.to_owned()));
                (self.column(names), constant)
            }
            _ => (self.number(), self.constant()),
        };
        part(format!("{} {order} {}", left.text, right.text), move |row| {
            Truth(holds(order, compare(&(left.value)(row), &(right.value)(row))))
        })
    }

    fn condition(&mut self, depth: u32) -> Part {
        let kind = if depth == 0 { 3 + self.rng.below(7) } else { self.rng.below(10) };
        match kind {
            0..3 => {
                let word = ["and", "or"][self.rng.index(2)];
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                part(format!("({}) {word} ({})", a.text, b.text), move |row| {
                    let (a, b) = (truth(&a, row), truth(&b, row));
                    Truth(if word == "and" { a && b } else { a || b })
                })
            }
            3 if depth > 0 => {
                let inner = self.condition(depth - 1);
                part(format!("not ({})", inner.text), move |row| Truth(!truth(&inner, row)))
            }
            4 => {
                let (value, low, high) = (self.number(), self.constant(), self.constant());
                let text = format!("{} between {} and {}", value.text, low.text, high.text);
                part(text, move |row| {
                    let value = (value.value)(row);
                    let above = holds(">=", compare(&value, &(low.value)(row)));
                    Truth(above && holds("<=", compare(&value, &(high.value)(row))))
                })
            }
            5 => {
                let value = self.number();
                let list: Vec<Part> = (0..self.rng.below(20)).map(|_| self.constant()).collect();
                let texts: Vec<&str> = list.iter().map(|part| part.text.as_str()).collect();
                part(format!("{} in ({})", value.text, texts.join(", ")), move |row| {
                    let value = (value.value)(row);
                    Truth(list.iter().any(|item| holds("==", compare(&value, &(item.value)(row)))))
                })
            }
            6 => {
                let column = self.column(&["x", "y", "z", "flag"]);
                match (column.value)(0) {
                    Truth(_) => column,
                    _ => part(format!("{} is nan", column.text), move |row| {
                        Truth(matches!((column.value)(row), Float(value) if value.is_nan()))
                    }),
                }
            }
            7 => {
                let column = self.column(&["s", "w", "v"]);
                let word = ["startswith", "endswith", "contains"][self.rng.index(3)];
                part(format!("{} {word} 'b'", column.text), move |row| {
                    let Text(text) = (column.value)(row) else { panic!("a text") };
                    Truth(match word {
                        "startswith" => text.starts_with('b'),
                        "endswith" => text.ends_with('b'),
                        _ => text.contains('b'),
                    })
                })
            }
            _ => self.comparison(),
        }
    }
}

fn truth(part: &Part, row: usize) -> bool {
    matches!((part.value)(row), Truth(true))
}

fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Int(a), Int(b)) => Some(a.cmp(b)),
        (Float(a), Float(b)) => a.partial_cmp(b),
        (Int(a), Float(b)) => int_and_float(*a, *b),
        (Float(a), Int(b)) => int_and_float(*b, *a).map(Ordering::reverse),
        (Text(a), Text(b)) => Some(a.cmp(b)),
        other => panic!("{other:?}"),
    }
}

/// Exactly: the whole part first, then what is behind the point.
fn int_and_float(a: i128, b: f64) -> Option<Ordering> {
    match b {
        b if b.is_nan() => None,
        b if b.abs() > 1e30 => Some(if b > 0.0 { Ordering::Less } else { Ordering::Greater }),
        b => {
            let whole = b.trunc();
            Some(a.cmp(&(whole as i128)).then(0.0.partial_cmp(&(b - whole))?))
        }
    }
}

fn holds(order: &str, found: Option<Ordering>) -> bool {
    match (order, found) {
        ("!=", found) => found != Some(Ordering::Equal),
        (_, None) => false,
        ("==", Some(found)) => found.is_eq(),
        ("<", Some(found)) => found.is_lt(),
        ("<=", Some(found)) => found.is_le(),
        (">", Some(found)) => found.is_gt(),
        (_, Some(found)) => found.is_ge(),
    }
}

#[test]
fn random_expressions_mean_what_a_row_by_row_evaluator_says() {
    let mut rng = Rng::new(77);
    for _ in 0..4 {
        let known = columns(&mut rng);
        let table = table_of(&known);
        for number in 0..150 {
            let part = Maker { rng: &mut rng, known: &known }.condition(number % 4);
            let expected: Vec<u64> =
                (0..ROWS).filter(|row| truth(&part, *row)).map(|row| row as u64).collect();
            let scan = table::scan(&table).with_condition(&part.text).unwrap();
            let found = scan.row_numbers().unwrap_or_else(|error| panic!("{}: {error}", part.text));
            assert!(found == expected, "{}: {} and {}", part.text, found.len(), expected.len());
            // In parts, with threads, and beginning anywhere, it is the same.
            let start = rng.below(ROWS as u64);
            let scan = scan
                .with_rows(start..ROWS as u64)
                .with_executor(Executor::threads(2))
                .with_batch_rows(100);
            let part_of: Vec<u64> = expected.into_iter().filter(|row| *row >= start).collect();
            assert!(scan.row_numbers().unwrap() == part_of, "{} from {start}", part.text);
        }
    }
}

#[test]
fn matching_rows_come_with_their_values() {
    let mut rng = Rng::new(78);
    let known = columns(&mut rng);
    let table = table_of(&known);
    for text in ["a > 100", "flag", "x is not nan and b < 250", "s == 'ab'", "true", "f == 10"] {
        let scan = table::scan(&table).with_condition(text).unwrap().with_batch_rows(64);
        let mut rows = 0;
        for batch in scan.batches().unwrap() {
            let batch = batch.unwrap();
            for (column, data) in table.columns().iter().zip(batch.columns()) {
                let mut expected = vec![0; batch.len() * column.row_size()];
                let index = table.columns().iter().position(|c| c.name == column.name).unwrap();
                let numbers: Vec<u64> = batch.row_numbers().collect();
                table.gather(index, &numbers, &mut expected).unwrap();
                assert!(data.bytes() == expected, "{text}: {}", column.name);
            }
            rows += batch.len() as u64;
        }
        assert_eq!(rows, scan.count().unwrap(), "{text}");
        assert_eq!(scan.to_table().unwrap().rows(), rows, "{text}");
    }
}

/// What expressions are made of, and what is close to it.
const WORDS: &str = r"a x s flag ( ) [ , and or not in is nan null between < <= == != + - * ** / // % & | ^ ~
    << >> 1 0 1e308 170141183460469231731687303715884105727 -1 'b' b'\xff' abs( min( where( contains :p $1 `a`
    9223372036854775807 .5 0x";

#[test]
fn no_text_makes_the_parser_panic() {
    let table = table_of(&columns(&mut Rng::new(79)));
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut rng = Rng::new(80);
    let mut good = 0;
    for round in 0..30_000 {
        let text = match round % 3 {
            0 => String::from_utf8_lossy(&rng.bytes(round % 40)).into_owned(),
            1 => (0..rng.below(12))
                .map(|_| words[rng.index(words.len())])
                .collect::<Vec<_>>()
                .join(" "),
            _ => {
                let mut text =
                    "a > 1 and (x < 2.5 or s in ('b', 'c')) and not flag".to_owned().into_bytes();
                let place = rng.index(text.len());
                text[place] = (rng.below(95) + 32) as u8;
                String::from_utf8_lossy(&text).into_owned()
            }
        };
        let found = table::scan(&table)
            .with_rows(0..50)
            .with_condition(&text)
            .and_then(|scan| scan.count());
        match found {
            Ok(_) => good += 1,
            Err(error) => {
                assert!(!error.message().is_empty());
                let offset = error.place().and_then(|place| place.offset).unwrap();
                assert!(offset <= text.len() as u64, "{text:?}: {error}");
            }
        }
    }
    assert!(good > 300, "only {good} texts were expressions");
}

#[test]
fn deep_and_long_texts_are_refused_or_run() {
    let table = table_of(&columns(&mut Rng::new(81)));
    for piece in ["(", "-", "not ", "~", "abs(", "1 + (", "a in (", "1 ** ", "a < (b == "] {
        for count in [90, 3000] {
            let text = piece.repeat(count);
            assert!(Expr::parse(&text).is_err(), "{piece}");
        }
    }
    let closed = format!("{}flag{}", "(".repeat(90), ")".repeat(90));
    assert!(table::scan(&table).with_condition(&closed).unwrap().count().is_ok());
    let long = vec!["a == 1"; 3000].join(" or ");
    assert!(table::scan(&table).with_condition(&long).unwrap().count().is_ok());
    let list = (0..4000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    assert!(table::scan(&table).with_condition(&format!("e in ({list})")).unwrap().count().is_ok());
    let error = Expr::parse(&"a".repeat(70_000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
}
