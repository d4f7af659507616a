/** Combines two tracks of one channel, the microphones of a camera, into one mixture with two. */

import type { Mixture } from './mixture.ts'

/** As in a WAV header: front left and front right. */
const STEREO_MASK = 3n

/** Two tracks with one channel each and the same sample rate. */
type Pair = readonly [Mixture, Mixture]

/** Closing the result closes both. */
export function pairMixtures(pair: Pair): Mixture {
  return joined(pair, { channels: 2, channelMask: STEREO_MASK }, (left, right) => [left, right])
}

/** Like `pairMixtures`, but mixed to one channel, the mean of both. */
export function mixChannels(pair: Pair): Mixture {
  const form = { channels: 1, channelMask: pair[0].channelMask }
  return joined(pair, form, (left, right) => [left.map((x, i) => (x + right[i]!) / 2)])
}

type Combine = (left: Float32Array, right: Float32Array) => Float32Array[]

function joined(
  [left, right]: Pair,
  form: Pick<Mixture, 'channels' | 'channelMask'>,
  combine: Combine,
): Mixture {
  return {
    ...left,
    ...form,
    sourceChannels: 2,
    get corruptPackets() {
      return left.corruptPackets + right.corruptPackets
    },
    get remarks() {
      return [...new Set([...left.remarks, ...right.remarks])]
    },
    blocks: () => joinedBlocks([left, right], combine),
    close: async () => {
      await left.close()
      await right.close()
    },
  }
}

/**
 * Yields the blocks of both tracks, combined. All blocks of a track but the last have the same
 * length. The track that ends first is padded with silence.
 */
async function* joinedBlocks(pair: Pair, combine: Combine): AsyncGenerator<Float32Array[]> {
  const [lefts, rights] = [pair[0].blocks(), pair[1].blocks()]
  for (;;) {
    const left = (await lefts.next()).value?.[0]
    const right = (await rights.next()).value?.[0]
    const samples = Math.max(left?.length ?? 0, right?.length ?? 0)
    if (samples === 0) return
    yield combine(padBlock(left, samples), padBlock(right, samples))
  }
}

function padBlock(block: Float32Array | undefined, samples: number): Float32Array {
  if (block?.length === samples) return block
  const whole = new Float32Array(samples)
  if (block) whole.set(block)
  return whole
}
