"""What everything that is open has in common: commits, `with`, errors, pickling."""

import gc
import pickle

import numpy
import pytest
import superchunk


def _schunk(path):
    made = superchunk.SChunk.create(path, data=bytes(1000), typesize=4, mode="w-")
    return made, lambda it: it.append(b"abcd"), len


def _objects(path):
    return superchunk.create_objects(path, "text", ["a", "b"]), lambda it: it.append("c"), len


def _pack(path):
    return superchunk.create_pack(path, b"some bytes"), lambda it: it.append(b"more"), len


def _bcolz(path):
    made = superchunk.create_table(path, {"x": numpy.arange(5), "y": numpy.ones(5)})
    return made, lambda it: it.append((1, 2.0)), len


def _blsk(path):
    made = superchunk.create_table(path, {"x": numpy.arange(5)}, format="blsk")
    return made, lambda it: it.append({"x": [1]}), len


def _column(path):
    return superchunk.create_column(path, numpy.arange(5)), lambda it: it.append(7), len


def _array(path):
    return superchunk.asarray(numpy.arange(5), path=path), lambda it: it.append([7]), len


KINDS = [_schunk, _objects, _pack, _bcolz, _blsk, _column, _array]


@pytest.fixture(params=KINDS, ids=lambda make: make.__name__.strip("_"))
def made(request, tmp_path):
    """A path with something committed, how to change it, and how to see that."""
    path = tmp_path / "stored"
    handle, change, size = request.param(path)
    handle.close()
    return path, change, size


def test_what_is_created_with_data_is_there_before_anybody_closes_it(tmp_path):
    for make in KINDS:
        handle, _, size = make(tmp_path / make.__name__)
        assert size(superchunk.open(tmp_path / make.__name__)) == size(handle), make
        handle.close()


def test_a_clean_exit_commits(made):
    path, change, size = made
    with superchunk.open(path, "r+") as handle:
        before = size(handle)
        change(handle)
        assert size(handle) > before
    assert handle.closed
    assert size(superchunk.open(path)) > before


def test_an_exception_discards(made):
    path, change, size = made
    with pytest.raises(ZeroDivisionError), superchunk.open(path, "r+") as handle:
        before = size(handle)
        change(handle)
        1 / 0
    assert handle.closed
    assert size(superchunk.open(path)) == before


def test_a_forgotten_handle_warns_and_discards(made):
    path, change, size = made
    handle = superchunk.open(path, "r+")
    before = size(handle)
    change(handle)
    with pytest.warns(ResourceWarning, match="discarded"):
        del handle
        gc.collect()
    assert size(superchunk.open(path)) == before


def test_a_closed_handle_says_so(made):
    path, change, size = made
    handle = superchunk.open(path)
    handle.close()
    handle.close()
    assert handle.closed
    with pytest.raises(ValueError, match="closed"):
        size(handle)
    assert "closed" in repr(handle)


def test_a_handle_for_reading_refuses_changes(made):
    path, change, size = made
    handle = superchunk.open(path)
    before = size(handle)
    with pytest.raises(ValueError, match="reading only"):
        change(handle)
    assert size(handle) == before
    assert handle.mode == "r"


def test_a_second_writer_is_kept_out(made):
    path, change, _ = made
    with superchunk.open(path, "r+") as handle:
        change(handle)
        with pytest.raises(BlockingIOError):
            change(superchunk.open(path, "r+"))


def test_a_reader_takes_over_what_was_committed(made):
    path, change, size = made
    reader = superchunk.open(path)
    before = size(reader)
    with superchunk.open(path, "r+") as handle:
        change(handle)
    reader.refresh()
    assert size(reader) > before


def test_handles_are_pickled_by_path(made):
    path, _, size = made
    handle = superchunk.open(path)
    again = pickle.loads(pickle.dumps(handle))
    assert type(again) is type(handle)
    assert size(again) == size(handle)
    assert again.mode == "r"
    with superchunk.open(path, "r+") as writer, pytest.raises(ValueError, match="pickled"):
        pickle.dumps(writer)


def test_whatever_is_stored_is_verified_copied_and_salvaged(made, tmp_path):
    path, _, size = made
    count = size(superchunk.open(path))
    assert superchunk.open(path).verify("decode")
    superchunk.copy(path, tmp_path / "copied")
    assert size(superchunk.open(tmp_path / "copied")) == count
    superchunk.salvage(path, tmp_path / "salvaged")
    assert size(superchunk.open(tmp_path / "salvaged")) == count


def test_what_is_there_is_replaced_only_if_that_is_asked_for(tmp_path):
    for make in KINDS:
        make(tmp_path / make.__name__)[0].close()
        with pytest.raises(FileExistsError):
            make(tmp_path / make.__name__)
    path = tmp_path / "_bcolz"
    superchunk.create_table(path, {"z": numpy.arange(3)}, mode="w").close()
    assert superchunk.open(path).names == ["z"]
    superchunk.create_objects(path, "text", ["a"], mode="w").close()
    assert list(superchunk.open(path)) == ["a"]


def test_attributes_are_a_mapping_that_is_committed(tmp_path):
    values = {"unit": "USD", "scale": 0.5, "size": 12}
    for make in (_schunk, _bcolz, _blsk, _column, _array):
        path = tmp_path / make.__name__
        with make(path)[0] as handle:
            handle.attrs.update(values)
            handle.attrs["gone"] = 1
            del handle.attrs["gone"]
        found = superchunk.open(path).attrs
        assert dict(found) == values, make
        with pytest.raises(KeyError):
            found["gone"]
