"""Files on disk, in pieces."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ._core import OnProgress
from .types import CreateFile

PIECE_BYTES = 256 * 1024


def new_file(name: str, content_type: str, size: int) -> CreateFile:
    return {
        "file_name": name,
        "content_type": content_type,
        "file_size": size,
        "purpose": "audio.separate.input",
    }


class Progress:
    """Reports how much of `size` bytes is sent, only as it grows: a retry begins at 0."""

    def __init__(self, size: int, on_progress: OnProgress | None) -> None:
        self._size = size
        self._sent = 0
        self._most = 0
        self._on_progress = on_progress

    def begin(self) -> None:
        """Begins a try."""
        self._sent = 0

    def add(self, count: int) -> None:
        self._sent += count
        if self._on_progress is not None and self._sent > self._most:
            self._most = self._sent
            self._on_progress(self._sent / self._size)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` once it is whole; else nothing is left of it."""
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            yield file
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
