"""Every Blosc-family format: arrays, tables and buffers, without a dependency."""

from ._core import (
    ChunkInfo,
    Compressor,
    Detected,
    Finding,
    Report,
    SalvageReport,
    __version__,
    chunk_info,
    compress,
    copy,
    decompress,
    decompress_into,
    detect,
    get_nthreads,
    nthreads,
    open,
    remove,
    salvage,
    set_nthreads,
    verify,
)


def __getattr__(name: str):
    """Modules that only some programs need are imported when they are asked for."""
    from ._lazy import find

    return find(name, globals())


def __dir__() -> list[str]:
    from ._lazy import names

    return sorted({*globals(), *names()})


def _become_worker_after_fork() -> None:
    import os
    import sys

    from ._core import _become_worker

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_become_worker)
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None:
        _become_worker()


_become_worker_after_fork()
del _become_worker_after_fork
