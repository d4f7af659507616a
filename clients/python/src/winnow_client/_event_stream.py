"""Reads Server-Sent Events."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

_BLANK_LINE = re.compile(r"\r?\n\r?\n")
_LINE_END = re.compile(r"\r?\n")


class Event(NamedTuple):
    name: str
    data: str


class EventReader:
    """Reads the events of one body, whose bytes may be split anywhere. Skips comments."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def read(self, piece: bytes) -> Iterator[Event]:
        """Yields the events that the next piece completes."""
        *blocks, self._rest = _BLANK_LINE.split(self._rest + self._decoder.decode(piece))
        for block in blocks:
            lines = _LINE_END.split(block)
            data = _fields_of(lines, "data")
            if data:
                yield Event(next(iter(_fields_of(lines, "event")), "message"), "\n".join(data))


def _fields_of(lines: list[str], name: str) -> list[str]:
    start = f"{name}:"
    return [line[len(start) :].removeprefix(" ") for line in lines if line.startswith(start)]
