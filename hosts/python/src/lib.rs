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

mod access;
mod buffers;
mod chunk;
mod errors;
mod handle;
mod index;
mod key;
mod metadata;
mod ndarray;
mod numpy;
mod open;
mod options;
mod signals;
mod strided;
mod threads;
mod values;

/// The functions and classes that `superchunk/__init__.py` gives to users.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::chunk::{compress, decompress};
    #[pymodule_export]
    use crate::metadata::{_pack, _unpack};
    #[pymodule_export]
    use crate::ndarray::{_create, _from_bytes, Indexer, NDArray};
    #[pymodule_export]
    use crate::open::{_reopen, open};
    #[pymodule_export]
    use crate::threads::{_become_worker, NThreads, get_nthreads, set_nthreads};
}
