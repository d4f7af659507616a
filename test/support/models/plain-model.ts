import type { ModelDescription } from '../../../models/model.ts'

/** Describes a model that takes one channel at any rate. */
export const PLAIN_MODEL: ModelDescription = {
  name: 'test',
  summary: '',
  answers: 'text',
  stems: [],
  framesPerSecond: 1,
  framesOnCpu: 4_096,
  sampleRate: null,
  frameSamples: 1,
  fixedChunks: null,
  joining: { kind: 'seam' },
  chunkSecondsMax: 10,
  overlapSecondsMax: { fast: 0, balanced: 0, quality: 0 },
  passes: { fast: '', balanced: '', quality: '' },
  needsPreviousChunk: false,
  givesCandidates: false,
  predictsSpans: false,
  precision: 'float32',
  parameters: 0,
  weightsSha256: '',
}
