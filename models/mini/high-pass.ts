/**
 * Removes inaudible low frequencies, such as a constant offset or rumble, without a phase shift.
 */
import { zeroIfDamaged } from '../lanes/level.ts'
import type { Chunk } from '../model.ts'

/** Hertz. The amplitude is halved here; 3 % remain at 15 Hz and 99 % at 30 Hz. */
const CUTOFF = 20

/** Upper limit of the cutoff as a share of the sample rate, which keeps the filter stable. */
const CUTOFF_SHARE_MAX = 1 / 4

/** The poles of a sixth-order Butterworth filter, which runs forwards and then backwards. */
const POLE_ANGLES = [1, 3, 5].map((odd) => (odd * Math.PI) / 12) as [number, number, number]

/**
 * Both ends are extended by this much, reflected about the last sample, so that the filter settles.
 */
const EDGE_SECONDS = 0.25

/**
 * Returns the part of a chunk that the model reads and makes targets of (`high_pass` in training).
 * What it removes stays in the residual. The channels lie one after the other in one buffer.
 */
export function highPass({ channels, sampleRate }: Chunk): Chunk {
  const length = channels[0]?.length ?? 0
  const edge = Math.max(0, Math.min(length - 1, Math.round(EDGE_SECONDS * sampleRate)))
  const angle = 2 * Math.PI * Math.min(CUTOFF / sampleRate, CUTOFF_SHARE_MAX)
  const [a, b, c] = POLE_ANGLES
  const sections: Sections = [sectionOf(angle, a), sectionOf(angle, b), sectionOf(angle, c)]
  const samples = new Float64Array(length + 2 * edge)
  const together = new Float32Array(channels.length * length)
  const filtered = channels.map((wave, i) => {
    extend(wave, edge, samples)
    filter(samples, sections, 1)
    filter(samples, sections, -1)
    const target = together.subarray(i * length, (i + 1) * length)
    target.set(samples.subarray(edge, edge + length))
    return target
  })
  return { channels: filtered, sampleRate }
}

/** Fills `samples` in double precision, because at high sample rates the poles come close to 1. */
function extend(wave: Float32Array, edge: number, samples: Float64Array): void {
  const { length } = wave
  for (let i = 0; i < length; i += 1) samples[edge + i] = zeroIfDamaged(wave[i]!)
  const [first, last] = [edge, edge + length - 1]
  for (let i = 1; i <= edge; i += 1) {
    samples[first - i] = 2 * samples[first]! - samples[first + i]!
    samples[last + i] = 2 * samples[last]! - samples[last - i]!
  }
}

/** A second-order high-pass: its gain, and the feedback of its last two outputs. */
type Section = readonly [gain: number, back1: number, back2: number]
type Sections = readonly [Section, Section, Section]

/** Computed by the bilinear transform. */
function sectionOf(angle: number, poleAngle: number): Section {
  const alpha = Math.sin(angle) * Math.cos(poleAngle)
  const cosine = Math.cos(angle)
  return [(1 + cosine) / 2 / (1 + alpha), (2 * cosine) / (1 + alpha), (alpha - 1) / (1 + alpha)]
}

/**
 * Filters in place. All sections run in one loop, which takes half as long as three loops. The
 * filter starts as if the first sample had lasted forever, so a constant offset leaves no trace.
 * @param step 1 for forwards, -1 for backwards
 */
function filter(samples: Float64Array, [a, b, c]: Sections, step: 1 | -1): void {
  const [gainA, backA1, backA2] = a
  const [gainB, backB1, backB2] = b
  const [gainC, backC1, backC2] = c
  const { length } = samples
  const [from, end] = step === 1 ? [0, length] : [length - 1, -1]
  const gain = gainA * gainB * gainC
  const first = samples[from]!
  let [a1, a2, b1, b2, c1, c2] = [0, 0, 0, 0, 0, 0]
  for (let i = from; i !== end; i += step) {
    const inA = gain * (samples[i]! - first)
    const outA = inA + a1
    a1 = backA1 * outA + (a2 - 2 * inA)
    a2 = backA2 * outA + inA
    const outB = outA + b1
    b1 = backB1 * outB + (b2 - 2 * outA)
    b2 = backB2 * outB + outA
    const outC = outB + c1
    c1 = backC1 * outC + (c2 - 2 * outB)
    c2 = backC2 * outC + outB
    samples[i] = outC
  }
}
