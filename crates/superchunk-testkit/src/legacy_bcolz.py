"""The operations of bcolz-zipline: every folder is named by its path and nothing stays open."""

import datetime
import json

import bcolz
import numpy

bcolz.set_nthreads(1)
bcolz.blosc_set_nthreads(1)


def parameters(r):
    return bcolz.cparams(clevel=r["level"], shuffle=r["shuffle"], cname=r["codec"])


def rows(content, dtype, shape=()):
    return numpy.frombuffer(content, dtype=dtype).reshape((-1, *shape))


def row_of(carray):
    return carray.dtype, carray.shape[1:]


def bcolz_version(r, payload):
    return f"bcolz {bcolz.__version__}, NumPy {numpy.__version__}"


def bcolz_make_array(r, payload):
    content = rows(payload[0], r["dtype"], r["row_shape"])
    # A plain array of rows without a shape.
    content = content.reshape(-1) if not r["row_shape"] else content
    made = bcolz.carray(content, rootdir=r["path"], cparams=parameters(r), chunklen=r["chunk_len"], dflt=r["dflt"])
    made.flush()


def bcolz_make_table(r, payload):
    columns = [rows(content, dtype).reshape(-1) for content, dtype in zip(payload, r["dtypes"])]
    made = bcolz.ctable(columns=columns, names=r["names"], rootdir=r["path"], chunklen=r["chunk_len"])
    made.flush()


def bcolz_read_array(r, payload):
    array = bcolz.open(r["path"], mode="r")
    facts = {"dtype": array.dtype.str, "shape": array.shape, "chunk_len": array.chunklen,
             "attrs": dict(array.attrs)}
    return [json.dumps(facts).encode(), array[:].tobytes()]


def bcolz_read_table(r, payload):
    """The rows that a table has, which is what its first column has."""
    table = bcolz.open(r["path"], mode="r")
    length = len(table)
    facts = {"names": table.names, "len": length, "attrs": dict(table.attrs)}
    return [json.dumps(facts).encode()] + [table[name][:length].tobytes() for name in table.names]


def bcolz_sum_where(r, payload):
    """How many rows of a table an expression selects."""
    return sum(1 for _ in bcolz.open(r["path"], mode="r").where(r["expression"]))


def bcolz_append(r, payload):
    opened = bcolz.open(r["path"], mode="a")
    if isinstance(opened, bcolz.ctable):
        columns = [opened[name] for name in opened.names]
        opened.append([rows(content, *row_of(column)).reshape(-1) for content, column in zip(payload, columns)])
    else:
        dtype, shape = row_of(opened)
        content = rows(payload[0], dtype, shape)
        opened.append(content if shape else content.reshape(-1))
    opened.flush()


def bcolz_trim(r, payload):
    opened = bcolz.open(r["path"], mode="a")
    opened.trim(r["count"])
    opened.flush()


def bcolz_resize(r, payload):
    opened = bcolz.open(r["path"], mode="a")
    opened.resize(r["rows"])
    opened.flush()


def bcolz_write(r, payload):
    opened = bcolz.open(r["path"], mode="a")
    dtype, shape = row_of(opened)
    content = rows(payload[0], dtype, shape)
    content = content if shape else content.reshape(-1)
    opened[r["start"]:r["start"] + len(content)] = content
    opened.flush()


def bcolz_set_attr(r, payload):
    bcolz.open(r["path"], mode="a").attrs[r["name"]] = r["value"]


def bcolz_add_column(r, payload):
    table = bcolz.open(r["path"], mode="a")
    table.addcol(rows(payload[0], r["dtype"]).reshape(-1), name=r["name"])
    table.flush()


def bcolz_add_objects(r, payload):
    """A column of Python objects: what JSON has, and a date for each {"date": "YYYY-MM-DD"}."""
    objects = [datetime.date.fromisoformat(o["date"]) if type(o) is dict and "date" in o else o for o in r["objects"]]
    column = numpy.empty(len(objects), dtype=object)
    column[:] = objects
    table = bcolz.open(r["path"], mode="a")
    table.addcol(column, name=r["name"])
    table.flush()


def bcolz_read_objects(r, payload):
    """The same list out of an array of objects, or out of a column of a table."""
    opened = bcolz.open(r["path"], mode="r")
    column = opened[r["name"]] if isinstance(opened, bcolz.ctable) else opened
    return {"objects": [{"date": o.isoformat()} if isinstance(o, datetime.date) else o for o in column[:]]}


def bcolz_remove_column(r, payload):
    table = bcolz.open(r["path"], mode="a")
    table.delcol(r["name"])
    table.flush()


OPERATIONS = [bcolz_version, bcolz_make_array, bcolz_make_table, bcolz_read_array, bcolz_read_table,
              bcolz_sum_where, bcolz_append, bcolz_trim, bcolz_resize, bcolz_write, bcolz_set_attr,
              bcolz_add_column, bcolz_add_objects, bcolz_read_objects, bcolz_remove_column]
