"""Arguments and results of calls. Dictionaries keep fields that this version does not know."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ._api import (
    Account,
    AudioSeparateInput,
    AudioSoundsInput,
    AudioSpan,
    CreateFileRequest,
    CreateFileResponse,
    DeliveryAttemptList,
    File,
    FileList,
    HeardSound,
    LivePreview,
    ModelList,
    NewShare,
    OutputFile,
    PromptTarget,
    QueueResultResponse,
    QueueStatusResponse,
    QueueSubmitResponse,
    RequestList,
    SeparationCompletedEvent,
    SeparationFailedEvent,
    SharedResult,
    ShareList,
    SoundsCompletedEvent,
    SoundsFailedEvent,
    SoundsResultResponse,
    SubmitAudioSeparateRequest,
    SubmitAudioSoundsRequest,
    Usage,
    WebhookDeliveryStatus,
    WebhookTestRequest,
    WebhookTestResult,
)

__all__ = [
    "Account",
    "CompletedEvent",
    "CreateFile",
    "CreatedFile",
    "DeliveryAttempts",
    "FailedEvent",
    "FileList",
    "FileRecord",
    "HeardSound",
    "Input",
    "LivePreview",
    "ModelList",
    "NewShare",
    "OutputFile",
    "Peaks",
    "PromptTarget",
    "RequestList",
    "RequestModel",
    "RequestRef",
    "RequestStatus",
    "Result",
    "ShareList",
    "SharedResult",
    "SoundsCompletedEvent",
    "SoundsFailedEvent",
    "SoundsInput",
    "SoundsResult",
    "SoundsSubmission",
    "Span",
    "Status",
    "Submission",
    "Submitted",
    "Usage",
    "Waveform",
    "WebhookDelivery",
    "WebhookEvent",
    "WebhookTest",
    "WebhookTestResult",
]

CreateFile = CreateFileRequest
CreatedFile = CreateFileResponse
FileRecord = File
Input = AudioSeparateInput
Span = AudioSpan
# The body of a submit; absent fields have the service's defaults.
Submission = SubmitAudioSeparateRequest
Submitted = QueueSubmitResponse
Status = QueueStatusResponse
Result = QueueResultResponse
# The body of a submit that asks for a list of sounds.
SoundsSubmission = SubmitAudioSoundsRequest
SoundsInput = AudioSoundsInput
# The list of sounds in media.
SoundsResult = SoundsResultResponse
WebhookDelivery = WebhookDeliveryStatus
DeliveryAttempts = DeliveryAttemptList
# A webhook receiver to test, and the secret that signs the event.
WebhookTest = WebhookTestRequest
CompletedEvent = SeparationCompletedEvent
FailedEvent = SeparationFailedEvent
WebhookEvent = CompletedEvent | FailedEvent | SoundsCompletedEvent | SoundsFailedEvent


class HasRequestId(TypedDict):
    request_id: str


RequestStatus = Literal["IN_QUEUE", "IN_PROGRESS", "COMPLETED", "FAILED"]

# The kind of a request: a separation, or a list of sounds.
RequestModel = Literal["audio/separate", "audio/sounds"]

# A request: its id, or any object that contains it, such as the result of `submit`.
RequestRef = str | HasRequestId


class Waveform(TypedDict):
    """An audiowaveform file, version 2: the least and the greatest sample of each stretch of each
    channel, from -128 to 127.
    """

    version: int
    channels: int
    sample_rate: int
    samples_per_pixel: int
    bits: int
    length: int
    data: list[int]


class Level(TypedDict):
    """The largest sample of a sound, and its loudness as an amplitude."""

    peak: float
    loudness: float


class PreviewIndex(TypedDict):
    """The layout of the file at `preview_url`. `samples` is the length of each sound,
    `segment_samples` that of each segment but the last, `bytes` the size of each segment in the
    order of the file.
    """

    sample_rate: int
    samples: int
    segment_samples: int
    bytes: list[int]
    levels: list[Level]


class Peaks(TypedDict):
    """Peaks of a request's outputs, to draw them without decoding."""

    mixture: Waveform
    targets: list[Waveform]
    residual: Waveform
    # The layout of the preview, if one was requested.
    preview: NotRequired[PreviewIndex]
