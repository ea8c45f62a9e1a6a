"""Tables of bcolz and blsk, and folders of columns."""

from . import _core
from ._arrays import _size
from ._attrs import Attributes
from ._columns import Column, _count, _rows, _series
from ._create import _made
from ._handles import Handle
from ._scans import Batch, Grouping, Summary, _structured


def opened(rows):
    """The object for what `open` has opened."""
    return Table(rows) if rows.is_table else Column(rows)


class Table(Handle):
    """Rows in named columns. Made by `open` and `create_table`.

    `table["x"]` is a column, `table[["x", "y"]]` the same table with fewer columns, `table[3]` a row,
    `table[2:9]` an array with a field for each column.
    """

    def __init__(self, held, names=None):
        super().__init__(held)
        self._names = names

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return self._held.names() if self._names is None else list(self._names)

    @property
    def format(self) -> str:
        """`'bcolz'`, `'blsk'`, or `'columns'` for a folder of columns."""
        return self._held.format

    @property
    def dtype(self):
        """The structured type of a row."""
        import numpy as np

        return np.dtype([(name, dtype, shape) for name, (dtype, shape, _, _) in self._columns()])

    @property
    def shape(self) -> tuple[int]:
        """The number of rows."""
        return (len(self),)

    @property
    def nbytes(self) -> int:
        """The bytes of all rows before compression."""
        return self._held.nbytes

    @property
    def cbytes(self) -> int:
        """The bytes that all columns take where they are stored."""
        return self._held.cbytes

    @property
    def attrs(self) -> Attributes:
        """Values by name; a mapping that can be changed."""
        return Attributes(self._held)

    @property
    def rootdir(self) -> str:
        """The same as `path`."""
        return self.path

    def __len__(self):
        return len(self._held)

    def __iter__(self):
        for batch in self.scan():
            yield from batch.to_numpy()

    def __contains__(self, name):
        return name in self.names

    def __getitem__(self, key):
        if isinstance(key, str):
            self._held.column(key)
            if key not in self.names:
                raise KeyError(key)
            return Column(self._held, key)
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            for name in key:
                self[name]
            return Table(self._held, key)
        import numpy as np

        parts = [(name, Column(self._held, name)[key]) for name in self.names]
        first = next((np.asarray(part) for _, part in parts), None)
        inner = len(self._held.column(self.names[0])[1]) if self.names else 0
        shape = () if first is None else first.shape[: first.ndim - inner]
        rows = np.empty(shape, self.dtype)
        for name, part in parts:
            rows[name] = part
        return rows[()]

    def __setitem__(self, key, values):
        if isinstance(key, str):
            Column(self._held, key)[...] = values
            return
        import numpy as np

        values = np.asarray(values, self.dtype)
        for name in self.names:
            Column(self._held, name)[key] = values[name]

    def append(self, rows) -> None:
        """Appends rows: a dict or a structured array with the values of every column, or a row as a tuple."""
        import numpy as np

        if self._names is not None:
            raise ValueError("rows are appended to all columns of a table: open it without a choice of them")
        if isinstance(rows, tuple):
            rows = np.array([rows], self.dtype)
        names = rows.keys() if hasattr(rows, "keys") else getattr(getattr(rows, "dtype", None), "names", None)
        if names is None:
            raise TypeError(f"expected a dict, a structured array or a tuple, got {type(rows).__name__}")
        if sorted(names) != sorted(self.names):
            raise ValueError(f"rows have the columns {sorted(names)}, the table {sorted(self.names)}")
        parts = {name: _rows(rows[name], *self._held.column(name)[:2], name) for name in self.names}
        counts = {len(part) for part in parts.values()}
        if len(counts) > 1:
            raise ValueError(f"columns of one length are expected, got {sorted(counts)}")
        self._held.append(parts)

    def resize(self, rows: int) -> None:
        """Makes it so many rows long: cuts, or appends rows of zeros or the default value."""
        self._held.resize(_count(rows))

    def trim(self, count: int) -> None:
        """Removes so many rows from the end."""
        if not 0 <= count <= len(self):
            raise ValueError(f"{count} rows cannot be cut off {len(self)}")
        self._held.resize(len(self) - count)

    def add_column(self, name, values, **options) -> None:
        """Adds a column with the values of all rows. What was changed before is committed with it."""
        import numpy as np

        values = np.ascontiguousarray(values)
        if len(values) != len(self):
            raise ValueError(f"the table has {len(self)} rows, the column {len(values)}")
        self._held.add_column(name, values, values.shape[1:], **options)

    def remove_column(self, name) -> None:
        """Removes a column. What was changed before is committed with it."""
        self._held.remove_column(name)

    def rename_column(self, name, new) -> None:
        """Gives a column another name. What was changed before is committed with it."""
        self._held.rename_column(name, new)

    def refresh_bounds(self) -> None:
        """Commits, and stores the least and the greatest value of every chunk, so that scans skip chunks."""
        self._held.refresh_bounds()

    def scan(self, columns=None, filter=None, *, rows=None, limit=None, batch_size=None, nthreads=None, **params):
        """Iterates over the rows for which `filter` holds, in batches.

        `filter` is an expression of columns, such as `"close > open and volume > :low"`, whose
        parameters come by name. `rows` is a `range` or `slice` of neighbours.
        """
        scan = self._scan(columns, filter, params, rows, limit, batch_size, nthreads)
        return (Batch(numbers, columns) for numbers, columns in scan.batches())

    def where(self, filter, *, columns=None, rows=None, limit=None, **params):
        """Returns the rows for which an expression holds, as an array with a field for each column."""
        return _structured(self._scan(columns, filter, params, rows, limit).to_dict())

    def where_rows(self, filter, *, rows=None, limit=None, **params):
        """Returns the numbers of the rows for which an expression holds."""
        return self._scan([], filter, params, rows, limit).row_numbers()

    def count(self, filter=None, *, rows=None, **params) -> int:
        """Returns the number of rows for which an expression holds."""
        return self._scan([], filter, params, rows).count()

    def summary(self, column, filter=None, *, rows=None, **params) -> Summary:
        """Returns count, nulls, sum, min, max, mean, var and std of a column of numbers."""
        dtype = self._held.column(column)[0]
        return Summary._of(self._scan([column], filter, params, rows).summary(column), dtype)

    def group_by(self, keys, filter=None, *, rows=None, **params) -> Grouping:
        """Returns the rows by values of columns: `group_by("id").agg(total=("volume", "sum"))`."""
        keys = [keys] if isinstance(keys, str) else list(keys)
        return Grouping(self._scan(None, filter, params, rows), keys)

    def sort_values(self, by, ascending=True, *, filter=None, columns=None, rows=None, **params):
        """Returns the rows in the order of columns, as an array with a field for each column."""
        scan = self._scan(columns, filter, params, rows)
        return _structured(scan.sorted(_orders(by, ascending)))

    def argsort(self, by, ascending=True, *, filter=None, rows=None, **params):
        """Returns the numbers of the rows in the order of columns."""
        return self._scan(None, filter, params, rows).order(_orders(by, ascending))

    def unique(self, columns, filter=None, *, rows=None, **params):
        """Returns the different values of a column, or the different combinations of several."""
        names = [columns] if isinstance(columns, str) else list(columns)
        found = self._scan(names, filter, params, rows).unique(names)
        return found[columns] if isinstance(columns, str) else _structured(found)

    def to_dict(self) -> dict:
        """Returns an array for each column."""
        return {name: self[name][...] for name in self.names}

    def to_numpy(self):
        """Returns all rows as an array with a field for each column."""
        return self[...]

    def to_pandas(self):
        """Returns a `pandas.DataFrame`."""
        import pandas

        return pandas.DataFrame({name: _series(values) for name, values in self.to_dict().items()})

    def __array__(self, dtype=None, *, copy=None):
        import numpy as np

        if copy is False:
            raise ValueError("a table that is stored compressed cannot be used without a copy")
        return np.asarray(self[...], dtype)

    def __repr__(self):
        if self.closed:
            return f"<superchunk.Table closed, {self.path!r}>"
        columns = ", ".join(f"{name} {self._held.column(name)[0]}" for name in self.names[:6])
        more = ", …" if len(self.names) > 6 else ""
        sizes = f"{_size(self.nbytes)} → {_size(self.cbytes)}"
        rows = f"{len(self)} rows ({columns}{more})"
        return f"<superchunk.Table {rows}, {self.format}, {sizes}, {self.path!r} {self.mode}>"

    def _columns(self):
        return [(name, self._held.column(name)) for name in self.names]

    def _scan(self, columns, filter, params, rows=None, limit=None, batch_size=None, nthreads=None):
        if columns is None:
            columns = self._names
        elif isinstance(columns, str):
            columns = [columns]
        else:
            columns = list(columns)
        if rows is not None:
            if isinstance(rows, slice):
                rows = range(*rows.indices(len(self)))
            if rows.step != 1:
                raise ValueError("rows: expected neighbours, with a step of 1")
            rows = (rows.start, max(rows.start, rows.stop))
        return self._held.scan(columns, filter, params, rows, limit, batch_size, nthreads)


def create_table(path, columns, *, format="bcolz", mode="w-", **options) -> Table:
    """Returns a new table at `path`, a folder.

    `columns` is a dict of arrays, a structured array, or a `pandas.DataFrame`, whose rows are written
    and committed; or a structured dtype, for a table without rows. `format` is `"bcolz"` or `"blsk"`.
    `chunk_rows` is the number of rows of a chunk; `bounds=True` keeps the least and the greatest value
    of each chunk, so that scans skip chunks.
    """
    import numpy as np

    if isinstance(columns, np.dtype):
        parts = np.empty(0, columns)
        names = columns.names
    else:
        names = columns.keys() if hasattr(columns, "keys") else columns.dtype.names
        parts = {name: np.asarray(columns[name]) for name in names}
    if names is None:
        raise TypeError("columns: expected a dict of arrays, a structured array or a structured dtype")
    names = list(names)
    counts = {len(parts[name]) for name in names}
    if len(counts) > 1:
        raise ValueError(f"columns of one length are expected, got {sorted(counts)}")
    kinds = [(name, parts[name].dtype, parts[name].shape[1:]) for name in names]
    if format == "bcolz":
        options.setdefault("expected_rows", max(counts, default=0))

    def make(path):
        return Table(_core._create_table(path, format, kinds, **options))

    def fill(made):
        if any(counts):
            made.append({name: parts[name] for name in names})

    return _made(path, mode, make, fill)


def _orders(by, ascending):
    by = [by] if isinstance(by, str) else list(by)
    ways = [ascending] * len(by) if isinstance(ascending, bool) else list(ascending)
    if len(ways) != len(by):
        raise ValueError(f"ascending: expected {len(by)} values, got {len(ways)}")
    return [(name, not way) for name, way in zip(by, ways, strict=True)]
