"""Bloscpack files, both ways with bloscpack."""

import legacy
import numpy
import pytest
import superchunk
from superchunk import create_pack

WRITE = """
import sys, numpy, bloscpack
bloscpack.pack_ndarray_to_file(numpy.arange(6000.0).reshape(2000, 3), sys.argv[1])
bloscpack.pack_ndarray_to_file(numpy.asfortranarray(numpy.arange(12).reshape(4, 3)), sys.argv[2])
bloscpack.pack_bytes_to_file(b"abc" * 1000, sys.argv[3], metadata={"k": [1]})
"""


def test_files_of_bloscpack_are_read(tmp_path):
    paths = [tmp_path / name for name in ("c.blp", "f.blp", "bytes.blp")]
    legacy.run(WRITE, *paths)
    rows = numpy.arange(6000.0).reshape(2000, 3)
    pack = superchunk.open(paths[0])
    assert (pack.kind, pack.shape, pack.dtype, len(pack)) == ("array", (2000, 3), rows.dtype, 2000)
    assert numpy.array_equal(pack.array, rows)
    for key in (5, -1, slice(3, 9), slice(None, None, 7), (4, 1), (slice(2, 4), slice(0, 2)), ..., [1, 5]):
        assert numpy.array_equal(pack[key], rows[key]), key
    turned = superchunk.open(paths[1])
    assert turned.array.flags.f_contiguous
    assert numpy.array_equal(turned[1:3], numpy.arange(12).reshape(4, 3)[1:3])
    text = superchunk.open(paths[2])
    assert (text.kind, text.tobytes(), text.metadata) == ("bytes", b"abc" * 1000, {"k": [1]})
    assert (text[1], text[-2:], text[::1500]) == (ord("b"), b"bc", (b"abc" * 1000)[::1500])
    assert text.checksum == "adler32"


def test_bloscpack_reads_what_is_written(tmp_path):
    rows = numpy.arange(6000, dtype="i4").reshape(2000, 3)
    with create_pack(tmp_path / "a.blp", rows[:1500], codec="zstd", checksum="sha256") as pack:
        pack.append(rows[1500:])
        assert numpy.array_equal(pack.array, rows)
    create_pack(tmp_path / "b.blp", b"some bytes", metadata={"who": "me"}).close()
    program = """
import sys, bloscpack
a = bloscpack.unpack_ndarray_from_file(sys.argv[1])
b, meta = bloscpack.unpack_bytes_from_file(sys.argv[2])
print(a.shape, a.dtype, int(a.sum()), b, meta)
"""
    found = legacy.run(program, tmp_path / "a.blp", tmp_path / "b.blp")
    assert found.strip() == f"(2000, 3) int32 {rows.sum()} b'some bytes' {{'who': 'me'}}"


@pytest.mark.parametrize(
    ("dtype", "objects"),
    [
        ("varchar", ["one", "zwölf", ""]),
        ("varbinary", [b"one", b"", b"\x00" * 50]),
        ("var-<i4", [numpy.arange(5, dtype="i4"), numpy.zeros(0, "i4")]),
    ],
)
def test_objects_are_read_replaced_and_appended(dtype, objects, tmp_path):
    def same(one, other):
        return len(one) == len(other) and all(map(numpy.array_equal, one, other))

    with create_pack(tmp_path / "o.blp", objects, objects=dtype) as pack:
        pack.append(objects[0])
        pack[1] = objects[0]
    pack = superchunk.open(tmp_path / "o.blp")
    expected = [objects[0], objects[0], *objects[2:], objects[0]]
    assert pack.kind == "objects"
    assert same(pack.objects, expected)
    assert same(pack[1:], expected[1:])
    assert same(list(pack), expected)
    with pytest.raises(IndexError):
        pack[len(expected)]


def test_what_does_not_fit_is_refused(tmp_path):
    with create_pack(tmp_path / "a.blp", numpy.zeros((3, 2))) as pack:
        with pytest.raises(ValueError, match="rows of shape"):
            pack.append(numpy.zeros((3, 3)))
        with pytest.raises(TypeError):
            pack.objects
        with pytest.raises(TypeError, match="appended to"):
            pack[0] = [1, 2]
        assert pack.shape == (3, 2)
    with create_pack(tmp_path / "o.blp", ["a"], objects="varchar") as texts:
        with pytest.raises(TypeError, match="expected str"):
            texts.append(b"a")
        with pytest.raises(TypeError, match="not an array"):
            texts.array
    with pytest.raises(ValueError):
        create_pack(tmp_path / "c.blp", b"x", checksum="crc")
    assert not (tmp_path / "c.blp").exists()
