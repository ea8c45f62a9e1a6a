//! Every chunk of every column is decoded.

use super::{Kept, Rows};
use crate::failure::Outcome;

impl Rows {
    /// How many chunks are good, and what is wrong with the others: number and words.
    pub(crate) fn verify(&self) -> Outcome<(u64, Vec<(u64, String)>)> {
        let arrays = match &self.kept {
            Kept::Table(table) => table.arrays(),
            Kept::Array(array) => vec![(String::new(), &**array)],
            _ => return self.read_all(),
        };
        let (mut decoded, mut damaged) = (0, Vec::new());
        for (_, array) in arrays {
            let found = array.verify()?;
            decoded += (found.decoded + found.checked) as u64;
            let wrong = found.damaged.iter();
            damaged.extend(wrong.map(|(chunk, error)| (*chunk as u64, error.to_string())));
        }
        Ok((decoded, damaged))
    }

    fn read_all(&self) -> Outcome<(u64, Vec<(u64, String)>)> {
        let (source, mut decoded, mut damaged) = (self.source(), 0, Vec::new());
        for (number, column) in source.columns().iter().enumerate() {
            let step = column.chunk_rows.max(1);
            for chunk in 0..self.rows().div_ceil(step) {
                let rows = chunk * step..self.rows().min((chunk + 1) * step);
                let count = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
                let mut bytes = vec![0; count.saturating_mul(column.row_size())];
                match source.read(number, rows, &mut bytes) {
                    Ok(()) => decoded += 1,
                    Err(error) => damaged.push((chunk, error.to_string())),
                }
            }
        }
        Ok((decoded, damaged))
    }
}
