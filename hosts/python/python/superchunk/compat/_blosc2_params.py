"""The parameters of python-blosc2, and what they are called in this package."""

from dataclasses import asdict, dataclass, field, fields
from enum import Enum

from superchunk import _core, get_nthreads


class Codec(Enum):
    """The compressors, by their numbers in files."""

    BLOSCLZ = 0
    LZ4 = 1
    LZ4HC = 2
    ZLIB = 4
    ZSTD = 5
    NDLZ = 32


class Filter(Enum):
    """The filters, by their numbers in files."""

    NOFILTER = 0
    SHUFFLE = 1
    BITSHUFFLE = 2
    DELTA = 3
    TRUNC_PREC = 4
    NDCELL = 32
    NDMEAN = 33
    BYTEDELTA = 35
    INT_TRUNC = 36


_NUMBERED = (Filter.TRUNC_PREC, Filter.INT_TRUNC, Filter.NDCELL, Filter.NDMEAN, Filter.BYTEDELTA)
"""The filters whose number means something."""


class SplitMode(Enum):
    """Whether blocks are split."""

    ALWAYS_SPLIT = 1
    NEVER_SPLIT = 2
    AUTO_SPLIT = 3
    FORWARD_COMPAT_SPLIT = 4


class SpecialValue(Enum):
    """What a chunk of one value holds."""

    NOT_SPECIAL = 0
    ZERO = 1
    NAN = 2
    VALUE = 3
    UNINIT = 4


@dataclass
class CParams:
    """How data are compressed."""

    codec: Codec = Codec.ZSTD
    codec_meta: int = 0
    clevel: int = 5
    use_dict: bool = False
    typesize: int = 8
    nthreads: int = field(default_factory=get_nthreads)
    blocksize: int = 0
    splitmode: SplitMode = SplitMode.AUTO_SPLIT
    filters: list = field(default_factory=lambda: [Filter.NOFILTER] * 5 + [Filter.SHUFFLE])
    filters_meta: list = field(default_factory=lambda: [0] * 6)
    tuner: int = 0

    def __post_init__(self):
        if len(self.filters) > 6:
            raise ValueError("Number of filters exceeds 6")
        self.filters_meta = [*self.filters_meta[: len(self.filters)], *[0] * (6 - len(self.filters_meta))][:6]
        self.filters = [*self.filters, *[Filter.NOFILTER] * (6 - len(self.filters))]


@dataclass
class DParams:
    """How data are decompressed."""

    nthreads: int = field(default_factory=get_nthreads)


@dataclass
class Storage:
    """Where data are stored."""

    contiguous: bool | None = None
    urlpath: str | None = None
    mode: str = "a"
    mmap_mode: str | None = None
    initial_mapping_size: int | None = None
    meta: dict | None = None


cparams_dflts = asdict(CParams())
dparams_dflts = asdict(DParams())
storage_dflts = asdict(Storage())


def options_of(kwargs) -> dict:
    """The keywords of this package for those of python-blosc2."""
    storage = kwargs.pop("storage", None)
    kwargs = {**(known(storage) if storage is not None else {}), **kwargs}
    options = {name: kwargs[name] for name in ("chunks", "blocks", "dtype", "dparams") if kwargs.get(name) is not None}
    path, mode = kwargs.get("urlpath"), kwargs.get("mode") or "a"
    if mode not in ("r", "w", "a"):
        raise ValueError(f"mode: expected 'r', 'w' or 'a', got {mode!r}")
    if path is not None:
        if mode == "r":
            raise ValueError("mode='r': nothing can be made for reading only")
        options |= {"path": path, "mode": "w" if mode == "w" else "w-"}
        options["sparse"] = kwargs.get("contiguous") is False
    if kwargs.get("meta"):
        options["meta"] = {name: _core._pack(value) for name, value in kwargs["meta"].items()}
    cparams = {"codec": Codec.ZSTD, "clevel": 5, **known(kwargs.get("cparams") or {})}
    if {"chunks", "blocks"} & cparams.keys():
        raise ValueError("chunks and blocks are keywords of their own, not part of cparams")
    if cparams.get("codec") not in (Codec.ZSTD, Codec.LZ4, Codec.LZ4HC):
        # The others have no dictionaries, which python-blosc2 does not mind.
        cparams["use_dict"] = False
    if "filters" in cparams:
        numbers = [*(cparams.pop("filters_meta", None) or ()), *[0] * len(cparams["filters"])]
        cparams["filters"] = [
            (one, number) if one in _NUMBERED else one
            for one, number in zip(cparams["filters"], numbers, strict=False)
        ]
    return {**options, "cparams": cparams}


def known(params) -> dict:
    """A dictionary or one of the classes above as a dictionary."""
    if isinstance(params, dict):
        return dict(params)
    return {one.name: getattr(params, one.name) for one in fields(params)}


def dparams_of(params) -> DParams:
    given = known(params) if params is not None else {}
    return DParams(**{name: value for name, value in given.items() if name == "nthreads"})


def cparams_of(array) -> CParams:
    params = array.cparams
    names = [filter.partition(":") for filter in params["filters"]]
    spelled = {"trunc": "TRUNC_PREC", "inttrunc": "INT_TRUNC"}
    codec = params["codec"].partition(":")
    return CParams(
        codec=Codec[codec[0].upper()],
        codec_meta=int(codec[2] or 0),
        clevel=params["level"],
        use_dict=params["dictionary"],
        typesize=params["typesize"],
        nthreads=params["nthreads"],
        blocksize=params["blocksize"] or 0,
        splitmode=SplitMode[params["split"].upper() + "_SPLIT"],
        filters=[Filter[spelled.get(name, name.upper())] for name, _, _ in names],
        filters_meta=[int(number or 0) for _, _, number in names],
    )
