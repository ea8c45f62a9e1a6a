//! C-Blosc2 as a contestant: its shared library, loaded at run time.
//!
//! The structures are those of `blosc2.h` of C-Blosc2 3.3; another major version is refused, as the
//! context functions take them by value.

#![expect(unsafe_code, reason = "a C library can only be called so")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;

use libloading::Symbol;

use crate::choice::Setup;
use crate::contestant::{Answer, Contestant};

/// Bytes that a chunk may be longer than its data.
const MAX_OVERHEAD: usize = 32;
const AUTO_SPLIT: i32 = 3;

/// `blosc2_cparams`.
#[repr(C)]
pub(crate) struct CParams {
    compcode: u8,
    compcode_meta: u8,
    clevel: u8,
    use_dict: c_int,
    typesize: i32,
    nthreads: i16,
    blocksize: i32,
    splitmode: i32,
    schunk: *mut c_void,
    filters: [u8; 6],
    filters_meta: [u8; 6],
    prefilter: *mut c_void,
    preparams: *mut c_void,
    tuner_params: *mut c_void,
    tuner_id: c_int,
    instr_codec: bool,
    codec_params: *mut c_void,
    filter_params: [*mut c_void; 6],
}

/// `blosc2_dparams`.
#[repr(C)]
pub(crate) struct DParams {
    nthreads: i16,
    schunk: *mut c_void,
    postfilter: *mut c_void,
    postparams: *mut c_void,
    typesize: i32,
}

impl CParams {
    pub(crate) fn of(setup: &Setup) -> Answer<Self> {
        Ok(Self {
            compcode: setup.codec.code,
            compcode_meta: 0,
            clevel: setup.level,
            use_dict: 0,
            typesize: c_len(setup.item_size)?,
            nthreads: c_threads(setup.threads)?,
            blocksize: 0,
            splitmode: AUTO_SPLIT,
            schunk: ptr::null_mut(),
            filters: [0, 0, 0, 0, 0, setup.filter.code],
            filters_meta: [0; 6],
            prefilter: ptr::null_mut(),
            preparams: ptr::null_mut(),
            tuner_params: ptr::null_mut(),
            tuner_id: 0,
            instr_codec: false,
            codec_params: ptr::null_mut(),
            filter_params: [ptr::null_mut(); 6],
        })
    }
}

impl DParams {
    pub(crate) fn of(setup: &Setup) -> Answer<Self> {
        Ok(Self {
            nthreads: c_threads(setup.threads)?,
            schunk: ptr::null_mut(),
            postfilter: ptr::null_mut(),
            postparams: ptr::null_mut(),
            typesize: c_len(setup.item_size)?,
        })
    }
}

type Context = *mut c_void;
type Coder = unsafe extern "C" fn(Context, *const c_void, i32, *mut c_void, i32) -> c_int;
type GetItem =
    unsafe extern "C" fn(Context, *const c_void, i32, c_int, c_int, *mut c_void, i32) -> c_int;
type FilterFn = unsafe extern "C" fn(i32, i32, *const c_void, *mut c_void) -> i32;

/// The filter functions that C-Blosc2 exports.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kernel {
    Shuffle,
    Unshuffle,
    BitShuffle,
    BitUnshuffle,
}

/// The loaded library, with the functions that are used here.
pub(crate) struct Library {
    version: String,
    create_cctx: unsafe extern "C" fn(CParams) -> Context,
    create_dctx: unsafe extern "C" fn(DParams) -> Context,
    free_ctx: unsafe extern "C" fn(Context),
    compress: Coder,
    decompress: Coder,
    getitem: GetItem,
    kernels: [FilterFn; 4],
    // Dropped last: the functions above point into it.
    library: libloading::Library,
}

impl Library {
    /// Loads and initialises the library.
    pub(crate) fn open(path: &Path) -> Answer<Self> {
        // SAFETY: initialisers of C-Blosc2 have no preconditions; the path is the user's own choice.
        let library = unsafe { libloading::Library::new(path) };
        let library = library.map_err(|e| format!("cannot load {}: {e}", path.display()))?;
        // SAFETY: each type here is that of the function of this name in `blosc2.h`.
        let loaded = unsafe { Self::resolve(library) }?;
        if !loaded.version.starts_with("3.") {
            return Err(format!("C-Blosc2 {} has other structures than 3.x", loaded.version));
        }
        Ok(loaded)
    }

    pub(crate) fn version(&self) -> String {
        self.version.clone()
    }

    /// A further function of the library, by its name.
    ///
    /// # Safety
    ///
    /// `T` must be the type of the function of this name in `blosc2.h`, and what it points to must not
    /// be called after the library was dropped.
    pub(crate) unsafe fn function<T: Copy>(&self, name: &CStr) -> Answer<T> {
        // SAFETY: as promised by the caller.
        unsafe { symbol(&self.library, name) }
    }

    /// A contestant for one cell.
    pub(crate) fn contestant(&self, setup: &Setup) -> Answer<CBlosc2<'_>> {
        let (cparams, dparams) = (CParams::of(setup)?, DParams::of(setup)?);
        // SAFETY: the structures have the layout of the header (version checked in `open`).
        let (encoder, decoder) =
            unsafe { ((self.create_cctx)(cparams), (self.create_dctx)(dparams)) };
        if encoder.is_null() || decoder.is_null() {
            return Err("C-Blosc2 gave no context".to_owned());
        }
        Ok(CBlosc2 { library: self, encoder, decoder, item_size: setup.item_size })
    }

    /// Runs one of its filter functions over a whole buffer.
    pub(crate) fn filter(
        &self,
        kernel: Kernel,
        item_size: usize,
        src: &[u8],
        dst: &mut [u8],
    ) -> Answer<()> {
        let [shuffle, unshuffle, bitshuffle, bitunshuffle] = self.kernels;
        let function = match kernel {
            Kernel::Shuffle => shuffle,
            Kernel::Unshuffle => unshuffle,
            Kernel::BitShuffle => bitshuffle,
            Kernel::BitUnshuffle => bitunshuffle,
        };
        let item_size = c_len(item_size)?;
        let len = c_len(src.len().min(dst.len()))?;
        // SAFETY: both buffers are at least `len` bytes long and, one being `&mut`, do not overlap.
        let code =
            unsafe { function(item_size, len, src.as_ptr().cast(), dst.as_mut_ptr().cast()) };
        taken("filter", code).map(drop)
    }

    /// # Safety
    ///
    /// The library must be C-Blosc2, whose functions have these types.
    unsafe fn resolve(library: libloading::Library) -> Answer<Self> {
        // SAFETY: as promised by the caller, each name has the type that it is assigned to.
        unsafe {
            let init: unsafe extern "C" fn() = symbol(&library, c"blosc2_init")?;
            init();
            let version: unsafe extern "C" fn() -> *const c_char =
                symbol(&library, c"blosc2_get_version_string")?;
            Ok(Self {
                version: CStr::from_ptr(version()).to_string_lossy().into_owned(),
                create_cctx: symbol(&library, c"blosc2_create_cctx")?,
                create_dctx: symbol(&library, c"blosc2_create_dctx")?,
                free_ctx: symbol(&library, c"blosc2_free_ctx")?,
                compress: symbol(&library, c"blosc2_compress_ctx")?,
                decompress: symbol(&library, c"blosc2_decompress_ctx")?,
                getitem: symbol(&library, c"blosc2_getitem_ctx")?,
                kernels: [
                    symbol(&library, c"blosc2_shuffle")?,
                    symbol(&library, c"blosc2_unshuffle")?,
                    symbol(&library, c"blosc2_bitshuffle")?,
                    symbol(&library, c"blosc2_bitunshuffle")?,
                ],
                library,
            })
        }
    }
}

/// Its contexts for one cell.
pub(crate) struct CBlosc2<'a> {
    library: &'a Library,
    encoder: Context,
    decoder: Context,
    item_size: usize,
}

impl Drop for CBlosc2<'_> {
    fn drop(&mut self) {
        // SAFETY: both came from the library, are not null (see `contestant`), and are freed once.
        unsafe {
            (self.library.free_ctx)(self.encoder);
            (self.library.free_ctx)(self.decoder);
        }
    }
}

impl Contestant for CBlosc2<'_> {
    fn compress(&mut self, src: &[u8], dst: &mut Vec<u8>) -> Answer<()> {
        dst.clear();
        dst.reserve(src.len() + MAX_OVERHEAD);
        let (from, to) = (src.as_ptr().cast(), dst.as_mut_ptr().cast());
        let (len, room) = (c_len(src.len())?, c_len(dst.capacity())?);
        // SAFETY: `src` holds `len` bytes, `dst` has room for `room`; the context is alive.
        let code = unsafe { (self.library.compress)(self.encoder, from, len, to, room) };
        let written = taken("blosc2_compress_ctx", code)?;
        // SAFETY: the library has written that many bytes, at most `room`.
        unsafe { dst.set_len(written) };
        Ok(())
    }

    fn decompress(&mut self, chunk: &[u8], dst: &mut [u8]) -> Answer<()> {
        let (from, to) = (chunk.as_ptr().cast(), dst.as_mut_ptr().cast());
        let (len, room) = (c_len(chunk.len())?, c_len(dst.len())?);
        // SAFETY: `chunk` holds `len` bytes, `dst` has room for `room`; the context is alive.
        let code = unsafe { (self.library.decompress)(self.decoder, from, len, to, room) };
        taken("blosc2_decompress_ctx", code).map(drop)
    }

    fn items(&mut self, chunk: &[u8], start: usize, dst: &mut [u8]) -> Answer<()> {
        let (from, to) = (chunk.as_ptr().cast(), dst.as_mut_ptr().cast());
        let (len, room) = (c_len(chunk.len())?, c_len(dst.len())?);
        let (start, count) = (c_len(start)?, c_len(dst.len() / self.item_size)?);
        // SAFETY: `chunk` holds `len` bytes, `dst` has room for `room`; the context is alive.
        let code =
            unsafe { (self.library.getitem)(self.decoder, from, len, start, count, to, room) };
        taken("blosc2_getitem_ctx", code).map(drop)
    }
}

/// # Safety
///
/// `T` must be the type of the function of this name.
unsafe fn symbol<T: Copy>(library: &libloading::Library, name: &CStr) -> Answer<T> {
    // SAFETY: as promised by the caller.
    let found: Result<Symbol<'_, T>, _> = unsafe { library.get(name) };
    found.map(|symbol| *symbol).map_err(|e| e.to_string())
}

fn taken(name: &str, code: c_int) -> Answer<usize> {
    usize::try_from(code).map_err(|_| format!("{name} returned {code}"))
}

fn c_threads(threads: usize) -> Answer<i16> {
    i16::try_from(threads).map_err(|_| format!("{threads} threads are too many for C-Blosc2"))
}

pub(crate) fn c_len(len: usize) -> Answer<i32> {
    i32::try_from(len).map_err(|_| format!("{len} bytes are too many for C-Blosc2"))
}
