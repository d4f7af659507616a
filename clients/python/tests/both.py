"""Runs one test for both clients, by calling `AsyncClient` without `await`."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from winnow_client import AsyncClient, Client

Handler = Callable[[httpx.Request], httpx.Response]


class Blocking:
    """Runs each call of an `AsyncClient` to its end, in an event loop that keeps running between
    them.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        def call(*args: Any, **options: Any) -> Any:
            answer = method(*args, **options)
            if inspect.isasyncgen(answer):
                return self._iterate(answer)
            if inspect.iscoroutine(answer):
                return self._run(answer)
            return self._enter(answer)

        return call

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _iterate(self, items: AsyncGenerator[Any, Any]) -> Iterator[Any]:
        async def step() -> Any:
            return await anext(items)

        try:
            while True:
                yield self._run(step())
        except StopAsyncIteration:
            return
        finally:
            self._run(items.aclose())

    @contextmanager
    def _enter(self, manager: Any) -> Iterator[Any]:
        yield self._run(manager.__aenter__())
        self._run(manager.__aexit__(None, None, None))

    def end(self) -> None:
        self._run(self._client.close())
        self._run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextmanager
def opened(
    kind: str, base_url: str, api_key: str | None, handler: Handler | None, **options: Any
) -> Iterator[Any]:
    """Yields a blocking or `async` client; with a handler, nothing goes over the network."""
    transport = None if handler is None else httpx.MockTransport(handler)
    if kind == "sync":
        with Client(base_url, api_key, http=httpx.Client(transport=transport), **options) as client:
            yield client
        return
    http = httpx.AsyncClient(transport=transport)
    blocking = Blocking(AsyncClient(base_url, api_key, http=http, **options))
    try:
        yield blocking
    finally:
        blocking.end()
