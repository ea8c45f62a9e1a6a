//! Copies of trees whose chunks are compressed or cut in another way. Everything else stays: rows,
//! types, attributes, keys of `storage` that are not known here.

use super::options::TreeOptions;
use super::tree::{NAMELESS, Tree, new_storage};
use crate::error::{MustGet, Result};
use crate::exec::Work;
use crate::frame::Durability;
use crate::options::{Codec, Filter};
use crate::place::Place;
use crate::superfile::Storage;

impl Tree {
    /// Options that make a tree like this one, with another codec or other filters on request.
    pub(super) fn options(
        &self,
        codec: Option<Codec>,
        filters: Option<&[Filter]>,
    ) -> Result<TreeOptions> {
        let stored = self.storage.compression.without(codec.is_some(), filters.is_some());
        let mut compress = stored.to_full_options()?;
        compress.codec = codec.unwrap_or(compress.codec);
        compress.filters = filters.map_or(compress.filters, <[Filter]>::to_vec);
        let Storage { chunkshape, superchunksize, reserve, order, .. } = &self.storage;
        Ok(TreeOptions {
            compress,
            chunk_rows: chunkshape.first().copied(),
            chunk_row_shape: chunkshape.get(1..).map(<[usize]>::to_vec),
            superchunk_size: *superchunksize,
            reserve: *reserve,
            order: *order,
            durability: Durability::Full,
        })
    }

    /// Makes a tree with the same rows and attributes, compressed and cut as the options say.
    pub(super) fn copy_to(&self, place: &Place<'_>, options: &TreeOptions) -> Result<()> {
        let Storage { columns, shape, endianness, other, .. } = &self.storage;
        let row_shape = shape.must_get(1..)?;
        let storage = new_storage(columns.clone(), row_shape, options)?;
        let storage = Storage { endianness: *endianness, other: other.clone(), ..storage };
        place.filled(|dir| {
            let copy = Self::made(dir, place.told(NAMELESS), storage, options)?;
            self.copy_into(copy, options)
        })
    }

    fn copy_into(&self, mut copy: Self, options: &TreeOptions) -> Result<()> {
        let Storage { columns, compression, .. } = &self.storage;
        for (truncation, leaf) in copy.truncations.iter_mut().zip(columns) {
            // It was done to these items when they were new; those of other programs stay.
            if compression.truncation(&leaf.dtype).is_ok_and(|known| known == *truncation) {
                *truncation = None;
            }
        }
        let band = copy.storage.chunkshape.first().map_or(1, |rows| (*rows).max(1)) as u64;
        let mut first = 0;
        while first < self.rows() {
            let stop = self.rows().min(first.saturating_add(band));
            let rows = self.check_rows(&(first..stop))?;
            let row_len: usize =
                (0..columns.len()).map(|column| self.row_len(column)).sum::<Result<_>>()?;
            let total = self.rows().saturating_mul(row_len as u64);
            options.compress.executor.begin(
                Work::Copy,
                rows.saturating_mul(row_len),
                Some(total),
            )?;
            let mut parts = Vec::with_capacity(columns.len());
            for column in 0..columns.len() {
                let len = rows.saturating_mul(self.row_len(column)?);
                self.root.access.limits.check_decoded(len)?;
                let mut bytes = vec![0; len];
                self.read_rows(column, first..stop, &mut bytes)?;
                parts.push(bytes);
            }
            copy.append(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
            first = stop;
        }
        copy.attributes = self.attributes.copied();
        copy.commit()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::blsk::{Array, ArrayOptions};
    use crate::options::{Codec, Filter};
    use crate::schunk::OpenOptions;
    use crate::store::{Dir, MemoryFolder};
    use crate::superfile::{ItemOrder, Reserve};

    /// An array in chunks of 4 rows, of which only the last has lost the low bits of its mantissas.
    fn array() -> Array {
        let dir = Arc::new(MemoryFolder::new());
        let mut options = ArrayOptions::of::<f32>()
            .with_row_shape([2])
            .with_chunk_rows(4)
            .with_order(ItemOrder::Fortran);
        options = options.with_reserve(Reserve::Full).with_superchunk_size(3);
        let mut array = Array::create_in_dir(dir.clone(), &options).unwrap();
        array.append_items(&[0.1f32; 16]).unwrap();
        array.close().unwrap();
        let meta = dir.open_folder("meta").unwrap();
        let storage = meta.edit("storage").unwrap();
        let mut text = vec![0; usize::try_from(storage.len().unwrap()).unwrap()];
        storage.read_exact_at(0, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let text = text.replace("[shuffle]", "[shuffle, truncate]\n  truncate: 4");
        storage.write_at(0, text.as_bytes()).unwrap();
        let mut array = Array::edit_in_dir(dir, &OpenOptions::new()).unwrap();
        array.append_items(&[0.1f32; 2]).unwrap();
        array
    }

    #[test]
    fn items_are_not_truncated_again_and_new_ones_are() {
        let array = array();
        let items = array.read::<f32>(0..9).unwrap();
        assert!(items[0] != items[17], "{items:?}");
        let to = Arc::new(MemoryFolder::new());
        let options = array.options().unwrap();
        let compress = options.compress.clone().with_codec(Codec::Zstd);
        array.copy_to_dir(to.clone(), &options.with_compress(compress)).unwrap();
        let mut copy = Array::edit_in_dir(to, &OpenOptions::new()).unwrap();
        assert_eq!(copy.read::<f32>(0..9).unwrap(), items);
        copy.append_items(&[0.1f32; 2]).unwrap();
        assert_eq!(copy.read::<f32>(9..10).unwrap(), items[16..]);
        let made = copy.options().unwrap();
        assert_eq!((made.compress.codec, made.chunk_rows), (Codec::Zstd, Some(4)));
        assert_eq!(
            (made.order, made.reserve, made.superchunk_size),
            (ItemOrder::Fortran, Reserve::Full, 3)
        );
    }

    #[test]
    fn items_are_truncated_where_that_is_new() {
        let array = array();
        let options = array.options().unwrap();
        let filters = [Filter::Shuffle, Filter::TruncPrec(3)];
        let compress = options.compress.clone().with_filters(filters);
        let to = Arc::new(MemoryFolder::new());
        array.copy_to_dir(to.clone(), &options.with_compress(compress)).unwrap();
        let copy = Array::open_in_dir(to, &OpenOptions::new()).unwrap();
        let bits = |item: f32| item.to_bits() & !0xf_ffff;
        let expected = array.read::<f32>(0..9).unwrap().into_iter().map(bits).map(f32::from_bits);
        assert_eq!(copy.read::<f32>(0..9).unwrap(), expected.collect::<Vec<_>>());
    }
}
