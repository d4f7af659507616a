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
    "PromptTarget",
    "RequestList",
    "RequestRef",
    "Result",
    "Span",
    "Status",
    "Submission",
    "Submitted",
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
