"""Random arrays, keys and values, from a seed."""

import random

import numpy as np

DTYPES = [
    np.dtype(dtype)
    for dtype in (
        "?", "i1", "u1", "<i2", ">i2", "<u4", ">i4", "<i8", ">u8",
        "<f2", ">f4", "<f8", ">f8", "<c8", ">c16", "S1", "S3", "<U1", ">U2",
        "<M8[ns]", ">M8[D]", "<m8[us]", "V5",
        [("a", "<i4"), ("b", ">f8")],
        [("x", "u1"), ("y", "<f4", (2,)), ("s", "S3")],
        [("p", [("q", "<u2"), ("r", "<i8")]), ("t", "<M8[s]")],
    )
]  # fmt: skip


class Random(random.Random):
    """Choices of what arrays are made of."""

    def chance(self, part: float) -> bool:
        return self.random() < part

    def shape(self, ndim=None) -> tuple[int, ...]:
        ndim = self.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5)) if ndim is None else ndim
        longest = {1: 60, 2: 20, 3: 9, 4: 6, 5: 4}.get(ndim, 1)
        side = lambda: 0 if self.chance(0.03) else self.randint(1, longest)
        return tuple(side() for _ in range(ndim))

    def grid(self, shape):
        """Shapes of chunks and blocks."""
        chunks = tuple(self.randint(1, max(side, 1)) for side in shape)
        return chunks, tuple(self.randint(1, side) for side in chunks)

    def items(self, shape, dtype) -> np.ndarray:
        """Items with every byte at random, where every byte is allowed."""
        count = int(np.prod(shape, dtype=int))
        raw = np.frombuffer(self.randbytes(count * dtype.itemsize), "u1")
        if dtype == bool:
            raw = raw & 1
        elif dtype.kind == "U":
            codes = np.frombuffer(raw.tobytes(), "<u4") % 0x2000
            return codes.astype(dtype.byteorder + "u4").view(dtype).reshape(shape)
        return np.frombuffer(raw.tobytes(), dtype).reshape(shape)

    def slice(self, side) -> slice:
        bound = lambda: None if self.chance(0.3) else self.randint(-side - 3, side + 3)
        step = self.choice((None, None, 1, 1, 2, 3, -1, -1, -2, side + 1, -side - 2))
        return slice(bound(), bound(), step)

    def indexes(self, shape, side) -> np.ndarray:
        """Indexes of an axis, of any integer type, rarely outside."""
        out = 1 if self.chance(0.01) else 0
        low, high = -side - out, side - 1 + out
        if high < low:
            shape = (*shape[:-1], 0) if shape else (0,)
            low = high = 0
        values = [self.randint(low, high) for _ in range(int(np.prod(shape, dtype=int)))]
        kind = self.choice(("i8", "i8", "i4", "i2", ">i4"))
        return np.array(values, kind).reshape(shape)

    def key(self, shape):
        """A key of NumPy's, most often a valid one."""
        lists = self.chance(0.5)
        common = tuple(self.randint(0, 4) if self.chance(0.1) else self.randint(1, 4) for _ in range(self.randint(1, 3)))
        parts, axis = [], 0
        wanted = self.randint(0, len(shape))
        while axis < wanted:
            side = shape[axis]
            what = self.random()
            if lists and what < 0.35:
                parts.append(self.list(common, side))
            elif lists and what < 0.45:
                taken = self.randint(1, min(len(shape) - axis, 2))
                sides = shape[axis : axis + taken]
                mask = np.array([self.chance(0.4) for _ in range(int(np.prod(sides)))], bool).reshape(sides)
                if self.chance(0.02):
                    mask = np.concatenate([mask, mask])
                parts.append(mask.tolist() if taken == 1 and self.chance(0.3) else mask)
                axis += taken - 1
                common = (int(mask.sum()),)
            elif what < 0.7:
                parts.append(self.slice(side))
            else:
                index = self.randint(-side, side - 1) if side and not self.chance(0.01) else self.randint(-side - 2, side + 2)
                parts.append(self.choice((int, int, np.int64, np.int8, np.array))(index))
            axis += 1
        if self.chance(0.02):
            parts.append(0)
        for _ in range(self.choice((0, 0, 0, 1, 2))):
            parts.insert(self.randint(0, len(parts)), None)
        if self.chance(0.3):
            parts.insert(self.randint(0, len(parts)), Ellipsis)
            if self.chance(0.02):
                parts.append(Ellipsis)
        if self.chance(0.05):
            parts.insert(self.randint(0, len(parts)), self.choice((True, False, np.True_)))
        if len(parts) == 1 and self.chance(0.7):
            return parts[0]
        return tuple(parts)

    def list(self, common, side):
        """A list that goes together with others of the shape `common`."""
        own = tuple(1 if self.chance(0.2) else length for length in common[self.choice((0, 0, 0, 1)) :])
        values = self.indexes(own, side)
        return values.tolist() if self.chance(0.3) else values

    def value(self, shape, dtype):
        """Something that can be assigned to items of this shape."""
        own = list(shape[self.choice((0, 0, 0, 1, len(shape))) :])
        own = [1 if self.chance(0.15) else side for side in own]
        if self.chance(0.05):
            own = [1, *own]
        if self.chance(0.03) and own:
            own[0] += 1
        if dtype.kind in "iufcb?" and self.chance(0.4):
            dtype = np.dtype(self.choice(("i1", "<i4", ">i2", "u2")))
        value = self.items(tuple(own), dtype)
        how = self.random()
        if how < 0.15 and value.ndim > 1:
            return np.asfortranarray(value)
        if how < 0.3 and value.ndim:
            return value[::-1]
        if how < 0.4 and value.ndim and dtype.kind in "iu":
            return value.tolist()
        if how < 0.5 and value.ndim == 0:
            return value[()]
        return value
