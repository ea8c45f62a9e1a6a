"""python-blosc2's super-chunks behind a pipe: requests on stdin, replies on stdout (see frame_peer.rs).

request  one line of JSON: {"op": name, "payload": [length, ...], ...arguments}, then the payloads
reply    one line of JSON: {"ok": value, "payload": [length, ...]}, then the payloads;
         or {"error": sentence, "payload": []}

A super-chunk is called by a number that the other side chose. Runs with python-blosc2 2.7.1 and 4.14.1;
what the older one does not have is refused in words.
"""

import gc
import threading

import blosc2
import msgpack
from blosc2 import blosc2_ext

from serve import serve

ONE_THREAD = {"nthreads": 1}
open_schunks = {}
holders = {}


def signed(byte):
    return byte - 256 if byte > 127 else byte


def opened(path, offset=0, **more):
    """The super-chunk at a path, whatever is laid over it (an array, a store)."""
    found = blosc2_ext.open(path, "a", offset, dparams=dict(ONE_THREAD), **more)
    return getattr(found, "schunk", found)


def stand_in(length):
    """A value that packs to this many bytes, to be overwritten by the raw content of a metalayer."""
    for value in (0, bytes(max(length - 2, 0)), bytes(max(length - 3, 0)), [bytes(max(length - 3, 0))]):
        if len(msgpack.packb(value, use_bin_type=True)) == length:
            return value
    raise ValueError(f"the peer cannot write a metalayer of {length} bytes")


class Holder(threading.Thread):
    """Holds the lock of a frame until told to release it. One thread opens, locks and unlocks."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path = path
        self.settled, self.told = threading.Event(), threading.Event()
        self.error = None
        self.start()

    def run(self):
        try:
            schunk = opened(self.path, locking=True)
            schunk.lock()
        except Exception as error:
            self.error = error
            self.settled.set()
            return
        self.settled.set()
        self.told.wait()
        schunk.unlock()

    def holds(self, seconds):
        settled = self.settled.wait(seconds)
        if self.error is not None:
            raise self.error
        return settled


# Making, opening and closing.


def version(r, payload):
    c_version = getattr(blosc2, "blosclib_version", None) or blosc2.VERSION_STRING
    return f"python-blosc2 {blosc2.__version__}, C-Blosc2 {c_version}"


def create(r, payload):
    filters = r["filters"]
    cparams = {
        "codec": blosc2.Codec(r["codec"]), "clevel": r["level"], "typesize": r["item_size"],
        "blocksize": r["block_size"], "splitmode": blosc2.SplitMode(r["split"]), "use_dict": r["dictionary"],
        "filters": [blosc2.Filter(number) for number, _ in filters],
        "filters_meta": [signed(meta) for _, meta in filters], "nthreads": 1,
    }
    metas = dict(zip(r["meta_names"], payload))
    raw = {name: content for name, content in metas.items() if name in r["raw_metas"]}
    values = {name: stand_in(len(content)) if name in raw else content for name, content in metas.items()}
    more = {"urlpath": r["path"], "mode": "w"} if r["path"] else {}
    if r["locking"]:
        more["locking"] = True
    schunk = blosc2.SChunk(chunksize=r["chunk_size"], contiguous=r["contiguous"], cparams=cparams,
                           dparams=dict(ONE_THREAD), meta=values, **more)
    for name, content in raw.items():
        blosc2_ext.meta__setitem__(schunk, name, content)
    open_schunks[r["handle"]] = schunk


def open_path(r, payload):
    more = {"locking": True} if r["locking"] else {}
    open_schunks[r["handle"]] = opened(r["path"], r["offset"], **more)


def from_cframe(r, payload):
    open_schunks[r["handle"]] = blosc2.schunk_from_cframe(payload[0], copy=True)


def close(r, payload):
    del open_schunks[r["handle"]]
    gc.collect()


# Reading; `s` is the super-chunk.


def info(s, r, payload):
    return {
        "chunk_count": s.nchunks, "nbytes": s.nbytes, "cbytes": s.cbytes, "chunk_size": s.chunksize,
        "item_size": s.typesize, "block_size": s.blocksize, "metas": list(s.meta), "vlmetas": list(s.vlmeta),
    }


def read_chunks(s, r, payload):
    return [s.decompress_chunk(n) for n in range(s.nchunks)]


def read_chunk(s, r, payload):
    return [s.decompress_chunk(r["index"])]


def read_all(s, r, payload):
    return [s[:]]


def read_items(s, r, payload):
    return [s[r["start"] : r["stop"]]]


def get_chunk(s, r, payload):
    return [s.get_chunk(r["index"])]


def to_cframe(s, r, payload):
    return [s.to_cframe()]


# Changing.


def append_data(s, r, payload):
    return s.append_data(payload[0])


def append_chunk(s, r, payload):
    return s.append_chunk(payload[0])


def insert_chunk(s, r, payload):
    return s.insert_chunk(r["index"], payload[0])


def update_chunk(s, r, payload):
    return s.update_chunk(r["index"], payload[0])


def insert_data(s, r, payload):
    return s.insert_data(r["index"], payload[0], True)


def update_data(s, r, payload):
    return s.update_data(r["index"], payload[0], True)


def delete_chunk(s, r, payload):
    return s.delete_chunk(r["index"])


def reorder(s, r, payload):
    s.reorder_offsets(r["order"])
    return s.nchunks


def write_items(s, r, payload):
    s[r["start"] : r["stop"]] = payload[0]


def fill_special(s, r, payload):
    return s.fill_special(r["items"], blosc2.SpecialValue(r["kind"]), *payload)


# Metadata: raw is what the frame holds, a value goes through the packing of python-blosc2.


def meta_raw(s, r, payload):
    if r["name"] not in s.meta:
        raise KeyError(r["name"])
    return [blosc2_ext.meta__getitem__(s, r["name"])]


def set_meta_raw(s, r, payload):
    blosc2_ext.meta__setitem__(s, r["name"], payload[0])


def vlmeta_raw(s, r, payload):
    return [blosc2_ext.vlmeta.get_vlmeta(s.vlmeta, r["name"])]


def vlmeta_value(s, r, payload):
    return [msgpack.packb(s.vlmeta[r["name"]], use_bin_type=True)]


def set_vlmeta_raw(s, r, payload):
    blosc2_ext.vlmeta.set_vlmeta(s.vlmeta, r["name"], payload[0], typesize=1)


def set_vlmeta_value(s, r, payload):
    s.vlmeta[r["name"]] = msgpack.unpackb(payload[0])


def delete_vlmeta(s, r, payload):
    del s.vlmeta[r["name"]]


# Locks.


def hold_lock(r, payload):
    if not hasattr(blosc2.SChunk, "lock"):
        raise ValueError("this python-blosc2 has no locks")
    holders[r["handle"]] = Holder(r["path"])


def holds_lock(r, payload):
    return holders[r["handle"]].holds(r["seconds"])


def release_lock(r, payload):
    holder = holders.pop(r["handle"])
    holder.told.set()
    holder.join()


FREE = [version, create, open_path, from_cframe, close, hold_lock, holds_lock, release_lock]
BOUND = [
    info, read_chunks, read_chunk, read_all, read_items, get_chunk, to_cframe, append_data, append_chunk,
    insert_chunk, update_chunk, insert_data, update_data, delete_chunk, reorder, write_items, fill_special,
    meta_raw, set_meta_raw, vlmeta_raw, vlmeta_value, set_vlmeta_raw, set_vlmeta_value, delete_vlmeta,
]
FREE_BY_NAME = {f.__name__: f for f in FREE}
BOUND_BY_NAME = {f.__name__: f for f in BOUND}


def answer(request, payload):
    name = request["op"]
    if name in FREE_BY_NAME:
        return FREE_BY_NAME[name](request, payload)
    if request["handle"] not in open_schunks:
        raise ValueError("no super-chunk is open under this handle")
    return BOUND_BY_NAME[name](open_schunks[request["handle"]], request, payload)


if __name__ == "__main__":
    serve(answer)
