"""What scans of tables give."""

from dataclasses import dataclass


class Batch:
    """Some of the rows that a scan has found."""

    def __init__(self, rows, columns):
        self.rows, self._columns = rows, columns

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, name):
        return self._columns[name]

    def to_dict(self) -> dict:
        """Returns an array for each column."""
        return dict(self._columns)

    def to_numpy(self):
        """Returns the rows as an array with a field for each column."""
        return _structured(self._columns)

    def __repr__(self):
        return f"<superchunk.Batch {len(self)} rows ({', '.join(self._columns)})>"


@dataclass(frozen=True)
class Summary:
    """What the values of a column have in common."""

    count: int
    """The number of values."""
    nulls: int
    """The number of rows without one: NaN, NaT."""
    sum: object
    """The sum; exact if the values are integers."""
    min: object
    """The least value."""
    max: object
    """The greatest value."""
    mean: float | None
    """The mean; `None` if there are no values."""
    var: float | None
    """The variance, as `numpy.var` has it."""
    std: float | None
    """The standard deviation, as `numpy.std` has it."""

    @classmethod
    def _of(cls, found, dtype):
        if dtype.kind in "mM":
            import numpy as np

            for name in ("min", "max"):
                if found[name] is not None:
                    found[name] = np.int64(found[name]).view(dtype.newbyteorder("="))
        return cls(**found)


class Grouping:
    """Rows by the values of columns; made by `Table.group_by`."""

    def __init__(self, scan, keys):
        self._scan, self._keys = scan, keys

    def agg(self, **measures):
        """Returns a row for each group: its keys, the number of its rows (`count`), and the measures.

        A measure is a column and one of `"count"`, `"sum"`, `"min"`, `"max"`, `"mean"`, `"std"`:
        `agg(total=("volume", "sum"))`.
        """
        asked = [(word, column, name) for name, (column, word) in measures.items()]
        return _structured(self._scan.group_by(self._keys, asked))

    def count(self):
        """Returns a row for each group: its keys and the number of its rows."""
        return self.agg()


def _structured(columns):
    """Arrays by name as one array with a field for each."""
    import numpy as np

    dtype = np.dtype([(name, values.dtype, values.shape[1:]) for name, values in columns.items()])
    rows = np.empty(len(next(iter(columns.values()), ())), dtype)
    for name, values in columns.items():
        rows[name] = values
    return rows
