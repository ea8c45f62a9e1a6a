"""New arrays: of one value, from anything that NumPy makes an array of, put together from others.

All take the keywords of compression (`codec`, `level`, `filters`, …), `chunks` and `blocks` (shapes;
chosen when missing), `path` (a file; memory when missing), `mode` (`"w-"`: there must be nothing yet,
`"w"`: what is there is replaced) and `sparse` (a folder with a file for each chunk). What has a path is
committed when the function returns.
"""

import os

from . import _core
from ._core import NDArray

_SLAB = 64 << 20
"""Bytes that are written in one go: between them Ctrl-C is noticed."""


def empty(shape, dtype=float, *, path=None, mode="w-", **options) -> NDArray:
    """Returns an array whose items nobody has set; they read as zeros."""
    return _made(path, mode, lambda path: _core._create(shape, dtype, None, "uninit", path, **_plain(options)))


def zeros(shape, dtype=float, *, path=None, mode="w-", **options) -> NDArray:
    """Returns an array of zeros."""
    return _made(path, mode, lambda path: _core._create(shape, dtype, None, None, path, **_plain(options)))


def ones(shape, dtype=float, *, path=None, mode="w-", **options) -> NDArray:
    """Returns an array of ones."""
    return full(shape, 1, dtype, path=path, mode=mode, **options)


def full(shape, fill_value, dtype=None, *, path=None, mode="w-", **options) -> NDArray:
    """Returns an array of one value, whose type is that of the value unless `dtype` says another."""
    import numpy as np

    value = np.asarray(fill_value, dtype)
    if value.ndim != 0:
        raise ValueError(f"fill_value: expected one value, got an array of shape {value.shape}")
    return _made(
        path, mode, lambda path: _core._create(shape, value.dtype, value, None, path, **_plain(options))
    )


def full_like(array, fill_value, dtype=None, **options) -> NDArray:
    """Returns an array of one value, with the shape, type, chunks and blocks of another."""
    return full(array.shape, fill_value, dtype or array.dtype, **_like(array, options))


def zeros_like(array, dtype=None, **options) -> NDArray:
    """Returns an array of zeros, with the shape, type, chunks and blocks of another."""
    return zeros(array.shape, dtype or array.dtype, **_like(array, options))


def array(object, dtype=None, *, path=None, mode="w-", **options) -> NDArray:
    """Returns a new array with the items of anything that NumPy makes an array of."""
    source = _source(object, dtype)

    def make(path):
        return _core._create(source.shape, source.dtype, None, None, path, **_chosen(source, options))

    return _made(path, mode, make, lambda made: _fill(made, source))


def asarray(object, dtype=None, *, path=None, mode="w-", copy=None, **options) -> NDArray:
    """Returns `object` itself if it is an `NDArray` that has what is asked for, else a new one."""
    same = isinstance(object, NDArray) and path is None and not options
    if same and copy is not True and (dtype is None or object.dtype == dtype):
        return object
    if copy is False:
        raise ValueError("what is stored compressed is always a copy: use copy=None")
    return array(object, dtype, path=path, mode=mode, **options)


def concatenate(arrays, axis=0, *, path=None, mode="w-", **options) -> NDArray:
    """Returns the arrays one behind the other along an axis."""
    import numpy as np

    sources, dtype = _together(arrays)
    rank = sources[0].ndim
    axis = _axis(axis, rank)
    others = {_without(source.shape, axis) for source in sources}
    if len(others) > 1 or any(source.ndim != rank for source in sources):
        shapes = ", ".join(str(source.shape) for source in sources)
        raise ValueError(f"all but axis {axis} must be of the same length, got the shapes {shapes}")
    ends = np.cumsum([source.shape[axis] for source in sources]).tolist()
    shape = list(sources[0].shape)
    shape[axis] = ends[-1]

    def part(box):
        low, high = box[axis].start, box[axis].stop
        pieces = []
        for source, end in zip(sources, ends, strict=True):
            begin = end - source.shape[axis]
            if max(low, begin) < min(high, end):
                own = slice(max(low, begin) - begin, min(high, end) - begin)
                pieces.append(source[(*box[:axis], own, *box[axis + 1 :])])
        return np.concatenate(pieces, axis)

    return _built(shape, dtype, part, sources[0], path, mode, options)


concat = concatenate


def stack(arrays, axis=0, *, path=None, mode="w-", **options) -> NDArray:
    """Returns the arrays, which have one shape, along a new axis."""
    import numpy as np

    sources, dtype = _together(arrays)
    if len({source.shape for source in sources}) > 1:
        raise ValueError("all arrays must have the same shape")
    axis = _axis(axis, sources[0].ndim + 1)
    shape = list(sources[0].shape)
    shape.insert(axis, len(sources))

    def part(box):
        inner = box[:axis] + box[axis + 1 :]
        return np.stack([source[inner] for source in sources[box[axis]]], axis)

    return _built(shape, dtype, part, None, path, mode, options)


def save(path, array, *, mode="w", **options) -> None:
    """Stores an array in a file, which is replaced if it exists."""
    globals()["array"](array, path=path, mode=mode, **options).close()


def load(path, **options):
    """Returns the array of a file as a NumPy array."""
    with _core.open(path, **options) as stored:
        if not isinstance(stored, NDArray):
            raise TypeError(f"{path}: not an array but a {type(stored).__name__}: use superchunk.open")
        return stored[...]


def from_npy(file, *, path=None, mode="w-", **options) -> NDArray:
    """Returns the array of a `.npy` file; nothing larger than a few chunks is held in memory."""
    import numpy as np

    return array(np.load(file, mmap_mode="r", allow_pickle=False), path=path, mode=mode, **options)


def boxes(array):
    """The box of each chunk, as slices."""
    from itertools import product

    axes = [
        [slice(start, min(start + side, length)) for start in range(0, length, side)]
        for length, side in zip(array.shape, array.chunks, strict=True)
    ]
    return product(*axes)


def _made(path, mode, make, fill=None) -> NDArray:
    """Makes an array and fills it; commits it if it has a path. There is nothing there before that."""
    if mode not in ("w-", "x", "w"):
        raise ValueError(f"mode: expected 'w-' or 'w', got {mode!r}")
    path = None if path is None else os.fspath(path)
    is_replaced = path is not None and mode == "w" and os.path.lexists(path)
    target = os.path.realpath(path) if is_replaced else path
    place = f"{target}.{os.getpid()}.new" if is_replaced else path
    made = make(place)
    try:
        if fill is not None:
            fill(made)
        if path is not None:
            made.commit()
    except BaseException:
        made._discard()
        # Folders are there from the start.
        if place is not None and os.path.isdir(place):
            import shutil

            shutil.rmtree(place)
        raise
    if not is_replaced:
        return made
    made.close()
    _replace(target, made.path)
    return _core.open(path, "r+")


def _replace(target, new) -> None:
    """Gives a file or folder the name of another, which goes."""
    if not os.path.isdir(target) and not os.path.isdir(new):
        os.replace(new, target)
        return
    import shutil

    old = new.removesuffix(".new") + ".old"
    os.rename(target, old)
    os.rename(new, target)
    shutil.rmtree(old) if os.path.isdir(old) else os.remove(old)


def _source(object, dtype):
    """Something that has a shape, a NumPy dtype, and gives NumPy arrays between its brackets."""
    import numpy as np

    sliced = all(hasattr(object, name) for name in ("shape", "dtype", "__getitem__"))
    if sliced and not isinstance(object, np.generic) and isinstance(object.dtype, np.dtype):
        if dtype is None or object.dtype == dtype:
            return object
        return _Cast(object, np.dtype(dtype)) if isinstance(object, NDArray) else np.asarray(object, dtype)
    if not hasattr(object, "__array__") and hasattr(object, "__dlpack__"):
        object = np.from_dlpack(object)
    return np.asarray(object, dtype)


class _Cast:
    """An array with items of another type."""

    def __init__(self, array, dtype):
        self.array, self.dtype = array, dtype
        self.shape, self.ndim = array.shape, array.ndim

    def __getitem__(self, key):
        return self.array[key].astype(self.dtype)


def _fill(made, source) -> None:
    """Writes all items: of NumPy's arrays many chunks in one go, of others a chunk at a time."""
    import numpy as np

    if made.size == 0:
        return
    if not isinstance(source, np.ndarray) or made.ndim == 0:
        for box in boxes(made):
            made[box] = np.asarray(source[box])
        return
    row = max(source.nbytes // source.shape[0], 1)
    step = max(_SLAB // row // made.chunks[0], 1) * made.chunks[0]
    for start in range(0, source.shape[0], step):
        made[start : start + step] = source[start : start + step]


def _built(shape, dtype, part, like, path, mode, options) -> NDArray:
    """Makes an array of what `part` returns for the box of each chunk."""
    if isinstance(like, NDArray):
        options = _like(like, options)

    def fill(made):
        for box in boxes(made) if made.size else ():
            made[box] = part(box)

    def make(path):
        return _core._create(tuple(shape), dtype, None, None, path, **_plain(options))

    return _made(path, mode, make, fill)


def _together(arrays):
    import numpy as np

    sources = [_source(array, None) for array in arrays]
    if not sources:
        raise ValueError("need at least one array")
    return sources, np.result_type(*(source.dtype for source in sources))


def _axis(axis, rank) -> int:
    if not -rank <= axis < rank:
        raise IndexError(f"axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank


def _without(shape, axis):
    return (*shape[:axis], *shape[axis + 1 :])


def _like(array, options) -> dict:
    """The options, with the chunks and blocks of another array unless they say others."""
    if isinstance(array, NDArray) and not {"chunks", "blocks"} & options.keys():
        return {"chunks": array.chunks, "blocks": array.blocks, **options}
    return options


def _plain(options) -> dict:
    """The options without a choice that takes data to make."""
    return {**options, "filters": "shuffle"} if options.get("filters") == "auto" else options


def _chosen(source, options) -> dict:
    """The options with the filter that does best with one chunk of the data, if that is asked for."""
    import numpy as np

    if options.get("filters") != "auto":
        return options
    tried = []
    grid = _core._create(source.shape, source.dtype, None, None, None, **_plain(options))
    middle = tuple(
        slice(max(min(length // 2 // side * side, length - side), 0), None)
        for length, side in zip(source.shape, grid.chunks, strict=True)
    )
    box = tuple(slice(part.start, part.start + side) for part, side in zip(middle, grid.chunks, strict=True))
    sample = np.asarray(source[box])
    for filters in ("shuffle", "none", "bitshuffle"):
        own = {**options, "filters": filters, "chunks": None, "blocks": grid.blocks}
        blocks = tuple(min(b, max(s, 1)) for b, s in zip(grid.blocks, sample.shape, strict=True))
        own["blocks"] = blocks
        made = _core._create(sample.shape, source.dtype, None, None, None, **own)
        made[...] = sample
        tried.append((made.cbytes, len(tried), filters))
    return {**options, "filters": min(tried)[2]}
