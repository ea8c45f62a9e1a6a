"""Clocks and files of the scripts that measure other formats."""

import os
import shutil
import time


def remove(target):
    if os.path.isdir(target):
        shutil.rmtree(target)
    elif os.path.exists(target):
        os.remove(target)


def timed(work):
    """Seconds of processor and of wall time, and the result."""
    processor, wall = time.process_time(), time.perf_counter()
    result = work()
    return (time.process_time() - processor, time.perf_counter() - wall), result
