# Made by `npm run winnow -- client-types` from the API description; do not edit.
from __future__ import annotations

from typing import Any, Literal, TypedDict


class CreateFileRequest(TypedDict):
    file_name: str
    # audio/*, video/*, application/ogg or application/octet-stream, in any case. What the bytes are
    # shows when they are measured.
    content_type: str
    # Bytes.
    file_size: int
    purpose: Literal["audio.separate.input"]


CreateFileResponseHeaders = TypedDict(
    "CreateFileResponseHeaders",
    {"content-type": str},
    total=False,
)


class CreateFileResponseRetention(TypedDict, total=False):
    delete_after: str


class CreateFileResponse(TypedDict):
    file_id: str
    # Takes the bytes, without an API key.
    upload_url: str
    upload_method: Literal["PUT"]
    headers: CreateFileResponseHeaders
    expires_at: str
    retention: CreateFileResponseRetention


class _File(TypedDict):
    file_id: str
    file_name: str
    content_type: str
    file_size: int
    purpose: str
    status: Literal["pending", "uploaded", "expired"]
    created_at: str
    expires_at: str


class File(_File, total=False):
    uploaded_at: str | None


class FileList(TypedDict):
    object: Literal["list"]
    data: list[File]
    next_cursor: str | None


class EngineModel(TypedDict):
    name: str
    summary: str
    parameters: int
    weights_sha256: str
    # Hertz; 0: any.
    sample_rate: int
    # More are mixed down.
    channels_max: int
    # Whether `reranking_candidates` makes several.
    gives_candidates: bool
    # Whether `predict_spans` does anything.
    predicts_spans: bool
    # Of its products: `float32` or `bfloat16`.
    precision: str


class Engine(TypedDict):
    # The same at each call; not the name in logs.
    engine_id: str
    version: str
    # `cpu` or `gpu`.
    device: str
    model: EngineModel


class _Separator(TypedDict):
    # For `input.separator`.
    name: str
    summary: str
    # `text`: any prompt; `stems`: prompts that name some of `stems`.
    answers: Literal["text", "stems"]
    # Of a model that answers text: none.
    stems: list[str]
    # The engines that hold it now.
    engine_ids: list[str]


class Separator(_Separator, total=False):
    # Of the sounds that a model for text knows, to choose from; it goes by meaning, and may know
    # others. Absent: it has no such list.
    names: list[str]
    # What is known of the licence of its weights.
    licence: str


class _Model(TypedDict):
    id: str
    object: Literal["model"]
    description: str
    # JSON Schema of `input` at submit.
    input: dict[str, Any]
    # JSON Schema of `data` of a result.
    output: dict[str, Any]


class Model(_Model, total=False):
    engines: list[Engine]
    # An extension: the networks behind the model, in order of preference.
    separators: list[Separator]


class ModelList(TypedDict):
    object: Literal["list"]
    data: list[Model]


class _AudioSpan(TypedDict):
    # Seconds from the start of the media.
    start: float
    # Seconds; greater than start.
    end: float


class AudioSpan(_AudioSpan, total=False):
    # true: the target sounds here; false: it does not.
    include: bool | None


class AudioSeparateInput(TypedDict, total=False):
    # The sound to extract, in plain language; counted after trimming. Exactly one of prompt and
    # prompts.
    prompt: str | None
    # An extension: several sounds of one media, each with a target of its own and all with one
    # residual, which is what none of them took. All options hold for each.
    prompts: list[str] | None
    # Public HTTPS URL of audio or video; spaces and letters are encoded as browsers do it. Exactly
    # one of audio_url, file_id and request_id.
    audio_url: str | None
    # Of an uploaded file.
    file_id: str | None
    # An extension: of an earlier request, whose output or source is the media. With `output`.
    request_id: str | None
    # An extension: which output of the COMPLETED request of `request_id`; `source`: what that
    # request, in any state, was to separate.
    output: Literal["target", "residual", "source"] | None
    # An extension: the place in `data.targets` of the target; 0 by default.
    output_index: int | None
    # An extension: which of the media's tracks of sound, from 1. By default the best, or two of one
    # channel that are alike, as the channels of one sound; `logs` name the rest.
    audio_track: int | None
    # An extension: the model that answers all prompts, by its name in `GET /v1/models`; `auto`: the
    # words of each prompt decide.
    separator: str | None
    # An extension: which output is kept. `residual`: the sounds are taken out at their full level
    # even where it is unsure that they are there; a `target` is softer there.
    side: Literal["target", "residual"] | None
    # An extension: also make what `data.preview_url` streams.
    preview: bool | None
    # Predict first where the target sounds.
    predict_spans: bool | None
    # Candidates to choose the best from.
    reranking_candidates: int | None
    # Speed against quality.
    acceleration: Literal["fast", "balanced", "quality"] | None
    # Seconds of media in one model pass; less than 1 is taken for 1.
    max_chunk_duration: float | None
    # Seconds; more than half a chunk is taken for half of one.
    chunk_overlap: float | None
    # Coding of the outputs.
    output_format: Literal["wav", "mp3", "flac"] | None
    # Where the target sounds, or does not.
    spans: list[AudioSpan] | None


class _SubmitAudioSeparateRequest(TypedDict):
    input: AudioSeparateInput


class SubmitAudioSeparateRequest(_SubmitAudioSeparateRequest, total=False):
    # Public HTTPS URL that receives the end of the request; see `webhooks`.
    webhookUrl: str | None
    # Signs the webhook: its UTF-8 bytes or, after `whsec_`, its bytes in base64. Without one we
    # make one.
    webhookSecret: str | None
    # Comes back in the webhook; at most 16384 bytes of JSON, nested 32 levels deep.
    metadata: dict[str, Any] | None


class _QueueSubmitResponseWebhook(TypedDict):
    url: str


class QueueSubmitResponseWebhook(_QueueSubmitResponseWebhook, total=False):
    # Only when we made it, and only here.
    signing_secret: str


class _QueueSubmitResponse(TypedDict):
    request_id: str
    status: Literal["IN_QUEUE"]
    # What was asked for; `audio/sounds`, a list of sounds, is an extension.
    model: Literal["audio/separate", "audio/sounds"]
    created_at: str
    status_url: str
    stream_url: str
    result_url: str


class QueueSubmitResponse(_QueueSubmitResponse, total=False):
    webhook: QueueSubmitResponseWebhook


class QueueStatusResponseLogs(TypedDict):
    timestamp: str
    message: str


class QueueStatusResponseError(TypedDict):
    code: Literal[
        "MODEL_FAILED",
        "CHUNK_TOO_LARGE",
        "INVALID_MEDIA",
        "NO_AUDIO_STREAM",
        "INVALID_AUDIO_URL",
        "MEDIA_FETCH_FAILED",
        "PAYLOAD_TOO_LARGE",
        "MEDIA_TOO_LONG",
        "INSUFFICIENT_CREDITS",
        "MEDIA_QUOTA_EXCEEDED",
        "ENGINE_LOST",
        "CANCELED",
        "INVALID_PARAMETER",
    ]
    message: str


class WebhookDeliveryStatus(TypedDict):
    delivery_status: Literal["pending", "sending", "delivered", "failed"]
    # Attempts begun.
    attempts: int
    delivered_at: str | None
    last_error: str | None


class _PromptFinding(TypedDict):
    prompt: str


class PromptFinding(_PromptFinding, total=False):
    # An extension: how probable it is that the sound is in the media, if half of those are that are
    # asked for; calibrated on mixtures of two sounds.
    match: float
    # An extension: the model's nearest name for the prompt; null: none is near.
    understood_as: str | None
    # An extension: the name of the network that made the target, in `separators`.
    separator: str


class FindingWhere(TypedDict):
    # Seconds from the start of the media.
    start: float
    # Seconds from the start of the media.
    end: float


class _FindingAsked(TypedDict):
    # In English, if the service knows it; else as typed.
    sound: str
    # True if it is to be taken away.
    excluded: bool


class FindingAsked(_FindingAsked, total=False):
    state: Literal["found", "similar", "unsure", "absent", "unknown"]
    similar_to: str


class _Finding(TypedDict):
    prompt: str
    # `found`: it is there; `similar`: what is there sounds like it (`similar_to`); `unsure`;
    # `absent`: it was not heard. In all but the first the target holds what comes nearest, and may
    # be softer. `unknown`: the model does not know the prompt, and the target holds something else.
    # Of several sounds the least sure one decides, in the order unknown, absent, similar, unsure,
    # found.
    state: Literal["found", "similar", "unsure", "absent", "unknown"]
    # The same as a sentence or two, for people.
    message: str


class Finding(_Finding, total=False):
    # An extension: how probable it is that the sound is in the media, if half of those are that are
    # asked for; calibrated on mixtures of two sounds.
    match: float
    # An extension: the model's nearest name for the prompt; null: none is near.
    understood_as: str | None
    # An extension: of a `similar` sound, what was heard instead.
    similar_to: str
    # An extension: where a `found` sound is; of several, where any of those is that are wanted. Of
    # more than 100 spans, neighbours are joined.
    where: list[FindingWhere]
    # An extension: the part of the media in which a `found` sound is.
    share: float
    # An extension: how well the target is likely to be separated, whether or not its sound is
    # there: `good` is meant as an SI-SDR from 10 dB on, `poor` as one under 3 dB. An estimate by
    # the built-in model; absent where there is none.
    quality: Literal["good", "fair", "poor"]
    # An extension: the sounds that the prompt was read as.
    asked: list[FindingAsked]
    # An extension: an earlier prompt that is read as the same sound. Both have one output, which
    # the residual lacks once.
    same_as: str
    # Unless `found`: by how many dB the target is softer than what was found.
    softened_db: float
    # Of an `unknown` prompt: what the target holds.
    holds: str
    # Of an `unknown` prompt: the model's nearest names, to try.
    nearest: list[str]
    # An extension: the name of the network that made the target, in `separators`.
    separator: str


class _QueueStatusResponse(TypedDict):
    request_id: str
    # What was asked for; `audio/sounds`, a list of sounds, is an extension.
    model: Literal["audio/separate", "audio/sounds"]
    status: Literal["IN_QUEUE", "IN_PROGRESS", "COMPLETED", "FAILED"]
    created_at: str
    updated_at: str
    result_url: str


class QueueStatusResponse(_QueueStatusResponse, total=False):
    logs: list[QueueStatusResponseLogs]
    progress: float
    # 1: next.
    queue_position: int
    # An extension: until the end, as far as anything can be said.
    estimated_seconds_left: int
    # Why the request FAILED.
    error: QueueStatusResponseError
    webhook: WebhookDeliveryStatus
    # An extension: as given at submit; large numbers are rounded.
    metadata: dict[str, Any]
    # An extension: how probable it is that the sound is in the media, if half of those are that are
    # asked for; calibrated on mixtures of two sounds.
    match: float
    # An extension: the model's nearest name for the prompt; null: none is near.
    understood_as: str | None
    # An extension: the name of the network that made the target, in `separators`.
    separator: str
    # An extension: of a completed request with `prompts`, in their order.
    targets: list[PromptFinding]
    # An extension: what the model found out about each prompt of a completed request, in their
    # order. Absent if the model reports none.
    findings: list[Finding]


class _OutputFile(TypedDict):
    url: str
    content_type: str
    file_name: str


class OutputFile(_OutputFile, total=False):
    video_url: str


class _PromptTarget(TypedDict):
    prompt: str
    url: str
    content_type: str
    file_name: str


class PromptTarget(_PromptTarget, total=False):
    # An extension: how probable it is that the sound is in the media, if half of those are that are
    # asked for; calibrated on mixtures of two sounds.
    match: float
    # An extension: the model's nearest name for the prompt; null: none is near.
    understood_as: str | None
    # An extension: the name of the network that made the target, in `separators`.
    separator: str
    video_url: str


class HeardSoundSpans(TypedDict):
    # Seconds from the start of the media.
    start: float
    # Seconds from the start of the media.
    end: float


class HeardSound(TypedDict):
    # Given as a prompt, it separates the sound.
    name: str
    # Where it sounds, in order.
    spans: list[HeardSoundSpans]
    # The part of the media in which it sounds.
    share: float
    # How probable it is that the sound is in the media.
    match: float


class _SeparationData(TypedDict):
    target: OutputFile
    residual: OutputFile
    # Hertz.
    sample_rate: int


class SeparationData(_SeparationData, total=False):
    # An extension: of a completed request with `prompts`, in their order. `target` is the first.
    targets: list[PromptTarget]
    # Seconds.
    duration: float
    # An extension: mixture and outputs as Opus, in segments that the peaks list; only where
    # `preview` was asked for and could be made.
    preview_url: str
    # An extension: the gain in dB that all outputs have in common so that none clips; 0: none.
    gain_db: float
    # An extension: how probable it is that the sound is in the media, if half of those are that are
    # asked for; calibrated on mixtures of two sounds.
    match: float
    # An extension: the model's nearest name for the prompt; null: none is near.
    understood_as: str | None
    # An extension: the name of the network that made the target, in `separators`.
    separator: str
    # An extension: what the model found out about each prompt of a completed request, in their
    # order. Absent if the model reports none.
    findings: list[Finding]
    # An extension: all that was heard in the media, the most prominent first.
    sounds: list[HeardSound]


class QueueResultResponseUsage(TypedDict, total=False):
    feature: Literal["audio_seconds"]
    quantity: int
    billing_status: Literal["deducted", "not_metered"]


class QueueResultResponseRetention(TypedDict, total=False):
    delete_after: str


class _QueueResultResponse(TypedDict):
    request_id: str
    model: Literal["audio/separate"]
    status: Literal["COMPLETED"]
    data: SeparationData
    usage: QueueResultResponseUsage
    retention: QueueResultResponseRetention


class QueueResultResponse(_QueueResultResponse, total=False):
    webhook: WebhookDeliveryStatus
    # An extension: as given at submit; large numbers are rounded.
    metadata: dict[str, Any]


class AudioSoundsInput(TypedDict, total=False):
    # Public HTTPS URL of audio or video; spaces and letters are encoded as browsers do it. Exactly
    # one of audio_url, file_id and request_id.
    audio_url: str | None
    # Of an uploaded file.
    file_id: str | None
    # An extension: of an earlier request, whose output or source is the media. With `output`.
    request_id: str | None
    # An extension: which output of the COMPLETED request of `request_id`; `source`: what that
    # request, in any state, was to separate.
    output: Literal["target", "residual", "source"] | None
    # An extension: the place in `data.targets` of the target; 0 by default.
    output_index: int | None
    # An extension: which of the media's tracks of sound, from 1. By default the best, or two of one
    # channel that are alike, as the channels of one sound; `logs` name the rest.
    audio_track: int | None


class _SubmitAudioSoundsRequest(TypedDict):
    input: AudioSoundsInput


class SubmitAudioSoundsRequest(_SubmitAudioSoundsRequest, total=False):
    # Public HTTPS URL that receives the end of the request; see `webhooks`.
    webhookUrl: str | None
    # Signs the webhook: its UTF-8 bytes or, after `whsec_`, its bytes in base64. Without one we
    # make one.
    webhookSecret: str | None
    # Comes back in the webhook; at most 16384 bytes of JSON, nested 32 levels deep.
    metadata: dict[str, Any] | None


class SoundsData(TypedDict):
    sounds: list[HeardSound]
    # Seconds.
    duration: float


class SoundsResultResponseUsage(TypedDict, total=False):
    feature: Literal["audio_seconds"]
    quantity: int
    billing_status: Literal["deducted", "not_metered"]


class SoundsResultResponseRetention(TypedDict, total=False):
    delete_after: str


class _SoundsResultResponse(TypedDict):
    request_id: str
    model: Literal["audio/sounds"]
    status: Literal["COMPLETED"]
    data: SoundsData
    usage: SoundsResultResponseUsage
    retention: SoundsResultResponseRetention


class SoundsResultResponse(_SoundsResultResponse, total=False):
    webhook: WebhookDeliveryStatus
    # An extension: as given at submit; large numbers are rounded.
    metadata: dict[str, Any]


class ListedRequestLogs(TypedDict):
    timestamp: str
    message: str


class ListedRequestError(TypedDict):
    code: Literal[
        "MODEL_FAILED",
        "CHUNK_TOO_LARGE",
        "INVALID_MEDIA",
        "NO_AUDIO_STREAM",
        "INVALID_AUDIO_URL",
        "MEDIA_FETCH_FAILED",
        "PAYLOAD_TOO_LARGE",
        "MEDIA_TOO_LONG",
        "INSUFFICIENT_CREDITS",
        "MEDIA_QUOTA_EXCEEDED",
        "ENGINE_LOST",
        "CANCELED",
        "INVALID_PARAMETER",
    ]
    message: str


class ListedRequestRetention(TypedDict):
    delete_after: str


class _ListedRequest(TypedDict):
    request_id: str
    # What was asked for; `audio/sounds`, a list of sounds, is an extension.
    model: Literal["audio/separate", "audio/sounds"]
    status: Literal["IN_QUEUE", "IN_PROGRESS", "COMPLETED", "FAILED"]
    created_at: str
    updated_at: str
    result_url: str
    # Of several the first; of a list of sounds empty.
    prompt: str
    # Of the source.
    file_name: str


class ListedRequest(_ListedRequest, total=False):
    logs: list[ListedRequestLogs]
    progress: float
    # 1: next.
    queue_position: int
    # An extension: until the end, as far as anything can be said.
    estimated_seconds_left: int
    # Why the request FAILED.
    error: ListedRequestError
    webhook: WebhookDeliveryStatus
    # An extension: as given at submit; large numbers are rounded.
    metadata: dict[str, Any]
    # An extension: how probable it is that the sound is in the media, if half of those are that are
    # asked for; calibrated on mixtures of two sounds.
    match: float
    # An extension: the model's nearest name for the prompt; null: none is near.
    understood_as: str | None
    # An extension: the name of the network that made the target, in `separators`.
    separator: str
    # An extension: of a completed request with `prompts`, in their order.
    targets: list[PromptFinding]
    # An extension: what the model found out about each prompt of a completed request, in their
    # order. Absent if the model reports none.
    findings: list[Finding]
    # Where there are several.
    prompts: list[str]
    # Of a completed one: its outputs are kept until then.
    retention: ListedRequestRetention


class RequestList(TypedDict):
    object: Literal["list"]
    data: list[ListedRequest]
    next_cursor: str | None


class DeliveryAttempt(TypedDict):
    started_at: str
    duration_ms: int
    status_code: int | None
    error: str | None


class DeliveryAttemptList(TypedDict):
    object: Literal["list"]
    data: list[DeliveryAttempt]


class _WebhookTestRequest(TypedDict):
    # Public HTTPS URL that receives the end of the request; see `webhooks`.
    webhookUrl: str


class WebhookTestRequest(_WebhookTestRequest, total=False):
    # Signs the webhook: its UTF-8 bytes or, after `whsec_`, its bytes in base64. Without one we
    # make one.
    webhookSecret: str | None


class _WebhookTestResult(TypedDict):
    # As in the header `webhook-id`.
    webhook_id: str
    delivered: bool
    status_code: int | None
    error: str | None
    duration_ms: int


class WebhookTestResult(_WebhookTestResult, total=False):
    # What signed the event, where none was given.
    signing_secret: str


class OwnLimits(TypedDict):
    # Calls of each key in a minute.
    calls_per_minute: int | None
    # Requests that wait.
    queued_requests: int | None
    # Requests that are given to engines at once; more of them wait.
    concurrent_jobs: int | None
    # Bytes of files and outputs.
    media_bytes: int | None
    # Seconds of completed requests in a calendar month, UTC.
    seconds_per_month: int | None
    # Status streams and waiting calls at one gateway.
    streams: int | None
    # Bytes of one uploaded file.
    file_bytes: int | None


class StandingLimitsCallsPerMinute(TypedDict):
    # Null: no limit.
    max: int | None
    # Now; null of a limit of each single key or file.
    used: int | None


class StandingLimitsQueuedRequests(TypedDict):
    # Null: no limit.
    max: int | None
    # Now; null of a limit of each single key or file.
    used: int | None


class StandingLimitsConcurrentJobs(TypedDict):
    # Null: no limit.
    max: int | None
    # Now; null of a limit of each single key or file.
    used: int | None


class StandingLimitsMediaBytes(TypedDict):
    # Null: no limit.
    max: int | None
    # Now; null of a limit of each single key or file.
    used: int | None


class StandingLimitsSecondsPerMonth(TypedDict):
    # Null: no limit.
    max: int | None
    # Now; null of a limit of each single key or file.
    used: int | None


class StandingLimitsStreams(TypedDict):
    # Null: no limit.
    max: int | None
    # Now; null of a limit of each single key or file.
    used: int | None


class StandingLimitsFileBytes(TypedDict):
    # Null: no limit.
    max: int | None
    # Now; null of a limit of each single key or file.
    used: int | None


class StandingLimits(TypedDict):
    # Calls of each key in a minute.
    calls_per_minute: StandingLimitsCallsPerMinute
    # Requests that wait.
    queued_requests: StandingLimitsQueuedRequests
    # Requests that are given to engines at once; more of them wait.
    concurrent_jobs: StandingLimitsConcurrentJobs
    # Bytes of files and outputs.
    media_bytes: StandingLimitsMediaBytes
    # Seconds of completed requests in a calendar month, UTC.
    seconds_per_month: StandingLimitsSecondsPerMonth
    # Status streams and waiting calls at one gateway.
    streams: StandingLimitsStreams
    # Bytes of one uploaded file.
    file_bytes: StandingLimitsFileBytes


class _Account(TypedDict):
    account_id: str
    name: str
    status: Literal["active", "disabled", "deleted"]
    # Whether separating costs it credits.
    metered: bool
    # Seconds of audio.
    balance_seconds: int
    # Of these, for requests under way.
    reserved_seconds: int
    # Of files and outputs that it holds.
    media_bytes: int
    # Besides, for the outputs of requests under way.
    media_reserved_bytes: int


class Account(_Account, total=False):
    # Of both together; in `GET /v1/account`.
    media_bytes_max: int
    own_limits: OwnLimits
    limits: StandingLimits


class UsageDay(TypedDict):
    day: str
    # Requests.
    completed: int
    # Requests, those that were canceled included.
    failed: int
    # Of completed requests, as they are charged: of each target as many.
    audio_seconds: int


Usage = TypedDict(
    "Usage",
    {"object": Literal["list"], "from": str, "to": str, "data": list[UsageDay]},
)


class NewShare(TypedDict):
    share_id: str
    request_id: str
    created_at: str
    expires_at: str
    # Plays the result in a browser. Its fragment is the secret: only shown now.
    url: str


class Share(TypedDict):
    share_id: str
    request_id: str
    created_at: str
    expires_at: str


class ShareList(TypedDict):
    object: Literal["list"]
    data: list[Share]


class _SharedResult(TypedDict):
    # Of the source.
    file_name: str
    prompts: list[str]
    data: SeparationData
    # End of the share. The addresses end earlier: read the result again.
    expires_at: str


class SharedResult(_SharedResult, total=False):
    # Peaks as JSON, where the engine stored them.
    peaks_url: str


class SeparationCompletedEventUsage(TypedDict, total=False):
    feature: Literal["audio_seconds"]
    quantity: int
    billing_status: Literal["deducted", "not_metered"]


class _SeparationCompletedEvent(TypedDict):
    type: Literal["audio.separate.completed"]
    request_id: str
    model: Literal["audio/separate"]
    created_at: str
    status: Literal["COMPLETED"]
    completed_at: str
    data: SeparationData
    usage: SeparationCompletedEventUsage


class SeparationCompletedEvent(_SeparationCompletedEvent, total=False):
    # As given at submit.
    metadata: dict[str, Any]


class SeparationFailedEventError(TypedDict):
    code: Literal[
        "MODEL_FAILED",
        "CHUNK_TOO_LARGE",
        "INVALID_MEDIA",
        "NO_AUDIO_STREAM",
        "INVALID_AUDIO_URL",
        "MEDIA_FETCH_FAILED",
        "PAYLOAD_TOO_LARGE",
        "MEDIA_TOO_LONG",
        "INSUFFICIENT_CREDITS",
        "MEDIA_QUOTA_EXCEEDED",
        "ENGINE_LOST",
        "CANCELED",
        "INVALID_PARAMETER",
    ]
    message: str


class _SeparationFailedEvent(TypedDict):
    type: Literal["audio.separate.failed"]
    request_id: str
    model: Literal["audio/separate"]
    created_at: str
    status: Literal["FAILED"]
    failed_at: str
    error: SeparationFailedEventError


class SeparationFailedEvent(_SeparationFailedEvent, total=False):
    # As given at submit.
    metadata: dict[str, Any]


class SoundsCompletedEventUsage(TypedDict, total=False):
    feature: Literal["audio_seconds"]
    quantity: int
    billing_status: Literal["deducted", "not_metered"]


class _SoundsCompletedEvent(TypedDict):
    type: Literal["audio.sounds.completed"]
    request_id: str
    model: Literal["audio/sounds"]
    created_at: str
    status: Literal["COMPLETED"]
    completed_at: str
    data: SoundsData
    usage: SoundsCompletedEventUsage


class SoundsCompletedEvent(_SoundsCompletedEvent, total=False):
    # As given at submit.
    metadata: dict[str, Any]


class SoundsFailedEventError(TypedDict):
    code: Literal[
        "MODEL_FAILED",
        "CHUNK_TOO_LARGE",
        "INVALID_MEDIA",
        "NO_AUDIO_STREAM",
        "INVALID_AUDIO_URL",
        "MEDIA_FETCH_FAILED",
        "PAYLOAD_TOO_LARGE",
        "MEDIA_TOO_LONG",
        "INSUFFICIENT_CREDITS",
        "MEDIA_QUOTA_EXCEEDED",
        "ENGINE_LOST",
        "CANCELED",
        "INVALID_PARAMETER",
    ]
    message: str


class _SoundsFailedEvent(TypedDict):
    type: Literal["audio.sounds.failed"]
    request_id: str
    model: Literal["audio/sounds"]
    created_at: str
    status: Literal["FAILED"]
    failed_at: str
    error: SoundsFailedEventError


class SoundsFailedEvent(_SoundsFailedEvent, total=False):
    # As given at submit.
    metadata: dict[str, Any]
