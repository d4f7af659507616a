/** SAM-Audio's comparisons with its reference, in the order of the computation. */
import type { Part } from '../../../models/sam-audio/checkpoint-folders.ts'
import type { Comparison } from './comparison.ts'
import type { Reference } from './reference.ts'
import { prepareAnchors } from './stages/anchors.ts'
import { prepareDecode } from './stages/decode.ts'
import { prepareEncode } from './stages/encode.ts'
import { prepareJudge } from './stages/judge.ts'
import { preparePredict } from './stages/predict.ts'
import { prepareSeparate } from './stages/separate.ts'
import { prepareSpans } from './stages/spans.ts'
import { prepareT5 } from './stages/t5.ts'
import { prepareTokens } from './stages/tokens.ts'
import { prepareVelocity } from './stages/velocity.ts'
import { withTidy } from './tidied.ts'

export interface Stage {
  /** What the stage needs of the reference: model folders, and files in `golden/`. */
  parts: readonly Part[]
  files: readonly string[]
  /** Loads asynchronously; the function that it resolves with computes. */
  prepare(reference: Reference): Promise<() => Comparison[]>
}

export const STAGES: Readonly<Record<string, Stage>> = {
  tokens: { parts: ['text'], files: ['tokenization.json'], prepare: prepareTokens },
  t5: { parts: ['text'], files: ['t5.safetensors', 't5_buckets.json'], prepare: prepareT5 },
  anchors: { parts: [], files: ['processor.json'], prepare: prepareAnchors },
  spans: {
    parts: ['spans'],
    files: ['span_predictor.safetensors', 'span_predictor.json'],
    prepare: prepareSpans,
  },
  encode: { parts: ['model'], files: ['codec_encode.safetensors'], prepare: prepareEncode },
  decode: { parts: ['model'], files: ['codec_decode.safetensors'], prepare: prepareDecode },
  velocity: { parts: ['model'], files: ['dit_forward.safetensors'], prepare: prepareVelocity },
  separate: {
    parts: ['model', 'text'],
    files: ['separate.safetensors', 'separate_alone.safetensors'],
    prepare: prepareSeparate,
  },
  predict: {
    parts: ['model', 'spans'],
    files: ['separate.safetensors', 'span_predictor.json'],
    prepare: preparePredict,
  },
  judge: { parts: ['judge'], files: ['judge.safetensors'], prepare: prepareJudge },
}

/** Returns what a stage needs and the reference lacks. */
export function missingFor(stage: Stage, reference: Reference): string[] {
  return [
    ...stage.parts.filter((part) => !reference.parts[part]).map((part) => `the ${part} part`),
    ...stage.files.filter((file) => !reference.has(file)),
  ]
}

/** Runs a stage and frees its weights. */
export async function runStage(stage: Stage, reference: Reference): Promise<Comparison[]> {
  return withTidy(await stage.prepare(reference))
}
