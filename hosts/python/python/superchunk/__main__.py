"""The command `superchunk`: `superchunk …` and `python -m superchunk …`."""

import sys

from ._core import _run_command


def main() -> int:
    """Runs the command line of this process and returns the exit code."""
    sys.stdout.flush()
    sys.stderr.flush()
    return _run_command(["superchunk", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
