"""`detect`, `verify`, `salvage`, `copy`, `remove`: whole files, made by python-blosc2 and by the command."""

import signal
import subprocess
import sys

import blosc2
import numpy
import pytest

import superchunk


@pytest.fixture
def frame(walk, tmp_path):
    """A frame of 40 chunks that python-blosc2 has made."""
    path = tmp_path / "walk.b2frame"
    blosc2.SChunk(
        chunksize=100_000, data=walk, urlpath=str(path), cparams={"typesize": 4}, mode="w"
    )
    return path


@pytest.fixture
def table(walk, tmp_path):
    """A folder with an array that python-blosc2 has made."""
    path = tmp_path / "table.b2nd"
    array = walk.reshape(1000, 1000)
    blosc2.asarray(array, chunks=(100, 300), urlpath=str(path), contiguous=False, mode="w")
    return path


def damage(path):
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 2000] = bytes(2000)
    path.write_bytes(content)


def test_detect_knows_files_folders_and_bytes(frame, table, walk):
    assert superchunk.detect(frame).format == "b2frame"
    assert superchunk.detect(str(table)).format == "sframe"
    assert superchunk.detect(superchunk.compress(walk)).format == "chunk"
    found = superchunk.detect(memoryview(b"just text"))
    assert found.format == "raw" and "known" in found.reason and found.reason in repr(found)


def test_verify_finds_nothing_in_a_whole_frame(frame, table):
    for path, chunks in (frame, 40), (table, 40):
        report = superchunk.verify(path)
        assert report and report.is_complete
        # python-blosc2 stores no checksums.
        assert {finding.verdict for finding in report.findings} <= {"unverified"}
        assert (report.chunks, report.chosen) == (chunks, chunks)
    sample = superchunk.verify(frame, sample=5)
    assert sample.chosen == 5
    assert superchunk.verify(frame, sample=0.5, nthreads=1).chosen == 20
    assert sample.to_dict()["chunks"] == 40


def test_verify_finds_damage_and_says_where(frame):
    damage(frame)
    report = superchunk.verify(frame, "decode")
    assert not report and not report.is_good
    finding = next(found for found in report.findings if found.verdict == "corrupt")
    assert finding.level in ("index", "decode")
    assert finding.chunk is not None and finding.words
    assert finding.to_dict() in report.to_dict()["findings"]
    assert "damaged" in repr(report) and finding.words[:20] in repr(report)


@pytest.mark.parametrize("options", [{"level": "deep"}, {"sample": 0}, {"sample": 1.5}])
def test_verify_refuses_what_it_does_not_know(frame, options):
    with pytest.raises(ValueError):
        superchunk.verify(frame, **options)


def test_salvage_brings_back_what_is_not_damaged(frame, walk, tmp_path):
    damage(frame)
    out = tmp_path / "saved.b2frame"
    report = superchunk.salvage(frame, out)
    assert not report and report.holes >= 1 and report.pieces + report.holes >= 40
    saved = numpy.frombuffer(superchunk.decompress(out.read_bytes()), "f4")
    assert report.nbytes == saved.nbytes == walk.nbytes
    chunks = saved.reshape(40, -1), walk.reshape(40, -1)
    same = (chunks[0] == chunks[1]).all(axis=1)
    assert same.sum() == report.pieces
    assert any("lost" in line for line in report.lines)
    assert report.to_dict()["holes"] == report.holes and "incomplete" in repr(report)
    assert superchunk.verify(out)


def test_salvage_leaves_what_is_there_unless_told(frame, tmp_path):
    out = tmp_path / "saved.b2frame"
    out.write_bytes(b"something")
    with pytest.raises(FileExistsError) as caught:
        superchunk.salvage(frame, out)
    assert caught.value.path == str(out)
    assert out.read_bytes() == b"something"
    assert superchunk.salvage(frame, out, overwrite=True)
    assert superchunk.verify(out)
    junk = tmp_path / "junk"
    junk.write_bytes(b"just text" * 1000)
    with pytest.raises(superchunk.CorruptError):
        superchunk.salvage(junk, tmp_path / "nothing")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "junk",
        "saved.b2frame",
        "walk.b2frame",
    ]


def test_copy_keeps_content_and_changes_compression(frame, table, walk, tmp_path):
    copy = tmp_path / "copy.b2frame"
    superchunk.copy(frame, copy, codec="zstd", level=9)
    assert blosc2.open(str(copy))[:] == walk.tobytes()
    assert copy.stat().st_size < frame.stat().st_size
    array = tmp_path / "copy.b2nd"
    superchunk.copy(table, array)
    found = blosc2.open(str(array))
    assert found.chunks == (100, 300) and (found[:] == walk.reshape(1000, 1000)).all()
    with pytest.raises(FileExistsError):
        superchunk.copy(frame, array)
    superchunk.copy(frame, array, overwrite=True)
    assert superchunk.detect(array).format == "b2frame"


def test_copy_handles_the_formats_of_the_command(walk, tmp_path):
    raw = tmp_path / "walk.f4"
    walk.tofile(raw)
    pack = tmp_path / "walk.blp"
    command = [sys.executable, "-m", "superchunk", "pack", str(raw), "-o", str(pack)]
    subprocess.run(command, check=True)
    assert superchunk.detect(pack).format == "blp"
    superchunk.copy(pack, tmp_path / "copy.blp", codec="zstd")
    for path in pack, tmp_path / "copy.blp":
        assert superchunk.decompress(path.read_bytes()) == walk.tobytes()
        assert superchunk.verify(path)


def test_progress_is_told_and_ends_the_work(frame, tmp_path):
    told = []
    superchunk.verify(frame, progress=lambda done, of: told.append((done, of)))
    assert told and all(0 < done <= of for done, of in told) and told[-1][0] == told[-1][1]

    class Enough(Exception):
        pass

    def enough(_done, _of):
        raise Enough

    copy = tmp_path / "copy.b2frame"
    with pytest.raises(Enough):
        superchunk.copy(frame, copy, level=1, progress=enough)
    with pytest.raises(Enough):
        superchunk.verify(frame, progress=enough)
    assert [path.name for path in tmp_path.iterdir()] == [frame.name]
    # Nothing is left in a bad state.
    superchunk.copy(frame, copy)
    assert superchunk.verify(copy)


LONG = """
import os, signal, sys
import superchunk

class Stop(BaseException):
    pass

def stop(_signal, _frame):
    raise Stop

signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    superchunk.verify(sys.argv[1], nthreads=1)
    print("not interrupted")
except Stop:
    print("interrupted")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers on Windows")
def test_signals_are_handled_during_long_work(run_python, tmp_path):
    # 32 GB of data: nobody decodes them in a fifth of a second.
    chunk = bytes(range(256)) * (1 << 16)
    path = tmp_path / "long.b2frame"
    frame = blosc2.SChunk(
        chunksize=len(chunk), urlpath=str(path), mode="w", cparams={"typesize": 1, "clevel": 5}
    )
    frame.append_data(chunk)
    compressed = frame.get_chunk(0)
    for number in range(2000):
        frame.insert_chunk(number, compressed)
    assert run_python(LONG, str(path)) == "interrupted\n"


def test_remove_takes_files_and_containers_only(frame, table, tmp_path):
    superchunk.remove(frame)
    superchunk.remove(table)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_bytes(b"content")
    with pytest.raises(superchunk.UnsupportedError):
        superchunk.remove(tmp_path / "precious")
    assert (tmp_path / "precious" / "file").exists()
