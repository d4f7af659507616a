"""The same test for both clients: the calls of `AsyncClient`, without `await`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from winnow_client import AsyncClient, Client

Handler = Callable[[httpx.Request], httpx.Response]


class Blocking:
    """Runs the calls of an `AsyncClient` to their ends, one at a time."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._loop = asyncio.new_event_loop()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        def call(*args: Any, **options: Any) -> Any:
            answer = method(*args, **options)
            if inspect.isasyncgen(answer):
                return self._iterate(answer)
            if inspect.isawaitable(answer):
                return self._loop.run_until_complete(answer)
            return self._enter(answer)

        return call

    def _iterate(self, items: Any) -> Iterator[Any]:
        try:
            while True:
                yield self._loop.run_until_complete(items.__anext__())
        except StopAsyncIteration:
            return
        finally:
            self._loop.run_until_complete(items.aclose())

    @contextmanager
    def _enter(self, manager: Any) -> Iterator[Any]:
        yield self._loop.run_until_complete(manager.__aenter__())
        self._loop.run_until_complete(manager.__aexit__(None, None, None))

    def end(self) -> None:
        self._loop.run_until_complete(self._client.close())
        self._loop.close()


@contextmanager
def opened(kind: str, base_url: str, api_key: str | None, handler: Handler | None) -> Iterator[Any]:
    """A client, blocking or `async`; with a handler nothing goes over the network."""
    transport = None if handler is None else httpx.MockTransport(handler)
    if kind == "sync":
        with Client(base_url, api_key, http=httpx.Client(transport=transport)) as client:
            yield client
        return
    blocking = Blocking(AsyncClient(base_url, api_key, http=httpx.AsyncClient(transport=transport)))
    try:
        yield blocking
    finally:
        blocking.end()
