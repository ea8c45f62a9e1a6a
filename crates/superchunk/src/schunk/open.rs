//! Making and opening super-chunks.

use std::path::Path;
use std::sync::Arc;

use super::SuperChunk;
use super::options::{FrameOptions, OpenOptions};
use crate::container::{ChunkSize, Contents, Heap, Layer, Layout, Params};
use crate::detect::{self, Format, explained};
use crate::error::{Error, Result};
use crate::frame::{Contiguous, Setup, Sparse};
#[cfg(any(unix, windows))]
use crate::frame::{INDEX, Kind, Locking};
use crate::options::{ChunkFormat, CompressOptions};
use crate::store::{Bytes, Dir, Home, ReadAt, Window, WriteAt};
#[cfg(any(unix, windows))]
use crate::store::{FileReader, Folder, again_if_changed, resolve};

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
        if options.kind == Kind::Sparse {
            new_contents(options)?;
            let dir = Arc::new(Folder::create(path)?);
            return Self::create_sparse(dir, options, path);
        }
        let (dir, name) = Folder::parent_of(path)?;
        Self::create_in(Arc::new(dir), &name, options, path)
    }

    /// A new contiguous frame called `name` in any folder, or a sparse frame that fills the folder,
    /// which must be empty, if there is no name.
    pub fn create_in_dir(
        dir: Arc<dyn Dir>,
        name: Option<&str>,
        options: &FrameOptions,
    ) -> Result<Self> {
        match name {
            Some(name) => Self::create_in(dir, name, options, Path::new("")),
            None => Self::create_sparse(dir, options, Path::new("")),
        }
    }

    fn create_in(
        dir: Arc<dyn Dir>,
        name: &str,
        options: &FrameOptions,
        path: &Path,
    ) -> Result<Self> {
        let contents = new_contents(options)?;
        let setup = create_setup(options, path);
        let file = dir.create(name)?;
        let home = Home { dir, name: name.to_owned() };
        let told = told(path, name);
        let layout = Contiguous::create(file, Some(home), told, setup, &contents, options.dialect)?;
        Ok(Self::writing(contents, Box::new(layout), options))
    }

    fn create_sparse(dir: Arc<dyn Dir>, options: &FrameOptions, path: &Path) -> Result<Self> {
        let contents = new_contents(options)?;
        let setup = create_setup(options, path);
        let layout = Sparse::create(dir, told(path, SPARSE), setup, &contents)?;
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
        Self::open_with(path, &OpenOptions::new())
    }

    /// Opens a file or folder for reading, as the options say.
    #[cfg(any(unix, windows))]
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = &resolve(path)?;
        options.open_path(path).map_err(|error| options.explained(error, path))
    }

    /// Opens a file or folder for reading and writing. Another writer of this kind is kept out.
    #[cfg(any(unix, windows))]
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        Self::edit_with(path, &OpenOptions::new())
    }

    /// Opens a file or folder for reading and writing, as the options say.
    #[cfg(any(unix, windows))]
    pub fn edit_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = &resolve(path)?;
        options.edit_path(path).map_err(|error| options.explained(error, path))
    }

    /// Reads the contiguous frame that `bytes` are: a vector, a slice, a memory map.
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Self> {
        Self::open_store(Arc::new(Bytes::new(bytes)), &OpenOptions::new())
    }

    /// Reads the contiguous frame that a store holds.
    pub fn open_store(store: Arc<dyn ReadAt>, options: &OpenOptions) -> Result<Self> {
        let store = options.window(store);
        let opened = options.open_contiguous(store.clone(), None, Path::new(""));
        opened.map_err(|error| explained(error, &FRAMES, || detect::store(store.as_ref())))
    }

    /// Reads the contiguous frame called `name` of any folder, or the sparse frame that the folder
    /// is if there is no name.
    pub fn open_in_dir(
        dir: Arc<dyn Dir>,
        name: Option<&str>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let Some(name) = name else {
            let opened = options.open_sparse(dir.clone(), Path::new(""));
            return opened.map_err(|error| explained(error, &FRAMES, || detect::dir(dir.as_ref())));
        };
        if options.offset > 0 {
            return Self::open_store(dir.open(name)?, options);
        }
        let store = dir.open(name)?;
        let home = Home { dir, name: name.to_owned() };
        let opened = options.open_contiguous(store.clone(), Some(home), Path::new(""));
        opened.map_err(|error| explained(error, &FRAMES, || detect::store(store.as_ref())))
    }

    /// Edits the contiguous frame called `name` of any folder, or the sparse frame that the folder
    /// is if there is no name.
    pub fn edit_in_dir(
        dir: Arc<dyn Dir>,
        name: Option<&str>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let Some(name) = name else {
            let opened = options.edit_sparse(dir.clone(), Path::new(""));
            return opened.map_err(|error| explained(error, &FRAMES, || detect::dir(dir.as_ref())));
        };
        let home = Home { dir: dir.clone(), name: name.to_owned() };
        let opened = home.claim(options.wait.unwrap_or_default()).and_then(|file| {
            if options.offset > 0 {
                let file = Arc::new(Window::new(file, options.offset, None));
                return options.edit_contiguous(file, None, Path::new(""));
            }
            options.edit_contiguous(file, Some(home), Path::new(""))
        });
        let look = || match dir.open_folder(name) {
            Ok(folder) => detect::dir(folder.as_ref()),
            Err(_) => detect::store(options.window(dir.open(name)?).as_ref()),
        };
        opened.map_err(|error| explained(error, &FRAMES, look))
    }
}

/// The formats that this module opens.
const FRAMES: [Format; 2] = [Format::Frame, Format::SparseFrame];

impl OpenOptions {
    #[cfg(any(unix, windows))]
    fn open_path(&self, path: &Path) -> Result<SuperChunk> {
        if path.is_dir() {
            let open = |folder| self.open_sparse(Arc::new(folder), path);
            return again_if_changed(|| open(sparse_folder(path)?));
        }
        let store: Arc<dyn ReadAt> = Arc::new(FileReader::open(path)?);
        if self.offset > 0 {
            return self.open_contiguous(self.window(store), None, path);
        }
        let (dir, name) = Folder::parent_of(path)?;
        self.open_contiguous(store, Some(Home { dir: Arc::new(dir), name }), path)
    }

    #[cfg(any(unix, windows))]
    fn edit_path(&self, path: &Path) -> Result<SuperChunk> {
        let takes_turns = matches!(self.locking, Locking::Sidecar | Locking::SidecarNoWait);
        let wait = self.wait.unwrap_or_default();
        if path.is_dir() {
            let folder = sparse_folder(path)?;
            let folder = if takes_turns { folder } else { Folder::claim(path, wait)? };
            return self.edit_sparse(Arc::new(folder), path);
        }
        let (dir, name) = Folder::parent_of(path)?;
        let home = Home { dir: Arc::new(dir), name };
        let file = if takes_turns { home.edit()? } else { home.claim(wait)? };
        if self.offset > 0 {
            let file = Arc::new(Window::new(file, self.offset, None));
            return self.edit_contiguous(file, None, path);
        }
        self.edit_contiguous(file, Some(home), path)
    }

    /// Says what is at `path` if that is not a frame.
    #[cfg(any(unix, windows))]
    fn explained(&self, error: Error, path: &Path) -> Error {
        explained(error, &FRAMES, || detect::path_at(path, self.offset))
    }

    fn open_contiguous(
        &self,
        store: Arc<dyn ReadAt>,
        home: Option<Home>,
        path: &Path,
    ) -> Result<SuperChunk> {
        let told = told(path, home.as_ref().map_or("frame", |home| &home.name));
        self.opened(Contiguous::open(store, home, told.clone(), self.setup(path)), &told)
    }

    fn edit_contiguous(
        &self,
        file: Arc<dyn WriteAt>,
        home: Option<Home>,
        path: &Path,
    ) -> Result<SuperChunk> {
        let told = told(path, home.as_ref().map_or("frame", |home| &home.name));
        let opened = Contiguous::edit(file, home, told.clone(), self.setup(path));
        self.opened(opened, &told).map(writable)
    }

    fn open_sparse(&self, dir: Arc<dyn Dir>, path: &Path) -> Result<SuperChunk> {
        self.check_no_offset()?;
        let told = told(path, SPARSE);
        self.opened(Sparse::open(dir, told.clone(), self.setup(path)), &told)
    }

    fn edit_sparse(&self, dir: Arc<dyn Dir>, path: &Path) -> Result<SuperChunk> {
        self.check_no_offset()?;
        let told = told(path, SPARSE);
        self.opened(Sparse::edit(dir, told.clone(), self.setup(path)), &told).map(writable)
    }

    fn window(&self, store: Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
        match self.offset {
            0 => store,
            offset => Arc::new(Window::new(store, offset, None)),
        }
    }

    fn opened<L: Layout + 'static>(
        &self,
        opened: Result<(L, Contents)>,
        told: &str,
    ) -> Result<SuperChunk> {
        let (layout, contents) = opened.map_err(|error| error.within(told))?;
        let stored = contents.params.to_options(contents.item_size);
        let shape = contents.block_shape();
        let mut compress = match &self.compress {
            Some(given) => {
                let mut given = given.clone().with_format(ChunkFormat::Blosc2);
                given.item_size = stored.item_size;
                if shape.is_some() {
                    given.block_size = stored.block_size;
                }
                given
            }
            None => stored,
        };
        compress = self.equip(compress);
        compress.block_shape = shape;
        let mut this = SuperChunk::new(contents, Box::new(layout), compress);
        (this.limits, this.marks) = (self.limits, self.marks);
        Ok(this)
    }

    /// The same options for the chunks of a container that is opened like this.
    pub(crate) fn equip(&self, compress: CompressOptions) -> CompressOptions {
        let check = self.check || compress.check;
        let compress = compress.with_executor(self.executor.clone()).with_check(check);
        compress.with_registry(self.registry.clone())
    }

    fn setup(&self, path: &Path) -> Setup {
        Setup {
            limits: self.limits,
            durability: self.durability,
            sealed: true,
            trusting: self.trusting,
            locking: self.locking,
            wait: self.wait,
            following: self.following,
            path: path.to_owned(),
        }
    }
}

fn writable(mut this: SuperChunk) -> SuperChunk {
    this.writable = true;
    this
}

fn create_setup(options: &FrameOptions, path: &Path) -> Setup {
    Setup {
        limits: crate::limits::Limits::default(),
        durability: options.durability,
        sealed: options.checksums,
        trusting: false,
        locking: options.locking,
        wait: None,
        following: false,
        path: path.to_owned(),
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

/// What a sparse frame without a path is called in errors.
const SPARSE: &str = "sparse frame";

/// How errors name a frame: by its path, if it has one.
fn told(path: &Path, name: &str) -> String {
    if path.as_os_str().is_empty() { name.to_owned() } else { path.display().to_string() }
}

#[cfg(any(unix, windows))]
fn sparse_folder(path: &Path) -> Result<Folder> {
    if !path.join(INDEX).exists() {
        return Err(Error::not_found(format!(
            "this folder is no sparse frame: it has no `{INDEX}`"
        ))
        .within(told(path, INDEX)));
    }
    Folder::open(path)
}
