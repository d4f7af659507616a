/** Computes a lane's input of the network, and its target from the answer, each as one graph. */
import { compiledBy } from '../graph/compiled.ts'
import { istft, stft, type Framing } from '../stft.ts'
import { tf, type Tensor } from '../tensor.ts'
import type { MaskOutput } from './network/network.ts'
import type { View } from './prepare-chunk.ts'
import { filterByPlace } from './spatial-filter.ts'
import { applyMask, featuresOf, inputScale, maskOf, mixDown, powerOf } from './spectrum.ts'
import { joinMasks, viewOf } from './mid-side.ts'

/** The part of a lane that its graphs depend on, besides the shapes of tensors. */
export interface LanePlan {
  framing: Framing
  /** Null: the network reads the channels' mean. */
  views: readonly View[] | null
}

type LaneInput = {
  /** [rows, tokens, PATCH, 1024]. */
  features: Tensor
  /** Complex [1, frames, bins] of a single channel, which the target needs again. */
  spectrum?: Tensor
}

/** samples [channels, samples]. */
export const inputOf = compiledBy(
  ({ framing, views, inputRms }: LanePlan & { inputRms: number }, samples: Tensor): LaneInput =>
    tf.tidy(() => {
      const mixtures = views?.map((view) => viewOf(samples, view)) ?? [mixDown(samples)]
      const rows = mixtures.map((mixture) => {
        const spectrum = stft(mixture, framing)
        const power = powerOf(spectrum)
        const scale = inputScale(mixture, power, inputRms)
        return { spectrum, features: featuresOf(power, scale, framing.hop) }
      })
      const features = tf.concat(rows.map((row) => row.features))
      return samples.shape[0] === 1 ? { features, spectrum: rows[0]!.spectrum } : { features }
    }),
)

/** The network's answer to a lane: mask logits [rows, frames, 1025], of activity [rows, tokens]. */
interface Answered extends MaskOutput {
  /** [channels, samples]. */
  samples: Tensor
  /** As of `inputOf`. */
  spectrum: Tensor | null
  /** The targets of earlier steps, as `samples`; null: there are none. */
  target: Tensor | null
}

/** A lane's state after a step. */
export type Advance = {
  /** [channels, samples]: the steps' targets so far. */
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
    { framing, views, steps }: LanePlan & { steps: number },
    { samples, spectrum: known, target: earlier, maskLogits, activityLogits }: Answered,
  ): Advance =>
    tf.tidy(() => {
      const spectrum = known ?? stft(samples, framing)
      const rows = tf.split(maskLogits, maskLogits.shape[0]!)
      const masks = rows.map((row) => maskOf(row, spectrum.shape[2]!))
      const found = views
        ? filterByPlace(spectrum, joinMasks(spectrum, views, masks))
        : applyMask(spectrum, masks[0]!)
      const wave = istft(found, framing, samples.shape[1]!)
      const share = steps === 1 ? wave : wave.div(steps)
      if (earlier) return { target: earlier.add(share) }
      const activity = activityLogits.max(0) // [tokens]
      const energy = wave.square().sum().reshape([1])
      return { target: share, recognised: tf.concat([activity, energy]) }
    }),
)
