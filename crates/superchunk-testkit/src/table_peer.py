"""NumPy as the judge of expressions behind a pipe (see table_peer.rs).

Requests and replies are those of frame_peer.py. `load` gives a column its values; `mask` evaluates an
expression over all columns, which are NumPy arrays, and returns a byte for each row.
"""

import numpy as np
from serve import by_name, serve

columns = {}


def load(r, payload):
    columns[r["name"]] = np.frombuffer(payload[0], dtype=np.dtype(r["dtype"]))


def mask(r, payload):
    rows = len(next(iter(columns.values())))
    with np.errstate(all="ignore"):
        found = eval(r["text"], {"np": np}, dict(columns))  # the test's own text
    return [np.ascontiguousarray(np.broadcast_to(np.asarray(found, dtype=bool), (rows,))).tobytes()]


OPS = [load, mask]


if __name__ == "__main__":
    serve(by_name(OPS))
