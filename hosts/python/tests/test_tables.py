"""Tables and columns against structured arrays of NumPy, and folders both ways with bcolz."""

import pickle
import random

import legacy
import numpy
import pandas
import pytest
import superchunk
from superchunk import Column, Table, create_column, create_table

DTYPE = numpy.dtype([("id", "<i4"), ("close", "<f8"), ("name", "<U5"), ("day", "<M8[D]"), ("odd", "?")])


def some_rows(count, seed=0):
    """Rows with every kind of column."""
    chance = numpy.random.default_rng(seed)
    rows = numpy.empty(count, DTYPE)
    rows["id"] = chance.integers(0, 9, count)
    rows["close"] = chance.random(count).round(3)
    rows["name"] = chance.choice(["Ada", "Grace", ""], count)
    rows["day"] = numpy.datetime64("2020-01-01") + chance.integers(0, 500, count)
    rows["odd"] = rows["id"] % 2 == 1
    return rows


@pytest.fixture(params=["bcolz", "blsk"])
def stored(request, tmp_path):
    """A table of five chunks, and its rows."""
    rows = some_rows(500)
    # blsk has no texts of fixed length and no dates.
    names = DTYPE.names if request.param == "bcolz" else ["id", "close", "odd"]
    rows = rows[list(names)]
    columns = {name: rows[name] for name in names}
    table = create_table(tmp_path / "t", columns, format=request.param, chunk_rows=100)
    plain = numpy.empty(len(rows), table.dtype)
    for name in rows.dtype.names:
        plain[name] = rows[name]
    yield table, plain
    table.close()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("format", ["bcolz", "blsk"])
def test_random_changes_are_those_of_an_array(format, seed, tmp_path):
    chance = random.Random(seed)
    dtype = numpy.dtype([("x", "<i8"), ("y", "<f4")])

    def new(count):
        rows = numpy.empty(count, dtype)
        rows["x"] = [chance.randrange(-99, 99) for _ in range(count)]
        rows["y"] = [chance.random() for _ in range(count)]
        return rows

    table, model = create_table(tmp_path / "t", dtype, format=format, chunk_rows=37), new(0)
    for _ in range(50):
        match chance.randrange(6):
            case 0 | 1:
                rows = new(chance.randrange(90))
                table.append(rows if chance.random() < 0.5 else {"y": rows["y"], "x": rows["x"]})
                model = numpy.concatenate([model, rows])
            case 2:
                table.trim(count := chance.randrange(len(model) + 1) // 3)
                model = model[: len(model) - count]
            case 3:
                table.resize(len(model) + 5)
                model = numpy.concatenate([model, numpy.zeros(5, dtype)])
            case 4:
                start = chance.randrange(len(model) + 1)
                stop = chance.randrange(start, len(model) + 1)
                rows = new(stop - start)
                table[start:stop] = rows
                model[start:stop] = rows
                table["x"][start:stop] = model["x"][start:stop] = 7
            case _:
                table.commit()
                assert numpy.array_equal(superchunk.open(tmp_path / "t")[...], model)
        assert len(table) == len(model)
    assert numpy.array_equal(table.to_numpy(), model)
    table.close()


def test_keys_are_those_of_numpy(stored):
    table, rows = stored
    mask = rows["id"] > 4
    slices = [slice(7), slice(95, 205), slice(None, None, -9), slice(9, 2)]
    for key in [0, -1, 499, numpy.int8(5), *slices, [3, 1, 1, -2], mask, ...]:
        assert numpy.array_equal(table[key], rows[key]), key
        assert type(table[key]) is type(rows[key]), key
        for name in rows.dtype.names:
            found = table[name][key]
            asked = rows[name][key]
            assert numpy.array_equal(found, asked) and found.dtype == asked.dtype, (name, key)
    assert numpy.array_equal(list(table), rows)
    assert numpy.array_equal(numpy.asarray(table), rows)
    few = table[["odd", "id"]]
    assert few.names == ["odd", "id"]
    assert few[3].tolist() == (rows[3]["odd"], rows[3]["id"])
    for key in (500, -501, [0, 500]):
        with pytest.raises(IndexError):
            table["id"][key]
    with pytest.raises(KeyError):
        table["ID"]
    with pytest.raises(IndexError):
        table["id"]["x"]
    with pytest.raises(IndexError):
        table["id"][mask[:5]]


@pytest.mark.parametrize("format", ["bcolz", "blsk"])
def test_columns_have_more_dimensions(format, tmp_path):
    items = numpy.arange(60 * 3 * 4, dtype="f4").reshape(60, 3, 4)
    with create_column(tmp_path / "c", items, format=format, chunk_rows=7) as column:
        assert type(column) is Column and column.shape == (60, 3, 4)
        parts = [(slice(2, 9), 1), (slice(2, 9), ..., 2), ([1, 5], slice(1)), ([1, 5], [0, 2])]
        for key in [5, (5, 1), *parts, (..., 0), (None, 2), ()]:
            assert numpy.array_equal(column[key], items[key]), key
        changes = {(3, 1): 9, -1: items[0], (..., 3): 4}
        slices = [(slice(1, 4), 2.5), ((slice(None), 0), 1), ([1, 2], 8)]
        for key, value in [*changes.items(), *slices]:
            column[key] = items[key] = value
            assert numpy.array_equal(column, items), key
        column.append(items[:2])
        column.append(items[0])
        assert numpy.array_equal(column[60:], items[[0, 1, 0]])
        with pytest.raises(ValueError, match="rows of shape"):
            column.append(numpy.zeros((2, 4, 3)))
        column.trim(60)
        assert len(column) == 3
    assert numpy.array_equal([part for _, chunk in column_chunks(tmp_path / "c") for part in chunk], items[:3])


def column_chunks(path):
    """The chunks of a column."""
    return superchunk.open(path).iter_chunks()


def test_conditions_find_what_numpy_finds(stored):
    table, rows = stored
    mask = (rows["close"] > 0.5) & (rows["id"] == 3)
    assert numpy.array_equal(table.where("close > :low and id == $1", low=0.5, **{"1": 3}), rows[mask])
    assert table.where_rows("close > 0.5 and id == 3").tolist() == numpy.flatnonzero(mask).tolist()
    assert table.count("close > :low and id == 3", low=numpy.float64(0.5)) == mask.sum()
    assert table.count() == 500
    some = table.where("odd", columns=["id"], rows=range(100, 300), limit=7)
    assert numpy.array_equal(some["id"], rows["id"][100:300][rows["odd"][100:300]][:7])
    found = list(table.scan(["close"], "id > 2", batch_size=64))
    assert all(len(batch) <= 64 and batch.names == ["close"] for batch in found)
    numbers = numpy.concatenate([batch.rows for batch in found])
    assert numpy.array_equal(numbers, numpy.flatnonzero(rows["id"] > 2))
    assert numpy.array_equal(numpy.concatenate([batch["close"] for batch in found]), rows["close"][numbers])
    with pytest.raises(ValueError, match="low"):
        table.count("close > :low")
    with pytest.raises(ValueError):
        table.where("close >")
    with pytest.raises(ValueError, match="did you mean `close`"):
        table.where("clos > 1")
    with pytest.raises(TypeError, match="parameter"):
        table.count("close > :low", low=[])


def test_dates_and_texts_are_compared(tmp_path):
    rows = some_rows(300)
    with create_table(tmp_path / "t", rows) as table:
        import datetime

        for day in (numpy.datetime64("2020-06-01"), datetime.date(2020, 6, 1)):
            assert table.count("day < :day", day=day) == (rows["day"] < numpy.datetime64("2020-06-01")).sum()
        assert table.count("name == :who", who="Ada") == (rows["name"] == "Ada").sum()
        assert table.summary("day").max == rows["day"].max()


def test_what_is_computed_is_what_numpy_and_pandas_compute(stored):
    table, rows = stored
    frame = pandas.DataFrame({name: rows[name] for name in rows.dtype.names})
    summary = table.summary("close", "odd")
    values = rows["close"][rows["odd"]]
    assert (summary.count, summary.min, summary.max, summary.nulls) == (len(values), values.min(), values.max(), 0)
    asked = [values.sum(), values.mean(), values.std()]
    numpy.testing.assert_allclose([summary.sum, summary.mean, summary.std], asked)
    assert table.summary("id").sum == rows["id"].sum()
    found = table.group_by("id", "close > 0.1").agg(total=("close", "sum"), most=("close", "max"))
    asked = frame[frame.close > 0.1].groupby("id", sort=False).close.agg(["count", "sum", "max"])
    assert found["id"].tolist() == asked.index.tolist()
    assert found["count"].tolist() == asked["count"].tolist()
    numpy.testing.assert_allclose(found["total"], asked["sum"])
    assert found["most"].tolist() == asked["max"].tolist()
    ordered = table.sort_values(["id", "close"], ascending=[False, True])
    asked = frame.sort_values(["id", "close"], ascending=[False, True], kind="stable")
    assert numpy.array_equal(ordered, rows[asked.index])
    assert table.argsort("close").tolist() == numpy.argsort(rows["close"], kind="stable").tolist()
    assert sorted(table.unique("id")) == numpy.unique(rows["id"]).tolist()
    assert len(table.unique(["id", "odd"])) == len(frame[["id", "odd"]].drop_duplicates())
    pandas.testing.assert_frame_equal(table.to_pandas(), frame)
    assert table["id"].to_pandas().tolist() == rows["id"].tolist()
    with pytest.raises(ValueError, match="measure"):
        table.group_by("id").agg(x=("close", "median"))


def test_a_scan_outlives_its_handle_and_keeps_writers_waiting(stored):
    table, rows = stored
    scan = table.scan(["id"], batch_size=100)
    first = next(scan)
    with pytest.raises(BlockingIOError, match="scan"):
        table.append(rows[:1])
    del scan
    table.append(rows[:1])
    assert len(table) == 501
    reader = superchunk.open(table.path)
    scan = reader.scan(["id"], batch_size=100)
    reader.close()
    assert numpy.array_equal(numpy.concatenate([batch["id"] for batch in scan]), rows["id"])
    assert numpy.array_equal(first["id"], rows["id"][:100])


def test_columns_come_and_go(tmp_path):
    rows = some_rows(50)
    with create_table(tmp_path / "t", rows) as table:
        table.add_column("twice", rows["close"] * 2, codec="zstd")
        table.rename_column("id", "number")
        table.remove_column("name")
    table = superchunk.open(tmp_path / "t")
    assert table.names == ["number", "close", "day", "odd", "twice"]
    assert numpy.array_equal(table["twice"], rows["close"] * 2)
    with superchunk.open(tmp_path / "t", "r+") as table:
        with pytest.raises(ValueError, match="50 rows"):
            table.add_column("short", rows["close"][:3])
        with pytest.raises(LookupError):
            table.remove_column("name")
    with create_table(tmp_path / "b", {"x": rows["close"]}, format="blsk") as table:
        with pytest.raises(NotImplementedError):
            table.add_column("y", rows["close"])


def test_rows_that_do_not_fit_change_nothing(stored):
    table, rows = stored
    wrong = [
        {"id": [1]},
        rows[["id"]],
        {name: rows[name][: number + 1] for number, name in enumerate(rows.dtype.names)},
    ]
    for part in wrong:
        with pytest.raises(ValueError):
            table.append(part)
    with pytest.raises(TypeError):
        table.append(5)
    with pytest.raises(ValueError):
        table.trim(501)
    with pytest.raises(ValueError):
        table["id"][3] = "no number"
    with pytest.raises(ValueError):
        table["id"].append(3)
    assert numpy.array_equal(table[...], rows)


def test_nothing_is_left_of_what_could_not_be_made(tmp_path):
    with pytest.raises(NotImplementedError):
        create_table(tmp_path / "t", {"x": numpy.zeros(3, "c16")})
    with pytest.raises(ValueError, match="one length"):
        create_table(tmp_path / "t", {"x": [1], "y": [1, 2]})
    with pytest.raises(ValueError, match="format"):
        create_table(tmp_path / "t", {"x": [1]}, format="csv")
    with pytest.raises(TypeError, match="Python objects"):
        create_table(tmp_path / "t", {"x": numpy.array([None])})
    assert list(tmp_path.iterdir()) == []


def test_folders_of_columns_are_tables(tmp_path):
    import json

    days = numpy.arange(300)
    (tmp_path / "t" / "eu").mkdir(parents=True)
    superchunk.save(tmp_path / "t" / "day.b2nd", days, chunks=(64,))
    superchunk.save(tmp_path / "t" / "eu" / "close.b2nd", days * 0.5)
    (tmp_path / "t" / "columns.json").write_text(
        json.dumps({"columns": ["day", "eu/close"], "attributes": {"unit": "USD"}})
    )
    with superchunk.open(tmp_path / "t", "r+") as table:
        assert (type(table), table.format, table.names) == (Table, "columns", ["day", "eu/close"])
        assert numpy.array_equal(table["eu/close"][[5, 3]], [2.5, 1.5])
        assert table.count("`eu/close` > 100") == (days * 0.5 > 100).sum()
        table.attrs["since"] = 2020
        with pytest.raises(NotImplementedError, match="folder of columns"):
            table.append((1, 2.0))
    assert dict(superchunk.open(tmp_path / "t").attrs) == {"unit": "USD", "since": 2020}


def test_columns_of_tables_are_pickled(stored):
    table, rows = stored
    table.commit()
    column = pickle.loads(pickle.dumps(superchunk.open(table.path)["id"]))
    assert numpy.array_equal(column, rows["id"])


def test_texts_say_what_is_there(stored):
    table, _ = stored
    assert "500 rows" in repr(table) and "close float64" in repr(table)
    assert "'id'" in repr(table["id"]) and "(500,) int32" in repr(table["id"])
    assert table.nbytes == 500 * table.dtype.itemsize
    assert 0 < table.cbytes


def test_folders_of_bcolz_are_read_and_continued(tmp_path):
    program = """
import sys, numpy, bcolz
columns = [numpy.arange(1000), numpy.linspace(0, 1, 1000), numpy.array(["a", "bc"] * 500)]
t = bcolz.ctable(columns=columns, names=["i", "f", "s"], rootdir=sys.argv[1], mode="w")
t.attrs["unit"] = "USD"; t.flush()
c = bcolz.carray(numpy.arange(600).reshape(200, 3), rootdir=sys.argv[2], mode="w"); c.flush()
o = bcolz.carray(["x", None, [1, 2]], dtype=numpy.dtype(object), rootdir=sys.argv[3], mode="w"); o.flush()
"""
    legacy.run(program, tmp_path / "t", tmp_path / "c", tmp_path / "o")
    with superchunk.open(tmp_path / "t", "r+") as table:
        assert (len(table), table.names, dict(table.attrs)) == (1000, ["i", "f", "s"], {"unit": "USD"})
        assert numpy.array_equal(table["f"], numpy.linspace(0, 1, 1000))
        assert table[3].tolist()[::2] == (3, "bc")
        table.append({"i": [7], "f": [0.5], "s": ["zz"]})
        table["f"][0] = -1.0
        table.attrs["more"] = [1, None]
    assert numpy.array_equal(superchunk.open(tmp_path / "c")[5:7], [[15, 16, 17], [18, 19, 20]])
    objects = superchunk.open(tmp_path / "o")
    assert objects.dtype == object
    assert objects[...].tolist() == ["x", None, [1, 2]]
    program = """
import sys, bcolz
t = bcolz.open(sys.argv[1], "r")
print(len(t), t["s"][1000], float(t["f"][0]), t.attrs["more"])
"""
    assert legacy.run(program, tmp_path / "t").strip() == "1001 zz -1.0 [1, None]"


def test_bcolz_reads_what_is_written(tmp_path):
    rows = some_rows(3000)
    create_table(tmp_path / "t", rows, chunk_rows=1024, codec="zstd").close()
    create_column(tmp_path / "c", numpy.arange(600).reshape(200, 3)).close()
    program = """
import sys, bcolz
t, c = bcolz.open(sys.argv[1], "r"), bcolz.open(sys.argv[2], "r")
print(len(t), t.names, t["id"][:].sum(), c.shape, c[:].sum())
"""
    found = legacy.run(program, tmp_path / "t", tmp_path / "c")
    assert found.strip() == f"3000 {list(DTYPE.names)} {rows['id'].sum()} (200, 3) {600 * 599 // 2}"
