"""What programs that store arrays with python-blosc2 use: `import superchunk.compat.blosc2 as blosc2`.

Only storage is here. For lazy expressions, tables and tree stores use python-blosc2 itself, on the same
files. As with python-blosc2 every change is final when the call returns.
"""

import os

import superchunk
from superchunk import _core, get_nthreads, set_nthreads
from superchunk._attrs import Attributes
from superchunk.compat._blosc2_params import (
    Codec,
    CParams,
    DParams,
    Filter,
    SpecialValue,
    SplitMode,
    Storage,
    cparams_dflts,
    cparams_of,
    dparams_dflts,
    dparams_of,
    known,
    options_of,
    storage_dflts,
)

MAX_DIM = 16
MAX_BLOCKSIZE = 536866816
MAX_BUFFERSIZE = 2**31 - 1 - 32
MAX_OVERHEAD = 32
IS_WASM = False
nthreads = ncores = get_nthreads()


_SPECIAL = {
    None: SpecialValue.NOT_SPECIAL,
    "zeros": SpecialValue.ZERO,
    "nans": SpecialValue.NAN,
    "value": SpecialValue.VALUE,
    "uninit": SpecialValue.UNINIT,
}


def set_releasegil(gilstate: bool) -> bool:
    """Does nothing: the lock is always released when there is work to do."""
    return True


def remove_urlpath(path) -> None:
    """Removes a file or folder, if it exists."""
    if path is None or not os.path.lexists(path):
        return
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil

        shutil.rmtree(path)
    else:
        os.remove(path)


def open(urlpath, mode="r", offset=0, **kwargs):
    """Opens an array or super-chunk."""
    if mode not in ("r", "w", "a"):
        raise ValueError(f"mode: expected 'r', 'w' or 'a', got {mode!r}")
    dparams = kwargs.get("dparams")
    found = superchunk.open(urlpath, offset=offset, dparams=known(dparams or {}))
    return NDArray(found, mode, dparams_of(dparams)) if isinstance(found, superchunk.NDArray) else found


def asarray(array, copy=None, **kwargs):
    """Stores an array."""
    if isinstance(array, NDArray) and not kwargs and copy is not True:
        return array
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    source = array._array if isinstance(array, NDArray) else array
    return _made(superchunk.array, source, kwargs)


def array(object, dtype=None, **kwargs):
    """Stores an array, always a new one."""
    import numpy as np

    return asarray(np.asarray(object, dtype), copy=True, **kwargs)


def empty(shape, dtype="f8", **kwargs):
    """An array that nobody has written to."""
    return _made(superchunk.empty, shape, kwargs, dtype)


uninit = empty


def zeros(shape, dtype="f8", **kwargs):
    """An array of zeros."""
    return _made(superchunk.zeros, shape, kwargs, dtype)


def ones(shape, dtype="f8", **kwargs):
    """An array of ones."""
    return _made(superchunk.ones, shape, kwargs, dtype)


def nans(shape, dtype="f8", **kwargs):
    """An array of NaN."""
    return full(shape, float("nan"), dtype, **kwargs)


def full(shape, fill_value, dtype=None, **kwargs):
    """An array of one value."""
    import numpy as np

    if dtype is None and isinstance(fill_value, bytes):
        dtype = np.dtype(f"S{len(fill_value)}")
    return _made(lambda shape, **options: superchunk.full(shape, fill_value, dtype, **options), shape, kwargs)


def frombuffer(buffer, shape, dtype="|u1", **kwargs):
    """An array of the bytes of a buffer."""
    import numpy as np

    return asarray(np.frombuffer(buffer, dtype).reshape(shape), **kwargs)


def arange(start=0, stop=None, step=1, dtype=None, shape=None, **kwargs):
    """Numbers at equal distances."""
    import numpy as np

    numbers = np.arange(start, stop, step, dtype) if stop is not None else np.arange(0, start, step, dtype)
    return asarray(numbers if shape is None else numbers.reshape(shape), **kwargs)


def concat(arrays, /, axis=0, **kwargs):
    """Arrays one behind the other."""
    return _made(lambda given, **options: superchunk.concatenate(given, axis, **options), _all(arrays), kwargs)


concatenate = concat


def stack(arrays, axis=0, **kwargs):
    """Arrays along a new axis."""
    return _made(lambda given, **options: superchunk.stack(given, axis, **options), _all(arrays), kwargs)


def copy(array, dtype=None, **kwargs):
    """A copy, with other parameters where they are given."""
    return array.copy(dtype, **kwargs)


def squeeze(array, axis=None):
    """An array without axes of one index: a copy, not a view."""
    return NDArray(array._array.squeeze(axis))


def expand_dims(array, axis=0):
    """An array with more axes of one index: a copy, not a view."""
    return NDArray(array._array.expand_dims(axis))


def save(array, urlpath, contiguous=True, **kwargs):
    """Stores an array in a file, which is replaced."""
    asarray(array, copy=True, urlpath=urlpath, contiguous=contiguous, **{"mode": "w", **kwargs})


def save_array(arr, urlpath, chunksize=None, **kwargs):
    """Stores an array in a file; returns the bytes it takes."""
    save(arr, urlpath, **{name: value for name, value in kwargs.items() if name != "mode"})
    return os.path.getsize(urlpath)


def load_array(urlpath, dparams=None):
    """The array of a file as one of NumPy's."""
    return superchunk.load(urlpath)


load = open


def ndarray_from_cframe(cframe, copy=False):
    """The array that the bytes of a file hold."""
    return NDArray(superchunk.NDArray.from_bytes(cframe))


from_cframe = ndarray_from_cframe


def compress2(src, **kwargs) -> bytes:
    """Compresses a buffer."""
    params = {**known(kwargs.pop("cparams", None) or {}), **kwargs}
    given = memoryview(src) if not hasattr(src, "itemsize") else src
    options = options_of({"cparams": {"typesize": max(given.itemsize, 1), **params}})
    return superchunk.compress(src, **options)


def decompress2(src, dst=None, **kwargs):
    """Decompresses a chunk into `dst`, or returns its bytes."""
    if dst is None:
        return superchunk.decompress(src)
    return superchunk.decompress_into(src, dst)


def compress(src, typesize=None, clevel=9, filter=Filter.SHUFFLE, codec=Codec.BLOSCLZ, _ignored=None) -> bytes:
    """Compresses a buffer."""
    size = typesize or getattr(src, "itemsize", 1)
    return superchunk.compress(src, typesize=size, level=clevel, filters=filter, codec=codec)


def decompress(src, dst=None, as_bytearray=False):
    """Decompresses a chunk into `dst`, or returns its bytes."""
    if dst is not None:
        superchunk.decompress_into(src, dst)
        return None
    found = superchunk.decompress(src)
    return bytearray(found) if as_bytearray else found


class NDArray:
    """An array on disk or in memory. Each change is made by a writer of its own, which commits: between
    two changes others may write, too."""

    def __init__(self, array, mode="a", dparams=None):
        self._array, self.mode = array, mode
        self._dparams = dparams or DParams()

    def __getattr__(self, name):
        return getattr(self._array, name)

    def __getitem__(self, key):
        import numpy as np

        found = self._array[key]
        return found if isinstance(found, np.ndarray) else np.asarray(found, self._array.dtype)

    def __setitem__(self, key, value):
        value = value._array if isinstance(value, NDArray) else value
        self._change(lambda array: array.__setitem__(key, value))

    def __array__(self, dtype=None, copy=None):
        return self._array.__array__(dtype, copy=copy)

    def __len__(self):
        return len(self._array)

    def __iter__(self):
        return iter(self._array)

    def __repr__(self):
        return repr(self._array)

    def resize(self, newshape):
        """Makes the array longer or shorter."""
        self._change(lambda array: array.resize(newshape))

    def append(self, values, axis=0):
        """Appends values along an axis; returns the number of items."""
        self._change(lambda array: array.append(values, axis))
        return self._array.size

    def copy(self, dtype=None, **kwargs):
        """A copy, with other parameters where they are given."""
        options = options_of(kwargs)
        path, mode = options.pop("path", None), options.pop("mode", "w-")
        return _stored(self._array.copy(path, dtype=dtype, mode=mode, **options), self._dparams)

    def slice(self, key, **kwargs):
        """A new array of a part."""
        return _made(superchunk.array, self._array[key], {**self._like(), **kwargs})

    def squeeze(self, axis=None):
        """An array without axes of one index."""
        return squeeze(self, axis)

    def save(self, urlpath, contiguous=True, **kwargs):
        """Stores a copy."""
        self.copy(urlpath=urlpath, contiguous=contiguous, **{"mode": "w", **kwargs})

    def iterchunks_info(self):
        """What is known of each chunk."""
        from types import SimpleNamespace

        for info in self._array.iter_chunks_info():
            special = _SPECIAL[info["special"]]
            yield SimpleNamespace(**{**info, "nchunk": info["number"], "coords": info["coords"], "special": special})

    @property
    def T(self):
        """The axes in reverse order."""
        return NDArray(self._array.T)

    @property
    def cparams(self):
        """How it is compressed."""
        return cparams_of(self._array)

    @property
    def dparams(self):
        """How it is decompressed."""
        return self._dparams

    @property
    def vlmeta(self):
        """Values by name."""
        return Attributes(_Owner(self))

    attrs = vlmeta

    @property
    def schunk(self):
        """The super-chunk that holds the array: its facts and metadata."""
        return Frame(self)

    @property
    def oindex(self):
        """Orthogonal indexing."""
        return _Indexer(self)

    def _change(self, change):
        if self._array.path is None:
            change(self._array)
            return
        if self.mode == "r":
            raise ValueError(f"{self._array.path} is open for reading only: open it with mode='a'")
        with superchunk.open(self._array.path, "r+") as writer:
            change(writer)
        self._array.refresh()

    def _like(self) -> dict:
        return {"cparams": self.cparams}


class _Indexer:
    def __init__(self, array):
        self._array = array

    def __getitem__(self, key):
        return self._array._array.oindex[key]

    def __setitem__(self, key, value):
        self._array._change(lambda array: array.oindex.__setitem__(key, value))


class Frame:
    """The super-chunk of an array."""

    def __init__(self, array):
        self._owner = array
        self.vlmeta, self.meta = array.vlmeta, Meta(array)
        self.cparams, self.dparams = array.cparams, array.dparams

    def __getattr__(self, name):
        return getattr(self._owner._array, name)

    @property
    def typesize(self):
        """The bytes of an item."""
        return self._owner._array.itemsize

    @property
    def contiguous(self):
        """Whether it is one file or piece of memory."""
        path = self._owner._array.path
        return path is None or not os.path.isdir(path)

    @property
    def blocksize(self):
        """The bytes of a block."""
        from math import prod

        return prod(self._owner._array.blocks) * self.typesize


class Meta:
    """The fixed metalayers by name, as values."""

    def __init__(self, array):
        self._array = array

    def __getitem__(self, name):
        content = self._array._array.meta[name]
        return _core._unpack(content) if isinstance(content, bytes) else content

    def __setitem__(self, name, value):
        if name not in self:
            raise KeyError(name)
        self._array._change(lambda array: array._set_layer(name, _core._pack(value)))

    def __contains__(self, name):
        return name in self._array._array.meta

    def __iter__(self):
        return iter(self._array._array.meta)

    def __len__(self):
        return len(self._array._array.meta)

    def get(self, name, default=None):
        """The value of a name, or `default`."""
        return self[name] if name in self else default


class _Owner:
    """Commits after every change of a value."""

    def __init__(self, array):
        self._array = array

    def _value_names(self):
        return self._array._array._value_names()

    def _value(self, name):
        return self._array._array._value(name)

    def _set_value(self, name, value):
        self._array._change(lambda array: array._set_value(name, value))

    def _remove_value(self, name):
        self._array._change(lambda array: array._remove_value(name))


def _made(make, what, kwargs, dtype=None) -> NDArray:
    options = options_of(kwargs)
    if dtype is not None:
        options["dtype"] = dtype
    dparams = options.pop("dparams", None)
    return _stored(make(what, **options), dparams_of(dparams))


def _stored(made, dparams) -> NDArray:
    """The array, without a writer that keeps others out."""
    if made.path is None:
        return NDArray(made, dparams=dparams)
    made.close()
    return NDArray(superchunk.open(made.path), dparams=dparams)


def _all(arrays) -> list:
    return [array._array if isinstance(array, NDArray) else array for array in arrays]
