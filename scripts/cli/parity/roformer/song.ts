/** Whole songs, cut and joined as the reference does it (demix, one chunk at a time). */
import type { RoformerConfig } from '../../../../models/roformer/config.ts'
import type { Network } from '../../../../models/roformer/network/network.ts'
import { tf, type Tensor } from '../../../../models/tensor.ts'
import { joinStems } from '../join-stems.ts'

export interface LoadedRoformer {
  config: RoformerConfig
  network: Network
}

/** A window rises and falls over this share of a chunk: a tenth. */
const FADE_SHARE = 10

/** song [channels, samples] to [stems, channels, samples]. */
export function separateSong(song: Tensor, { network, config }: LoadedRoformer): Tensor {
  const chunk = config.chunkSamples
  const step = Math.floor(chunk / config.overlaps)
  const border = chunk - step
  const samples = song.shape[1]!
  return tf.tidy(() => {
    const isMirrored = samples > 2 * border && border > 0
    const edge = isMirrored ? border : 0
    const whole = isMirrored ? mirrored(song, border, border) : song
    const total = whole.shape[1]!
    const starts = Array.from({ length: Math.ceil(total / step) }, (_, i) => i * step)
    function* windows() {
      for (const start of starts) {
        const length = Math.min(chunk, total - start)
        const part = tf.slice(whole, [0, start], [-1, length])
        const stems = network.separate(filled(part, chunk).expandDims(0)).squeeze([0])
        const isLast = start + chunk >= total
        yield {
          start,
          stems: tf.slice(stems, [0, 0, 0], [-1, -1, length]),
          weights: fadesOf(chunk, start === 0, isLast).subarray(0, length),
        }
      }
    }
    const joined = joinStems(windows(), [config.stems.length, config.audioChannels, total])
    return tf.slice(joined, [0, 0, edge], [-1, -1, samples])
  })
}

const mirrored = (x: Tensor, before: number, after: number): Tensor =>
  tf.mirrorPad(
    x,
    [
      [0, 0],
      [before, after],
    ],
    'reflect',
  )

/** A short rest is mirrored on its right where it is long enough, else followed by zeros. */
function filled(part: Tensor, chunk: number): Tensor {
  const length = part.shape[1]!
  if (length === chunk) return part
  if (length > Math.floor(chunk / 2) + 1) return mirrored(part, 0, chunk - length)
  return tf.pad(part, [
    [0, 0],
    [0, chunk - length],
  ])
}

/** Ones, with a rise at the begin and a fall at the end. */
function fadesOf(chunk: number, isFirst: boolean, isLast: boolean): Float32Array {
  const fade = Math.floor(chunk / FADE_SHARE)
  return Float32Array.from({ length: chunk }, (_, i) => {
    if (i < fade && !isFirst) return i / (fade - 1)
    if (i >= chunk - fade && !isLast) return (chunk - 1 - i) / (fade - 1)
    return 1
  })
}
