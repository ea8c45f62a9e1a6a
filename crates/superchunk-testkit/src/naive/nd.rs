//! The naive reader of N-d arrays: the metalayer `b2nd`, and the items put back in C order.
//!
//! ```text
//! 97 00 ndim | 9n n × (d3 i64) shape | 9n n × (d2 i32) chunk | 9n n × (d2 i32) block | 00 db u32 dtype
//! ```
//!
//! All integers are big endian. With 16 dimensions the three marks are `a0`, which is no array of
//! msgpack: they are skipped. Chunks are in C order over the grid of chunks, each padded to whole
//! blocks; its blocks are in C order over the grid of blocks, the items of a block in C order.

/// What the metalayer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The length of the array along each dimension.
    pub shape: Vec<usize>,
    /// The length of a chunk.
    pub chunks: Vec<usize>,
    /// The length of a block.
    pub blocks: Vec<usize>,
    /// The type of an item, as NumPy spells it.
    pub dtype: String,
}

impl Geometry {
    /// Reads the bytes of the metalayer.
    ///
    /// # Errors
    /// A sentence that says what is wrong with them.
    pub fn parse(metalayer: &[u8]) -> Result<Self, String> {
        let mut left = metalayer;
        let head = take(&mut left, 3)?;
        let dimensions = usize::from(*head.get(2).ok_or("no dimensions")?);
        if head.first() != Some(&0x97) || dimensions > 16 {
            return Err(format!("{head:?} does not begin a geometry"));
        }
        let mut lengths = |size: usize| -> Result<Vec<usize>, String> {
            take(&mut left, 1)?;
            let one = |_| {
                take(&mut left, 1)?;
                number(take(&mut left, size)?)
            };
            (0..dimensions).map(one).collect()
        };
        let (shape, chunks, blocks) = (lengths(8)?, lengths(4)?, lengths(4)?);
        if take(&mut left, 2)? != [0, 0xdb] {
            return Err("the type is no text in the spelling of NumPy".into());
        }
        let len = number(take(&mut left, 4)?)?;
        let dtype = String::from_utf8_lossy(take(&mut left, len)?).into_owned();
        Ok(Self { shape, chunks, blocks, dtype })
    }

    /// The length of a chunk as it is stored: whole blocks.
    #[must_use]
    pub fn padded_chunk(&self) -> Vec<usize> {
        let pairs = self.chunks.iter().zip(&self.blocks);
        pairs.map(|(chunk, block)| chunk.div_ceil((*block).max(1)) * block).collect()
    }

    /// The number of chunks.
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        grid(&self.shape, &self.chunks).iter().product()
    }

    /// The items of the array in C order, from all of its chunks, decoded. The size of an item comes
    /// from the length of a chunk.
    ///
    /// # Errors
    /// When the chunks do not fit the geometry.
    pub fn assemble(&self, chunks: &[Vec<u8>]) -> Result<Vec<u8>, String> {
        if chunks.len() != self.chunk_count() {
            return Err(format!("{} chunks, not {}", chunks.len(), self.chunk_count()));
        }
        let Some(first) = chunks.first() else { return Ok(Vec::new()) };
        let item_size = first.len() / self.padded_chunk().iter().product::<usize>();
        let mut out = Vec::new();
        for position in 0..self.shape.iter().product() {
            let (chunk, item) = self.place_of(&unravel(position, &self.shape));
            let bytes = chunks.get(chunk).and_then(|chunk| chunk.get(item * item_size..));
            let bytes = bytes.and_then(|bytes| bytes.get(..item_size));
            out.extend(bytes.ok_or_else(|| format!("chunk {chunk} is too short"))?);
        }
        Ok(out)
    }

    /// The chunk of an item, and its number in it.
    fn place_of(&self, index: &[usize]) -> (usize, usize) {
        let part = |index: &[usize], by: &[usize]| -> (Vec<usize>, Vec<usize>) {
            index.iter().zip(by).map(|(i, by)| (i / by, i % by)).unzip()
        };
        let (chunk, within) = part(index, &self.chunks);
        let (block, item) = part(&within, &self.blocks);
        let block = ravel(&block, &grid(&self.padded_chunk(), &self.blocks));
        let block_len: usize = self.blocks.iter().product();
        let chunk = ravel(&chunk, &grid(&self.shape, &self.chunks));
        (chunk, block * block_len + ravel(&item, &self.blocks))
    }
}

fn grid(whole: &[usize], part: &[usize]) -> Vec<usize> {
    whole.iter().zip(part).map(|(whole, part)| whole.div_ceil((*part).max(1))).collect()
}

fn ravel(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |sum, (i, len)| sum * len + i)
}

fn unravel(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index: Vec<usize> = Vec::new();
    for len in shape.iter().rev() {
        index.push(position % len);
        position /= len;
    }
    index.reverse();
    index
}

fn take<'b>(left: &mut &'b [u8], len: usize) -> Result<&'b [u8], String> {
    let (taken, rest) = left.split_at_checked(len).ok_or("the metalayer is too short")?;
    *left = rest;
    Ok(taken)
}

fn number(bytes: &[u8]) -> Result<usize, String> {
    let value = bytes.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    usize::try_from(value).ok().filter(|len| *len < 1 << 31).ok_or(format!("{value} is too long"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_format_comes_out_in_order() {
        // Items 1 to 12 of a (3, 4) array in chunks of (2, 3) and blocks of (2, 2).
        let geometry = Geometry {
            shape: vec![3, 4],
            chunks: vec![2, 3],
            blocks: vec![2, 2],
            dtype: "|u1".into(),
        };
        let chunks = [
            vec![1, 2, 5, 6, 3, 0, 7, 0],
            vec![4, 0, 8, 0, 0, 0, 0, 0],
            vec![9, 10, 0, 0, 11, 0, 0, 0],
            vec![12, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(geometry.assemble(&chunks).unwrap(), (1..=12).collect::<Vec<u8>>());
        assert!(geometry.assemble(&chunks[..3]).is_err());
    }

    #[test]
    fn a_scalar_has_no_dimensions_and_one_chunk() {
        let stored = b"\x97\0\0\x90\x90\x90\0\xdb\0\0\0\x03<i8";
        let geometry = Geometry::parse(stored).unwrap();
        assert_eq!((geometry.shape.len(), geometry.dtype.as_str()), (0, "<i8"));
        assert_eq!(geometry.assemble(&[vec![7; 8]]).unwrap(), [7; 8]);
        assert!(Geometry::parse(&stored[..14]).is_err());
    }
}
