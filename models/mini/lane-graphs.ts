/**
 * Computes the network's input of lanes, and their targets from the answer, each as one graph. On a
 * GPU lanes that are alike share it: the graph of a lane has some hundred small operations, and to
 * launch them takes longer than to compute them.
 */
import { compiledBy } from '../graph/compiled.ts'
import { windowLength, type Framing } from '../framing.ts'
import { istft, spectraOf } from '../stft.ts'
import { tf, unstackRows, upload, type Tensor } from '../tensor.ts'
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

/** Lanes on the device: of one plan, and alike in shape. */
export interface LaneTensors {
  /** [channels, length] each: the mixtures as their rooms have them. */
  samples: Tensor[]
  /** [lanes, 2]: the samples of each mixture, and its frames. */
  counts: Tensor
}

type LaneInput = {
  /** [lanes · rows, tokens, PATCH, 1024]. */
  features: Tensor
  /** Complex [1, frames, bins] of a lane alone with a single channel: its target needs it again. */
  spectrum?: Tensor
}

export const inputOf = compiledBy(
  (plan: LanePlan & { inputRms: number }, given: LaneTensors): LaneInput =>
    tf.tidy(() => {
      const { framing, views, inputRms } = plan
      const samples = together(given.samples) // [lanes, channels, length]
      const { isSample, isFrame, sampleCount } = extentOf(framing, given.counts)
      const inside = (waves: Tensor) =>
        tf.slice(waves, [0, 0, plan.lead], [-1, -1, spanOf(framing)]).mul(isSample)
      const mixtures = views?.map((view) => viewOf(samples, view)) ?? [
        mixDown(samples, inside(samples)),
      ]
      const rows = mixtures.map((mixture) => {
        const spectrum = spectrumOf(mixture, plan, isFrame)
        const power = powerOf(spectrum)
        const meanSquare = inside(mixture).square().sum([1, 2], true).div(sampleCount)
        const scale = inputScale(meanSquare, power, inputRms)
        return { spectrum, features: featuresOf(power, scale, framing.hop) }
      })
      const features = rowsOf(rows.map((row) => row.features))
      const isAlone = given.samples.length === 1 && given.samples[0]!.shape[0] === 1
      return isAlone ? { features, spectrum: rows[0]!.spectrum } : { features }
    }),
)

/** Each lane's tensor to [lanes, …]; a single one is not copied. */
const together = (each: Tensor[]): Tensor =>
  each.length === 1 ? each[0]!.expandDims(0) : tf.stack(each)

/** The inverse of `together`. */
const apart = (all: Tensor): Tensor[] =>
  all.shape[0] === 1 ? [all.reshape(all.shape.slice(1))] : unstackRows(all)

/** [lanes, …] of each view to [lanes · views, …]. */
function rowsOf(views: Tensor[]): Tensor {
  const [first] = views
  if (views.length === 1) return first!.clone()
  return tf.stack(views, 1).reshape([-1, ...first!.shape.slice(1)])
}

/** waves [lanes, channels, length], as rooms have them, to [lanes · channels, frames, bins]. */
function spectrumOf(waves: Tensor, { framing, lead }: LanePlan, isFrame: Tensor): Tensor {
  const covered = spanOf(framing) - framing.hop + windowLength(framing.hop)
  const framed = tf.slice(waves, [0, 0, lead - leftOf(framing)], [-1, -1, covered])
  const [lanes, channels] = waves.shape as [number, number]
  const rows = framed.reshape([lanes * channels, covered])
  return spectraOf(rows, framing, forChannels(isFrame, channels))
}

/** [lanes, frames, 1] for each channel: [lanes · channels, frames, 1], or one for all. */
function forChannels(isFrame: Tensor, channels: number): Tensor {
  const [lanes, frames] = isFrame.shape as [number, number]
  if (lanes === 1 || channels === 1) return isFrame
  return tf
    .tile(isFrame.reshape([lanes, 1, frames, 1]), [1, channels, 1, 1])
    .reshape([lanes * channels, frames, 1])
}

/** Marks the samples and frames of the room that the mixture fills: 1 there, 0 elsewhere. */
interface Extent {
  /** [lanes, 1, samples of as many hops as frames]. */
  isSample: Tensor
  /** [lanes, frames, 1]. */
  isFrame: Tensor
  /** [lanes, 1, 1]. */
  sampleCount: Tensor
}

function extentOf({ hop, frames }: Framing, counts: Tensor): Extent {
  const lanes = counts.shape[0]!
  const byLane = counts.reshape([lanes, 2, 1])
  const [sampleCount, frameCount] = tf.split(byLane, 2, 1) as [Tensor, Tensor]
  const frameAt = countUp(frames).reshape([1, frames, 1])
  const sampleAt = frameAt.mul(hop).add(countUp(hop)) // [1, frames, hop]
  const below = (places: Tensor, count: Tensor) => places.less(count).cast('float32')
  return {
    isSample: below(sampleAt, sampleCount).reshape([lanes, 1, frames * hop]),
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

/**
 * The network's answer to lanes: mask logits [lanes · rows, frames, 1025], of activity [lanes ·
 * rows, tokens].
 */
interface Answered extends MaskOutput, LaneTensors {
  /** As of `inputOf`. */
  spectrum: Tensor | null
  /** The targets of earlier steps; null: there are none. */
  targets: Tensor[] | null
}

/** The state of lanes after a step. */
type Advances = {
  /** [channels, targetSamples] each: the steps' targets so far. */
  targets: Tensor[]
  /**
   * Set by the first step alone, since it decides the match: at another rate than the true one
   * every sound is of another pitch and tempo, which helps to find it but not to recognise it.
   * [tokens + 3] each, so that the device is read once: the logits of whether the target sounds, in
   * the surest view, the two energies of `expectedEnergies`, then the energy of the step's target,
   * the sum of its squares.
   */
  recognised?: Tensor[]
}

export const targetsOf = compiledBy(
  (
    plan: LanePlan & { steps: number },
    { samples, counts, spectrum: known, targets: earlier, maskLogits, activityLogits }: Answered,
  ): Advances =>
    tf.tidy(() => {
      const { framing, views, steps, targetSamples } = plan
      const { isSample, isFrame } = extentOf(framing, counts)
      const spectrum = known ?? spectrumOf(together(samples), plan, isFrame)
      const lanes = samples.length
      const channels = samples[0]!.shape[0]!
      const masks = viewsIn(maskLogits, lanes).map((logits) =>
        maskOf(logits, spectrum.shape[2]!, isFrame),
      )
      const mask = views ? joinMasks(spectrum, views, masks) : masks[0]!
      const found = views ? filterByPlace(spectrum, mask) : applyMask(spectrum, mask)
      const inside = tf.slice(isSample, [0, 0, 0], [-1, 1, targetSamples])
      const waves = istft(found, framing, targetSamples, forChannels(isFrame, channels))
        .reshape([lanes, channels, targetSamples])
        .mul(inside)
      const shares = steps === 1 ? waves : waves.div(steps)
      if (earlier) return { targets: apart(together(earlier).add(shares)) }
      const activity = activityLogits.reshape([lanes, -1, activityLogits.shape[1]!]).max(1)
      const energy = waves.square().sum([1, 2]).reshape([lanes, 1])
      const recognised = tf.concat([activity, expectedEnergies(spectrum, mask), energy], 1)
      return { targets: apart(shares), recognised: apart(recognised) }
    }),
)

/**
 * What a mask expects to let through, if it is the share of the sound in each bin (a Wiener
 * filter): energy of the sound, and of others, [lanes, 2]. spectrum [lanes · channels, frames,
 * bins], mask [lanes, frames, bins]. In arbitrary units, the same for all chunks of a rate.
 */
function expectedEnergies(spectrum: Tensor, mask: Tensor): Tensor {
  const [lanes, ...ofLane] = mask.shape as [number, number, number]
  const power = powerOf(spectrum)
    .reshape([lanes, -1, ...ofLane])
    .sum(1)
  const through = power.mul(mask)
  const sound = through.mul(mask).sum([1, 2])
  return tf.stack([sound, through.sum([1, 2]).sub(sound)], 1)
}

/** [lanes · views, …] to [lanes, …] of each view. */
function viewsIn(rows: Tensor, lanes: number): Tensor[] {
  const [all, frames, bins] = rows.shape as [number, number, number]
  if (all === lanes) return [rows]
  return tf
    .split(rows.reshape([lanes, all / lanes, frames, bins]), all / lanes, 1)
    .map((view) => view.reshape([lanes, frames, bins]))
}
