"""What several test files use."""

import subprocess
import sys

import numpy
import pytest


@pytest.fixture
def walk():
    """A million small steps up and down, as 32-bit floats: compressible, but not trivially."""
    steps = numpy.random.default_rng(1).integers(-3, 4, 1_000_000)
    return numpy.cumsum(steps).astype("f4") * numpy.float32(0.25)


@pytest.fixture
def run_python():
    """Runs a program in a process of its own and returns what it prints."""

    def run(program: str, *arguments: str) -> str:
        command = [sys.executable, "-I", "-c", program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
