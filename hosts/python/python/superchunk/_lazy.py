"""Names of the package whose modules are imported when they are first used."""

from importlib import import_module

_ERRORS = (
    "ChangedError",
    "CorruptError",
    "DurabilityError",
    "Error",
    "InternalError",
    "InvalidArgumentError",
    "IoError",
    "IsAFolderError",
    "LimitError",
    "LockedError",
    "MiscompressedError",
    "NameNotFoundError",
    "NotAFolderError",
    "NotFoundError",
    "PathExistsError",
    "PathNotFoundError",
    "PermissionDeniedError",
    "StoppedError",
    "TruncatedError",
    "UnsupportedError",
)

_CREATE = (
    "array",
    "asarray",
    "concat",
    "concatenate",
    "empty",
    "from_npy",
    "full",
    "full_like",
    "load",
    "ones",
    "save",
    "stack",
    "zeros",
    "zeros_like",
)

_PLACES = {
    **dict.fromkeys(_CREATE, "_create"),
    **dict.fromkeys(("NDArray", "Objects", "SChunk"), "_core"),
    "create_objects": "_frames",
    **dict.fromkeys(("Pack", "create_pack"), "_packs"),
    **dict.fromkeys(("Batch", "Grouping", "Summary"), "_scans"),
    **dict.fromkeys(("Column", "create_column"), "_columns"),
    **dict.fromkeys(("Table", "create_table"), "_tables"),
    **dict.fromkeys(_ERRORS, "_errors"),
    **dict.fromkeys(("Codec", "Filter", "SplitMode"), "_enums"),
}
_MODULES = ("compat",)


def names() -> tuple[str, ...]:
    return (*_PLACES, *_MODULES)


def find(name: str, package: dict):
    """Returns the value of a name of the package, and stores it there."""
    if name in _PLACES:
        value = getattr(import_module("superchunk." + _PLACES[name]), name)
    elif name in _MODULES:
        value = import_module("superchunk." + name)
    else:
        raise AttributeError(f"module 'superchunk' has no attribute {name!r}")
    package[name] = value
    return value
