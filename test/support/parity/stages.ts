/** SAM-Audio's comparisons with its reference, in the order of the computation. */
import type { Stage } from './golden-folder.ts'
import type { Reference } from './reference.ts'
import { compareAnchors } from './stages/anchors.ts'
import { compareDecode } from './stages/decode.ts'
import { compareEncode } from './stages/encode.ts'
import { compareJudge } from './stages/judge.ts'
import { comparePredict } from './stages/predict.ts'
import { compareSeparate } from './stages/separate.ts'
import { compareSpans } from './stages/spans.ts'
import { compareT5 } from './stages/t5.ts'
import { compareTokens } from './stages/tokens.ts'
import { compareVelocity } from './stages/velocity.ts'

export const SAM_AUDIO_STAGES: Readonly<Record<string, Stage<Reference>>> = {
  tokens: { parts: ['text'], files: ['tokenization.json'], run: compareTokens },
  t5: { parts: ['text'], files: ['t5.safetensors', 't5_buckets.json'], run: compareT5 },
  anchors: { files: ['processor.json'], run: compareAnchors },
  spans: {
    parts: ['spans'],
    files: ['span_predictor.safetensors', 'span_predictor.json'],
    run: compareSpans,
  },
  encode: { parts: ['model'], files: ['codec_encode.safetensors'], run: compareEncode },
  decode: { parts: ['model'], files: ['codec_decode.safetensors'], run: compareDecode },
  velocity: { parts: ['model'], files: ['dit_forward.safetensors'], run: compareVelocity },
  separate: {
    parts: ['model', 'text'],
    files: ['separate.safetensors', 'separate_alone.safetensors'],
    run: compareSeparate,
  },
  predict: {
    parts: ['model', 'spans'],
    files: ['separate.safetensors', 'span_predictor.json'],
    run: comparePredict,
  },
  judge: { parts: ['judge'], files: ['judge.safetensors'], run: compareJudge },
}
