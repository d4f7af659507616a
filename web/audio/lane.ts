/** The lanes of a mixer: what they are, how they sound, and how they are set. */

import { signal, type Signal } from '@preact/signals'
import type { Finding } from '../state/chip.ts'
import type { OutputPlace } from '../state/draft.ts'

export type LaneKind = 'mixture' | 'target' | 'residual'

export interface Lane {
  kind: LaneKind
  label: string
  sound: Signal<LaneSound>
  /** The service's file, if there is one. */
  output: Output | null
  /** The finding about a target, if its model reports one. */
  finding?: Finding | undefined
  gainDb: Signal<number>
  isMuted: Signal<boolean>
  isSolo: Signal<boolean>
}

/** The sound of a lane, as far as it is separated. */
export interface LaneSound {
  /** Peaks to draw, one array for each channel. */
  drawn: readonly Float32Array[]
  /** Its largest sample at the level of the outputs, and its loudness, both as amplitudes. */
  peak: number
  loudness: number
}

/** An output of a request on the service. */
export interface Output {
  url: string
  name: string
  /** Its name in a submission. */
  place: OutputPlace
}

/** Makes a lane at its own level. */
export const createLane = (
  fields: Pick<Lane, 'kind' | 'label' | 'output' | 'finding'>,
  sound: LaneSound,
): Lane => ({
  ...fields,
  sound: signal(sound),
  gainDb: signal(0),
  isMuted: signal(false),
  isSolo: signal(false),
})
