"""What an import costs, and that types and documents are there."""

import importlib.metadata
import pathlib

import superchunk

IMPORT = """
import sys
before = set(sys.modules)
import superchunk
superchunk.decompress(superchunk.compress(b"12345678" * 1000, level=9))
names = set(sys.modules) - before
foreign = {name for name in names if name.split(".")[0] not in sys.stdlib_module_names}
print(len(sys.modules), sorted(name for name in foreign if not name.startswith("superchunk")))
"""

MEMORY = """
import superchunk
for line in open("/proc/self/status"):
    if line.startswith("VmRSS"):
        print(line.split()[1])
"""


def test_import_takes_few_modules_and_none_of_others(run_python):
    count, foreign = run_python(IMPORT).split(maxsplit=1)
    assert foreign == "[]\n"
    assert int(count) <= 45


def test_import_takes_little_memory(run_python):
    if pathlib.Path("/proc/self/status").exists():
        assert int(run_python(MEMORY)) <= 15 * 1024


def test_the_package_has_no_dependency_and_is_typed():
    assert importlib.metadata.requires("superchunk") is None
    assert superchunk.__version__ == importlib.metadata.version("superchunk")
    folder = pathlib.Path(superchunk.__file__).parent
    for name in "py.typed", "__init__.pyi", "_core.pyi":
        assert (folder / name).is_file()


def test_everything_public_has_a_description():
    for name in dir(superchunk):
        if not name.startswith("_"):
            assert getattr(superchunk, name).__doc__, name
