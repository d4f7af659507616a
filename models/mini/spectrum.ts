/** Converts waveforms of any sample rate to the network's features, and its masks back to gains. */
import { windowLength } from '../layers/framing.ts'
import { gatherRows, pad, tf, type Tensor, type Tensor4D } from '../tensorflow/tensor.ts'
import { PATCH } from './config.ts'

/**
 * The transform that the network was trained on: a window of 2048 samples at 32 kHz, and its bins.
 */
const WINDOW = 2048
const BINS = WINDOW / 2 + 1

/** Bins of the last band. Its mask, smoothed in time, also applies above the network's last bin. */
const LAST_BAND_BINS = 128
const SMOOTHING_FRAMES = 5

/**
 * Channels count as cancelling each other if their mean is weaker than the loudest by this much (30
 * dB, as power).
 */
const CANCELLED = 1e-3

/** The real and imaginary parts of a spectrum, of the same shape. */
export type Spectrum = { real: Tensor; imaginary: Tensor }

/**
 * Mixes the network's input from channels [lanes, channels, samples] to [lanes, 1, samples]. More
 * than one channel is only allowed for a single lane.
 * @param inside the samples that decide the weights, [lanes, channels, …]
 */
export function mixDown(channels: Tensor, inside: Tensor): Tensor {
  const [, count, samples] = channels.shape as [number, number, number]
  if (count === 1) return channels.clone()
  return tf.tidy(() => {
    const powers = inside.square().mean([0, 2]) // [channels]
    const byChannel = channels.reshape([count, samples])
    const loudest = gatherRows(byChannel, powers.argMax()).reshape([1, 1, samples])
    const cancelled = inside.mean(1).square().mean().less(powers.max().mul(CANCELLED))
    return tf.where(cancelled, loudest, channels.mean(1, true))
  })
}

/**
 * Returns the factor [lanes, 1, 1] that scales a mixture to the level `rms` within the bins that
 * the network reads. Takes the mean square of the samples [lanes, 1, 1] and the power spectrum
 * [lanes, frames, bins].
 */
export function inputScale(meanSquare: Tensor, power: Tensor, rms: number): Tensor {
  return tf.tidy(() => {
    const level = meanSquare.mul(audibleShare(power)).sqrt()
    return tf.div(rms, level.add(1e-6))
  })
}

/** The share of the power within the network's bins; 1 if there are no others. */
function audibleShare(power: Tensor): Tensor {
  if (power.shape[2]! <= BINS) return tf.scalar(1)
  return tf.tidy(() => {
    const inBand = tf.slice(power, [0, 0, 0], [-1, -1, BINS]).sum([1, 2], true)
    return tf.divNoNan(inBand, power.sum([1, 2], true))
  })
}

/** |X|² of a spectrum, shaped like it. */
export const powerOf = ({ real, imaginary }: Spectrum): Tensor =>
  tf.tidy(() => real.square().add(imaginary.square()))

/**
 * Returns one channel of [lanes, channels, …] as [lanes, 1, …], without a copy if it is the only
 * one.
 */
export function channelOf(x: Tensor, channel: number): Tensor {
  const [lanes, channels, ...rest] = x.shape as [number, number, ...number[]]
  const zeros = rest.map(() => 0)
  const whole = rest.map(() => -1)
  if (lanes > 1) return tf.slice(x, [0, channel, ...zeros], [-1, 1, ...whole])
  return tf.tidy(() =>
    tf
      .slice(x.reshape([channels, ...rest]), [channel, ...zeros], [1, ...whole])
      .reshape([1, 1, ...rest]),
  )
}

/**
 * Returns the network's features: the square root of the magnitude, at the network's level and in
 * its bins. Takes power [lanes, PATCH · tokens, bins] and the scale of `inputScale`; returns
 * [lanes, tokens, PATCH, 1024].
 */
export function featuresOf(power: Tensor, scale: Tensor, hop: number): Tensor {
  return tf.tidy(() => {
    const [lanes, frames, bins] = power.shape as [number, number, number]
    const used = Math.min(bins, BINS - 1)
    const inBand = tf.slice(power, [0, 0, 0], [-1, -1, used])
    const level = scale.mul(WINDOW / windowLength(hop)).square()
    const padded = pad(inBand.mul(level), { 2: [0, BINS - 1 - used] })
    const features = padded.add(1e-8).sqrt().sqrt()
    return features.reshape([lanes, frames / PATCH, PATCH, BINS - 1])
  })
}

/**
 * Maps mask logits [lanes, frames, 1025] to the gains of `bins` bins, [lanes, frames, bins].
 * @param isFrame [lanes, frames, 1], 1 or 0: padding does not influence the gains of real frames
 */
export function maskOf(logits: Tensor, bins: number, isFrame: Tensor): Tensor {
  return tf.tidy(() => {
    if (bins <= BINS) return tf.slice(logits, [0, 0, 0], [-1, -1, bins]).sigmoid()
    const mask = logits.sigmoid()
    const lastBand = tf.slice(mask, [0, 0, BINS - 1 - LAST_BAND_BINS], [-1, -1, LAST_BAND_BINS])
    const counted = lastBand.mean(-1, true).mul(isFrame)
    const smooth = tf.divNoNan(meanNearby(counted), meanNearby(isFrame))
    const above = tf.tile(smooth, [1, 1, bins - BINS])
    return tf.concat([mask, above], -1)
  })
}

/** The mean of each frame and its neighbours, [lanes, frames, 1]. */
const meanNearby = (x: Tensor): Tensor =>
  tf.tidy(() =>
    tf.avgPool(x.expandDims(2) as Tensor4D, [SMOOTHING_FRAMES, 1], 1, 'same').reshape(x.shape),
  )

/** Multiplies spectrum [lanes, channels, frames, bins] by masks [lanes, frames, bins]. */
export const applyMask = ({ real, imaginary }: Spectrum, mask: Tensor): Spectrum =>
  tf.tidy(() => {
    const forChannels = mask.expandDims(1)
    return { real: real.mul(forChannels), imaginary: imaginary.mul(forChannels) }
  })
