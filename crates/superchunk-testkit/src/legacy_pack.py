"""The operations of bloscpack 0.16: every file is named by its path and nothing stays open."""

import ast
import io
import json

import blosc
import bloscpack
import numpy
from bloscpack import append as appending
from bloscpack import file_io

blosc.set_nthreads(1)


def blosc_args(r):
    return bloscpack.BloscArgs(typesize=r["typesize"], clevel=r["level"], shuffle=r["shuffle"], cname=r["codec"])


def pack_args(r):
    more = {} if r["slots"] is None else {"max_app_chunks": r["slots"]}
    return bloscpack.BloscpackArgs(offsets=r["offsets"], checksum=r["checksum"], **more)


def metadata_args(r):
    return bloscpack.MetadataArgs(meta_checksum=r["meta_checksum"], meta_codec=r["meta_codec"])


def pack_version(r, payload):
    return f"bloscpack {bloscpack.__version__}, python-blosc {blosc.__version__}, C-Blosc {blosc.blosclib_version}"


def pack_bytes(r, payload):
    bloscpack.pack_bytes_to_file(payload[0], r["path"], chunk_size=r["chunk_size"], metadata=r["metadata"],
                                 blosc_args=blosc_args(r), bloscpack_args=pack_args(r),
                                 metadata_args=metadata_args(r))


def pack_array(r, payload):
    flat = numpy.frombuffer(payload[0], dtype=numpy.dtype(ast.literal_eval(r["dtype"])))
    array = flat.reshape(r["shape"], order=r["order"])
    bloscpack.pack_ndarray_to_file(array, r["path"], chunk_size=r["chunk_size"], blosc_args=blosc_args(r),
                                   bloscpack_args=pack_args(r), metadata_args=metadata_args(r))


def unpack_bytes(r, payload):
    content, metadata = bloscpack.unpack_bytes_from_file(r["path"])
    return [content]


def unpack_metadata(r, payload):
    # As text: a list would be taken for payloads.
    return json.dumps(bloscpack.unpack_bytes_from_file(r["path"])[1])


def unpack_array(r, payload):
    array = bloscpack.unpack_ndarray_from_file(r["path"])
    dtype = repr(array.dtype.descr) if array.dtype.names else repr(array.dtype.str)
    # In C order, whatever the order of the file.
    return [json.dumps({"dtype": dtype, "shape": array.shape}).encode(), array.tobytes(order="C")]


def append_bytes(r, payload):
    args = {"typesize": r["typesize"], "clevel": r["level"], "shuffle": r["shuffle"], "cname": r["codec"]}
    with open(r["path"], "r+b") as original:
        return appending.append_fp(original, io.BytesIO(payload[0]), len(payload[0]), args)


def rewrite_metadata(r, payload):
    with open(r["path"], "r+b") as target:
        appending._seek_to_metadata(target)
        appending._rewrite_metadata_fp(target, r["metadata"])


def pack_info(r, payload):
    with open(r["path"], "rb") as source:
        header, metadata, metadata_header, offsets = file_io._read_beginning(source)
    return {"header": dict(header), "offsets": offsets, "metadata": metadata}


OPERATIONS = [
    pack_version, pack_bytes, pack_array, unpack_bytes, unpack_metadata, unpack_array, append_bytes,
    rewrite_metadata, pack_info,
]
