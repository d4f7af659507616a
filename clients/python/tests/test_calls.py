"""Checks the requests that are sent and how responses are read, without a service."""

from __future__ import annotations

import inspect
import logging
import pickle
from datetime import datetime, timedelta, timezone
from pathlib import Path

import httpx
import pytest
from answers import STATUS, Answer, Pieces, in_turn, refuse, stream
from conftest import KEY, Mocked

from winnow_client import ApiError, AsyncClient, Client, UnreachableError


def public(kind: type) -> dict[str, inspect.Signature]:
    return {
        name: inspect.signature(method)
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


def test_both_clients_have_the_same_calls_with_the_same_parameters() -> None:
    def parameters(kind: type) -> dict[str, list[tuple[str, object, object]]]:
        return {
            name: [(one.name, one.kind, one.default) for one in signature.parameters.values()]
            for name, signature in public(kind).items()
        }

    assert parameters(Client) == parameters(AsyncClient)
    assert len(public(Client)) >= 16


CREATED = {
    "file_id": "file_1",
    "upload_url": "http://bucket.test/place?signature=s",
    "upload_method": "PUT",
    "headers": {"content-type": "audio/wav"},
}
RESULT = {"request_id": "req_1", "status": "COMPLETED", "data": {"sounds": []}}


def answer_upload(request: httpx.Request) -> httpx.Response:
    """Serves a file that is uploaded, its request and the result."""
    if request.url.path == "/v1/files":
        return httpx.Response(201, json=CREATED)
    if request.url.path.endswith("/stream"):
        return stream(STATUS % "COMPLETED")()
    return httpx.Response(200, json=RESULT)


@pytest.mark.parametrize("task", ["separate", "sounds"])
def test_a_file_is_one_call_or_a_larger_one_several(
    mocked: Mocked, tmp_path: Path, task: str
) -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(f"{request.method} {request.url.path}")
        if request.url.path == f"/v1/audio/{task}":
            assert (b'name="prompt"' in request.content) == (task == "separate")
            assert b'name="metadata"' in request.content
        return answer_upload(request)

    path = tmp_path / "a.wav"
    path.write_bytes(b"RIFF")
    client = mocked(handler)
    prompt = ["a bell"] if task == "separate" else []
    call = getattr(client, task)
    assert call(path, *prompt, {"input": {}, "metadata": {"take": 1}}) == RESULT
    with path.open("wb") as file:
        file.truncate(32 * 2**20 + 1)
    assert call(path, *prompt) == RESULT
    assert seen == [
        f"POST /v1/audio/{task}",
        "POST /v1/files",
        "PUT /place",
        f"POST /v1/queue/audio/{task}",
        "GET /v1/queue/requests/req_1/status/stream",
        "GET /v1/queue/requests/req_1/result",
    ]


def test_every_call_has_its_method_path_key_and_body(mocked: Mocked) -> None:
    seen: list[tuple[str, str, str]] = []

    def handler(request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == f"Bearer {KEY}"
        path = request.url.raw_path.decode()
        seen.append((request.method, path, request.content.decode()))
        return httpx.Response(200, json={"unknown_field": [1]})

    client = mocked(handler)
    answer = client.models()
    assert answer == {"unknown_field": [1]}, "a field of a later version is kept"
    client.file("a/b")
    client.submit({"input": {"prompts": ["a", "b"], "file_id": "file_1"}})
    client.submit_sounds({"input": {"file_id": "file_1"}})
    client.list(model="audio/sounds")
    client.status({"request_id": "req_1"}, logs=True)
    client.result("req_1")
    client.cancel("req_1")
    client.delete("req_1")
    client.delete_file("a/b")
    client.list(limit=3, cursor="a&b")
    zone = timezone(timedelta(hours=1))
    client.list(status="FAILED", created_from=datetime(2026, 1, 31, 12, tzinfo=zone))
    client.list(created_before="2026-02-01T00:00:00Z")
    client.redeliver("req_1")
    client.delivery_attempts("req_1")
    client.share("req_1")
    client.share({"request_id": "req_1"}, expires_in_seconds=60)
    client.shares()
    client.revoke_share("a/b")
    client.shared()
    client.test_webhook({"webhookUrl": "https://hooks.example/in"})
    client.list_files(limit=3, cursor="a&b")
    client.account()
    client.usage(from_day="2026-01-30", to_day="2026-01-31")
    client.usage()
    requests = "/v1/queue/requests"
    assert seen == [
        ("GET", "/v1/models", ""),
        ("GET", "/v1/files/a%2Fb", ""),
        (
            "POST",
            "/v1/queue/audio/separate",
            '{"input":{"prompts":["a","b"],"file_id":"file_1"}}',
        ),
        ("POST", "/v1/queue/audio/sounds", '{"input":{"file_id":"file_1"}}'),
        ("GET", f"{requests}?limit=20&cursor=&model=audio%2Fsounds", ""),
        ("GET", f"{requests}/req_1/status?logs=true", ""),
        ("GET", f"{requests}/req_1/result", ""),
        ("PUT", f"{requests}/req_1/cancel", ""),
        ("DELETE", f"{requests}/req_1", ""),
        ("DELETE", "/v1/files/a%2Fb", ""),
        ("GET", f"{requests}?limit=3&cursor=a%26b", ""),
        (
            "GET",
            f"{requests}?limit=20&cursor=&status=FAILED&created_from=2026-01-31T12%3A00%3A00%2B01%3A00",
            "",
        ),
        ("GET", f"{requests}?limit=20&cursor=&created_before=2026-02-01T00%3A00%3A00Z", ""),
        ("POST", f"{requests}/req_1/webhook/redeliver", ""),
        ("GET", f"{requests}/req_1/webhook/attempts", ""),
        ("POST", f"{requests}/req_1/shares", "{}"),
        ("POST", f"{requests}/req_1/shares", '{"expires_in":60}'),
        ("GET", "/v1/shares", ""),
        ("DELETE", "/v1/shares/a%2Fb", ""),
        ("GET", "/v1/shared", ""),
        ("POST", "/v1/webhook-test", '{"webhookUrl":"https://hooks.example/in"}'),
        ("GET", "/v1/files?limit=3&cursor=a%26b", ""),
        ("GET", "/v1/account", ""),
        ("GET", "/v1/account/usage?from=2026-01-30&to=2026-01-31", ""),
        ("GET", "/v1/account/usage", ""),
    ]


def test_a_time_without_a_zone_is_refused(mocked: Mocked) -> None:
    with pytest.raises(ValueError, match="created_from must have a time zone"):
        mocked(lambda _: httpx.Response(200)).list(created_from=datetime(2026, 1, 31))


def test_headers_and_time_limits_are_those_that_were_given(mocked: Mocked) -> None:
    seen: list[tuple[str, float, float]] = []
    completed = stream(STATUS % "COMPLETED")

    def handler(request: httpx.Request) -> httpx.Response:
        limits = request.extensions["timeout"]
        seen.append((request.headers["x-own"], limits["connect"], limits["read"]))
        if request.url.path.endswith("/stream"):
            return completed()
        return httpx.Response(200, json={})

    client = mocked(handler, headers={"x-own": "here"}, timeout_seconds=7)
    client.models()
    list(client.follow("req_1"))
    assert seen == [("here", 7, 7), ("here", 7, 30)], "a stream is silent for longer"


def test_a_refusal_is_an_api_error_with_all_that_the_service_says(mocked: Mocked) -> None:
    error = {"code": "RATE_LIMITED", "message": "Later.", "param": "a.b", "request_id": "req_1"}
    client = mocked(
        lambda _: httpx.Response(429, json={"error": error}, headers={"retry-after": "7"}),
        retries=0,
    )
    with pytest.raises(ApiError) as raised:
        client.models()
    said = raised.value
    assert (said.code, said.message, said.param, said.request_id) == tuple(error.values())
    assert (said.status, said.retry_after_seconds) == (429, 7)
    assert str(said) == "RATE_LIMITED (a.b): Later."
    assert str(pickle.loads(pickle.dumps(said))) == str(said)


@pytest.mark.parametrize(
    ("status", "text", "words"),
    [
        (502, "<html>", "Bad Gateway"),
        (404, '{"error": "no"}', "Not Found"),
        (200, "<html>", "is base_url right"),
        (301, "", "https://moved.test/"),
    ],
)
def test_what_is_no_answer_of_the_service_is_told(
    mocked: Mocked, status: int, text: str, words: str
) -> None:
    headers = {"location": "https://moved.test/"} if status == 301 else {}
    with pytest.raises(ApiError, match=words) as raised:
        mocked(lambda _: httpx.Response(status, text=text, headers=headers), retries=0).models()
    assert raised.value.code == f"HTTP_{status}"


def test_following_outlasts_a_service_that_is_away_busy_or_restarting(
    mocked: Mocked, pauses: list[float]
) -> None:
    handler, requests = in_turn(
        refuse(502),
        httpx.ReadError("it hung up"),
        refuse(429, retry_after="9"),
        stream(": comment", STATUS % "IN_QUEUE", 'event: timeout\ndata: {"message": "again"}'),
        stream(STATUS % "COMPLETED", STATUS % "IN_QUEUE"),
    )
    client = mocked(handler)
    seen = [one["status"] for one in client.follow("req_1", logs=True, interval_seconds=1)]
    assert seen[:2] == ["IN_QUEUE", "COMPLETED"]
    assert len(requests) == 5
    assert requests[0].url.query == b"logs=true&interval=1"
    assert pauses == [0.5, 0.75, 9, 0.25]


def test_following_ends_with_what_the_service_says_is_wrong(
    mocked: Mocked, pauses: list[float]
) -> None:
    error = '{"error": {"code": "NOT_FOUND", "message": "Gone."}}'
    for answer in (stream(f"event: error\ndata: {error}"), refuse(404, error)):
        handler, requests = in_turn(answer)
        with pytest.raises(ApiError, match="Gone") as raised:
            list(mocked(handler).follow("req_1"))
        assert (raised.value.code, len(requests)) == ("NOT_FOUND", 1)
    assert pauses == []


@pytest.mark.parametrize("answer", [stream(": nothing"), httpx.ConnectError("refused")])
def test_following_gives_up_in_the_end(mocked: Mocked, pauses: list[float], answer: Answer) -> None:
    handler, requests = in_turn(answer)
    with pytest.raises(UnreachableError):
        list(mocked(handler).follow("req_1"))
    assert len(requests) == 24
    assert 70 < sum(pauses) < 80


def test_waiting_raises_the_failure(mocked: Mocked) -> None:
    failed = '{"status": "FAILED", "request_id": "req_1", "error": {"code": "C", "message": "m"}}'
    with pytest.raises(ApiError) as raised:
        mocked(in_turn(stream(f"event: status\ndata: {failed}"))[0]).wait("req_1")
    assert (raised.value.code, raised.value.request_id, raised.value.status) == ("C", "req_1", None)


def test_no_other_address_gets_the_key(mocked: Mocked, tmp_path: Path) -> None:
    foreign: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.host == "winnow.test":
            assert "authorization" in request.headers
            return httpx.Response(201, json=CREATED)
        foreign.append(request)
        if request.url.path == "/moved":
            return httpx.Response(302, headers={"location": "http://elsewhere.test/here"})
        return httpx.Response(200, content=request.content or b"sound")

    client = mocked(handler)
    assert client.upload_blob("a.wav", "audio/wav", b"abc") == "file_1"
    client.download("http://bucket.test/moved", tmp_path / "out.wav")
    assert (tmp_path / "out.wav").read_bytes() == b"sound"
    assert [(one.method, one.url.host) for one in foreign] == [
        ("PUT", "bucket.test"),
        ("GET", "bucket.test"),
        ("GET", "elsewhere.test"),
    ]
    assert foreign[0].headers["content-length"] == "3"
    assert foreign[0].headers["content-type"] == "audio/wav"
    assert foreign[0].content == b"abc"
    for request in foreign:
        assert KEY not in str(request.headers.raw) + str(request.url)


def test_an_upload_is_not_redirected(mocked: Mocked) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.host == "winnow.test":
            return httpx.Response(201, json=CREATED)
        assert request.url.host == "bucket.test"
        return httpx.Response(307, headers={"location": "http://elsewhere.test/"})

    with pytest.raises(ApiError, match="HTTP_307"):
        mocked(handler).upload_blob("a.wav", "audio/wav", b"abc")


def test_what_the_progress_raises_ends_the_upload(mocked: Mocked, tmp_path: Path) -> None:
    path = tmp_path / "long.wav"
    path.write_bytes(bytes(3_000_000))

    class Interrupted(Exception):
        pass

    parts: list[float] = []

    def stop(part: float) -> None:
        parts.append(part)
        if len(parts) == 2:
            raise Interrupted

    client = mocked(lambda _: httpx.Response(201, json=CREATED))
    with pytest.raises(Interrupted):
        client.upload(path, "audio/wav", stop)
    assert len(parts) == 2


def test_a_download_that_breaks_leaves_what_was_there(mocked: Mocked, tmp_path: Path) -> None:
    path = tmp_path / "out.wav"
    path.write_bytes(b"before")
    body = Pieces(bytes(300_000), httpx.ReadError("it broke"))
    with pytest.raises(UnreachableError):
        client = mocked(lambda _: httpx.Response(200, stream=body), retries=0)
        client.download("http://b.test/", path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_the_key_is_in_no_text(mocked: Mocked, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = Client("http://winnow.test", KEY)
    assert KEY not in repr(client) + str(client)
    handler, _ = in_turn(refuse(403), httpx.ConnectError("refused"))
    client = mocked(handler, retries=0)
    for kind in (ApiError, UnreachableError):
        with pytest.raises(kind) as raised:
            client.models()
        error: BaseException | None = raised.value
        while error is not None:
            assert KEY not in repr(error) + str(error) + repr(vars(error))
            error = error.__cause__
    assert caplog.records
    assert KEY not in caplog.text


@pytest.mark.parametrize("key", [f"{KEY}\n", "", "ключ", f"{KEY} 1"])
def test_a_key_that_cannot_be_one_is_refused_unseen(key: str) -> None:
    with pytest.raises(ValueError, match="api_key must be") as raised:
        Client("http://winnow.test", key)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("address", ["localhost:8080", "", "ftp://a", "http://", "http://a:b@c"])
def test_an_address_that_cannot_be_one_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="base_url must be"):
        AsyncClient(address, KEY)


def test_an_idempotency_key_is_sent_and_must_be_visible(mocked: Mocked) -> None:
    handler, requests = in_turn(refuse(202, "{}"))
    client = mocked(handler)
    client.submit({"input": {}}, idempotency_key="order-17")
    assert requests[0].headers["idempotency-key"] == "order-17"
    with pytest.raises(ValueError, match="idempotency_key must be"):
        client.submit({"input": {}}, idempotency_key="a b")
