//! The bytes that files and folders take.

use std::fs::Metadata;
use std::path::Path;

/// The length of a file, or of all files of a folder.
pub(crate) fn size_of_path(path: &Path) -> u64 {
    sum_of_files(path, Metadata::len)
}

/// The bytes that a file, or all files of a folder, take on the disk: holes take none.
pub(crate) fn stored_of_path(path: &Path) -> u64 {
    #[cfg(unix)]
    return sum_of_files(path, |file| {
        file.len().min(std::os::unix::fs::MetadataExt::blocks(file).saturating_mul(512))
    });
    #[cfg(not(unix))]
    return size_of_path(path);
}

fn sum_of_files(path: &Path, len: fn(&Metadata) -> u64) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else {
        return std::fs::metadata(path).map_or(0, |found| len(&found));
    };
    // Links are not followed.
    let lens = entries.flatten().filter_map(|entry| match entry.metadata().ok()? {
        found if found.is_dir() => Some(sum_of_files(&entry.path(), len)),
        found => Some(len(&found)),
    });
    lens.sum()
}
