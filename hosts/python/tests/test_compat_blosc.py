"""`superchunk.compat.blosc`: python-blosc's own tests and doctests, and what it must not do."""

import ast
import doctest
import importlib.metadata
import importlib.util
import pathlib
import pickle
import subprocess
import sys

import blosc
import numpy
import pytest

import superchunk.compat.blosc as ours

ORIGINAL = pathlib.Path(blosc.__file__).parent

SUITE = """
import sys, unittest
import superchunk.compat.blosc as ours

# `import blosc` is ours; the other modules of the package are those of python-blosc.
ours.__path__ = [sys.argv[1]]
sys.modules["blosc"] = ours
import blosc.test

assert "blosc.blosc_extension" not in sys.modules
suite = unittest.TestLoader().loadTestsFromTestCase(blosc.test.TestCodec)
result = unittest.TextTestRunner(verbosity=2).run(suite)
print(result.testsRun, len(result.skipped), result.wasSuccessful())
"""


def test_the_unit_tests_of_python_blosc_pass():
    assert importlib.metadata.version("blosc") == "1.11.4"
    command = [sys.executable, "-c", SUITE, str(ORIGINAL)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout == "26 0 True\n", done.stderr


def test_the_doctests_of_python_blosc_pass():
    source = (ORIGINAL / "toplevel.py").read_text()
    examples = []
    for node in ast.parse(source).body:
        text = isinstance(node, ast.FunctionDef) and ast.get_docstring(node, clean=False)
        if text and ">>>" in text:
            names = {"blosc": ours}
            parsed = doctest.DocTestParser().get_doctest(text, names, node.name, None, 0)
            examples.append(parsed)
    assert len(examples) == 13
    runner = doctest.DocTestRunner()
    for example in examples:
        assert runner.run(example).failed == 0, example.name


def test_every_public_name_of_python_blosc_is_there():
    modules = {"toplevel", "version", "test", "blosc_extension", "atexit"}
    missing = {name for name in dir(blosc) if not name.startswith("_")} - set(dir(ours)) - modules
    assert missing == set()


@pytest.mark.parametrize("dtype", ["f8", "i2", "U5", "S3", "M8[s]", "c16", "f4,i8"])
def test_packed_arrays_go_both_ways(dtype):
    array = numpy.zeros((5, 7), dtype)
    array.view("u1")[..., ::3] = 66 if dtype[0] not in "U" else 0
    for packed in ours.pack_array(array), blosc.pack_array(array):
        for unpack in ours.unpack_array, blosc.unpack_array:
            found = unpack(packed)
            assert found.dtype == array.dtype and (found == array).all()


class Evil:
    def __reduce__(self):
        return pathlib.Path.touch, (pathlib.Path("evil"),)


def test_nothing_but_arrays_is_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for evil in Evil(), numpy.array([Evil()], object), [Evil()], pathlib.Path:
        with pytest.raises(pickle.UnpicklingError):
            ours.unpack_array(ours.compress(pickle.dumps(evil)))
    assert not (tmp_path / "evil").exists()
    with pytest.raises(TypeError, match="Python objects"):
        ours.pack_array(numpy.array([Evil()], object))
