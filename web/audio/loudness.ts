/** Loudness and true peak of a mix, as ITU-R BS.1770-4 defines them. */

/** Blocks of 0.4 s that begin every 0.1 s. */
const STEP_SECONDS = 0.1
const STEPS_PER_BLOCK = 4
/**
 * Calibrates the loudness: a mean square of 1 at 997 Hz in one channel comes out at its own level.
 */
const OFFSET = -0.691
/**
 * Blocks below the absolute gate, in LUFS, never count, nor do those this far below the mean of the
 * rest.
 */
const ABSOLUTE_GATE = -70
const RELATIVE_GATE = -10
/**
 * Left, right, centre, LFE and the surrounds of 5.1; in other layouts every channel counts fully.
 */
const WEIGHTS_OF_5_1 = [1, 1, 1, 0, 1.41, 1.41]

/** A biquad filter, normalised to a0 = 1. */
interface Biquad {
  b: readonly [number, number, number]
  a: readonly [number, number]
}

/** @returns LUFS over the whole mix; -Infinity if it is silent */
export function integratedLoudness(planes: readonly Float32Array[], sampleRate: number): number {
  const steps = stepPowers(planes, sampleRate)
  const blocks = steps
    .slice(0, Math.max(0, steps.length - STEPS_PER_BLOCK + 1))
    .map((_, i) => mean(steps.slice(i, i + STEPS_PER_BLOCK)))
  const loud = blocks.filter((power) => lufsOf(power) > ABSOLUTE_GATE)
  const gate = lufsOf(mean(loud)) + RELATIVE_GATE
  return lufsOf(mean(loud.filter((power) => lufsOf(power) > gate)))
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

const lufsOf = (power: number): number => OFFSET + 10 * Math.log10(power)

/**
 * Returns the weighted power of all channels in each step of 0.1 s; shorter sounds are padded to
 * one block.
 */
function stepPowers(planes: readonly Float32Array[], sampleRate: number): number[] {
  const stepSamples = Math.round(STEP_SECONDS * sampleRate)
  const count = Math.max(STEPS_PER_BLOCK, Math.floor(planes[0]!.length / stepSamples))
  const steps = new Array<number>(count).fill(0)
  for (const [channel, plane] of planes.entries()) {
    const weight = planes.length === 6 ? WEIGHTS_OF_5_1[channel]! : 1
    const samples = filter(filter(plane, shelf(sampleRate)), highPass(sampleRate))
    for (let i = 0; i < Math.min(samples.length, count * stepSamples); i += 1) {
      steps[Math.floor(i / stepSamples)]! += (weight * samples[i]! ** 2) / stepSamples
    }
  }
  return steps
}

/**
 * Models the effect of the head, 4 dB more above 2 kHz. (Formulas as in libebur128, for any sample
 * rate.)
 */
function shelf(sampleRate: number): Biquad {
  const k = Math.tan((Math.PI * 1681.974450955533) / sampleRate)
  const high = 10 ** (3.999843853973347 / 20)
  const band = high ** 0.4996667741545416
  const damping = k / 0.7071752369554196
  const a0 = 1 + damping + k * k
  return {
    b: [
      (high + band * damping + k * k) / a0,
      (2 * (k * k - high)) / a0,
      (high - band * damping + k * k) / a0,
    ],
    a: [(2 * (k * k - 1)) / a0, (1 - damping + k * k) / a0],
  }
}

/** Attenuates what is below 38 Hz. */
function highPass(sampleRate: number): Biquad {
  const k = Math.tan((Math.PI * 38.13547087602444) / sampleRate)
  const damping = k / 0.5003270373238773
  const a0 = 1 + damping + k * k
  return { b: [1, -2, 1], a: [(2 * (k * k - 1)) / a0, (1 - damping + k * k) / a0] }
}

function filter(samples: Float32Array | Float64Array, { b, a }: Biquad): Float64Array {
  const filtered = new Float64Array(samples.length)
  let x1 = 0
  let x2 = 0
  let y1 = 0
  let y2 = 0
  for (let i = 0; i < samples.length; i += 1) {
    const x = samples[i]!
    const y = b[0] * x + b[1] * x1 + b[2] * x2 - a[0] * y1 - a[1] * y2
    filtered[i] = y
    x2 = x1
    x1 = x
    y2 = y1
    y1 = y
  }
  return filtered
}

/** How many points are computed for each sample, and from how many samples. */
const PHASES = 4
const TAPS = 12
const CENTRE = TAPS / 2 - 1
/** How many samples are examined together. */
const BLOCK = 64

/**
 * The interpolation filters, windowed sincs. The first phase is the sample itself and needs none.
 */
const FILTERS = Array.from({ length: PHASES - 1 }, (_, i) => {
  const offset = (i + 1) / PHASES
  const taps = Array.from({ length: TAPS }, (_, tap) => {
    const x = tap - CENTRE - offset
    const window = Math.cos((Math.PI * x) / TAPS) ** 2
    return (window * Math.sin(Math.PI * x)) / (Math.PI * x)
  })
  const sum = taps.reduce((total, tap) => total + tap, 0)
  return Float64Array.from(taps, (tap) => tap / sum)
})
/** The largest gain of a filter. */
const GAIN_MAX = Math.max(
  ...FILTERS.map((taps) => taps.reduce((sum, tap) => sum + Math.abs(tap), 0)),
)

/** @returns the largest amplitude, including between samples, at four times the sample rate */
export function truePeak(planes: readonly Float32Array[]): number {
  let peak = 0
  for (const plane of planes) {
    const padded = new Float32Array(plane.length + 2 * TAPS)
    padded.set(plane, TAPS)
    for (let from = TAPS; from < plane.length + TAPS; from += BLOCK) {
      peak = peakOfBlock(padded, from, Math.min(BLOCK, plane.length + TAPS - from), peak)
    }
  }
  return peak
}

/**
 * Returns the larger of `peak` and the peak of a block, which is interpolated only if it may be
 * larger.
 */
function peakOfBlock(padded: Float32Array, from: number, count: number, peak: number): number {
  let largest = 0
  for (let i = from - TAPS; i < from + count + TAPS; i += 1) {
    largest = Math.max(largest, Math.abs(padded[i]!))
  }
  if (largest * GAIN_MAX <= peak) return peak
  for (let i = from; i < from + count; i += 1) {
    peak = Math.max(peak, Math.abs(padded[i]!))
    for (const taps of FILTERS) {
      let value = 0
      for (let tap = 0; tap < TAPS; tap += 1) value += taps[tap]! * padded[i + tap - CENTRE]!
      peak = Math.max(peak, Math.abs(value))
    }
  }
  return peak
}
