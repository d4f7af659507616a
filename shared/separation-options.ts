/**
 * The options of a separation, with their limits and defaults: docs/reference/contract.md, 2.7, and
 * docs/reference/options.md.
 */

import { Type, type Static } from 'typebox'
import { FILE_BYTES_MAX } from './file-limits.ts'

const ACCELERATIONS = ['fast', 'balanced', 'quality'] as const
const OUTPUT_FORMATS = ['wav', 'mp3', 'flac'] as const

export type Acceleration = (typeof ACCELERATIONS)[number]
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

export const LIMITS = {
  promptCharactersMax: 500,
  promptsMax: 8,
  /** How many sounds the prompts of a request may name in total. */
  soundsMax: 16,
  rerankingCandidatesMax: 8,
  maxChunkDurationSecondsMax: 300,
  /** The shortest chunk; a smaller `max_chunk_duration` counts as this. */
  chunkSecondsMin: 1,
  chunkOverlapSecondsMax: 30,
  spansMax: 64,
  /** Files with more streams are rejected. */
  audioTrackMax: 256,
  fileBytesMax: FILE_BYTES_MAX,
  webhookSecretCharactersMin: 16,
  webhookSecretCharactersMax: 256,
  fileNameCharactersMax: 255,
  audioUrlCharactersMax: 8_192,
  webhookUrlCharactersMax: 2_048,
  /** As JSON, because a webhook that contains it should stay small. */
  metadataBytesMax: 16_384,
  /** Nesting depth of objects and arrays, including the metadata object itself. */
  metadataDepthMax: 32,
} as const

/** Pattern for the names of models (`isModelName` of models/installed/record.ts). */
export const SEPARATOR_PATTERN = '^[a-z0-9][a-z0-9_.-]{0,39}$'

export const AudioSpan = Type.Object(
  {
    start: Type.Number({ minimum: 0, description: 'Seconds from the start of the media.' }),
    end: Type.Number({ minimum: 0, description: 'Seconds; greater than start.' }),
    include: Type.Boolean({
      default: true,
      description: 'Whether the target is present here (`true`) or absent (`false`).',
    }),
  },
  { additionalProperties: false },
)

/** All options with defaults filled in, as in a job. */
export const SeparationOptions = Type.Object(
  {
    predict_spans: Type.Boolean(),
    reranking_candidates: Type.Integer({ minimum: 1, maximum: LIMITS.rerankingCandidatesMax }),
    acceleration: Type.Enum([...ACCELERATIONS]),
    max_chunk_duration: Type.Number({
      exclusiveMinimum: 0,
      maximum: LIMITS.maxChunkDurationSecondsMax,
    }),
    chunk_overlap: Type.Number({ minimum: 0, maximum: LIMITS.chunkOverlapSecondsMax }),
    output_format: Type.Enum([...OUTPUT_FORMATS]),
    spans: Type.Array(AudioSpan, { maxItems: LIMITS.spansMax }),
    /** Number of the media's audio track, from 1; if absent, the engine chooses. */
    audio_track: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.audioTrackMax })),
    /** The prompts after the first. */
    further_prompts: Type.Optional(
      Type.Array(Type.String(), { minItems: 1, maxItems: LIMITS.promptsMax - 1 }),
    ),
    /** The model that answers all prompts; `auto` if absent. */
    separator: Type.Optional(Type.String({ pattern: SEPARATOR_PATTERN, maxLength: 40 })),
    /**
     * The output that people keep; the targets if absent. Engines of 0.4.0 return a job that has
     * it.
     */
    side: Type.Optional(Type.Literal('residual')),
    /** For the gateway only; jobs have an upload address instead. */
    preview: Type.Optional(Type.Literal(true)),
  },
  { additionalProperties: false },
)

export type AudioSpan = Static<typeof AudioSpan>
export type SeparationOptions = Static<typeof SeparationOptions>

/** Returns the prompts of a separation, in the order of its targets. */
export const promptsOf = (
  prompt: string,
  { further_prompts: further = [] }: Pick<SeparationOptions, 'further_prompts'>,
): string[] => [prompt, ...further]

export const DEFAULT_OPTIONS: SeparationOptions = {
  predict_spans: false,
  reranking_candidates: 1,
  acceleration: 'balanced',
  max_chunk_duration: 60,
  chunk_overlap: 5,
  output_format: 'wav',
  spans: [],
}
