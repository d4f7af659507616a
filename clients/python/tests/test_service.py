"""Tests against a real service with its model, at WINNOW_URL with the key WINNOW_API_KEY."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from array import array
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from winnow_client import ApiError, WebhookError, verify_webhook

ROOT = Path(__file__).parents[3]
MIXTURE = ROOT / "examples" / "speech-over-piano.wav"
PROMPTS = ["a person speaking", "piano"]


def samples_of(path: Path) -> list[int]:
    """Reads the samples of a 16- or 24-bit file, in units of the 24-bit one."""
    file = path.read_bytes()
    bits = int.from_bytes(file[34:36], "little")
    start = file.index(b"data") + 8
    data = file[start : start + int.from_bytes(file[start - 4 : start], "little")]
    if bits == 16:
        return [256 * sample for sample in array("h", data)]
    assert bits == 24
    triples = range(0, len(data), 3)
    return [int.from_bytes(data[i : i + 3], "little", signed=True) for i in triples]


def assert_sum(paths: list[Path]) -> None:
    """Asserts that the files add up to the mixture, within the rounding of each."""
    parts = [samples_of(path) for path in paths]
    mixture = samples_of(MIXTURE)
    assert {len(part) for part in parts} == {len(mixture)}
    worst = max(abs(sum(samples) - whole) for *samples, whole in zip(*parts, mixture, strict=True))
    assert worst <= len(parts)
    for part in parts:
        assert max(part) > 2**23 / 100, "no output is silence"


def test_an_upload_that_is_refused_early_is_told_why(client: Any) -> None:
    size = 64 * 2**20
    file = client.create_file(
        {
            "file_name": "long.wav",
            "content_type": "audio/wav",
            "file_size": size,
            "purpose": "audio.separate.input",
        }
    )
    refusing = {**file, "upload_url": file["upload_url"][:-1]}
    for _ in range(5):
        with pytest.raises(ApiError) as refused:
            client.send(refusing, bytes(size))
        assert refused.value.code == "PERMISSION_DENIED"


def test_a_file_is_sent_separated_followed_and_downloaded(client: Any, tmp_path: Path) -> None:
    parts: list[float] = []
    file_id = client.upload(MIXTURE, "audio/wav", parts.append)
    assert len(parts) > 1 and parts[-1] == 1
    assert parts == sorted(parts)
    assert client.file(file_id)["status"] == "uploaded"
    request = client.submit({"input": {"prompts": PROMPTS, "file_id": file_id}})
    statuses = list(client.follow(request, logs=True, interval_seconds=1))
    assert statuses[-1]["status"] == "COMPLETED"
    assert all("logs" in status for status in statuses)
    data = client.wait(request)["data"]
    assert client.result(request["request_id"])["data"]["sample_rate"] == 44_100
    assert [target["prompt"] for target in data["targets"]] == PROMPTS
    paths = [tmp_path / f"{i}.wav" for i in range(3)]
    for path, output in zip(paths, [*data["targets"], data["residual"]], strict=True):
        client.download(output["url"], path)
    assert sorted(tmp_path.iterdir()) == paths
    assert_sum(paths)
    peaks = client.peaks(request)
    assert len(peaks["targets"]) == 2
    assert peaks["residual"]["sample_rate"] == 44_100
    with client.open(data["target"]["url"]) as response:
        assert response.headers["content-length"] == str(paths[0].stat().st_size)


def test_begin_returns_once_the_request_is_accepted(client: Any) -> None:
    begun = client.begin(MIXTURE, PROMPTS)
    assert begun["request_id"] and "data" not in begun
    assert [status["status"] for status in client.follow(begun)][-1] == "COMPLETED"
    assert len(client.result(begun)["data"]["targets"]) == len(PROMPTS)


def test_one_call_separates_a_file(client: Any, tmp_path: Path) -> None:
    submission = {"input": {"output_format": "flac"}, "metadata": {"take": 1}}
    result = client.separate(MIXTURE, PROMPTS, submission)
    assert [target["prompt"] for target in result["data"]["targets"]] == PROMPTS
    assert result["data"]["residual"]["content_type"] == "audio/flac"
    assert result["metadata"] == {"take": 1}
    text = tmp_path / "text.wav"
    text.write_text("no sound at all" * 100)
    with pytest.raises(ApiError) as refused:
        client.separate(text, "piano")
    assert refused.value.code == "INVALID_MEDIA"


def test_the_example_writes_stems_that_add_up(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "clients/python/examples/stems.py"],
        env={**os.environ, "MIXTURE": str(MIXTURE), "OUT": str(tmp_path / "stems")},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert "sent 100%" in ran.stdout
    assert "COMPLETED" in ran.stdout
    paths = list((tmp_path / "stems").iterdir())
    assert len(paths) == len(PROMPTS) + 1
    assert_sum(paths)


def test_bytes_in_memory_and_a_submit_that_is_repeated(client: Any) -> None:
    file_id = client.upload_blob("mix.wav", "audio/wav", MIXTURE.read_bytes())
    submission = {"input": {"prompt": "piano", "file_id": file_id}}
    key = f"order-{file_id}"
    first = client.submit(submission, idempotency_key=key)
    assert client.submit(submission, idempotency_key=key) == first
    submission["input"]["prompt"] = "a gong"
    with pytest.raises(ApiError) as raised:
        client.submit(submission, idempotency_key=key)
    assert (raised.value.code, raised.value.status) == ("IDEMPOTENCY_CONFLICT", 409)
    client.wait(first)
    page = client.list(limit=1)
    assert [one["request_id"] for one in page["data"]] == [first["request_id"]]
    if page["next_cursor"] is not None:
        assert client.list(limit=1, cursor=page["next_cursor"])["data"] != page["data"]
    assert client.models()["data"][0]["id"] == "audio/separate"
    assert client.account()["metered"] is False
    stood = client.list(status="COMPLETED", created_from=first["created_at"])["data"]
    assert [one["request_id"] for one in stood] == [first["request_id"]]
    assert (
        client.list(created_before=first["created_at"], limit=100, status="IN_QUEUE")["data"] == []
    )
    assert file_id in [file["file_id"] for file in client.list_files(limit=100)["data"]]
    assert client.usage()["data"][-1]["completed"] > 0


def test_a_request_is_deleted_and_its_file_by_its_own_call(client: Any) -> None:
    file_id = client.upload_blob("mix.wav", "audio/wav", MIXTURE.read_bytes())
    request = client.submit({"input": {"prompt": "piano", "file_id": file_id}})
    client.delete(request)  # which cancels it, if it is under way
    with pytest.raises(ApiError) as gone:
        client.status(request)
    assert gone.value.code == "NOT_FOUND"
    client.delete_file(file_id)
    assert file_id not in [file["file_id"] for file in client.list_files(limit=100)["data"]]


@pytest.fixture
def receiver() -> Iterator[tuple[str, queue.Queue[tuple[dict[str, str], bytes]]]]:
    """Yields an address for webhooks, and a queue of those received."""
    received: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            received.put((dict(self.headers), body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook", received
    server.shutdown()
    server.server_close()


def test_a_webhook_of_the_service_is_verified_and_sent_again(
    client: Any, receiver: tuple[str, queue.Queue[tuple[dict[str, str], bytes]]]
) -> None:
    address, received = receiver
    file_id = client.upload(MIXTURE, "audio/wav")
    request = client.submit(
        {
            "input": {"prompt": "piano", "file_id": file_id},
            "webhookUrl": address,
            "metadata": {"order": 17},
        }
    )
    secret = request["webhook"]["signing_secret"]
    headers, body = received.get(timeout=300)
    event = verify_webhook(secret, headers, body)
    assert event["type"] == "audio.separate.completed"
    assert (event["request_id"], event["metadata"]) == (request["request_id"], {"order": 17})
    with pytest.raises(WebhookError):
        verify_webhook(secret, headers, body + b" ")
    while client.status(request)["webhook"]["delivery_status"] != "delivered":
        threading.Event().wait(0.05)
    attempts = client.delivery_attempts(request)["data"]
    assert [one["status_code"] for one in attempts] == [204]
    assert client.status(request)["metadata"] == client.result(request)["metadata"] == {"order": 17}
    client.redeliver(request)
    again, same = received.get(timeout=300)
    assert (again["webhook-id"], same) == (headers["webhook-id"], body)
    tried = client.test_webhook({"webhookUrl": address, "webhookSecret": secret})
    headers, body = received.get(timeout=300)
    assert (tried["delivered"], headers["webhook-id"]) == (True, tried["webhook_id"])
    assert json.loads(body)["type"] == "webhook.test"
