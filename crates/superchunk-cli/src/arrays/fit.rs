//! Whether bytes fill an array exactly: those of a NumPy file, and plain ones with `--shape`.

use superchunk::{DType, Error, npy};

use crate::failure::{Exit, Failure, Outcome};
use crate::progress::Progress;
use crate::source::Source;

/// The type and shape that options give to plain bytes.
#[derive(Clone, Debug)]
pub(crate) struct RawShape {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
}

impl RawShape {
    /// Takes `--shape` as it was typed. One side may be -1, and the length of the data decides it;
    /// without sides there is one such.
    pub(crate) fn new(dtype: DType, sides: &[i64], source: &Source) -> Outcome<Self> {
        let typed = match sides {
            [] => format!("--dtype {dtype}"),
            _ => format!("--shape {} of {dtype}", joined(sides)),
        };
        let sides = if sides.is_empty() { &[-1] } else { sides };
        let known = sides.iter().filter_map(|side| u64::try_from(*side).ok());
        let item = dtype.item_size().max(1) as u64;
        let known_len = known.clone().try_fold(item, u64::checked_mul);
        let known_len = known_len
            .ok_or_else(|| Failure::usage(format!("{typed} needs more than 2^64 bytes")))?;
        let shape = match sides.len() - known.clone().count() {
            0 => known.collect(),
            1 => {
                let side = missing_side(&typed, known_len, source)?;
                sides.iter().map(|given| u64::try_from(*given).unwrap_or(side)).collect()
            }
            _ => return Err(Failure::usage(format!("{typed} has more than one side -1"))),
        };
        Ok(Self { dtype, shape })
    }
}

/// The side that the length of the data decides.
fn missing_side(typed: &str, known_len: u64, source: &Source) -> Outcome<u64> {
    let name = source.name();
    let Some(total) = source.total else {
        let words = format!("the length of `{name}` is unknown, and {typed} needs it");
        return Err(Failure::usage(words).with_help("give all sides with --shape"));
    };
    if known_len == 0 {
        return Err(Failure::usage(format!("{typed} has a side 0, so that -1 can be any number")));
    }
    if !total.is_multiple_of(known_len) {
        let rest = total % known_len;
        return Err(Failure::usage(format!(
            "`{name}` has {total} bytes, {typed} needs a multiple of {known_len}: {rest} left over"
        )));
    }
    Ok(total / known_len)
}

/// The number of bytes that an array needs, and who says so.
pub(crate) struct Needed {
    len: u64,
    /// The type and shape that options gave; a NumPy file otherwise.
    typed: Option<String>,
}

impl Needed {
    /// What options ask for; [`RawShape::new`] has checked that the length is a number.
    pub(crate) fn by_options(raw: &RawShape) -> Self {
        let item = raw.dtype.item_size().max(1) as u64;
        let len = raw.shape.iter().fold(item, |len, side| len.saturating_mul(*side));
        Self { len, typed: Some(format!("--shape {} of {}", joined(&raw.shape), raw.dtype)) }
    }

    /// What the header of a NumPy file states.
    pub(crate) fn by_header(header: &npy::NpyHeader) -> Outcome<Self> {
        Ok(Self { len: header.data_len()? as u64, typed: None })
    }

    /// Refuses data of another length.
    pub(crate) fn check(&self, name: &str, found: u64) -> Outcome {
        let needed = self.len;
        match &self.typed {
            _ if found == needed => Ok(()),
            Some(typed) => {
                let words = format!("`{name}` has {found} bytes, {typed} needs {needed}");
                Err(Failure::usage(words).with_help("write -1 for one side to have it worked out"))
            }
            None if found < needed => {
                let words = format!("the array has {needed} bytes, {found} are here");
                Err(Error::truncated(words).at("npy", "shape", 10).within(name).into())
            }
            None => {
                let words = format!(
                    "`{name}` has {} bytes after its array of {needed} bytes",
                    found - needed
                );
                Err(Failure::said(Exit::Unsupported, words).with_help(
                    "one array a file is read; `pack --raw` takes all bytes as they are",
                ))
            }
        }
    }
}

/// The bytes of an array that come from front to back: no more and no less than it needs.
pub(crate) struct ExactSource<'a> {
    source: &'a mut Source,
    needed: Needed,
    found: u64,
}

impl<'a> ExactSource<'a> {
    /// Checks the length where it is known before anything is read.
    pub(crate) fn new(source: &'a mut Source, needed: Needed) -> Outcome<Self> {
        if let Some(left) = source.left() {
            needed.check(source.name(), left)?;
        }
        Ok(Self { source, needed, found: 0 })
    }

    /// Fills all of a buffer.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> Outcome {
        let found = self.source.fill(buffer)?;
        self.found += found as u64;
        if found < buffer.len() {
            self.needed.check(self.source.name(), self.found)?;
        }
        Ok(())
    }

    /// Calls `take` with the bytes of the array, in pieces of this length; what follows is counted.
    pub(crate) fn pieces(
        &mut self,
        piece: usize,
        progress: &mut Progress,
        take: &mut dyn FnMut(&[u8]) -> Outcome,
    ) -> Outcome {
        let (needed, found) = (self.needed.len, &mut self.found);
        self.source.pieces(piece, progress, |bytes| {
            let room = usize::try_from(needed.saturating_sub(*found)).unwrap_or(usize::MAX);
            *found += bytes.len() as u64;
            take(bytes.get(..room).unwrap_or(bytes))
        })?;
        self.needed.check(self.source.name(), self.found)
    }

    /// Refuses what follows the array.
    pub(crate) fn finish(&mut self, progress: &mut Progress) -> Outcome {
        self.pieces(1 << 16, progress, &mut |_| Ok(()))
    }
}

fn joined<T: ToString>(sides: &[T]) -> String {
    sides.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}
