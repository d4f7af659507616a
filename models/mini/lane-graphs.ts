/** Computes a lane's input of the network, and its target from the answer, each as one graph. */
import { compiledBy } from '../graph/compiled.ts'
import { windowLength, type Framing } from '../framing.ts'
import { istft, spectraOf } from '../stft.ts'
import { tf, upload, type Tensor } from '../tensor.ts'
import { leftOf, spanOf, type LaneRoom } from './lane-room.ts'
import type { MaskOutput } from './network/network.ts'
import type { View } from './prepare-chunk.ts'
import { filterByPlace } from './spatial-filter.ts'
import { applyMask, featuresOf, inputScale, maskOf, mixDown, powerOf } from './spectrum.ts'
import { joinMasks, viewOf } from './mid-side.ts'

/** The part of a lane that its graphs depend on, besides the shapes of tensors. */
export interface LanePlan extends Pick<LaneRoom, 'lead' | 'targetSamples'> {
  framing: Framing
  /** Null: the network reads the channels' mean. */
  views: readonly View[] | null
}

/** A lane on the device. */
export interface LaneTensors {
  /** [channels, length]: the mixture as its room has it. */
  samples: Tensor
  /** [2]: the samples of the mixture, and its frames. */
  counts: Tensor
}

type LaneInput = {
  /** [rows, tokens, PATCH, 1024]. */
  features: Tensor
  /** Complex [1, frames, bins] of a single channel, which the target needs again. */
  spectrum?: Tensor
}

export const inputOf = compiledBy(
  (plan: LanePlan & { inputRms: number }, { samples, counts }: LaneTensors): LaneInput =>
    tf.tidy(() => {
      const { framing, views, inputRms } = plan
      const { isSample, isFrame, sampleCount } = extentOf(framing, counts)
      const inside = (wave: Tensor) =>
        tf.slice(wave, [0, plan.lead], [-1, spanOf(framing)]).mul(isSample)
      const mixtures = views?.map((view) => viewOf(samples, view)) ?? [
        mixDown(samples, inside(samples)),
      ]
      const rows = mixtures.map((mixture) => {
        const spectrum = spectrumOf(mixture, plan, isFrame)
        const power = powerOf(spectrum)
        const meanSquare = inside(mixture).square().sum().div(sampleCount)
        const scale = inputScale(meanSquare, power, inputRms)
        return { spectrum, features: featuresOf(power, scale, framing.hop) }
      })
      const features = tf.concat(rows.map((row) => row.features))
      return samples.shape[0] === 1 ? { features, spectrum: rows[0]!.spectrum } : { features }
    }),
)

/** wave [rows, length], laid out as the lane's room has it. */
function spectrumOf(wave: Tensor, { framing, lead }: LanePlan, isFrame: Tensor): Tensor {
  const covered = spanOf(framing) - framing.hop + windowLength(framing.hop)
  const framed = tf.slice(wave, [0, lead - leftOf(framing)], [-1, covered])
  return spectraOf(framed, framing, isFrame)
}

/** Marks the samples and frames of the room that the mixture fills: 1 there, 0 elsewhere. */
interface Extent {
  /** [1, samples of as many hops as frames]. */
  isSample: Tensor
  /** [frames, 1]. */
  isFrame: Tensor
  /** [1]. */
  sampleCount: Tensor
}

function extentOf({ hop, frames }: Framing, counts: Tensor): Extent {
  const [sampleCount, frameCount] = tf.split(counts, 2) as [Tensor, Tensor]
  const frameAt = countUp(frames).reshape([frames, 1])
  const sampleAt = frameAt.mul(hop).add(countUp(hop)) // [frames, hop]
  const below = (places: Tensor, count: Tensor) => places.less(count).cast('float32')
  return {
    isSample: below(sampleAt, sampleCount).reshape([1, frames * hop]),
    isFrame: below(frameAt, frameCount),
    sampleCount,
  }
}

/** 0, 1, 2 … as constants: TensorFlow's own operation would fetch its limits from the device. */
const countUp = (count: number): Tensor =>
  upload(
    Float32Array.from({ length: count }, (_, i) => i),
    [count],
  )

/** The network's answer to a lane: mask logits [rows, frames, 1025], of activity [rows, tokens]. */
interface Answered extends MaskOutput, LaneTensors {
  /** As of `inputOf`. */
  spectrum: Tensor | null
  /** The targets of earlier steps; null: there are none. */
  target: Tensor | null
}

/** A lane's state after a step. */
export type Advance = {
  /** [channels, targetSamples]: the steps' targets so far. */
  target: Tensor
  /**
   * Set by the first step alone, since it decides the match: at another rate than the true one
   * every sound is of another pitch and tempo, which helps to find it but not to recognise it.
   * [tokens + 1], so that the device is read once: the logits of whether the target sounds, in the
   * surest view, then the energy of the step's target, the sum of its squares.
   */
  recognised?: Tensor
}

export const targetOf = compiledBy(
  (
    plan: LanePlan & { steps: number },
    { samples, counts, spectrum: known, target: earlier, maskLogits, activityLogits }: Answered,
  ): Advance =>
    tf.tidy(() => {
      const { framing, views, steps, targetSamples } = plan
      const { isSample, isFrame } = extentOf(framing, counts)
      const spectrum = known ?? spectrumOf(samples, plan, isFrame)
      const rows = tf.split(maskLogits, maskLogits.shape[0]!)
      const masks = rows.map((row) => maskOf(row, spectrum.shape[2]!, isFrame))
      const found = views
        ? filterByPlace(spectrum, joinMasks(spectrum, views, masks))
        : applyMask(spectrum, masks[0]!)
      const inside = tf.slice(isSample, [0, 0], [1, targetSamples])
      const wave = istft(found, framing, targetSamples, isFrame).mul(inside)
      const share = steps === 1 ? wave : wave.div(steps)
      if (earlier) return { target: earlier.add(share) }
      const activity = activityLogits.max(0) // [tokens]
      const energy = wave.square().sum().reshape([1])
      return { target: share, recognised: tf.concat([activity, energy]) }
    }),
)
