//! The extension module `superchunk._core`: the library for Python.
//!
//! | file | duty |
//! |---|---|
//! | `errors` | errors of the library and panics as exceptions |
//! | `options` | keywords of Python as options of the library |
//! | `buffers` | bytes of Python objects, in and out |
//! | `threads` | number of threads, interpreter lock, encoders and decoders of each thread |
//! | `numpy` | NumPy, imported when an array is asked for |
//! | `signals` | Ctrl-C and progress during long work |
//! | `handle` | what everything that is open has in common |
//! | `open` | `superchunk.open` |
//! | `chunk` | `compress`, `decompress`, `Compressor` |
//! | `inspect` | `detect`, `verify` |
//! | `files` | `copy`, `salvage`, `remove` |
//! | `command` | the program `superchunk` |
//! | `ndarray` | the class `NDArray` |
//! | `schunk`, `objects` | the classes `SChunk` and `Objects` |
//! | `pack`, `table` | what `Pack`, `Table` and `Column` of the Python code stand on |
//! | `key`, `index` | what stands between brackets: from Python, and NumPy's rules for it |
//! | `access` | from a key to the items |
//! | `values`, `strided` | values as NumPy casts them; memory of arrays |
//! | `methods` | what several classes have, as macros |
//! | `frame` | facts of frames and chunks |
//! | `metadata` | values that are stored beside the data |

mod access;
mod buffers;
mod chunk;
mod command;
mod errors;
mod files;
mod frame;
mod handle;
mod index;
mod inspect;
mod key;
mod metadata;
mod methods;
mod ndarray;
mod numpy;
mod objects;
mod open;
mod options;
mod pack;
mod schunk;
mod signals;
mod strided;
mod table;
mod threads;
mod values;

/// The functions and classes that `superchunk/__init__.py` gives to users.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    /// The version of the package, which is that of the crate.
    #[expect(non_upper_case_globals, reason = "this is how Python spells it")]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::chunk::{ChunkInfo, Compressor, chunk_info, compress, decompress, decompress_into};
    #[pymodule_export]
    use crate::command::_run_command;
    #[pymodule_export]
    use crate::errors::_panic;
    #[pymodule_export]
    use crate::files::{SalvageReport, copy, remove, salvage};
    #[pymodule_export]
    use crate::inspect::{Detected, Finding, Report, detect, verify};
    #[pymodule_export]
    use crate::metadata::{_pack, _unpack};
    #[pymodule_export]
    use crate::ndarray::{_create, _from_bytes, Indexer, NDArray};
    #[pymodule_export]
    use crate::objects::{_create_objects, Objects};
    #[pymodule_export]
    use crate::open::{_reopen, open};
    #[pymodule_export]
    use crate::pack::{_create_pack, Pack};
    #[pymodule_export]
    use crate::schunk::{_create_schunk, SChunk};
    #[pymodule_export]
    use crate::table::{_create_array, _create_table, Batches, Rows, Scan};
    #[pymodule_export]
    use crate::threads::{_become_worker, NThreads, get_nthreads, set_nthreads};
}
