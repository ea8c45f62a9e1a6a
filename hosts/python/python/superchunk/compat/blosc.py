"""python-blosc 1.11 by its own names: `import superchunk.compat.blosc as blosc`.

Chunks are those of C-Blosc 1, which all versions of python-blosc read. `pack_array` and
`unpack_array` keep the format of python-blosc, a compressed pickle of a NumPy array, but nothing
except NumPy arrays of plain types is ever unpickled.
"""

import ctypes as _ctypes
import io as _io
import os as _os
import pickle as _pickle

import superchunk as _superchunk

__version__ = "1.11.4"
VERSION_STRING = "1.21.6"
VERSION_DATE = "superchunk " + _superchunk.__version__
MAX_BUFFERSIZE = 2**31 - 1 - 16
MAX_THREADS = 256
MAX_TYPESIZE = 255
NOSHUFFLE = 0
SHUFFLE = 1
BITSHUFFLE = 2

BLOSC_VERSION_STRING = VERSION_STRING
BLOSC_VERSION_DATE = VERSION_DATE
BLOSC_MAX_BUFFERSIZE = MAX_BUFFERSIZE
BLOSC_MAX_THREADS = MAX_THREADS
BLOSC_MAX_TYPESIZE = MAX_TYPESIZE

filters = {NOSHUFFLE: "noshuffle", SHUFFLE: "shuffle", BITSHUFFLE: "bitshuffle"}
blosclib_version = f"{VERSION_STRING} ({VERSION_DATE})"

_PIPELINES = {NOSHUFFLE: "none", SHUFFLE: "shuffle", BITSHUFFLE: "bitshuffle"}
_CODES = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "snappy": 3, "zlib": 4, "zstd": 5}
_LIBRARIES = {"blosclz": "BloscLZ", "lz4": "LZ4", "lz4hc": "LZ4", "zlib": "Zlib", "zstd": "Zstd"}

cnames = list(_LIBRARIES)
cname2clib = dict(_LIBRARIES)
clib_versions = dict.fromkeys(_LIBRARIES.values(), VERSION_DATE)


def detect_number_of_cores():
    """Returns the number of cores of this machine."""
    return _os.cpu_count() or 1


ncores = detect_number_of_cores()
nthreads = min(ncores, 8)
_blocksize = 0
_releases_gil = False


def set_nthreads(nthreads):
    """Sets the number of threads of the functions of this module; returns the one before."""
    if not 1 <= nthreads <= MAX_THREADS:
        raise ValueError(f"nthreads: expected 1 to {MAX_THREADS}, got {nthreads}")
    before = globals()["nthreads"]
    globals()["nthreads"] = nthreads
    return before


def set_blocksize(blocksize):
    """Sets the size of blocks; 0 stands for one that suits the data."""
    global _blocksize
    _blocksize = blocksize


def get_blocksize():
    """Returns the size of blocks that was set."""
    return _blocksize


def set_releasegil(gilstate):
    """Returns what was set before; the lock is always released where the work is worth it."""
    global _releases_gil
    before, _releases_gil = _releases_gil, bool(gilstate)
    return before


def compressor_list():
    """Returns the names of the compressors."""
    return list(cnames)


def code_to_name(code):
    """Returns the name of the compressor with this number."""
    for name, number in _CODES.items():
        if number == code:
            return name
    raise ValueError(f"no compressor has the code {code}")


def name_to_code(name):
    """Returns the number of the compressor of this name."""
    if name not in _CODES:
        raise ValueError(f"no compressor has the name {name!r}")
    return _CODES[name]


def clib_info(cname):
    """Returns the name of the compressor's format and what implements it."""
    _check_cname(cname)
    return _LIBRARIES[cname], VERSION_DATE


def get_clib(bytesobj):
    """Returns the name of the format of the streams of a chunk."""
    _check_bytesobj(bytesobj)
    codec = _superchunk.chunk_info(bytesobj).codec
    return _LIBRARIES.get(codec, "Snappy")


def get_cbuffer_sizes(bytesobj):
    """Returns the decoded length of a chunk, its own length, and its block size."""
    info = _superchunk.chunk_info(bytesobj)
    return info.nbytes, info.cbytes, info.blocksize


def cbuffer_validate(bytesobj):
    """Returns whether a buffer is one whole chunk."""
    try:
        info = _superchunk.chunk_info(bytesobj)
    except _superchunk.Error:
        return False
    return info.cbytes == memoryview(bytesobj).nbytes


def init():
    """Does nothing: there is nothing to prepare."""


def destroy():
    """Does nothing: there is nothing to destroy."""


def free_resources():
    """Does nothing: memory and threads are kept by those who use them."""


def compress(bytesobj, typesize=8, clevel=9, shuffle=SHUFFLE, cname="blosclz"):
    """Compresses an object with the buffer protocol into a chunk."""
    _check_length("bytesobj", len(bytesobj))
    _check(typesize, clevel, shuffle, cname)
    return _compress(bytesobj, typesize, clevel, shuffle, cname)


def compress_ptr(address, items, typesize=8, clevel=9, shuffle=SHUFFLE, cname="blosclz"):
    """Compresses `items` items at an address, which must be readable."""
    _check_address(address)
    if items < 0:
        raise ValueError(f"items: expected at least 0, got {items}")
    _check_length("length", items * typesize)
    _check(typesize, clevel, shuffle, cname)
    memory = (_ctypes.c_char * (items * typesize)).from_address(address)
    return _compress(memory, typesize, clevel, shuffle, cname)


def decompress(bytes_like, as_bytearray=False):
    """Decompresses a chunk into `bytes`, or into a `bytearray`."""
    if not as_bytearray:
        return _superchunk.decompress(bytes_like, nthreads=nthreads)
    out = bytearray(_superchunk.chunk_info(bytes_like).nbytes)
    return _superchunk.decompress(bytes_like, out=out, nthreads=nthreads)


def decompress_ptr(bytes_like, address):
    """Decompresses a chunk to an address, where there must be room; returns the length."""
    try:
        memoryview(bytes_like)
    except TypeError:
        kind = type(bytes_like)
        raise TypeError(f"expected an object with the buffer protocol, got {kind}") from None
    _check_address(address)
    size = _superchunk.chunk_info(bytes_like).nbytes
    memory = (_ctypes.c_char * size).from_address(address)
    return _superchunk.decompress_into(bytes_like, memory, nthreads=nthreads)


def pack_array(array, clevel=9, shuffle=SHUFFLE, cname="blosclz"):
    """Compresses a NumPy array of a plain type, with its shape and type."""
    if not (hasattr(array, "dtype") and hasattr(array, "shape")):
        raise TypeError(f"expected a NumPy array, got {type(array)}")
    if array.dtype.hasobject:
        raise TypeError("an array of Python objects is not packed: unpacking it would run code")
    _check_length("array size", array.size * array.itemsize)
    _check(array.itemsize, clevel, shuffle, cname)
    return compress(_pickle.dumps(array, 5), array.itemsize, clevel, shuffle, cname)


def unpack_array(packed_array, **kwargs):
    """Decompresses what `pack_array` of this package or of python-blosc has made.

    The keywords are those of `pickle.loads`, such as `encoding` for arrays of Python 2.
    """
    _check_bytesobj(packed_array)
    pickled = _superchunk.decompress(packed_array, nthreads=nthreads)
    array = _ArrayUnpickler(_io.BytesIO(pickled), **kwargs).load()
    if kwargs and array.dtype.kind == "S":
        import numpy

        return numpy.char.decode(array, "utf-8")
    return array


class _ArrayUnpickler(_pickle.Unpickler):
    """Makes NumPy arrays of plain types and nothing else."""

    _MODULES = {
        "numpy.core.multiarray": "numpy._core.multiarray",
        "numpy.core.numeric": "numpy._core.numeric",
    }
    _ALLOWED = {
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "scalar"),
        ("numpy._core.numeric", "_frombuffer"),
        ("_codecs", "encode"),
    }

    def find_class(self, module_name, global_name):
        from importlib import import_module

        place = self._MODULES.get(module_name, module_name)
        if (place, global_name) not in self._ALLOWED:
            name = f"{module_name}.{global_name}"
            raise _pickle.UnpicklingError(f"{name} is not part of a plain NumPy array")
        try:
            return getattr(import_module(place), global_name)
        except ModuleNotFoundError:  # NumPy before 2.0
            return getattr(import_module(place.replace("numpy._core", "numpy.core")), global_name)


def print_versions():
    """Prints what this module is and stands for."""
    print(f"superchunk {_superchunk.__version__} as python-blosc {__version__}")
    print(f"compressors: {', '.join(cnames)}; cores: {ncores}; threads: {nthreads}")


def _compress(data, typesize, clevel, shuffle, cname):
    return _superchunk.compress(
        data,
        typesize=typesize,
        level=clevel,
        filters=_PIPELINES[shuffle],
        codec=cname,
        blocksize=_blocksize,
        format="blosc1",
        nthreads=nthreads,
    )


def _check(typesize, clevel, shuffle, cname):
    if not 1 <= typesize <= MAX_TYPESIZE:
        raise ValueError(f"typesize: expected 1 to {MAX_TYPESIZE}, got {typesize}")
    if shuffle not in _PIPELINES:
        raise ValueError(f"shuffle: expected NOSHUFFLE, SHUFFLE or BITSHUFFLE, got {shuffle}")
    if not 0 <= clevel <= 9:
        raise ValueError(f"clevel: expected 0 to 9, got {clevel}")
    _check_cname(cname)


def _check_cname(cname):
    if cname not in _LIBRARIES:
        raise ValueError(f"cname: expected one of {', '.join(cnames)}, got {cname!r}")


def _check_length(name, length):
    if length > MAX_BUFFERSIZE:
        raise ValueError(f"{name}: expected at most {MAX_BUFFERSIZE} bytes, got {length}")


def _check_bytesobj(bytesobj):
    if not isinstance(bytesobj, bytes):
        raise TypeError(f"expected bytes, got {type(bytesobj)}")


def _check_address(address):
    if not isinstance(address, int):
        raise TypeError(f"expected an address as an int, got {type(address)}")
