/**
 * Computes the targets of a batch from the samples of its lanes, with two tensors going in and one
 * coming out. On a GPU the whole batch is one graph if its lanes have the same shape. Until that
 * graph exists, for mixed batches, and on a CPU, each part is a graph of its own, because
 * parts recur more often than whole batches.
 */
import { countOf } from '../checkpoint/stored-tensor.ts'
import { compiledBy } from '../graph/compiled.ts'
import { windowLength, type Framing } from '../layers/framing.ts'
import { istft, spectraOf } from '../layers/stft.ts'
import { gatherRows, pad, tf, upload, type Tensor } from '../tensorflow/tensor.ts'
import { rowsOf, type BatchPlan, type Group } from './batch-plan.ts'
import { spanOf } from './lane-bucket.ts'
import { joinMasks, spectrumOfView, viewOf } from './mid-side.ts'
import type { MaskOutput, Network } from './network/network.ts'
import { filterByPlace } from './spatial-filter.ts'
import {
  applyMask,
  featuresOf,
  inputScale,
  maskOf,
  mixDown,
  powerOf,
  type Spectrum,
} from './spectrum.ts'

/** How many numbers follow the activity of a lane; see `recognisedOf`. */
export const ENERGIES = 3

export interface BatchSizes {
  /** The level that mixtures are scaled to, as root mean square. */
  inputRms: number
  embeddingDim: number
}

/**
 * Returns the function that computes a batch.
 * - `samples`: for each group in turn, its mixtures [mixtures, channels, length].
 * - `facts`: for each group in turn, the numbers of samples and frames [mixtures, 2]; a mask of the
 *   real tokens in each row [rows, tokens]; then for each row of a lane the embedding of the prompt
 *   [rows, embeddingDim] and the spans [rows, tokens, 2].
 * - The result holds for each lane, by groups, its target [channels, targetSamples] and what was
 *   recognised [tokens + ENERGIES].
 */
export function loadBatch(network: Network, { inputRms, embeddingDim }: BatchSizes) {
  const inParts = ({ groups, tokens }: BatchPlan, samples: Tensor, facts: Tensor): Tensor =>
    tf.tidy(() => {
      const [nextSamples, nextFacts] = [cutting(samples), cutting(facts)]
      const mixtures = groups.map(({ channels, length, mixtures }) => ({
        waves: nextSamples([mixtures, channels, length]),
        counts: nextFacts([mixtures, 2]),
      }))
      const places = placesOf(groups)
      const rowsIn = groups.reduce((sum, group) => sum + group.mixtures * rowsOf(group), 0)
      const valid = nextFacts([rowsIn, tokens])
      const conditioning = {
        embedding: nextFacts([places.length, embeddingDim]),
        spans: nextFacts([places.length, tokens, 2]),
      }
      const inputs = groups.map((group, i) =>
        inputOf({ ...bucketIn(group), inputRms }, mixtures[i]!),
      )
      const encoded = network.encodeMixture(joinRows(inputs, tokens), valid)
      const forEach = (x: Tensor) => placed(x, places)
      const streams = { x: forEach(encoded.x), z: forEach(encoded.z) }
      const answer = network.decodeMask(streams, conditioning, forEach(valid))
      const targets = targetsOfParts(groups, answer, (_, i) => ({
        ...inputs[i]!.spectrum,
        counts: mixtures[i]!.counts,
      }))
      return targets.length === 1 ? targets[0]! : tf.concat(targets)
    })
  return { asOne: compiledBy(inParts), inParts }
}

/** Returns a function that takes the next part of a flat list, in the shape asked for. */
function cutting(list: Tensor): (shape: number[]) => Tensor {
  let start = 0
  return (shape) => {
    const size = countOf(shape)
    start += size
    return tf.slice(list, [start - size], [size]).reshape(shape)
  }
}

/** For each row of a lane, the index of the row of its mixture. */
function placesOf(groups: readonly Group[]): number[] {
  let first = 0
  return groups.flatMap((group) => {
    const rows = rowsOf(group)
    const start = first
    first += group.mixtures * rows
    const placeOf = (mixture: number) =>
      Array.from({ length: rows }, (_, row) => start + mixture * rows + row)
    return group.parts.flat().flatMap(placeOf)
  })
}

/** Returns the rows of x at these indices, and x itself if that is all of them in order. */
function placed(x: Tensor, places: readonly number[]): Tensor {
  const isAll = places.length === x.shape[0] && places.every((place, i) => place === i)
  return isAll ? x.clone() : gatherRows(x, tf.tensor1d([...places], 'int32'))
}

/** Concatenates the features [rows, tokens, …] of the groups, padded to the longest. */
const joinRows = (inputs: readonly GroupInput[], longest: number): Tensor => {
  const rows = inputs.map(({ features }) => padTokens(features, longest))
  return rows.length === 1 ? rows[0]! : tf.concat(rows)
}

function padTokens(x: Tensor, tokens: number): Tensor {
  const missing = tokens - x.shape[1]!
  if (missing === 0) return x
  return pad(x, { 1: [0, missing] })
}

/** The part of a group that its graphs depend on. */
type GroupBucket = Pick<Group, 'framing' | 'lead' | 'targetSamples' | 'views'>

const bucketIn = ({ framing, lead, targetSamples, views }: Group): GroupBucket => ({
  framing,
  lead,
  targetSamples,
  views,
})

type GroupInput = {
  /** [mixtures · rows, tokens, PATCH, 1024]. */
  features: Tensor
  /** [mixtures, channels, frames, bins] each. */
  spectrum: Spectrum
}

interface Mixtures {
  /** [mixtures, channels, length], padded to the bucket. */
  waves: Tensor
  /** [mixtures, 2]: how many samples and frames each mixture has. */
  counts: Tensor
}

const inputOf = compiledBy(
  (plan: GroupBucket & { inputRms: number }, { waves, counts }: Mixtures): GroupInput =>
    tf.tidy(() => {
      const { framing, views, inputRms } = plan
      const { isSample, isFrame, sampleCount } = extentOf(framing, counts)
      const inside = (all: Tensor) =>
        tf.slice(all, [0, 0, plan.lead], [-1, -1, spanOf(framing)]).mul(isSample)
      const spectrum = spectrumOf(waves, plan, isFrame)
      const rows = viewsOf(waves, spectrum, plan, { inside, isFrame }).map(({ wave, power }) => {
        const meanSquare = inside(wave).square().sum([1, 2], true).div(sampleCount)
        const scale = inputScale(meanSquare, power, inputRms)
        return featuresOf(power, scale, framing.hop)
      })
      const [first] = rows as [Tensor]
      const features = views && views.length > 1 ? tf.stack(rows, 1) : first.expandDims(1)
      return { features: features.reshape([-1, ...first.shape.slice(1)]), spectrum }
    }),
)

/** What the network sees of a mixture: samples [mixtures, 1, length] and their power spectrum. */
interface MixtureView {
  wave: Tensor
  /** [mixtures, frames, bins]. */
  power: Tensor
}

/** The transform is linear, so the spectrum of a view is the same view of the channels' spectra. */
function viewsOf(
  waves: Tensor,
  spectrum: Spectrum,
  plan: GroupBucket,
  { inside, isFrame }: { inside: (waves: Tensor) => Tensor; isFrame: Tensor },
): MixtureView[] {
  const see = (wave: Tensor, part: Spectrum): MixtureView => ({
    wave,
    power: powerOf(part).squeeze([1]),
  })
  if (!plan.views) {
    if (waves.shape[1] === 1) return [see(waves, spectrum)]
    const mean = mixDown(waves, inside(waves))
    return [see(mean, spectrumOf(mean, plan, isFrame))]
  }
  return plan.views.map((view) => see(viewOf(waves, view), spectrumOfView(spectrum, view)))
}

/** Transforms waves [mixtures, channels, length] to [mixtures, channels, frames, bins]. */
function spectrumOf(waves: Tensor, { framing }: GroupBucket, isFrame: Tensor): Spectrum {
  const covered = spanOf(framing) - framing.hop + windowLength(framing.hop)
  const framed = tf.slice(waves, [0, 0, 0], [-1, -1, covered])
  const [mixtures, channels] = waves.shape as [number, number]
  const rows = framed.reshape([mixtures * channels, covered])
  const complex = spectraOf(rows, framing, forChannels(isFrame, channels))
  const shape = [mixtures, channels, ...complex.shape.slice(1)]
  return { real: tf.real(complex).reshape(shape), imaginary: tf.imag(complex).reshape(shape) }
}

/** Repeats [mixtures, frames, 1] for each channel: [mixtures · channels, frames, 1]. */
function forChannels(isFrame: Tensor, channels: number): Tensor {
  const [mixtures, frames] = isFrame.shape as [number, number]
  if (mixtures === 1 || channels === 1) return isFrame
  return tf
    .tile(isFrame.reshape([mixtures, 1, frames, 1]), [1, channels, 1, 1])
    .reshape([mixtures * channels, frames, 1])
}

/**
 * Marks the samples and frames of the bucket that belong to the mixture with 1, the padding with 0.
 */
interface Extent {
  /** [mixtures, 1, samples], where samples is the number of frames times the hop. */
  isSample: Tensor
  /** [mixtures, frames, 1]. */
  isFrame: Tensor
  /** [mixtures, 1, 1]. */
  sampleCount: Tensor
}

function extentOf({ hop, frames }: Framing, counts: Tensor): Extent {
  const mixtures = counts.shape[0]!
  const byMixture = counts.reshape([mixtures, 2, 1])
  const [sampleCount, frameCount] = tf.split(byMixture, 2, 1) as [Tensor, Tensor]
  const frameAt = countUp(frames).reshape([1, frames, 1])
  const sampleAt = frameAt.mul(hop).add(countUp(hop)) // [1, frames, hop]
  const below = (places: Tensor, count: Tensor) => places.less(count).cast('float32')
  return {
    isSample: below(sampleAt, sampleCount).reshape([mixtures, 1, frames * hop]),
    isFrame: below(frameAt, frameCount),
    sampleCount,
  }
}

/**
 * Returns 0, 1, 2 … as a constant. TensorFlow's own operation would read its limits from the
 * device.
 */
const countUp = (count: number): Tensor =>
  upload(
    Float32Array.from({ length: count }, (_, i) => i),
    [count],
  )

/** Computes the parts of all groups, in order. */
function targetsOfParts(
  groups: readonly Group[],
  { maskLogits, activityLogits }: MaskOutput,
  mixturesOf: (group: Group, index: number) => Spectrum & { counts: Tensor },
): Tensor[] {
  let row = 0
  return groups.flatMap((group, i) => {
    const { framing, tokens } = group
    const { counts, ...spectrum } = mixturesOf(group, i)
    return group.parts.map((part) => {
      const count = part.length * rowsOf(group)
      row += count
      const at = (x: Tensor) => placed(x, part)
      return targetsOf(bucketIn(group), {
        real: at(spectrum.real),
        imaginary: at(spectrum.imaginary),
        counts: at(counts),
        maskLogits: tf.slice(maskLogits, [row - count, 0, 0], [count, framing.frames, -1]),
        activityLogits: tf.slice(activityLogits, [row - count, 0], [count, tokens]),
      })
    })
  })
}

/**
 * The network's output for lanes: mask logits [lanes · rows, frames, 1025] and activity logits
 * [lanes · rows, tokens], with the spectrum of the mixtures [lanes, channels, frames, bins].
 */
interface MaskedMixtures extends MaskOutput, Spectrum {
  /** [lanes, 2], as in `Mixtures`. */
  counts: Tensor
}

/** Returns [lanes · (channels · targetSamples + tokens + ENERGIES)]. */
const targetsOf = compiledBy(
  (
    { framing, views, targetSamples }: GroupBucket,
    { counts, maskLogits, activityLogits, real, imaginary }: MaskedMixtures,
  ): Tensor =>
    tf.tidy(() => {
      const spectrum = { real, imaginary }
      const { isSample, isFrame } = extentOf(framing, counts)
      const [lanes, channels, , bins] = real.shape as [number, number, number, number]
      const masks = viewsIn(maskLogits, lanes).map((logits) => maskOf(logits, bins, isFrame))
      const mask = views ? joinMasks(spectrum, views, masks) : masks[0]!
      const target = views ? filterByPlace(spectrum, mask) : applyMask(spectrum, mask)
      const inside = tf.slice(isSample, [0, 0, 0], [-1, 1, targetSamples])
      const complex = tf.complex(target.real, target.imaginary)
      const rows = complex.reshape([lanes * channels, ...complex.shape.slice(2)])
      const waves = istft(rows, framing, targetSamples, forChannels(isFrame, channels))
        .reshape([lanes, channels, targetSamples])
        .mul(inside)
      const recognised = recognisedOf(activityLogits, spectrum, mask, waves)
      return tf.concat([waves.reshape([lanes, -1]), recognised], 1).reshape([-1])
    }),
)

/**
 * Returns [lanes, tokens + ENERGIES]: the activity logits of the view that is most certain, the two
 * energies of `expectedEnergies`, and the energy of the target, as a sum of squares.
 */
function recognisedOf(
  activityLogits: Tensor,
  spectrum: Spectrum,
  mask: Tensor,
  waves: Tensor,
): Tensor {
  const lanes = waves.shape[0]!
  const activity = activityLogits.reshape([lanes, -1, activityLogits.shape[1]!]).max(1)
  const energy = waves.square().sum([1, 2]).reshape([lanes, 1])
  return tf.concat([activity, expectedEnergies(spectrum, mask), energy], 1)
}

/**
 * The energies that a mask implies, read as a Wiener filter, whose gain is the share of the sound
 * in each bin: the energy of the sound and of everything else, [lanes, 2]. Takes spectrum [lanes,
 * channels, frames, bins] and mask [lanes, frames, bins]. The unit is arbitrary, but the same for
 * all chunks of one sample rate.
 */
function expectedEnergies(spectrum: Spectrum, mask: Tensor): Tensor {
  const through = powerOf(spectrum).sum(1).mul(mask)
  const sound = through.mul(mask).sum([1, 2])
  return tf.stack([sound, through.sum([1, 2]).sub(sound)], 1)
}

/** Splits [lanes · views, …] into [lanes, …] for each view. */
function viewsIn(rows: Tensor, lanes: number): Tensor[] {
  const [all, frames, bins] = rows.shape as [number, number, number]
  if (all === lanes) return [rows]
  return tf
    .split(rows.reshape([lanes, all / lanes, frames, bins]), all / lanes, 1)
    .map((view) => view.reshape([lanes, frames, bins]))
}
