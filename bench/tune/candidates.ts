/** Defines the settings that a search may change, and their levels. */

import { PRECISIONS } from '../../models/tensorflow/precision.ts'
import type { Line } from '../statistics/fit.ts'

/** Values of settings, by the names of their environment variables. */
export type Candidate = Readonly<Record<string, string>>

export interface Knob {
  name: string
  /** Sorted, so that a search can move to a neighbour. */
  levels: readonly string[]
  /** The service's default. */
  default: string
}

export interface Machine {
  cores: number
  device: 'cpu' | 'gpu'
  /** Frames of the model's longest chunk. */
  chunkFrames: number
  /** Memory of a batch by its frames, and the bytes available; absent if not measured. */
  memory?: { bytes: Line; available: number }
}

/** Share of the available memory that a batch may be predicted to take. */
const MEMORY_SHARE = 0.8
const CHUNKS_OF_BATCH = [1, 2, 4, 8, 16, 32]
const BATCH_FRAMES_DEFAULT = 4_096

/**
 * Returns the knobs that matter on this machine, each with at least two levels. Those that usually
 * gain most come first, for a search that runs out of time.
 */
export function knobsFor(machine: Machine): Knob[] {
  const { cores, device } = machine
  const threads: Knob = {
    name: 'TF_NUM_INTRAOP_THREADS',
    levels: powersUpTo(cores).map(String),
    default: String(cores),
  }
  const knobs: Knob[] = [
    { name: 'PRECISION', levels: PRECISIONS, default: 'float32' },
    ...(device === 'cpu' ? [threads] : []),
    {
      name: 'BATCH_FRAMES_MAX',
      levels: batchLevels(machine),
      default: String(BATCH_FRAMES_DEFAULT),
    },
    { name: 'JOBS_MAX', levels: ['2', '4', '8', '16', '32'], default: '32' },
    { name: 'CHUNKS_IN_FLIGHT_MAX', levels: ['1', '2', '4', '8'], default: '2' },
  ]
  return knobs.filter(({ levels }) => levels.length > 1)
}

/** Returns the settings of a service by default. */
export const defaultsOf = (knobs: readonly Knob[]): Candidate =>
  Object.fromEntries(knobs.map((knob) => [knob.name, knob.default]))

/** Describes how a candidate differs from the defaults. */
export function candidateName(candidate: Candidate, defaults: Candidate): string {
  const changed = Object.entries(candidate).filter(([name, value]) => defaults[name] !== value)
  return changed.map(([name, value]) => `${name}=${value}`).join(' ') || 'defaults'
}

/** Returns a key that is equal for equal settings. */
export const keyOf = (candidate: Candidate): string =>
  JSON.stringify(Object.entries(candidate).sort(([a], [b]) => (a < b ? -1 : 1)))

function batchLevels({ chunkFrames, memory }: Machine): string[] {
  const fits = (frames: number) =>
    !memory ||
    memory.bytes.intercept + memory.bytes.slope * frames <= MEMORY_SHARE * memory.available
  const levels = CHUNKS_OF_BATCH.map((chunks) => chunks * chunkFrames).filter(fits)
  // The default stays, because everything is compared with it; levels close to it would add
  // nothing.
  const apart = levels.filter((frames) => Math.abs(Math.log2(frames / BATCH_FRAMES_DEFAULT)) > 0.5)
  return [...apart, BATCH_FRAMES_DEFAULT].sort((a, b) => a - b).map(String)
}

function powersUpTo(most: number): number[] {
  const powers: number[] = []
  for (let power = 1; power < most; power *= 2) powers.push(power)
  return [...powers, most]
}
