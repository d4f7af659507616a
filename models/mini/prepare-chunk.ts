/** Prepares a chunk for its lanes. It needs no TensorFlow, so it can run on another thread. */
import { CHANNELS_MAX, type Chunk } from '../model.ts'
import { highPass } from './high-pass.ts'

/** Hertz. A window lasts 64 ms at every rate, and a chunk is extended to at least one window. */
const SAMPLE_RATE_MAX = 768_000

/** A view this much weaker than the other (30 dB, as power) has no sound of its own. */
const EMPTY = 1e-3

/** Half the sum of two channels, and half their difference. */
export type View = 'middle' | 'side'

/** A chunk without inaudible low frequencies, [channels][samples]. */
export interface MiniChunk extends Chunk {
  prepared: {
    /** The views of two channels. For any other number of channels the network reads their mean. */
    views: readonly View[] | null
    /** Sum of the squared samples. */
    energy: number
  }
}

/** @throws Error if the model cannot take such a chunk */
export function prepareChunk(chunk: Chunk): MiniChunk {
  checkChunk(chunk)
  const { channels: filtered, sampleRate } = highPass(chunk)
  const [left, right, ...others] = filtered
  const views = left && right && others.length === 0 ? viewsOf([left, right]) : null
  return { channels: filtered, sampleRate, prepared: { views, energy: energyOf(filtered) } }
}

/** Returns the views that contain sound, for two channels of the same length. */
export function viewsOf([left, right]: readonly [Float32Array, Float32Array]): readonly View[] {
  const powers = { middle: 0, side: 0 }
  for (let i = 0; i < left.length; i += 1) {
    const [one, other] = [left[i]!, right[i]!]
    powers.middle += (one + other) ** 2
    powers.side += (one - other) ** 2
  }
  if (powers.side <= EMPTY * powers.middle) return ['middle']
  return powers.middle > EMPTY * powers.side ? ['middle', 'side'] : ['side']
}

function energyOf(channels: readonly Float32Array[]): number {
  let energy = 0
  for (const wave of channels) {
    for (let i = 0; i < wave.length; i += 1) energy += wave[i]! ** 2
  }
  return energy
}

function checkChunk({ channels, sampleRate }: Chunk): void {
  const [first] = channels
  if (!first || channels.length > CHANNELS_MAX) {
    throw new Error(`A chunk has 1 to ${CHANNELS_MAX} channels, not ${channels.length}`)
  }
  if (first.length === 0) throw new Error('A chunk has at least one sample')
  if (channels.some(({ length }) => length !== first.length)) {
    throw new Error('The channels of a chunk have one length')
  }
  if (!(sampleRate > 0 && sampleRate <= SAMPLE_RATE_MAX)) {
    throw new Error(
      `A sample rate is a positive number of hertz up to ${SAMPLE_RATE_MAX}, not ${sampleRate}`,
    )
  }
}
