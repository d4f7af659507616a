/** Describes installed models, as far as all of them have it in common. */
import { createHash } from 'node:crypto'
import type { ModelDescription } from '../model.ts'
import type { ModelRecord } from './record.ts'

type InstalledTraits = Pick<
  ModelDescription,
  | 'summary'
  | 'answers'
  | 'stems'
  | 'framesPerSecond'
  | 'framesOnCpu'
  | 'chunkSecondsMax'
  | 'fixedChunks'
  | 'joining'
  | 'parameters'
  | 'needsLevels'
> & { sampleRate: number; overlapSecondsMax?: number }

/**
 * Describes a model that takes one pass at every acceleration. Its weights are identified by the
 * files they came from.
 */
export function describeInstalled(
  { name, sources }: ModelRecord,
  { overlapSecondsMax: overlap = 0, ...traits }: InstalledTraits,
): ModelDescription {
  const pass = 'one pass'
  return {
    ...traits,
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

/** Returns the checksum of a single file, or that of the list of checksums of several. */
function weightsSha256Of(sums: readonly string[]): string {
  if (sums.length === 1) return sums[0]!
  return createHash('sha256').update(sums.join('\n')).digest('hex')
}
