/**
 * How chunks that overlap render their overlap alike: the flow of the later one is put, at every
 * step, where that of the earlier one was in the frames that both have, so it runs on from there.
 * (RePaint does so for the known part of an image; A. Lugmayr et al., 2022.)
 */
import { tf, type Tensor } from '../../tensor.ts'
import type { OverlapState } from '../../model.ts'

/** A trail as the chunk that follows it sees it. */
export interface Leader {
  /** [steps + 1, frames, channels]: where the earlier flow was at each step and at its end. */
  states: Float32Array
  frames: number
  channels: number
  /** The frame of the later chunk at which these begin. */
  firstFrame: number
}

interface Follower {
  /** Where the later chunk begins in the mixture, in samples; a frame has `hop` of them. */
  startSample: number
  hop: number
  frames: number
  channels: number
  steps: number
}

/** @throws Error when the trail is not of frames that the follower has, or of other steps */
export function leaderOf(
  { startSample: overlapStart, states }: OverlapState,
  follower: Follower,
): Leader {
  const { startSample, hop, frames: framesMax, channels, steps } = follower
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

/** `state` [1, frames, channels] with the leader's frames of the step `index` in it. */
export function inpaintOverlap(state: Tensor, previous: Leader, index: number): Tensor {
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
