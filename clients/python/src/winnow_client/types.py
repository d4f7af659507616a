"""What calls take and answer. A field that this version does not know is kept in the dictionary."""

from __future__ import annotations

from typing import TypedDict

from ._api import (
    Account,
    AudioSeparateInput,
    AudioSpan,
    CreateFileRequest,
    CreateFileResponse,
    File,
    ModelList,
    OutputFile,
    PromptTarget,
    QueueResultResponse,
    QueueStatusResponse,
    QueueSubmitResponse,
    RequestList,
    SeparationCompletedEvent,
    SeparationFailedEvent,
    SubmitAudioSeparateRequest,
    WebhookDeliveryStatus,
)

__all__ = [
    "Account",
    "CompletedEvent",
    "CreateFile",
    "CreatedFile",
    "FailedEvent",
    "FileRecord",
    "Input",
    "ModelList",
    "OutputFile",
    "Peaks",
    "PromptTarget",
    "RequestList",
    "RequestRef",
    "Result",
    "Span",
    "Status",
    "Submission",
    "Submitted",
    "Waveform",
    "WebhookDelivery",
    "WebhookEvent",
]

CreateFile = CreateFileRequest
CreatedFile = CreateFileResponse
FileRecord = File
Input = AudioSeparateInput
Span = AudioSpan
# The body of a submit; what is absent has the service's default.
Submission = SubmitAudioSeparateRequest
Submitted = QueueSubmitResponse
Status = QueueStatusResponse
Result = QueueResultResponse
WebhookDelivery = WebhookDeliveryStatus
CompletedEvent = SeparationCompletedEvent
FailedEvent = SeparationFailedEvent
WebhookEvent = CompletedEvent | FailedEvent


class HasRequestId(TypedDict):
    request_id: str


# A request, by its id or by anything that has it, such as the answer of `submit`.
RequestRef = str | HasRequestId


class Waveform(TypedDict):
    """A file of audiowaveform, version 2: the least and the greatest sample of each stretch of each
    channel, from -128 to 127."""

    version: int
    channels: int
    sample_rate: int
    samples_per_pixel: int
    bits: int
    length: int
    data: list[int]


class Peaks(TypedDict):
    """What the outputs of a request are drawn from without decoding them."""

    mixture: Waveform
    targets: list[Waveform]
    residual: Waveform
