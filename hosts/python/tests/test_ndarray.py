"""`NDArray` and what makes one."""

import copy
import multiprocessing
import pickle
import sys
import threading

import numpy as np
import pytest

import superchunk
from superchunk import NDArray


@pytest.fixture
def twin():
    return np.arange(20 * 30, dtype="f4").reshape(20, 30)


@pytest.fixture
def stored(tmp_path, twin):
    path = str(tmp_path / "a.b2nd")
    superchunk.asarray(twin, path=path, chunks=(6, 10), blocks=(3, 5), codec="zstd").close()
    return path


def test_facts(stored, twin):
    with superchunk.open(stored) as array:
        assert (array.shape, array.ndim, array.size) == ((20, 30), 2, 600)
        assert (array.dtype, array.itemsize, array.nbytes) == (np.dtype("f4"), 4, 2400)
        assert (array.chunks, array.blocks, array.nchunks) == ((6, 10), (3, 5), 12)
        assert array.chunksize == 240
        assert 0 < array.cbytes and array.cratio == array.nbytes / array.cbytes
        assert (array.path, array.urlpath, array.mode, array.closed) == (stored, stored, "r", False)
        assert array.cparams["codec"] == "zstd" and array.cparams["filters"] == ["shuffle"]
        assert len(array) == 20
        assert array.info.to_dict()["shape"] == (20, 30)
        assert "zstd" in repr(array.info)
    assert array.closed
    array.close()


@pytest.mark.parametrize("sparse", [False, True])
def test_what_is_made_with_a_path_is_committed(tmp_path, twin, sparse):
    path = tmp_path / "array"
    made = [
        superchunk.asarray(twin, path=path, mode="w", sparse=sparse),
        superchunk.zeros((3, 4), "i2", path=path, mode="w", sparse=sparse),
        superchunk.full((2,), 7.5, path=path, mode="w", sparse=sparse),
        superchunk.empty((5,), path=path, mode="w", sparse=sparse),
        superchunk.ones((2, 2), path=path, mode="w", sparse=sparse),
        superchunk.concatenate([twin, twin], path=path, mode="w", sparse=sparse),
        superchunk.stack([twin, twin], path=path, mode="w", sparse=sparse),
    ]
    for array in made:
        array.close()
    assert path.is_dir() == sparse
    assert [entry.name for entry in tmp_path.iterdir()] == ["array"], "nothing is left beside it"
    with superchunk.open(path) as array:
        assert np.array_equal(array[...], np.stack([twin, twin]))


def test_arrays_of_one_value():
    assert (superchunk.zeros((3, 4), "i2")[...] == 0).all()
    assert superchunk.zeros(5).dtype == np.float64
    assert (superchunk.ones((3, 4), ">f4")[...] == 1).all()
    filled = superchunk.full((300, 40), -2, "i8")
    assert (filled[...] == -2).all() and filled.cratio > 100
    assert superchunk.full((2,), 1.5).dtype == np.float64
    assert superchunk.full((2,), b"abc")[...].tolist() == [b"abc", b"abc"]
    assert superchunk.full_like(filled, 9)[0, 0] == 9
    like = superchunk.zeros_like(filled, dtype="u1")
    assert (like.shape, like.dtype, like.chunks) == (filled.shape, np.dtype("u1"), filled.chunks)
    assert superchunk.empty((2, 3)).shape == (2, 3)
    with pytest.raises(ValueError):
        superchunk.full((2,), [1, 2])


def test_asarray_takes_what_numpy_takes():
    assert superchunk.asarray([[1, 2], [3, 4]])[...].tolist() == [[1, 2], [3, 4]]
    assert superchunk.asarray(5)[()] == 5
    assert superchunk.asarray(memoryview(b"abc"))[...].tolist() == [97, 98, 99]
    assert superchunk.asarray([1, 2], "f4").dtype == np.float32
    array = superchunk.asarray(np.arange(4))
    assert superchunk.asarray(array) is array
    assert superchunk.asarray(array, copy=True) is not array
    assert superchunk.asarray(array, "f8").dtype == np.float64
    assert superchunk.array(array) is not array
    with pytest.raises(ValueError):
        superchunk.asarray([1], copy=False)
    with pytest.raises(TypeError):
        superchunk.asarray(np.array([object()]))
    with pytest.raises(TypeError, match="unexpected keyword"):
        superchunk.asarray([1], kodec="zstd")
    fortran = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    assert np.array_equal(superchunk.asarray(fortran)[...], fortran)
    assert np.array_equal(superchunk.asarray(fortran[::-1, ::2])[...], fortran[::-1, ::2])


def test_whatever_has_slices_is_read_a_chunk_at_a_time(twin):
    class Lazy:
        shape, dtype, ndim, asked = twin.shape, twin.dtype, twin.ndim, 0

        def __getitem__(self, key):
            self.asked += 1
            return twin[key]

    lazy = Lazy()
    assert np.array_equal(superchunk.asarray(lazy, chunks=(7, 30))[...], twin)
    assert lazy.asked == 3


def test_the_best_filter_is_found():
    smooth = np.cumsum(np.ones((200, 300), "i4"), axis=1)
    letters = np.frombuffer(b"abcdefghijklmnop" * 15_000, "i4").reshape(200, 300)
    assert superchunk.asarray(smooth, filters="auto").cparams["filters"] != []
    assert superchunk.asarray(letters, filters="auto").cparams["filters"] == []
    both = {f: superchunk.asarray(smooth, filters=f).cbytes for f in ("auto", "none", "shuffle")}
    assert both["auto"] <= min(both.values())


def test_concatenate_and_stack_are_numpys(twin):
    one = superchunk.asarray(twin, chunks=(7, 11))
    for axis in (0, 1, -1):
        assert np.array_equal(superchunk.concatenate([one, twin, one], axis)[...], np.concatenate([twin] * 3, axis))
    for axis in (0, 1, 2, -1):
        assert np.array_equal(superchunk.stack([one, twin], axis)[...], np.stack([twin] * 2, axis))
    mixed = superchunk.concat([one, np.ones((1, 30), "f8")])
    assert mixed.dtype == np.float64 and mixed.shape == (21, 30)
    for bad in ([], [twin, twin[:, 1:]], [twin, twin[0]]):
        with pytest.raises(ValueError):
            superchunk.concatenate(bad)
    with pytest.raises(IndexError):
        superchunk.concatenate([twin], 2)
    with pytest.raises(ValueError):
        superchunk.stack([twin, twin[1:]])


def test_save_and_load(tmp_path, twin):
    path = tmp_path / "a.b2nd"
    superchunk.save(path, twin)
    superchunk.save(path, twin + 1)
    loaded = superchunk.load(path)
    assert type(loaded) is np.ndarray and np.array_equal(loaded, twin + 1)


def test_arrays_grow_and_shrink(twin):
    array = superchunk.asarray(twin, chunks=(6, 10))
    array.append(twin[:2])
    array.append(twin[0])
    array.insert(1, twin[5])
    array.insert(-1, np.zeros((2, 30)))
    array.append(np.ones((26, 1)), axis=1)
    expected = np.concatenate([twin, twin[:2], twin[:1]])
    expected = np.insert(expected, 1, twin[5], axis=0)
    expected = np.insert(expected, [-1, -1], 0, axis=0)
    expected = np.append(expected, np.ones((26, 1), "f4"), axis=1)
    assert np.array_equal(array[...], expected)
    array.delete(2, 3)
    array.delete(-1, axis=1)
    expected = np.delete(np.delete(expected, [2, 3, 4], 0), -1, 1)
    assert np.array_equal(array[...], expected)
    array.resize((30, 5))
    assert np.array_equal(array[:23], expected[:, :5]) and (array[23:] == 0).all()
    for change, error in [
        (lambda: array.append(np.ones((2, 6))), ValueError),
        (lambda: array.append(1.0), ValueError),
        (lambda: array.append([0], axis=2), IndexError),
        (lambda: array.insert(31, np.ones(5)), IndexError),
        (lambda: array.delete(29, 2), IndexError),
        (lambda: array.resize((3,)), ValueError),
        (lambda: array.resize((3, -1)), ValueError),
        (lambda: array.resize("ab"), TypeError),
        (lambda: array.append(["x"] * 5), ValueError),
    ]:
        before = array[...]
        with pytest.raises(error):
            change()
        assert array.shape == (30, 5) and np.array_equal(array[...], before)


def test_copies(tmp_path, twin):
    array = superchunk.asarray(twin, chunks=(6, 10), blocks=(3, 5), codec="zstd", level=7)
    array.attrs["unit"] = "m"
    same = array.copy()
    assert (same.chunks, same.blocks, same.cparams["codec"], same.attrs["unit"]) == ((6, 10), (3, 5), "zstd", "m")
    other = array.copy(tmp_path / "b.b2nd", chunks=(20, 5), codec="lz4", filters="bitshuffle")
    assert (other.chunks, other.cparams["codec"], other.cparams["filters"]) == ((20, 5), "lz4", ["bitshuffle"])
    for made, expected in [
        (same, twin),
        (other, twin),
        (array.copy(dtype="i8"), twin.astype("i8")),
        (array.astype(">i2", level=1), twin.astype(">i2")),
        (array.T, twin.T),
        (array.transpose(1, 0), twin.T),
        (array.transpose((0, 1)), twin),
        (array.slice((slice(2, 5), 3)), twin[2:5, 3]),
        (array.expand_dims(1), twin[:, None]),
        (array.expand_dims((0, -1)).squeeze(), twin),
        (array.expand_dims(0).squeeze(0), twin),
    ]:
        assert isinstance(made, NDArray) and made.dtype == expected.dtype
        assert made.shape == expected.shape and np.array_equal(made[...], expected)
    for bad in (lambda: array.squeeze(0), lambda: array.transpose(0), lambda: array.transpose(0, 0)):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(IndexError):
        array.expand_dims(5)
    array.save(tmp_path / "c.b2nd")
    assert np.array_equal(superchunk.load(tmp_path / "c.b2nd"), twin)
    with pytest.raises(FileExistsError):
        array.save(tmp_path / "c.b2nd")


@pytest.mark.parametrize("dtype", ["f4", ">i2", "U3", [("a", "i4"), ("b", "f8")]])
def test_npy_files(tmp_path, dtype):
    twin = np.zeros((7, 8), dtype)
    twin[2:5] = np.ones(8).astype(dtype)
    path = str(tmp_path / "a.npy")
    superchunk.asarray(twin, chunks=(3, 3)).to_npy(path)
    assert np.load(path).tobytes() == twin.tobytes()
    np.save(path, np.asfortranarray(twin))
    array = NDArray.from_npy(path, chunks=(2, 5))
    assert array.chunks == (2, 5) and array[...].tobytes() == twin.tobytes()
    superchunk.asarray(np.float32(3)).to_npy(path)
    assert np.load(path) == 3


def test_chunks_are_walked(twin):
    array = superchunk.asarray(twin, chunks=(6, 10))
    rebuilt = np.zeros_like(twin)
    places = []
    for place, box, items in array.iter_chunks():
        places.append(place)
        rebuilt[box] = items
    assert np.array_equal(rebuilt, twin) and places == list(np.ndindex(4, 3))
    assert all(np.array_equal(a, b) for a, b in zip(array, twin, strict=True))
    array[:6] = 0
    infos = list(array.iter_chunks_info())
    assert [info["special"] for info in infos[:4]] == ["zeros"] * 3 + [None]
    assert infos[3]["codec"] == "lz4" and infos[3]["cratio"] > 0
    assert superchunk.decompress(array.get_chunk(5)).startswith(twin[6:7, 20:25].tobytes()[:4])
    assert list(superchunk.zeros((0, 3)).iter_chunks()) == []
    with pytest.raises(TypeError):
        iter(superchunk.asarray(3))
    with pytest.raises(TypeError):
        len(superchunk.asarray(3))


def test_attributes(tmp_path, twin):
    path = tmp_path / "a.b2nd"
    values = {
        "none": None, "bit": True, "count": 5, "large": 2**64 - 1, "ratio": 0.5, "text": "metre", "raw": b"\0\1",
        "list": [1, [2, "x"]], "pair": (1, 2), "map": {"a": {"b": 1}}, "set": {1, 2}, "complex": 1 + 2j,
    }  # fmt: skip
    with superchunk.asarray(twin, path=path, meta={"layer": b"fixed"}) as array:
        array.attrs.update(values)
        array.attrs["numpy"] = np.float32(1.5)
        array.attrs["gone"] = 1
        del array.attrs["gone"]
        for bad in (object(), [object()], np.zeros(3), 2**64):
            with pytest.raises((TypeError, OverflowError)):
                array.attrs["bad"] = bad
        with pytest.raises(KeyError):
            del array.attrs["gone"]
    with superchunk.open(path) as array:
        assert dict(array.attrs) == {**values, "numpy": 1.5} == array.vlmeta[:]
        assert array.meta["layer"] == b"fixed" and array.meta["b2nd"][2] == [20, 30]
        with pytest.raises(KeyError):
            array.attrs["gone"]
        with pytest.raises(ValueError):
            array.attrs["new"] = 1
        with pytest.raises(TypeError):
            array.meta["layer"] = b""


def test_commits(stored, twin):
    with superchunk.open(stored, "r+") as array:
        array[0] = 1
        assert superchunk.load(stored)[0, 1] == twin[0, 1]
        array.commit()
        assert superchunk.load(stored)[0, 1] == 1
        array[1] = 2
    assert superchunk.load(stored)[1, 1] == 2
    with pytest.raises(KeyError), superchunk.open(stored, "r+") as array:
        array[2] = 3
        raise KeyError
    assert superchunk.load(stored)[2, 1] == twin[2, 1]
    array = superchunk.open(stored, "r+")
    array[2] = 3
    with pytest.warns(ResourceWarning, match="discarded"):
        del array
    assert superchunk.load(stored)[2, 1] == twin[2, 1]


def test_arrays_are_verified(stored, twin):
    with superchunk.open(stored) as array:
        assert array.verify() and superchunk.asarray(twin).verify("decode")
    with open(stored, "r+b") as file:
        file.seek(400)
        file.write(b"\xff" * 60)
    with superchunk.open(stored) as array:
        report = array.verify("decode")
        assert not report and report.findings


def test_readers_refresh(stored):
    reader = superchunk.open(stored)
    with superchunk.open(stored, "r+") as writer:
        writer.resize((25, 30))
        writer[20:] = 9
        writer.compact()
    reader.refresh()
    assert reader.shape == (25, 30) and (reader[20:] == 9).all()


def test_numpy_takes_it_for_an_array(twin):
    array = superchunk.asarray(twin)
    assert np.array_equal(np.asarray(array), twin)
    assert np.asarray(array, "i8").dtype == np.int64
    assert np.add(array, 1)[0, 0] == 1
    assert np.array_equal(array.to_numpy(), twin) and array.tobytes() == twin.tobytes()
    with pytest.raises(ValueError):
        array.__array__(copy=False)


def double(array):
    return float(array[1, 2]) * 2


def test_handles_go_to_other_processes(stored, twin):
    context = multiprocessing.get_context("spawn")
    memory = superchunk.asarray(twin)
    with superchunk.open(stored) as array, context.Pool(2) as pool:
        assert pool.map(double, [array, memory, array]) == [64.0] * 3


def test_pickles(stored, twin):
    memory = superchunk.asarray(twin, codec="zstd")
    memory.attrs["unit"] = "m"
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(memory, protocol))
        assert np.array_equal(again[...], twin) and again.attrs["unit"] == "m"
        again[0, 0] = 5
    buffers = []
    small = pickle.dumps(memory, 5, buffer_callback=buffers.append)
    assert len(small) < 300 and len(buffers) == 1
    assert np.array_equal(pickle.loads(small, buffers=buffers)[...], twin)
    assert np.array_equal(copy.deepcopy(memory)[...], twin)
    with superchunk.open(stored) as array:
        again = pickle.loads(pickle.dumps(array))
        assert again.path == stored and np.array_equal(again[...], twin)
    with superchunk.open(stored, "r+") as array, pytest.raises(ValueError, match="writing"):
        pickle.dumps(array)


def test_bytes_of_a_file(stored, twin):
    with open(stored, "rb") as file:
        array = NDArray.from_bytes(file.read())
    assert np.array_equal(array[...], twin)
    array[0] = 4
    again = NDArray.from_cframe(bytearray(array.to_cframe()))
    assert (again[0] == 4).all() and np.array_equal(again[1:], twin[1:])
    fixed = NDArray.from_bytes(array.to_bytes(), copy=False)
    with pytest.raises(ValueError, match="reading only"):
        fixed[0] = 1


def test_texts(stored, twin):
    array = superchunk.open(stored)
    text = repr(array)
    for part in ("(20, 30)", "float32", "chunks (6, 10)", "blocks (3, 5)", "zstd+shuffle", "2.3 KiB", stored, " r>"):
        assert part in text
    html = array._repr_html_()
    assert html.count("<line") == 5 + 4 and "<script" not in html
    for shape, lines in [((7,), 2 + 8), ((2, 3, 4), 3 + 4 + 5), ((2, 0), 0), ((1, 1, 1, 1), 0), ((), 0)]:
        drawn = superchunk.zeros(shape, chunks=(1,) * len(shape))._repr_html_()
        assert drawn.count("<line") >= lines and (lines > 0) == ("<svg" in drawn)
    array.close()
    assert repr(array).startswith("<superchunk.NDArray closed") and array._repr_html_()


def test_tokens_are_those_of_the_content(stored, twin):
    one, two = superchunk.open(stored), superchunk.open(stored)
    token = one.__dask_tokenize__()
    assert token == two.__dask_tokenize__()
    with superchunk.open(stored, "r+") as array:
        array[...] = np.random.default_rng(1).random(twin.shape)
    assert superchunk.open(stored).__dask_tokenize__() != token
    memory = superchunk.asarray(twin)
    token = memory.__dask_tokenize__()
    assert token == superchunk.asarray(twin).__dask_tokenize__()
    memory[0, 0] = 5
    assert token != memory.__dask_tokenize__()


def test_sizeof_counts_the_memory(stored):
    noise = np.random.default_rng(1).random(100_000)
    assert sys.getsizeof(superchunk.asarray(noise)) > 500_000
    assert sys.getsizeof(superchunk.open(stored)) < 2000


def test_long_reads_are_interrupted():
    import os
    import signal

    array = superchunk.zeros((40_000, 10_000), "f4", chunks=(500, 1000))
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    with superchunk.nthreads(1), pytest.raises(KeyboardInterrupt):
        timer.start()
        while True:
            array[...]
    timer.join()


def test_large_arrays_are_read_in_pieces():
    twin = np.arange(3000 * 20_000, dtype="i4").reshape(3000, 20_000)
    array = superchunk.asarray(twin, chunks=(70, 5000), level=1)
    for key in (..., slice(1, None), (slice(3, None, 2), slice(None, None, -1)), (None, slice(5, 2999))):
        assert np.array_equal(array[key], twin[key])


def test_threads_share_a_handle(stored, twin):
    large = np.arange(256 * 256, dtype="i4").reshape(256, 256)
    array = superchunk.asarray(large, chunks=(64, 64), blocks=(16, 16))
    wrong = []

    def read(seed):
        random = np.random.default_rng(seed)
        for _ in range(200):
            i, j = random.integers(0, 200, 2)
            if not np.array_equal(array[i : i + 50, j : j + 50], large[i : i + 50, j : j + 50]):
                wrong.append((i, j))
            rows = random.integers(0, 256, 20)
            if not np.array_equal(array[rows], large[rows]):
                wrong.append(rows)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        array[10, 10] = large[10, 10]
    for thread in threads:
        thread.join()
    assert not wrong
