/** Whole songs, cut and joined as the reference does it. */
import type { BanditConfig } from '../../../../models/bandit/config.ts'
import type { Network } from '../../../../models/bandit/network/network.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { joinStems } from '../join-stems.ts'

export interface LoadedBandit {
  config: BanditConfig
  network: Network
}

/** Seconds of a chunk in sets of tiny networks, and from one chunk to the next. */
const CHUNK_SECONDS = 0.5
const HOP_SECONDS = 0.125

/** song [channels, samples] to [stems, channels, samples]: each channel by itself. */
export function separateSong(song: Tensor, { network, config }: LoadedBandit): Tensor {
  const [channels, samples] = song.shape as [number, number]
  const chunk = CHUNK_SECONDS * config.sampleRate
  const hop = HOP_SECONDS * config.sampleRate
  const edge = 2 * (chunk - hop)
  return tf.tidy(() => {
    const whole = mirrored(song, edge)
    const starts = Array.from({ length: Math.ceil((edge + samples) / hop) }, (_, i) => i * hop)
    function* windows() {
      for (const start of starts) {
        const rows = tf.slice(whole, [0, start], [-1, chunk]).expandDims(1)
        const stems = tf.transpose(network.separate(rows).squeeze([2]), [1, 0, 2])
        yield { start, stems, weights: hannOf(chunk) }
      }
    }
    const joined = joinStems(windows(), [config.stems.length, channels, whole.shape[1]!])
    return tf.slice(joined, [0, 0, edge], [-1, -1, samples])
  })
}

/** Mirrored at both ends as far as there is anything to mirror, then zeros. */
function mirrored(song: Tensor, edge: number): Tensor {
  const near = Math.min(edge, song.shape[1]! - 1)
  const paddings = (count: number): [number, number][] => [
    [0, 0],
    [count, count],
  ]
  return tf.pad(tf.mirrorPad(song, paddings(near), 'reflect'), paddings(edge - near))
}

/** A periodic Hann window. */
const hannOf = (length: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / length))
