//! Files, read and written at explicit positions.
//!
//! Only regular files are opened. Anything else that can stand under a name (a FIFO, a device, a
//! socket, a directory) is refused without waiting for it: the file is opened without blocking, and
//! what was really opened is looked at before anything is read.

mod open;
mod positioned;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
#[cfg(windows)]
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) use open::{
    Links, check_opened, check_regular, kind_of, named, open_regular, why_not_opened,
};
#[cfg(windows)]
pub(super) use open::{flags_of, windows};
use positioned::next_stored;
pub(super) use positioned::{read_up_to, write_all};

use super::identity::{Identity, Stamp};
use super::lock::{LockKind, LockState};
use super::{ReadAt, WriteAt};
use crate::error::{Error, Result};

/// A file, opened for reading.
#[derive(Debug)]
pub struct FileReader(Opened);

impl FileReader {
    /// Opens a regular file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (path, mut options) = (path.as_ref(), OpenOptions::new());
        options.read(true);
        let file = open_regular(path, &mut options, Links::Follow, "open for reading")?;
        Ok(Self::over(file, path.to_owned()))
    }

    /// Reads a file that is open already; `path` is how errors name it.
    pub(super) fn over(file: File, path: PathBuf) -> Self {
        Self(Opened { file, path })
    }
}

/// A file, opened for reading and writing.
///
/// On Unix, [`lock`](WriteAt::lock) keeps out other writers that lock. On Windows, where a lock would
/// keep readers out too, opening the file keeps out all other writers from the start.
#[derive(Debug)]
pub struct FileWriter {
    opened: Opened,
    sync_failed: AtomicBool,
    lock: LockState,
}

impl FileWriter {
    /// Opens a regular file that exists.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let (path, mut options) = (path.as_ref(), writing());
        let file = open_regular(path, &mut options, Links::Follow, "open for writing")?;
        Ok(Self::over(file, path.to_owned()))
    }

    /// Creates an empty file; nothing of that name may exist.
    pub fn create_new(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = writing().create_new(true).open(path);
        let file = file.map_err(|error| why_not_opened(path, Links::Refuse, "create", error))?;
        Ok(Self::over(file, path.to_owned()))
    }

    /// What changes with the content of the file.
    pub(super) fn stamp(&self) -> Result<Stamp> {
        let stamp = Stamp::of_file(&self.opened.file);
        stamp.map_err(|error| self.opened.failed("cannot look at it", error))
    }

    /// Writes to a file that is open already; `path` is how errors name it.
    pub(super) fn over(file: File, path: PathBuf) -> Self {
        let (sync_failed, lock) = (AtomicBool::new(false), LockState::default());
        Self { opened: Opened { file, path }, sync_failed, lock }
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        self.lock.release(&self.opened.file);
    }
}

/// How a file is opened for writing.
pub(super) fn writing() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(windows)]
    options.share_mode(windows::SHARE_READ | windows::SHARE_DELETE);
    options
}

impl ReadAt for FileReader {
    fn len(&self) -> Result<u64> {
        self.0.len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        self.0.read_at(position, dst)
    }

    fn next_data(&self, position: u64) -> Result<u64> {
        self.0.next_data(position)
    }

    fn is_near(&self) -> bool {
        true
    }

    fn identity(&self) -> Result<Option<Identity>> {
        self.0.identity()
    }
}

impl ReadAt for FileWriter {
    fn len(&self) -> Result<u64> {
        self.opened.len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        self.opened.read_at(position, dst)
    }

    fn next_data(&self, position: u64) -> Result<u64> {
        self.opened.next_data(position)
    }

    fn is_near(&self) -> bool {
        true
    }

    fn identity(&self) -> Result<Option<Identity>> {
        self.opened.identity()
    }
}

impl WriteAt for FileWriter {
    fn write_at(&self, position: u64, src: &[u8]) -> Result<()> {
        write_all(&self.opened.file, position, src).map_err(|error| {
            let what = format!("cannot write {} bytes at byte {position}", src.len());
            self.opened.failed(what, error)
        })
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let done = self.opened.file.set_len(len);
        done.map_err(|error| self.opened.failed(format!("cannot make it {len} bytes long"), error))
    }

    fn sync(&self) -> Result<()> {
        // After a failure the system may forget what it could not write and call the next try a
        // success: only a file opened afresh can be trusted again.
        if self.sync_failed.load(Ordering::Acquire) {
            let again =
                io::Error::other("an earlier sync failed; open it again to see what is left");
            return Err(self.opened.failed("cannot sync it to the disk", again));
        }
        // On Linux, syncing the data includes a length that is needed to find it.
        let data_is_enough = cfg!(any(target_os = "linux", target_os = "android"));
        let file = &self.opened.file;
        let done = if data_is_enough { file.sync_data() } else { file.sync_all() };
        done.map_err(|error| {
            self.sync_failed.store(true, Ordering::Release);
            self.opened.failed("cannot sync it to the disk", error)
        })
    }

    fn lock(&self) -> Result<()> {
        // A lock of Windows covers the bytes themselves and would keep readers out.
        if cfg!(windows) {
            Ok(())
        } else {
            self.lock.take(&self.opened.file, &self.opened.path, LockKind::Exclusive)
        }
    }

    fn unlock(&self) {
        self.lock.release(&self.opened.file);
    }
}

/// An open file that can name itself in errors.
#[derive(Debug)]
struct Opened {
    file: File,
    path: PathBuf,
}

impl Opened {
    fn len(&self) -> Result<u64> {
        let metadata = self.file.metadata();
        metadata.map_or_else(|e| Err(self.failed("cannot tell its length", e)), |m| Ok(m.len()))
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        read_up_to(&self.file, position, dst).map_err(|error| {
            let what = format!("cannot read {} bytes at byte {position}", dst.len());
            self.failed(what, error)
        })
    }

    fn next_data(&self, position: u64) -> Result<u64> {
        next_stored(&self.file, position).map_or_else(|| self.len(), Ok)
    }

    fn identity(&self) -> Result<Option<Identity>> {
        let identity = Identity::of_file(&self.file);
        identity.map_err(|error| self.failed("cannot look at it", error))
    }

    fn failed(&self, what: impl fmt::Display, error: io::Error) -> Error {
        Error::io(what, error).within(named(&self.path))
    }
}

/// A fresh directory for a test, gone at its end.
#[cfg(test)]
pub(super) mod scratch {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    pub(in crate::store) struct Scratch(PathBuf);

    impl Scratch {
        pub(in crate::store) fn new() -> Self {
            static COUNT: AtomicU32 = AtomicU32::new(0);
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("superchunk-store-{}-{count}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::create_dir(&path).unwrap();
            Self(path)
        }

        pub(in crate::store) fn path(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        #[cfg(unix)]
        pub(in crate::store) fn fifo(&self, name: &str) -> PathBuf {
            let path = self.path(name);
            let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
            assert!(made.success());
            path
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::scratch::Scratch;
    use super::*;
    use crate::error::ErrorKind;
    use std::fs;

    #[test]
    fn what_is_written_is_what_the_file_holds() {
        let scratch = Scratch::new();
        let path = scratch.path("data");
        let writer = FileWriter::create_new(&path).unwrap();
        let reader = FileReader::open(&path).unwrap();
        assert!(reader.is_empty().unwrap());
        writer.write_at(2, b"abc").unwrap();
        writer.write_at(8, b"z").unwrap();
        writer.write_at(99, b"").unwrap();
        writer.write_at(3, b"BCD").unwrap();
        writer.sync().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"\0\0aBCD\0\0z");
        assert_eq!(reader.len().unwrap(), 9);
        let mut dst = [b'.'; 6];
        assert_eq!(reader.read_at(5, &mut dst).unwrap(), 4);
        assert_eq!(&dst, b"D\0\0z..");
        writer.set_len(4).unwrap();
        assert_eq!(writer.read_at(1, &mut dst).unwrap(), 3);
        assert_eq!(fs::read(&path).unwrap(), b"\0\0aB");
        drop(writer);
        FileWriter::open(&path).unwrap().set_len(6).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"\0\0aB\0\0");
    }

    #[test]
    fn positions_no_file_reaches_read_nothing_and_write_nothing() {
        let scratch = Scratch::new();
        let writer = FileWriter::create_new(scratch.path("data")).unwrap();
        for position in [4096, i64::MAX as u64 - 1, i64::MAX as u64, 1 << 63, u64::MAX] {
            assert_eq!(writer.read_at(position, &mut [0; 16]).unwrap(), 0, "{position}");
        }
        for position in [i64::MAX as u64, 1 << 63, u64::MAX] {
            let error = writer.write_at(position, &[0; 16]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Io);
            assert!(error.to_string().contains(&format!("write 16 bytes at byte {position}")));
            assert_eq!(writer.set_len(u64::MAX).unwrap_err().kind(), ErrorKind::Io);
        }
        assert_eq!(writer.len().unwrap(), 0);
    }

    #[test]
    fn a_missing_file_and_an_existing_one_are_told_by_name() {
        let scratch = Scratch::new();
        let path = scratch.path("data");
        for error in [FileReader::open(&path).unwrap_err(), FileWriter::open(&path).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::NotFound);
            assert!(error.to_string().starts_with(&format!("{}: cannot open", path.display())));
        }
        drop(FileWriter::create_new(&path).unwrap());
        let error = FileWriter::create_new(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("cannot create"));
        // A name below a file: refused to every user.
        let error = FileReader::open(path.join("below")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
    }

    #[test]
    #[cfg(unix)]
    fn only_regular_files_are_opened() {
        let scratch = Scratch::new();
        let (socket, directory) = (scratch.path("socket"), scratch.path("directory"));
        fs::create_dir(&directory).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let link = scratch.path("link to a fifo");
        std::os::unix::fs::symlink(scratch.fifo("fifo"), &link).unwrap();
        for (path, what) in [
            (scratch.path("fifo"), "a FIFO"),
            (link, "a FIFO"),
            (directory, "a directory"),
            (socket, "a socket"),
            (PathBuf::from("/dev/null"), "a device"),
        ] {
            for error in
                [FileReader::open(&path).unwrap_err(), FileWriter::open(&path).unwrap_err()]
            {
                assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
                assert!(error.to_string().ends_with(&format!("is {what}, not a regular file")));
            }
            assert_eq!(FileWriter::create_new(&path).unwrap_err().kind(), ErrorKind::Io);
        }
    }

    #[test]
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn holes_are_skipped_and_no_byte_is_in_one() {
        let scratch = Scratch::new();
        let path = scratch.path("holes");
        let writer = FileWriter::create_new(&path).unwrap();
        writer.write_at(5 << 20, b"data").unwrap();
        writer.set_len(1 << 40).unwrap();
        let reader = FileReader::open(&path).unwrap();
        let window = crate::store::Window::new(reader, 3 << 20, Some(1 << 30));
        // A file system need not tell of holes, but must not pass over bytes.
        let is_between = |found: Result<u64>, least: u64, most: u64| {
            let found = found.unwrap();
            assert!((least..=most).contains(&found), "{least}: {found}");
        };
        is_between(writer.next_data(0), 0, 5 << 20);
        is_between(writer.next_data((5 << 20) + 2), (5 << 20) + 2, (5 << 20) + 2);
        is_between(writer.next_data(6 << 20), 6 << 20, 1 << 40);
        is_between(window.next_data(0), 0, 2 << 20);
        is_between(window.next_data(3 << 20), 3 << 20, 1 << 30);
    }

    #[test]
    #[cfg(unix)]
    fn links_are_followed_only_where_wanted() {
        let scratch = Scratch::new();
        let (path, link) = (scratch.path("data"), scratch.path("link"));
        FileWriter::create_new(&path).unwrap().write_at(0, b"x").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(FileReader::open(&link).unwrap().len().unwrap(), 1);
        FileWriter::open(&link).unwrap();
        let refused =
            |path: &Path| open_regular(path, OpenOptions::new().read(true), Links::Refuse, "open");
        let error = refused(&link).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().ends_with("is a symbolic link, not a regular file"));
        refused(&path).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn one_writer_locks_until_it_is_dropped() {
        let scratch = Scratch::new();
        let first = FileWriter::create_new(scratch.path("data")).unwrap();
        let second = FileWriter::open(scratch.path("data")).unwrap();
        first.lock().unwrap();
        first.lock().unwrap();
        let error = second.lock().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
        assert!(error.to_string().contains("data: another writer"));
        FileReader::open(scratch.path("data")).unwrap().read_at(0, &mut [0]).unwrap();
        drop(first);
        second.lock().unwrap();
    }

    #[test]
    fn a_failed_sync_is_never_followed_by_a_success() {
        let scratch = Scratch::new();
        let writer = FileWriter::create_new(scratch.path("data")).unwrap();
        writer.sync().unwrap();
        writer.sync_failed.store(true, Ordering::Release);
        assert_eq!(writer.sync().unwrap_err().kind(), ErrorKind::Io);
    }
}
