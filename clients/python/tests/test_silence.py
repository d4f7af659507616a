"""Tests a status stream that falls silent forever, over a real connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from both import opened
from conftest import KEY

from winnow_client import _core

# Far longer than the client waits here; it ends a test whose client waits forever.
HELD_SECONDS_MAX = 20
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
STATUS = b'event: status\ndata: {"status": "%s", "request_id": "req_1"}\n\n'


class Silent:
    """Sends one piece on each connection, and then nothing more on all but the last."""

    def __init__(self, *pieces: bytes) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._pieces = pieces
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.given_up: list[bool] = []
        """For each silent connection, whether the client closed it."""

    def _serve(self) -> None:
        for i, piece in enumerate(self._pieces):
            connection, _ = self._listening.accept()
            with closing(connection):
                connection.recv(65_536)
                connection.sendall(piece)
                if i < len(self._pieces) - 1:
                    self.given_up.append(self._is_closed(connection))

    @staticmethod
    def _is_closed(connection: socket.socket) -> bool:
        connection.settimeout(HELD_SECONDS_MAX)
        try:
            return connection.recv(1) == b""
        except TimeoutError:
            return False

    def end(self) -> None:
        self._thread.join()
        self._listening.close()


@pytest.fixture
def silent() -> Iterator[Silent]:
    server = Silent(HEAD + STATUS % b"IN_QUEUE", b"", HEAD + STATUS % b"COMPLETED")
    yield server
    server.end()


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_stream_that_is_silent_for_ever_is_given_up_for_a_new_one(
    kind: str, silent: Silent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_core, "STREAM_SILENCE_SECONDS_MAX", 2)
    with opened(kind, silent.url, KEY, None) as client:
        seen = [one["status"] for one in client.follow("req_1")]
    assert seen == ["IN_QUEUE", "COMPLETED"]
    assert silent.given_up == [True, True], "a stream that never goes on, and one that never begins"
