"""Other formats for a list of strings, each measured in a process of its own (see objects.rs).

usage: objects_bench.py FORMAT STRINGS TARGET ROUNDS SECONDS

STRINGS is a file of lengths (32 bits, little endian), each followed by a string. Prints the stored size in
bytes, and seconds of processor and of wall time for writing all, reading one by its number, reading all.
Every answer is compared with the strings first. One thread.
"""

import os
import random
import struct
import sys
import time

from bench_clock import remove, timed

WARM = 3  # random reads before the clock starts


def load(path):
    data, strings, at = open(path, "rb").read(), [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        strings.append(data[at + 4 : at + 4 + length].decode())
        at += 4 + length
    return strings


class Parquet:
    """Zstandard, as many rows in a group as given (the default has 1,048,576)."""

    def __init__(self, target, group=None, level=None):
        import pyarrow

        pyarrow.set_cpu_count(1)
        pyarrow.set_io_thread_count(1)
        self.target, self.group, self.level = target, group, level

    def prepare(self, strings):
        import pyarrow

        return pyarrow.table({"s": pyarrow.array(strings)})

    def write(self, table):
        import pyarrow.parquet

        pyarrow.parquet.write_table(
            table, self.target, compression="zstd", row_group_size=self.group, compression_level=self.level
        )

    def open(self):
        import pyarrow.parquet

        self.file = pyarrow.parquet.ParquetFile(self.target)
        metadata = self.file.metadata
        self.ends, end = [], 0
        for group in range(metadata.num_row_groups):
            end += metadata.row_group(group).num_rows
            self.ends.append(end)

    def get(self, index):
        import bisect

        group = bisect.bisect_right(self.ends, index)
        first = self.ends[group - 1] if group else 0
        return self.file.read_row_group(group, use_threads=False).column(0)[index - first].as_py()

    def read(self):
        import pyarrow.parquet

        return pyarrow.parquet.read_table(self.target, use_threads=False)

    def strings(self, table):
        return table.column(0).to_pylist()


class Arrow(Parquet):
    """An IPC file, Zstandard, so many rows in a batch."""

    def write(self, table):
        import pyarrow

        options = pyarrow.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
        with pyarrow.OSFile(self.target, "wb") as sink:
            with pyarrow.ipc.new_file(sink, table.schema, options=options) as writer:
                writer.write_table(table, max_chunksize=self.group)

    def open(self):
        import pyarrow

        options = pyarrow.ipc.IpcReadOptions(use_threads=False)
        self.file = pyarrow.ipc.open_file(pyarrow.memory_map(self.target), options=options)

    def get(self, index):
        batch, row = divmod(index, self.group)
        return self.file.get_batch(batch).column(0)[row].as_py()

    def read(self):
        self.open()
        return self.file.read_all()


class Batches:
    """python-blosc2's BatchArray, a batch for every 100,000 strings."""

    def __init__(self, target, items_per_block=None):
        import blosc2

        blosc2.set_nthreads(1)
        self.blosc2, self.target, self.items_per_block = blosc2, target, items_per_block

    def prepare(self, strings):
        return strings

    def write(self, strings):
        store = self.blosc2.BatchArray(
            items_per_block=self.items_per_block, urlpath=self.target, mode="w",
            cparams=self.blosc2.CParams(nthreads=1),
        )
        store.extend(strings[at : at + 100_000] for at in range(0, len(strings), 100_000))

    def open(self):
        self.store = self.blosc2.open(self.target)

    def get(self, index):
        return self.store.items[index]

    def read(self):
        return [item for batch in self.blosc2.open(self.target) for item in batch[:]]

    def strings(self, read):
        return read


class Utf8(Batches):
    """python-blosc2's UTF8Array: one array of offsets, one of bytes."""

    def write(self, strings):
        os.makedirs(self.target)
        arrays = self.backend(offsets_urlpath=self.target + "/offsets.b2nd", data_urlpath=self.target + "/data.b2nd")
        self.blosc2.utf8_array(strings, offsets=arrays[0], data=arrays[1])

    @property
    def backend(self):
        return sys.modules["blosc2._utf8_array"]._new_backend_arrays

    def open(self):
        arrays = [self.blosc2.open(f"{self.target}/{name}.b2nd") for name in ("offsets", "data")]
        self.store = self.blosc2.UTF8Array(self.blosc2.utf8(), offsets=arrays[0], data=arrays[1])

    def get(self, index):
        return str(self.store[index])

    def read(self):
        self.open()
        return self.store[:]

    def strings(self, read):
        return [str(item) for item in read]


FORMATS = {
    "parquet": lambda target: Parquet(target),
    "parquet-9": lambda target: Parquet(target, level=9),
    "parquet-10000": lambda target: Parquet(target, group=10_000),
    "arrow": lambda target: Arrow(target, group=65_536),
    "arrow-10000": lambda target: Arrow(target, group=10_000),
    "batches": lambda target: Batches(target),
    "batches-2500": lambda target: Batches(target, items_per_block=2500),
    "utf8": lambda target: Utf8(target),
}


def size_of(target):
    if os.path.isdir(target):
        return sum(os.path.getsize(os.path.join(target, name)) for name in os.listdir(target))
    return os.path.getsize(target)


def fastest(rounds, work, before=lambda: None):
    times = []
    for _ in range(rounds):
        before()
        times.append(timed(work)[0])
    return min(time[0] for time in times), min(time[1] for time in times)


def pick(format, picks, seconds):
    """Seconds for one object, of as many as there is time for."""
    for index in picks[:WARM]:
        format.get(index)
    count, end, first = 0, time.perf_counter() + seconds, (time.process_time(), time.perf_counter())
    while count == 0 or (time.perf_counter() < end and count < len(picks)):
        format.get(picks[count])
        count += 1
    return (time.process_time() - first[0]) / count, (time.perf_counter() - first[1]) / count


def main(name, source, target, rounds, seconds):
    strings, format = load(source), FORMATS[name](target)
    prepared = format.prepare(strings)
    remove(target)
    format.write(prepared)
    if format.strings(format.read()) != strings:
        raise SystemExit(f"{name}: not the strings that were written")
    format.open()
    rng = random.Random(7)
    picks = [rng.randrange(len(strings)) for _ in range(10_000)]
    for index in picks[:WARM]:
        if format.get(index) != strings[index]:
            raise SystemExit(f"{name}: string {index} is wrong")
    write = fastest(rounds, lambda: format.write(prepared), lambda: remove(target))
    print("size", size_of(target))
    print("write", *write)
    format.open()
    print("random", *pick(format, picks, seconds))
    print("all", *fastest(rounds, format.read))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
