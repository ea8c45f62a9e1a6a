"""python-blosc2's own tests of arrays on `superchunk.compat.blosc2`, from its source package.

What is expected to fail is listed by name, with the reason. The package comes from `SUPERCHUNK_BLOSC2_SDIST`
(a folder), or from PyPI.
"""

import os
import subprocess
import sys
import tarfile

import pytest

VERSION = "4.14.1"
FILES = [
    f"ndarray/test_{name}.py"
    for name in (
        "buffer", "copy", "empty", "full", "iterchunks_info", "metalayers", "mode", "nans", "persistency",
        "resize", "squeeze", "zeros",
    )
]  # fmt: skip

VIEWS = "squeeze and expand_dims return copies, not views that keep the array alive"
DTYPES = "sub-arrays of a dtype become axes of the array, as with NumPy"
LIMITS = "a chunk that is too large is a ValueError, not a RuntimeError"
PRECISION = "a precision of 0 bits is refused"
EXPECTED = {
    "test_empty.py::test_empty[shape2-": PRECISION,
    "test_resize.py::test_expand_dims": VIEWS,
    "test_zeros.py::test_nd_dtype": DTYPES,
    "test_zeros.py::test_zeros[shape3-": LIMITS,
    "test_zeros.py::test_zeros[shape4-": LIMITS,
}

SHIM = """
import sys
import superchunk.compat.blosc2 as module
sys.modules["blosc2"] = module
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The folder `tests` of python-blosc2."""
    folder = tmp_path_factory.mktemp("blosc2")
    given = os.environ.get("SUPERCHUNK_BLOSC2_SDIST")
    if given is not None:
        return os.path.join(given, "tests")
    import re
    import urllib.request

    with urllib.request.urlopen("https://pypi.org/simple/blosc2/", timeout=60) as answer:
        page = answer.read().decode()
    address = re.search(rf'href="([^"#]*/blosc2-{VERSION}\.tar\.gz)', page)[1]
    archive, _ = urllib.request.urlretrieve(address, folder / "blosc2.tar.gz")
    with tarfile.open(archive) as archive:
        archive.extractall(folder, filter="data")
    return str(folder / f"blosc2-{VERSION}" / "tests")


def test_its_tests_of_storage(source, tmp_path):
    import shutil

    (tmp_path / "conftest.py").write_text(SHIM)
    for file in FILES:
        shutil.copy(os.path.join(source, file), tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    surprises = [name for name in failed if not name.startswith(tuple(EXPECTED))]
    assert not surprises, done.stdout
    unused = [name for name in EXPECTED if not any(found.startswith(name) for found in failed)]
    assert not unused, f"pass by now: {unused}"
    passed = int(done.stdout.splitlines()[-1].partition(" passed")[0].split()[-1])
    assert passed >= 230, done.stdout
