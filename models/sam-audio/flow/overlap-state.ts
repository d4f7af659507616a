/**
 * Inpainting of an overlap: at every step the later chunk's flow takes the earlier chunk's states
 * in the frames that both have, so both render the overlap alike. (After RePaint, which inpaints
 * the known part of an image; A. Lugmayr et al., 2022.)
 */
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { OverlapState } from '../../model.ts'

/** The overlap state of the previous chunk, in frames of the later one. */
export interface PreviousOverlap {
  /** [steps + 1, frames, channels]: the earlier flow's state at each step and at its end. */
  states: Float32Array
  frames: number
  channels: number
  /** The frame of the later chunk at which these begin. */
  firstFrame: number
}

interface LaterChunk {
  /** Start of the later chunk in the mixture, in samples; a frame has `hop` of them. */
  startSample: number
  hop: number
  frames: number
  channels: number
  steps: number
}

/** @throws Error when the state is of frames that the chunk lacks, or of another number of steps */
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

/** `state` [1, frames, channels] with the previous chunk's frames of step `index`. */
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
