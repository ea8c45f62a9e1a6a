"""Other formats for a table, each in a process of its own that does one thing for each line (see tables.rs).

usage: tables_bench.py FORMAT SOURCE TARGET

SOURCE is a folder: columns.txt lists names and types, each column is a file of its values, picks.txt lists
rows. TARGET is where the table is made. A line of the input is an operation and its arguments; the answer is
a line of a number to compare, processor and wall seconds. One thread.
"""

import os
import sys

from bench_clock import set_aside, timed

TYPES = {"<i8": "int64", "<i4": "int32", "<f8": "float64", "<f4": "float32", "|u1": "uint8"}


class Bcolz:
    """As bcolz does it by default: LZ4 level 5, shuffled. Conditions are computed by NumPy."""

    def __init__(self, source, target):
        import bcolz
        import numpy

        bcolz.set_nthreads(1)
        self.bcolz, self.target = bcolz, target
        self.columns = {name: numpy.fromfile(os.path.join(source, name), dtype) for name, dtype in listed(source)}
        self.rows = len(self.columns["day"])
        self.picks = [int(line) for line in open(os.path.join(source, "picks.txt"))]

    def create(self, target, start, end):
        set_aside(target)
        parts = [column[start:end] for column in self.columns.values()]
        names = list(self.columns)

        def make():
            table = self.bcolz.ctable(parts, names=names, rootdir=target, mode="w", expectedlen=self.rows)
            table.flush()

        return timed(make)[0]

    def open(self, target=None, mode="r"):
        return self.bcolz.open(target or self.target, mode=mode)

    def make(self):
        times = self.create(self.target, 0, self.rows)
        return len(self.open()), times

    def append(self, batch, count, each):
        target = self.target + "-append"
        self.create(target, 0, int(batch))
        columns, size = list(self.columns.values()), int(batch)

        def work():
            table = self.open(target, "a")
            for start in range(size, size * (int(count) + 1), size):
                table.append([column[start : start + size] for column in columns])
                if each == "each":
                    table.flush()
            table.flush()

        times = timed(work)[0]
        return self.open(target)["price"].sum(), times

    def scan(self):
        def work():
            table = self.open()
            return table["price"].sum() + table["volume"].sum()

        return answered(work)

    def where(self, column, low, high):
        condition = f"({column} >= {low}) & ({column} < {high})"
        return answered(lambda: self.open().fetchwhere(condition, outcols=["price"], out_flavor="numpy")["price"].sum())

    def one_by_one(self):
        table = self.open()
        times, rows = timed(lambda: [table[row] for row in self.picks])
        return sum(float(value) for row in rows for value in row.tolist()), times


class Parquet:
    """As pyarrow does it by default, or with another codec."""

    def __init__(self, source, target, codec="snappy"):
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet

        pyarrow.set_cpu_count(1)
        pyarrow.set_io_thread_count(1)
        self.pyarrow, self.target, self.codec = pyarrow, target, codec
        columns = {}
        for name, dtype in listed(source):
            type = pyarrow.type_for_alias(TYPES[dtype])
            data = pyarrow.py_buffer(open(os.path.join(source, name), "rb").read())
            columns[name] = pyarrow.Array.from_buffers(type, data.size * 8 // type.bit_width, [None, data])
        self.table = pyarrow.table(columns)

    def make(self):
        set_aside(self.target)
        write = self.pyarrow.parquet.write_table
        return self.table.num_rows, timed(lambda: write(self.table, self.target, compression=self.codec))[0]

    def scan(self):
        def work():
            read = self.pyarrow.parquet.read_table(self.target, columns=["price", "volume"], use_threads=False)
            return sum(self.pyarrow.compute.sum(column).as_py() for column in read.columns)

        return answered(work)


class CTable:
    """python-blosc2's CTable, as it does by default."""

    def __init__(self, source, target):
        import dataclasses

        import blosc2
        import numpy

        blosc2.set_nthreads(1)
        self.blosc2, self.target, self.columns, fields = blosc2, target + ".b2d", {}, []
        for name, dtype in listed(source):
            self.columns[name] = numpy.fromfile(os.path.join(source, name), dtype)
            kind = float if dtype[1] == "f" else int
            fields.append((name, kind, blosc2.field(getattr(blosc2, TYPES[dtype])())))
        self.row = dataclasses.make_dataclass("Row", fields)
        self.rows = len(self.columns["day"])

    def make(self):
        set_aside(self.target)

        def work():
            table = self.blosc2.CTable(
                self.row, urlpath=self.target, mode="w", expected_size=self.rows, validate=False, cparams={"nthreads": 1}
            )
            table.extend(self.columns)
            table.close()

        times = timed(work)[0]
        return self.blosc2.CTable.open(self.target).nrows, times

    def scan(self):
        def work():
            table = self.blosc2.CTable.open(self.target)
            return table["price"].sum() + table["volume"].sum()

        return answered(work)


FORMATS = {
    "bcolz": Bcolz,
    "parquet": Parquet,
    "parquet-lz4": lambda source, target: Parquet(source, target, "lz4"),
    "ctable": CTable,
}


def listed(source):
    return [line.split() for line in open(os.path.join(source, "columns.txt"))]


def answered(work):
    times, result = timed(work)
    return result, times


def main(name, source, target):
    format = FORMATS[name](source, target)
    for line in sys.stdin:
        operation, *arguments = line.split()
        answer, times = getattr(format, operation)(*arguments)
        print(float(answer), *times, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
