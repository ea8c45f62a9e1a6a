"""Files both ways between this package and python-blosc2, in one process."""

import blosc2
import numpy as np
import pytest
from random_arrays import DTYPES, Random

import superchunk
from superchunk.compat import blosc2 as compat

OPTIONS = [
    ("blosclz", "shuffle"),
    ("lz4", "bitshuffle"),
    ("lz4hc", "none"),
    ("zlib", "shuffle"),
    ("zstd", ("shuffle", "bytedelta")),
]


def cases():
    for number, dtype in enumerate(DTYPES):
        random = Random(f"blosc2 {number}")
        shape = tuple(random.randint(1, 12) for _ in range(1 + number % 4))
        yield random.items(shape, dtype), random.grid(shape), OPTIONS[number % len(OPTIONS)]


@pytest.mark.parametrize("sparse", [False, True])
def test_python_blosc2_reads_ours(tmp_path, sparse):
    for number, (twin, (chunks, blocks), (codec, filters)) in enumerate(cases()):
        path = str(tmp_path / f"{number}")
        made = superchunk.asarray(
            twin, path=path, chunks=chunks, blocks=blocks, codec=codec, filters=filters, sparse=sparse
        )
        made.attrs["values"] = {"name": "x", "list": [1, 2.5, None, b"raw"]}
        made.close()
        theirs = blosc2.open(path, mode="r")
        assert (theirs.shape, theirs.chunks, theirs.blocks) == (twin.shape, chunks, blocks)
        assert theirs.dtype == twin.dtype
        assert theirs[...].tobytes() == twin.tobytes()
        assert theirs.schunk.vlmeta["values"] == {"name": "x", "list": [1, 2.5, None, b"raw"]}


@pytest.mark.parametrize("contiguous", [True, False])
def test_we_read_python_blosc2s(tmp_path, contiguous):
    for number, (twin, (chunks, blocks), (codec, filters)) in enumerate(cases()):
        path = str(tmp_path / f"{number}")
        filters = [filters] if isinstance(filters, str) else filters
        named = [blosc2.Filter["NOFILTER" if name == "none" else name.upper()] for name in filters]
        params = {"codec": blosc2.Codec[codec.upper()], "filters": named, "filters_meta": [0] * len(named)}
        theirs = blosc2.asarray(
            twin, urlpath=path, chunks=chunks, blocks=blocks, cparams=params, contiguous=contiguous
        )
        theirs.schunk.vlmeta["values"] = [1, "two", {"three": 3}]
        # It does not always read the dtype that it wrote: `V5` comes back as a record.
        dtype = blosc2.open(path, mode="r").dtype
        del theirs
        with superchunk.open(path, "r+") as array:
            assert (array.shape, array.chunks, array.blocks, array.dtype) == (twin.shape, chunks, blocks, dtype)
            assert array[...].tobytes() == twin.tobytes()
            assert array.attrs["values"] == [1, "two", {"three": 3}]
            array[...] = twin[::-1].astype(dtype)
            array.append(twin[:1].astype(dtype))
        again = blosc2.open(path, mode="r")
        assert again[...].tobytes() == np.concatenate([twin[::-1], twin[:1]]).astype(twin.dtype).tobytes()


def test_frames_in_memory():
    twin = np.arange(1000.0).reshape(10, 100)
    ours = superchunk.asarray(twin)
    assert np.array_equal(blosc2.ndarray_from_cframe(ours.to_cframe())[...], twin)
    theirs = blosc2.asarray(twin)
    assert np.array_equal(superchunk.NDArray.from_cframe(theirs.to_cframe())[...], twin)


def test_nnunet_needs_another_import_and_nothing_else(tmp_path):
    """The calls of nnU-Net's dataset, as of 2026-07, on each of the two packages."""
    data = np.random.default_rng(1).random((2, 40, 50, 60)).astype("f4")
    for package in (blosc2, compat):
        path = str(tmp_path / f"{package.__name__}.b2nd")
        package.set_nthreads(1)
        for codec, filters in [(package.Codec.LZ4HC, [package.Filter.SHUFFLE]), (package.Codec.LZ4HC, [package.Filter.NOFILTER])]:
            one = package.asarray(
                np.ascontiguousarray(data[:, :20, :20, :20]), cparams={"codec": codec, "filters": filters, "nthreads": 4, "clevel": 5}
            )
            assert 0 < one.schunk.cbytes
        package.asarray(
            np.ascontiguousarray(data),
            urlpath=path,
            chunks=(1, 20, 25, 30),
            blocks=(1, 10, 10, 15),
            cparams={"codec": package.Codec.LZ4HC, "filters": [package.Filter.SHUFFLE], "nthreads": 4, "clevel": 5},
        )
        for other in (blosc2, compat):
            found = other.open(urlpath=path, mode="r", dparams={"nthreads": 1}, mmap_mode="r")
            assert found.shape == data.shape
            assert np.array_equal(found[:, 5:15, 10:30, :], data[:, 5:15, 10:30])
