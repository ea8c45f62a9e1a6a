"""Columns: of tables, and arrays of bcolz and blsk."""

from . import _core
from ._attrs import Attributes
from ._create import _made
from ._handles import Handle


class Column(Handle):
    """Rows of one type: a column of a table, or an array of bcolz or blsk that is none of a table.

    What it shares with its table are changes, `commit` and `close`.
    """

    def __init__(self, held, name=None):
        super().__init__(held)
        self._name = "" if name is None else name

    @property
    def name(self) -> str:
        """The name in its table; empty if there is none."""
        return self._name

    @property
    def dtype(self):
        """The type of an item."""
        return self._held.column(self._name)[0]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows and the shape of a row."""
        return (len(self), *self._held.column(self._name)[1])

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of a chunk: rows, and the shape of a row."""
        _, shape, rows, _ = self._held.column(self._name)
        return (rows, *shape)

    @property
    def size(self) -> int:
        """The number of items."""
        from math import prod

        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of all rows before compression."""
        return self.size * self.dtype.itemsize

    @property
    def attrs(self) -> Attributes:
        """Values by name; a mapping that can be changed."""
        return Attributes(_ColumnAttrs(self._held, self._name or None))

    @property
    def rootdir(self) -> str:
        """The same as `path`."""
        return self.path

    def __len__(self):
        return len(self._held)

    def __iter__(self):
        rows = max(self.chunks[0], 1)
        return (row for start in range(0, len(self), rows) for row in self[start : start + rows])

    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        if not _picks_rows(parts):
            return self._read(0, len(self))[key]
        first, rest = parts[0], parts[1:]
        inner = slice(None)
        if isinstance(first, slice):
            start, stop, step = first.indices(len(self))
            found = self._read(start, max(start, stop)) if step == 1 else self._gather(range(start, stop, step))
        elif hasattr(first, "__index__") and getattr(first, "ndim", 0) == 0:
            place, inner = _place(first.__index__(), len(self)), 0
            found = self._read(place, place + 1)
        else:
            found = self._gather(_places(first, len(self)))
        return found[(inner, *rest)] if rest or inner == 0 else found

    def __setitem__(self, key, values):
        parts = key if isinstance(key, tuple) else (key,)
        first, start, stop = (parts or (...,))[0], 0, len(self)
        if isinstance(first, slice) and first.step in (None, 1):
            start, stop, _ = first.indices(len(self))
            stop, inner = max(start, stop), (slice(None), *parts[1:])
        elif hasattr(first, "__index__") and getattr(first, "ndim", 0) == 0 and not isinstance(first, bool):
            start = _place(first.__index__(), len(self))
            stop, inner = start + 1, (0, *parts[1:])
        else:
            inner = key
        rows = self._read(start, stop)
        rows[inner] = values
        self._held.write(self._name, start, rows)

    def append(self, values) -> None:
        """Appends rows to a column that is none of a table."""
        if self._held.is_table:
            raise ValueError("rows are appended to all columns of a table: use Table.append")
        self._held.append({"": _rows(values, *self._held.column("")[:2], "the column")})

    def resize(self, rows: int) -> None:
        """Makes a column that is none of a table so many rows long."""
        if self._held.is_table:
            raise ValueError("all columns of a table have one length: use Table.resize")
        self._held.resize(_count(rows))

    def trim(self, count: int) -> None:
        """Removes so many rows from the end of a column that is none of a table."""
        if not 0 <= count <= len(self):
            raise ValueError(f"{count} rows cannot be cut off {len(self)}")
        self.resize(len(self) - count)

    def iter_chunks(self):
        """Iterates over the rows of each chunk: the number of the first one, and an array."""
        rows = max(self.chunks[0], 1)
        return ((start, self[start : start + rows]) for start in range(0, len(self), rows))

    def to_numpy(self):
        """Returns all rows."""
        return self[...]

    def to_pandas(self):
        """Returns a `pandas.Series`."""
        import pandas

        return pandas.Series(_series(self[...]), name=self._name or None)

    def __array__(self, dtype=None, *, copy=None):
        import numpy as np

        if copy is False:
            raise ValueError("a column that is stored compressed cannot be used without a copy")
        return np.asarray(self[...], dtype)

    def __repr__(self):
        if self.closed:
            return f"<superchunk.Column closed, {self.path!r}>"
        name = f" {self._name!r}" if self._name else ""
        return f"<superchunk.Column{name} {self.shape} {self.dtype}, {self._held.format}, {self.path!r} {self.mode}>"

    def __reduce_ex__(self, protocol):
        opener, arguments = super().__reduce_ex__(protocol)
        return (_column_of, (opener, arguments, self._name)) if self._held.is_table else (opener, arguments)

    def _read(self, start, stop):
        if self._held.column(self._name)[3]:
            return self._objects(range(start, stop))
        return self._held.read(self._name, start, stop)

    def _gather(self, rows):
        if self._held.column(self._name)[3]:
            return self._objects(rows)
        return self._held.gather(self._name, list(rows))

    def _objects(self, rows):
        import numpy as np

        found = np.empty(len(rows), object)
        for place, value in enumerate(self._held.objects(self._name, list(rows))):
            found[place] = value
        return found


def create_column(path, values, *, format="bcolz", mode="w-", **options) -> Column:
    """Returns a new column that is none of a table, at `path`, a folder: an array of bcolz or blsk."""
    import numpy as np

    values = np.asarray(values)
    if format == "bcolz":
        options.setdefault("expected_rows", len(values))

    def make(path):
        return Column(_core._create_array(path, format, values.dtype, values.shape[1:], **options))

    return _made(path, mode, make, lambda made: made.append(values) if len(values) else None)


class _ColumnAttrs:
    """The values of a column."""

    def __init__(self, held, name):
        self._held, self._name = held, name

    def _value_names(self):
        return self._held._value_names(self._name)

    def _value(self, name):
        return self._held._value(name, self._name)

    def _set_value(self, name, value):
        self._held._set_value(name, value, self._name)

    def _remove_value(self, name):
        self._held._remove_value(name, self._name)


def _picks_rows(parts) -> bool:
    """Whether rows are picked first and then something of each, which NumPy does with other keys at once."""
    if not parts or parts[0] is None or parts[0] is ... or isinstance(parts[0], bool):
        return False
    first = parts[0]
    if isinstance(first, slice) or hasattr(first, "__index__") and getattr(first, "ndim", 0) == 0:
        return True
    import numpy as np

    first = np.asarray(first)
    lists = any(isinstance(part, (list, tuple, bool, np.ndarray)) for part in parts[1:])
    return first.ndim == 1 and first.dtype.kind in "iub" and not lists


def _places(picked, length) -> list[int]:
    """The rows of a list of indexes or of truths."""
    import numpy as np

    picked = np.asarray(picked)
    if picked.dtype == bool:
        if picked.shape != (length,):
            raise IndexError(
                f"boolean index did not match indexed array along axis 0; size of axis is {length} but size of "
                f"corresponding boolean axis is {len(picked)}"
            )
        picked = np.flatnonzero(picked)
    return [_place(place, length) for place in picked.tolist()]


def _place(index, length) -> int:
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for axis 0 with size {length}")
    return index % length


def _rows(values, dtype, shape, name):
    """Values as rows of a column."""
    import numpy as np

    values = np.asarray(values, dtype)
    if values.ndim == len(shape):
        values = values[None]
    if values.shape[1:] != tuple(shape):
        raise ValueError(f"{name}: rows of shape {tuple(shape)} are expected, got {values.shape[1:]}")
    return np.ascontiguousarray(values)


def _count(rows) -> int:
    if rows < 0:
        raise ValueError(f"rows: expected a number of at least 0, got {rows}")
    return rows


def _series(values):
    """Values as pandas takes them: in the byte order of the machine, rows of arrays as lists."""
    if values.dtype.byteorder in "<>" and not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    return list(values) if values.ndim > 1 else values


def _column_of(opener, arguments, name) -> Column:
    return opener(*arguments)[name]
