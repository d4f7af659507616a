/** Prepares a chunk for its lanes. Needs no TensorFlow, so it can run on another thread. */
import { CHANNELS_MAX, type Chunk } from '../model.ts'
import { highPass } from './high-pass.ts'

/** Hertz. A window is 64 ms at every rate, and as long as that the shortest chunk is made. */
const SAMPLE_RATE_MAX = 768_000

/** A view this much weaker than the other holds no sound of its own: 30 dB, as power. */
const EMPTY = 1e-3

/** Half the sum of two channels, and half their difference. */
export type View = 'middle' | 'side'

/** A chunk without what lies below hearing, [channels][samples]. */
export interface MiniChunk extends Chunk {
  prepared: {
    /** Views of two channels; of any other number the network reads the mean. */
    views: readonly View[] | null
    /** The sum of all squares. */
    energy: number
  }
}

/** @throws Error when it is not a chunk that the model takes */
export function prepareChunk(chunk: Chunk): MiniChunk {
  checkChunk(chunk)
  const { channels: filtered, sampleRate } = highPass(chunk)
  const [left, right, ...others] = filtered
  const views = left && right && others.length === 0 ? viewsOf([left, right]) : null
  return { channels: filtered, sampleRate, prepared: { views, energy: energyOf(filtered) } }
}

/** Returns the views that hold sounds, of two channels of one length. */
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
