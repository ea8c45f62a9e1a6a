//! Which versions of other programs read a file, and what in it asks for them.
//!
//! ```
//! use superchunk::compat::{self, Program, Version};
//! use superchunk::{CompressOptions, Filter, FrameOptions, SuperChunk};
//!
//! let options = CompressOptions::of::<u32>().with_filters([Filter::Shuffle, Filter::ByteDelta(0)]);
//! let mut numbers = SuperChunk::in_memory(&FrameOptions::new(options))?;
//! numbers.append_items(&(0..100_000u32).collect::<Vec<_>>())?;
//! numbers.commit()?;
//!
//! let blosc2 = compat::super_chunk(&numbers)?;
//! assert_eq!(blosc2.program, Program::Blosc2);
//! assert_eq!(blosc2.oldest(), Some(Version::new(2, 10, 0)));
//! # Ok::<(), superchunk::Error>(())
//! ```
//!
//! Versions are those of the C libraries: python-blosc2 4.14.1 contains C-Blosc2 3.3.5. A file that no
//! released version reads, whole and in parts, has no oldest version. The table and its sources are
//! in `docs/formats/readers.md`.

mod features;
mod version;

pub use version::Version;

use std::fmt;
#[cfg(any(unix, windows))]
use std::path::Path;
use std::str::FromStr;

use crate::b2nd::Meta;
use crate::bcolz;
#[cfg(feature = "bloscpack")]
use crate::bloscpack::Pack;
use crate::chunk::Header;
#[cfg(any(unix, windows))]
use crate::columns::ColumnFolder;
#[cfg(any(unix, windows))]
use crate::detect::{self, Format};
use crate::error::{Error, Result};
#[cfg(any(unix, windows))]
use crate::frame::INDEX;
#[cfg(any(unix, windows))]
use crate::place::Place;
#[cfg(any(unix, windows))]
use crate::schunk::OpenOptions;
use crate::schunk::SuperChunk;
#[cfg(any(unix, windows))]
use crate::store::{FileReader, ReadAt};
use crate::text::named;
use features::{BLOSC2_THREE, BLOSC2_TRIED, Encoding};

/// The metalayers of arrays, of today and of before C-Blosc2 2.7.
const ARRAYS: [&str; 2] = ["b2nd", "caterva"];
/// The axes that C-Blosc2 before 2.21.3 allows.
const MAX_EARLY_AXES: usize = 8;
/// The first byte of frames since the final C-Blosc2 2.0.
#[cfg(any(unix, windows))]
const MODERN_FRAME: u8 = 0x9e;

/// A program that reads data of the Blosc family.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// C-Blosc2, which python-blosc2 contains.
    Blosc2,
    /// C-Blosc 1, which python-blosc contains.
    Blosc,
    /// Bloscpack, the Python program.
    Bloscpack,
    /// bcolz, and its successor bcolz-zipline.
    Bcolz,
}

impl Program {
    /// Every program, in the order in which reports list them.
    pub const ALL: [Self; 4] = [Self::Blosc2, Self::Blosc, Self::Bloscpack, Self::Bcolz];

    /// The name of its package.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blosc2 => "blosc2",
            Self::Blosc => "blosc",
            Self::Bloscpack => "bloscpack",
            Self::Bcolz => "bcolz",
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Program {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(text, &Self::ALL, Self::name)
    }
}

/// Something in a file that a program must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The oldest version that reads it correctly; `None` if no version does.
    pub since: Option<Version>,
    /// What it is, as part of a sentence.
    pub what: String,
}

impl Need {
    fn since(version: Version, what: impl Into<String>) -> Self {
        Self { since: Some(version), what: what.into() }
    }

    fn never(what: impl Into<String>) -> Self {
        Self { since: None, what: what.into() }
    }

    /// Whether a version of the program reads it; without one, whether any does.
    #[must_use]
    pub fn is_met_by(&self, version: Option<Version>) -> bool {
        self.since.is_some_and(|since| version.is_none_or(|version| since <= version))
    }
}

/// What a file asks of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compatibility {
    /// The program.
    pub program: Program,
    /// What is in the file, each once.
    pub needs: Vec<Need>,
}

impl Compatibility {
    fn new(program: Program) -> Self {
        Self { program, needs: Vec::new() }
    }

    /// The oldest version that reads all of the file; `None` if no version does.
    #[must_use]
    pub fn oldest(&self) -> Option<Version> {
        let versions: Option<Vec<Version>> = self.needs.iter().map(|need| need.since).collect();
        versions.and_then(|versions| versions.into_iter().max())
    }

    /// What keeps this version from reading the file; without one, what keeps every version.
    pub fn obstacles(&self, version: Option<Version>) -> impl Iterator<Item = &Need> {
        self.needs.iter().filter(move |need| !need.is_met_by(version))
    }

    fn add(&mut self, needs: impl IntoIterator<Item = Need>) {
        for need in needs {
            if !self.needs.contains(&need) {
                self.needs.push(need);
            }
        }
    }

    /// Adds what all chunks of a super-chunk need.
    fn add_chunks(&mut self, data: &SuperChunk, needs: fn(&Header) -> Vec<Need>) -> Result<()> {
        for number in 0..data.chunk_count() {
            self.add(needs(&data.chunk_header(number)?));
        }
        Ok(())
    }
}

/// What a file or folder asks of each program. Reads the header of every chunk and decodes nothing.
///
/// # Errors
///
/// `Unsupported` if it is of no format of the Blosc family, else what opening it fails with.
#[cfg(any(unix, windows))]
pub fn path(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Vec<Compatibility>> {
    let path = path.as_ref();
    let format = detect::path_at(path, options.offset)?.format;
    let found = match format {
        Format::Frame | Format::SparseFrame => {
            let mut found = super_chunk(&SuperChunk::open_with(path, options)?)?;
            let is_sparse = format == Format::SparseFrame;
            let mut first = [0];
            let index = if is_sparse { path.join(INDEX) } else { path.to_owned() };
            FileReader::open(&index)?.read_exact_at(options.offset, &mut first)?;
            if first != [MODERN_FRAME] {
                found.add([Need::never("a frame of before C-Blosc2 2.0")]);
            }
            vec![found]
        }
        Format::Chunk => chunk(Place::Path(path).store(options.offset)?.as_ref())?,
        #[cfg(feature = "bloscpack")]
        Format::Bloscpack => vec![pack(&Pack::open_with(path, options)?)?],
        Format::BcolzArray => vec![bcolz_array(&bcolz::Array::open_with(path, options)?)?],
        Format::BcolzTable => vec![bcolz_table(&bcolz::Table::open_with(path, options)?)?],
        Format::Blsk | Format::BlskFile => Vec::new(),
        Format::Columns => columns(&ColumnFolder::open_with(path, options)?, options)?,
        _ => return Err(Error::unsupported("only Blosc data has readers to compare")),
    };
    Ok(Program::ALL.into_iter().map(|program| of_program(program, &found)).collect())
}

/// What the arrays of a folder of columns ask of each program, together.
#[cfg(any(unix, windows))]
fn columns(folder: &ColumnFolder, options: &OpenOptions) -> Result<Vec<Compatibility>> {
    let mut all: Vec<Compatibility> = Vec::new();
    for name in folder.names() {
        for found in path(folder.place(name), options)? {
            match all.iter_mut().find(|known| known.program == found.program) {
                Some(known) => known.add(found.needs),
                None => all.push(found),
            }
        }
    }
    Ok(all)
}

/// The entry of a program; one that does not know the format has a single need.
#[cfg(any(unix, windows))]
fn of_program(program: Program, found: &[Compatibility]) -> Compatibility {
    let known = found.iter().find(|found| found.program == program).cloned();
    known.unwrap_or_else(|| {
        let mut other = Compatibility::new(program);
        other.add([Need::never("a format that it does not know")]);
        other
    })
}

/// What a super-chunk in a frame asks of C-Blosc2: its chunks, those that are not committed yet
/// included, and the parameters for new ones.
pub fn super_chunk(frame: &SuperChunk) -> Result<Compatibility> {
    let mut found = Compatibility::new(Program::Blosc2);
    found.add([Need::since(BLOSC2_TRIED, "frames")]);
    let array = ARRAYS.iter().find_map(|name| Some((*name, frame.metalayer(name)?)));
    if let Some((name, content)) = array {
        found.add([Need::since(Version::new(2, 7, 1), "arrays")]);
        if Meta::parse(name, content)?.shape.len() > MAX_EARLY_AXES {
            found.add([Need::since(Version::new(2, 21, 3), "more than 8 axes")]);
        }
    }
    if frame.item_size() > usize::from(u8::MAX) {
        let since = if array.is_some() { Version::new(3, 2, 3) } else { Version::new(3, 3, 0) };
        found.add([Need::since(since, "items of more than 255 bytes")]);
    }
    if frame.has_variable_chunks() {
        found.add([Need::since(BLOSC2_THREE, "chunks of variable size")]);
    }
    if let Some(bits) = frame.index_entry_bits().filter(|bits| *bits != 64) {
        found.add([Need::never(format!("index entries of {bits} bits"))]);
    }
    found.add(Encoding::of_options(frame.options()).blosc2_needs());
    found.add_chunks(frame, features::blosc2_needs)?;
    Ok(found)
}

#[cfg(any(unix, windows))]
fn chunk(file: &dyn ReadAt) -> Result<Vec<Compatibility>> {
    let mut start = vec![0; file.len()?.min(64).try_into().unwrap_or(64)];
    file.read_exact_at(0, &mut start)?;
    let header = Header::parse(&start)?;
    let mut two = Compatibility::new(Program::Blosc2);
    two.add(features::blosc2_needs(&header));
    let mut one = Compatibility::new(Program::Blosc);
    one.add(features::blosc_needs(&header));
    Ok(vec![two, one])
}

/// What a Bloscpack file asks of Bloscpack, whatever C-Blosc it is used with.
#[cfg(feature = "bloscpack")]
pub fn pack(pack: &Pack) -> Result<Compatibility> {
    let mut found = Compatibility::new(Program::Bloscpack);
    let header = pack.header();
    found.add([match header.version {
        3 => Need::since(Version::new(0, 3, 0), "files of version 3"),
        4 => Need::never("version 4, objects of any length, which only this library reads"),
        old => Need::never(format!("version {old}, which later releases do not read")),
    }]);
    if header.chunk_count.is_none() {
        found.add([Need::never("an unknown number of chunks, which it takes for none")]);
    }
    let data = pack.superchunk()?;
    for number in 0..data.chunk_count() {
        if data.chunk_header(number)?.extended {
            found.add([Need::never("chunks in the format of Blosc2")]);
        }
    }
    Ok(found)
}

/// What an array asks of bcolz.
pub fn bcolz_array(array: &bcolz::Array) -> Result<Compatibility> {
    let mut found = Compatibility::new(Program::Bcolz);
    add_bcolz_array(&mut found, array)?;
    Ok(found)
}

/// What a table asks of bcolz.
pub fn bcolz_table(table: &bcolz::Table) -> Result<Compatibility> {
    let mut found = Compatibility::new(Program::Bcolz);
    for (name, array) in table.arrays() {
        if name.contains('/') {
            found.add([Need::never("tables inside of tables")]);
        }
        add_bcolz_array(&mut found, array)?;
    }
    Ok(found)
}

fn add_bcolz_array(found: &mut Compatibility, array: &bcolz::Array) -> Result<()> {
    found.add([Need::since(Version::new(0, 7, 0), "arrays and tables")]);
    if array.origin() == bcolz::Origin::Modern {
        found
            .add([Need::since(Version::new(1, 1, 0), "storage that names codec and quantization")]);
    }
    if array.dtype().kind() == crate::dtype::DKind::Struct {
        found.add([Need::never("an array of structures")]);
    }
    array.superchunk().map_or(Ok(()), |chunks| found.add_chunks(chunks, features::bcolz_needs))
}
