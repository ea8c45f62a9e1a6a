"""What scans of tables give."""

from dataclasses import dataclass
from typing import Any

import numpy as np

class Batch:
    rows: np.ndarray
    def __init__(self, rows: np.ndarray, columns: dict[str, np.ndarray]) -> None: ...
    @property
    def names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> np.ndarray: ...
    def to_dict(self) -> dict[str, np.ndarray]: ...
    def to_numpy(self) -> np.ndarray: ...

@dataclass(frozen=True)
class Summary:
    count: int
    nulls: int
    sum: Any
    min: Any
    max: Any
    mean: float | None
    var: float | None
    std: float | None

class Grouping:
    def __init__(self, scan: Any, keys: list[str]) -> None: ...
    def agg(self, **measures: tuple[str, str]) -> np.ndarray: ...
    def count(self) -> np.ndarray: ...
