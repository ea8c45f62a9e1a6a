//! Folders as lists of files, and what may happen to them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use superchunk::Result;
use superchunk::store::{Dir, MemoryFolder};

use crate::rng::Rng;

/// All files of a folder by their paths, with `/` between folder and file.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The files of a folder and of all folders in it.
///
/// # Errors
///
/// When one cannot be read.
pub fn files_of(dir: &dyn Dir) -> Result<Files> {
    let mut files = Files::new();
    collect(dir, "", &mut files)?;
    Ok(files)
}

fn collect(dir: &dyn Dir, prefix: &str, files: &mut Files) -> Result<()> {
    for name in dir.names()? {
        let file = dir.open(&name)?;
        let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(usize::MAX)];
        file.read_exact_at(0, &mut bytes)?;
        files.insert(format!("{prefix}{name}"), bytes);
    }
    for name in dir.folder_names()? {
        collect(dir.open_folder(&name)?.as_ref(), &format!("{prefix}{name}/"), files)?;
    }
    Ok(())
}

/// A folder in memory that has these files.
///
/// # Errors
///
/// When a path is none.
pub fn folder_of(files: &Files) -> Result<Arc<dyn Dir>> {
    let root: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    for (path, bytes) in files {
        let mut dir = root.clone();
        let mut rest = path.as_str();
        while let Some((folder, inner)) = rest.split_once('/') {
            dir = dir.open_folder(folder).or_else(|_| dir.create_folder(folder))?;
            rest = inner;
        }
        dir.create(rest)?.write_at(0, bytes)?;
    }
    Ok(root)
}

/// Writes the files below a path of the disk.
///
/// # Errors
///
/// When one cannot be written.
pub fn write_to(files: &Files, path: &Path) -> std::io::Result<()> {
    for (name, bytes) in files {
        let place = path.join(name);
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(place, bytes)?;
    }
    Ok(())
}

/// The files after something bad has happened to one, two or three of them, and what that was. A file that
/// holds no chunks is hit as often as all others together.
#[must_use]
pub fn damage(files: &Files, rng: &mut Rng) -> (Files, String) {
    let mut damaged = files.clone();
    let mut words = Vec::new();
    for _ in 0..1 + rng.below(3) {
        let names: Vec<String> = damaged.keys().cloned().collect();
        let holds_chunks =
            |name: &str| [".blp", ".bin", ".chunk", ".b2nd"].iter().any(|end| name.ends_with(end));
        let small: Vec<String> = names.iter().filter(|name| !holds_chunks(name)).cloned().collect();
        let among = if rng.below(2) == 0 && !small.is_empty() { small } else { names };
        let Some(name) = among.get(rng.index(among.len())) else { break };
        let what = hit(&mut damaged, name, rng);
        words.push(format!("{name}: {what}"));
        if damaged.is_empty() {
            break;
        }
    }
    (damaged, words.join(", "))
}

fn hit(files: &mut Files, name: &str, rng: &mut Rng) -> &'static str {
    let Some(bytes) = files.get_mut(name) else { return "left" };
    let len = bytes.len();
    match rng.below(4) {
        0 => {
            files.remove(name);
            "gone"
        }
        1 => {
            bytes.truncate(rng.index(len.max(1)));
            "cut"
        }
        2 if len > 0 => {
            let start = rng.index(len);
            let count = 1 + rng.index(len - start);
            let noise = rng.bytes(count);
            bytes.iter_mut().skip(start).zip(noise).for_each(|(byte, noise)| *byte = noise);
            "overwritten"
        }
        _ if len > 0 => {
            let at = rng.index(len);
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << rng.below(8));
            "a bit flipped"
        }
        _ => "left",
    }
}
