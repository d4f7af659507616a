"""The form of a call that brings media with its prompt."""

from __future__ import annotations

import json
import mimetypes
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ._core import Call, visible
from .errors import ApiError
from .types import Input, RequestRef, Result, Submission, Submitted

# Media that is larger is sent by itself: with its progress, and again from where a call broke.
ONE_CALL_BYTES_MAX = 32 * 2**20
PATH = "/v1/audio/separate"
# How long a call waits for the result: less than proxies do.
WAIT_SECONDS = 20


@dataclass(frozen=True)
class Separation:
    """The request of one `separate` or `begin`."""

    path: Path
    prompts: Sequence[str]
    submission: Submission
    idempotency_key: str

    @property
    def is_large(self) -> bool:
        return self.path.stat().st_size > ONE_CALL_BYTES_MAX

    @property
    def content_type(self) -> str:
        kind = mimetypes.guess_type(self.path.name)[0] or ""
        return kind if kind.startswith(("audio/", "video/")) else "application/octet-stream"

    def submission_of(self, file_id: str) -> Submission:
        """The body of a submit, once the file is there."""
        prompts = list(self.prompts)
        named = {"prompt": prompts[0]} if len(prompts) == 1 else {"prompts": prompts}
        given = {**self.submission["input"], **named, "file_id": file_id}
        return {**self.submission, "input": cast(Input, given)}

    def begin_call(self) -> Call[Submitted]:
        """The call that brings the file, too: its fields first, as the service asks for."""
        return Call("POST", PATH, headers=self._headers, form=self._fields, file=self._file)

    def call(self) -> Call[Result | Submitted]:
        """The same, which waits for the result."""
        headers = {**self._headers, "prefer": f"wait={WAIT_SECONDS}"}
        wait = WAIT_SECONDS
        form, file = self._fields, self._file
        return Call("POST", PATH, headers=headers, form=form, file=file, wait_seconds=wait)

    @property
    def _headers(self) -> dict[str, str]:
        return {"idempotency-key": visible("idempotency_key", self.idempotency_key)}

    @property
    def _file(self) -> tuple[str, bytes, str]:
        return (self.path.name, self.path.read_bytes(), self.content_type)

    @property
    def _fields(self) -> dict[str, object]:
        fields: dict[str, object] = {"prompt": list(self.prompts)}
        top = {name: value for name, value in self.submission.items() if name != "input"}
        for name, value in {**self.submission["input"], **top}.items():
            if value is not None:
                fields[name] = value if isinstance(value, str) else json.dumps(value)
        return fields


def separation(
    path: str | Path,
    prompt: str | Sequence[str],
    submission: Submission | None,
    idempotency_key: str | None,
) -> Separation:
    prompts = [prompt] if isinstance(prompt, str) else prompt
    key = secrets.token_hex(16) if idempotency_key is None else idempotency_key
    return Separation(Path(path), prompts, submission or {"input": {}}, key)


def failed_request(error: ApiError) -> RequestRef:
    """The request that has failed while a call waited for it.

    :raises: the error, where it says something else
    """
    if error.code != "REQUEST_FAILED" or error.request_id is None:
        raise error
    return error.request_id
