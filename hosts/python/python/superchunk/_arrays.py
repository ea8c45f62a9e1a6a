"""What `NDArray` has Python do: iteration, fields, texts, pickling."""

import os

from . import _core, _create


def rows(array):
    """The items along the first axis, read a chunk at a time."""
    if array.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    length, step = array.shape[0], max(array.chunks[0], 1)
    return (row for start in range(0, length, step) for row in array[start : start + step])


def iter_chunks(array):
    """Coordinates in the grid of chunks, slices and items of each chunk."""
    if array.size:
        for box in _create.boxes(array):
            place = tuple(part.start // side for part, side in zip(box, array.chunks, strict=True))
            yield place, box, array[box]


def iter_chunks_info(array):
    """What is known of each chunk without decoding it."""
    boxes = _create.boxes(array) if array.size else ()
    for number, box in enumerate(boxes):
        place = tuple(part.start // side for part, side in zip(box, array.chunks, strict=True))
        info = array._chunk_info(number)
        ratio = info["nbytes"] / max(info["cbytes"], 1)
        yield {"number": number, "coords": place, "slices": box, "cratio": ratio, **info}


class Fields:
    """The fields of a structured array by name."""

    def __init__(self, array):
        if array.dtype.names is None:
            raise ValueError(f"items of {array.dtype} have no fields")
        self._array = array

    def __getitem__(self, name):
        if name not in self._array.dtype.names:
            raise KeyError(name)
        return Field(self._array, name)

    def __iter__(self):
        return iter(self._array.dtype.names)

    def __len__(self):
        return len(self._array.dtype.names)

    def __contains__(self, name):
        return name in self._array.dtype.names

    def keys(self):
        """The names."""
        return self._array.dtype.names

    def __repr__(self):
        return f"<fields {', '.join(map(repr, self))} of {self._array!r}>"


class Field:
    """One field of a structured array. What is read of it is read of the whole items."""

    def __init__(self, array, name):
        self._array, self.name = array, name
        self.dtype = array.dtype[name].base
        self.shape = array.shape + array.dtype[name].shape
        self.ndim = len(self.shape)

    def __getitem__(self, key):
        return self._array[key][self.name]

    def __setitem__(self, key, value):
        items = self._array[key]
        if items.ndim == 0:
            items = items.copy()
        items[self.name] = value
        self._array[key] = items

    def __array__(self, dtype=None, *, copy=None):
        import numpy as np

        if copy is False:
            raise ValueError("an array that is stored compressed cannot be used without a copy")
        return np.asarray(self[...], dtype)

    def __len__(self):
        return len(self._array)

    def __repr__(self):
        return f"<field {self.name!r} {self.dtype} of {self._array!r}>"


def copy(array, path, dtype, mode, **options):
    """A copy with other options where they are given."""
    if dtype is None or array.dtype == dtype:
        if options.get("filters") == "auto":
            options = _create._chosen(array, options)
        return _create._made(path, mode, lambda path: array._copy(path, **options))
    kept = {name: array.cparams[name] for name in ("codec", "level", "filters", "split", "dictionary")}
    options = _create._like(array, {**kept, **options})
    return _create.array(array, dtype, path=path, mode=mode, **options)


def derived(array, key, options):
    """A new array in memory of what a key selects, compressed as `array` is."""
    kept = {name: array.cparams[name] for name in ("codec", "level", "filters", "split", "dictionary")}
    return _create.array(array[key], array.dtype, **{**kept, **options})


def squeeze(array, axis):
    """The key that lets go of axes of one index."""
    axes = [axis] if isinstance(axis, int) else axis
    if axes is None:
        axes = [number for number, side in enumerate(array.shape) if side == 1]
    axes = [_create._axis(axis, array.ndim) for axis in axes]
    if any(array.shape[axis] != 1 for axis in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    key = (0 if number in axes else slice(None) for number in range(array.ndim))
    return (*key, ...)


def expand_dims(array, axis):
    """The key that adds axes of one index."""
    axes = [axis] if isinstance(axis, int) else list(axis)
    rank = array.ndim + len(axes)
    axes = [_create._axis(axis, rank) for axis in axes]
    if len(set(axes)) < len(axes):
        raise ValueError("repeated axis")
    return tuple(None if number in axes else slice(None) for number in range(rank))


def to_npy(array, path) -> None:
    """Writes a `.npy` file, a chunk at a time. The file has its name when it is complete."""
    import numpy as np

    path = os.fspath(path)
    beside = f"{path}.{os.getpid()}.new"
    try:
        if array.size == 0 or array.ndim == 0:
            with open(beside, "xb") as file:
                np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
        else:
            out = np.lib.format.open_memmap(beside, "w+", array.dtype, array.shape)
            for box in _create.boxes(array):
                array.get(box, out=out[box])
            out.flush()
            del out
        os.replace(beside, path)
    except BaseException:
        if os.path.exists(beside):
            os.remove(beside)
        raise


def verify(array, level, **options):
    """Checks the file, or the bytes that would be one."""
    if array.path is not None:
        return _core.verify(array.path, level, **options)
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".b2nd") as file:
        file.write(array.to_bytes())
        file.flush()
        return _core.verify(file.name, level, **options)


def reduce(array, protocol):
    """What `pickle` stores of an array in memory: its bytes, outside of the pickle from protocol 5 on."""
    data = array.to_bytes()
    if protocol >= 5:
        import pickle

        data = pickle.PickleBuffer(data)
    return _core._from_bytes, (data,)


def token_of(array):
    """What is the same for the same array: for a file its place, size and time, in memory the bytes."""
    if array.path is None:
        import hashlib

        return ("superchunk.NDArray", hashlib.sha256(array.to_bytes()).hexdigest())
    path = os.path.abspath(array.path)
    state = os.stat(path)
    return ("superchunk.NDArray", path, state.st_size, state.st_mtime_ns, state.st_ino)


def text_of(array) -> str:
    """The `repr`."""
    if array.closed:
        return f"<superchunk.NDArray closed{_place(array)}>"
    return (
        f"<superchunk.NDArray {array.shape} {array.dtype}, chunks {array.chunks}, blocks {array.blocks}, "
        f"{_compression(array)}, {_size(array.nbytes)} → {_size(array.cbytes)} ({array.cratio:.1f}×)"
        f"{_place(array)}>"
    )


def _place(array) -> str:
    return "" if array.path is None else f", {array.path!r} {array.mode}"


def _compression(array) -> str:
    params = array.cparams
    return "+".join([params["codec"], *params["filters"]])


def _size(count: int) -> str:
    if count < 1024:
        return f"{count} B"
    power = min((count.bit_length() - 1) // 10, 4)
    return f"{count / 1024**power:.1f} {('KiB', 'MiB', 'GiB', 'TiB')[power - 1]}"


_FACTS = ("nchunks", "nbytes", "cbytes", "cratio", "path", "mode", "cparams")


def info_of(array):
    """What there is to know of an array."""
    return Info(array, "shape", "dtype", "chunks", "blocks", *_FACTS)


class Info:
    """What there is to know of something; printed as a table."""

    def __init__(self, of, *names):
        self._facts = {"type": type(of).__name__, **{name: getattr(of, name) for name in names}}

    def to_dict(self) -> dict:
        """The facts as values."""
        return dict(self._facts)

    def __repr__(self):
        facts = {
            **self._facts,
            "nbytes": f"{self._facts['nbytes']} ({_size(self._facts['nbytes'])})",
            "cbytes": f"{self._facts['cbytes']} ({_size(self._facts['cbytes'])})",
            "cratio": f"{self._facts['cratio']:.2f}",
            "cparams": ", ".join(f"{name}={value!r}" for name, value in self._facts["cparams"].items()),
        }
        width = max(map(len, facts))
        return "\n".join(f"{name:<{width}} : {value}" for name, value in facts.items())


def html_of(array) -> str:
    """The representation in notebooks: a table, and the grid of chunks for up to three dimensions."""
    from html import escape

    if array.closed:
        return f"<p>{escape(text_of(array))}</p>"
    facts = [
        ("shape", array.shape),
        ("dtype", array.dtype),
        ("chunks", array.chunks),
        ("blocks", array.blocks),
        ("compression", _compression(array)),
        ("size", f"{_size(array.nbytes)} → {_size(array.cbytes)} ({array.cratio:.1f}×)"),
    ]
    if array.path is not None:
        facts.append(("path", f"{array.path} ({array.mode})"))
    lines = "".join(f"<tr><th>{name}</th><td>{escape(str(value))}</td></tr>" for name, value in facts)
    drawing = _drawing(array.shape, array.chunks)
    return f"<table><tr><td><table>{lines}</table></td><td>{drawing}</td></tr></table>"


_LINES = 40
"""The most lines that are drawn along an axis; a finer grid is drawn coarser."""


def _drawing(shape, chunks) -> str:
    """The grid of chunks: a bar, a rectangle, or a box seen from the front, right and top."""
    if not 1 <= len(shape) <= 3 or 0 in shape:
        return ""
    longest = max(shape)
    lengths = [max(120 * side / longest, 12) for side in shape]
    cuts = [_cuts(*axis) for axis in zip(shape, chunks, lengths, strict=True)]
    if len(shape) == 1:
        lengths, cuts = [24, *lengths], [[0, 24], *cuts]
    (height, width), (down, right) = lengths[-2:], cuts[-2:]
    # A step along the first of three axes leads up and to the right.
    depth, into = (lengths[0] / 2, [cut / 2 for cut in cuts[0]]) if len(shape) == 3 else (0, [0])
    top = depth + 1
    front = [(1, top + y, 1 + width, top + y) for y in down]
    front += [(1 + x, top, 1 + x, top + height) for x in right]
    sides = []
    if depth:
        sides = [(1 + d, top - d, 1 + width + d, top - d) for d in into]
        sides += [(1 + x, top, 1 + x + depth, top - depth) for x in right]
        sides += [(1 + width + d, top - d, 1 + width + d, top - d + height) for d in into]
        sides += [(1 + width, top + y, 1 + width + depth, top + y - depth) for y in down]
    lines = "".join(
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>' for x1, y1, x2, y2 in front + sides
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + depth + 2:.0f}" '
        f'height="{height + depth + 2:.0f}" stroke="currentColor" fill="none">{lines}</svg>'
    )


def _cuts(side, chunk, length):
    """Where the lines of an axis are drawn."""
    count = -(-side // chunk)
    step = -(-count // _LINES) * chunk
    return [*(start * length / side for start in range(0, side, step)), length]
