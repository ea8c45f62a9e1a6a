"""`compress`, `decompress` and `Compressor`, alone and with python-blosc and python-blosc2."""

import array
import mmap
import pickle

import blosc
import blosc2
import numpy
import pytest

import superchunk

CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
SIZES = [0, 1, 7, 1000, 65_537]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("filters", [None, "shuffle", "bitshuffle", ("shuffle", "delta")])
def test_python_blosc2_reads_what_we_compress(codec, filters, walk):
    for size in SIZES:
        data = walk[:size]
        chunk = superchunk.compress(data, codec=codec, filters=filters)
        assert superchunk.decompress(chunk) == data.tobytes()
        out = bytearray(data.nbytes)
        if size > 0:
            blosc2.decompress2(chunk, dst=out)
        assert out == data.tobytes()


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("shuffle", [blosc.NOSHUFFLE, blosc.SHUFFLE, blosc.BITSHUFFLE])
def test_chunks_of_blosc1_go_both_ways(codec, shuffle, walk):
    filters = ["none", "shuffle", "bitshuffle"][shuffle]
    for size in SIZES:
        data = walk[:size].tobytes()
        theirs = blosc.compress(data, typesize=4, cname=codec, shuffle=shuffle)
        assert superchunk.decompress(theirs) == data
        ours = superchunk.compress(data, typesize=4, codec=codec, filters=filters, format="blosc1")
        assert blosc.decompress(ours) == data
        assert superchunk.chunk_info(ours).version == 2


def test_python_blosc2_chunks_are_read(walk):
    for codec in blosc2.Codec.BLOSCLZ, blosc2.Codec.LZ4, blosc2.Codec.ZLIB, blosc2.Codec.ZSTD:
        chunk = blosc2.compress2(walk, codec=codec, typesize=4)
        assert superchunk.decompress(chunk) == walk.tobytes()


def test_the_item_size_is_that_of_the_buffer():
    for dtype, size in ("u1", 1), ("i2", 2), ("f8", 8), ("c16", 16), ("M8[s]", 8), ("f4,i2", 6):
        data = numpy.zeros(100, dtype)
        data.view("u1")[::3] = 5
        chunk = superchunk.compress(data)
        assert superchunk.chunk_info(chunk).typesize == size
        assert superchunk.decompress(chunk) == data.tobytes()
    assert superchunk.chunk_info(superchunk.compress(b"text")).typesize == 1
    assert superchunk.chunk_info(superchunk.compress(b"text" * 99, typesize=4)).typesize == 4


def test_all_kinds_of_buffers_go_in(walk, tmp_path):
    expected = walk.tobytes()
    (tmp_path / "walk").write_bytes(expected)
    with (tmp_path / "walk").open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        assert superchunk.decompress(superchunk.compress(mapped)) == expected
        mapped.close()
    for data in expected, bytearray(expected), memoryview(expected), array.array("f", walk), walk:
        assert superchunk.decompress(superchunk.compress(data)) == expected
    table = walk.reshape(1000, 1000)
    for view in table.T, table[::3, ::-7], table[:, 5], walk[::-1]:
        chunk = superchunk.compress(view)
        assert superchunk.chunk_info(chunk).typesize == 4
        assert superchunk.decompress(chunk) == view.tobytes()
    dates = numpy.arange(12).astype("M8[h]").reshape(3, 4).T
    assert superchunk.decompress(superchunk.compress(dates)) == dates.tobytes()


@pytest.mark.parametrize("data", ["text", 5, None, [1, 2], object()])
def test_what_has_no_bytes_is_refused(data):
    for function in superchunk.compress, superchunk.decompress, superchunk.chunk_info:
        with pytest.raises(TypeError):
            function(data)


def test_arrays_of_objects_are_refused():
    fields = numpy.zeros(3, [("O", "i4"), ("x", "O")])
    for data in numpy.array([[], "x"], object), fields, fields[::2]:
        with pytest.raises(TypeError, match="Python objects"):
            superchunk.compress(data)
    named = numpy.zeros(3, [("O", "i4"), ("FOO", "f8")])
    assert superchunk.decompress(superchunk.compress(named)) == named.tobytes()


def test_results_go_into_buffers_of_the_caller(walk):
    chunk = superchunk.compress(walk)
    for out in bytearray(walk.nbytes), numpy.empty(walk.shape, "f4"), array.array("f", walk[::-1]):
        assert superchunk.decompress_into(chunk, out) == walk.nbytes
        assert bytes(memoryview(out)) == walk.tobytes()
    out = numpy.zeros(walk.size + 1, "f4")
    assert superchunk.decompress(chunk, out=out) is out
    assert (out[:-1] == walk).all() and out[-1] == 0
    room = bytearray(len(chunk) + 5)
    assert superchunk.compress(walk, out=room) == len(chunk)
    assert room == chunk + bytes(5)
    assert superchunk.Compressor().encode(walk, out=room) == len(chunk)


def test_buffers_that_do_not_do_are_refused_and_left_alone(walk):
    chunk = superchunk.compress(walk)
    short = bytearray(walk.nbytes - 1)
    with pytest.raises(superchunk.InvalidArgumentError, match="3999999"):
        superchunk.decompress_into(chunk, short)
    with pytest.raises(superchunk.InvalidArgumentError, match=str(len(chunk))):
        superchunk.compress(walk, out=short[:100])
    assert short == bytes(len(short))
    with pytest.raises(ValueError, match="read-only"):
        superchunk.decompress_into(chunk, walk.tobytes())
    with pytest.raises(ValueError, match="contiguous"):
        superchunk.decompress_into(chunk, numpy.empty(2 * walk.size, "f4")[::2])
    with pytest.raises(TypeError):
        superchunk.decompress_into(chunk, 5)
    both = bytearray(chunk) + bytearray(walk.nbytes)
    for part in memoryview(both)[:-1], memoryview(both)[len(chunk) - 1 :]:
        with pytest.raises(ValueError, match="share memory"):
            superchunk.decompress_into(both, part)
        with pytest.raises(ValueError, match="share memory"):
            superchunk.compress(both, out=part)
    superchunk.decompress_into(memoryview(both)[: len(chunk)], memoryview(both)[len(chunk) :])
    assert both[len(chunk) :] == walk.tobytes()


def test_frames_and_packs_decompress_to_their_bytes(walk, tmp_path):
    frame = blosc2.SChunk(chunksize=100_000, data=walk, cparams={"typesize": 4}).to_cframe()
    table = blosc2.asarray(walk.reshape(1000, 1000), chunks=(300, 70)).to_cframe()
    for stored in frame, table, bytearray(table):
        assert superchunk.decompress(stored) == walk.tobytes()
        out = numpy.empty(walk.shape, "f4")
        assert superchunk.decompress_into(stored, out) == walk.nbytes
        assert (out == walk).all()
    with pytest.raises(superchunk.InvalidArgumentError):
        superchunk.decompress_into(frame, bytearray(5))


def test_more_than_a_chunk_holds_becomes_a_frame():
    data = numpy.zeros(2**31 + 5, "u1")  # memory that is never written takes no room
    frame = superchunk.compress(data)
    assert superchunk.detect(frame).format == "b2frame"
    assert len(frame) < 10_000
    with pytest.raises(OverflowError, match="2147483615"):
        superchunk.compress(data, format="blosc1")


def test_a_compressor_decodes_a_few_items(walk):
    compressor = superchunk.Compressor(codec="zstd", level=3, blocksize=16384)
    chunk = compressor.encode(walk)
    assert compressor.decode(chunk) == walk.tobytes()
    for start, count in (0, 1), (5, 0), (123_456, 7), (999_990, 10), (0, 1_000_000):
        expected = walk[start : start + count].tobytes()
        assert compressor.getitem(chunk, start, count) == expected
    for start, count in (1_000_000, 1), (0, 1_000_001), (2**63, 2**63):
        with pytest.raises(IndexError):
            compressor.getitem(chunk, start, count)
    with pytest.raises(OverflowError):
        compressor.getitem(chunk, -1, 1)


def test_a_compressor_says_what_it_is_and_is_pickled(walk):
    compressor = superchunk.Compressor(codec="zstd", filters=["bitshuffle"], level=1)
    assert repr(compressor) == (
        "superchunk.Compressor(codec='zstd', filters=['bitshuffle'], level=1)"
    )
    same = pickle.loads(pickle.dumps(compressor))
    assert repr(same) == repr(compressor)
    assert same.encode(walk) == compressor.encode(walk)


def test_chunk_info_says_what_the_header_says(walk):
    chunk = superchunk.compress(walk, codec="zstd", filters=[("trunc_prec", 10), "shuffle"])
    info = superchunk.chunk_info(chunk[:32])
    assert (info.nbytes, info.cbytes, info.typesize) == (walk.nbytes, len(chunk), 4)
    assert (info.codec, info.filters) == ("zstd", ["trunc:10", "shuffle"])
    assert (info.version, info.special) == (5, None)
    assert info.cratio == walk.nbytes / len(chunk)
    assert info.blocksize > 0 and "codec='zstd'" in repr(info)
    assert superchunk.chunk_info(superchunk.compress(bytes(5000))).special == "zeros"
    assert superchunk.chunk_info(superchunk.compress(b"abc")).special == "stored"


def test_the_memory_of_results_is_not_zeroed_first_but_written_whole(walk):
    # Two results of the same length in memory that was last used for something else.
    chunk = superchunk.compress(walk)
    for _ in range(20):
        junk = b"\xaa" * walk.nbytes
        del junk
        assert superchunk.decompress(chunk) == walk.tobytes()
