"""Makes the form of a single call that contains the media."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast

from . import types
from ._calls import Call, keyed
from .errors import ApiError

Body = TypeVar("Body", types.Submission, types.SoundsSubmission)
Answer = TypeVar("Answer", types.Result, types.SoundsResult)

# Larger media is uploaded separately, which has progress and retries.
ONE_CALL_BYTES_MAX = 32 * 2**20
# How long a call waits for the result; less than the time limits of proxies.
WAIT_SECONDS = 20


@dataclass(frozen=True)
class Question(Generic[Body, Answer]):
    """The request of a call of `separate`, `begin` or `sounds`."""

    kind: Literal["separate", "sounds"]
    path: Path
    submission: Body
    """The submission, without its media."""
    idempotency_key: str | None

    @property
    def is_large(self) -> bool:
        return self.path.stat().st_size > ONE_CALL_BYTES_MAX

    @property
    def content_type(self) -> str:
        kind = mimetypes.guess_type(self.path.name)[0] or ""
        return kind if kind.startswith(("audio/", "video/")) else "application/octet-stream"

    def submission_of(self, file_id: str) -> Body:
        """Returns the body of a submit for an uploaded file."""
        input_fields = {**self.submission["input"], "file_id": file_id}
        return cast(Body, {**self.submission, "input": input_fields})

    def begin_call(self) -> Call[types.Submitted]:
        return self._call({}, 0)

    def call(self) -> Call[Answer | types.Submitted]:
        """Returns the same call, but waiting for the result."""
        return self._call({"prefer": f"wait={WAIT_SECONDS}"}, WAIT_SECONDS)

    def _call(self, headers: dict[str, str], wait_seconds: float) -> Call[Any]:
        """Returns the call that contains the file, after its fields, as the service requires."""
        return Call(
            "POST",
            f"/v1/audio/{self.kind}",
            headers={**keyed(self.idempotency_key), **headers},
            form=self._fields,
            file=(self.path.name, self.path.read_bytes(), self.content_type),
            wait_seconds=wait_seconds,
        )

    @property
    def _fields(self) -> dict[str, object]:
        top = {name: value for name, value in self.submission.items() if name != "input"}
        input_fields: dict[str, object] = {**self.submission["input"], **top}
        prompts = input_fields.pop("prompts", None) or input_fields.pop("prompt", None)
        fields: dict[str, object] = {} if prompts is None else {"prompt": prompts}
        for name, value in input_fields.items():
            if value is not None:
                fields[name] = value if isinstance(value, str) else json.dumps(value)
        return fields


def separation(
    path: str | Path,
    prompt: str | Sequence[str],
    submission: types.Submission | None,
    idempotency_key: str | None,
) -> Question[types.Submission, types.Result]:
    prompts = [prompt] if isinstance(prompt, str) else list(prompt)
    named = {"prompt": prompts[0]} if len(prompts) == 1 else {"prompts": prompts}
    body = submission or {"input": {}}
    asked = cast(types.Submission, {**body, "input": cast(types.Input, {**body["input"], **named})})
    return Question("separate", Path(path), asked, idempotency_key)


def sounds_question(
    path: str | Path, submission: types.SoundsSubmission | None, idempotency_key: str | None
) -> Question[types.SoundsSubmission, types.SoundsResult]:
    body = submission or {"input": cast(types.SoundsInput, {})}
    return Question("sounds", Path(path), body, idempotency_key)


def failed_request(error: ApiError) -> types.RequestRef:
    """Returns the request that failed while a call waited for it.

    :raises: the error, if it means something else
    """
    if error.code != "REQUEST_FAILED" or error.request_id is None:
        raise error
    return error.request_id
