"""Threads, processes, and how many of them."""

import multiprocessing
import os
import select
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

import superchunk

FORKS = 200
"""The number of children of the test of forks."""
DEADLINE = 60
"""The seconds after which a child hangs."""


def test_the_number_of_threads_is_the_nearest_that_is_said():
    superchunk.set_nthreads(3)
    try:
        assert superchunk.get_nthreads() == 3
        with superchunk.nthreads(2):
            assert superchunk.get_nthreads() == 2
            with superchunk.nthreads(5):
                assert superchunk.get_nthreads() == 5
            assert superchunk.get_nthreads() == 2
            with ThreadPoolExecutor(1) as other:
                assert other.submit(superchunk.get_nthreads).result() == 3
        assert superchunk.set_nthreads(4) == 3
    finally:
        superchunk.set_nthreads(None)
    assert superchunk.get_nthreads() == min(len(os.sched_getaffinity(0)), 256)


@pytest.mark.parametrize("count", [0, -1, 257, 2.5, "2"])
def test_other_numbers_of_threads_are_refused(count):
    for function in superchunk.set_nthreads, superchunk.nthreads:
        with pytest.raises((ValueError, TypeError, OverflowError)):
            function(count)


def test_the_result_does_not_depend_on_the_number_of_threads(walk):
    expected = superchunk.compress(walk, codec="zstd", nthreads=1)
    for count in 2, 3, 8:
        assert superchunk.compress(walk, codec="zstd", nthreads=count) == expected
        assert superchunk.decompress(expected, nthreads=count) == walk.tobytes()


def test_threads_share_a_compressor(walk):
    compressor = superchunk.Compressor(codec="lz4")
    pieces = [walk[start : start + size] for start in range(0, 900_000, 9973) for size in (5, 9000)]

    def work(piece):
        chunk = compressor.encode(piece)
        assert superchunk.decompress(chunk) == piece.tobytes()
        assert compressor.getitem(chunk, 2, 3) == piece[2:5].tobytes()
        return chunk

    with ThreadPoolExecutor(8) as pool:
        chunks = list(pool.map(work, pieces * 5))
    assert chunks == [superchunk.compress(piece) for piece in pieces] * 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_forked_children_work_under_reading_threads(walk, tmp_path):
    small, large = superchunk.compress(walk[:1000]), superchunk.compress(walk)
    superchunk.save(tmp_path / "walk.b2nd", walk)
    array = superchunk.open(tmp_path / "walk.b2nd")
    stop = threading.Event()
    failures = []

    def read():
        while not stop.is_set():
            for chunk, piece in (small, walk[:1000]), (large, walk):
                if superchunk.decompress(chunk, nthreads=2) != piece.tobytes():
                    failures.append(len(piece))

    def child():
        good = superchunk.get_nthreads() == 1
        good &= superchunk.compress(walk[:1000]) == small
        good &= superchunk.decompress(large, nthreads=2) == walk.tobytes()
        good &= array[54_321] == walk[54_321] and (array[:] == walk).all()
        array.close()
        os._exit(0 if good else 1)

    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    try:
        for _ in range(FORKS):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
            if pid == 0:
                child()
            wait(pid)
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert failures == []


def wait(pid):
    """Waits for a child to end well, until the deadline."""
    descriptor = os.pidfd_open(pid)
    try:
        ready, _, _ = select.select([descriptor], [], [], DEADLINE)
        if not ready:
            os.kill(pid, 9)
        _, status = os.waitpid(pid, 0)
        assert ready, "a child hangs"
        assert os.waitstatus_to_exitcode(status) == 0
    finally:
        os.close(descriptor)


def count_in_child(_):
    return superchunk.get_nthreads()


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_of_multiprocessing_have_one_thread_each(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(count_in_child, range(4)) == [1] * 4


def test_importing_does_not_bring_back_the_lock_of_the_interpreter(run_python):
    program = """
import sys
enabled = getattr(sys, "_is_gil_enabled", lambda: True)
before = enabled()
import superchunk
print(before, enabled())
"""
    before, after = run_python(program).split()
    assert before == after
