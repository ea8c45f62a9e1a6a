"""The extension module; `superchunk` has what is public of it."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from types import TracebackType
from typing import Any, Literal, TypeAlias, TypeVar, final, overload

from typing_extensions import Buffer, Self

_Path: TypeAlias = str | PathLike[str]
_Filter: TypeAlias = str | tuple[str, int]
_Filters: TypeAlias = _Filter | Iterable[_Filter] | None
_Params: TypeAlias = Mapping[str, Any] | object | None
_Progress: TypeAlias = Callable[[int, int], object] | None
_Level: TypeAlias = Literal["structure", "index", "checksums", "decode", "files"]
_Out = TypeVar("_Out", bound=Buffer)

@overload
def compress(
    data: Buffer,
    /,
    *,
    codec: str = "lz4",
    level: int = 5,
    filters: _Filters = "shuffle",
    typesize: int | None = None,
    blocksize: int | None = None,
    split: str = "auto",
    dictionary: bool = False,
    format: Literal["blosc1", "blosc2"] = "blosc2",
    marks: bool = False,
    check: bool = False,
    nthreads: int | None = None,
    cparams: _Params = None,
    out: None = None,
) -> bytes: ...
@overload
def compress(
    data: Buffer,
    /,
    *,
    codec: str = "lz4",
    level: int = 5,
    filters: _Filters = "shuffle",
    typesize: int | None = None,
    blocksize: int | None = None,
    split: str = "auto",
    dictionary: bool = False,
    format: Literal["blosc1", "blosc2"] = "blosc2",
    marks: bool = False,
    check: bool = False,
    nthreads: int | None = None,
    cparams: _Params = None,
    out: Buffer,
) -> int: ...
@overload
def decompress(data: Buffer, /, *, out: None = None, nthreads: int | None = None) -> bytes: ...
@overload
def decompress(data: Buffer, /, *, out: _Out, nthreads: int | None = None) -> _Out: ...
def decompress_into(data: Buffer, out: Buffer, /, *, nthreads: int | None = None) -> int: ...
def chunk_info(data: Buffer, /) -> ChunkInfo: ...

@final
class Compressor:
    def __new__(
        cls,
        *,
        codec: str = "lz4",
        level: int = 5,
        filters: _Filters = "shuffle",
        typesize: int | None = None,
        blocksize: int | None = None,
        split: str = "auto",
        dictionary: bool = False,
        format: Literal["blosc1", "blosc2"] = "blosc2",
        marks: bool = False,
        check: bool = False,
        nthreads: int | None = None,
        cparams: _Params = None,
    ) -> Self: ...
    @overload
    def encode(self, data: Buffer, /, *, out: None = None) -> bytes: ...
    @overload
    def encode(self, data: Buffer, /, *, out: Buffer) -> int: ...
    @overload
    def decode(self, data: Buffer, /, out: None = None) -> bytes: ...
    @overload
    def decode(self, data: Buffer, /, out: _Out) -> _Out: ...
    def getitem(self, data: Buffer, start: int, count: int) -> bytes: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class ChunkInfo:
    @property
    def nbytes(self) -> int: ...
    @property
    def cbytes(self) -> int: ...
    @property
    def cratio(self) -> float: ...
    @property
    def typesize(self) -> int: ...
    @property
    def blocksize(self) -> int | None: ...
    @property
    def codec(self) -> str | None: ...
    @property
    def filters(self) -> list[str]: ...
    @property
    def version(self) -> int: ...
    @property
    def special(self) -> Literal["stored", "zeros", "nans", "value", "uninit"] | None: ...

def detect(path_or_bytes: _Path | Buffer, /) -> Detected: ...

@final
class Detected:
    @property
    def format(self) -> str: ...
    @property
    def reason(self) -> str: ...

def verify(
    path: _Path,
    level: _Level = "files",
    *,
    sample: float | None = None,
    column: str | None = None,
    nthreads: int | None = None,
    progress: _Progress = None,
) -> Report: ...

@final
class Report:
    @property
    def format(self) -> str: ...
    @property
    def checksums(self) -> str: ...
    @property
    def chunks(self) -> int: ...
    @property
    def chosen(self) -> int: ...
    @property
    def by_checksum(self) -> int: ...
    @property
    def by_decoding(self) -> int: ...
    @property
    def is_complete(self) -> bool: ...
    @property
    def is_good(self) -> bool: ...
    @property
    def findings(self) -> list[Finding]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def __bool__(self) -> bool: ...

@final
class Finding:
    @property
    def level(self) -> _Level: ...
    @property
    def verdict(self) -> Literal["corrupt", "stray", "unchecked", "unverified"]: ...
    @property
    def chunk(self) -> int | None: ...
    @property
    def words(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...

def copy(
    src: _Path,
    dst: _Path,
    *,
    overwrite: bool = False,
    progress: _Progress = None,
    codec: str | None = None,
    level: int | None = None,
    filters: _Filters = None,
    blocksize: int | None = None,
    split: str | None = None,
    dictionary: bool | None = None,
    marks: bool | None = None,
    check: bool | None = None,
    nthreads: int | None = None,
    cparams: _Params = None,
) -> None: ...
def salvage(path: _Path, out: _Path, *, overwrite: bool = False) -> SalvageReport: ...

@final
class SalvageReport:
    @property
    def format(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def is_whole(self) -> bool: ...
    @property
    def pieces(self) -> int: ...
    @property
    def holes(self) -> int: ...
    @property
    def lines(self) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def __bool__(self) -> bool: ...

def remove(path: _Path) -> None: ...
def open(
    path: _Path | None = None,
    mode: Literal["r", "r+", "a"] = "r",
    *,
    urlpath: _Path | None = None,
    offset: int = 0,
    nthreads: int | None = None,
    limits: Mapping[str, int] | None = None,
    follow: bool = False,
    lock: Literal["writers", "existing", "sidecar", "sidecar-nowait"] | None = None,
    trust: bool = False,
    marks: bool = False,
    check: bool = False,
    dparams: _Params = None,
    mmap_mode: str | None = None,
) -> Any: ...
def _reopen(path: _Path, keywords: dict[str, Any]) -> Any: ...
def set_nthreads(nthreads: int) -> int: ...
def get_nthreads() -> int: ...
def _become_worker() -> None: ...

@final
class nthreads:
    def __new__(cls, n: int) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None = ...,
        value: BaseException | None = ...,
        traceback: TracebackType | None = ...,
        /,
    ) -> None: ...

def _run_command(arguments: list[str]) -> int: ...
def _panic(message: str) -> None: ...
