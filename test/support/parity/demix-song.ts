/**
 * Separates whole songs, cut and joined like `demix` of ZFTurbo/Music-Source-Separation-Training,
 * one chunk at a time.
 */
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { joinStems } from './join-stems.ts'

/** Length of a chunk divided by the length of a fade. */
const FADE_SHARE = 10

interface Chunks {
  /** Length of each chunk in samples. */
  samples: number
  /** Number of chunks that start within one chunk's length. */
  overlaps: number
  /** A last chunk longer than this is mirrored at its end; a shorter one is padded with zeros. */
  mirroredBeyond: number
}

/**
 * Separates a song [channels, samples] into [stems, channels, samples].
 * @param separate turns a chunk [1, channels, samples] into [1, stems, channels, samples]
 */
export function demixSong(
  song: Tensor,
  { samples: chunk, overlaps, mirroredBeyond }: Chunks,
  stems: number,
  separate: (chunk: Tensor) => Tensor,
): Tensor {
  const step = Math.floor(chunk / overlaps)
  const border = chunk - step
  const [channels, samples] = song.shape as [number, number]
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
        const isLong = length > mirroredBeyond
        const answer = separate(filled(part, chunk, isLong).expandDims(0)).squeeze([0])
        const isLast = start + chunk >= total
        yield {
          start,
          stems: tf.slice(answer, [0, 0, 0], [-1, -1, length]),
          weights: fadesOf(chunk, start === 0, isLast).subarray(0, length),
        }
      }
    }
    const joined = joinStems(windows(), [stems, channels, total])
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

function filled(part: Tensor, chunk: number, isMirrored: boolean): Tensor {
  const length = part.shape[1]!
  if (length === chunk) return part
  if (isMirrored) return mirrored(part, 0, chunk - length)
  return tf.pad(part, [
    [0, 0],
    [0, chunk - length],
  ])
}

/**
 * Returns a window of ones that fades in unless it is the first, and fades out unless it is the
 * last.
 */
function fadesOf(chunk: number, isFirst: boolean, isLast: boolean): Float32Array {
  const fade = Math.floor(chunk / FADE_SHARE)
  return Float32Array.from({ length: chunk }, (_, i) => {
    if (i < fade && !isFirst) return i / (fade - 1)
    if (i >= chunk - fade && !isLast) return (chunk - 1 - i) / (fade - 1)
    return 1
  })
}
