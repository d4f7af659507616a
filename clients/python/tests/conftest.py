from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from both import opened

KEY = "the-key-of-these-tests"

Mocked = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def mocked(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Makes clients, of either kind, whose requests a function answers."""
    with ExitStack() as stack:
        yield lambda handler, **options: stack.enter_context(
            opened(request.param, "http://winnow.test/", KEY, handler, **options)
        )


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Yields a client, of either kind, of the service at WINNOW_URL."""
    with opened(
        request.param, os.environ["WINNOW_URL"], os.environ["WINNOW_API_KEY"], None
    ) as client:
        yield client


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Makes pauses take no time, and records their lengths."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(time, "sleep", waited.append)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    return waited
