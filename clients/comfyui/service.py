"""The service that the nodes use: its address and key, requests, and their results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from winnow_client import ApiError, Client, UnreachableError
from winnow_client.types import Result

from .audio import Planes, read_wav

URL = "http://127.0.0.1:8080"
KEY_FILE = Path(__file__).with_name("api-key")


@contextmanager
def connected() -> Iterator[Client]:
    """A client of the service.

    Neither address nor key are inputs of a node. ComfyUI writes those into workflows and pictures,
    so a key would be published, and an address in a workflow from elsewhere would get the key.
    """
    key = os.environ.get("WINNOW_API_KEY", "")
    if not key and KEY_FILE.exists():
        key = KEY_FILE.read_text().strip()
    if not key:
        raise ValueError(f"Set WINNOW_API_KEY, or write the key of the service to {KEY_FILE}.")
    url = os.environ.get("WINNOW_URL", URL)
    try:
        with Client(url, key) as client:
            yield client
    except UnreachableError as error:
        raise RuntimeError(f"{error}. WINNOW_URL names the address of the service.") from error


@contextmanager
def canceled_on_error(client: Client) -> Iterator[list[str]]:
    """A list for the ids of requests, which are canceled when something ends the work on them."""
    request_ids: list[str] = []
    try:
        yield request_ids
    except BaseException:
        for request_id in request_ids:
            with suppress(ApiError, UnreachableError):  # it may have finished
                client.cancel(request_id)
        raise


def wait(client: Client, request_id: str, on_progress: Callable[[float], None]) -> Result:
    """:param on_progress: gets the part that is done, from 0 to 1, each second at least"""
    for status in client.follow(request_id, interval_seconds=1):
        on_progress(1 if status["status"] == "COMPLETED" else status.get("progress", 0))
    return client.wait(request_id)  # raises the failure, if there is one


class Download(NamedTuple):
    targets: list[Planes]
    residual: Planes
    sample_rate: int
    # For each prompt whether its sound was found; none where the model tells nothing.
    findings: list[str]


def download(client: Client, result: Result) -> Download:
    """The targets and the residual at the level of the media."""
    data = result["data"]
    scale = np.float32(10 ** (-data.get("gain_db", 0) / 20))  # files hold nothing beyond 1
    outputs = [*data.get("targets", [data["target"]]), data["residual"]]
    files = []
    for output in outputs:
        with client.open(output["url"]) as response:
            files.append(read_wav(response.read()))
    *targets, residual = [scale * planes for planes, _ in files]
    findings = [finding["message"] for finding in data.get("findings", [])]
    return Download(targets, residual, files[0][1], findings)
