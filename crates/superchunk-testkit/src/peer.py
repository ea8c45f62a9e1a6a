"""A real Blosc library behind a pipe: requests on stdin, replies on stdout (see peers.rs).

usage: peer.py blosc2 | blosc | numcodecs [guarded]

request  <BBBBBBHIIII6s6sI then the payload
         op codec level split dictionary nfilters threads
         item_size block_size start count filters metas payload_length
reply    <BI then the payload: status 0 and bytes, or status 1 and a sentence in UTF-8
"""

import ctypes
import glob
import importlib.util
import os
import struct
import sys

REQUEST = struct.Struct("<BBBBBBHIIII6s6sI")
REPLY = struct.Struct("<BI")
VERSION, COMPRESS, DECOMPRESS, GETITEM = range(4)
BLOSC1_NAMES = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]


class Request:
    def __init__(self, head):
        (self.op, self.codec, self.level, self.split, self.dictionary, self.nfilters, self.threads, self.item_size,
         self.block_size, self.start, self.count, self.filters, self.metas, self.length) = head
        self.payload = b""

    def signed_metas(self):
        return [m - 256 if m > 127 else m for m in self.metas[: self.nfilters]]

    def blosc1_shuffle(self):
        if self.nfilters > 1 or self.filters[0] > 2:
            raise ValueError("Blosc1 has no filters but shuffle and bitshuffle")
        return self.filters[0] if self.nfilters else 0


def stated_size(chunk):
    """nbytes as a chunk's header states it."""
    if len(chunk) < 16:
        raise ValueError("shorter than a header")
    (nbytes,) = struct.unpack_from("<i", chunk, 4)
    if nbytes < 0:
        raise ValueError("negative nbytes")
    return nbytes


class CParams(ctypes.Structure):
    """blosc2_cparams of C-Blosc2 3.3."""

    _fields_ = [
        ("compcode", ctypes.c_uint8), ("compcode_meta", ctypes.c_uint8), ("clevel", ctypes.c_uint8),
        ("use_dict", ctypes.c_int), ("typesize", ctypes.c_int32), ("nthreads", ctypes.c_int16),
        ("blocksize", ctypes.c_int32), ("splitmode", ctypes.c_int32), ("schunk", ctypes.c_void_p),
        ("filters", ctypes.c_uint8 * 6), ("filters_meta", ctypes.c_uint8 * 6),
        ("prefilter", ctypes.c_void_p), ("preparams", ctypes.c_void_p), ("tuner_params", ctypes.c_void_p),
        ("tuner_id", ctypes.c_int), ("instr_codec", ctypes.c_bool), ("codec_params", ctypes.c_void_p),
        ("filter_params", ctypes.c_void_p * 6),
    ]


class Library:
    """C-Blosc2 called directly: every knob exact, nothing adjusted by the Python layer."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.blosc2_get_version_string.restype = ctypes.c_char_p
        self.lib.blosc2_create_cctx.argtypes = [CParams]
        self.lib.blosc2_create_cctx.restype = ctypes.c_void_p
        self.lib.blosc2_free_ctx.argtypes = [ctypes.c_void_p]
        self.lib.blosc2_compress_ctx.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32]
        self.lib.blosc2_init()

    def version(self):
        return "C-Blosc2 " + self.lib.blosc2_get_version_string().decode()

    def compress(self, r):
        params = CParams(compcode=r.codec, clevel=r.level, use_dict=r.dictionary, typesize=r.item_size,
                         nthreads=r.threads, blocksize=r.block_size, splitmode=r.split,
                         filters=tuple(r.filters), filters_meta=tuple(r.metas))
        context = self.lib.blosc2_create_cctx(params)
        if not context:
            raise ValueError("blosc2_create_cctx refused the parameters")
        size = len(r.payload) + 32
        out = ctypes.create_string_buffer(size)
        code = self.lib.blosc2_compress_ctx(context, r.payload, len(r.payload), out, size)
        self.lib.blosc2_free_ctx(context)
        return self.taken("blosc2_compress_ctx", code, out)

    def decompress(self, r):
        size = stated_size(r.payload)
        out = ctypes.create_string_buffer(max(size, 1))
        code = self.lib.blosc2_decompress(r.payload, len(r.payload), out, size)
        return self.taken("blosc2_decompress", code, out)

    def getitem(self, r):
        size = r.count * r.item_size
        out = ctypes.create_string_buffer(max(size, 1))
        code = self.lib.blosc2_getitem(r.payload, len(r.payload), r.start, r.count, out, size)
        return self.taken("blosc2_getitem", code, out)

    @staticmethod
    def taken(name, code, out):
        if code < 0:
            raise ValueError(f"{name} returned {code}")
        return ctypes.string_at(out, code)


class OldPython:
    """python-blosc2 before the shared library was shipped: through its Python functions."""

    def __init__(self):
        import blosc2

        self.blosc2 = blosc2

    def version(self):
        return f"python-blosc2 {self.blosc2.__version__}, C-Blosc2 {self.blosc2.blosclib_version}"

    def compress(self, r):
        b = self.blosc2
        filters = [b.Filter(f) for f in r.filters[: r.nfilters]]
        return b.compress2(r.payload, codec=b.Codec(r.codec), clevel=r.level, typesize=r.item_size,
                           blocksize=r.block_size, splitmode=b.SplitMode(r.split), filters=filters,
                           filters_meta=r.signed_metas(), use_dict=bool(r.dictionary), nthreads=r.threads)

    def decompress(self, r):
        stated_size(r.payload)
        return self.blosc2.decompress2(r.payload, nthreads=r.threads)

    def getitem(self, r):
        cparams = {"typesize": r.item_size, "nthreads": 1}
        schunk = self.blosc2.SChunk(chunksize=stated_size(r.payload), cparams=cparams)
        schunk.insert_chunk(0, r.payload)
        return schunk[r.start : r.start + r.count]


class Blosc1:
    """python-blosc over C-Blosc 1."""

    def __init__(self):
        import blosc

        self.blosc = blosc

    def version(self):
        return f"python-blosc {self.blosc.__version__}, C-Blosc {self.blosc.blosclib_version}"

    def compress(self, r):
        self.blosc.set_nthreads(r.threads)
        self.blosc.set_blocksize(r.block_size)
        return self.blosc.compress(r.payload, r.item_size, r.level, r.blosc1_shuffle(), BLOSC1_NAMES[r.codec])

    def decompress(self, r):
        self.blosc.set_nthreads(max(r.threads, 1))
        return self.blosc.decompress(r.payload)

    def getitem(self, r):
        raise ValueError("python-blosc has no getitem; ask numcodecs")


class Numcodecs:
    """numcodecs' Blosc; its extension exports C-Blosc's functions, getitem among them."""

    def __init__(self):
        from numcodecs import blosc

        self.blosc = blosc
        self.lib = ctypes.CDLL(blosc.__file__)

    def version(self):
        import numcodecs

        return f"numcodecs {numcodecs.__version__}, C-Blosc {self.blosc.VERSION_STRING}"

    def compress(self, r):
        self.blosc.set_nthreads(r.threads)
        codec = self.blosc.Blosc(BLOSC1_NAMES[r.codec], r.level, r.blosc1_shuffle(), r.block_size, r.item_size)
        return codec.encode(r.payload)

    def decompress(self, r):
        stated_size(r.payload)
        return bytes(self.blosc.decompress(r.payload))

    def getitem(self, r):
        size = r.count * r.item_size
        out = ctypes.create_string_buffer(max(size, 1))
        code = self.lib.blosc_getitem(r.payload, r.start, r.count, out)
        return Library.taken("blosc_getitem", code, out)


def peer(kind):
    if kind == "blosc":
        return Blosc1()
    if kind == "numcodecs":
        return Numcodecs()
    # Only its folder is needed to find the shared library: importing the package takes a second.
    folder = os.path.dirname(importlib.util.find_spec("blosc2").origin)
    found = glob.glob(os.path.join(folder, "lib", "libblosc2.so")) + glob.glob(
        os.path.join(folder, "lib", "libblosc2.dylib"))
    return Library(found[0]) if found else OldPython()


def guard():
    """For bytes that may crash the library: bounds its memory, and lets an alarm end what hangs."""
    import resource
    import signal

    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return signal.alarm


def main():
    alarm = guard() if sys.argv[2:] == ["guarded"] else lambda seconds: None
    library = peer(sys.argv[1])
    verbs = {COMPRESS: library.compress, DECOMPRESS: library.decompress, GETITEM: library.getitem}
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    while head := incoming.read(REQUEST.size):
        request = Request(REQUEST.unpack(head))
        request.payload = incoming.read(request.length)
        alarm(2)
        try:
            status, answer = 0, library.version().encode() if request.op == VERSION else verbs[request.op](request)
        except Exception as error:  # any refusal is an answer
            status, answer = 1, f"{type(error).__name__}: {error}".encode()
        alarm(0)
        outgoing.write(REPLY.pack(status, len(answer)))
        outgoing.write(answer)
        outgoing.flush()


main()
