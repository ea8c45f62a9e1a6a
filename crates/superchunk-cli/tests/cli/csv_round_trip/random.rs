//! Random tables: the text of a CSV file, and the value that each of its cells has.

use superchunk::Json;
use superchunk_testkit::rng::Rng;

/// A table with its text.
pub(super) struct Table {
    pub(super) seed: u64,
    pub(super) columns: Vec<Column>,
    pub(super) csv: String,
}

/// A column with its cells.
pub(super) struct Column {
    pub(super) name: String,
    kind: Kind,
    pub(super) cells: Vec<Cell>,
}

/// A cell as it is written, and what it means.
#[derive(Debug)]
pub(super) struct Cell {
    text: String,
    pub(super) value: Value,
}

/// What a cell means.
#[derive(Debug)]
pub(super) enum Value {
    Whole(i128),
    Float(f64),
    Single(f32),
    /// One of 16 bits.
    Half(f64),
    Truth(bool),
    /// A text, or a moment or duration in the one form in which they are written.
    Text(String),
}

/// What a column has. The types are those for `--dtype`; inference finds the others.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Integers from the first number to the second.
    Whole(Option<&'static str>, i128, i128),
    /// Small integers with empty cells.
    Gaps,
    Float,
    Single(&'static str),
    Half,
    Truth,
    Date,
    Seconds,
    Micros,
    /// Moments of another unit: the digits of the fraction.
    Fraction(&'static str, usize),
    /// Months or years: the length of the text.
    Calendar(&'static str, usize),
    Duration,
    Ascii,
    Letters,
    /// Texts that look like something else.
    Disguised(&'static str),
}

const KINDS: [Kind; 28] = [
    Kind::Whole(None, i64::MIN as i128, i64::MAX as i128),
    Kind::Whole(None, 0, u64::MAX as i128),
    Kind::Whole(Some("|i1"), i8::MIN as i128, i8::MAX as i128),
    Kind::Whole(Some("|u1"), 0, u8::MAX as i128),
    Kind::Whole(Some("<i2"), i16::MIN as i128, i16::MAX as i128),
    Kind::Whole(Some(">u2"), 0, u16::MAX as i128),
    Kind::Whole(Some(">i4"), i32::MIN as i128, i32::MAX as i128),
    Kind::Whole(Some("<u4"), 0, u32::MAX as i128),
    Kind::Whole(Some("<i8"), i64::MIN as i128, i64::MAX as i128),
    Kind::Whole(Some("<u8"), 0, u64::MAX as i128),
    Kind::Gaps,
    Kind::Float,
    Kind::Single("<f4"),
    Kind::Single(">f4"),
    Kind::Half,
    Kind::Truth,
    Kind::Date,
    Kind::Seconds,
    Kind::Micros,
    Kind::Fraction("<M8[ms]", 3),
    Kind::Fraction("<M8[ns]", 9),
    Kind::Calendar("<M8[M]", 7),
    Kind::Calendar("<M8[Y]", 4),
    Kind::Duration,
    Kind::Ascii,
    Kind::Letters,
    Kind::Disguised("|S40"),
    Kind::Disguised("<U20"),
];

/// Headings, without the number that makes each of a table its own.
const NAMES: [&str; 8] =
    ["plain", "größe", "two words", "a, b", "say \"so\"", "x=y", "dot.ted", "漢字"];

/// What texts are made of.
const LETTERS: [char; 24] = [
    'a',
    'Z',
    '1',
    '0',
    ' ',
    ',',
    '"',
    '\'',
    '\n',
    '\r',
    '\t',
    '\\',
    '\0',
    '\u{1}',
    '\u{1b}',
    '\u{7f}',
    ';',
    '|',
    '-',
    '=',
    'é',
    '漢',
    '\u{1f600}',
    '\u{feff}',
];

/// Texts that are also numbers, truths and moments.
const DISGUISES: [&str; 16] = [
    "1",
    "-1",
    "+1",
    "007",
    "1e3",
    "0x10",
    "nan",
    "inf",
    "true",
    "False",
    "NaT",
    "2024-02-29",
    "2024-02-29T10:00:00",
    " 12 ",
    "null",
    "",
];

impl Table {
    pub(super) fn random(seed: u64, rng: &mut Rng) -> Self {
        // Some tables are as small as they can be.
        let (columns, rows) = match seed {
            0 => (8, 0),
            1 => (KINDS.len(), 1),
            2..=4 => (1, 30),
            _ => (6 + rng.index(8), 30 + rng.index(40)),
        };
        let column = |number: usize, rng: &mut Rng| {
            let kind = match seed {
                1 => KINDS[number],
                _ => KINDS[rng.index(KINDS.len())],
            };
            let cells = (0..rows).map(|row| kind.cell(row, rng)).collect();
            Column { name: format!("{}{number}", NAMES[rng.index(NAMES.len())]), kind, cells }
        };
        let columns: Vec<Column> = (0..columns).map(|number| column(number, rng)).collect();
        let csv = written(&columns, rows, rng);
        Self { seed, columns, csv }
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }

    pub(super) fn row_count(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    pub(super) fn cell_count(&self) -> usize {
        self.columns.len() * self.row_count()
    }

    /// The options that give the types that inference does not choose.
    pub(super) fn type_options(&self) -> Vec<String> {
        let given = self.columns.iter().filter_map(|column| {
            Some(["--dtype".to_owned(), format!("{}={}", column.name, column.kind.dtype()?)])
        });
        given.flatten().collect()
    }
}

impl Column {
    /// What failures call it.
    pub(super) fn label(&self) -> String {
        format!("column {:?} ({:?})", self.name, self.kind)
    }
}

/// Writes a table as CSV, in one of the ways that mean the same.
fn written(columns: &[Column], rows: usize, rng: &mut Rng) -> String {
    let end = ["\n", "\r\n"][rng.index(2)];
    let mut lines = Vec::new();
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name, rng)).collect();
    lines.push(names.join(","));
    for row in 0..rows {
        let cells = columns.iter().map(|column| match (columns.len(), &column.cells[row].text) {
            // An empty line is no row.
            (1, text) if text.is_empty() => "\"\"".to_owned(),
            (_, text) => quoted(text, rng),
        });
        let cells: Vec<String> = cells.collect();
        lines.push(cells.join(","));
    }
    lines.join(end) + ["", end][rng.index(2)]
}

/// A cell in quotes where it needs them, and sometimes where it does not.
fn quoted(cell: &str, rng: &mut Rng) -> String {
    match cell.contains(['"', ',', '\n', '\r']) || rng.index(8) == 0 {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

impl Kind {
    /// The type that must be given.
    fn dtype(self) -> Option<&'static str> {
        match self {
            Self::Whole(dtype, ..) => dtype,
            Self::Single(dtype) | Self::Fraction(dtype, _) | Self::Calendar(dtype, _) => {
                Some(dtype)
            }
            Self::Disguised(dtype) => Some(dtype),
            Self::Half => Some("<f2"),
            Self::Duration => Some("<m8[s]"),
            Self::Gaps | Self::Float | Self::Truth | Self::Date | Self::Seconds | Self::Micros => {
                None
            }
            Self::Ascii | Self::Letters => None,
        }
    }

    /// A cell. The first one of an inferred column makes sure of its type.
    fn cell(self, row: usize, rng: &mut Rng) -> Cell {
        match self {
            Self::Whole(dtype, low, high) => whole(dtype.is_some(), (low, high), row, rng),
            Self::Gaps => gap(row, rng),
            Self::Float => float(row, rng),
            Self::Single(_) => single(rng),
            Self::Half => half(rng),
            Self::Truth => {
                let value = rng.index(2) == 0;
                let texts =
                    if value { ["True", "true", "TRUE"] } else { ["False", "false", "FALSE"] };
                Cell { text: texts[rng.index(3)].to_owned(), value: Value::Truth(value) }
            }
            Self::Date => moment(row, rng, |rng| twice(date(rng))),
            Self::Seconds => moment(row, rng, |rng| {
                let text = format!("{}T{}", date(rng), time(rng));
                (text.replace('T', ["T", " "][rng.index(2)]), text)
            }),
            Self::Micros => moment(row, rng, |rng| {
                let (text, tenths) = (format!("{}T{}", date(rng), time(rng)), 1 + rng.index(9));
                (format!("{text}.{tenths}"), format!("{text}.{tenths}00000"))
            }),
            Self::Fraction(_, digits) => moment(row, rng, |rng| {
                // In nanoseconds, 64 bits go from 1677 to 2262.
                let fraction = rng.below(10u64.pow(u32::try_from(digits).unwrap()));
                let (year, rest) = (1678 + rng.index(584), &date(rng)[4..]);
                let day = if rest == "-02-29" { "-02-28" } else { rest };
                twice(format!("{year}{day}T{}.{fraction:0digits$}", time(rng)))
            }),
            Self::Calendar(_, len) => moment(row, rng, |rng| twice(date(rng)[..len].to_owned())),
            Self::Duration => moment(row, rng, |rng| {
                let minutes = i64::try_from(rng.below(2_000_000)).unwrap() - 1_000_000;
                (format!("{minutes} minutes"), format!("{} seconds", 60 * minutes))
            }),
            Self::Ascii => words(row, "x", &LETTERS[..20], rng),
            Self::Letters => words(row, "é", &LETTERS, rng),
            Self::Disguised(_) => same(DISGUISES[rng.index(DISGUISES.len())]),
        }
    }
}

/// An integer; with a type it may have a sign and zeros before it.
fn whole(has_type: bool, (low, high): (i128, i128), row: usize, rng: &mut Rng) -> Cell {
    let value = match (row, rng.index(4)) {
        // The first one tells 64-bit integers without a sign from others.
        (0, _) | (_, 0) => high,
        (_, 1) => low,
        (_, 2) => 0,
        _ => low + i128::from(rng.next_u64()) % (high - low + 1),
    };
    let text = match rng.index(6) {
        0 => format!(" {value} "),
        1 if has_type => format!("{value:+}"),
        2 if has_type => format!("{value:030}"),
        _ => value.to_string(),
    };
    Cell { text, value: Value::Whole(value) }
}

/// A small integer, or nothing.
fn gap(row: usize, rng: &mut Rng) -> Cell {
    match row == 0 || rng.index(4) == 0 {
        true => Cell { text: String::new(), value: Value::Float(f64::NAN) },
        false => {
            let value = u32::try_from(rng.below(1 << 32)).unwrap();
            Cell { text: value.to_string(), value: Value::Float(value.into()) }
        }
    }
}

/// Any float, some by other spellings of theirs.
fn float(row: usize, rng: &mut Rng) -> Cell {
    const SPELLED: [(&str, f64); 14] = [
        ("nan", f64::NAN),
        ("NaN", f64::NAN),
        ("", f64::NAN),
        ("inf", f64::INFINITY),
        ("-Infinity", f64::NEG_INFINITY),
        ("-0.0", -0.0),
        ("5e-324", 5e-324),
        ("1.7976931348623157e308", f64::MAX),
        ("2.2250738585072014E-308", f64::MIN_POSITIVE),
        (".5", 0.5),
        ("5.", 5.0),
        ("0.30000000000000004", 0.1 + 0.2),
        (" 1.5 ", 1.5),
        ("9007199254740993.0", 9007199254740992.0),
    ];
    if row > 0 && rng.index(2) == 0 {
        let (text, value) = SPELLED[rng.index(SPELLED.len())];
        return Cell { text: text.to_owned(), value: Value::Float(value) };
    }
    let value = loop {
        let value = f64::from_bits(rng.next_u64());
        if value.is_finite() {
            break value;
        }
    };
    Cell { text: format!("{value:e}"), value: Value::Float(value) }
}

fn single(rng: &mut Rng) -> Cell {
    let bits = u32::try_from(rng.below(1 << 32)).unwrap();
    let value = match rng.index(5) {
        0 => [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE, 1e-45][rng.index(5)],
        _ => f32::from_bits(bits),
    };
    Cell { text: format!("{value:?}"), value: Value::Single(value) }
}

/// A 16-bit float that is written with all of its digits.
fn half(rng: &mut Rng) -> Cell {
    let steps = f64::from(u32::try_from(rng.below(4095)).unwrap()) - 2047.0;
    let scale = [1.0, 32.0, 1.0 / 1024.0][rng.index(3)];
    let value =
        [steps * scale, f64::NAN, f64::NEG_INFINITY, 65_504.0][rng.index(8).saturating_sub(4)];
    Cell { text: value.to_string(), value: Value::Half(value) }
}

/// A moment or none; `make` writes it in two ways, the second one as it comes back.
fn moment(row: usize, rng: &mut Rng, make: impl Fn(&mut Rng) -> (String, String)) -> Cell {
    if row > 0 && rng.index(5) == 0 {
        return Cell {
            text: ["NaT", ""][rng.index(2)].to_owned(),
            value: Value::Text("NaT".to_owned()),
        };
    }
    let (text, expected) = make(rng);
    Cell { text, value: Value::Text(expected) }
}

fn twice(text: String) -> (String, String) {
    (text.clone(), text)
}

fn date(rng: &mut Rng) -> String {
    const DAYS: [usize; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    const BOUNDS: [&str; 5] =
        ["0001-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "9999-12-31"];
    if rng.index(4) == 0 {
        return BOUNDS[rng.index(5)].to_owned();
    }
    let (year, month) = (1 + rng.index(9999), rng.index(12));
    format!("{year:04}-{:02}-{:02}", month + 1, 1 + rng.index(DAYS[month]))
}

fn time(rng: &mut Rng) -> String {
    format!("{:02}:{:02}:{:02}", rng.index(24), rng.index(60), rng.index(60))
}

/// A text of these letters; zeros at its end would be lost, and there are none.
fn words(row: usize, first: &str, letters: &[char], rng: &mut Rng) -> Cell {
    if row == 0 {
        return same(first);
    }
    let text: String = (0..rng.index(9)).map(|_| letters[rng.index(letters.len())]).collect();
    same(text.trim_end_matches('\0'))
}

fn same(text: &str) -> Cell {
    Cell { text: text.to_owned(), value: Value::Text(text.to_owned()) }
}

impl Value {
    /// Whether a cell of CSV is this value.
    pub(super) fn is_text(&self, cell: &str) -> bool {
        match self {
            Self::Whole(value) => cell.parse() == Ok(*value),
            Self::Float(value) => {
                let is_it = |found: f64| found.to_bits() == value.to_bits();
                cell.parse()
                    .is_ok_and(|found: f64| is_it(found) || found.is_nan() && value.is_nan())
            }
            Self::Single(value) => {
                let is_it = |found: f32| found.to_bits() == value.to_bits();
                cell.parse()
                    .is_ok_and(|found: f32| is_it(found) || found.is_nan() && value.is_nan())
            }
            Self::Half(value) => cell.parse().is_ok_and(|found| is_nearest_half(found, *value)),
            Self::Truth(value) => cell == if *value { "True" } else { "False" },
            Self::Text(value) => cell == value,
        }
    }

    /// Whether a value of JSON is this one.
    pub(super) fn is_json(&self, cell: &Json) -> bool {
        match (self, cell) {
            (Self::Truth(value), Json::Bool(found)) => value == found,
            (Self::Text(value), Json::Str(found)) => value == found,
            (
                Self::Whole(_) | Self::Float(_) | Self::Single(_) | Self::Half(_),
                Json::Number(found),
            ) => self.is_text(found),
            (Self::Float(_) | Self::Single(_) | Self::Half(_), found) => {
                found.get("$float").and_then(Json::as_str).is_some_and(|found| self.is_text(found))
            }
            _ => false,
        }
    }
}

/// Whether the nearest 16-bit float of a number, of which 11 bits are stored, is this one.
fn is_nearest_half(found: f64, value: f64) -> bool {
    if value == 0.0 || !value.is_finite() {
        return found == value || found.is_nan() && value.is_nan();
    }
    let step = 2f64.powf(value.abs().log2().floor() - 10.0);
    // Halfway, the nearest one is that of an even number of steps.
    let is_even = (value / step) % 2.0 == 0.0;
    let distance = (found - value).abs();
    distance < step / 2.0 || is_even && distance == step / 2.0
}
