/** One chunk and one prompt on their way through the mask network. */
import type { Chunk, Lane, LaneRequest, LaneResult, Span } from '../model.ts'
import { frameCount, istft, stft, windowLength, type Framing } from '../stft.ts'
import { tf, type Tensor } from '../tensor.ts'
import { PATCH } from './config.ts'
import { tokenCount, type Answer } from './network.ts'
import { predictSpans } from './predict-spans.ts'
import { presenceGain } from './presence.ts'
import { spanGain, spanTokens, type TokenClock } from './spans.ts'
import {
  applyMask, featuresOf, hopAt, inputScale, maskOf, mixDown, powerOf,
} from './spectrum.ts'

/** Passes of `quality`, each with the mixture cut into tokens at another place. */
const QUALITY_STEPS = 4

/**
 * Where each candidate cuts the mixture into tokens: the first step's shift, in eighths of what
 * lies between steps. Any first few are far apart.
 */
const CANDIDATE_EIGHTHS = [0, 4, 2, 6, 1, 5, 3, 7] as const

/** Samples beyond this, and what is no number, are read as silence. */
const SAMPLE_MAX = 1e6

/** Holds the samples, the prompt's embedding and what the steps found so far. */
export class MiniLane implements Lane {
  readonly frames: number
  readonly steps: number
  stepsDone = 0
  /** [1, embeddingDim]. */
  readonly embedding: Tensor
  readonly #chunk: Chunk
  readonly #spans: readonly Span[]
  readonly #predictsSpans: boolean
  readonly #eighths: number
  /** [channels, samples], extended with silence to at least one window. */
  readonly #samples: Tensor
  /** [channels, samples], the steps' targets so far, each at its share. */
  #target: Tensor
  /** Of the samples at the coming step, where it is what the network heard of them. */
  #spectrum: Tensor | null = null
  /** [1, tokens], the logits of whether the target sounds, likewise. */
  #activity: Tensor

  /** The lane owns `embedding` from here on. */
  constructor(request: LaneRequest, embedding: Tensor) {
    const { chunk, spans, acceleration, candidate = 0, predictSpans = false } = request
    this.#chunk = chunk
    this.#spans = spans
    this.#predictsSpans = predictSpans && spans.length === 0
    this.#eighths = CANDIDATE_EIGHTHS[candidate % CANDIDATE_EIGHTHS.length]!
    this.embedding = embedding
    this.steps = acceleration === 'quality' ? QUALITY_STEPS : 1
    this.#samples = samplesOf(chunk)
    this.#target = tf.zerosLike(this.#samples)
    this.frames = tokenCount(this.framing.frames)
    this.#activity = tf.zeros([1, this.frames])
  }

  /** The frames of the coming step: each step shifts them by another part of a token. */
  get framing(): Framing {
    const hop = hopAt(this.#chunk.sampleRate)
    const shiftBy = (PATCH * hop) / this.steps
    const start = (this.#eighths * shiftBy) / CANDIDATE_EIGHTHS.length
    const frames = frameCount(this.#samples.shape[1]!, hop, start + (this.steps - 1) * shiftBy)
    return { hop, frames, shift: start + this.stepsDone * shiftBy }
  }

  /** What the network hears at the coming step: [1, tokens, PATCH, 1024]. */
  features(inputRms: number): Tensor {
    return tf.tidy(() => {
      const mixture = mixDown(this.#samples)
      const spectrum = stft(mixture, this.framing)
      if (this.#chunk.channels.length === 1) this.#keep(spectrum)
      const power = powerOf(spectrum)
      return featuresOf(power, inputScale(mixture, power, inputRms), this.framing.hop)
    })
  }

  /** What the network is told of the spans at the coming step: [1, tokens, 2]. */
  spans(): Tensor {
    const told = spanTokens(this.#spans, this.#seconds, this.#tokenClock(this.framing.shift))
    return tf.tensor3d(told, [1, this.frames, 2])
  }

  /** Whether the network hears the same at the coming step of both. */
  hearsAs(other: MiniLane): boolean {
    const { hop, frames, shift } = this.framing
    const theirs = other.framing
    if (hop !== theirs.hop || frames !== theirs.frames || shift !== theirs.shift) return false
    const { channels } = this.#chunk
    const same = other.#chunk.channels
    return channels.length === same.length &&
      channels.every((wave, i) => bytesOf(wave).equals(bytesOf(same[i]!)))
  }

  /** Ends a step with the network's answer, mask logits of [1, frames, 1025]. */
  advance({ maskLogits, activityLogits }: Answer): void {
    const [target, activity] = tf.tidy(() => {
      const spectrum = this.#spectrum ?? stft(this.#samples, this.framing)
      const mask = maskOf(maskLogits, spectrum.shape[2]!)
      const heard = istft(applyMask(spectrum, mask), this.framing, this.#samples.shape[1]!)
      return [
        this.#target.add(heard.div(this.steps)),
        this.#activity.add(activityLogits.div(this.steps)),
      ] as [Tensor, Tensor]
    })
    tf.dispose([this.#target, this.#activity])
    this.#target = tf.keep(target)
    this.#activity = tf.keep(activity)
    this.#keep(null)
    this.stepsDone += 1
  }

  #keep(spectrum: Tensor | null): void {
    this.#spectrum?.dispose()
    this.#spectrum = spectrum && tf.keep(spectrum)
  }

  /** The target, shaped by the spans, and the rest: only here the device is read. */
  result(): LaneResult {
    const { channels, sampleRate } = this.#chunk
    const samples = channels[0]!.length
    const stride = this.#target.shape[1]!
    const mean = this.#target.dataSync<'float32'>()
    const target = channels.map((_, i) => mean.slice(i * stride, i * stride + samples))
    const activity = this.#readActivity()
    const predictedSpans = this.#predictsSpans
      ? predictSpans(activity, this.#seconds, this.#tokenClock(this.#meanShift))
      : undefined
    const spans = predictedSpans ?? this.#spans
    if (spans.length > 0) {
      const gain = spanGain(spans, samples, sampleRate)
      for (const wave of target) multiply(wave, gain)
    }
    const match = activity.reduce((most, probability) => Math.max(most, probability), 0)
    const isVouchedFor = this.#spans.some(({ include }) => include)
    if (!isVouchedFor) for (const wave of target) scale(wave, presenceGain(match))
    const residual = channels.map((mixture, i) => subtract(mixture, target[i]!))
    return { target, residual, score: match, match, ...(predictedSpans && { predictedSpans }) }
  }

  /** Whether the target sounds, from 0 to 1 for each token. In silence nothing does. */
  #readActivity(): Float32Array {
    const activity = tf.tidy(() =>
      this.#activity.sigmoid().mul(this.#samples.abs().max().greater(0)))
    const probabilities = activity.dataSync<'float32'>().slice()
    activity.dispose()
    return probabilities
  }

  get #seconds(): number {
    return this.#chunk.channels[0]!.length / this.#chunk.sampleRate
  }

  /** Of all steps, in samples. */
  get #meanShift(): number {
    const shifts = (PATCH * hopAt(this.#chunk.sampleRate)) / this.steps
    return shifts * (this.#eighths / CANDIDATE_EIGHTHS.length + (this.steps - 1) / 2)
  }

  #tokenClock(shift: number): TokenClock {
    const { sampleRate } = this.#chunk
    const tokenSamples = PATCH * hopAt(sampleRate)
    return {
      tokens: this.frames,
      tokenSeconds: tokenSamples / sampleRate,
      startSecond: -shift / sampleRate,
    }
  }

  dispose(): void {
    this.#keep(null)
    tf.dispose([this.embedding, this.#samples, this.#target, this.#activity])
  }
}

/** [channels, samples]: what no model should hear is silence, and so is what a window lacks. */
function samplesOf({ channels, sampleRate }: Chunk): Tensor {
  const length = Math.max(channels[0]!.length, windowLength(hopAt(sampleRate)))
  const flat = new Float32Array(channels.length * length)
  for (const [i, wave] of channels.entries()) flat.set(wave, i * length)
  return tf.tidy(() => {
    const given = tf.tensor2d(flat, [channels.length, length])
    return tf.where(given.abs().less(SAMPLE_MAX), given, tf.zerosLike(given))
  })
}

function scale(wave: Float32Array, gain: number): void {
  for (let i = 0; i < wave.length; i += 1) wave[i]! *= gain
}

function multiply(wave: Float32Array, gain: Float32Array): void {
  for (let i = 0; i < wave.length; i += 1) wave[i]! *= gain[i]!
}

function subtract(mixture: Float32Array, target: Float32Array): Float32Array {
  const residual = new Float32Array(mixture.length)
  for (let i = 0; i < residual.length; i += 1) residual[i] = heard(mixture[i]!) - target[i]!
  return residual
}

const heard = (sample: number): number => (Math.abs(sample) < SAMPLE_MAX ? sample : 0)

const bytesOf = (wave: Float32Array): Buffer =>
  Buffer.from(wave.buffer, wave.byteOffset, wave.byteLength)
