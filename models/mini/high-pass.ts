/** Takes away what lies below hearing, a constant offset and rumble, and moves nothing in time. */
import type { Chunk } from '../model.ts'

/** Hertz. Half of the amplitude is left here, 3 % at 15 Hz and 99 % at 30 Hz. */
const CUTOFF = 20

/** Keeps the filter stable at rates that hold little else: a share of the rate. */
const CUTOFF_SHARE_MAX = 1 / 4

/** The poles of a Butterworth filter of sixth order, which runs forwards and backwards. */
const POLE_ANGLES = [1, 3, 5].map((odd) => (odd * Math.PI) / 12) as [number, number, number]

/** Both ends are extended by so much, turned about the last sample, so that the filter settles. */
const EDGE_SECONDS = 0.25

/** Samples beyond this, and what is no number, are read as silence. */
const SAMPLE_MAX = 1e6

/**
 * All of a chunk that the model reads and makes targets of (`high_pass` of the training's audio).
 * The residual keeps what is taken away.
 */
export const highPass = ({ channels, sampleRate }: Chunk): Chunk => ({
  channels: channels.map((wave) => highPassWave(wave, sampleRate)),
  sampleRate,
})

function highPassWave(wave: Float32Array, sampleRate: number): Float32Array {
  const { length } = wave
  const edge = Math.min(length - 1, Math.round(EDGE_SECONDS * sampleRate))
  const samples = extend(wave, edge)
  const angle = 2 * Math.PI * Math.min(CUTOFF / sampleRate, CUTOFF_SHARE_MAX)
  const [a, b, c] = POLE_ANGLES
  const sections: Sections = [sectionOf(angle, a), sectionOf(angle, b), sectionOf(angle, c)]
  filter(samples, sections)
  filter(samples.reverse(), sections)
  return new Float32Array(samples.reverse().subarray(edge, edge + length))
}

/** In double precision: at high rates the filter's poles are next to 1. */
function extend(wave: Float32Array, edge: number): Float64Array {
  const { length } = wave
  const samples = new Float64Array(length + 2 * edge)
  for (let i = 0; i < length; i += 1) {
    if (Math.abs(wave[i]!) < SAMPLE_MAX) samples[edge + i] = wave[i]!
  }
  const [first, last] = [edge, edge + length - 1]
  for (let i = 1; i <= edge; i += 1) {
    samples[first - i] = 2 * samples[first]! - samples[first + i]!
    samples[last + i] = 2 * samples[last]! - samples[last - i]!
  }
  return samples
}

/** A high-pass of second order: its gain, and how its last two outputs come back. */
type Section = readonly [gain: number, back1: number, back2: number]
type Sections = readonly [Section, Section, Section]

/** By the bilinear transform. */
function sectionOf(angle: number, poleAngle: number): Section {
  const alpha = Math.sin(angle) * Math.cos(poleAngle)
  const cosine = Math.cos(angle)
  return [(1 + cosine) / 2 / (1 + alpha), (2 * cosine) / (1 + alpha), (alpha - 1) / (1 + alpha)]
}

/**
 * Filters in place. All sections run in one loop, which takes half the time of three. The first
 * sample counts as if it had lasted forever: a constant offset leaves nothing, not even rounding.
 */
function filter(samples: Float64Array, [a, b, c]: Sections): void {
  const [gainA, backA1, backA2] = a
  const [gainB, backB1, backB2] = b
  const [gainC, backC1, backC2] = c
  const first = samples[0]!
  let [a1, a2, b1, b2, c1, c2] = [0, 0, 0, 0, 0, 0]
  for (let i = 0; i < samples.length; i += 1) {
    const inA = gainA * (samples[i]! - first)
    const outA = inA + a1
    a1 = backA1 * outA - 2 * inA + a2
    a2 = backA2 * outA + inA
    const inB = gainB * outA
    const outB = inB + b1
    b1 = backB1 * outB - 2 * inB + b2
    b2 = backB2 * outB + inB
    const inC = gainC * outB
    const outC = inC + c1
    c1 = backC1 * outC - 2 * inC + c2
    c2 = backC2 * outC + inC
    samples[i] = outC
  }
}
