"""Every key and every value of NumPy's: the same items, shape and type, or the same exception."""

import os

import numpy as np
import pytest
from random_arrays import DTYPES, Random

import superchunk

SEED = int(os.environ.get("SUPERCHUNK_SEED", "20261119"))
READS, WRITES, EACH = 24_000, 12_000, 40


def attempt(work):
    """The result of `work`, or the exception it raises."""
    try:
        return work()
    except (IndexError, ValueError, TypeError, OverflowError) as error:
        return error


def new_case(random, number):
    """An array, its twin of NumPy, and what to say when they differ."""
    dtype = DTYPES[number % len(DTYPES)]
    shape = random.shape()
    chunks, blocks = random.grid(shape)
    twin = random.items(shape, dtype).copy()
    array = superchunk.asarray(twin, chunks=chunks, blocks=blocks, level=random.choice((0, 1, 5)))
    words = f"seed {SEED}, case {number}: {shape} {dtype}, chunks {chunks}, blocks {blocks}"
    return array, twin, words


def assert_same(found, expected, words):
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected)), f"{words}: {found!r} instead of {expected!r}"
        return
    assert not isinstance(found, Exception), f"{words}: {found!r}"
    assert type(found) is type(expected), f"{words}: {type(found)} instead of {type(expected)}"
    assert found.dtype == expected.dtype, f"{words}: {found.dtype} instead of {expected.dtype}"
    assert found.shape == expected.shape, f"{words}: {found.shape} instead of {expected.shape}"
    assert found.tobytes() == expected.tobytes(), f"{words}: other items"


@pytest.mark.parametrize("part", range(4))
def test_random_keys_read_as_numpys(part):
    refused = 0
    for number in range(part, READS // EACH, 4):
        random = Random(f"read {SEED} {number}")
        array, twin, words = new_case(random, number)
        for _ in range(EACH):
            key = random.key(twin.shape)
            expected = attempt(lambda: twin[key])
            refused += isinstance(expected, Exception)
            assert_same(attempt(lambda: array[key]), expected, f"{words}, key {key!r}")
    assert refused < READS // 4 // 4, "most random keys must be valid"


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("part", range(4))
def test_random_keys_written_as_numpys(part):
    for number in range(part, WRITES // EACH, 4):
        random = Random(f"write {SEED} {number}")
        array, twin, words = new_case(random, number)
        for _ in range(EACH):
            key = random.key(twin.shape)
            selected = attempt(lambda: twin[key])
            shape = () if isinstance(selected, Exception) else np.shape(selected)
            value = random.value(shape, twin.dtype)
            before = twin.copy()
            expected = attempt(lambda: twin.__setitem__(key, value))
            found = attempt(lambda: array.__setitem__(key, value))
            words_here = f"{words}, key {key!r}, value {value!r}"
            if isinstance(expected, Exception):
                assert isinstance(found, Exception), f"{words_here}: accepted, NumPy: {expected!r}"
                twin[...] = before
            elif np.size(selected) > 0 or not isinstance(found, ValueError):
                # NumPy does not look at the shape of values for no items.
                assert found is None, f"{words_here}: {found!r}"
            assert array[...].tobytes() == twin.tobytes(), f"{words_here}: other items afterwards"


def test_index_errors_say_what_numpys_say():
    twin = np.zeros((3, 4))
    array = superchunk.asarray(twin)
    masks = np.ones(4, bool), np.ones((3, 3), bool)
    keys = [
        5, -4, (0, 4), (0, 0, 0), (..., ...), 1.0, "x", [1.5], np.array([0.5]), [5], (slice(None), [4, 0]),
        ([0, 1], [0, 1, 2]), masks[0], masks[1], (masks[0], 0), ([0], [-5]), 1 << 70, slice(None, None, 0),
        {}, (0, "x"), [[0, 1], [7, 0]], slice(1.5), (None, 5),
    ]  # fmt: skip
    for key in keys:
        expected, found = attempt(lambda key=key: twin[key]), attempt(lambda key=key: array[key])
        assert isinstance(expected, Exception), key
        assert (type(found), str(found)) == (type(expected), str(expected)), key


def test_oindex_takes_all_combinations():
    for number in range(300):
        random = Random(f"outer {SEED} {number}")
        array, twin, words = new_case(random, number)
        key, expected, dropped = [], twin, []
        for axis, side in enumerate(twin.shape):
            what = random.choice(("int", "slice", "list", "mask")) if side else "slice"
            if what == "int":
                part = random.randint(-side, side - 1)
                picked = [part]
                dropped.append(axis)
            elif what == "slice":
                part = random.slice(side)
                picked = range(side)[part]
            elif what == "list":
                part = [random.randint(-side, side - 1) for _ in range(random.randint(0, 5))]
                picked = part
            else:
                part = np.array([random.chance(0.5) for _ in range(side)])
                picked = np.nonzero(part)[0]
            key.append(part)
            expected = np.take(expected, np.array(picked, int), axis)
        expected = np.asarray(expected.squeeze(tuple(dropped)))
        words += f", oindex {key!r}"
        found = np.asarray(array.oindex[tuple(key)], twin.dtype)
        assert_same(found, expected, words)
        open_mesh = np.ix_(*(np.arange(side)[part].reshape(-1) for part, side in zip(key, twin.shape, strict=True)))
        value = random.items(expected.shape, twin.dtype)
        array.oindex[tuple(key)] = value
        twin[open_mesh] = np.expand_dims(value, tuple(dropped))
        assert_same(array[...], twin, words)


def test_vindex_puts_the_axes_of_lists_first():
    twin = np.arange(3 * 4 * 5 * 6).reshape(3, 4, 5, 6)
    array = superchunk.asarray(twin, chunks=(2, 3, 2, 4), blocks=(1, 2, 2, 3))
    rows, columns = [0, 2, 2], [1, 4, 0]
    expected = np.stack([twin[:, i, j] for i, j in zip([0, 1, 3], columns, strict=True)])
    assert np.array_equal(array.vindex[:, [0, 1, 3], columns], expected)
    assert np.array_equal(array.vindex[rows, :, columns], twin[rows, :, columns])
    array.vindex[:, [0, 1, 3], columns] = -expected
    for i, j in zip([0, 1, 3], columns, strict=True):
        twin[:, i, j] *= -1
    assert np.array_equal(array[...], twin)


def test_of_an_item_that_is_written_twice_the_last_value_stays():
    array = superchunk.zeros((10, 10), "i4", chunks=(3, 4))
    array[[1, 1, 1]] = np.arange(30).reshape(3, 10)
    array[[2, 2], [3, 3]] = [8, 9]
    assert array[1].tolist() == list(range(20, 30))
    assert array[2, 3] == 9


def test_a_broadcast_value_takes_no_memory_of_its_own():
    import tracemalloc

    array = superchunk.zeros((4000, 4000), "f8")
    row = np.arange(4000.0)
    tracemalloc.start()
    array[...] = row
    array[:, 5] = 7
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    row[5] = 7
    assert np.array_equal(array[3999], row)
    assert peak < 8 << 20


def test_get_reads_into_arrays_with_any_strides():
    twin = np.arange(7 * 8 * 9, dtype="i4").reshape(7, 8, 9)
    array = superchunk.asarray(twin, chunks=(3, 4, 5), blocks=(2, 2, 2))
    outs = [
        np.zeros((7, 8, 9), "i4"),
        np.zeros((9, 8, 7), "i4").T,
        np.zeros((14, 8, 18), "i4")[::2, ::-1, ::2],
    ]
    for out in outs:
        assert array.get(..., out=out) is out
        assert np.array_equal(out, twin)
    out = np.full((7, 20, 9), -1, "i4")
    array.get((slice(None), [1, 3]), out=out[:, 5:9:2])
    assert np.array_equal(out[:, 5:9:2], twin[:, [1, 3]])
    assert (np.delete(out, (5, 7), axis=1) == -1).all()
    bad = [(np.zeros((7, 8), "i4"), ValueError), (np.zeros((7, 8, 9), "i8"), TypeError)]
    fixed = np.zeros((7, 8, 9), "i4")
    fixed.flags.writeable = False
    for out, error in [*bad, (fixed, ValueError)]:
        with pytest.raises(error):
            array.get(..., out=out)


def test_fields_are_read_and_written():
    dtype = np.dtype([("x", "<i4"), ("y", ">f8"), ("z", "u1", (2,))])
    twin = np.zeros((6, 5), dtype)
    twin["x"] = np.arange(30).reshape(6, 5)
    array = superchunk.asarray(twin, chunks=(4, 2))
    assert np.array_equal(array["x"], twin["x"])
    assert np.array_equal(array[["x", "y"]], twin[["x", "y"]])
    assert np.array_equal(array.fields["z"][2:4, ::-1], twin["z"][2:4, ::-1])
    assert array.fields["x"].shape == (6, 5) and list(array.fields) == ["x", "y", "z"]
    array["y"] = twin["y"] = np.arange(5) / 2
    array.fields["x"][1, 2:] = twin["x"][1, 2:] = 77
    array.fields["x"][0, 0] = twin["x"][0, 0] = 5
    assert array[...].tobytes() == twin.tobytes()
    with pytest.raises(KeyError):
        array.fields["nothing"]
    with pytest.raises(ValueError, match="no field of name nothing"):
        array["nothing"]
