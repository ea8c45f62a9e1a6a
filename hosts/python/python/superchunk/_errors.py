"""The exceptions, one for each kind of error of the library.

Each is also the built-in that callers of such functions catch: a damaged file is a `ValueError`, a
missing one a `FileNotFoundError`.
"""

import errno as _errno
import os as _os


class Error(Exception):
    """What every error of this package is; `str(error)` is the sentence with file and place."""

    kind: str | None = None
    """The kind in a word, such as `corrupt`."""
    path: str | None = None
    """The file or folder it is about."""
    format: str | None = None
    """The structure that was being read, such as `chunk` or `frame`."""
    field: str | None = None
    """The field or part of it, in the format's own spelling."""
    offset: int | None = None
    """The byte where it is, from the start of the structure."""


class CorruptError(Error, ValueError):
    """The bytes contradict the format or themselves."""


class TruncatedError(CorruptError, EOFError):
    """The bytes end too early; more of them could cure it."""


class UnsupportedError(Error, NotImplementedError):
    """The bytes are valid, but need something that this package does not have."""


class InvalidArgumentError(Error, ValueError):
    """The caller asked for something impossible."""


class LimitError(Error, MemoryError):
    """Going on would exceed the caller's limits or those of the format."""


class NotFoundError(Error):
    """There is nothing of that name."""


class NameNotFoundError(NotFoundError, KeyError):
    """There is no attribute or column of that name."""

    __str__ = Exception.__str__


class ChangedError(Error, RuntimeError):
    """Another writer has changed it since it was opened: refresh, then try again."""


class MiscompressedError(Error, RuntimeError):
    """A new chunk does not decode to what went into it; nothing was stored."""


class InternalError(Error, RuntimeError):
    """This package has broken a rule of its own: please report it."""


class IoError(Error, OSError):
    """The operating system said no."""

    _sentence: str | None = None

    def __str__(self) -> str:
        return self._sentence or super().__str__()


class PathNotFoundError(IoError, NotFoundError, FileNotFoundError):
    """There is no file or folder of that name."""


class LockedError(IoError, BlockingIOError):
    """Another writer holds it."""


class DurabilityError(IoError):
    """The change is in place, but may not survive a power cut: the last sync failed."""


class PathExistsError(IoError, FileExistsError):
    """There is something of that name already."""


class PermissionDeniedError(IoError, PermissionError):
    """The operating system does not allow it."""


class NotAFolderError(IoError, NotADirectoryError):
    """It is not a folder."""


class IsAFolderError(IoError, IsADirectoryError):
    """It is a folder."""


_BY_KIND: dict[str, type[Error]] = {
    "corrupt": CorruptError,
    "truncated": TruncatedError,
    "unsupported": UnsupportedError,
    "invalid_argument": InvalidArgumentError,
    "limit_exceeded": LimitError,
    "not_found": NameNotFoundError,
    "locked": LockedError,
    "changed": ChangedError,
    "io": IoError,
    "miscompressed": MiscompressedError,
    "durability_unknown": DurabilityError,
    "bug": InternalError,
}

_BY_ERRNO: dict[int, type[IoError]] = {
    _errno.ENOENT: PathNotFoundError,
    _errno.EEXIST: PathExistsError,
    _errno.ENOTEMPTY: PathExistsError,
    _errno.EACCES: PermissionDeniedError,
    _errno.EPERM: PermissionDeniedError,
    _errno.EROFS: PermissionDeniedError,
    _errno.ENOTDIR: NotAFolderError,
    _errno.EISDIR: IsAFolderError,
}


def _make(
    kind: str,
    sentence: str,
    path: str | None,
    place: tuple[str, str, int | None],
    errno: int | None,
) -> Error:
    """Makes the exception of an error of the library, which calls this."""
    found = _BY_KIND[kind]
    if errno is not None and found in (IoError, NameNotFoundError):
        found = _BY_ERRNO.get(errno, IoError)
    error: Error
    if issubclass(found, IoError):
        number = _errno.EAGAIN if found is LockedError else errno or _errno.EIO
        io_error: IoError = found(number, _os.strerror(number), path)
        io_error._sentence = sentence
        error = io_error
    else:
        error = found(sentence)
    error.kind, error.path = kind, path
    error.format, error.field, error.offset = place
    return error


for _name, _value in list(globals().items()):
    if isinstance(_value, type) and issubclass(_value, Error):
        _value.__module__ = "superchunk"
del _name, _value
