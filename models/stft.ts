/**
 * Short-time Fourier transform with a periodic Hann window four hops long, as torch.stft does it:
 * centred frames, the signal's ends mirrored. The window's length is 4 · hop for every hop, so one
 * block of a hop's samples belongs to four frames and everything is reshapes, slices and sums.
 */
import type { Binding } from './binding.ts'
import { LruCache } from './lru-cache.ts'
import { irfft, native, pad, rfft, tf, type Tensor } from './tensor.ts'

const HOPS_PER_WINDOW = 4

/** Where the frames lie: frame i is centred on sample i · hop - shift. */
export interface Framing {
  /** Samples. */
  hop: number
  frames: number
  /** Samples, from -2 · hop to less than 2 · hop. */
  shift: number
}

export const windowLength = (hop: number): number => HOPS_PER_WINDOW * hop

/** Frames that cover the signal; with no shift it is torch.stft's number. */
export function frameCount(samples: number, hop: number, shift: number): number {
  return 1 + Math.floor((samples + shift) / hop)
}

/**
 * wave [rows, samples] to complex [rows, frames, 2 · hop + 1].
 * The signal must have at least a window's length, since mirroring takes samples from inside it.
 */
export function stft(wave: Tensor, { hop, frames, shift }: Framing): Tensor {
  const [rows, samples] = wave.shape as [number, number]
  const blocks = frames + HOPS_PER_WINDOW - 1
  const left = 2 * hop + shift
  const right = blocks * hop - left - samples
  return tf.tidy(() => {
    const padded = tf.mirrorPad(
      wave,
      [
        [0, 0],
        [left, right],
      ],
      'reflect',
    )
    const grid = padded.reshape([rows, blocks, hop])
    const quarters = Array.from({ length: HOPS_PER_WINDOW }, (_, i) =>
      tf.slice(grid, [0, i, 0], [rows, frames, hop]),
    )
    const framed = tf.concat(quarters, -1) // [rows, frames, 4 · hop]
    return rfft(framed.mul(hannWindow(hop)), windowLength(hop)) // [rows, frames, 2 · hop + 1]
  })
}

/** The least-squares inverse, as torch.istft: complex [rows, frames, bins] to [rows, samples]. */
export function istft(spectrum: Tensor, { hop, frames, shift }: Framing, samples: number): Tensor {
  return tf.tidy(() => {
    const window = hannWindow(hop)
    const framed = irfft(spectrum, windowLength(hop)).mul(window) // [rows, frames, 4 · hop]
    const weight = tf.tile(window.square().reshape([1, 1, -1]), [1, frames, 1])
    const start = 2 * hop + shift
    const cut = (x: Tensor) => tf.slice(x, [0, start], [-1, samples])
    return cut(overlapAdd(framed, hop)).div(cut(overlapAdd(weight, hop))) // [rows, samples]
  })
}

/** framed [rows, frames, 4 · hop] to the sum where frames lie: [rows, (frames + 3) · hop]. */
function overlapAdd(framed: Tensor, hop: number): Tensor {
  return tf.tidy(() => {
    const [rows, frames] = framed.shape as [number, number]
    const last = HOPS_PER_WINDOW - 1
    const shifted = Array.from({ length: HOPS_PER_WINDOW }, (_, i) => {
      const quarter = tf.slice(framed, [0, 0, i * hop], [rows, frames, hop])
      return pad(quarter, [
        [0, 0],
        [i, last - i],
        [0, 0],
      ]) // [rows, frames + 3, hop]
    })
    return tf.addN(shifted).reshape([rows, (frames + last) * hop])
  })
}

/** Hops are few: one for each sample rate and pass. */
const WINDOWS_KEPT = 16
/** By what computes with them: one without numbers serves no other. */
const windows = new WeakMap<Binding, LruCache<Tensor>>()

/** [4 · hop], held on the device. */
function hannWindow(hop: number): Tensor {
  const length = windowLength(hop)
  const angle = (2 * Math.PI) / length
  const numbers = () => Float32Array.from({ length }, (_, i) => 0.5 - 0.5 * Math.cos(angle * i))
  return windowsOf(native.binding).get(String(hop), () => tf.keep(tf.tensor1d(numbers())))
}

function windowsOf(binding: Binding): LruCache<Tensor> {
  const held =
    windows.get(binding) ?? new LruCache<Tensor>(WINDOWS_KEPT, (window) => window.dispose())
  windows.set(binding, held)
  return held
}
