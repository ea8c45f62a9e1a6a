//! What arrays and tables share: columns of equal length that are committed together.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::attributes::{Attribute, Attributes};
use super::grid::Grid;
use super::options::TreeOptions;
use crate::container::{ChunkSize, Contents, Params, Rules};
use crate::detect::Format;
use crate::dtype::{ByteOrder, DType};
use crate::error::{Error, ErrorKind, MustGet, Result};
use crate::limits::Limits;
use crate::options::CompressOptions;
use crate::place::{self, Place};
use crate::schunk::{OpenOptions, SuperChunk};
use crate::store::{Dir, again_if_changed};
use crate::superfile::{
    Access, Column, Compression, ItemOrder, Leaf, MAX_CHUNK, Root, Storage, Truncation, Updates,
};

/// The bytes of a chunk of the widest column, where nobody says otherwise.
const CHUNK: usize = 512 << 10;

/// A tree of columns.
pub(super) struct Tree {
    pub(super) root: Arc<Root>,
    pub(super) storage: Storage,
    pub(super) attributes: Attributes,
    pub(super) columns: Vec<Body>,
    updates: Vec<Arc<Mutex<Updates>>>,
    /// What is done to new items of each column. Empty in a tree that is only read.
    pub(super) truncations: Vec<Option<Truncation>>,
    dirty: bool,
    /// The number of rows that the meta files agree on, if they do.
    committed: Option<u64>,
}

/// What a tree is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Reading.
    Read,
    /// Reading and writing.
    Edit,
    /// The same, after a writer that is not this one crashed.
    Recover,
}

impl Mode {
    pub(super) fn of(access: place::Access) -> Self {
        match access {
            place::Access::Read => Self::Read,
            place::Access::Edit | place::Access::Share => Self::Edit,
        }
    }
}

/// What a tree without a path is called in errors.
pub(super) const NAMELESS: &str = "blsk tree";

/// The chunks of a column.
pub(super) enum Body {
    /// One run of rows after the other.
    Rows(Box<SuperChunk>),
    /// Anything else.
    Grid(Box<Grid>),
}

impl Tree {
    /// Makes an empty tree in a new or empty folder.
    pub(super) fn created(
        place: &Place<'_>,
        columns: Vec<Leaf>,
        row_shape: &[u64],
        options: &TreeOptions,
    ) -> Result<Self> {
        let storage = new_storage(columns, row_shape, options)?;
        Self::made(place.new_folder()?, place.told(NAMELESS), storage, options)
    }

    /// Makes an empty tree of this storage in a new or empty folder.
    pub(super) fn made(
        dir: Arc<dyn Dir>,
        name: String,
        storage: Storage,
        options: &TreeOptions,
    ) -> Result<Self> {
        let access = Access {
            limits: Limits::default(),
            durability: options.durability,
            writable: true,
            recover: false,
        };
        let root = Root::create(dir, name, &storage, access)?;
        let like = &options.compress;
        Self::over(root, storage, |compress| {
            let compress = compress.with_executor(like.executor.clone()).with_check(like.check);
            compress.with_registry(like.registry.clone())
        })
    }

    pub(super) fn opened(place: &Place<'_>, options: &OpenOptions, mode: Mode) -> Result<Self> {
        let claim = if mode == Mode::Read { place::Access::Read } else { place::Access::Edit };
        again_if_changed(options.wait, || {
            let folder = place.folder(claim, options.wait);
            let opened = folder.and_then(|dir| {
                let name = place.told(NAMELESS);
                let opened = Self::opened_in(dir, name.clone(), options, mode);
                opened.map_err(|error| error.within(name))
            });
            opened.map_err(|error| place.explained(error, &[Format::Blsk], 0))
        })
    }

    fn opened_in(
        dir: Arc<dyn Dir>,
        name: String,
        options: &OpenOptions,
        mode: Mode,
    ) -> Result<Self> {
        options.check_no_offset()?;
        options.check_no_compress("blsk tree")?;
        let access = Access {
            limits: options.limits,
            durability: options.durability,
            writable: mode != Mode::Read,
            recover: mode == Mode::Recover,
        };
        let (root, storage) = Root::open(dir, name, access)?;
        Self::over(root, storage, |compress| options.equip(compress))
    }

    fn over(
        root: Root,
        storage: Storage,
        equip: impl Fn(CompressOptions) -> CompressOptions,
    ) -> Result<Self> {
        let root = Arc::new(root);
        let (mut columns, mut updates, mut truncations) = (Vec::new(), Vec::new(), Vec::new());
        for leaf in &storage.columns {
            let (body, counters) = Body::open(&root, leaf, &storage, &equip)?;
            columns.push(body);
            updates.push(counters);
            if root.access.writable {
                truncations.push(storage.compression.truncation(&leaf.dtype)?);
            }
        }
        let rows = storage.shape.first().copied();
        let committed = rows.filter(|_| !root.access.recover);
        // A reader must not see the rows of one commit and the attributes of the next.
        let attributes = root.checked(Attributes::read(&root))?;
        Ok(Self {
            root,
            storage,
            attributes,
            columns,
            updates,
            truncations,
            dirty: false,
            committed,
        })
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> u64 {
        self.storage.shape.first().copied().unwrap_or(0)
    }

    /// The bytes of a row of a column.
    pub(super) fn row_len(&self, column: usize) -> Result<usize> {
        Ok(self.storage.row_len(self.storage.columns.must_get(column)?))
    }

    /// Reads rows of a column into `dst`, which is exactly as long.
    pub(super) fn read_rows(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        let (count, len) = (self.check_rows(&rows)?, self.row_len(column)?);
        if count.checked_mul(len) != Some(dst.len()) {
            return Err(Error::invalid(format!(
                "{count} rows of {len} bytes, the buffer has {}",
                dst.len()
            )));
        }
        match self.columns.must_get(column)? {
            Body::Rows(chunks) => chunks.read_items(rows, dst),
            Body::Grid(grid) => grid.read_rows(rows, dst),
        }
    }

    /// Reads single rows of a column, in the order of `rows`, into the start of `dst`.
    pub(super) fn gather(&self, column: usize, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        let len = self.row_len(column)?.max(1);
        match self.columns.must_get(column)? {
            Body::Rows(chunks) => chunks.gather(rows, dst),
            Body::Grid(_) => {
                if dst.len() / len < rows.len() {
                    return Err(Error::invalid(format!("{} rows do not fit", rows.len())));
                }
                let mut places = rows.iter().zip(dst.chunks_exact_mut(len));
                places.try_for_each(|(row, dst)| {
                    self.read_rows(column, *row..row.saturating_add(1), dst)
                })
            }
        }
    }

    /// Appends as many rows as each of `parts`, one for each column, holds.
    pub(super) fn append(&mut self, parts: &[&[u8]]) -> Result<()> {
        let count = self.check_parts(parts)?;
        let (old, rows) = (self.rows(), self.rows().checked_add(count));
        let rows = rows.ok_or_else(|| Error::limit("more rows than can be counted"))?;
        let mut storage = self.storage.clone();
        *storage.shape.must_get_mut(0)? = rows;
        storage.check()?;
        let truncated = parts.iter().enumerate();
        let truncated: Vec<_> = truncated.map(|(column, it)| self.truncated(column, it)).collect();
        self.change(|columns| {
            for (body, bytes) in columns.iter_mut().zip(&truncated) {
                match body {
                    Body::Rows(chunks) => chunks.append(bytes)?,
                    Body::Grid(grid) => grid.write_rows(old, bytes, rows)?,
                }
            }
            Ok(())
        })?;
        self.storage = storage;
        Ok(())
    }

    /// New items of a column as they are stored.
    fn truncated<'b>(&self, column: usize, items: &'b [u8]) -> Cow<'b, [u8]> {
        match self.truncations.get(column) {
            Some(Some(truncation)) => Cow::Owned(truncation.apply(items)),
            _ => Cow::Borrowed(items),
        }
    }

    /// Overwrites rows of one column.
    pub(super) fn write_rows(&mut self, column: usize, start: u64, bytes: &[u8]) -> Result<()> {
        let len = self.row_len(column)?.max(1);
        if !bytes.len().is_multiple_of(len) {
            return Err(Error::invalid(format!("{} bytes are no rows of {len}", bytes.len())));
        }
        let rows = self.rows();
        self.check_rows(&(start..start.saturating_add((bytes.len() / len) as u64)))?;
        let bytes = self.truncated(column, bytes);
        self.change(|columns| match columns.must_get_mut(column)? {
            Body::Rows(chunks) => chunks.write_item_bytes(start, &bytes),
            Body::Grid(grid) => grid.write_rows(start, &bytes, rows),
        })
    }

    /// Makes every column `rows` rows long: cuts, or appends zeros.
    pub(super) fn resize(&mut self, rows: u64) -> Result<()> {
        while rows > self.rows() {
            let band = self.storage.chunkshape.first().map_or(1, |side| (*side).max(1));
            let missing = usize::try_from(rows - self.rows()).unwrap_or(usize::MAX).min(band);
            let zeros =
                (0..self.columns.len()).map(|column| Ok(vec![0; missing * self.row_len(column)?]));
            let zeros = zeros.collect::<Result<Vec<_>>>()?;
            self.append(&zeros.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        }
        if rows < self.rows() { self.cut(rows) } else { Ok(()) }
    }

    /// Keeps the first `rows` rows.
    pub(super) fn truncate(&mut self, rows: u64) -> Result<()> {
        match self.rows() {
            known if rows > known => {
                Err(Error::invalid(format!("{rows} rows cannot be kept of {known}")))
            }
            _ => self.resize(rows),
        }
    }

    fn cut(&mut self, rows: u64) -> Result<()> {
        self.change(|columns| {
            columns.iter_mut().try_for_each(|body| match body {
                Body::Rows(chunks) => chunks.resize(rows),
                Body::Grid(grid) => grid.write_rows(rows, &[], rows),
            })
        })?;
        *self.storage.shape.must_get_mut(0)? = rows;
        Ok(())
    }

    pub(super) fn set_attribute(&mut self, name: &str, value: &Attribute) -> Result<()> {
        self.root.check_writable()?;
        self.attributes.set(name, value)
    }

    /// Removes an attribute; returns whether there was one.
    pub(super) fn remove_attribute(&mut self, name: &str) -> Result<bool> {
        self.root.check_writable()?;
        Ok(self.attributes.remove(name))
    }

    /// Makes all changes durable in one step.
    pub(super) fn commit(&mut self) -> Result<()> {
        let attributes = self.attributes.changed_text();
        if !self.dirty && attributes.is_none() {
            return Ok(());
        }
        let told = |error: Error| error.within(self.root.name.clone());
        for body in &mut self.columns {
            match body {
                Body::Rows(chunks) => chunks.commit()?,
                Body::Grid(grid) => grid.commit().map_err(told)?,
            }
        }
        let rows = Some(self.rows());
        if rows != self.committed {
            self.root.stage_meta("storage", self.storage.to_text());
        }
        if let Some(text) = attributes {
            self.root.stage_meta("attributes", text);
        }
        self.root.finish(self.rows()).map_err(told)?;
        (self.committed, self.dirty) = (rows, false);
        self.attributes.settle();
        Ok(())
    }

    /// The bytes of all files of chunks, as of the last commit.
    pub(super) fn stored_len(&self) -> Result<u64> {
        let lens = self.columns.iter().map(|body| match body {
            Body::Rows(chunks) => chunks.stored_len(),
            Body::Grid(grid) => grid.stored_len(),
        });
        lens.sum()
    }

    /// What changes have cost, all columns together.
    pub(super) fn updates(&self) -> Updates {
        let mut all = Updates::default();
        for counters in &self.updates {
            let one = *counters.lock().unwrap_or_else(PoisonError::into_inner);
            all.in_place += one.in_place;
            all.rewritten += one.rewritten;
            all.files_rewritten += one.files_rewritten;
            all.added += one.added;
        }
        all
    }

    /// Does a change. One that fails leaves a column as it was, but may have changed others before:
    /// then this handle is of no more use.
    fn change(&mut self, change: impl FnOnce(&mut [Body]) -> Result<()>) -> Result<()> {
        self.root.check_writable()?;
        self.dirty = true;
        let changed = change(&mut self.columns);
        if changed.is_err() && self.columns.len() > 1 {
            self.root.poison();
        }
        changed
    }

    /// How many rows these are, if they exist.
    pub(super) fn check_rows(&self, rows: &Range<u64>) -> Result<usize> {
        if rows.start > rows.end || rows.end > self.rows() {
            let words = format!("rows {rows:?} are not inside of the {} there are", self.rows());
            return Err(Error::invalid(words));
        }
        usize::try_from(rows.end - rows.start).map_err(|_| Error::limit("more rows than memory"))
    }

    /// How many rows the parts of an append have.
    fn check_parts(&self, parts: &[&[u8]]) -> Result<u64> {
        if parts.len() != self.columns.len() {
            return Err(Error::invalid(format!(
                "{} columns were given, there are {}",
                parts.len(),
                self.columns.len()
            )));
        }
        let mut rows = None;
        for (column, bytes) in parts.iter().enumerate() {
            let len = self.row_len(column)?.max(1);
            let count = bytes.len() / len;
            if !bytes.len().is_multiple_of(len) || rows.is_some_and(|rows| rows != count) {
                return Err(Error::invalid(format!(
                    "column {column} has {} bytes in rows of {len}: the columns must have equally many rows",
                    bytes.len()
                )));
            }
            rows = Some(count);
        }
        Ok(rows.unwrap_or(0) as u64)
    }
}

impl Body {
    fn open(
        root: &Arc<Root>,
        leaf: &Leaf,
        storage: &Storage,
        equip: &impl Fn(CompressOptions) -> CompressOptions,
    ) -> Result<(Self, Arc<Mutex<Updates>>)> {
        let (item_size, limits) = (leaf.dtype.item_size(), root.access.limits);
        let geometry = Grid::geometry(&storage.shape, &storage.chunkshape, item_size)?;
        let column = Column::open(root, leaf, storage, geometry.chunk_count as u64)?;
        let counters = column.updates();
        let compress = match storage.compression.to_options(item_size) {
            // Reading works whatever new chunks would need.
            Err(error) if error.kind() == ErrorKind::Unsupported && !root.access.writable => {
                CompressOptions::new(1)
            }
            options => options?,
        };
        let compress = equip(compress);
        let whole_rows = storage.shape.iter().zip(&storage.chunkshape).skip(1);
        let whole_rows = whole_rows.fold(true, |all, (side, chunk)| all && *side == *chunk as u64);
        if whole_rows && (storage.order == ItemOrder::C || storage.shape.len() == 1) {
            let row_len = storage.row_len(leaf);
            let rows = *storage.chunkshape.must_get(0)?;
            let params = Params::from_options(&compress)?;
            let contents = Contents {
                nbytes: storage.shape.must_get(0)? * row_len as u64,
                entries: column.entries(),
                rules: Rules { longer_last: true, ..Rules::blosc1() },
                ..Contents::new(row_len, ChunkSize::Fixed(rows * row_len), params)
            };
            let chunks = SuperChunk::over(contents, Box::new(column), compress, limits, false);
            return Ok((Self::Rows(Box::new(chunks)), counters));
        }
        let compress = root.access.writable.then_some(compress);
        let grid = Grid::new(column, geometry, storage.order, limits, compress);
        Ok((Self::Grid(Box::new(grid)), counters))
    }
}

pub(super) fn new_storage(
    columns: Vec<Leaf>,
    row_shape: &[u64],
    options: &TreeOptions,
) -> Result<Storage> {
    let to_usize = |side: &u64| usize::try_from(*side).unwrap_or(usize::MAX);
    let row_chunk = match &options.chunk_row_shape {
        Some(shape) => shape.clone(),
        None => row_shape.iter().map(to_usize).collect(),
    };
    let widest = columns.iter().map(|leaf| leaf.dtype.item_size()).max().unwrap_or(1).max(1);
    let row_len = row_chunk.iter().fold(widest, |len, side| len.saturating_mul(*side));
    let rows = options.chunk_rows.unwrap_or((CHUNK / row_len.max(1)).max(1));
    if rows.checked_mul(row_len).is_none_or(|chunk| chunk > MAX_CHUNK) {
        return Err(Error::invalid(format!(
            "{rows} rows of {row_len} bytes are too much for a chunk"
        )));
    }
    let storage = Storage {
        endianness: common_order(columns.iter().map(|leaf| &leaf.dtype)),
        columns,
        shape: std::iter::once(0).chain(row_shape.iter().copied()).collect(),
        chunkshape: std::iter::once(rows).chain(row_chunk).collect(),
        superchunksize: options.superchunk_size,
        order: options.order,
        compression: Compression::from_options(&options.compress)?,
        reserve: options.reserve,
        other: Vec::new(),
    };
    for leaf in &storage.columns {
        let words = &storage.compression;
        let options = words.to_options(leaf.dtype.item_size());
        let applied = options.and_then(|_| words.truncation(&leaf.dtype));
        applied.map_err(|error| error.of_kind(ErrorKind::InvalidArgument))?;
    }
    Ok(storage)
}

/// Big endian if every type that has an order has that one.
fn common_order<'d>(mut types: impl Iterator<Item = &'d DType> + Clone) -> ByteOrder {
    let little = types.clone().any(|dtype| dtype.byte_order() == ByteOrder::Little);
    let big = types.any(|dtype| dtype.byte_order() == ByteOrder::Big);
    if big && !little { ByteOrder::Big } else { ByteOrder::Little }
}
