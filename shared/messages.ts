/** The NATS messages between gateway and engine: their types, and a decoder that validates them. */

import { Type, type Static, type TOptional, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { Value } from 'typebox/value'
import { FAILURE_CODES } from './errors.ts'
import { Finding } from './finding.ts'
import { HeardSounds } from './heard-sounds.ts'
import { ID_PATTERN } from './ids.ts'
import { LIVE_PARTS_MAX } from './live-preview.ts'
import { MEASURED_SECONDS_MAX } from './media-limits.ts'
import { PLACE_PATTERN } from './output-places.ts'
import { PRIORITIES } from './priority.ts'
import { SeparationOptions } from './separation-options.ts'
import { StoredText, Text } from './short-text.ts'

const Time = Type.String({ description: 'UTC date-time' })

/**
 * A time in the format of `toISOString`, because the gateway stores and compares what engines
 * report.
 */
const EventTime = Type.Refine(
  Type.String({ pattern: '^20\\d\\d-[\\d-]{5}T[\\d:]{8}\\.\\d{3}Z$' }),
  (text) => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text,
  () => 'must be a time such as 2026-01-02T03:04:05.678Z',
)
const Id = Type.String({ pattern: ID_PATTERN })
export const ENGINE_ID_PATTERN = '^[\\w.:@-]{1,128}$'
const EngineId = Type.String({ pattern: ENGINE_ID_PATTERN })

/** The address of the media: signed by us (`file`), or given by the client (`url`, untrusted). */
const Source = Type.Object({
  kind: Type.Enum(['file', 'url']),
  url: Type.String(),
  file_name: Type.String(),
})

/** The targets of all prompts but the first. */
const FURTHER_TARGETS = [
  'target_2',
  'target_3',
  'target_4',
  'target_5',
  'target_6',
  'target_7',
  'target_8',
] as const
const FIRST_OUTPUTS = ['target', 'residual', 'target_video', 'residual_video'] as const
const FURTHER_VIDEOS = FURTHER_TARGETS.map((name) => `${name}_video` as const)

/**
 * An output of a separated mixture: a target for each prompt, and the residual, which matches no
 * prompt.
 */
export type OutputName = 'target' | 'residual' | (typeof FURTHER_TARGETS)[number]

/** Returns the targets of a request with this many prompts, in order. */
export const targetNames = (prompts: number): OutputName[] =>
  ['target' as const, ...FURTHER_TARGETS].slice(0, prompts)

const optional = <Name extends string, T extends TSchema>(names: readonly Name[], schema: T) =>
  Object.fromEntries(names.map((name) => [name, Type.Optional(schema)])) as Record<
    Name,
    TOptional<T>
  >

/** Asks an engine to serve one request. */
export const Job = Type.Object({
  request_id: Type.String(),
  account_id: Type.String(),
  created_at: Time,
  prompt: Type.String(),
  options: SeparationOptions,
  /** Absent in jobs of earlier versions, which are all interactive. */
  priority: Type.Optional(Type.Enum([...PRIORITIES])),
  /**
   * How many earlier attempts engines released, not counting drains. Each was a delivery of another
   * job.
   */
  interruptions: Type.Integer({ minimum: 0 }),
  source: Source,
  /** Signed addresses that each take one PUT of any length; a list of sounds has none. */
  upload_urls: Type.Object({
    ...optional(FIRST_OUTPUTS, Type.String()),
    ...optional(FURTHER_TARGETS, Type.String()),
    ...optional(FURTHER_VIDEOS, Type.String()),
    /** For the peaks of all outputs, to draw them. */
    peaks: Type.Optional(Type.String()),
    /** Absent if nobody asked for one, or the gateway is of an earlier version. */
    preview: Type.Optional(Type.String()),
  }),
  /**
   * SCRATCH_DIR of the engines on the gateway's host; see `hand-over.ts`. Absent if the gateway
   * knows none, or if the media is in a bucket.
   */
  shared_folder: Type.Optional(Type.String()),
  /**
   * Comes with `shared_folder`: a signed address that takes the names of outputs in that folder.
   */
  hand_over_url: Type.Optional(Type.String()),
  /**
   * Signed addresses for the segments of a checkpoint, each of which stores and returns one; see
   * `checkpoint.ts`. Absent if the media is short, if a list of sounds was requested, or from older
   * gateways.
   */
  checkpoint_urls: Type.Optional(
    Type.Array(Type.Object({ put: Type.String(), get: Type.String() })),
  ),
  /**
   * Signed addresses for the parts of a live preview; see `live-preview.ts`. Absent if nobody asked
   * for a preview, if the media is short, or from older gateways.
   */
  live_preview_urls: Type.Optional(Type.Array(Type.String())),
  /** Lets engines up to 0.4.0 state measurements in `started`, as later ones always do. */
  start_may_measure: Type.Optional(Type.Literal(true)),
})

/** A part of one request that an engine may store. */
export type OutputPart = keyof Job['upload_urls']

export const isOutputPart = (text: string): text is OutputPart =>
  Object.hasOwn(Job.properties.upload_urls.properties, text)

/** How many log lines an event has at most. */
export const LOG_LINES_MAX = 256
const LogLine = Type.Object({ timestamp: EventTime, message: StoredText })

/** A year: no attempt takes as long. */
const DEVICE_SECONDS_MAX = 366 * 86_400

/** Fields that all events share: the request, the engine and its attempt. */
const eventFields = {
  request_id: Id,
  attempt_id: Id,
  engine_id: EngineId,
  at: EventTime,
  /** When the attempt began, by the same clock. Absent in events of earlier versions. */
  started_at: Type.Optional(EventTime),
  /**
   * How many seconds of the device the attempt took, in `completed`, `failed` and `released`.
   * Absent in events of older engines.
   */
  device_seconds: Type.Optional(Type.Number({ minimum: 0, maximum: DEVICE_SECONDS_MAX })),
  logs: Type.Array(LogLine, { maxItems: LOG_LINES_MAX }),
}

/** More than the longest media takes at the highest rate. */
const OUTPUT_FILE_BYTES_MAX = 2 ** 40

/** @param contentType a pattern that must not match anything a browser executes */
const storedFile = (contentType: string) =>
  Type.Object({
    content_type: Type.String({ pattern: contentType }),
    extension: Type.String({ pattern: '^[a-z0-9]{1,8}$' }),
    bytes: Type.Integer({ minimum: 0, maximum: OUTPUT_FILE_BYTES_MAX }),
    /**
     * Where the gateway stored it; see `output-places.ts`. Absent if there is only one place, as in
     * a bucket, and if 0.2.0 stored it.
     */
    place: Type.Optional(Type.String({ pattern: PLACE_PATTERN })),
  })

/** The audio and, if the source was a video, the video with this audio. */
const Output = Type.Object({
  ...storedFile('^audio/[a-z0-9][a-z0-9.+-]{0,62}$').properties,
  video: Type.Optional(storedFile('^video/[a-z0-9][a-z0-9.+-]{0,62}$')),
})

/** By how much all outputs of a request are attenuated relative to the media. */
export const gainField = {
  gain_db: Type.Optional(
    Type.Number({
      maximum: 0,
      description:
        'An extension: the gain in dB that was applied to all outputs so that none clips; 0 if ' +
        'none was needed.',
    }),
  ),
}

const measuredFields = {
  duration: Type.Number({
    minimum: 0,
    maximum: MEASURED_SECONDS_MAX,
    description: 'duration of the media in seconds, according to its packets',
  }),
  /** Estimated size of the outputs in bytes. Absent if there are none. */
  output_bytes: Type.Optional(Type.Integer({ minimum: 0, maximum: 32 * OUTPUT_FILE_BYTES_MAX })),
}

const Target = Type.Object({ ...Output.properties, ...Finding.properties })

const EventOutputs = Type.Object({
  target: Target,
  residual: Output,
  ...optional(FURTHER_TARGETS, Target),
  peaks: Type.Optional(storedFile('^application/json$')),
  preview: Type.Optional(storedFile('^audio/ogg$')),
  /** Absent in outputs that 0.2.0 stored, which may be clipped. */
  ...gainField,
})

/**
 * A durable report from an engine. `released` returns the request, which is then queued with a new
 * job: `drain` because the engine stops, `outage` because it cannot reach the media store,
 * `interruption` because of another failure. `measured` comes at most once per attempt, if the
 * duration is known before the media is separated and `started` has not stated it.
 */
export const Event = Type.Union([
  Type.Object({
    type: Type.Literal('started'),
    ...eventFields,
    duration: Type.Optional(measuredFields.duration),
    output_bytes: measuredFields.output_bytes,
  }),
  Type.Object({
    type: Type.Literal('released'),
    ...eventFields,
    cause: Type.Enum(['drain', 'outage', 'interruption']),
  }),
  Type.Object({ type: Type.Literal('measured'), ...eventFields, ...measuredFields }),
  Type.Object({
    type: Type.Literal('completed'),
    ...eventFields,
    /** The name of the media, if the server at an `audio_url` gave one. */
    source_name: Type.Optional(Text),
    duration: Type.Number({
      minimum: 0,
      maximum: MEASURED_SECONDS_MAX,
      description: 'seconds of media',
    }),
    sample_rate: Type.Integer({
      minimum: 1,
      maximum: 2 ** 31 - 1,
      description: 'sample rate in hertz of the outputs or, if there are none, of the media',
    }),
    /** Absent if a list of sounds was requested. */
    outputs: Type.Optional(EventOutputs),
    /** What is in the media. Absent in events of earlier versions. */
    sounds: Type.Optional(HeardSounds),
  }),
  Type.Object({
    type: Type.Literal('failed'),
    ...eventFields,
    error: Type.Object({ code: Type.Enum([...FAILURE_CODES]), message: StoredText }),
  }),
])

const EventKind = Type.Object({
  type: Type.Enum(['started', 'released', 'measured', 'completed', 'failed']),
})

/** The ids in a message, readable even when the rest does not validate. */
const Identity = Type.Object({
  request_id: Type.Optional(Type.String()),
  attempt_id: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
})

/** How far along a request is. May be lost. */
export const Progress = Type.Object({
  request_id: Id,
  attempt_id: Id,
  at: EventTime,
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  /**
   * Lower bound on the seconds left, from encoding the video. Absent if unknown.
   */
  seconds_at_least: Type.Optional(Type.Number({ minimum: 0 })),
  /**
   * How many parts of the live preview the attempt has stored, and how many seconds they are long
   * together. Absent if there are none, or from older engines.
   */
  live_preview: Type.Optional(
    Type.Object({
      parts: Type.Integer({ minimum: 1, maximum: LIVE_PARTS_MAX }),
      seconds: Type.Number({ minimum: 0, maximum: MEASURED_SECONDS_MAX }),
    }),
  ),
})

/** The row of a request has changed; may be lost. Gateways publish this to each other. */
export const Change = Type.Object({
  request_id: Id,
  /** The gateway that sent it. */
  from: Type.String(),
})

/**
 * Sent by an engine every few seconds to announce itself and the address of its gRPC control plane.
 */
export const EngineAnnouncement = Type.Object({
  engine_id: EngineId,
  /** `host:port`. */
  control_address: Type.String({ maxLength: 300 }),
  /** Increases with each change of its models; absent (0) from earlier versions. */
  models_version: Type.Optional(Type.Integer({ minimum: 0 })),
})

export type Job = Static<typeof Job>
export type StoredFile = Static<ReturnType<typeof storedFile>>
export type Event = Static<typeof Event>
export type Identity = Static<typeof Identity>
export type Progress = Static<typeof Progress>
export type Change = Static<typeof Change>
export type EngineAnnouncement = Static<typeof EngineAnnouncement>
export type LogLine = Static<typeof LogLine>

/**
 * Returns the validated event of `data`, without fields of its outputs and sounds that this version
 * does not know, because the gateway stores them unchanged.
 * @throws like `decodeMessage`
 */
export function decodeEvent(data: Uint8Array): Event {
  const value = parseJson(data)
  const { type } = checkMessage(EventKind, value)
  const kind = Event.anyOf.find(({ properties }) => properties.type.const === type)!
  const event: Event = checkMessage(kind, value) // errors of the union name no field
  if (event.type === 'completed') {
    Value.Clean(EventOutputs, event.outputs)
    Value.Clean(HeardSounds, event.sounds)
  }
  return event
}

/**
 * Parses the JSON in `data` and validates it against `schema`.
 * @throws Error naming the first invalid field; the sender is of another version, or hostile
 */
export const decodeMessage = <T extends TSchema>(schema: T, data: Uint8Array): Static<T> =>
  checkMessage(schema, parseJson(data))

const parseJson = (data: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(data))

function checkMessage<T extends TSchema>(schema: T, value: unknown): Static<T> {
  const validator = validatorOf(schema)
  if (validator.Check(value)) return value as Static<T>
  const [first] = validator.Errors(value)
  throw new Error(`invalid message: ${first?.instancePath} ${first?.message}`)
}

const validators = new Map<TSchema, Validator>()

/** Compiles each schema once, because interpreting it takes nine times as long. */
function validatorOf(schema: TSchema): Validator {
  const validator = validators.get(schema) ?? Compile(schema)
  validators.set(schema, validator)
  return validator
}

/** Returns whose job or event it is, as far as that can be read. */
export function identify(data: Uint8Array): Identity {
  try {
    return Value.Clean(Identity, decodeMessage(Identity, data)) as Identity
  } catch {
    return {}
  }
}

export const encodeMessage = (
  message: Job | Event | Progress | Change | EngineAnnouncement,
): Uint8Array => new TextEncoder().encode(JSON.stringify(message))
