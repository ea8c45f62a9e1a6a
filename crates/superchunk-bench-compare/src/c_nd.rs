//! Arrays of C-Blosc2 as a contestant.
//!
//! The structures are those of `b2nd.h` of C-Blosc2 3.3; [`Library`] refuses other major versions. Of
//! `b2nd_array_t` only the beginning is declared, as the library itself makes and frees it.

#![expect(unsafe_code, reason = "a C library can only be called so")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;

use crate::c_blosc2::{CParams, DParams, Library, c_len};
use crate::c_schunk::{Storage, c_path, refused, signed};
use crate::choice::Setup;
use crate::contestant::Answer;
use crate::nd_side::{Cuboid, Index, NdHandle, NdSide, Points, Shapes};

const MAX_DIMENSIONS: usize = 16;
const DIMENSIONS: i8 = 3;
const FLOAT32: &CStr = c"<f4";
const NUMPY_FORMAT: i8 = 0;

/// The beginning of `b2nd_array_t`.
#[repr(C)]
struct Head {
    schunk: *mut c_void,
    shape: [i64; MAX_DIMENSIONS],
}

type Context = *mut c_void;
type CreateContext = unsafe extern "C" fn(
    *const Storage,
    i8,
    *const i64,
    *const i32,
    *const i32,
    *const c_char,
    i8,
    *const c_void,
    i32,
) -> Context;
type FromBuffer = unsafe extern "C" fn(Context, *mut *mut Head, *const c_void, i64) -> c_int;
type GetSlice = unsafe extern "C" fn(
    *const Head,
    *const i64,
    *const i64,
    *mut c_void,
    *const i64,
    i64,
) -> c_int;
type SetSlice = unsafe extern "C" fn(
    *const c_void,
    *const i64,
    i64,
    *const i64,
    *const i64,
    *mut Head,
) -> c_int;
type GetSparse = unsafe extern "C" fn(*const Head, i64, *const i64, *mut c_void, i64) -> c_int;

/// The functions of the library that work on arrays.
pub(crate) struct CArrays<'a> {
    setup: Setup,
    create_ctx: CreateContext,
    free_ctx: unsafe extern "C" fn(Context) -> c_int,
    from_cbuffer: FromBuffer,
    open: unsafe extern "C" fn(*const c_char, *mut *mut Head) -> c_int,
    free: unsafe extern "C" fn(*mut Head) -> c_int,
    get_slice: GetSlice,
    get_sparse: GetSparse,
    set_slice: SetSlice,
    append: unsafe extern "C" fn(*mut Head, *const c_void, i64, i8) -> c_int,
    // The functions above point into it.
    _library: &'a Library,
}

impl<'a> CArrays<'a> {
    /// Finds the functions; arrays that are made have this setup.
    pub(crate) fn new(library: &'a Library, setup: &Setup) -> Answer<Self> {
        // SAFETY: each type is that of the function of this name in `b2nd.h`, with pointers to `Head`
        // for those to `b2nd_array_t`; the functions are kept no longer than the library.
        unsafe {
            Ok(Self {
                setup: *setup,
                create_ctx: library.function(c"b2nd_create_ctx")?,
                free_ctx: library.function(c"b2nd_free_ctx")?,
                from_cbuffer: library.function(c"b2nd_from_cbuffer")?,
                open: library.function(c"b2nd_open")?,
                free: library.function(c"b2nd_free")?,
                get_slice: library.function(c"b2nd_get_slice_cbuffer")?,
                get_sparse: library.function(c"b2nd_get_sparse_cbuffer")?,
                set_slice: library.function(c"b2nd_set_slice_cbuffer")?,
                append: library.function(c"b2nd_append")?,
                _library: library,
            })
        }
    }

    fn owned(&self, array: *mut Head, function: &str, code: c_int) -> Answer<CArray<'_>> {
        refused(function, code.into())?;
        if array.is_null() {
            return Err(format!("{function} gave nothing"));
        }
        Ok(CArray { functions: self, array })
    }
}

impl NdSide for CArrays<'_> {
    fn create(&self, path: &Path, shapes: &Shapes, data: &[u8]) -> Answer<()> {
        let (mut cparams, mut dparams) = (CParams::of(&self.setup)?, DParams::of(&self.setup)?);
        let path = c_path(path)?;
        let storage = Storage::file(&path, &mut cparams, &mut dparams);
        let shape = all_signed(shapes.array)?;
        let (chunk, block) = (c_sides(shapes.chunk)?, c_sides(shapes.block)?);
        let len = c_bytes(data.len())?;
        // SAFETY: all pointers are null, for no metalayers, or to live values of the header's types,
        // the shapes being as long as there are dimensions; the library copies what it keeps.
        let context = unsafe {
            (self.create_ctx)(
                &raw const storage,
                DIMENSIONS,
                shape.as_ptr(),
                chunk.as_ptr(),
                block.as_ptr(),
                FLOAT32.as_ptr(),
                NUMPY_FORMAT,
                ptr::null(),
                0,
            )
        };
        if context.is_null() {
            return Err("b2nd_create_ctx gave nothing".to_owned());
        }
        let mut array = ptr::null_mut();
        // SAFETY: the context is alive and freed once, here; `data` holds `len` bytes.
        let code = unsafe {
            let code = (self.from_cbuffer)(context, &raw mut array, data.as_ptr().cast(), len);
            (self.free_ctx)(context);
            code
        };
        self.owned(array, "b2nd_from_cbuffer", code).map(drop)
    }

    fn open<'b>(&'b self, path: &Path) -> Answer<Box<dyn NdHandle + 'b>> {
        let path = c_path(path)?;
        let mut array = ptr::null_mut();
        // SAFETY: the path ends in a zero byte; the other pointer is to a live pointer.
        let code = unsafe { (self.open)(path.as_ptr(), &raw mut array) };
        Ok(Box::new(self.owned(array, "b2nd_open", code)?))
    }

    fn edit<'b>(&'b self, path: &Path) -> Answer<Box<dyn NdHandle + 'b>> {
        self.open(path)
    }
}

/// An array of the library.
struct CArray<'a> {
    functions: &'a CArrays<'a>,
    /// Not null.
    array: *mut Head,
}

impl Drop for CArray<'_> {
    fn drop(&mut self) {
        // SAFETY: it came from the library, is not null (see `owned`), and is freed once.
        unsafe { (self.functions.free)(self.array) };
    }
}

impl CArray<'_> {
    /// Start, stop and shape of a box as C takes them, if a buffer has the length of its items.
    fn bounds(&self, cuboid: &Cuboid, len: usize) -> Answer<[[i64; 3]; 3]> {
        let sides = cuboid.sides();
        let items = sides.iter().product::<u64>();
        if items * self.functions.setup.item_size as u64 != len as u64 {
            return Err(format!("{len} bytes for {items} items"));
        }
        Ok([all_signed(cuboid.start)?, all_signed(cuboid.stop)?, all_signed(sides)?])
    }
}

impl NdHandle for CArray<'_> {
    fn shape(&self) -> Answer<Index> {
        // SAFETY: the array is alive and begins with the fields of `Head`.
        let [a, b, c, ..] = unsafe { (*self.array).shape };
        let side = |side: i64| u64::try_from(side).map_err(|e| e.to_string());
        Ok([side(a)?, side(b)?, side(c)?])
    }

    fn read(&mut self, cuboid: &Cuboid, dst: &mut [u8]) -> Answer<()> {
        let [start, stop, sides] = self.bounds(cuboid, dst.len())?;
        // SAFETY: the array is alive and has three dimensions; `dst` has room for the box, as checked.
        let code = unsafe {
            (self.functions.get_slice)(
                self.array,
                start.as_ptr(),
                stop.as_ptr(),
                dst.as_mut_ptr().cast(),
                sides.as_ptr(),
                c_bytes(dst.len())?,
            )
        };
        refused("b2nd_get_slice_cbuffer", code.into())
    }

    fn read_points(&mut self, points: &Points, dst: &mut [u8]) -> Answer<()> {
        let count = dst.len() / self.functions.setup.item_size;
        if points.theirs.len() != count {
            return Err(format!("room for {count} items"));
        }
        // SAFETY: the array is alive; there are as many numbers as `dst` has room for items, as checked.
        let code = unsafe {
            (self.functions.get_sparse)(
                self.array,
                c_bytes(count)?,
                points.theirs.as_ptr(),
                dst.as_mut_ptr().cast(),
                c_bytes(dst.len())?,
            )
        };
        refused("b2nd_get_sparse_cbuffer", code.into())
    }

    fn write(&mut self, cuboid: &Cuboid, src: &[u8]) -> Answer<()> {
        let [start, stop, sides] = self.bounds(cuboid, src.len())?;
        // SAFETY: the array is alive and has three dimensions; `src` holds the box, as checked.
        let code = unsafe {
            (self.functions.set_slice)(
                src.as_ptr().cast(),
                sides.as_ptr(),
                c_bytes(src.len())?,
                start.as_ptr(),
                stop.as_ptr(),
                self.array,
            )
        };
        refused("b2nd_set_slice_cbuffer", code.into())
    }

    fn append(&mut self, src: &[u8]) -> Answer<()> {
        let len = c_bytes(src.len())?;
        // SAFETY: the array is alive; `src` holds `len` bytes.
        let code = unsafe { (self.functions.append)(self.array, src.as_ptr().cast(), len, 0) };
        refused("b2nd_append", code.into())
    }

    fn commit(&mut self) -> Answer<()> {
        // Every change is in the file when its function returns.
        Ok(())
    }
}

fn all_signed([a, b, c]: Index) -> Answer<[i64; 3]> {
    Ok([signed(a)?, signed(b)?, signed(c)?])
}

fn c_sides([a, b, c]: [usize; 3]) -> Answer<[i32; 3]> {
    Ok([c_len(a)?, c_len(b)?, c_len(c)?])
}

fn c_bytes(len: usize) -> Answer<i64> {
    i64::try_from(len).map_err(|e| e.to_string())
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    /// The numbers are what a C compiler says of `b2nd.h` of C-Blosc2 3.3.5 on a 64-bit machine.
    #[test]
    fn the_structure_begins_as_in_the_header() {
        assert_eq!((offset_of!(Head, shape), size_of::<Head>()), (8, 136));
    }
}
