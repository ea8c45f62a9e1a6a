"""The command `superchunk` that comes with the package."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

import superchunk

SCRIPT = str(pathlib.Path(sys.executable).with_name("superchunk"))
WAYS = [[SCRIPT], [sys.executable, "-m", "superchunk"]]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, timeout=100, **options)


@pytest.mark.parametrize("way", WAYS)
def test_the_command_packs_and_unpacks(way, walk, tmp_path):
    raw = tmp_path / "walk"
    raw.write_bytes(walk.tobytes())
    packed = tmp_path / "walk.b2frame"
    done = run(*way, "pack", str(raw), "-o", str(packed), "--typesize", "4")
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    assert superchunk.decompress(packed.read_bytes()) == walk.tobytes()
    assert run(*way, "unpack", str(packed), "-o", "-").stdout == walk.tobytes()


@pytest.mark.parametrize("way", WAYS)
def test_exit_codes_and_messages_are_those_of_the_program(way, tmp_path):
    done = run(*way, "info", str(tmp_path / "missing"))
    assert done.returncode != 0 and b"missing" in done.stderr and done.stdout == b""
    done = run(*way, "frobnicate")
    assert done.returncode == 2 and b"frobnicate" in done.stderr
    done = run(*way, "--version")
    assert done.returncode == 0 and done.stdout.startswith(b"superchunk ")
    assert b"Usage: superchunk" in run(*way, "pack", "--help").stdout


def test_the_command_is_a_filter(walk):
    packed = run(SCRIPT, "--typesize", "4", input=walk.tobytes())
    assert packed.returncode == 0, packed.stderr
    assert run(SCRIPT, "-d", input=packed.stdout).stdout == walk.tobytes()


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
def test_a_signal_ends_the_command_and_leaves_nothing(tmp_path):
    out = tmp_path / "out.b2frame"
    command = [SCRIPT, "pack", "-", "-o", str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=tmp_path) as process:
        # It has begun when it has taken more than a pipe holds.
        process.stdin.write(os.urandom(1 << 20))
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=100) == 128 + signal.SIGINT
    assert list(tmp_path.iterdir()) == []
