//! The N-d array: a super-chunk whose chunks are boxes of items.
//!
//! | file | what it does |
//! |---|---|
//! | `geometry` | the arithmetic of shapes: grids, chunks, blocks |
//! | `defaults` | chunk and block shapes for those who give none |
//! | `select`, `pick` | which items: slices as NumPy writes them; per axis, by chunk and block |
//! | `strided` | copies a box from buffer to buffer |
//! | `view`, `read`, `points`, `mask` | from items to chunks, blocks and bytes |
//! | `write`, `assemble` | the other way |
//! | `resize`, `join` | arrays that grow, shrink, lose and gain rows, are put together |
//! | `create`, `options`, `copy` | new arrays |
//!
//! The format is described in `docs/formats/b2nd.md`.

mod assemble;
mod copy;
mod create;
mod defaults;
mod geometry;
mod join;
mod mask;
#[cfg(feature = "ndarray")]
mod ndarray_view;
mod odometer;
mod options;
mod pick;
mod points;
mod read;
mod reading;
mod resize;
mod select;
mod strided;
mod view;
mod write;

pub(crate) use geometry::{Geometry, product, strides};
pub use options::{FillValue, NdOptions, NdStorage};
pub use read::ChunkBox;
pub use select::{AxisIndexes, AxisSlice, Selection};
pub(crate) use strided::{Axis, Copy};

use crate::b2nd::{Meta, NAMES};
use crate::detect::other_content;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::place::{Access, Place};
use crate::schunk::{OpenOptions, SuperChunk, Verification, forwards_attributes, opens};
use view::View;

/// An N-d array of items of one type, cut into compressed chunks and blocks.
///
/// ```
/// use superchunk::{DType, NdArray, NdOptions, Selection};
/// # let folder = std::env::temp_dir().join(format!("superchunk-nd-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("cube.b2nd");
///
/// let shape = [60, 80, 100];
/// let mut cube = NdArray::create(&path, &NdOptions::of::<f32>(&shape))?;
/// cube.write_box(&[0, 0, 0], &[1, 80, 100], bytemuck::cast_slice(&[1.5f32; 8000]))?;
/// cube.close()?;
///
/// let cube = NdArray::open(&path)?;
/// // Decodes only the blocks that hold these ten items.
/// let row: Vec<f32> = cube.read(&Selection::parse("0:2, 40, :50:10", cube.shape())?)?;
/// assert_eq!(row, [1.5, 1.5, 1.5, 1.5, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), superchunk::Error>(())
/// ```
///
/// Like those of its [`SuperChunk`], changes are seen by this handle at once and by everyone else after
/// [`NdArray::commit`].
#[derive(Debug)]
pub struct NdArray {
    frame: SuperChunk,
    geometry: Geometry,
    dtype: DType,
    /// The metalayer that describes the array.
    layer: &'static str,
}

impl NdArray {
    pub(crate) fn opened(place: &Place<'_>, options: &OpenOptions, access: Access) -> Result<Self> {
        Self::from_superchunk(SuperChunk::opened(place, options, access)?)
    }

    /// The array that a super-chunk holds: one with a metalayer `b2nd` or `caterva`.
    pub fn from_superchunk(frame: SuperChunk) -> Result<Self> {
        let layer = NAMES.into_iter().find(|name| frame.metalayer(name).is_some());
        let layer = layer.ok_or_else(|| {
            other_content("an array", |name| frame.metalayer(name).is_some()).within(frame.name())
        })?;
        let (geometry, dtype) = described(&frame, layer)?;
        Ok(Self { frame, geometry, dtype, layer })
    }

    /// The length of each dimension.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.geometry.shape
    }

    /// The shape of a chunk.
    #[must_use]
    pub fn chunk_shape(&self) -> &[usize] {
        &self.geometry.chunks
    }

    /// The shape of a block.
    #[must_use]
    pub fn block_shape(&self) -> &[usize] {
        &self.geometry.blocks
    }

    /// The type of an item.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// The number of dimensions.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.geometry.rank()
    }

    /// The number of items.
    #[must_use]
    pub fn item_count(&self) -> u64 {
        self.geometry.shape.iter().product()
    }

    /// The bytes of one item.
    #[must_use]
    pub fn item_size(&self) -> usize {
        self.geometry.item_size
    }

    /// The super-chunk that holds it: metadata, storage, chunks.
    #[must_use]
    pub fn superchunk(&self) -> &SuperChunk {
        &self.frame
    }

    /// The same, to be changed. Whoever changes chunks or the metalayer `b2nd` must make the array
    /// [anew](NdArray::from_superchunk).
    pub fn superchunk_mut(&mut self) -> &mut SuperChunk {
        &mut self.frame
    }

    /// The super-chunk alone.
    #[must_use]
    pub fn into_superchunk(self) -> SuperChunk {
        self.frame
    }

    /// Makes all changes durable in one step, data and shape together.
    pub fn commit(&mut self) -> Result<()> {
        self.frame.commit()
    }

    /// Commits and closes.
    pub fn close(self) -> Result<()> {
        self.frame.close()
    }

    /// Decodes every chunk, and compares checksums where there are any.
    pub fn verify(&self) -> Result<Verification> {
        self.frame.verify()
    }

    /// Whether an attribute belongs to the format.
    fn is_internal(_name: &str) -> bool {
        false
    }

    /// Looks whether another program has changed the array, and follows; returns whether it has.
    pub fn refresh(&mut self) -> Result<bool> {
        let changed = self.frame.refresh()?;
        if changed {
            (self.geometry, self.dtype) = described(&self.frame, self.layer)?;
        }
        Ok(changed)
    }

    fn view(&self) -> View<'_> {
        View { frame: &self.frame, geometry: &self.geometry }
    }

    /// The bytes of the metalayer, which every change checks and every resize rewrites.
    fn layer_bytes(&self) -> Vec<u8> {
        self.frame.metalayer(self.layer).unwrap_or_default().to_vec()
    }
}

opens!(NdArray: file or folder);
forwards_attributes!(NdArray, frame);

/// What a metalayer says of the chunks, checked against the super-chunk.
pub(crate) fn described(frame: &SuperChunk, layer: &str) -> Result<(Geometry, DType)> {
    let meta = Meta::parse(layer, frame.metalayer(layer).unwrap_or_default())?;
    let corrupt = |error: Error| error.of_kind(ErrorKind::Corrupt);
    let dtype = meta.dtype.as_deref().filter(|text| !text.is_empty()).map(DType::parse);
    let dtype = dtype.transpose()?;
    let in_items = Geometry::new(&meta.shape, &meta.chunks, &meta.blocks, 1).map_err(corrupt)?;
    let stated = dtype.as_ref().map_or(frame.item_size(), DType::item_size);
    // Some writers lost the item size; chunks and their shape always tell it.
    let item_size = match (frame.chunk_size(), in_items.chunk_bytes) {
        (Some(size), items) if items > 0 => Some(size / items).filter(|item| item * items == size),
        _ => Some(stated),
    };
    let item_size = item_size.filter(|size| *size > 0).ok_or_else(|| {
        let size = frame.chunk_size().unwrap_or(0);
        let items = in_items.chunk_bytes;
        Error::corrupt(format!("{size} bytes are no chunk of {items} items")).at(
            "frame",
            "chunksize",
            58,
        )
    })?;
    let dtype = dtype.unwrap_or_else(|| DType::opaque(item_size));
    if dtype.item_size() != item_size {
        return Err(Error::corrupt(format!(
            "`{dtype}` has items of {} bytes, the chunks of {item_size}",
            dtype.item_size()
        ))
        .at("b2nd", "dtype", 0));
    }
    if ![item_size, 1].contains(&frame.item_size()) {
        return Err(Error::corrupt(format!(
            "items of {} bytes, the chunks have items of {item_size}",
            frame.item_size()
        ))
        .at("frame", "typesize", 48));
    }
    let geometry =
        Geometry::new(&meta.shape, &meta.chunks, &meta.blocks, item_size).map_err(corrupt)?;
    let stored = geometry.chunk_count as u64 * geometry.chunk_bytes as u64;
    if frame.chunk_count() != geometry.chunk_count || frame.byte_len() != stored {
        return Err(Error::corrupt(format!(
            "shape {:?} makes {} chunks of {} bytes, there are {} with {} bytes in all",
            geometry.shape,
            geometry.chunk_count,
            geometry.chunk_bytes,
            frame.chunk_count(),
            frame.byte_len()
        ))
        .at("b2nd", "shape", 3));
    }
    Ok((geometry, dtype))
}
