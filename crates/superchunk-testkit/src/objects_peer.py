"""python-blosc2's BatchArray behind a pipe (see objects_peer.rs); requests and replies as in frame_peer.py.

Objects travel as one msgpack value, packed as the package packs them. No store stays open: each request
opens the one at its path.
"""


import blosc2
import msgpack
from blosc2.msgpack_utils import msgpack_packb, msgpack_unpackb
from serve import by_name, serve

LENGTHS = "_batch_array_metadata"


def create(r, payload):
    params = blosc2.CParams(
        codec=blosc2.Codec[r["codec"]], clevel=r["level"], use_dict=r["dictionary"], nthreads=1
    )
    store = blosc2.BatchArray(
        items_per_block=r["items_per_block"], urlpath=r["path"], mode="w", contiguous=r["contiguous"],
        cparams=params,
    )
    for batch in msgpack.unpackb(payload[0], strict_map_key=False):
        store.append(batch)


def opened(r, mode="r"):
    store = blosc2.open(r["path"], mode=mode)
    if not isinstance(store, blosc2.BatchArray):
        raise TypeError(f"a {type(store).__name__}")
    return store


def read(r, payload):
    store = opened(r)
    return [msgpack_packb([list(batch) for batch in store])]


def item(r, payload):
    return [msgpack_packb(opened(r).items[r["index"]])]


def describe(r, payload):
    store = opened(r)
    lengths = store.vlmeta[LENGTHS]["batch_lengths"] if LENGTHS in store.vlmeta else None
    return {"items_per_block": store.items_per_block, "lengths": lengths, "items": len(store.items),
            "metas": list(store.meta)}


def append(r, payload):
    opened(r, "a").append(msgpack_unpackb(payload[0]))


def replace(r, payload):
    opened(r, "a")[r["index"]] = msgpack_unpackb(payload[0])


def delete(r, payload):
    opened(r, "a").delete(r["index"])


def forget_lengths(r, payload):
    store = opened(r, "a")
    del store.vlmeta[LENGTHS]


def block(r, payload):
    """One block through the super-chunk alone, as any program can get it."""
    return [blosc2.open(r["path"]).schunk.get_vlblock(r["chunk"], r["block"])]


def number(block, at):
    """A number of docs/formats/objects.md, and where it ends."""
    value = shift = 0
    while True:
        value |= (block[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if block[at - 1] < 0x80:
            return value, at


def contents(block):
    """The objects of a block that is packed by lengths."""
    count, at = number(block, 0)
    lengths = []
    for _ in range(count):
        length, at = number(block, at)
        lengths.append(length)
    for length in lengths:
        yield block[at:at + length]
        at += length
    if at != len(block):
        raise ValueError(f"{len(block) - at} bytes follow the objects")


def read_lengths(r, payload):
    """All objects of a store that is packed by lengths, with nothing but the document and the package."""
    schunk = blosc2.open(r["path"])
    each = schunk.meta["superchunk_objects"]["items_per_block"]
    objects = []
    for chunk, count in enumerate(schunk.vlmeta[LENGTHS]["batch_lengths"]):
        for block in range(-(-count // each)):
            objects += contents(schunk.get_vlblock(chunk, block))
    if schunk.meta["ctable_varlen_scalar"]["py_type"] == "str":
        objects = [content.decode() for content in objects]
    return [msgpack.packb(objects)]


OPS = [create, read, item, describe, append, replace, delete, forget_lengths, block, read_lengths]

if __name__ == "__main__":
    serve(by_name(OPS))
