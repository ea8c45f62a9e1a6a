"""Clocks and files of the scripts that measure other formats."""

import os
import shutil
import time


def remove(target):
    if os.path.isdir(target):
        shutil.rmtree(target)
    elif os.path.exists(target):
        os.remove(target)


def set_aside(target):
    """Moves what may be there out of the way: removing it would slow down whoever makes files next (see rounds.rs)."""
    number = 0
    while os.path.exists(f"{target}.old{number}"):
        number += 1
    if os.path.exists(target):
        os.rename(target, f"{target}.old{number}")


def timed(work):
    """Seconds of processor and of wall time, and the result."""
    processor, wall = time.process_time(), time.perf_counter()
    result = work()
    return (time.process_time() - processor, time.perf_counter() - wall), result
