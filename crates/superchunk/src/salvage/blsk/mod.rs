//! The `blsk` trees of the carray proposal: folders of superchunk files.
//!
//! ```text
//! survey   what the small files say, key by key, and the files of chunks of every column
//! file     the chunks of a file, by its index or found without it, and their slots
//! types    the columns and what their items are
//! ways     shapes and chunks that the tree may have, those that are stated first
//! cut      the first of them that the chunks fit
//! rebuild  the new tree
//! ```

mod cut;
mod file;
mod rebuild;
mod survey;
mod types;
mod ways;

use std::sync::Arc;

use super::SalvageOptions;
use super::report::{ChunkOrder, SalvageReport};
use super::watched::Watch;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::store::Dir;
use rebuild::rebuild;
use survey::Survey;

/// Recovers what can be recovered of the `blsk` tree in the folder `from` into the folder `to`, which must be
/// empty.
///
/// Chunks keep their places: their files are numbered, and the index of a file tells which chunk is which; where
/// it is damaged, they come in the order of the file. Lost ones read as zeros. What `meta/storage` says counts
/// key by key, as far as the chunks do not contradict; without a type, items are assumed to be bytes, without a
/// shape, one behind the other. There are no checksums in such trees, so that no piece is *verified*.
///
/// ```
/// use std::sync::Arc;
/// use superchunk::blsk::{Array, ArrayOptions, TreeOptions};
/// use superchunk::store::{Dir, MemoryFolder};
/// use superchunk::{DType, Limits, OpenOptions, salvage};
///
/// let (from, to) = (Arc::new(MemoryFolder::new()), Arc::new(MemoryFolder::new()));
/// let mut array = Array::create_in_dir(from.clone(), &ArrayOptions::of::<u32>())?;
/// array.append_items(&(0..1000u32).collect::<Vec<_>>())?;
/// array.close()?;
/// from.open_folder("meta")?.remove("nrows")?;
///
/// let report = salvage::blsk(from.as_ref(), to.clone(), &Limits::default())?;
/// assert!(!report.is_whole());
/// let saved = Array::open_in_dir(to, &OpenOptions::new())?;
/// assert_eq!(saved.read::<u32>(0..1000)?, (0..1000).collect::<Vec<_>>());
/// # Ok::<(), superchunk::Error>(())
/// ```
pub fn blsk(
    from: &dyn Dir,
    to: Arc<dyn Dir>,
    options: impl Into<SalvageOptions>,
) -> Result<SalvageReport> {
    let options = options.into();
    let watch = Watch::new(&options);
    watch.finish(find(&watch.over(from), to, &options.limits))
}

fn find(from: &dyn Dir, to: Arc<dyn Dir>, limits: &Limits) -> Result<SalvageReport> {
    let mut report = SalvageReport::new("blsk table", ChunkOrder::Index);
    let survey = Survey::of(from, limits, &mut report)?;
    if !survey.is_something() {
        let words = "nothing in it can be read as a column or a file of chunks";
        return Err(Error::corrupt(words).within("salvage"));
    }
    let columns = types::columns(&survey, &mut report)?;
    let cut = cut::choose(&survey, &columns, &mut report)?;
    rebuild(&survey, columns, cut, to, limits, report)
}
