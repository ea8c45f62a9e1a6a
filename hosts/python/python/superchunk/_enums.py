"""Codecs, filters and split modes by the names that other Blosc packages have for them.

Every option takes plain strings as well: these are strings.
"""

from enum import StrEnum


class Codec(StrEnum):
    """The compressors."""

    BLOSCLZ = "blosclz"
    LZ4 = "lz4"
    LZ4HC = "lz4hc"
    ZLIB = "zlib"
    ZSTD = "zstd"


class Filter(StrEnum):
    """The steps that prepare a block for the codec. Some take a number: `(Filter.TRUNC_PREC, 10)`."""

    NOFILTER = "none"
    SHUFFLE = "shuffle"
    BITSHUFFLE = "bitshuffle"
    DELTA = "delta"
    TRUNC_PREC = "trunc_prec"
    INT_TRUNC = "int_trunc"
    BYTEDELTA = "bytedelta"
    NDCELL = "ndcell"
    NDMEAN = "ndmean"


class SplitMode(StrEnum):
    """Whether a block is stored as one stream for each byte of an item."""

    AUTO_SPLIT = "auto"
    ALWAYS_SPLIT = "always"
    NEVER_SPLIT = "never"
