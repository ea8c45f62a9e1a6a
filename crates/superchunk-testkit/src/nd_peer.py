"""python-blosc2's N-d arrays behind a pipe: requests on stdin, replies on stdout (see nd_peer.rs).

Requests and replies are those of frame_peer.py. No array stays open: each request opens the one at its
path, so that it always sees what the other side has written.

A key is a list with [start, stop, step] for each axis, each of which may be null, or a single index.
"""

import ctypes
import functools
import os

import blosc2
import numpy as np
from serve import by_name, serve

ONE_THREAD = {"nthreads": 1}


class Library:
    """The C library of the package, for what the package itself does not offer."""

    def __init__(self):
        folder = os.path.join(os.path.dirname(blosc2.__file__), "lib")
        self.c = ctypes.CDLL(os.path.join(folder, "libblosc2.so"))
        self.c.blosc2_init()

    def change(self, path, name, *arguments):
        """Opens an array, calls a function on it, and closes it."""
        array = ctypes.c_void_p()
        checked(self.c.b2nd_open(path.encode(), ctypes.byref(array)))
        try:
            checked(getattr(self.c, name)(array, *arguments))
        finally:
            self.c.b2nd_free(array)


def dtype_of(text):
    return np.dtype(eval(text) if text[0] in "[{" else text)  # the test's own text


def key_of(key):
    return tuple(part if isinstance(part, int) else slice(*part) for part in key)


def opened(r):
    return blosc2.open(r["path"], mode="a", dparams=dict(ONE_THREAD))


@functools.cache
def library():
    return Library()


def rows(data):
    return ctypes.c_char_p(data), ctypes.c_int64(len(data))


def checked(code):
    if code < 0:
        raise RuntimeError(f"the C library says {code}")


# Each takes the request and its payload, and returns a list of payloads or a value.


def create(r, payload):
    dtype = dtype_of(r["dtype"])
    data = np.frombuffer(payload[0], dtype=dtype).reshape(r["shape"])
    more = {name: tuple(r[name]) for name in ("chunks", "blocks") if r[name] is not None}
    blosc2.asarray(np.ascontiguousarray(data).reshape(r["shape"]), urlpath=r["path"], mode="w",
                   contiguous=r["contiguous"], cparams=dict(ONE_THREAD), **more)


def fill(r, payload):
    dtype = dtype_of(r["dtype"])
    shape = tuple(r["shape"])
    more = {"urlpath": r["path"], "mode": "w", "contiguous": r["contiguous"], "chunks": tuple(r["chunks"]),
            "blocks": tuple(r["blocks"]), "cparams": dict(ONE_THREAD)}
    if r["kind"] == "full":
        blosc2.full(shape, np.frombuffer(payload[0], dtype=dtype)[0], dtype=dtype, **more)
    else:
        getattr(blosc2, r["kind"])(shape, dtype=dtype, **more)


def read(r, payload):
    array = opened(r)
    return [str(array.dtype if array.dtype.fields else array.dtype.str).encode(),
            ",".join(map(str, array.shape)).encode(), array[()].tobytes()]


def get(r, payload):
    return [np.ascontiguousarray(opened(r)[key_of(r["key"])]).tobytes()]


def put(r, payload):
    array, key = opened(r), key_of(r["key"])
    data = np.frombuffer(payload[0], dtype=array.dtype).reshape(r["shape"])
    array[key] = data if r["shape"] else data[()]


def resize(r, payload):
    opened(r).resize(tuple(r["shape"]))


def insert(r, payload):
    library().change(r["path"], "b2nd_insert", *rows(payload[0]), ctypes.c_int8(r["axis"]),
                     ctypes.c_int64(r["start"]))


def append(r, payload):
    library().change(r["path"], "b2nd_append", *rows(payload[0]), ctypes.c_int8(r["axis"]))


def delete(r, payload):
    library().change(r["path"], "b2nd_delete", ctypes.c_int8(r["axis"]), ctypes.c_int64(r["start"]),
                     ctypes.c_int64(r["count"]))


# NumPy alone, as the judge.


def numpy_get(r, payload):
    data = np.frombuffer(payload[0], dtype=dtype_of(r["dtype"])).reshape(r["shape"])
    return [np.ascontiguousarray(data[key_of(r["key"])]).tobytes()]


def spelling(r, payload):
    dtype = dtype_of(r["dtype"])
    return str(dtype) if dtype.fields else dtype.str


def npy_save(r, payload):
    data = np.frombuffer(payload[0], dtype=dtype_of(r["dtype"])).reshape(r["shape"])
    np.save(r["path"], np.asfortranarray(data) if r["fortran"] else data)


def npy_load(r, payload):
    data = np.load(r["path"])
    return [str(data.dtype if data.dtype.fields else data.dtype.str).encode(),
            ",".join(map(str, data.shape)).encode(), data.tobytes()]


def items_as_text(r, payload):
    dtype = dtype_of(r["dtype"])
    return [str(item).encode() for item in np.frombuffer(payload[0], dtype=dtype)]


OPS = [create, fill, read, get, put, resize, insert, append, delete, numpy_get, spelling, npy_save, npy_load,
       items_as_text]

if __name__ == "__main__":
    serve(by_name(OPS))
