"""Responses of a mocked service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import httpx
from both import Handler


class Pieces(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that arrives in pieces and may break off."""

    def __init__(self, *pieces: bytes | Exception) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self:
            yield piece


Answer = Callable[[], httpx.Response] | Exception


def stream(*events: str) -> Callable[[], httpx.Response]:
    return lambda: httpx.Response(200, stream=Pieces(*(f"{one}\n\n".encode() for one in events)))


def refuse(status: int, text: str = "", retry_after: str = "") -> Answer:
    headers = {"retry-after": retry_after}
    return lambda: httpx.Response(status, text=text, headers=headers)


STATUS = 'event: status\ndata: {"status": "%s", "request_id": "req_1"}'


def in_turn(*answers: Answer) -> tuple[Handler, list[httpx.Request]]:
    """Gives the responses in order, and repeats the last one."""
    requests: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        answer = answers[min(len(requests), len(answers) - 1)]
        requests.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer()

    return handler, requests
