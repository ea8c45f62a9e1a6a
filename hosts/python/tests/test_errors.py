"""Exceptions: classes, attributes, and panics."""

import errno
import inspect
import pickle

import pytest

import superchunk


def error_of(expected, function, *arguments, **keywords):
    with pytest.raises(expected) as caught:
        function(*arguments, **keywords)
    return caught.value


def test_a_truncated_chunk_says_where_it_ends():
    chunk = superchunk.compress(b"0123456789" * 100)
    error = error_of(superchunk.TruncatedError, superchunk.decompress, chunk[:-1])
    assert isinstance(error, superchunk.CorruptError)
    assert isinstance(error, ValueError) and isinstance(error, EOFError)
    assert (error.kind, error.format, error.field, error.offset) == (
        "truncated",
        "chunk",
        "cbytes",
        12,
    )
    assert error.path is None and str(len(chunk)) in str(error)


def test_a_corrupt_chunk_says_which_field_is_wrong():
    chunk = bytearray(superchunk.compress(b"0123456789" * 100))
    chunk[3] = 0
    error = error_of(superchunk.CorruptError, superchunk.decompress, chunk)
    assert not isinstance(error, EOFError)
    assert (error.kind, error.field, error.offset) == ("corrupt", "typesize", 3)


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    missing = str(tmp_path / "missing.b2nd")
    for function in superchunk.open, superchunk.verify, superchunk.detect, superchunk.remove:
        error = error_of(FileNotFoundError, function, missing)
        assert isinstance(error, superchunk.NotFoundError)
        assert (error.errno, error.filename, error.path) == (errno.ENOENT, missing, missing)
        assert error.kind == "not_found" and missing in str(error)


def test_a_file_of_another_format_is_named(tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"just text")
    error = error_of(NotImplementedError, superchunk.open, other)
    assert isinstance(error, superchunk.UnsupportedError)
    assert error.path == str(other) and "no known format" in str(error)
    error = error_of(superchunk.UnsupportedError, superchunk.open, tmp_path)
    assert error.path == str(tmp_path)


def test_open_says_what_it_expects(tmp_path):
    for mode in "w", "x":
        assert "does not create" in str(error_of(ValueError, superchunk.open, tmp_path, mode))
    assert "'r' or 'r+'" in str(error_of(ValueError, superchunk.open, tmp_path, "rb"))
    assert "nthread" in str(error_of(TypeError, superchunk.open, tmp_path, nthread=2))
    error_of(TypeError, superchunk.open)
    error_of(TypeError, superchunk.open, 5)


def test_every_class_is_one_of_ours_and_a_builtin():
    for name in dir(superchunk):
        found = getattr(superchunk, name)
        if inspect.isclass(found) and name.endswith("Error"):
            assert issubclass(found, superchunk.Error)
            assert found.__module__ == "superchunk" and found.__doc__


def test_exceptions_are_pickled_with_their_attributes(tmp_path):
    missing = str(tmp_path / "missing")
    truncated = error_of(superchunk.TruncatedError, superchunk.decompress, b"\2")
    not_found = error_of(superchunk.NotFoundError, superchunk.open, missing)
    for error in truncated, not_found:
        same = pickle.loads(pickle.dumps(error))
        assert type(same) is type(error) and str(same) == str(error)
        assert vars(same) == vars(error)


def test_a_panic_is_an_internal_error(capfd):
    error = error_of(superchunk.InternalError, superchunk._core._panic, "on purpose")
    assert isinstance(error, RuntimeError) and error.kind == "bug"
    assert "on purpose" in str(error) and "report" in str(error)
    assert "on purpose" in capfd.readouterr().err
