/**
 * Short-time Fourier transform with a periodic Hann window or none, like torch.stft with centred
 * frames and mirrored ends. Each block of one hop belongs to as many frames as hops fit a window,
 * so reshapes, slices and sums suffice.
 */
import type { Binding } from '../tensorflow/binding.ts'
import { windowLength, type Framing } from './framing.ts'
import { LruCache } from '../lru-cache.ts'
import {
  irfft,
  multiply,
  native,
  pad,
  rfft,
  tf,
  transpose,
  unstackRows,
  type Tensor,
} from '../tensorflow/tensor.ts'

/**
 * Transforms wave [rows, samples] to complex [rows, frames, window / 2 + 1]. The signal must be
 * longer than half a window, because mirroring takes samples from it.
 */
export function stft(wave: Tensor, framing: Framing): Tensor {
  const { hop, frames, shift, window, hops } = sizesOf(framing)
  const samples = wave.shape[1]!
  const left = window / 2 + shift
  const right = (frames - 1) * hop + window - left - samples
  return tf.tidy(() => {
    const mirrored = tf.mirrorPad(
      wave,
      [
        [0, 0],
        [left, right],
      ],
      'reflect',
    )
    const beyond = hops * hop - window // the part of the last hop that no window reaches
    return spectraOf(beyond > 0 ? pad(mirrored, { 1: [0, beyond] }) : mirrored, framing)
  })
}

/**
 * Transforms a wave whose ends are already mirrored: padded [rows, (frames + hops - 1) · hop] to
 * complex [rows, frames, window / 2 + 1], where `hops` is how many hops fit a window.
 * @param isFrame [rows or 1, frames, 1], 1 or 0: padding frames are silenced
 */
export function spectraOf(padded: Tensor, framing: Framing, isFrame?: Tensor): Tensor {
  const { hop, frames, window, hops } = sizesOf(framing)
  const rows = padded.shape[0]!
  return tf.tidy(() => {
    const grid = padded.reshape([rows, frames + hops - 1, hop])
    const parts = Array.from({ length: hops }, (_, i) =>
      tf.slice(grid, [0, i, 0], [rows, frames, hop]),
    )
    const whole = tf.concat(parts, -1) // [rows, frames, hops · hop]
    const framed = hops * hop > window ? tf.slice(whole, [0, 0, 0], [-1, -1, window]) : whole
    const taper = taperOf(framing)
    return rfft(framed.mul(isFrame ? taper.mul(isFrame) : taper), window)
  })
}

/** Far below any weight; prevents division by 0. */
const TINY = 1e-30

/**
 * The least-squares inverse, like torch.istft: complex [rows, frames, bins] to [rows, samples].
 * @param isFrame as for `spectraOf`; samples that no frame reaches are 0
 */
export function istft(
  spectrum: Tensor,
  framing: Framing,
  samples: number,
  isFrame?: Tensor,
): Tensor {
  const { hop, shift, window } = sizesOf(framing)
  return tf.tidy(() => {
    const framed = irfft(spectrum, window).mul(taperOf(framing)) // [rows, frames, window]
    const start = window / 2 + shift
    const cut = (x: Tensor) => tf.slice(x, [0, start], [-1, samples])
    const [sum, weight] = [overlapAdd(framed, hop), weightOf(framing, isFrame)]
    return cut(sum).div(cut(weight).add(TINY)) // [rows, samples]
  })
}

/** The sum of the squared windows over each sample, [rows or 1, (frames + hops - 1) · hop]. */
function weightOf(framing: Framing, isFrame?: Tensor): Tensor {
  const { hop, frames, window, hops } = sizesOf(framing)
  return tf.tidy(() => {
    const squares = pad(taperOf(framing).square(), { 0: [0, hops * hop - window] })
    const counts = isFrame ?? tf.ones([1, frames, 1])
    // [rows or 1, blocks, 1], by which part of a window covers a block
    const shifted = Array.from({ length: hops }, (_, i) => pad(counts, { 1: [i, hops - 1 - i] }))
    const byBlock = multiply(tf.concat(shifted, 2), squares.reshape([hops, hop]))
    return byBlock.reshape([counts.shape[0]!, -1])
  })
}

/**
 * Interleaves the real and imaginary parts of the channels: complex [batch · channels, frames,
 * bins] to [batch, frames, bins, channels · 2].
 */
export function interleaveChannels(spectrum: Tensor, channels: number): Tensor {
  return tf.tidy(() => {
    const [rows, frames, bins] = spectrum.shape as [number, number, number]
    const parts = tf.stack([tf.real(spectrum), tf.imag(spectrum)], -1) // [rows, frames, bins, 2]
    const byRow = parts.reshape([rows / channels, channels, frames, bins, 2])
    return transpose(byRow, [0, 2, 3, 1, 4]).reshape([rows / channels, frames, bins, channels * 2])
  })
}

/** The inverse of `interleaveChannels`, with separate real and imaginary parts. */
export function separateChannels(parts: Tensor): [real: Tensor, imaginary: Tensor] {
  return tf.tidy(() => {
    const [batch, frames, bins, numbers] = parts.shape as [number, number, number, number]
    const channels = numbers / 2
    const byBin = parts.reshape([batch, frames, bins, channels, 2])
    const byPart = transpose(byBin, [4, 0, 3, 1, 2])
    return unstackRows(byPart.reshape([2, batch * channels, frames, bins])) as [Tensor, Tensor]
  })
}

/** `hops` is how many hops fit a window. */
function sizesOf({ hop, frames, shift, window = windowLength(hop) }: Framing) {
  return { hop, frames, shift, window, hops: Math.ceil(window / hop) }
}

/** Overlap-adds framed [rows, frames, window] to [rows, (frames + hops - 1) · hop]. */
function overlapAdd(framed: Tensor, hop: number): Tensor {
  return tf.tidy(() => {
    const [rows, frames, window] = framed.shape as [number, number, number]
    const last = Math.ceil(window / hop) - 1
    const shifted = Array.from({ length: last + 1 }, (_, i) => {
      const length = Math.min(hop, window - i * hop)
      const part = tf.slice(framed, [0, 0, i * hop], [rows, frames, length])
      return pad(part, { 1: [i, last - i], 2: [0, hop - length] }) // [rows, frames + last, hop]
    })
    return tf.addN(shifted).reshape([rows, (frames + last) * hop])
  })
}

/** There are few: one for each sample rate and pass. */
const WINDOWS_KEPT = 16
/** By binding, because tensors of a binding that only computes shapes are of no use elsewhere. */
const windows = new WeakMap<Binding, LruCache<Tensor>>()

/**
 * The taper [window], cached on the device. Each graph has its own copy, because constants are part
 * of a graph.
 */
function taperOf(framing: Framing): Tensor {
  const { window: length } = sizesOf(framing)
  const { taper = 'hann' } = framing
  const angle = (2 * Math.PI) / length
  const valueAt = (i: number) => (taper === 'none' ? 1 : 0.5 - 0.5 * Math.cos(angle * i))
  const numbers = () => Float32Array.from({ length }, (_, i) => valueAt(i))
  if (native.binding.isRecording) return tf.tensor1d(numbers())
  return windowsOf(native.binding).get(`${taper} ${length}`, () => tf.keep(tf.tensor1d(numbers())))
}

function windowsOf(binding: Binding): LruCache<Tensor> {
  const cache =
    windows.get(binding) ?? new LruCache<Tensor>(WINDOWS_KEPT, (window) => window.dispose())
  windows.set(binding, cache)
  return cache
}
