//! Temporary files, which go when the command ends, also by a signal.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use superchunk::store::temporary_name;

use crate::failure::{Failure, Outcome};
use crate::interrupt::Listed;

/// A place for temporary files that nobody else may look at; it goes when this is dropped.
pub(crate) struct Scratch {
    path: PathBuf,
    /// A file that has no name any more.
    _nameless: Option<fs::File>,
    _folder: Option<Listed>,
}

impl Scratch {
    /// A path that nobody else uses; nothing is there yet.
    pub(crate) fn new() -> Outcome<Self> {
        loop {
            let folder = std::env::temp_dir().join(temporary_name("superchunk"));
            let path = folder.join("scratch");
            match Listed::make(folder.clone(), create_private_folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::io("make a temporary folder", &folder, error)),
                Ok(listed) => return Ok(Self { path, _nameless: None, _folder: Some(listed) }),
            }
        }
    }

    /// All of a stream, in a file that loses its name at once where the system allows that.
    fn of_stream(stream: &mut dyn io::Read) -> Outcome<Self> {
        let mut this = Self::new()?;
        let path = this.path.clone();
        let failed = |error| Failure::io("keep the input in a temporary file", &path, error);
        let mut file = fs::File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(failed)?;
        #[cfg(unix)]
        {
            let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
            this._folder = None;
            this.path = PathBuf::from(format!("/dev/fd/{descriptor}"));
        }
        io::copy(stream, &mut file).map_err(failed)?;
        this._nameless = Some(file);
        Ok(this)
    }

    /// All of stdin, because frames are not read from front to back.
    pub(crate) fn of_stdin() -> Outcome<Self> {
        Self::of_stream(&mut io::stdin().lock())
    }

    /// All that comes out of a pipe with a name, or a device.
    pub(crate) fn of_pipe(path: &Path) -> Outcome<Self> {
        let file = fs::File::open(path);
        Self::of_stream(&mut file.map_err(|error| Failure::io("open it for reading", path, error))?)
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes a folder that only its owner may enter.
fn create_private_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(path);
    #[cfg(windows)]
    return fs::create_dir(path);
}
