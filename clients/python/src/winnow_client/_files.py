"""Sends and stores files piece by piece."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import httpx

from ._core import OnProgress
from .errors import ApiError, UnreachableError
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
    """Reports the share of `size` bytes that is sent, and skips what a retry sends again."""

    def __init__(self, size: int, on_progress: OnProgress | None) -> None:
        self._size = size
        self._sent = 0
        self._most = 0
        self._on_progress = on_progress

    def begin(self) -> None:
        """Starts an attempt."""
        self._sent = 0

    def add(self, count: int) -> None:
        self._sent += count
        if self._on_progress is not None and self._sent > self._most:
            self._most = self._sent
            self._on_progress(self._sent / self._size)


class Download:
    """Writes media to an open file, and resumes after a broken connection."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._version: str | None = None
        self._size: int | None = None
        self.position = 0
        """Number of bytes written."""

    def headers(self) -> dict[str, str]:
        """Returns the headers of the next attempt, which requests the missing bytes."""
        plain = {"accept-encoding": "identity"}  # a range refers to the bytes as they are sent
        if self.position == 0 or self._version is None:
            return plain
        return {**plain, "range": f"bytes={self.position}-"}

    def restart_after(self, error: ApiError | UnreachableError) -> bool:
        """Returns whether to request the whole media immediately, because the range no longer
        exists.
        """
        is_left = not isinstance(error, ApiError) or error.status != 416 or self._version is None
        if not is_left:
            self._version = None
        return not is_left

    def begin(self, response: httpx.Response) -> None:
        """Prepares the file for the body of the response.

        :raises UnreachableError: for a part of different media; the next attempt requests all of it
        """
        if self._continues(response):
            return
        self._version = _version_of(response)
        self.position = 0
        self._file.seek(0)
        self._file.truncate()
        length = response.headers.get("content-length")
        is_plain = length is not None and "content-encoding" not in response.headers
        self._size = int(length) if is_plain else None
        if response.status_code == 206:
            self._version = None
            raise UnreachableError("The media at the address has changed.")

    def write(self, piece: bytes) -> None:
        self._file.write(piece)
        self.position += len(piece)

    def end(self) -> None:
        """:raises UnreachableError: if the body was too short"""
        if self.position < (self._size or 0):
            raise UnreachableError(f"A download ended after {self.position} of {self._size} bytes.")

    def _continues(self, response: httpx.Response) -> bool:
        content_range = response.headers.get("content-range", "")
        match = re.fullmatch(r"bytes ([0-9]+)-[0-9]+/([0-9]+|\*)", content_range)
        if response.status_code != 206 or match is None or self._version is None:
            return False
        is_next = int(match[1]) == self.position and _version_of(response) == self._version
        return is_next and (self._size is None or match[2] == str(self._size))


def _version_of(response: httpx.Response) -> str | None:
    """Returns a value that changes with the media; None if they are compressed."""
    if "content-encoding" in response.headers:
        return None
    version: str | None = response.headers.get("etag") or response.headers.get("last-modified")
    return version


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yields a temporary file that replaces `path` at the end, or is removed after an exception."""
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            yield file
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
