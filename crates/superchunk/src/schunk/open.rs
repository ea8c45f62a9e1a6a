//! Making and opening super-chunks.

use std::path::Path;
use std::sync::Arc;

use super::SuperChunk;
use super::opens;
use super::options::{FrameOptions, OpenOptions};
use crate::container::{ChunkSize, Contents, Heap, Layer, Layout, Params};
use crate::detect::Format;
use crate::error::{Error, Result};
use crate::frame::{Contiguous, Setup, Sparse};
#[cfg(any(unix, windows))]
use crate::frame::{INDEX, Kind, Locking};
use crate::options::{ChunkFormat, CompressOptions};
use crate::place::{Access, Place};
use crate::store::{Dir, Home, ReadAt, Window, WriteAt};
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

    pub(crate) fn opened(place: &Place<'_>, options: &OpenOptions, access: Access) -> Result<Self> {
        let nowhere = Path::new("");
        let home =
            |dir: &Arc<dyn Dir>, name: &str| Home { dir: dir.clone(), name: name.to_owned() };
        let opened = match (place, access) {
            #[cfg(any(unix, windows))]
            (Place::Path(path), Access::Read) => {
                resolve(path).and_then(|path| options.open_path(&path))
            }
            #[cfg(any(unix, windows))]
            (Place::Path(path), _) => resolve(path).and_then(|path| options.edit_path(&path)),
            (Place::Folder(dir), Access::Read) => options.open_sparse(dir.clone(), nowhere),
            (Place::Folder(dir), _) => options.edit_sparse(dir.clone(), nowhere),
            (Place::Store(store), _) => options.open_file(store.clone(), None, nowhere),
            (Place::File(dir, name), Access::Read) => dir
                .open(name)
                .and_then(|store| options.open_file(store, Some(home(dir, name)), nowhere)),
            (Place::File(dir, name), _) => {
                let home = home(dir, name);
                let claimed = home.claim(options.wait.unwrap_or_default());
                claimed.and_then(|file| options.edit_file(file, home, nowhere))
            }
        };
        opened.map_err(|error| place.explained(error, &FRAMES, options.offset))
    }
}

opens!(SuperChunk: file or folder);

/// The formats that this module opens.
const FRAMES: [Format; 2] = [Format::Frame, Format::SparseFrame];

impl OpenOptions {
    #[cfg(any(unix, windows))]
    fn open_path(&self, path: &Path) -> Result<SuperChunk> {
        if path.is_dir() {
            let open = |folder| self.open_sparse(Arc::new(folder), path);
            return again_if_changed(self.wait, || open(sparse_folder(path)?));
        }
        let store: Arc<dyn ReadAt> = Arc::new(FileReader::open(path)?);
        let (dir, name) = Folder::parent_of(path)?;
        self.open_file(store, Some(Home { dir: Arc::new(dir), name }), path)
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
        let (dir, name) = Folder::claim_parent_of(path, wait)?;
        let home = Home { dir: Arc::new(dir), name };
        let file = if takes_turns { home.edit()? } else { home.claim(wait)? };
        self.edit_file(file, home, path)
    }

    /// What begins inside of a file has no home: nothing can take its place.
    fn open_file(
        &self,
        store: Arc<dyn ReadAt>,
        home: Option<Home>,
        path: &Path,
    ) -> Result<SuperChunk> {
        match self.offset {
            0 => self.open_contiguous(store, home, path),
            offset => self.open_contiguous(Arc::new(Window::new(store, offset, None)), None, path),
        }
    }

    fn edit_file(&self, file: Arc<dyn WriteAt>, home: Home, path: &Path) -> Result<SuperChunk> {
        match self.offset {
            0 => self.edit_contiguous(file, Some(home), path),
            offset => self.edit_contiguous(Arc::new(Window::new(file, offset, None)), None, path),
        }
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

    /// The store from the offset on.
    pub(crate) fn window(&self, store: Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
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
        (this.limits, this.marks) = (self.limits, self.uses_marks);
        Ok(this)
    }

    /// The same options for the chunks of a container that is opened like this.
    pub(crate) fn equip(&self, compress: CompressOptions) -> CompressOptions {
        let check = self.checks_chunks || compress.check;
        let compress = compress.with_executor(self.executor.clone()).with_check(check);
        compress.with_registry(self.registry.clone())
    }

    fn setup(&self, path: &Path) -> Setup {
        Setup {
            limits: self.limits,
            durability: self.durability,
            sealed: true,
            trusting: self.ignores_fingerprint,
            locking: self.locking,
            wait: self.wait,
            following: self.follows_writer,
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
