"""Super-chunks against a `bytearray`, and files both ways with python-blosc2."""

import pickle
import random

import blosc2
import numpy
import pytest
import superchunk
from superchunk import SChunk


@pytest.mark.parametrize("seed", range(12))
def test_random_changes_are_those_of_a_bytearray(seed, tmp_path):
    chance = random.Random(seed)
    size = chance.choice([1, 2, 4, 12])
    path = chance.choice([None, tmp_path / "s.b2frame"])
    schunk = SChunk.create(path, typesize=size, chunksize=size * chance.choice([7, 64, 1000]))
    model = bytearray()
    for _ in range(60):
        count = len(model) // size
        start = chance.randrange(count + 1)
        stop = chance.randrange(start, count + 1)
        match chance.randrange(6):
            case 0 | 1:
                data = chance.randbytes(size * chance.randrange(300))
                schunk.append(data)
                model += data
            case 2:
                data = chance.randbytes((stop - start) * size)
                schunk[start:stop] = data
                model[start * size : stop * size] = data
            case 3:
                schunk.resize(count := chance.randrange(count + 50))
                del model[count * size :]
                model += bytes(count * size - len(model))
            case 4 if path is not None:
                schunk.commit()
                assert superchunk.open(path)[:] == model
            case _:
                assert schunk[start:stop] == model[start * size : stop * size]
        assert len(schunk) * size == len(model) == schunk.nbytes
    items = [bytes(model[at : at + size]) for at in range(0, len(model), size)]
    assert schunk[:] == model
    assert list(schunk) == items
    assert schunk[::-3] == b"".join(items[::-3])
    if items:
        assert schunk[-1] == items[-1]
        picked = [chance.randrange(-len(items), len(items)) for _ in range(20)]
        assert schunk.gather(picked) == b"".join(items[place] for place in picked)
    assert b"".join(schunk.iter_chunks()) == model
    schunk.close()


def test_chunks_come_and_go_as_in_a_list():
    schunk = SChunk.create(typesize=4, chunksize=400)
    chunks = [bytes([number]) * 400 for number in range(5)]
    for chunk in chunks:
        assert schunk.append(chunk) == chunks.index(chunk) + 1
    compressed = superchunk.compress(b"x" * 400, typesize=4)
    assert schunk.insert_chunk(2, compressed) == 6
    chunks.insert(2, b"x" * 400)
    schunk.update_data(0, b"y" * 400)
    chunks[0] = b"y" * 400
    schunk.insert_data(1, b"z" * 400)
    chunks.insert(1, b"z" * 400)
    schunk.delete_chunk(3)
    del chunks[3]
    schunk.reorder(order := [5, 0, 2, 1, 4, 3])
    chunks = [chunks[number] for number in order]
    schunk.fill("zeros", 100)
    chunks.append(bytes(400))
    assert [schunk.decompress_chunk(number) for number in range(schunk.nchunks)] == chunks
    assert superchunk.decompress(schunk.get_chunk(0)) == chunks[0]
    assert [info["nbytes"] for info in schunk.iter_chunks_info()] == [400] * 7
    out = bytearray(400)
    assert schunk.decompress_chunk(1, out) == 400
    assert out == chunks[1]
    assert numpy.array_equal(next(schunk.iter_chunks("u4")), numpy.frombuffer(chunks[0], "u4"))


def test_slices_go_into_memory_of_the_caller():
    schunk = SChunk.create(data=numpy.arange(1000, dtype="i4"))
    out = numpy.zeros(10, "i4")
    assert schunk.get_slice(100, 110, out=out) is out
    assert out.tolist() == list(range(100, 110))
    assert schunk.get_slice(-2) == numpy.array([998, 999], "i4").tobytes()
    with pytest.raises(ValueError, match="at least 44 bytes"):
        schunk.get_slice(0, 11, out=out)


def test_what_does_not_fit_is_refused_and_changes_nothing():
    schunk = SChunk.create(data=numpy.arange(100, dtype="i4"))
    before = schunk[:]
    with pytest.raises(IndexError):
        schunk[100]
    with pytest.raises(IndexError):
        schunk.get_chunk(9)
    with pytest.raises(IndexError):
        schunk.gather([5, -101])
    with pytest.raises(TypeError):
        schunk["x"]
    with pytest.raises(ValueError, match="overwritten, not inserted"):
        schunk[2:4] = b"too short"
    with pytest.raises(ValueError, match="one after the other"):
        schunk[::2] = before[::2]
    with pytest.raises(ValueError):
        schunk.append_chunk(b"no chunk at all")
    with pytest.raises(ValueError, match="kind"):
        schunk.fill("ones", 4)
    with pytest.raises(TypeError, match="unexpected keyword"):
        SChunk.create(chunk=5)
    assert schunk[:] == before


def test_memory_is_pickled_by_its_bytes():
    schunk = SChunk.create(data=numpy.arange(1000, dtype="i4"))
    schunk.attrs["unit"] = "m"
    buffers = []
    text = pickle.dumps(schunk, 5, buffer_callback=buffers.append)
    again = pickle.loads(text, buffers=buffers)
    assert (again[:], dict(again.attrs), again.typesize) == (schunk[:], {"unit": "m"}, 4)
    assert len(text) < 300
    assert SChunk.from_bytes(schunk.to_bytes())[:] == schunk[:]


def test_copies_have_other_options(tmp_path):
    schunk = SChunk.create(data=numpy.arange(1000, dtype="i4"), codec="lz4")
    copy = schunk.copy(tmp_path / "copy.b2frame", codec="zstd", sparse=True)
    assert (copy.cparams["codec"], copy.contiguous, copy[:]) == ("zstd", False, schunk[:])
    assert "250" not in repr(copy) and "zstd" in repr(copy)
    assert copy.info.to_dict()["size"] == 1000
    copy.close()


def test_files_go_both_ways_with_python_blosc2(tmp_path):
    data = numpy.arange(100_000, dtype="i4")
    path = str(tmp_path / "theirs.b2frame")
    theirs = blosc2.SChunk(chunksize=40_000, data=data, urlpath=path, cparams={"typesize": 4})
    theirs.vlmeta["unit"] = "m"
    with superchunk.open(tmp_path / "theirs.b2frame", "r+") as ours:
        assert (type(ours), len(ours), ours.chunksize) == (SChunk, 100_000, 40_000)
        assert ours[500:502] == data[500:502].tobytes()
        assert ours.vlmeta["unit"] == "m"
        ours.append(data[:10])
        ours.attrs["more"] = [1, "two"]
    again = blosc2.open(str(tmp_path / "theirs.b2frame"))
    assert again[100_000:] == data[:10].tobytes()
    assert again.vlmeta["more"] == [1, "two"]
    SChunk.create(tmp_path / "ours.b2frame", data=data, chunksize=4000, meta={"mine": b"\x01"}).close()
    read = blosc2.open(str(tmp_path / "ours.b2frame"))
    assert read[:] == data.tobytes()
    assert (read.nchunks, read.typesize) == (100, 4)
    assert superchunk.open(tmp_path / "ours.b2frame").meta["mine"] == b"\x01"
