"""Shared by both clients: describes calls of the API as data, and reads responses. Does no I/O."""

from __future__ import annotations

import json
import random
import re
import secrets
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote, urlencode

import httpx

from . import types
from ._event_stream import EventReader
from .errors import ApiError, UnreachableError

Answer = TypeVar("Answer")
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


@dataclass(frozen=True)
class Call(Generic[Answer]):
    """A call of the API whose response is JSON of the type `Answer`, or empty."""

    method: str
    path: str
    json: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = True
    """Whether it is safe to repeat a call that the service may already have served."""
    form: Mapping[str, object] | None = None
    """Fields of a form, in place of JSON; a list becomes several fields of one name."""
    file: tuple[str, bytes, str] | None = None
    """The last part of the form: name, bytes and content type."""
    wait_seconds: float = 0
    """How much longer than other calls the service may take to respond."""


def models() -> Call[types.ModelList]:
    return Call("GET", "/v1/models")


def create_file(file: types.CreateFile) -> Call[types.CreatedFile]:
    return Call("POST", "/v1/files", file)


def file(file_id: str) -> Call[types.FileRecord]:
    return Call("GET", _file_path_of(file_id))


def delete_file(file_id: str) -> Call[None]:
    return Call("DELETE", _file_path_of(file_id))


def list_files(limit: int, cursor: str) -> Call[types.FileList]:
    return Call("GET", f"/v1/files?{_query(limit=limit, cursor=cursor)}")


def submit(submission: types.Submission, idempotency_key: str | None) -> Call[types.Submitted]:
    headers = keyed(idempotency_key)
    return Call("POST", "/v1/queue/audio/separate", submission, headers)


def submit_sounds(
    submission: types.SoundsSubmission, idempotency_key: str | None
) -> Call[types.Submitted]:
    return Call("POST", "/v1/queue/audio/sounds", submission, keyed(idempotency_key))


def keyed(idempotency_key: str | None) -> dict[str, str]:
    """Returns the header that identifies a submit; without a key, with a new one."""
    key = secrets.token_hex(16) if idempotency_key is None else idempotency_key
    return {"idempotency-key": visible("idempotency_key", key)}


def status(request: types.RequestRef, logs: bool) -> Call[types.Status]:
    return Call("GET", f"{_path_of(request)}/status?logs={_flag(logs)}")


def status_stream(
    request: types.RequestRef, logs: bool, interval_seconds: float | None
) -> Call[types.Status]:
    interval = "" if interval_seconds is None else f"&interval={interval_seconds:g}"
    return Call("GET", f"{_path_of(request)}/status/stream?logs={_flag(logs)}{interval}")


def result(request: types.RequestRef) -> Call[types.Result]:
    return Call("GET", f"{_path_of(request)}/result")


def peaks(request: types.RequestRef) -> Call[types.Peaks]:
    return Call("GET", f"{_path_of(request)}/peaks")


def live_preview(request: types.RequestRef) -> Call[types.LivePreview]:
    return Call("GET", f"{_path_of(request)}/live-preview")


def cancel(request: types.RequestRef) -> Call[types.Status]:
    return Call("PUT", f"{_path_of(request)}/cancel")


def delete(request: types.RequestRef) -> Call[None]:
    return Call("DELETE", _path_of(request))


def rename(request: types.RequestRef, name: str) -> Call[None]:
    return Call("PATCH", _path_of(request), {"file_name": name})


def list_requests(
    limit: int,
    cursor: str,
    status: types.RequestStatus | None,
    model: types.RequestModel | None,
    created_from: datetime | str | None,
    created_before: datetime | str | None,
) -> Call[types.RequestList]:
    times = {
        "created_from": _time_of("created_from", created_from),
        "created_before": _time_of("created_before", created_before),
    }
    query = _query(limit=limit, cursor=cursor, status=status, model=model, **times)
    return Call("GET", f"/v1/queue/requests?{query}")


def redeliver(request: types.RequestRef) -> Call[types.WebhookDelivery]:
    return Call("POST", f"{_path_of(request)}/webhook/redeliver")


def delivery_attempts(request: types.RequestRef) -> Call[types.DeliveryAttempts]:
    return Call("GET", f"{_path_of(request)}/webhook/attempts")


def share(request: types.RequestRef, expires_in_seconds: int | None) -> Call[types.NewShare]:
    body = {} if expires_in_seconds is None else {"expires_in": expires_in_seconds}
    # Without a response, the share may still have been created.
    return Call("POST", f"{_path_of(request)}/shares", body, is_repeatable=False)


def shares() -> Call[types.ShareList]:
    return Call("GET", "/v1/shares")


def revoke_share(share_id: str) -> Call[None]:
    return Call("DELETE", f"/v1/shares/{quote(share_id, safe='')}")


def shared() -> Call[types.SharedResult]:
    return Call("GET", "/v1/shared")


def test_webhook(receiver: types.WebhookTest) -> Call[types.WebhookTestResult]:
    # Without a response, the event may still have been posted.
    return Call("POST", "/v1/webhook-test", receiver, is_repeatable=False)


def account() -> Call[types.Account]:
    return Call("GET", "/v1/account")


def usage(from_day: str | None, to_day: str | None) -> Call[types.Usage]:
    query = _query(**{"from": from_day, "to": to_day})
    return Call("GET", f"/v1/account/usage?{query}" if query else "/v1/account/usage")


def _path_of(request: types.RequestRef) -> str:
    request_id = request if isinstance(request, str) else request["request_id"]
    return f"/v1/queue/requests/{quote(request_id, safe='')}"


def _file_path_of(file_id: str) -> str:
    return f"/v1/files/{quote(file_id, safe='')}"


def _query(**values: str | int | None) -> str:
    """Returns a query string without the values that are None."""
    present = {name: value for name, value in values.items() if value is not None}
    return urlencode(present, quote_via=quote, safe="")


def _time_of(name: str, time: datetime | str | None) -> str | None:
    """:raises ValueError: for a time without a zone, because that is ambiguous"""
    if not isinstance(time, datetime):
        return time
    if time.utcoffset() is None:
        raise ValueError(f"{name} must have a time zone, such as datetime.now(timezone.utc).")
    return time.isoformat()


def _flag(value: bool) -> str:
    return "true" if value else "false"


def visible(name: str, value: str) -> str:
    """:raises ValueError: if a header can't carry the value, which the message omits: it may be a
    key
    """
    if not re.fullmatch(r"[!-~]+", value):
        raise ValueError(f"{name} must be visible ASCII characters, without blanks or line ends.")
    return value


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
        message = f"The answer to {call.method} {call.path} is not JSON; is base_url right?"
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
