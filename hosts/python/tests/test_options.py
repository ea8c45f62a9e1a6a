"""How options are spelled, and what wrong ones are answered with."""

import blosc2
import numpy
import pytest

import superchunk
from superchunk import Codec, Filter, SplitMode

DATA = numpy.arange(10_000, dtype="f8")


def info(**options):
    return superchunk.chunk_info(superchunk.compress(DATA, **options))


@pytest.mark.parametrize("codec", ["zstd", "ZSTD", Codec.ZSTD, blosc2.Codec.ZSTD])
def test_codecs_are_strings_or_members(codec):
    assert info(codec=codec).codec == "zstd"


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (None, []),
        ("none", []),
        ([], []),
        ("shuffle", ["shuffle"]),
        (Filter.BITSHUFFLE, ["bitshuffle"]),
        (blosc2.Filter.BITSHUFFLE, ["bitshuffle"]),
        (Filter.NOFILTER, []),
        (("shuffle", "delta"), ["shuffle", "delta"]),
        ("shuffle+delta", ["shuffle", "delta"]),
        (("trunc_prec", 10), ["trunc:10"]),
        ([(Filter.TRUNC_PREC, -10), Filter.SHUFFLE], ["trunc:-10", "shuffle"]),
        ("trunc:10, shuffle", ["trunc:10", "shuffle"]),
    ],
)
def test_filters_are_strings_tuples_or_members(filters, expected):
    assert info(filters=filters).filters == expected


def test_cparams_of_python_blosc2_are_taken():
    params = {
        "codec": blosc2.Codec.ZSTD,
        "clevel": 3,
        "typesize": 8,
        "filters": [blosc2.Filter.TRUNC_PREC, blosc2.Filter.SHUFFLE],
        "filters_meta": [20, 0],
        "nthreads": 1,
        "splitmode": blosc2.SplitMode.NEVER_SPLIT,
        "use_dict": False,
    }
    expected = superchunk.compress(
        DATA, codec="zstd", level=3, filters=["trunc:20", "shuffle"], split=SplitMode.NEVER_SPLIT
    )
    assert superchunk.compress(DATA, cparams=params) == expected
    assert superchunk.compress(DATA, cparams=blosc2.CParams(**params)) == expected


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"codec": "gzip"}, ValueError, "blosclz, lz4, lz4hc, zlib, zstd"),
        ({"codec": 5}, TypeError, "codec"),
        ({"level": 10}, ValueError, "0 to 9"),
        ({"level": -1}, ValueError, "0 to 9"),
        ({"level": "high"}, TypeError, "level"),
        ({"filters": "shufle"}, ValueError, "shufle"),
        ({"filters": 7}, TypeError, "filters"),
        ({"filters": ["shuffle"] * 7}, ValueError, "at most 6"),
        ({"filters": "auto"}, ValueError, "arrays"),
        ({"typesize": 0}, ValueError, "item size"),
        ({"typesize": -1}, ValueError, "typesize"),
        ({"blocksize": -1}, ValueError, "blocksize"),
        ({"nthreads": 0}, ValueError, "nthreads"),
        ({"nthreads": 1000}, ValueError, "256"),
        ({"format": "blosc3"}, ValueError, "blosc3"),
        ({"split": "often"}, ValueError, "often"),
        ({"clevel": 5}, TypeError, "clevel"),
        ({"cparams": {"levle": 5}}, TypeError, "levle"),
        ({"cparams": {"cparams": {}}}, TypeError, "cparams"),
        ({"dictionary": True, "codec": "zlib"}, ValueError, "dictionaries"),
    ],
)
def test_wrong_options_are_named(options, error, words):
    for function in lambda **options: superchunk.compress(DATA, **options), superchunk.Compressor:
        with pytest.raises(error, match=words):
            function(**options)


def test_options_are_keywords_only():
    with pytest.raises(TypeError):
        superchunk.compress(DATA, "zstd")
