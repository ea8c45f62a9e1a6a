//! From the files of a folder to an array, and from options to the files of a new one.

use std::ops::Range;
use std::sync::Arc;

use super::options::{ArrayOptions, chunk_options};
use crate::carray::{Attrs, Carray, Control, Geometry, Home, ItemType, Sizes, Storage, row_size};
use crate::container::Params;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::Durability;
use crate::limits::Limits;
use crate::options::CompressOptions;
use crate::place;
use crate::schunk::{OpenOptions, SuperChunk};
use crate::store::Dir;

/// What an array without a path is called in errors.
pub(super) const CARRAY: &str = "carray";
/// What a table without a path is called in errors.
pub(super) const CTABLE: &str = "ctable";
/// The most bytes of `sizes`, `storage` and the intent of a table.
const MAX_SMALL: usize = 1 << 20;
/// The most bytes of `__rootdirs__`.
const MAX_NAMES: usize = 16 << 20;

/// What the files of an array say.
pub(super) struct Parts {
    pub(super) home: Arc<Home>,
    pub(super) sizes: Sizes,
    pub(super) storage: Storage,
    pub(super) attrs: Attrs,
}

impl Parts {
    /// Reads the files of the folder that `home` is, and `root` its opened form.
    pub(super) fn read(home: Home, root: &dyn Dir, limits: &Limits) -> Result<Self> {
        let within = |error: Error, file: &str| error.within(format!("{}/{file}", home.name()));
        let missing = |error: Error| match error.kind() {
            ErrorKind::NotFound => {
                Error::not_found("this folder is no carray: it has no folder `meta`")
                    .within(home.name())
            }
            _ => error,
        };
        let meta = root.open_folder("meta").map_err(missing)?;
        let storage = home.need(meta.as_ref(), "storage", small(limits))?;
        let sizes = home.read_sizes(meta.as_ref(), small(limits))?;
        let storage = Storage::parse(&storage).map_err(|e| within(e, "meta/storage"))?;
        let sizes = Sizes::parse(&sizes).map_err(|e| within(e, "meta/sizes"))?;
        let attrs = read_attrs(&home, root, limits)?;
        Ok(Self { home: Arc::new(home), sizes, storage, attrs })
    }

    /// Makes the folders and files of a new array without rows.
    pub(super) fn create(home: Home, root: &dyn Dir, options: &ArrayOptions) -> Result<Self> {
        let storage = options.storage()?;
        let row_shape = options.row_shape.clone();
        let sizes = Sizes { rows: 0, row_shape, nbytes: 0, cbytes: 0 };
        Geometry::new(&sizes, options.dtype.item_size(), storage.chunk_len)
            .map_err(|error| error.of_kind(ErrorKind::InvalidArgument))?;
        let meta = root.create_folder("meta")?;
        root.create_folder("data")?;
        let mut attrs = Attrs::new();
        home.write_new(meta.as_ref(), "storage", storage.write().as_bytes())?;
        home.write_new(root, Attrs::FILE, attrs.write().as_bytes())?;
        home.sync(root)?;
        attrs.settle();
        // Without this file the folder is nothing yet.
        home.replace(meta.as_ref(), "sizes", &sizes.write())?;
        Ok(Self { home: Arc::new(home), sizes, storage, attrs })
    }

    /// The rows behind the files; `None` for Python objects.
    pub(super) fn superchunk(
        &self,
        control: &Arc<Control>,
        setup: &Setup,
        access: &Access,
    ) -> Result<Option<SuperChunk>> {
        let ItemType::Plain(dtype) = &self.storage.item_type else { return Ok(None) };
        let told = |error: Error| error.within(self.home.name());
        let chunk_len = self.storage.chunk_len;
        let geometry = Geometry::new(&self.sizes, dtype.item_size(), chunk_len).map_err(told)?;
        let compress = setup.compress.clone().with_codec(self.storage.codec());
        let compress = compress.with_level(self.storage.clevel).with_filters(self.storage.filter);
        let compress = chunk_options(&compress, dtype);
        let params = Params::from_options(&compress)?;
        let (home, sizes) = (self.home.clone(), self.sizes.clone());
        let writable = *access != Access::Read;
        let shard = match access {
            Access::Rows(rows) => Some(first_chunk(rows, &geometry).map_err(told)?),
            Access::Read | Access::Write => None,
        };
        let layout = Carray::new(home, control.clone(), sizes, geometry, params, writable, shard);
        let layout = layout.map_err(told)?;
        let contents = layout.contents().map_err(told)?;
        let layout = Box::new(layout);
        Ok(Some(SuperChunk::over(contents, layout, compress, setup.limits, writable)))
    }

    /// The bytes of a row; those of an object are not counted.
    pub(super) fn row_size(&self) -> Result<usize> {
        match &self.storage.item_type {
            ItemType::Plain(dtype) => row_size(dtype.item_size(), &self.sizes.row_shape),
            ItemType::Object => Ok(0),
        }
    }
}

/// What an array or a table is opened for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Reading.
    Read,
    /// Any change, by one writer.
    Write,
    /// Overwriting these rows, while others overwrite others.
    Rows(Range<u64>),
}

impl Access {
    /// What is claimed of the folder.
    pub(super) fn claim(&self) -> place::Access {
        match self {
            Self::Read => place::Access::Read,
            Self::Write => place::Access::Edit,
            Self::Rows(_) => place::Access::Share,
        }
    }

    /// Keeps those out who would disturb.
    pub(super) fn lock(&self, dir: &dyn Dir) -> Result<()> {
        match self {
            Self::Read => Ok(()),
            Self::Write => dir.lock(),
            Self::Rows(_) => dir.lock_shared(),
        }
    }

    /// Refuses a change of what is opened for reading.
    pub(super) fn check_writable(&self, name: &str) -> Result<()> {
        match self {
            Self::Read => {
                Err(Error::invalid("this was opened for reading: open it with edit").within(name))
            }
            Self::Write | Self::Rows(_) => Ok(()),
        }
    }

    /// Refuses a change of more than rows that exist, unless that is what it was opened for.
    pub(super) fn check_whole(&self, name: &str) -> Result<()> {
        self.check_writable(name)?;
        match self {
            Self::Rows(rows) => Err(Error::invalid(format!(
                "only rows {rows:?} can be overwritten here: open it with edit"
            ))
            .within(name)),
            _ => Ok(()),
        }
    }
}

/// The first of the chunks that rows fill.
fn first_chunk(rows: &Range<u64>, geometry: &Geometry) -> Result<u64> {
    let at_edge = |row: u64| row == geometry.rows || row.is_multiple_of(geometry.chunk_len);
    if rows.start <= rows.end
        && rows.end <= geometry.rows
        && at_edge(rows.start)
        && at_edge(rows.end)
    {
        return Ok(rows.start / geometry.chunk_len);
    }
    Err(Error::invalid(format!(
        "rows {rows:?} are no whole chunks of {} of the {} rows there are: `shards` tells ranges that are",
        geometry.chunk_len, geometry.rows
    )))
}

/// What all columns of a table are opened with.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) limits: Limits,
    pub(super) durable: bool,
    /// Who does the work.
    pub(super) compress: CompressOptions,
}

impl Setup {
    pub(super) fn of(options: &OpenOptions) -> Result<Self> {
        options.check_no_offset()?;
        options.check_no_compress("bcolz folder")?;
        Ok(Self {
            limits: options.limits,
            durable: options.durability == Durability::Full,
            compress: options.equip(CompressOptions::new(1)),
        })
    }

    /// What a new array or table is used with.
    pub(super) fn creating(durability: Durability, compress: &CompressOptions) -> Self {
        let durable = durability == Durability::Full;
        Self { limits: Limits::default(), durable, compress: compress.clone() }
    }
}

pub(super) fn read_attrs(home: &Home, root: &dyn Dir, limits: &Limits) -> Result<Attrs> {
    let text = home.read(root, Attrs::FILE, limits.max_parsed())?;
    Attrs::parse(text.as_deref())
        .map_err(|error| error.within(format!("{}/{}", home.name(), Attrs::FILE)))
}

/// The most bytes of a file of a few numbers.
pub(super) fn small(limits: &Limits) -> usize {
    limits.max_metadata.min(MAX_SMALL)
}

/// The most bytes of the names of a table.
pub(super) fn names(limits: &Limits) -> usize {
    limits.max_metadata.min(MAX_NAMES)
}
