"""Tests against a service that refuses temporarily, hangs or breaks connections."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from answers import Answer, Pieces, in_turn, refuse
from both import opened
from conftest import KEY, Mocked

from winnow_client import ApiError, Client, UnreachableError


def busy(status: int = 503, code: str = "BUSY", retry_after: str = "") -> Answer:
    return refuse(status, json.dumps({"error": {"code": code, "message": "No."}}), retry_after)


HANGS_UP = httpx.ReadError("it hung up")
ANSWERS = refuse(200, "{}")


def test_calls_are_retried_while_the_service_refuses_for_now_or_hangs_up(
    mocked: Mocked, pauses: list[float]
) -> None:
    handler, requests = in_turn(busy(429), HANGS_UP, busy(503), ANSWERS)
    assert mocked(handler).models() == {}
    assert len(requests) == 4
    for pause, most in zip(pauses, (0.5, 1, 2), strict=True):
        assert most / 2 <= pause <= most


@pytest.mark.parametrize(("options", "calls"), [({}, 4), ({"retries": 1}, 2), ({"retries": 0}, 1)])
def test_retries_end_and_the_last_refusal_is_raised(
    mocked: Mocked, pauses: list[float], options: dict[str, int], calls: int
) -> None:
    handler, requests = in_turn(busy())
    with pytest.raises(ApiError, match="BUSY"):
        mocked(handler, **options).account()
    assert (len(requests), len(pauses)) == (calls, calls - 1)


def test_a_retry_waits_as_long_as_retry_after_says_and_not_for_more_than_a_minute(
    mocked: Mocked, pauses: list[float]
) -> None:
    handler, _ = in_turn(busy(429, retry_after="9"), ANSWERS)
    mocked(handler).models()
    assert 9 <= pauses[0] <= 9.5
    handler, requests = in_turn(busy(429, retry_after="61"))
    with pytest.raises(ApiError) as raised:
        mocked(handler).models()
    assert (raised.value.retry_after_seconds, len(requests)) == (61, 1)


@pytest.mark.parametrize("answer", [busy(400), busy(409), busy(502, "MEDIA_FETCH_FAILED")])
def test_what_another_call_would_not_change_is_not_retried(mocked: Mocked, answer: Answer) -> None:
    handler, requests = in_turn(answer)
    with pytest.raises(ApiError):
        mocked(handler).status("req_1")
    assert len(requests) == 1


def test_the_retries_of_a_submit_have_one_key_and_each_submit_its_own(
    mocked: Mocked, pauses: list[float]
) -> None:
    handler, requests = in_turn(HANGS_UP, busy(), ANSWERS)
    client = mocked(handler)
    client.submit({"input": {}})
    client.submit({"input": {}})
    one, again, last, other = [request.headers["idempotency-key"] for request in requests]
    assert one == again == last != other
    assert len(one) == 32


def test_a_test_of_a_receiver_is_retried_where_it_was_refused_alone(
    mocked: Mocked, pauses: list[float]
) -> None:
    handler, requests = in_turn(busy(429), busy())
    with pytest.raises(ApiError) as raised:
        mocked(handler).test_webhook({"webhookUrl": "https://hooks.example/in"})
    assert (raised.value.status, len(requests)) == (503, 2)


CREATED = {
    "file_id": "file_1",
    "upload_url": "http://bucket.test/place",
    "upload_method": "PUT",
    "headers": {},
}


def uploading(*answers: Answer) -> tuple[Any, list[httpx.Request]]:
    """Answers uploads with the responses in order; creating a file always succeeds."""
    put, puts = in_turn(*answers)

    def handler(request: httpx.Request) -> httpx.Response:
        return put(request) if request.method == "PUT" else httpx.Response(201, json=CREATED)

    return handler, puts


def test_an_upload_is_retried_with_all_its_bytes_and_its_progress_never_falls(
    mocked: Mocked, pauses: list[float], tmp_path: Path
) -> None:
    data = bytes(range(250)) * 4_000
    path = tmp_path / "a.wav"
    path.write_bytes(data)
    for given in (path, data):
        handler, puts = uploading(busy(), HANGS_UP, ANSWERS)
        client = mocked(handler)
        parts: list[float] = []
        if isinstance(given, bytes):
            client.upload_blob("a.wav", "audio/wav", given, parts.append)
        else:
            client.upload(given, "audio/wav", parts.append)
        assert [one.content for one in puts] == [data] * 3
        assert parts == sorted(set(parts))
        assert parts[-1] == 1


def test_an_upload_whose_answer_was_lost_has_arrived(mocked: Mocked, pauses: list[float]) -> None:
    taken = busy(409, "FILE_ALREADY_UPLOADED")
    handler, puts = uploading(HANGS_UP, taken)
    assert mocked(handler).upload_blob("a.wav", "audio/wav", b"abc") == "file_1"
    assert len(puts) == 2
    handler, _ = uploading(taken)
    with pytest.raises(ApiError, match="FILE_ALREADY_UPLOADED"):
        mocked(handler).upload_blob("a.wav", "audio/wav", b"abc")


def test_a_delete_whose_answer_was_lost_has_been_done(mocked: Mocked, pauses: list[float]) -> None:
    gone = busy(404, "NOT_FOUND")
    handler, requests = in_turn(HANGS_UP, gone)
    assert mocked(handler).delete("req_1") is None
    assert len(requests) == 2
    handler, _ = in_turn(gone)
    with pytest.raises(ApiError, match="NOT_FOUND"):
        mocked(handler).delete_file("file_1")


def test_an_iterable_is_sent_once_bytes_and_a_function_again(
    mocked: Mocked, pauses: list[float]
) -> None:
    async def later() -> AsyncIterator[bytes]:
        for piece in (b"ab", b"c"):
            yield piece

    def now() -> Iterator[bytes]:
        yield from (b"ab", b"c")

    client = mocked(uploading(ANSWERS)[0])
    pieces: Callable[[], Any] = now if isinstance(client, Client) else later
    for data, calls in ((b"abc", 2), (pieces, 2), (pieces(), 1)):
        handler, puts = uploading(busy(), ANSWERS)
        client = mocked(handler)
        if calls == 1:
            with pytest.raises(ApiError, match="BUSY"):
                client.send(CREATED, data)
        else:
            client.send(CREATED, data)
        assert [one.content for one in puts] == [b"abc"] * calls


def test_a_download_that_is_refused_is_retried(
    mocked: Mocked, pauses: list[float], tmp_path: Path
) -> None:
    handler, requests = in_turn(busy(), HANGS_UP, refuse(200, "sound"))
    mocked(handler).download("http://bucket.test/place", tmp_path / "out.wav")
    assert (tmp_path / "out.wav").read_text() == "sound"
    assert len(requests) == 3


def part(start: int, etag: str, *pieces: bytes | Exception, size: int = 9) -> Answer:
    """Media of `size` bytes from `start` on, as a partial response unless `start` is 0."""
    headers = {"etag": etag, "content-length": str(size - start)}
    if start > 0:
        headers["content-range"] = f"bytes {start}-{size - 1}/{size}"
    status = 206 if start > 0 else 200
    return lambda: httpx.Response(status, headers=headers, stream=Pieces(*pieces))


def test_a_download_that_breaks_off_goes_on_from_where_it_ended(
    mocked: Mocked, pauses: list[float], tmp_path: Path
) -> None:
    whole = bytes(range(256)) * 4_096  # several pieces, which are written as they arrive
    half, size = len(whole) // 2, len(whole)
    one = part(0, '"a"', whole[:half], HANGS_UP, size=size)
    breaks = [part(half, '"a"', HANGS_UP, size=size)] * 2
    handler, requests = in_turn(one, *breaks, part(half, '"a"', whole[half:], size=size))
    mocked(handler, retries=3).download("http://bucket.test/place", tmp_path / "out.wav")
    assert (tmp_path / "out.wav").read_bytes() == whole
    ranges = [request.headers.get("range") for request in requests]
    assert ranges == [None, *[f"bytes={half}-"] * 3]


@pytest.mark.parametrize("other", [200, 206, 416])
def test_a_download_of_media_that_changed_meanwhile_begins_again(
    mocked: Mocked, pauses: list[float], tmp_path: Path, other: int
) -> None:
    whole = bytes(600_000)
    changed = {
        200: part(0, '"b"', b"other"),
        206: part(300_000, '"b"', b"other", size=600_000),
        416: refuse(416),
    }
    new = part(0, '"b"', b"new media")
    one = part(0, '"a"', whole[:300_000], HANGS_UP, size=600_000)
    handler, _ = in_turn(one, changed[other], new)
    mocked(handler).download("http://bucket.test/place", tmp_path / "out.wav")
    assert (tmp_path / "out.wav").read_bytes() == b"new media"


@pytest.fixture
def hanging() -> Iterator[tuple[str, list[int]]]:
    """Yields the address of a service that never responds, and its number of connections."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        taken: list[socket.socket] = []
        count = [0]

        def take() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                taken.append(connection)
                count[0] += 1

        thread = threading.Thread(target=take)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", count
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
        for connection in taken:
            connection.close()


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_what_does_not_go_on_ends_in_time_with_what_did_not_respond(
    kind: str, hanging: tuple[str, list[int]]
) -> None:
    url, count = hanging
    message = f"{url} did not respond for 0.2 s."
    with opened(kind, url, KEY, None, timeout_seconds=0.2, retries=1) as client:
        with pytest.raises(UnreachableError) as raised:
            client.models()
        assert (str(raised.value), count[0]) == (message, 2)
        big = bytes(64 * 2**20)  # more than the socket buffers of both ends hold
        with pytest.raises(UnreachableError) as raised:
            client.send({**CREATED, "upload_url": f"{url}/put"}, big)
        assert (str(raised.value), count[0]) == (message, 4)
