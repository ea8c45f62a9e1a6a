"""Lists of objects against `list`, and files both ways with python-blosc2."""

import random

import blosc2
import pytest
import superchunk
from superchunk import create_objects

MAKERS = {
    "text": lambda chance: "é" * chance.randrange(30) + str(chance.random()),
    "bytes": lambda chance: chance.randbytes(chance.randrange(60)),
    "values": lambda chance: chance.choice(
        [None, True, 7, -(2**63), 0.5, "text", b"bytes", [1, [2]], {"a": [None]}, (1, 2)]
    ),
}


@pytest.mark.parametrize("seed", range(15))
def test_random_changes_are_those_of_a_list(seed, tmp_path):
    chance = random.Random(seed)
    kind = list(MAKERS)[seed % 3]
    new = MAKERS[kind]
    path = tmp_path / "o.b2b"
    # Small blocks, so that a few objects are many blocks.
    stored, model = create_objects(path, kind, blocksize=256), []
    for _ in range(80):
        place = chance.randrange(-len(model), len(model)) if model else 0
        match chance.randrange(9):
            case 0 | 1:
                more = [new(chance) for _ in range(chance.randrange(60))]
                stored.extend(more)
                model.extend(more)
            case 2:
                stored.append(one := new(chance))
                model.append(one)
            case 3:
                stored.insert(place, one := new(chance))
                model.insert(place, one)
            case 4 if model:
                stored[place] = one = new(chance)
                model[place] = one
            case 5 if model:
                assert stored.pop(place) == model.pop(place)
            case 6:
                end = place + chance.randrange(5)
                del stored[place:end]
                del model[place:end]
            case 7:
                stored.commit()
                assert list(superchunk.open(path)) == model
            case _:
                step = chance.choice([1, 2, -1])
                assert stored[place::step] == model[place::step]
        assert len(stored) == len(model)
    assert list(stored) == model
    stored.clear()
    assert list(stored) == []
    stored.close()


def test_one_wrong_object_changes_nothing():
    texts = create_objects(None, "text", ["a", "b"])
    for wrong in (lambda: texts.extend(["c", b"d"]), lambda: texts.append(5), lambda: texts.insert(0, None)):
        with pytest.raises(TypeError, match="holds str"):
            wrong()
    with pytest.raises(IndexError):
        texts[2]
    with pytest.raises(IndexError):
        texts[-3] = "c"
    with pytest.raises(TypeError):
        texts["a"]
    with pytest.raises(ValueError, match="kind"):
        create_objects(None, "texts")
    with pytest.raises(TypeError, match="expected None"):
        create_objects(None, "values", [object()])
    assert (texts[:], texts.kind) == (["a", "b"], "text")


def test_nothing_is_left_of_what_could_not_be_made(tmp_path):
    with pytest.raises(TypeError):
        create_objects(tmp_path / "o.b2b", "text", [5])
    assert list(tmp_path.iterdir()) == []


def test_files_go_both_ways_with_python_blosc2(tmp_path):
    values = [{"id": number, "tags": ["x"] * (number % 3)} for number in range(1000)]
    create_objects(tmp_path / "ours.b2b", "values", values).close()
    assert list(blosc2.open(str(tmp_path / "ours.b2b")).items) == values
    theirs = blosc2.BatchArray(urlpath=str(tmp_path / "theirs.b2b"), mode="w")
    theirs.append(values[:600])
    theirs.append(values[600:])
    ours = superchunk.open(tmp_path / "theirs.b2b")
    assert type(ours) is superchunk.Objects
    assert ours[:] == values
    assert ours[999] == values[999]
