//! Super-chunks of C-Blosc2 as a contestant.
//!
//! The structures are those of `blosc2.h` of C-Blosc2 3.3; [`Library`] refuses other major versions. Of
//! `blosc2_schunk` only the beginning is declared, as the library itself makes and frees it.

#![expect(unsafe_code, reason = "a C library can only be called so")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;
use std::path::Path;
use std::ptr;

use crate::c_blosc2::{CParams, DParams, Library, c_len};
use crate::choice::Setup;
use crate::contestant::Answer;
use crate::frame_side::{FrameReader, FrameSide};

const SPECIAL_ZERO: c_int = 1;

/// `blosc2_storage`.
#[repr(C)]
pub(crate) struct Storage {
    contiguous: bool,
    urlpath: *mut c_char,
    cparams: *mut CParams,
    dparams: *mut DParams,
    io: *mut c_void,
}

impl Storage {
    /// A contiguous frame in a file. The library reads the path and the parameters, and writes to
    /// neither.
    pub(crate) fn file(path: &CStr, cparams: &mut CParams, dparams: &mut DParams) -> Self {
        Self {
            contiguous: true,
            urlpath: path.as_ptr().cast_mut(),
            cparams: &raw mut *cparams,
            dparams: &raw mut *dparams,
            io: ptr::null_mut(),
        }
    }
}

/// The beginning of `blosc2_schunk`.
#[repr(C)]
struct Head {
    version: u8,
    compcode: u8,
    compcode_meta: u8,
    clevel: u8,
    splitmode: u8,
    typesize: i32,
    blocksize: i32,
    chunksize: i32,
    flags2: u8,
    use_dict: u8,
    filters: [u8; 6],
    filters_meta: [u8; 6],
    nchunks: i64,
    current_nchunk: i64,
    nbytes: i64,
    cbytes: i64,
}

/// The functions of the library that work on super-chunks.
pub(crate) struct CFrames<'a> {
    setup: Setup,
    new: unsafe extern "C" fn(*mut Storage) -> *mut Head,
    open: unsafe extern "C" fn(*const c_char) -> *mut Head,
    free: unsafe extern "C" fn(*mut Head) -> c_int,
    append: unsafe extern "C" fn(*mut Head, *const c_void, i32) -> i64,
    fill: unsafe extern "C" fn(*mut Head, i64, c_int, i32) -> i64,
    chunk: unsafe extern "C" fn(*mut Head, i64, *mut c_void, i32) -> c_int,
    slice: unsafe extern "C" fn(*mut Head, i64, i64, *mut c_void) -> c_int,
    // The functions above point into it.
    _library: &'a Library,
}

impl<'a> CFrames<'a> {
    /// Finds the functions; frames that are made have this setup.
    pub(crate) fn new(library: &'a Library, setup: &Setup) -> Answer<Self> {
        // SAFETY: each type is that of the function of this name in `blosc2.h`, with pointers to
        // `Head` for those to `blosc2_schunk`; the functions are kept no longer than the library.
        unsafe {
            Ok(Self {
                setup: *setup,
                new: library.function(c"blosc2_schunk_new")?,
                open: library.function(c"blosc2_schunk_open")?,
                free: library.function(c"blosc2_schunk_free")?,
                append: library.function(c"blosc2_schunk_append_buffer")?,
                fill: library.function(c"blosc2_schunk_fill_special")?,
                chunk: library.function(c"blosc2_schunk_decompress_chunk")?,
                slice: library.function(c"blosc2_schunk_get_slice_buffer")?,
                _library: library,
            })
        }
    }

    /// A contiguous frame in a new file.
    fn create(&self, path: &Path) -> Answer<CSchunk<'_>> {
        let (mut cparams, mut dparams) = (CParams::of(&self.setup)?, DParams::of(&self.setup)?);
        let path = c_path(path)?;
        let mut storage = Storage::file(&path, &mut cparams, &mut dparams);
        // SAFETY: all pointers are null or to live values of the header's types; the library copies
        // what it keeps, and does not write to the path.
        self.owned(unsafe { (self.new)(&raw mut storage) }, "blosc2_schunk_new")
    }

    /// A frame of this many chunks of zeros, none of which is stored.
    pub(crate) fn write_zeros(&self, path: &Path, chunks: usize, chunk_size: usize) -> Answer<()> {
        let items = i64::try_from(chunks * chunk_size / self.setup.item_size);
        let items = items.map_err(|e| e.to_string())?;
        let frame = self.create(path)?;
        let chunk_size = c_len(chunk_size)?;
        // SAFETY: the super-chunk is alive and empty.
        let code = unsafe { (self.fill)(frame.schunk, items, SPECIAL_ZERO, chunk_size) };
        refused("blosc2_schunk_fill_special", code)
    }

    fn owned(&self, schunk: *mut Head, function: &str) -> Answer<CSchunk<'_>> {
        if schunk.is_null() {
            return Err(format!("{function} gave nothing"));
        }
        Ok(CSchunk { functions: self, schunk })
    }
}

impl FrameSide for CFrames<'_> {
    fn write(&self, path: &Path, chunk_size: usize, pieces: &[&[u8]]) -> Answer<()> {
        // The first append sets the size of the chunks.
        let fits = pieces.iter().all(|piece| piece.len() == chunk_size);
        if !fits {
            return Err("C-Blosc2 makes a chunk of each piece".to_owned());
        }
        let mut frame = self.create(path)?;
        pieces.iter().try_for_each(|piece| frame.append(piece))
    }

    fn open<'b>(&'b self, path: &Path) -> Answer<Box<dyn FrameReader + 'b>> {
        let path = c_path(path)?;
        // SAFETY: the path ends in a zero byte.
        let schunk = unsafe { (self.open)(path.as_ptr()) };
        Ok(Box::new(self.owned(schunk, "blosc2_schunk_open")?))
    }
}

/// A super-chunk of the library.
struct CSchunk<'a> {
    functions: &'a CFrames<'a>,
    /// Not null.
    schunk: *mut Head,
}

impl Drop for CSchunk<'_> {
    fn drop(&mut self) {
        // SAFETY: it came from the library, is not null (see `owned`), and is freed once.
        unsafe { (self.functions.free)(self.schunk) };
    }
}

impl CSchunk<'_> {
    fn append(&mut self, piece: &[u8]) -> Answer<()> {
        let len = c_len(piece.len())?;
        // SAFETY: the super-chunk is alive; `piece` holds `len` bytes.
        let code = unsafe { (self.functions.append)(self.schunk, piece.as_ptr().cast(), len) };
        refused("blosc2_schunk_append_buffer", code)
    }
}

impl FrameReader for CSchunk<'_> {
    fn chunk_count(&self) -> u64 {
        // SAFETY: the super-chunk is alive and begins with the fields of `Head`.
        let count = unsafe { (*self.schunk).nchunks };
        count.try_into().unwrap_or(0)
    }

    fn len(&self) -> u64 {
        // SAFETY: as above.
        let nbytes = unsafe { (*self.schunk).nbytes };
        nbytes.try_into().unwrap_or(0)
    }

    fn read_chunk(&mut self, index: u64, dst: &mut [u8]) -> Answer<usize> {
        let (index, room) = (signed(index)?, c_len(dst.len())?);
        // SAFETY: the super-chunk is alive; `dst` has room for `room` bytes.
        let code =
            unsafe { (self.functions.chunk)(self.schunk, index, dst.as_mut_ptr().cast(), room) };
        usize::try_from(code).map_err(|_| format!("blosc2_schunk_decompress_chunk returned {code}"))
    }

    fn read_items(&mut self, items: Range<u64>, dst: &mut [u8]) -> Answer<()> {
        let len = items.end.saturating_sub(items.start);
        let room = dst.len() / self.functions.setup.item_size;
        if u64::try_from(room).is_ok_and(|room| room < len) {
            return Err("too little room for the items".to_owned());
        }
        let (start, stop) = (signed(items.start)?, signed(items.end)?);
        // SAFETY: the super-chunk is alive and was written with the item size of the setup; `dst` has
        // room for the items, as checked.
        let code =
            unsafe { (self.functions.slice)(self.schunk, start, stop, dst.as_mut_ptr().cast()) };
        refused("blosc2_schunk_get_slice_buffer", code.into())
    }
}

pub(crate) fn c_path(path: &Path) -> Answer<CString> {
    let text = path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()))?;
    CString::new(text).map_err(|e| e.to_string())
}

pub(crate) fn signed(number: u64) -> Answer<i64> {
    i64::try_from(number).map_err(|e| e.to_string())
}

pub(crate) fn refused(function: &str, code: i64) -> Answer<()> {
    if code < 0 { Err(format!("{function} returned {code}")) } else { Ok(()) }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    /// The numbers are what a C compiler says of `blosc2.h` of C-Blosc2 3.3.5 on a 64-bit machine.
    #[test]
    fn the_structures_lie_as_in_the_header() {
        let head = [
            offset_of!(Head, chunksize),
            offset_of!(Head, filters_meta),
            offset_of!(Head, nchunks),
            offset_of!(Head, nbytes),
            offset_of!(Head, cbytes),
        ];
        assert_eq!(head, [16, 28, 40, 56, 64]);
        let storage = [offset_of!(Storage, urlpath), offset_of!(Storage, io), size_of::<Storage>()];
        assert_eq!(storage, [8, 32, 40]);
        assert_eq!((size_of::<CParams>(), size_of::<DParams>()), (136, 40));
    }
}
