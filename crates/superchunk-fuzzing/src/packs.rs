//! Bloscpack files of any bytes.

use std::sync::Arc;

use superchunk::bloscpack::Pack;
use superchunk::store::{Bytes, Dir as _, MemoryFolder, ReadAt};
use superchunk::{OpenOptions, Result};

use crate::bounds::{LIMIT, Remote, bounded, limits, no_bug};

/// The most chunks and objects that are looked at.
const SOME: usize = 20;

/// A file, read strictly and leniently, in memory and elsewhere; then written on.
pub(crate) fn blp(input: &[u8]) {
    for lenient in [false, true] {
        let remote = bounded(input.len(), || no_bug(look(Remote::of(input), lenient)));
        let here =
            bounded(input.len(), || no_bug(look(Arc::new(Bytes::new(input.to_vec())), lenient)));
        assert_eq!(remote.is_ok(), here.is_ok(), "{remote:?} {here:?}");
        if let (Ok(remote), Ok(here)) = (remote, here) {
            assert!(remote == here, "bytes in memory are read otherwise");
        }
    }
    let _ = no_bug(bounded(4 * input.len(), || write_on(input)));
}

fn look(store: Arc<dyn ReadAt>, lenient: bool) -> Result<Vec<u8>> {
    let options = OpenOptions::new().with_limits(limits()).with_lenient(lenient);
    let pack: Pack = Pack::open_store(store, &options)?;
    let mut found = Vec::new();
    let sum = |bytes: &[u8]| bytes.iter().fold(0, |sum: u8, byte| sum.rotate_left(3) ^ byte);
    for object in pack.objects().take(SOME).flat_map(no_bug) {
        found.push(sum(&object));
    }
    let data = pack.superchunk()?;
    for chunk in data.chunks().take(SOME) {
        let chunk = chunk?;
        assert!(chunk.len() <= LIMIT);
        found.push(sum(&chunk));
    }
    if data.chunk_count() <= SOME {
        let _ = no_bug(data.verify());
    }
    Ok(found)
}

fn write_on(input: &[u8]) -> Result<()> {
    let folder = Arc::new(MemoryFolder::new());
    folder.create("pack")?.write_at(0, input)?;
    let options = OpenOptions::new().with_limits(limits());
    let mut pack = Pack::edit_in_dir(folder.clone(), "pack", &options)?;
    let before = pack.superchunk()?.byte_len();
    let Ok(()) = no_bug(pack.append(&[7; 24])) else { return Ok(()) };
    pack.commit()?;
    drop(pack);
    let pack = Pack::open_in_dir(folder, "pack", &options)?;
    assert_eq!(pack.superchunk()?.byte_len(), before + 24, "what was appended is there");
    Ok(())
}
