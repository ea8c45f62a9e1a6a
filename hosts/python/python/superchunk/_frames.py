"""What `SChunk` and `Objects` have Python do, and the functions that make them."""

import os

from . import _core
from ._arrays import _FACTS, Info, _compression, _place, _size
from ._core import Objects, SChunk
from ._create import _made

_BATCH = 1024
"""Objects that are read together when all are."""


def create_schunk(path, data, mode, **options) -> SChunk:
    """A new super-chunk, of `data` if there are any."""

    def fill(made):
        if data is not None:
            made.append(data)

    if data is not None and options.get("typesize") is None:
        options["typesize"] = memoryview(data).itemsize
    return _made(path, mode, lambda path: _core._create_schunk(path, **options), fill)


def create_objects(path=None, kind="text", objects=(), *, mode="w-", **options) -> Objects:
    """Returns a new list of objects, which holds `objects`, in memory or at `path`.

    `kind` is `"text"`, `"bytes"`, or `"values"` for None, numbers, texts, bytes, lists and dicts of
    these. `blocksize` is about how many bytes are decoded to read one object. `mode="w"` replaces what
    is there.
    """
    return _made(
        path, mode, lambda path: _core._create_objects(path, kind, **options), lambda made: made.extend(objects)
    )


def copy(frame, path, mode, **options):
    """A copy with other options where they are given."""
    return _made(path, mode, lambda path: frame._copy(path, **options))


def reduce(frame, protocol):
    """What `pickle` stores of something in memory: its bytes, outside of the pickle from protocol 5 on."""
    data = frame.to_bytes()
    if protocol >= 5:
        import pickle

        data = pickle.PickleBuffer(data)
    return type(frame).from_bytes, (data,)


def items(schunk):
    """The bytes of each item, read a chunk at a time."""
    size = schunk.typesize
    for chunk in iter_chunks(schunk, None):
        yield from (chunk[start : start + size] for start in range(0, len(chunk), size))


def iter_chunks(schunk, dtype):
    """Each chunk as bytes, or as a NumPy array."""
    if dtype is None:
        return map(schunk.decompress_chunk, range(schunk.nchunks))
    import numpy as np

    return (np.frombuffer(schunk.decompress_chunk(number), dtype) for number in range(schunk.nchunks))


def iter_chunks_info(schunk):
    """What is known of each chunk without decoding it."""
    for number in range(schunk.nchunks):
        info = schunk._chunk_info(number)
        yield {"number": number, "cratio": info["nbytes"] / max(info["cbytes"], 1), **info}


def objects(stored):
    """The objects, read some at a time."""
    for start in range(0, len(stored), _BATCH):
        yield from stored[start : start + _BATCH]


def text_of(frame) -> str:
    """The `repr`."""
    name = type(frame).__name__
    if frame.closed:
        return f"<superchunk.{name} closed{_place(frame)}>"
    what = f"{frame.typesize} bytes each" if isinstance(frame, SChunk) else frame.kind
    unit = "items" if isinstance(frame, SChunk) else "objects"
    return (
        f"<superchunk.{name} {len(frame)} {unit}, {what}, {frame.nchunks} chunks, {_compression(frame)}, "
        f"{_size(frame.nbytes)} → {_size(frame.cbytes)} ({frame.cratio:.1f}×){_place(frame)}>"
    )


def info_of(schunk):
    """What there is to know of a super-chunk."""
    return Info(schunk, "size", "typesize", "chunksize", "blocksize", *_FACTS)
