"""Bloscpack files."""

import json

from . import _core
from ._create import _made
from ._handles import Handle


class Pack(Handle):
    """A Bloscpack file: bytes, an array of NumPy, or objects of any length. Made by `open` and
    `create_pack`.

    `pack[i]` is an object, a row, or a byte; `pack[i:j]` a list of objects, an array of rows, or bytes.
    """

    @property
    def header(self) -> dict:
        """What the header says: version, checksum, sizes, counts."""
        return self._held.header

    @property
    def checksum(self) -> str:
        """The name of the digest that follows each chunk, or `'none'`."""
        return self.header["checksum"]

    @property
    def metadata(self):
        """What the file says about its data, as JSON has it; `None` if it says nothing."""
        text = self._held.metadata
        return None if text is None else json.loads(text)

    @metadata.setter
    def metadata(self, value):
        self._held.set_metadata(None if value is None else json.dumps(value))

    @property
    def kind(self) -> str:
        """`'objects'`, `'array'` or `'bytes'`."""
        if self._held.has_objects:
            return "objects"
        return "bytes" if self._held.array is None else "array"

    @property
    def nbytes(self) -> int:
        """The bytes of all data before compression."""
        return self._held.nbytes

    @property
    def cbytes(self) -> int:
        """The bytes that the file takes."""
        return self._held.cbytes

    @property
    def dtype(self):
        """The type of the items of an array; `None` of other data."""
        found = self._held.array
        return None if found is None else found[0]

    @property
    def shape(self):
        """The shape of an array; `None` of other data."""
        found = self._held.array
        return None if found is None else found[1]

    @property
    def array(self):
        """All items as a NumPy array."""
        found = self._held.array
        if found is None:
            raise TypeError(f"{self.path}: not an array but {self.kind}")
        import numpy as np

        dtype, shape, order = found
        items = np.empty(shape, dtype, order)
        # The memory of an array in Fortran order is that of its transpose in C order.
        self._held.read_into(0, items.T if order == "F" else items)
        return items

    @property
    def objects(self) -> list:
        """All objects."""
        if not self._held.has_objects:
            raise TypeError(f"{self.path}: not objects but {self.kind}: use tobytes() or array")
        return [self._object(number) for number in range(self._held.count)]

    def tobytes(self) -> bytes:
        """All bytes; of objects one behind the other."""
        return self._held.read(0, self._held.nbytes)

    def __array__(self, dtype=None, *, copy=None):
        import numpy as np

        if copy is False:
            raise ValueError("what is stored compressed cannot be used without a copy")
        return np.asarray(self.array, dtype)

    def __len__(self):
        if self._held.has_objects:
            return self._held.count
        shape = self.shape
        return self._held.nbytes if shape is None else shape[0]

    def __getitem__(self, key):
        if self._held.has_objects:
            if isinstance(key, slice):
                return [self._object(number) for number in range(*key.indices(len(self)))]
            return self._object(key)
        if self._held.array is not None:
            return self._rows(key)
        if not isinstance(key, slice):
            return self._held.read(*_one(key, len(self)))[0]
        start, stop, step = key.indices(len(self))
        return self._held.read(start, max(start, stop)) if step == 1 else self.tobytes()[key]

    def __setitem__(self, index, value):
        if not self._held.has_objects:
            raise TypeError("a Bloscpack file is appended to; only objects are replaced")
        self._held.replace(index, self._packed(value))

    def __iter__(self):
        return (self[number] for number in range(len(self)))

    def append(self, data) -> None:
        """Appends an object; rows to an array; or bytes."""
        found = self._held.array
        if self._held.has_objects:
            data = self._packed(data)
        elif found is not None:
            import numpy as np

            data = np.asarray(data, found[0])
            if data.ndim == len(found[1]) - 1:
                data = data[None]
            if data.shape[1:] != tuple(found[1][1:]):
                raise ValueError(f"rows of shape {found[1][1:]} are expected, got {data.shape[1:]}")
            data = np.ascontiguousarray(data)
        self._held.append(data)

    def _object(self, number):
        data = self._held.object(number)
        dtype = self._object_dtype
        if dtype == "varchar":
            return data.decode()
        if dtype.startswith("var-"):
            import numpy as np

            return np.frombuffer(data, dtype.removeprefix("var-"))
        return data

    def _packed(self, value):
        dtype = self._object_dtype
        if dtype == "varchar":
            if not isinstance(value, str):
                raise TypeError(f"this file holds texts: expected str, got {type(value).__name__}")
            return value.encode()
        if dtype.startswith("var-"):
            import numpy as np

            return np.ascontiguousarray(value, dtype.removeprefix("var-"))
        return value

    @property
    def _object_dtype(self) -> str:
        metadata = self.metadata
        return str(metadata.get("dtype", "varbinary")) if isinstance(metadata, dict) else "varbinary"

    def _rows(self, key):
        dtype, shape, order = self._held.array
        first = key[0] if isinstance(key, tuple) and key else key
        if order == "F" or len(shape) == 0 or not (isinstance(first, slice) or hasattr(first, "__index__")):
            return self.array[key]
        import numpy as np

        is_slice = isinstance(first, slice)
        start, stop, step = first.indices(shape[0]) if is_slice else (*_one(first, shape[0]), 1)
        if step != 1:
            return self.array[key]
        rows = np.empty((max(stop - start, 0), *shape[1:]), dtype)
        self._held.read_into(start * dtype.itemsize * _product(shape[1:]), rows)
        rest = key[1:] if isinstance(key, tuple) else ()
        return rows[(slice(None) if is_slice else 0, *rest)]

    def __repr__(self):
        if self.closed:
            return f"<superchunk.Pack closed, {self.path!r}>"
        what = {"objects": f"{self._held.count} objects", "bytes": "bytes"}.get(self.kind)
        what = what or f"{self.shape} {self.dtype}"
        return f"<superchunk.Pack {what}, checksum {self.checksum}, {self.path!r} {self.mode}>"


def create_pack(path, data=None, *, objects=None, metadata=None, mode="w-", **options) -> Pack:
    """Returns a new Bloscpack file at `path` with `data`: bytes, or an array of NumPy.

    With `objects`, `data` is an iterable of objects of this type: `"varchar"` (texts), `"varbinary"`
    (bytes), or `"var-<dtype>"` (lists of numbers). `checksum` names the digest that follows each chunk;
    `mode="w"` replaces what is there.
    """
    array = None
    if objects is None and hasattr(data, "dtype"):
        import numpy as np

        data = np.asarray(data)
        if data.ndim == 0:
            raise ValueError("a single value has no rows to be packed")
        array = (data.dtype, [0, *data.shape[1:]])
    if metadata is not None:
        options["metadata"] = json.dumps(metadata)

    def make(path):
        return Pack(_core._create_pack(path, objects, array, **options))

    def fill(made):
        for item in (data if objects is not None else [data]) if data is not None else ():
            made.append(item)

    return _made(path, mode, make, fill)


def _one(index, length):
    """The range of an index that may count from the end."""
    place = index + length if index < 0 else index
    if not 0 <= place < length:
        raise IndexError(f"index {index} is out of range: there are {length}")
    return place, place + 1


def _product(sides) -> int:
    from math import prod

    return prod(sides)
