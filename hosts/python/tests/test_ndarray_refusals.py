"""What is wrong is refused as users of NumPy and h5py expect, and nothing has changed afterwards."""

import os

import numpy as np
import pytest

import superchunk


@pytest.fixture
def twin():
    return np.arange(20 * 30, dtype="i4").reshape(20, 30)


@pytest.fixture
def path(tmp_path, twin):
    path = tmp_path / "a.b2nd"
    superchunk.asarray(twin, path=path, chunks=(6, 10)).close()
    return path


def test_a_refused_change_changes_nothing(path, twin):
    array = superchunk.open(path, "r+")
    before = path.read_bytes()
    for change, error in [
        (lambda: array.__setitem__(20, 1), IndexError),
        (lambda: array.__setitem__((0, 30), 1), IndexError),
        (lambda: array.__setitem__([0, 21], 1), IndexError),
        (lambda: array.__setitem__((0, 0, 0), 1), IndexError),
        (lambda: array.__setitem__(np.ones((3, 3), bool), 1), IndexError),
        (lambda: array.__setitem__(0, [1, 2]), ValueError),
        (lambda: array.__setitem__(slice(None), np.ones((20, 29))), ValueError),
        (lambda: array.__setitem__(array[...] > 5, [1, 2]), ValueError),
        (lambda: array.__setitem__(0, "x"), ValueError),
        (lambda: array.__setitem__(0, object()), TypeError),
        (lambda: array.__setitem__("field", 1), IndexError),
        (lambda: array.__setitem__(0, 1 << 40), OverflowError),
        (lambda: array.oindex.__setitem__(([0, 1], [0, 1]), np.ones((2, 3))), ValueError),
        (lambda: array.vindex.__setitem__(([0, 1], [0, 1, 2]), 1), IndexError),
    ]:
        with pytest.raises(error):
            change()
        assert np.array_equal(array[...], twin)
    array.close()
    assert path.read_bytes() == before


def test_closed_arrays_say_so(path):
    array = superchunk.open(path, "r+")
    array.close()
    for use in [
        lambda: array[0],
        lambda: array.__setitem__(0, 1),
        lambda: array.shape,
        lambda: array.resize((3, 3)),
        lambda: array.append([1]),
        lambda: array.attrs["x"],
        lambda: array.to_bytes(),
        lambda: array.commit(),
        lambda: np.asarray(array),
        lambda: len(array),
        lambda: array.copy(),
    ]:
        with pytest.raises(ValueError, match="closed"):
            use()


def test_arrays_for_reading_say_so(path):
    with superchunk.open(path) as array:
        for change in [
            lambda: array.__setitem__(0, 1),
            lambda: array.resize((3, 3)),
            lambda: array.append(np.ones((1, 30))),
            lambda: array.delete(0),
            lambda: array.attrs.update(x=1),
            lambda: array.compact(),
        ]:
            with pytest.raises(ValueError, match=r"mode='r\+'"):
                change()


def test_paths_that_are_not_right(tmp_path, path, twin):
    with pytest.raises(FileNotFoundError):
        superchunk.open(tmp_path / "nothing.b2nd")
    with pytest.raises(FileNotFoundError):
        superchunk.load(tmp_path / "nothing.b2nd")
    with pytest.raises(FileNotFoundError):
        superchunk.asarray(twin, path=tmp_path / "no" / "folder.b2nd")
    before = path.read_bytes()
    for make in (superchunk.asarray, superchunk.zeros_like):
        with pytest.raises(FileExistsError):
            make(twin, path=path)
    with pytest.raises(ValueError, match="mode"):
        superchunk.asarray(twin, path=path, mode="r")
    assert path.read_bytes() == before
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"not an array at all" * 100)
    with pytest.raises(NotImplementedError):
        superchunk.open(foreign)


def test_damaged_files_are_value_errors(path, twin):
    whole = path.read_bytes()
    for broken in (whole[: len(whole) // 2], whole[:200] + b"\xff" * 100 + whole[300:]):
        path.write_bytes(broken)
        with pytest.raises((ValueError, NotImplementedError)) as caught:
            superchunk.load(path)
        assert str(path) in str(caught.value)


def test_a_second_writer_is_kept_out(path):
    with superchunk.open(path, "r+"):
        with pytest.raises(BlockingIOError):
            superchunk.open(path, "r+")
        assert superchunk.load(path).shape == (20, 30)


def test_what_fails_while_it_is_made_leaves_nothing(tmp_path, path):
    class Broken:
        shape, dtype, ndim = (40, 10), np.dtype("i4"), 2

        def __getitem__(self, key):
            if key[0].start > 0:
                raise RuntimeError("no more")
            return np.ones((10, 10), "i4")

    before = path.read_bytes()
    for target in (tmp_path / "new.b2nd", path):
        with pytest.raises(RuntimeError):
            superchunk.asarray(Broken(), path=target, mode="w", chunks=(10, 10))
    assert os.listdir(tmp_path) == ["a.b2nd"] and path.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"chunks": (5,)}, ValueError),
        ({"chunks": (0, 5)}, ValueError),
        ({"chunks": (5, 5), "blocks": (6, 5)}, ValueError),
        ({"chunks": (-1, 5)}, ValueError),
        ({"codec": "best"}, ValueError),
        ({"level": 10}, ValueError),
        ({"level": "high"}, TypeError),
        ({"filters": "sharpen"}, ValueError),
        ({"nothing": 1}, TypeError),
        ({"dtype": "O"}, TypeError),
        ({"dtype": "no such"}, TypeError),
    ],
)
def test_options_that_are_not_right(options, error):
    with pytest.raises(error):
        superchunk.zeros((20, 30), **options)


def test_shapes_that_are_not_right():
    for shape, error in [((-1,), ValueError), ("ab", TypeError), ((2.5,), TypeError), ((1,) * 17, ValueError)]:
        with pytest.raises(error):
            superchunk.zeros(shape)
