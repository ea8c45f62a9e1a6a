//! Where a carray or a table lives: reading its small files, and replacing them in one step.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, MustGet, Result};
use crate::store::{Dir, ReadAt, WriteAt, last_sync};

/// What a small file takes at most on the first read.
const FIRST_READ: usize = 4096;
/// The file of lengths, and how often it is read at most.
const SIZES: &str = "sizes";
const TRIES: usize = 100;
/// What a disk writes as a whole or not at all.
const SECTOR: usize = 512;
/// The blanks behind `sizes` for numbers that grow.
const ROOM: usize = 24;

/// The folder of a carray or a table. Only the folder it hangs on stays open: a table of many columns
/// must not use up the system's handles.
pub(crate) struct Home {
    base: Arc<dyn Dir>,
    /// The folders between `base` and this one.
    below: Vec<String>,
    /// How errors name it.
    name: String,
    /// Whether a commit waits for the disk.
    durable: bool,
    data: OnceLock<Arc<dyn Dir>>,
    meta: OnceLock<Arc<dyn Dir>>,
    /// The length of `sizes` where this writer has left blanks at its end, or 0.
    room: AtomicUsize,
}

impl Home {
    pub(crate) fn new(base: Arc<dyn Dir>, name: String, durable: bool) -> Self {
        let (data, meta, room) = (OnceLock::new(), OnceLock::new(), AtomicUsize::new(0));
        Self { base, below: Vec::new(), name, durable, data, meta, room }
    }

    /// The folder `name` in this one.
    pub(crate) fn child(&self, name: &str) -> Self {
        let below = self.below.iter().map(String::as_str).chain([name]).map(str::to_owned);
        Self {
            base: self.base.clone(),
            below: below.collect(),
            name: format!("{}/{name}", self.name),
            durable: self.durable,
            data: OnceLock::new(),
            meta: OnceLock::new(),
            room: AtomicUsize::new(0),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The folder itself.
    pub(crate) fn root(&self) -> Result<Arc<dyn Dir>> {
        let mut dir = self.base.clone();
        for name in &self.below {
            dir = dir.open_folder(name).map_err(as_damage)?;
        }
        Ok(dir)
    }

    /// The folder of the chunks.
    pub(crate) fn data(&self) -> Result<&dyn Dir> {
        self.found(&self.data, "data")
    }

    /// The folder of the small files.
    pub(crate) fn meta(&self) -> Result<&dyn Dir> {
        self.found(&self.meta, "meta")
    }

    fn found<'a>(&self, known: &'a OnceLock<Arc<dyn Dir>>, name: &str) -> Result<&'a dyn Dir> {
        if let Some(folder) = known.get() {
            return Ok(folder.as_ref());
        }
        let folder = self.root()?.open_folder(name).map_err(as_damage)?;
        Ok(known.get_or_init(|| folder).as_ref())
    }

    /// The text of a file of `dir` that has at most `most` bytes; `None` when it is not there.
    pub(crate) fn read(&self, dir: &dyn Dir, file: &str, most: usize) -> Result<Option<String>> {
        let text =
            opened(dir, file).and_then(|store| store.map(|it| text_of(&*it, most)).transpose());
        text.map_err(|error| error.within(format!("{}/{file}", self.name)))
    }

    /// The text of the `sizes` in `meta`. Whoever comes while a writer writes over it may see a part of
    /// each text, so it is read until it stays the same.
    pub(crate) fn read_sizes(&self, meta: &dyn Dir, most: usize) -> Result<String> {
        let steady = || -> Result<Option<String>> {
            let Some(store) = opened(meta, SIZES)? else { return Ok(None) };
            let mut text = text_of(store.as_ref(), most);
            for _ in 0..TRIES {
                let again = text_of(store.as_ref(), most);
                if matches!((&text, &again), (Ok(one), Ok(other)) if one == other) {
                    break;
                }
                text = again;
            }
            text.map(Some)
        };
        let text = steady().map_err(|error| error.within(format!("{}/{SIZES}", self.name)))?;
        text.ok_or_else(|| self.missing(SIZES))
    }

    /// The text of a file that must be there.
    pub(crate) fn need(&self, dir: &dyn Dir, file: &str, most: usize) -> Result<String> {
        self.read(dir, file, most)?.ok_or_else(|| self.missing(file))
    }

    fn missing(&self, file: &str) -> Error {
        Error::not_found(format!("there is no file `{file}`")).within(self.name.clone())
    }

    /// Gives a file of `dir` this content in one step: whoever reads sees the old one or the new one.
    pub(crate) fn replace(
        &self,
        dir: &dyn Dir,
        file: &str,
        content: &(impl AsRef<[u8]> + ?Sized),
    ) -> Result<()> {
        self.write_aside(dir, file, content.as_ref())?;
        self.publish(dir, file)
    }

    /// Writes what is to become the content of a file, under another name.
    pub(crate) fn write_aside(&self, dir: &dyn Dir, file: &str, content: &[u8]) -> Result<()> {
        let aside = aside(file);
        let written = create_private(dir, &aside)
            .and_then(|store| store.write_at(0, content).and_then(|()| self.sync_file(&*store)));
        written.inspect_err(|_| drop(dir.remove(&aside)))
    }

    /// Makes what was written aside the content of a file, in one step.
    pub(crate) fn publish(&self, dir: &dyn Dir, file: &str) -> Result<()> {
        let aside = aside(file);
        dir.publish(&aside, file).inspect_err(|_| drop(dir.remove(&aside)))?;
        last_sync(self.sync(dir))
    }

    /// Removes what was written aside and is not wanted any more.
    pub(crate) fn forget_aside(&self, dir: &dyn Dir, file: &str) {
        let _ = dir.remove(&aside(file));
    }

    /// Writes what makes `text` the content of `sizes`. A writer that does so `often` leaves blanks
    /// at the end of the text, and writes the next one over it: a write inside of one sector
    /// happens as a whole or not at all. The blanks stay, since a file that is cut may after a
    /// power cut have its old length and zeros at its end.
    pub(super) fn prepare_sizes(&self, text: &str, often: bool) -> Result<PreparedSizes> {
        let room = self.room.load(Ordering::Acquire);
        if text.len() <= room {
            return Ok(PreparedSizes::Over(format!("{text:room$}")));
        }
        let wanted = text.len() + ROOM;
        if !often || wanted > SECTOR {
            self.write_aside(self.meta()?, SIZES, text.as_bytes())?;
            return Ok(PreparedSizes::Aside { room: 0 });
        }
        self.write_aside(self.meta()?, SIZES, format!("{text:wanted$}").as_bytes())?;
        Ok(PreparedSizes::Aside { room: wanted })
    }

    /// Makes what was prepared the content of `sizes`.
    pub(super) fn place_sizes(&self, prepared: PreparedSizes) -> Result<()> {
        let (meta, room) = (self.meta()?, self.room.swap(0, Ordering::AcqRel));
        let room = match prepared {
            PreparedSizes::Aside { room } => {
                self.publish(meta, SIZES)?;
                room
            }
            PreparedSizes::Over(text) => {
                let file = meta.edit(SIZES)?;
                let mut old = vec![0; text.len()];
                file.read_exact_at(0, &mut old)?;
                // A write that stops half-way must not leave half of the new length.
                file.write_at(0, text.as_bytes()).inspect_err(|_| drop(file.write_at(0, &old)))?;
                last_sync(self.sync_file(file.as_ref()))?;
                room
            }
        };
        self.room.store(room, Ordering::Release);
        Ok(())
    }

    /// Removes what was prepared and is not wanted any more.
    pub(super) fn forget_sizes(&self, prepared: &PreparedSizes) {
        if let (PreparedSizes::Aside { .. }, Ok(meta)) = (prepared, self.meta()) {
            self.forget_aside(meta, SIZES);
        }
    }

    /// Writes a file where nobody looks yet. What has its name was left by a writer that was stopped.
    pub(crate) fn write_new(&self, dir: &dyn Dir, file: &str, content: &[u8]) -> Result<()> {
        let store = create(dir, file)?;
        store.write_at(0, content)?;
        self.sync_file(store.as_ref())
    }

    /// Waits until a file is on the disk, if that was asked for.
    pub(super) fn sync_file(&self, file: &dyn WriteAt) -> Result<()> {
        if self.durable { file.sync() } else { Ok(()) }
    }

    /// Waits until the names in `dir` are on the disk, if that was asked for.
    pub(crate) fn sync(&self, dir: &dyn Dir) -> Result<()> {
        if self.durable { dir.sync() } else { Ok(()) }
    }

    /// Waits until these files are on the disk, if that was asked for.
    pub(super) fn sync_files<'f>(
        &self,
        dir: &dyn Dir,
        files: impl IntoIterator<Item = &'f String>,
    ) -> Result<()> {
        match self.durable {
            true => files.into_iter().try_for_each(|file| dir.edit(file)?.sync()),
            false => Ok(()),
        }
    }
}

/// The next content of `sizes`, for which there is room on the disk.
#[derive(Debug)]
pub(super) enum PreparedSizes {
    /// In a file beside it. It has `room` bytes if it has blanks at its end, else 0.
    Aside { room: usize },
    /// To be written over the present one, which is as long.
    Over(String),
}

/// What is no regular file or folder where one must be is damage, not a mistake of the caller.
pub(super) fn as_damage(error: Error) -> Error {
    match error.kind() {
        ErrorKind::InvalidArgument => error.of_kind(ErrorKind::Corrupt),
        _ => error,
    }
}

/// Makes an empty file in the place of one that was left by a writer that was stopped.
pub(super) fn create(dir: &dyn Dir, file: &str) -> Result<Arc<dyn WriteAt>> {
    dir.create(file).or_else(|error| match dir.remove(file) {
        Ok(()) => dir.create(file),
        Err(_) => Err(error),
    })
}

/// The same for a file that only its owner may read until it is published.
pub(super) fn create_private(dir: &dyn Dir, file: &str) -> Result<Arc<dyn WriteAt>> {
    dir.create_private(file).or_else(|error| match dir.remove(file) {
        Ok(()) => dir.create_private(file),
        Err(_) => Err(error),
    })
}

/// Where the next content of a file is written.
fn aside(file: &str) -> String {
    format!(".{file}.b2new")
}

fn opened(dir: &dyn Dir, file: &str) -> Result<Option<Arc<dyn ReadAt>>> {
    match dir.open(file) {
        Ok(store) => Ok(Some(store)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(as_damage(error)),
    }
}

fn text_of(store: &dyn ReadAt, most: usize) -> Result<String> {
    let mut bytes = vec![0; FIRST_READ];
    let mut found = store.read_at(0, &mut bytes)?;
    if found == FIRST_READ {
        let len = store.len()?;
        let len = usize::try_from(len).ok().filter(|len| *len <= most).ok_or_else(|| {
            Error::limit(format!("the file has {len} bytes, the limit is {most}"))
        })?;
        bytes.resize(len.max(found), 0);
        let rest = bytes.must_get_mut(found..)?;
        found += store.read_at(FIRST_READ as u64, rest)?;
    }
    bytes.truncate(found);
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::corrupt("the text is not UTF-8").at("bcolz", "text", at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryFolder;

    #[test]
    fn small_files_are_replaced_and_read_within_a_limit() {
        let dir = Arc::new(MemoryFolder::new());
        let home = Home::new(dir.clone(), "table".to_owned(), true);
        assert_eq!(home.read(dir.as_ref(), "sizes", 100).unwrap(), None);
        let long = "x".repeat(10_000);
        for text in ["short", &long, "short again"] {
            home.replace(dir.as_ref(), "sizes", text).unwrap();
            assert_eq!(home.need(dir.as_ref(), "sizes", 10_000).unwrap(), text);
        }
        assert_eq!(dir.names().unwrap(), ["sizes"]);
        home.replace(dir.as_ref(), "sizes", &long).unwrap();
        let error = home.read(dir.as_ref(), "sizes", 9_999).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.to_string().starts_with("table/sizes: "), "{error}");
        let error = home.need(dir.as_ref(), "other", 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        dir.create("bad").unwrap().write_at(0, b"ab\xff").unwrap();
        assert_eq!(home.read(dir.as_ref(), "bad", 9).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn lengths_that_are_written_often_stay_in_their_file() {
        let dir = Arc::new(MemoryFolder::new());
        let home = Home::new(dir.clone(), "a".to_owned(), true);
        dir.create_folder("meta").unwrap();
        let meta = home.meta().unwrap();
        let content = || home.need(meta, SIZES, 1000).unwrap();
        let write_sizes = |text: &str, often: bool| {
            home.place_sizes(home.prepare_sizes(text, often).unwrap()).unwrap();
        };
        write_sizes("{1}\n", false);
        assert_eq!(content(), "{1}\n");
        write_sizes("{22}\n", true);
        let opened = meta.open(SIZES).unwrap();
        for text in ["{333}\n", "{4}\n"] {
            write_sizes(text, true);
            assert_eq!((content().trim_end(), content().len()), (text.trim_end(), 5 + ROOM));
            assert_eq!(home.read_sizes(meta, 1000).unwrap(), content());
            // Who has it open sees the same file.
            assert_eq!(text_of(opened.as_ref(), 1000).unwrap(), content());
        }
        write_sizes(&"5".repeat(80), true);
        assert_eq!(content().trim_end(), "5".repeat(80));
        write_sizes("{6}\n", false);
        assert_eq!((content().trim_end(), content().len()), ("{6}", 80 + ROOM));
        write_sizes(&"7".repeat(SECTOR), true);
        assert_eq!(content(), "7".repeat(SECTOR));
        assert_eq!(meta.names().unwrap(), [SIZES]);
    }

    #[test]
    fn a_child_is_found_below_its_parent() {
        let dir = Arc::new(MemoryFolder::new());
        let home = Home::new(dir.clone(), "t".to_owned(), false);
        dir.create_folder("a").unwrap().create_folder("data").unwrap().create("x").unwrap();
        assert_eq!(home.child("a").data().unwrap().names().unwrap(), ["x"]);
        assert_eq!(home.child("a").name(), "t/a");
        assert!(home.child("b").root().is_err());
    }
}
