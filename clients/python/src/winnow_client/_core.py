"""Shared by both clients: makes requests, reads responses, and decides on retries. Does no I/O."""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import httpx

from . import types
from ._calls import Answer, Call, visible
from ._event_stream import EventReader
from .errors import ApiError, UnreachableError

# Receives the share that is sent, from 0 to 1.
OnProgress = Callable[[float], None]

TIMEOUT_SECONDS = 30.0
RETRIES = 3
# The first pause if the service names none; each further one is twice as long.
PAUSE_SECONDS = 0.5
# A status stream sends something at least every 10 s.
STREAM_SILENCE_SECONDS_MAX = 30.0
# Attempts in a row to open a status stream without getting an event; enough for a service to
# restart.
STREAM_TRIES_MAX = 24
# Each pause between them is longer by this; together they are 75 s.
STREAM_WAIT_SECONDS = 0.25
# The longest `Retry-After` that a client waits for.
RETRY_AFTER_SECONDS_MAX = 60


class Service:
    """Makes requests to one service. Only its API gets the key, never another address."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        headers: Mapping[str, str] | None,
        timeout_seconds: float,
        retries: int,
    ) -> None:
        url = httpx.URL(base_url)
        if url.scheme not in ("http", "https") or not url.host or url.userinfo:
            raise ValueError("base_url must be an address such as http://127.0.0.1:8080.")
        self._base = base_url.rstrip("/")
        self._headers = {"user-agent": "winnow-client-python", **(headers or {})}
        if api_key is not None:
            self._headers["authorization"] = f"Bearer {visible('api_key', api_key)}"
        self._timeout = httpx.Timeout(timeout_seconds)
        self.retries = retries

    def request(self, call: Call[Any], timeout: httpx.Timeout | None = None) -> httpx.Request:
        return httpx.Request(
            call.method,
            self._base + call.path,
            headers={**self._headers, **call.headers},
            json=call.json,
            data=call.form,
            files=None if call.file is None else {"file": call.file},
            extensions={"timeout": self._timeout_of(call, timeout or self._timeout)},
        )

    @staticmethod
    def _timeout_of(call: Call[Any], timeout: httpx.Timeout) -> dict[str, float | None]:
        limits = timeout.as_dict()
        return limits | {"read": (limits["read"] or 0) + call.wait_seconds}

    def stream_request(self, call: Call[Any]) -> httpx.Request:
        timeout = self._timeout.as_dict() | {"read": STREAM_SILENCE_SECONDS_MAX}
        return self.request(call, httpx.Timeout(**timeout))

    def download_request(self, url: str, headers: Mapping[str, str] | None = None) -> httpx.Request:
        return httpx.Request(
            "GET", url, headers=headers, extensions={"timeout": self._timeout.as_dict()}
        )

    def upload_request(
        self,
        file: types.CreatedFile,
        content: bytes | Iterable[bytes] | AsyncIterable[bytes],
        size: int | None = None,
    ) -> httpx.Request:
        """:param size: of the content in bytes, unless the content itself knows it"""
        headers = dict(cast("dict[str, str]", file["headers"]))
        if size is not None:
            headers["content-length"] = str(size)
        return httpx.Request(
            file["upload_method"],
            file["upload_url"],
            headers=headers,
            content=content,
            extensions={"timeout": self._timeout.as_dict()},
        )


@contextmanager
def reaching(request: httpx.Request) -> Iterator[None]:
    """:raises UnreachableError: in place of httpx's errors when a connection fails"""
    address = f"{request.url.scheme}://{request.url.netloc.decode()}"
    try:
        yield
    except (httpx.LocalProtocolError, httpx.UnsupportedProtocol):
        raise  # the caller's mistake, such as a file that shrank while it was sent
    except httpx.TimeoutException as error:
        seconds = request.extensions["timeout"]["read"]
        raise UnreachableError(f"{address} did not respond for {seconds:g} s.") from error
    except httpx.RequestError as error:
        raise UnreachableError(f"{address} does not answer: {error!r}") from error


def answer_of(call: Call[Answer], response: httpx.Response) -> Answer:
    """:raises ApiError: for any status other than 2xx"""
    check(response)
    try:
        return cast(Answer, response.json())
    except ValueError:
        message = f"The response to {call.method} {call.path} is not JSON; is base_url right?"
        raise ApiError(
            f"HTTP_{response.status_code}", message, status=response.status_code
        ) from None


def check(response: httpx.Response) -> None:
    """:raises ApiError: for any status other than 2xx; the response must have been read"""
    if response.is_success:
        return
    retry_after = response.headers.get("retry-after", "")
    seconds = int(retry_after) if re.fullmatch(r"[0-9]{1,9}", retry_after) else None
    error = read_error(response.text, response.status_code, seconds)
    if error is None:
        message = response.reason_phrase
        if response.has_redirect_location:
            message = f"{message}: the service is at {response.headers['location']}"
        code = f"HTTP_{response.status_code}"
        error = ApiError(code, message, None, None, response.status_code, seconds)
    raise error


def read_error(
    text: str, status: int | None = None, retry_after_seconds: int | None = None
) -> ApiError | None:
    """Reads the error of an `ErrorResponse`; None if `text` is something else, such as a proxy's
    page.
    """
    try:
        error = json.loads(text)["error"]
        code, message = error["code"], error["message"]
    except (ValueError, KeyError, TypeError):
        return None
    names = error.get("param"), error.get("request_id")
    return ApiError(code, message, *names, status, retry_after_seconds)


def raise_failure(status: types.Status) -> None:
    """:raises ApiError: with the code of the failure, if the request has failed"""
    if status["status"] == "FAILED" and "error" in status:
        error = status["error"]
        raise ApiError(error["code"], error["message"], request_id=status["request_id"])


class Retrying:
    """Decides whether a failed call is retried, and when."""

    def __init__(self, retries: int, is_repeatable: bool = True) -> None:
        self._retries = retries
        self._is_repeatable = is_repeatable
        self._done = 0
        self._furthest = 0

    def progressed(self, position: int) -> None:
        """Starts counting retries again if the last attempt made progress."""
        if position > self._furthest:
            self._furthest = position
            self._done = 0

    def pause_seconds(self, error: ApiError | UnreachableError) -> float:
        """Returns how long to wait before the retry.

        :raises: the error, if no retry is left or a retry would not help
        """
        may_help = is_transient(error) if self._is_repeatable else _is_rate_limited(error)
        wanted = error.retry_after_seconds if isinstance(error, ApiError) else None
        if not may_help or self._done >= self._retries or (wanted or 0) > RETRY_AFTER_SECONDS_MAX:
            raise error
        # The random part keeps many clients from retrying at the same moment.
        pause = PAUSE_SECONDS * 2**self._done * (0.5 + random.random() / 2)
        self._done += 1
        return pause if wanted is None else wanted + PAUSE_SECONDS * random.random()

    def was_done(self, error: ApiError | UnreachableError, code: str) -> bool:
        """Returns whether an earlier attempt succeeded although its response was lost, so that the
        retry fails with `code`.
        """
        return isinstance(error, ApiError) and error.code == code and self._done > 0


class Following:
    """Reads a sequence of status streams, since each one ends with its window or breaks."""

    def __init__(self) -> None:
        self.ended = False
        """Whether the terminal status has arrived."""
        self._tries = 0
        self._events = EventReader()

    def open(self) -> None:
        """Starts a new stream."""
        self._tries += 1
        self._events = EventReader()

    def read(self, piece: bytes) -> Iterator[types.Status]:
        """Yields the statuses that the next piece of the stream completes.

        :raises ApiError: if the service sends an error in the stream
        """
        for name, data in self._events.read(piece):
            self._tries = 0
            if name == "error":
                raise read_error(data) or ApiError("STREAM_ERROR", data)
            if name == "status":
                status = cast(types.Status, json.loads(data))
                self.ended = status["status"] in ("COMPLETED", "FAILED")
                yield status

    def pause_seconds(self, error: ApiError | UnreachableError | None) -> float:
        """Returns how long to wait before the next stream.

        :param error: that ended the last stream; None if it ended normally
        :raises: the error, if another stream would not help
        """
        is_last = self._tries >= STREAM_TRIES_MAX
        if error is not None and (is_last or not is_transient(error)):
            raise error
        if is_last:
            raise UnreachableError("The status stream ends without an event.")
        pause = STREAM_WAIT_SECONDS * (self._tries + 1)
        wanted = error.retry_after_seconds or 0 if isinstance(error, ApiError) else 0
        return max(pause, min(wanted, RETRY_AFTER_SECONDS_MAX))


def is_transient(error: ApiError | UnreachableError) -> bool:
    """Returns whether the service is away or overloaded, rather than refusing the call."""
    if isinstance(error, UnreachableError) or _is_rate_limited(error):
        return True
    # MEDIA_FETCH_FAILED is final: the service responded, but could not fetch the client's address.
    return (error.status or 0) >= 500 and error.code != "MEDIA_FETCH_FAILED"


def _is_rate_limited(error: ApiError | UnreachableError) -> bool:
    return isinstance(error, ApiError) and error.status == 429
