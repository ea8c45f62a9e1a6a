//! The types of columns that come as text.

use superchunk::DType;
use superchunk::table::Column;

use super::records::{Cell, Meant, Records, lost, parse_number};
use crate::failure::{Failure, Outcome};
use crate::values::parse_dtype;

/// The types that are tried, in this order, before text. The first two and the fourth have no missing
/// value.
const TRIED: [(&str, Kind); 8] = [
    ("<i8", Kind::Whole),
    ("<u8", Kind::Whole),
    ("<f8", Kind::Float),
    ("|b1", Kind::Truth),
    ("<M8[D]", Kind::Moment),
    ("<M8[s]", Kind::Moment),
    ("<M8[us]", Kind::Moment),
    ("<c16", Kind::Complex),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    Float,
    Truth,
    Moment,
    /// Only where JSON says so.
    Complex,
}

/// What the cells of a column can be.
struct Guess {
    possible: Vec<(DType, Kind)>,
    has_empty: bool,
    has_value: bool,
    is_ascii: bool,
    bytes: usize,
    letters: usize,
    /// The bytes that JSON has other words for than texts.
    binary: Binary,
}

/// What is known of the cells that are given as bytes.
#[derive(Default)]
struct Binary {
    lens: Option<(usize, usize)>,
    has_zero_at_end: bool,
}

/// The columns of rows of text, and how many rows there are; `given` are `NAME=TYPE`.
pub(super) fn infer(records: &mut Records, given: &[String]) -> Outcome<(Vec<Column>, u64)> {
    let given = given.iter().map(|text| pair(text, &records.names));
    let given = given.collect::<Outcome<Vec<_>>>()?;
    let mut guesses = Vec::new();
    for _ in &records.names {
        guesses.push(Guess::new()?);
    }
    let mut rows = 0;
    while let Some(cells) = records.next()? {
        for (guess, cell) in guesses.iter_mut().zip(&cells) {
            guess.see(cell);
        }
        rows += 1;
    }
    let columns = records.names.iter().zip(guesses).map(|(name, guess)| {
        let told = given.iter().find(|(known, _)| known == name).map(|(_, dtype)| dtype.clone());
        Ok(Column::new(name, told.map_or_else(|| guess.dtype(), Ok)?))
    });
    Ok((columns.collect::<Outcome<_>>()?, rows))
}

/// A column and its type; both the name and the type may have an equals sign.
fn pair(text: &str, names: &[String]) -> Outcome<(String, DType)> {
    let Some((before, _)) = text.split_once('=') else {
        return Err(Failure::usage(format!(
            "--dtype: expected COLUMN=TYPE, like close=float32, got `{text}`"
        )));
    };
    let typed = names
        .iter()
        .filter_map(|name| Some((name, text.strip_prefix(name.as_str())?.strip_prefix('=')?)));
    let Some((name, dtype)) = typed.max_by_key(|(name, _)| name.len()) else {
        return Err(Failure::usage(format!("there is no column `{before}`"))
            .with_help(format!("the columns are {}", names.join(", "))));
    };
    Ok((name.clone(), parse_dtype(dtype)?))
}

impl Guess {
    fn new() -> Outcome<Self> {
        let mut possible = Vec::new();
        for (text, kind) in TRIED {
            possible.push((DType::parse(text)?, kind));
        }
        let (has_empty, has_value, is_ascii) = (false, false, true);
        let binary = Binary::default();
        Ok(Self { possible, has_empty, has_value, is_ascii, bytes: 0, letters: 0, binary })
    }

    /// Takes in a cell.
    fn see(&mut self, cell: &Cell) {
        if let Meant::Bytes(bytes) = &cell.meant {
            self.possible.clear();
            let (least, most) = self.binary.lens.unwrap_or((bytes.len(), 0));
            self.binary.lens = Some((least.min(bytes.len()), most.max(bytes.len())));
            self.binary.has_zero_at_end |= bytes.last() == Some(&0);
            return;
        }
        self.bytes = self.bytes.max(cell.text.len());
        self.letters = self.letters.max(cell.text.chars().count());
        self.is_ascii &= cell.text.is_ascii();
        let text = cell.text.trim();
        if cell.meant == Meant::Text {
            self.possible.retain(|(_, kind)| *kind == Kind::Moment);
        }
        let is_complex = cell.meant == Meant::Complex;
        if text.is_empty() {
            self.has_empty = true;
            return;
        }
        self.has_value = true;
        let fits = |dtype: &DType, kind: Kind| match kind {
            Kind::Whole | Kind::Float if lost(dtype, text).is_some() => false,
            Kind::Whole => text.parse::<i128>().is_ok() && parse_number(dtype, text).is_ok(),
            // 0 and 1 are numbers.
            Kind::Truth => ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word)),
            Kind::Moment => {
                (text == "NaT" || text.len() >= 10) && parse_number(dtype, text).is_ok()
            }
            Kind::Float => parse_number(dtype, text).is_ok(),
            Kind::Complex => is_complex && parse_number(dtype, text).is_ok(),
        };
        self.possible.retain(|(dtype, kind)| fits(dtype, *kind));
    }

    fn dtype(&self) -> Outcome<DType> {
        let lacks = |kind: Kind| matches!(kind, Kind::Whole | Kind::Truth);
        let has_missing = self.has_empty || !self.has_value;
        if let Some((least, most)) = self.binary.lens {
            // Bytes of one length with zeros at the end are not texts.
            let is_void = self.binary.has_zero_at_end && least == most && !self.has_value;
            let (code, len) = if is_void { ("V", most) } else { ("S", most.max(self.bytes)) };
            return Ok(DType::parse(&format!("|{code}{}", len.max(1)))?);
        }
        let mut fitting = self.possible.iter().filter(|(_, kind)| !(has_missing && lacks(*kind)));
        match fitting.next() {
            Some((dtype, _)) => Ok(dtype.clone()),
            None if self.is_ascii => Ok(DType::parse(&format!("|S{}", self.bytes.max(1)))?),
            None => Ok(DType::parse(&format!("<U{}", self.letters.max(1)))?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(cells: &[&str]) -> String {
        let mut guess = Guess::new().unwrap();
        cells.iter().for_each(|cell| guess.see(&Cell::new(*cell)));
        guess.dtype().unwrap().to_string()
    }

    #[test]
    fn the_narrowest_type_that_holds_all_cells_is_taken() {
        assert_eq!(guessed(&["1", "-2"]), "<i8");
        assert_eq!(guessed(&["1", "18446744073709551615"]), "<u8");
        assert_eq!(guessed(&["1", ""]), "<f8");
        assert_eq!(guessed(&["1.0", "2"]), "<f8");
        assert_eq!(guessed(&["1", "nan"]), "<f8");
        assert_eq!(guessed(&["true", "False"]), "|b1");
        assert_eq!(guessed(&["true", ""]), "|S4");
        assert_eq!(guessed(&["True", "1"]), "|S4");
        assert_eq!(guessed(&["0", "false"]), "|S5");
        assert_eq!(guessed(&["1e400", "1"]), "|S5");
        assert_eq!(guessed(&["-1e-400", "0.5"]), "|S7");
        assert_eq!(guessed(&["0e-400", "-inf"]), "<f8");
        assert_eq!(guessed(&["2024-02-29", "NaT"]), "<M8[D]");
        assert_eq!(guessed(&["2024-02"]), "|S7");
        assert_eq!(guessed(&["2024-02-29", ""]), "<M8[D]");
        assert_eq!(guessed(&["2024-02-29", "2024-03-01T10:00:00"]), "<M8[s]");
        assert_eq!(guessed(&["2024-03-01 10:00:00.5"]), "<M8[us]");
        assert_eq!(guessed(&["01234", "7"]), "|S5");
        assert_eq!(guessed(&["+49123", "1.5"]), "|S6");
        assert_eq!(guessed(&["-007"]), "|S4");
        assert_eq!(guessed(&["12345678901234567890123"]), "|S23");
        assert_eq!(guessed(&["9007199254740993", ""]), "|S16");
        assert_eq!(guessed(&["9007199254740992", "0.5"]), "<f8");
        assert_eq!(guessed(&["0", "0.5", "-0.5", "1e+3"]), "<f8");
        assert_eq!(guessed(&["9007199254740992", "0.5"]), "<f8");
        assert_eq!(guessed(&["9007199254740993", "0.5"]), "|S16");
        assert_eq!(guessed(&["-1", "18446744073709551615"]), "|S20");
        assert_eq!(guessed(&["abc", "de"]), "|S3");
        assert_eq!(guessed(&["äbc", "12"]), "<U3");
        assert_eq!(guessed(&[""]), "<f8");
    }
}
