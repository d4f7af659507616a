"""Describes the calls of the API as data."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar
from urllib.parse import quote, urlencode

from . import types

Answer = TypeVar("Answer")


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
    """Returns `value`, for a header.

    :raises ValueError: if a header can't carry it; the message omits the value, which may be a key
    """
    if not re.fullmatch(r"[!-~]+", value):
        raise ValueError(f"{name} must be visible ASCII characters, without blanks or line ends.")
    return value
