/**
 * Inpaints overlaps: at every step, the flow of the later chunk takes over the states of the
 * earlier chunk in the frames that both share, so both render the overlap the same. (After RePaint,
 * which inpaints the known part of an image; A. Lugmayr et al., 2022.)
 */
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { OverlapState } from '../../model.ts'

/** The overlap state of the previous chunk, in frames of the later one. */
export interface PreviousOverlap {
  /** [steps + 1, frames, channels]: the state of the earlier flow at each step and at its end. */
  states: Float32Array
  frames: number
  channels: number
  /** The frame of the later chunk at which these states start. */
  firstFrame: number
}

interface LaterChunk {
  /** Start of the later chunk in the mixture, in samples; a frame has `hop` samples. */
  startSample: number
  hop: number
  frames: number
  channels: number
  steps: number
}

/** @throws Error if the state has frames outside the chunk, or another number of steps */
export function previousOverlap(
  { startSample: overlapStart, states }: OverlapState,
  chunk: LaterChunk,
): PreviousOverlap {
  const { startSample, hop, frames: framesMax, channels, steps } = chunk
  const frames = states.length / (channels * (steps + 1))
  const firstFrame = (overlapStart - startSample) / hop
  const fits =
    Number.isInteger(frames) &&
    Number.isInteger(firstFrame) &&
    firstFrame >= 0 &&
    firstFrame + frames <= framesMax
  if (!fits) throw new Error('The trail is not of a chunk before this one')
  return { states, frames, channels, firstFrame }
}

/**
 * Returns `state` [1, frames, channels] with the previous chunk's frames of step `index` put in.
 */
export function inpaintOverlap(state: Tensor, previous: PreviousOverlap, index: number): Tensor {
  const { states, frames, channels, firstFrame } = previous
  const size = frames * channels
  const end = firstFrame + frames
  return tf.tidy(() =>
    tf.concat(
      [
        tf.slice(state, [0, 0, 0], [1, firstFrame, channels]),
        tf.tensor3d(states.subarray(index * size, (index + 1) * size), [1, frames, channels]),
        tf.slice(state, [0, end, 0], [1, state.shape[1]! - end, channels]),
      ],
      1,
    ),
  )
}
