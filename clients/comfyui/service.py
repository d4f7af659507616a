"""Connects the nodes to the service, and gets their results."""

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
    """Yields a client of the service.

    Neither address nor key are inputs of a node. ComfyUI writes inputs into workflows and pictures,
    so a key would be published, and an address in somebody else's workflow would receive the key.
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
    """Yields a list for the ids of requests, and cancels those if an exception ends the work."""
    request_ids: list[str] = []
    try:
        yield request_ids
    except BaseException:
        for request_id in request_ids:
            with suppress(ApiError, UnreachableError):  # it may have finished
                client.cancel(request_id)
        raise


def wait(client: Client, request_id: str, on_progress: Callable[[float], None]) -> Result:
    """:param on_progress: receives the progress from 0 to 1, at least once a second"""
    for status in client.follow(request_id, interval_seconds=1):
        on_progress(1 if status["status"] == "COMPLETED" else status.get("progress", 0))
    return client.wait(request_id)  # raises if the request has failed


class Download(NamedTuple):
    targets: list[Planes]
    residual: Planes
    sample_rate: int
    # For each prompt, whether its sound was found; empty if the model does not tell.
    findings: list[str]


def download(client: Client, result: Result) -> Download:
    """Downloads the targets and the residual, at the level of the media."""
    data = result["data"]
    # undoes the gain that kept the files below 1
    scale = np.float32(10 ** (-data.get("gain_db", 0) / 20))
    outputs = [*data.get("targets", [data["target"]]), data["residual"]]
    files = []
    for output in outputs:
        with client.open(output["url"]) as response:
            files.append(read_wav(response.read()))
    *targets, residual = [scale * planes for planes, _ in files]
    findings = [finding["message"] for finding in data.get("findings", [])]
    return Download(targets, residual, files[0][1], findings)
