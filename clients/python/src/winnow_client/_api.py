# Made by `npm run winnow -- client-types` from the API description; do not edit.
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class OwnLimits(TypedDict):
    # Calls per minute of each key.
    calls_per_minute: int | None
    # Waiting requests.
    queued_requests: int | None
    # Requests that engines have at once; further ones wait.
    concurrent_jobs: int | None
    # Bytes of files and outputs.
    media_bytes: int | None
    # Seconds of completed requests in a calendar month, UTC.
    seconds_per_month: int | None
    # Status streams and waiting calls at one gateway.
    streams: int | None
    # Bytes of one uploaded file.
    file_bytes: int | None
    # The highest class of its requests, which is also their default.
    priority: Literal["interactive", "batch"] | None


class StandingLimitsCallsPerMinute(TypedDict):
    # `null` means no limit.
    max: int | None
    # How much is used now; `null` for a limit that applies to each key or file.
    used: int | None


class StandingLimitsQueuedRequests(TypedDict):
    # `null` means no limit.
    max: int | None
    # How much is used now; `null` for a limit that applies to each key or file.
    used: int | None


class StandingLimitsConcurrentJobs(TypedDict):
    # `null` means no limit.
    max: int | None
    # How much is used now; `null` for a limit that applies to each key or file.
    used: int | None


class StandingLimitsMediaBytes(TypedDict):
    # `null` means no limit.
    max: int | None
    # How much is used now; `null` for a limit that applies to each key or file.
    used: int | None


class StandingLimitsSecondsPerMonth(TypedDict):
    # `null` means no limit.
    max: int | None
    # How much is used now; `null` for a limit that applies to each key or file.
    used: int | None


class StandingLimitsStreams(TypedDict):
    # `null` means no limit.
    max: int | None
    # How much is used now; `null` for a limit that applies to each key or file.
    used: int | None


class StandingLimitsFileBytes(TypedDict):
    # `null` means no limit.
    max: int | None
    # How much is used now; `null` for a limit that applies to each key or file.
    used: int | None


class StandingLimits(TypedDict):
    # Calls per minute of each key.
    calls_per_minute: StandingLimitsCallsPerMinute
    # Waiting requests.
    queued_requests: StandingLimitsQueuedRequests
    # Requests that engines have at once; further ones wait.
    concurrent_jobs: StandingLimitsConcurrentJobs
    # Bytes of files and outputs.
    media_bytes: StandingLimitsMediaBytes
    # Seconds of completed requests in a calendar month, UTC.
    seconds_per_month: StandingLimitsSecondsPerMonth
    # Status streams and waiting calls at one gateway.
    streams: StandingLimitsStreams
    # Bytes of one uploaded file.
    file_bytes: StandingLimitsFileBytes


class Account(TypedDict):
    account_id: str
    name: str
    status: Literal["active", "disabled", "deleted"]
    # Whether separations cost credits.
    metered: bool
    # In seconds of audio.
    balance_seconds: int
    # The part reserved for requests in progress.
    reserved_seconds: int
    # Size of the files and outputs that the account holds.
    media_bytes: int
    # Size reserved for the outputs of requests in progress.
    media_reserved_bytes: int
    # The limit for both together. Only in `GET /v1/account`.
    media_bytes_max: NotRequired[int]
    # The highest class of requests with this key, which is also their default. Only in `GET
    # /v1/account`.
    priority: NotRequired[Literal["interactive", "batch"]]
    own_limits: NotRequired[OwnLimits]
    limits: NotRequired[StandingLimits]


class AudioSpan(TypedDict):
    # Seconds from the start of the media.
    start: float
    # Seconds; greater than start.
    end: float
    # Whether the target is present here (`true`) or absent (`false`).
    include: NotRequired[bool | None]


class AudioSeparateInput(TypedDict, total=False):
    # The sound to extract, in plain language; counted after trimming. Exactly one of prompt and
    # prompts.
    prompt: str | None
    # An extension: several sounds in the same media, each with its own target. They share one
    # residual, which is what none of the targets took. The options apply to all of them.
    prompts: list[str] | None
    # A public HTTPS URL of audio or video. Spaces and letters are encoded as in browsers. Exactly
    # one of audio_url, file_id and request_id.
    audio_url: str | None
    # The id of an uploaded file.
    file_id: str | None
    # An extension: an earlier request, one of whose outputs, or whose source, is the media.
    # Requires `output`.
    request_id: str | None
    # An extension: which output of the COMPLETED request `request_id` to use. `source` is the media
    # that a request in any state was to separate.
    output: Literal["target", "residual", "source"] | None
    # An extension: index of the target in `data.targets` (default 0).
    output_index: int | None
    # An extension: which audio track of the media to separate, from 1. By default it is the best
    # one, or two matching mono tracks as the channels of one sound; `logs` name the others.
    audio_track: int | None
    # An extension: the model that answers all prompts, named as in `GET /v1/models`. With `auto`,
    # the words of each prompt decide.
    separator: str | None
    # An extension: which output you will keep. With `residual`, the sounds are removed at full
    # level even if it is uncertain that they are present; with `target`, uncertain targets are
    # softened.
    side: Literal["target", "residual"] | None
    # An extension: also makes a compressed preview, at `data.preview_url`.
    preview: bool | None
    # Predict first where the target sounds.
    predict_spans: bool | None
    # Candidates to choose the best from.
    reranking_candidates: int | None
    # Speed against quality.
    acceleration: Literal["fast", "balanced", "quality"] | None
    # Seconds of media in one model pass; anything less than 1 counts as 1.
    max_chunk_duration: float | None
    # Seconds that neighbouring chunks share; at most half a chunk is used.
    chunk_overlap: float | None
    # Format of the outputs.
    output_format: Literal["wav", "mp3", "flac"] | None
    # Where the target is present, or absent.
    spans: list[AudioSpan] | None


class AudioSoundsInput(TypedDict, total=False):
    # A public HTTPS URL of audio or video. Spaces and letters are encoded as in browsers. Exactly
    # one of audio_url, file_id and request_id.
    audio_url: str | None
    # The id of an uploaded file.
    file_id: str | None
    # An extension: an earlier request, one of whose outputs, or whose source, is the media.
    # Requires `output`.
    request_id: str | None
    # An extension: which output of the COMPLETED request `request_id` to use. `source` is the media
    # that a request in any state was to separate.
    output: Literal["target", "residual", "source"] | None
    # An extension: index of the target in `data.targets` (default 0).
    output_index: int | None
    # An extension: which audio track of the media to separate, from 1. By default it is the best
    # one, or two matching mono tracks as the channels of one sound; `logs` name the others.
    audio_track: int | None


class CreateFileRequest(TypedDict):
    file_name: str
    # audio/*, video/*, application/ogg or application/octet-stream, in upper or lower case. The
    # service looks at the bytes to find out what they are.
    content_type: str
    # Size in bytes.
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
    # Accepts the bytes, without an API key.
    upload_url: str
    upload_method: Literal["PUT"]
    headers: CreateFileResponseHeaders
    expires_at: str
    retention: CreateFileResponseRetention


class DeliveryAttempt(TypedDict):
    started_at: str
    duration_ms: int
    status_code: int | None
    error: str | None


class DeliveryAttemptList(TypedDict):
    object: Literal["list"]
    data: list[DeliveryAttempt]


class File(TypedDict):
    file_id: str
    file_name: str
    content_type: str
    file_size: int
    purpose: str
    status: Literal["pending", "uploaded", "expired"]
    created_at: str
    uploaded_at: NotRequired[str | None]
    expires_at: str


class FileList(TypedDict):
    object: Literal["list"]
    data: list[File]
    next_cursor: str | None


class HeardSoundSpans(TypedDict):
    # Seconds from the start of the media.
    start: float
    # Seconds from the start of the media.
    end: float


class HeardSound(TypedDict):
    # Use it as a prompt to separate the sound.
    name: str
    # Where it is heard, in order.
    spans: list[HeardSoundSpans]
    # The share of the media in which it is heard.
    share: float
    # The probability that the sound is in the media.
    match: float


class LivePreview(TypedDict):
    # Who made the parts. If this changes, the media is separated again from its start, and the
    # parts of before are replaced.
    attempt: str
    # Length of all parts together.
    seconds: float
    # Length of the media in seconds.
    duration: float
    # Addresses of the parts, in order, valid for an hour. They need no key.
    part_urls: list[str]


class EngineModel(TypedDict):
    name: str
    summary: str
    parameters: int
    weights_sha256: str
    # In hertz; 0 if any rate is supported.
    sample_rate: int
    # Media with more channels is downmixed.
    channels_max: int
    # Whether `reranking_candidates` makes several.
    gives_candidates: bool
    # Whether `predict_spans` has an effect.
    predicts_spans: bool
    # Precision of the matrix products: `float32` or `bfloat16`.
    precision: str


class Engine(TypedDict):
    # The same in every call, but not the name in logs.
    engine_id: str
    version: str
    # `cpu` or `gpu`.
    device: str
    model: EngineModel


class Separator(TypedDict):
    # The value for `input.separator`.
    name: str
    summary: str
    # `text` takes any prompt; `stems` takes prompts that name some of `stems`.
    answers: Literal["text", "stems"]
    # Empty for a model that takes text.
    stems: list[str]
    # Sounds that a model for text knows, to choose from. It goes by meaning and may understand
    # others. Absent if it has no such list.
    names: NotRequired[list[str]]
    # What is known about the licence of its weights.
    licence: NotRequired[str]
    # The engines that have the model loaded.
    engine_ids: list[str]


class Model(TypedDict):
    id: str
    object: Literal["model"]
    description: str
    # JSON Schema of `input` in a submit.
    input: dict[str, Any]
    # JSON Schema of `data` in a result.
    output: dict[str, Any]
    # An extension: the longest media that it takes, in seconds.
    media_seconds_max: NotRequired[int]
    engines: NotRequired[list[Engine]]
    # An extension: the models to choose from, in order of preference.
    separators: NotRequired[list[Separator]]


class ModelList(TypedDict):
    object: Literal["list"]
    data: list[Model]


class NewShare(TypedDict):
    share_id: str
    request_id: str
    created_at: str
    expires_at: str
    # Plays the result in a browser. The fragment is the secret and is shown only once.
    url: str


class OutputFile(TypedDict):
    url: str
    video_url: NotRequired[str]
    content_type: str
    file_name: str


class PromptTarget(TypedDict):
    prompt: str
    # An extension: the probability that the sound is in the media, assuming that half of the
    # requested sounds are; calibrated on mixtures of two sounds.
    match: NotRequired[float]
    # An extension: the name known to the model that is nearest to the prompt; `null` if none is
    # near.
    understood_as: NotRequired[str | None]
    # An extension: the name of the model that made the target, as in `separators`.
    separator: NotRequired[str]
    url: str
    video_url: NotRequired[str]
    content_type: str
    file_name: str


class FindingWhere(TypedDict):
    # Seconds from the start of the media.
    start: float
    # Seconds from the start of the media.
    end: float


class FindingAsked(TypedDict):
    # In English if the service knows the sound; otherwise as typed.
    sound: str
    # Whether it is to be removed.
    excluded: bool
    state: NotRequired[Literal["found", "similar", "unsure", "absent", "unknown"]]
    similar_to: NotRequired[str]


class Finding(TypedDict):
    prompt: str
    # An extension: the probability that the sound is in the media, assuming that half of the
    # requested sounds are; calibrated on mixtures of two sounds.
    match: NotRequired[float]
    # An extension: the name known to the model that is nearest to the prompt; `null` if none is
    # near.
    understood_as: NotRequired[str | None]
    # `found`: the sound is there; `similar`: a similar sound is there (`similar_to`); `unsure`;
    # `absent`: it was not heard. Except for `found`, the target contains the closest match and may
    # be softer. `unknown`: the model does not know the prompt, and the target contains something
    # else. Of several sounds the least certain one decides, in the order unknown, absent, similar,
    # unsure, found.
    state: Literal["found", "similar", "unsure", "absent", "unknown"]
    # An extension: for a `similar` sound, what was heard instead.
    similar_to: NotRequired[str]
    # An extension: where a `found` sound is; for several sounds, where any wanted one is. If there
    # are more than 100 spans, neighbouring ones are merged.
    where: NotRequired[list[FindingWhere]]
    # An extension: the share of the media that contains a `found` sound.
    share: NotRequired[float]
    # An extension: how well the target is probably separated, whether or not the sound is there.
    # `good` means an SI-SDR of at least 10 dB, `poor` one below 3 dB. An estimate by the built-in
    # model; absent if there is none.
    quality: NotRequired[Literal["good", "fair", "poor"]]
    # An extension: the sounds that the prompt was understood to mean.
    asked: NotRequired[list[FindingAsked]]
    # An extension: an earlier prompt with the same meaning. Both share one output, which is missing
    # from the residual once.
    same_as: NotRequired[str]
    # Unless `found`: by how many dB the target is softer than what was separated.
    softened_db: NotRequired[float]
    # For an `unknown` prompt: what the target contains.
    holds: NotRequired[str]
    # For an `unknown` prompt: the nearest names known to the model, to try instead.
    nearest: NotRequired[list[str]]
    # An extension: the name of the model that made the target, as in `separators`.
    separator: NotRequired[str]
    # The same in a sentence or two, for people.
    message: str


class SeparationData(TypedDict):
    target: OutputFile
    # An extension: of a completed request with `prompts`, in their order. `target` is the first
    # one.
    targets: NotRequired[list[PromptTarget]]
    residual: OutputFile
    # In seconds.
    duration: NotRequired[float]
    # In hertz.
    sample_rate: int
    # An extension: the mixture and the outputs as Opus, in segments that are indexed in the peaks.
    # Only if `preview` was requested and could be made.
    preview_url: NotRequired[str]
    # An extension: the gain in dB that was applied to all outputs so that none clips; 0 if none was
    # needed.
    gain_db: NotRequired[float]
    # An extension: the probability that the sound is in the media, assuming that half of the
    # requested sounds are; calibrated on mixtures of two sounds.
    match: NotRequired[float]
    # An extension: the name known to the model that is nearest to the prompt; `null` if none is
    # near.
    understood_as: NotRequired[str | None]
    # An extension: the name of the model that made the target, as in `separators`.
    separator: NotRequired[str]
    # An extension: what was found out about each prompt of a completed request, in order. Absent if
    # the model reports nothing.
    findings: NotRequired[list[Finding]]
    # An extension: all sounds heard in the media, the most prominent first.
    sounds: NotRequired[list[HeardSound]]


class QueueResultResponseUsage(TypedDict, total=False):
    feature: Literal["audio_seconds"]
    quantity: int
    billing_status: Literal["deducted", "not_metered"]


class WebhookDeliveryStatus(TypedDict):
    delivery_status: Literal["pending", "sending", "delivered", "failed"]
    # Attempts started so far.
    attempts: int
    delivered_at: str | None
    last_error: str | None


class QueueResultResponseRetention(TypedDict, total=False):
    delete_after: str


class QueueResultResponse(TypedDict):
    request_id: str
    model: Literal["audio/separate"]
    status: Literal["COMPLETED"]
    data: SeparationData
    usage: QueueResultResponseUsage
    webhook: NotRequired[WebhookDeliveryStatus]
    # An extension: as submitted, except that large numbers are rounded.
    metadata: NotRequired[dict[str, Any]]
    retention: QueueResultResponseRetention


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


class PromptFinding(TypedDict):
    prompt: str
    # An extension: the probability that the sound is in the media, assuming that half of the
    # requested sounds are; calibrated on mixtures of two sounds.
    match: NotRequired[float]
    # An extension: the name known to the model that is nearest to the prompt; `null` if none is
    # near.
    understood_as: NotRequired[str | None]
    # An extension: the name of the model that made the target, as in `separators`.
    separator: NotRequired[str]


class QueueStatusResponse(TypedDict):
    request_id: str
    # What was requested. `audio/sounds`, a list of sounds, is an extension.
    model: Literal["audio/separate", "audio/sounds"]
    status: Literal["IN_QUEUE", "IN_PROGRESS", "COMPLETED", "FAILED"]
    # An extension.
    priority: NotRequired[Literal["interactive", "batch"]]
    created_at: str
    updated_at: str
    result_url: str
    logs: NotRequired[list[QueueStatusResponseLogs]]
    progress: NotRequired[float]
    # An extension: how much of the media can be played while the rest is still separated; see `GET
    # /v1/queue/requests/{request_id}/live-preview`.
    preview_seconds: NotRequired[float]
    # 1 means next.
    queue_position: NotRequired[int]
    # An extension: estimated time until the end, if it can be estimated.
    estimated_seconds_left: NotRequired[int]
    # Why the request FAILED.
    error: NotRequired[QueueStatusResponseError]
    webhook: NotRequired[WebhookDeliveryStatus]
    # An extension: as submitted, except that large numbers are rounded.
    metadata: NotRequired[dict[str, Any]]
    # An extension: the probability that the sound is in the media, assuming that half of the
    # requested sounds are; calibrated on mixtures of two sounds.
    match: NotRequired[float]
    # An extension: the name known to the model that is nearest to the prompt; `null` if none is
    # near.
    understood_as: NotRequired[str | None]
    # An extension: the name of the model that made the target, as in `separators`.
    separator: NotRequired[str]
    # An extension: of a completed request with `prompts`, in their order.
    targets: NotRequired[list[PromptFinding]]
    # An extension: what was found out about each prompt of a completed request, in order. Absent if
    # the model reports nothing.
    findings: NotRequired[list[Finding]]


class QueueSubmitResponseWebhook(TypedDict):
    url: str
    # Only if the service created it, and only in this response.
    signing_secret: NotRequired[str]


class QueueSubmitResponse(TypedDict):
    request_id: str
    status: Literal["IN_QUEUE"]
    # What was requested. `audio/sounds`, a list of sounds, is an extension.
    model: Literal["audio/separate", "audio/sounds"]
    created_at: str
    status_url: str
    stream_url: str
    result_url: str
    webhook: NotRequired[QueueSubmitResponseWebhook]


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


class ListedRequest(TypedDict):
    request_id: str
    # What was requested. `audio/sounds`, a list of sounds, is an extension.
    model: Literal["audio/separate", "audio/sounds"]
    status: Literal["IN_QUEUE", "IN_PROGRESS", "COMPLETED", "FAILED"]
    # An extension.
    priority: NotRequired[Literal["interactive", "batch"]]
    created_at: str
    updated_at: str
    result_url: str
    logs: NotRequired[list[ListedRequestLogs]]
    progress: NotRequired[float]
    # An extension: how much of the media can be played while the rest is still separated; see `GET
    # /v1/queue/requests/{request_id}/live-preview`.
    preview_seconds: NotRequired[float]
    # 1 means next.
    queue_position: NotRequired[int]
    # An extension: estimated time until the end, if it can be estimated.
    estimated_seconds_left: NotRequired[int]
    # Why the request FAILED.
    error: NotRequired[ListedRequestError]
    webhook: NotRequired[WebhookDeliveryStatus]
    # An extension: as submitted, except that large numbers are rounded.
    metadata: NotRequired[dict[str, Any]]
    # An extension: the probability that the sound is in the media, assuming that half of the
    # requested sounds are; calibrated on mixtures of two sounds.
    match: NotRequired[float]
    # An extension: the name known to the model that is nearest to the prompt; `null` if none is
    # near.
    understood_as: NotRequired[str | None]
    # An extension: the name of the model that made the target, as in `separators`.
    separator: NotRequired[str]
    # An extension: of a completed request with `prompts`, in their order.
    targets: NotRequired[list[PromptFinding]]
    # An extension: what was found out about each prompt of a completed request, in order. Absent if
    # the model reports nothing.
    findings: NotRequired[list[Finding]]
    # The first one if there are several; empty for a list of sounds.
    prompt: str
    # Present if there are several.
    prompts: NotRequired[list[str]]
    # Name of the source.
    file_name: str
    # For a completed request: until when its outputs are kept.
    retention: NotRequired[ListedRequestRetention]


class RequestList(TypedDict):
    object: Literal["list"]
    data: list[ListedRequest]
    next_cursor: str | None


class SeparationCompletedEventUsage(TypedDict, total=False):
    feature: Literal["audio_seconds"]
    quantity: int
    billing_status: Literal["deducted", "not_metered"]


class SeparationCompletedEvent(TypedDict):
    type: Literal["audio.separate.completed"]
    request_id: str
    model: Literal["audio/separate"]
    created_at: str
    status: Literal["COMPLETED"]
    completed_at: str
    data: SeparationData
    usage: SeparationCompletedEventUsage
    # As submitted.
    metadata: NotRequired[dict[str, Any]]


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


class SeparationFailedEvent(TypedDict):
    type: Literal["audio.separate.failed"]
    request_id: str
    model: Literal["audio/separate"]
    created_at: str
    status: Literal["FAILED"]
    failed_at: str
    error: SeparationFailedEventError
    # As submitted.
    metadata: NotRequired[dict[str, Any]]


class SharedResult(TypedDict):
    # Name of the source.
    file_name: str
    prompts: list[str]
    data: SeparationData
    # The peaks as JSON, if the engine stored them.
    peaks_url: NotRequired[str]
    # When the share ends. The media addresses expire earlier; read the result again to renew them.
    expires_at: str


class Share(TypedDict):
    share_id: str
    request_id: str
    created_at: str
    expires_at: str


class ShareList(TypedDict):
    object: Literal["list"]
    data: list[Share]


class SoundsData(TypedDict):
    sounds: list[HeardSound]
    # In seconds.
    duration: float


class SoundsCompletedEventUsage(TypedDict, total=False):
    feature: Literal["audio_seconds"]
    quantity: int
    billing_status: Literal["deducted", "not_metered"]


class SoundsCompletedEvent(TypedDict):
    type: Literal["audio.sounds.completed"]
    request_id: str
    model: Literal["audio/sounds"]
    created_at: str
    status: Literal["COMPLETED"]
    completed_at: str
    data: SoundsData
    usage: SoundsCompletedEventUsage
    # As submitted.
    metadata: NotRequired[dict[str, Any]]


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


class SoundsFailedEvent(TypedDict):
    type: Literal["audio.sounds.failed"]
    request_id: str
    model: Literal["audio/sounds"]
    created_at: str
    status: Literal["FAILED"]
    failed_at: str
    error: SoundsFailedEventError
    # As submitted.
    metadata: NotRequired[dict[str, Any]]


class SoundsResultResponseUsage(TypedDict, total=False):
    feature: Literal["audio_seconds"]
    quantity: int
    billing_status: Literal["deducted", "not_metered"]


class SoundsResultResponseRetention(TypedDict, total=False):
    delete_after: str


class SoundsResultResponse(TypedDict):
    request_id: str
    model: Literal["audio/sounds"]
    status: Literal["COMPLETED"]
    data: SoundsData
    usage: SoundsResultResponseUsage
    webhook: NotRequired[WebhookDeliveryStatus]
    # An extension: as submitted, except that large numbers are rounded.
    metadata: NotRequired[dict[str, Any]]
    retention: SoundsResultResponseRetention


class SubmitAudioSeparateRequest(TypedDict):
    input: AudioSeparateInput
    # An extension: `batch` lets interactive requests go first. The default is the highest class
    # that the account may have, usually `interactive`.
    priority: NotRequired[Literal["interactive", "batch"] | None]
    # A public HTTPS URL to notify when the request ends; see `webhooks`.
    webhookUrl: NotRequired[str | None]
    # The secret that signs the webhook: its UTF-8 bytes or, after `whsec_`, its base64-decoded
    # bytes. Without one the service creates one.
    webhookSecret: NotRequired[str | None]
    # Returned in the webhook; at most 16384 bytes of JSON, nested up to 32 levels.
    metadata: NotRequired[dict[str, Any] | None]


class SubmitAudioSoundsRequest(TypedDict):
    input: AudioSoundsInput
    # An extension: `batch` lets interactive requests go first. The default is the highest class
    # that the account may have, usually `interactive`.
    priority: NotRequired[Literal["interactive", "batch"] | None]
    # A public HTTPS URL to notify when the request ends; see `webhooks`.
    webhookUrl: NotRequired[str | None]
    # The secret that signs the webhook: its UTF-8 bytes or, after `whsec_`, its base64-decoded
    # bytes. Without one the service creates one.
    webhookSecret: NotRequired[str | None]
    # Returned in the webhook; at most 16384 bytes of JSON, nested up to 32 levels.
    metadata: NotRequired[dict[str, Any] | None]


class UsageDay(TypedDict):
    day: str
    # Number of requests.
    completed: int
    # Number of requests, including canceled ones.
    failed: int
    # Seconds of completed requests as charged, that is, once for each target.
    audio_seconds: int


Usage = TypedDict(
    "Usage",
    {"object": Literal["list"], "from": str, "to": str, "data": list[UsageDay]},
)


class WebhookTestRequest(TypedDict):
    # A public HTTPS URL to notify when the request ends; see `webhooks`.
    webhookUrl: str
    # The secret that signs the webhook: its UTF-8 bytes or, after `whsec_`, its base64-decoded
    # bytes. Without one the service creates one.
    webhookSecret: NotRequired[str | None]


class WebhookTestResult(TypedDict):
    # The value of the header `webhook-id`.
    webhook_id: str
    delivered: bool
    status_code: int | None
    error: str | None
    duration_ms: int
    # The secret that signed the event, if none was given.
    signing_secret: NotRequired[str]
