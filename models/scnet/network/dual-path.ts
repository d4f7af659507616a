/** Recurrent layers along bins and frames, and the Fourier transform of frames between them. */
import { compiled } from '../../graph/compiled.ts'
import { loadLinear } from '../../layers/layers.ts'
import { loadGroupNorm } from '../../layers/norms.ts'
import { multiply, tf, transpose, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { ScnetConfig } from '../config.ts'
import { loadLstm } from './lstm.ts'

/** Permutations of [batch, bins, frames, channels] for the path along each axis, and back. */
const PATHS = [
  { order: [1, 0, 2, 3], back: [1, 0, 2, 3] }, // along bins: [bins, batch, frames, channels]
  { order: [2, 0, 1, 3], back: [1, 2, 0, 3] }, // along frames: [frames, batch, bins, channels]
] as const

/** Loads both paths of a pair, which keep the shape of x [batch, bins, frames, dim]. */
export function loadDualPath(weights: Weights, dim: number, { expansion }: ScnetConfig) {
  const paths = PATHS.map((_, i) => loadPath(weights, i, dim, dim * expansion))
  const forward = (x: Tensor): Tensor =>
    tf.tidy(() => paths.reduce((y, path) => path.forward(y), x.clone()))
  return { paths, forward }
}

function loadPath(weights: Weights, index: number, dim: number, hidden: number) {
  const { order, back } = PATHS[index]!
  const norm = loadGroupNorm(weights.at('norm_layers').at(index), dim, [1, 2, 3])
  const lstm = loadLstm(weights.at('lstm_layers').at(index), dim, hidden)
  const linear = loadLinear(weights.at('linear_layers').at(index), 2 * hidden, dim)
  const begin = compiled((x: Tensor): Tensor =>
    tf.tidy(() => {
      const ordered = transpose(norm(x), order)
      return ordered.reshape([ordered.shape[0]!, -1, dim])
    }),
  )
  const end = compiled((x: Tensor, recurrent: Tensor): Tensor =>
    tf.tidy(() => {
      const sizes = order.slice(0, 3).map((axis) => x.shape[axis]!)
      return x.add(transpose(linear(recurrent).reshape([...sizes, dim]), back))
    }),
  )
  /** Returns the output of the recurrent layer, [steps, rows, 2 · hidden]. */
  const recur = (x: Tensor): Tensor => tf.tidy(() => lstm(begin(x)))
  const forward = (x: Tensor): Tensor => tf.tidy(() => end(x, recur(x)))
  return { recur, forward }
}

/**
 * Takes the Fourier transform along frames: x [batch, bins, frames, dim] to [batch, bins, frames /
 * 2 + 1, 2 · dim], all real parts before all imaginary ones.
 */
export const toFrequencies = compiled((x: Tensor): Tensor =>
  tf.tidy(() => {
    const [batch, bins, frames, dim] = x.shape as [number, number, number, number]
    const byFrame = transpose(x, [2, 0, 1, 3]).reshape([frames, -1])
    const parts = multiply(transformTable(frames), byFrame)
    const split = parts.reshape([2, frames / 2 + 1, batch, bins, dim])
    return transpose(split, [2, 3, 1, 0, 4]).reshape([batch, bins, frames / 2 + 1, 2 * dim])
  }),
)

/** Inverts it; the imaginary parts of the first and the last frequency have no effect. */
export const toFrames = compiled((x: Tensor): Tensor =>
  tf.tidy(() => {
    const [batch, bins, frequencies, twice] = x.shape as [number, number, number, number]
    const frames = 2 * (frequencies - 1)
    const split = x.reshape([batch, bins, frequencies, 2, twice / 2])
    const parts = transpose(split, [3, 2, 0, 1, 4]).reshape([2 * frequencies, -1])
    const waves = multiply(inverseTable(frames), parts).reshape([frames, batch, bins, -1])
    return transpose(waves, [1, 2, 0, 3])
  }),
)

/**
 * Returns [2 · frequencies, frames]: real parts, then imaginary ones. No library has such lengths.
 */
function transformTable(frames: number): Tensor {
  return tableOf(frames, (turn) => [Math.cos(turn), -Math.sin(turn)])
}

/** Returns [frames, 2 · frequencies]. */
function inverseTable(frames: number): Tensor {
  return tf.tidy(() => {
    const weighted = tableOf(frames, (turn, frequency) => {
      const isEdge = frequency === 0 || frequency === frames / 2
      return isEdge ? [Math.cos(turn), 0] : [2 * Math.cos(turn), -2 * Math.sin(turn)]
    })
    return transpose(weighted, [1, 0])
  })
}

/** @param partsOf returns real and imaginary part for an angle in radians */
function tableOf(
  frames: number,
  partsOf: (turn: number, frequency: number) => readonly [number, number],
): Tensor {
  const frequencies = frames / 2 + 1
  const table = new Float32Array(2 * frequencies * frames)
  const scale = 1 / Math.sqrt(frames)
  for (let frequency = 0; frequency < frequencies; frequency += 1) {
    for (let frame = 0; frame < frames; frame += 1) {
      const turn = (2 * Math.PI * ((frequency * frame) % frames)) / frames
      const [real, imaginary] = partsOf(turn, frequency)
      table[frequency * frames + frame] = scale * real
      table[(frequencies + frequency) * frames + frame] = scale * imaginary
    }
  }
  return tf.tensor2d(table, [2 * frequencies, frames])
}
