"""The old programs, in the environment whose interpreter SUPERCHUNK_PEER_PYTHON_LEGACY names."""

import os
import subprocess


# Names that Python has given up, too.
PRELUDE = """
import collections.abc
collections.MutableMapping = collections.abc.MutableMapping
"""


def run(program: str, *arguments) -> str:
    """Runs a program that may import bloscpack and bcolz; returns what it prints."""
    # The old packages use names that NumPy has given up.
    command = [os.environ["SUPERCHUNK_PEER_PYTHON_LEGACY"], "-W", "ignore", "-c", PRELUDE + program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout
