//! Making and opening super-chunks.

#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use super::SuperChunk;
use super::options::{FrameOptions, OpenOptions};
use crate::container::{ChunkSize, Contents, Heap, Layer, Layout, Params};
use crate::error::{Error, Result};
use crate::frame::{Contiguous, Home, Locking, Setup, Sparse};
#[cfg(any(unix, windows))]
use crate::frame::{INDEX, Kind};
use crate::store::{Bytes, Dir, ReadAt, Window, WriteAt};
#[cfg(any(unix, windows))]
use crate::store::{FileReader, FileWriter, Folder};

impl SuperChunk {
    /// A new super-chunk in memory.
    pub fn in_memory(options: &FrameOptions) -> Result<Self> {
        let contents = new_contents(options)?;
        Ok(Self::writing(contents, Box::new(Heap::default()), options))
    }

    /// A new super-chunk at `path`, where nothing may be yet: a file, or a folder if the options say
    /// so. It appears there with the first commit.
    #[cfg(any(unix, windows))]
    pub fn create(path: impl AsRef<Path>, options: &FrameOptions) -> Result<Self> {
        let path = path.as_ref();
        let locking = locking(options.locking, path);
        if options.kind == Kind::Sparse {
            new_contents(options)?;
            let dir = Arc::new(Folder::create(path)?);
            return Self::create_sparse(dir, options, locking, told(path));
        }
        let (dir, name) = Folder::parent_of(path)?;
        Self::create_in(Arc::new(dir), &name, options, locking, told(path))
    }

    /// A new contiguous frame in any folder.
    pub fn create_in_dir(dir: Arc<dyn Dir>, name: &str, options: &FrameOptions) -> Result<Self> {
        Self::create_in(dir, name, options, Locking::Plain, name.to_owned())
    }

    /// A new sparse frame in any folder, which must be empty.
    pub fn create_sparse_in_dir(dir: Arc<dyn Dir>, options: &FrameOptions) -> Result<Self> {
        Self::create_sparse(dir, options, Locking::Plain, "sparse frame".to_owned())
    }

    fn create_in(
        dir: Arc<dyn Dir>,
        name: &str,
        options: &FrameOptions,
        locking: Locking,
        told: String,
    ) -> Result<Self> {
        let contents = new_contents(options)?;
        let setup = create_setup(options, locking);
        let file = dir.create(name)?;
        let home = Home { dir, name: name.to_owned() };
        let layout = Contiguous::create(file, Some(home), told, setup, &contents, options.dialect)?;
        Ok(Self::writing(contents, Box::new(layout), options))
    }

    fn create_sparse(
        dir: Arc<dyn Dir>,
        options: &FrameOptions,
        locking: Locking,
        told: String,
    ) -> Result<Self> {
        let contents = new_contents(options)?;
        let layout = Sparse::create(dir, told, create_setup(options, locking), &contents)?;
        Ok(Self::writing(contents, Box::new(layout), options))
    }

    fn writing(contents: Contents, layout: Box<dyn Layout>, options: &FrameOptions) -> Self {
        let mut this = Self::new(contents, layout, options.compress.clone());
        // An empty super-chunk is worth a commit, too.
        (this.dirty, this.writable) = (true, true);
        this
    }

    /// Opens a file or folder for reading.
    #[cfg(any(unix, windows))]
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open(path)
    }

    /// Opens a file or folder for reading and writing. Another writer of this kind is kept out.
    #[cfg(any(unix, windows))]
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().edit(path)
    }

    /// Reads the contiguous frame that `bytes` are: a vector, a slice, a memory map.
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Self> {
        OpenOptions::new().read(Arc::new(Bytes::new(bytes)))
    }
}

impl OpenOptions {
    /// Opens a file or folder for reading.
    #[cfg(any(unix, windows))]
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SuperChunk> {
        let path = path.as_ref();
        let setup = self.setup(locking(self.locking, path));
        if path.is_dir() {
            let dir = Arc::new(sparse_folder(path)?);
            return self.opened(Sparse::open(dir, told(path), setup), &told(path));
        }
        let store: Arc<dyn ReadAt> = Arc::new(FileReader::open(path)?);
        if self.offset > 0 {
            let store = Arc::new(Window::new(store, self.offset, None));
            return self.opened(Contiguous::open(store, None, told(path), setup), &told(path));
        }
        let (dir, name) = Folder::parent_of(path)?;
        let home = Home { dir: Arc::new(dir), name };
        self.opened(Contiguous::open(store, Some(home), told(path), setup), &told(path))
    }

    /// Opens a file or folder for reading and writing.
    #[cfg(any(unix, windows))]
    pub fn edit(&self, path: impl AsRef<Path>) -> Result<SuperChunk> {
        let path = path.as_ref();
        let setup = self.setup(locking(self.locking, path));
        let edited = if path.is_dir() {
            let dir = Arc::new(sparse_folder(path)?);
            self.opened(Sparse::edit(dir, told(path), setup), &told(path))
        } else {
            let file: Arc<dyn WriteAt> = Arc::new(FileWriter::open(path)?);
            if self.offset > 0 {
                let file = Arc::new(Window::new(file, self.offset, None));
                self.opened(Contiguous::edit(file, None, told(path), setup), &told(path))
            } else {
                let (dir, name) = Folder::parent_of(path)?;
                let home = Home { dir: Arc::new(dir), name };
                self.opened(Contiguous::edit(file, Some(home), told(path), setup), &told(path))
            }
        };
        edited.map(writable)
    }

    /// Reads the contiguous frame of a store.
    pub fn read(&self, store: Arc<dyn ReadAt>) -> Result<SuperChunk> {
        let store: Arc<dyn ReadAt> = match self.offset {
            0 => store,
            offset => Arc::new(Window::new(store, offset, None)),
        };
        let setup = self.setup(Locking::Plain);
        self.opened(Contiguous::open(store, None, "frame".to_owned(), setup), "frame")
    }

    /// Reads the contiguous frame called `name`, or the sparse frame, of any folder.
    pub fn open_in_dir(&self, dir: Arc<dyn Dir>, name: Option<&str>) -> Result<SuperChunk> {
        let setup = self.setup(Locking::Plain);
        let Some(name) = name else {
            return self
                .opened(Sparse::open(dir, "sparse frame".to_owned(), setup), "sparse frame");
        };
        let store = dir.open(name)?;
        let home = Home { dir, name: name.to_owned() };
        self.opened(Contiguous::open(store, Some(home), name.to_owned(), setup), name)
    }

    /// Edits the contiguous frame called `name`, or the sparse frame, of any folder.
    pub fn edit_in_dir(&self, dir: Arc<dyn Dir>, name: Option<&str>) -> Result<SuperChunk> {
        let setup = self.setup(Locking::Plain);
        let Some(name) = name else {
            let opened = Sparse::edit(dir, "sparse frame".to_owned(), setup);
            return self.opened(opened, "sparse frame").map(writable);
        };
        let file = dir.edit(name)?;
        let home = Home { dir, name: name.to_owned() };
        let opened = Contiguous::edit(file, Some(home), name.to_owned(), setup);
        self.opened(opened, name).map(writable)
    }

    fn opened<L: Layout + 'static>(
        &self,
        opened: Result<(L, Contents)>,
        told: &str,
    ) -> Result<SuperChunk> {
        let (layout, contents) = opened.map_err(|error| error.within(told))?;
        let compress = contents.params.to_options(contents.item_size);
        let compress =
            compress.with_executor(self.executor.clone()).with_registry(self.registry.clone());
        let mut this = SuperChunk::new(contents, Box::new(layout), compress);
        this.limits = self.limits;
        Ok(this)
    }

    fn setup(&self, locking: Locking) -> Setup {
        Setup {
            limits: self.limits,
            durability: self.durability,
            sealed: true,
            trusting: self.trusting,
            locking,
        }
    }
}

fn writable(mut this: SuperChunk) -> SuperChunk {
    this.writable = true;
    this
}

fn create_setup(options: &FrameOptions, locking: Locking) -> Setup {
    Setup {
        limits: crate::limits::Limits::default(),
        durability: options.durability,
        sealed: options.checksums,
        trusting: false,
        locking,
    }
}

fn new_contents(options: &FrameOptions) -> Result<Contents> {
    options.check()?;
    let chunk_size = match options.checked_chunk_size()? {
        _ if options.variable => ChunkSize::Variable,
        Some(size) => ChunkSize::Fixed(size),
        None => ChunkSize::Open,
    };
    // Unknown codecs and impossible filters are better refused now than at the first append.
    crate::chunk::Encoder::new(&options.compress)?;
    let params = Params::from_options(&options.compress)?;
    let mut contents = Contents::new(options.compress.item_size, chunk_size, params);
    for (name, content) in &options.metalayers {
        if contents.metalayers.iter().any(|layer| layer.name == *name) {
            return Err(Error::invalid(format!("two metalayers are called `{name}`")));
        }
        contents.metalayers.push(Layer { name: name.clone(), content: content.clone() });
    }
    Ok(contents)
}

#[cfg(any(unix, windows))]
fn locking(wanted: bool, path: &Path) -> Locking {
    if wanted { Locking::Sidecar(path.to_owned()) } else { Locking::Plain }
}

#[cfg(any(unix, windows))]
fn told(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(any(unix, windows))]
fn sparse_folder(path: &Path) -> Result<Folder> {
    if !path.join(INDEX).exists() {
        return Err(Error::not_found(format!(
            "this folder is no sparse frame: it has no `{INDEX}`"
        ))
        .within(told(path)));
    }
    Folder::open(path)
}
