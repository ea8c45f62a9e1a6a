"""Writes conformance/vectors/chunk: chunks made by the real libraries.

Run once with the environment that `cargo xtask setup` makes:

    target/venv/blosc2/bin/python conformance/generate/chunks.py

Vectors are only ever added; a file that exists is left as it is.
"""

import hashlib
import json
import pathlib

import blosc
import blosc2
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "vectors" / "chunk"
CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
FILTERS = blosc2.Filter
PIPELINES = {
    "none": ([], []),
    "shuffle": ([FILTERS.SHUFFLE], [0]),
    "bitshuffle": ([FILTERS.BITSHUFFLE], [0]),
    "delta-shuffle": ([FILTERS.DELTA, FILTERS.SHUFFLE], [0, 0]),
    "shuffle-bytedelta": ([FILTERS.SHUFFLE, FILTERS.BYTEDELTA], [0, 8]),
    "trunc-shuffle": ([FILTERS.TRUNC_PREC, FILTERS.SHUFFLE], [20, 0]),
}


def measurements(count: int) -> np.ndarray:
    """A wave with steps and noise: some planes are runs, some compress, some do not."""
    i = np.arange(count)
    noise = (i * 2654435761 % 4093) / 4093
    return np.round(20 + np.sin(i / 50) + 0.1 * noise, 3)


def blosc2_chunk(data: bytes, codec: str, pipeline: str, **more) -> bytes:
    filters, metas = PIPELINES[pipeline]
    padded = filters + [FILTERS.NOFILTER] * (6 - len(filters))
    params = {
        "codec": blosc2.Codec[codec.upper()],
        "clevel": 5,
        "typesize": 8,
        "filters": padded,
        "filters_meta": metas + [0] * (6 - len(metas)),
        "nthreads": 1,
    } | more
    return blosc2.compress2(data, **params)


def made() -> dict[str, bytes]:
    data = measurements(5001).tobytes() + b"tail"
    words = b"".join(b"line %d of the same words\n" % (i % 97) for i in range(3000))
    vectors = {}
    for codec in CODECS:
        for pipeline in PIPELINES:
            whole = data if pipeline not in ("delta-shuffle", "trunc-shuffle") else data[:-4]
            name = f"blosc2-4.14.1-{codec}-{pipeline}"
            vectors[name] = blosc2_chunk(whole, codec, pipeline, blocksize=8192)
        for shuffle in (blosc.NOSHUFFLE, blosc.SHUFFLE, blosc.BITSHUFFLE):
            name = f"blosc-1.11.4-{codec}-{['none', 'shuffle', 'bitshuffle'][shuffle]}"
            vectors[name] = blosc.compress(data, 8, 5, shuffle, codec)
    for codec in ("lz4", "lz4hc", "zstd"):
        name = f"blosc2-4.14.1-{codec}-dictionary"
        vectors[name] = blosc2_chunk(words, codec, "none", typesize=1, blocksize=2048, use_dict=True)
    for typesize in (3, 7, 17, 255, 300):
        name = f"blosc2-4.14.1-lz4-typesize{typesize}"
        vectors[name] = blosc2_chunk(words, "lz4", "shuffle", typesize=typesize)
    for mode in ("ALWAYS_SPLIT", "NEVER_SPLIT"):
        name = f"blosc2-4.14.1-zstd-{mode.lower().replace('_', '-')}"
        vectors[name] = blosc2_chunk(data, "zstd", "shuffle", splitmode=blosc2.SplitMode[mode])
    vectors["blosc2-4.14.1-stored"] = blosc2_chunk(data[:300], "lz4", "shuffle", clevel=0)
    vectors["blosc2-4.14.1-zeros"] = blosc2_chunk(bytes(4000), "lz4", "shuffle")
    vectors["blosc2-4.14.1-runs"] = blosc2_chunk(b"\1\0\0\0\0\0\0\7" * 500, "lz4", "shuffle")
    threads = {"blocksize": 4096, "nthreads": 4}
    vectors["blosc2-4.14.1-variable-blocks"] = variable_blocks()
    vectors["blosc2-4.14.1-many-threads"] = blosc2_chunk(data, "lz4", "shuffle", **threads)
    return vectors


BLOCK_SHAPE = [12, 18]


def nd_chunks() -> dict[str, bytes]:
    """Chunks of N-d arrays, whose filters and codec work on cells of a block."""
    steps = (np.arange(24 * 36).reshape(24, 36) // 5 % 11).astype(np.float32)
    squares = np.kron(np.arange(54, dtype=np.uint8).reshape(6, 9) % 5, np.ones((4, 4), np.uint8))
    made = {
        "ndcell": (steps, "LZ4", 0, FILTERS.NDCELL, 4),
        "ndmean": (steps, "LZ4", 0, FILTERS.NDMEAN, 4),
        "ndlz-cells-of-4": (squares, "NDLZ", 4, FILTERS.NOFILTER, 0),
        "ndlz-cells-of-8": (squares, "NDLZ", 8, FILTERS.NOFILTER, 0),
    }
    vectors = {}
    for name, (array, codec, codec_meta, cell_filter, meta) in made.items():
        cparams = {
            "codec": blosc2.Codec[codec],
            "codec_meta": codec_meta,
            "filters": [cell_filter] + [FILTERS.NOFILTER] * 5,
            "filters_meta": [meta] + [0] * 5,
            "nthreads": 1,
        }
        stored = blosc2.asarray(array, chunks=(24, 36), blocks=tuple(BLOCK_SHAPE), cparams=cparams)
        digest = hashlib.sha256(stored.schunk.decompress_chunk(0)).hexdigest()
        vectors[f"blosc2-4.14.1-{name}"] = (stored.schunk.get_chunk(0), digest)
    return vectors


def variable_blocks() -> bytes:
    words = blosc2.BatchArray(items_per_block=20, cparams={"codec": blosc2.Codec.ZSTD, "nthreads": 1})
    words.append([b"word %d " % i * (i % 9 + 1) for i in range(300)])
    return words.schunk.get_chunk(0)


def digest(decode) -> str | None:
    try:
        return hashlib.sha256(decode()).hexdigest()
    except Exception:  # the library refuses the chunk: that is what the index records
        return None


def entry(name: str, chunk: bytes, **more) -> dict:
    """Writes the chunk, unless it is there already, and describes it."""
    path = FOLDER / f"{name}.chunk"
    if not path.exists():
        path.write_bytes(chunk)
    chunk = path.read_bytes()
    is_blosc1 = chunk[0] == 2
    return {
        "file": path.name,
        "source": "conformance/generate/chunks.py",
        "bytes": len(chunk),
        "version": chunk[0],
        "flags": chunk[2],
        "typesize": chunk[3],
        "nbytes": int.from_bytes(chunk[4:8], "little"),
        "decoded_sha256_by": {
            "blosc1": digest(lambda: blosc.decompress(chunk)) if is_blosc1 else None,
            "blosc2": digest(lambda: blosc2.decompress2(chunk)),
        },
    } | more


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    samples = [entry(name, chunk) for name, chunk in sorted(made().items())]
    for name, (chunk, decoded) in sorted(nd_chunks().items()):
        by = {"blosc1": None, "blosc2": decoded}
        samples.append(entry(name, chunk, decoded_sha256_by=by, block_shape=BLOCK_SHAPE))
    index = {"about": "Chunks written by the named library and version.", "samples": samples}
    (FOLDER / "INDEX.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main()
