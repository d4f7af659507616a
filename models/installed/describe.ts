/** Describes installed models: the parts that all have in common. */
import { createHash } from 'node:crypto'
import type { ModelDescription } from '../model.ts'
import type { ModelRecord } from './record.ts'

type ModelFacts = Pick<
  ModelDescription,
  | 'summary'
  | 'answers'
  | 'stems'
  | 'framesPerSecond'
  | 'framesOnProcessor'
  | 'chunkSecondsMax'
  | 'fixedChunks'
  | 'joining'
  | 'parameters'
  | 'needsLevels'
> & { sampleRate: number; overlapSecondsMax?: number }

/** One pass at every acceleration; its weights are named by the files that they came from. */
export function describeInstalled(
  { name, sources }: ModelRecord,
  { overlapSecondsMax: overlap = 0, ...told }: ModelFacts,
): ModelDescription {
  const pass = 'one pass'
  return {
    ...told,
    name,
    frameSamples: 1,
    overlapSecondsMax: { fast: overlap, balanced: overlap, quality: overlap },
    passes: { fast: pass, balanced: pass, quality: pass },
    needsPreviousChunk: false,
    givesCandidates: false,
    predictsSpans: false,
    precision: 'float32',
    weightsSha256: weightsSha256Of(sources.map(({ sha256 }) => sha256)),
  }
}

/** One file's own; for several that of their list. */
function weightsSha256Of(sums: readonly string[]): string {
  if (sums.length === 1) return sums[0]!
  return createHash('sha256').update(sums.join('\n')).digest('hex')
}
