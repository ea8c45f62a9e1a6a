"""bloscpack 0.16 and bcolz behind a pipe (see legacy_peer.rs); requests and replies as in frame_peer.py.

The operations of each package are in a file of their own: a list OPERATIONS of functions that take the
request and its payloads.
"""

import collections
import collections.abc

# bloscpack 0.16 was written for Python before 3.10.
collections.MutableMapping = collections.abc.MutableMapping

import legacy_bcolz
import legacy_pack
from serve import serve

OPERATIONS = {f.__name__: f for f in legacy_pack.OPERATIONS + legacy_bcolz.OPERATIONS}


def answer(request, payload):
    return OPERATIONS[request["op"]](request, payload)


if __name__ == "__main__":
    serve(answer)
