"""Stands in for the part of torch that the nodes use, based on numpy, because torch is a large
download.
"""

from __future__ import annotations

from typing import Any


class Tensor:
    def __init__(self, array: Any) -> None:
        self._array = array
        self.shape = array.shape

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def float(self) -> Tensor:
        return Tensor(self._array.astype("float32"))

    def numpy(self) -> Any:
        return self._array


def from_numpy(array: Any) -> Tensor:
    return Tensor(array)
