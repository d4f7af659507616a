/** Mixes targets within one window of a short-time spectrum, where they compete for the mixture. */

import FFT from 'fft.js'

/** Length and hop of the windows in samples; a window lasts 46 ms at 44.1 kHz. */
export const WINDOW = 2048
export const HOP = WINDOW / 2
const BINS = HOP + 1

/** The square root of a Hann window. Applied before and after, overlapping frames add up to 1. */
const FADE = Float64Array.from({ length: WINDOW }, (_, i) =>
  Math.sin((Math.PI * (i + 0.5)) / WINDOW),
)

/** How a target is made of sounds. */
export interface TargetRecipe {
  /** Indices of the sounds that add up to it; null for the mixture. */
  wanted: readonly number[] | null
  /** Indices of the sounds that are subtracted. */
  unwanted: readonly number[]
}

/** Half a spectrum; for a real signal the other half is its mirror image. */
interface Spectrum {
  real: Float64Array
  imaginary: Float64Array
}

const emptySpectrum = (): Spectrum => ({
  real: new Float64Array(BINS),
  imaginary: new Float64Array(BINS),
})

interface CompetingTarget extends Spectrum {
  wanted: readonly Spectrum[] | null
  unwanted: readonly Spectrum[]
}

export class CompetingFrame {
  readonly #fft = new FFT(WINDOW)
  readonly #packed = new Float64Array(2 * WINDOW)
  readonly #transformed = new Float64Array(2 * WINDOW)
  /** The mixture, followed by the sounds. */
  readonly #waves: readonly Spectrum[]
  readonly #targets: readonly CompetingTarget[]
  readonly #explained = new Float64Array(BINS)
  readonly #taken = emptySpectrum()
  readonly #mixed: Float64Array[]

  constructor(recipes: readonly TargetRecipe[], sounds: number) {
    this.#waves = Array.from({ length: sounds + 1 }, emptySpectrum)
    const spectraOf = (places: readonly number[]) => places.map((i) => this.#waves[i + 1]!)
    this.#targets = recipes.map(({ wanted, unwanted }) => ({
      ...emptySpectrum(),
      wanted: wanted && spectraOf(wanted),
      unwanted: spectraOf(unwanted),
    }))
    this.#mixed = recipes.map(() => new Float64Array(WINDOW))
  }

  /**
   * Mixes one window of one channel.
   * @param waves WINDOW samples of the mixture, then of each sound
   * @returns WINDOW samples of each target, faded for overlap-add, in memory that the next call
   *   reuses
   */
  mix(waves: readonly Float32Array[]): readonly Float64Array[] {
    for (let i = 0; i < waves.length; i += 2) this.#forward(waves, i)
    for (const target of this.#targets) this.#mixTarget(target)
    if (this.#targets.length > 1) this.#share(this.#targets, this.#targets)
    for (let i = 0; i < this.#mixed.length; i += 2) this.#inverse(i)
    return this.#mixed
  }

  #mixTarget(target: CompetingTarget): void {
    const { wanted, unwanted } = target
    this.#sum(wanted ?? [this.#waves[0]!], target)
    if (unwanted.length === 0) return
    const taken = this.#taken
    this.#sum(unwanted, taken)
    if (wanted) return this.#lowerBy(taken, target)
    subtract(taken.real, target.real)
    subtract(taken.imaginary, target.imaginary)
  }

  /** The sum of competing parts. */
  #sum(parts: readonly Spectrum[], sum: Spectrum): void {
    sum.real.fill(0)
    sum.imaginary.fill(0)
    for (const { real, imaginary } of parts) {
      add(real, sum.real)
      add(imaginary, sum.imaginary)
    }
    if (parts.length > 1) this.#share(parts, [sum])
  }

  /** Subtracts the share of `taken` from that of `target`, but never below 0. */
  #lowerBy(taken: Spectrum, target: Spectrum): void {
    const mixture = this.#waves[0]!
    for (let bin = 0; bin < BINS; bin += 1) {
      const share = productAt(target, mixture, bin)
      const left = share - Math.max(0, productAt(taken, mixture, bin))
      const gain = share > 0 ? Math.max(0, left) / share : 1
      target.real[bin]! *= gain
      target.imaginary[bin]! *= gain
    }
  }

  /** Lowers `lowered` where the shares of `competing` add up to more than the mixture. */
  #share(competing: readonly Spectrum[], lowered: readonly Spectrum[]): void {
    const mixture = this.#waves[0]!
    const explained = this.#explained.fill(0)
    for (const spectrum of competing) {
      for (let bin = 0; bin < BINS; bin += 1) {
        explained[bin]! += Math.max(0, productAt(spectrum, mixture, bin))
      }
    }
    for (let bin = 0; bin < BINS; bin += 1) {
      const whole = productAt(mixture, mixture, bin)
      if (explained[bin]! <= whole) continue
      const gain = whole / explained[bin]!
      for (const spectrum of lowered) {
        spectrum.real[bin]! *= gain
        spectrum.imaginary[bin]! *= gain
      }
    }
  }

  /** Transforms two real signals as one complex signal. */
  #forward(waves: readonly Float32Array[], first: number): void {
    const [wave, nextWave] = [waves[first]!, waves[first + 1]]
    for (let i = 0; i < WINDOW; i += 1) {
      this.#packed[2 * i] = FADE[i]! * wave[i]!
      this.#packed[2 * i + 1] = nextWave ? FADE[i]! * nextWave[i]! : 0
    }
    this.#fft.transform(this.#transformed, this.#packed)
    const numbers = this.#transformed
    const [a, b] = [this.#waves[first]!, this.#waves[first + 1]]
    for (let bin = 0; bin < BINS; bin += 1) {
      const mirror = (WINDOW - bin) % WINDOW
      const real = numbers[2 * bin]!
      const imaginary = numbers[2 * bin + 1]!
      const mirrorReal = numbers[2 * mirror]!
      const mirrorImaginary = numbers[2 * mirror + 1]!
      a.real[bin] = (real + mirrorReal) / 2
      a.imaginary[bin] = (imaginary - mirrorImaginary) / 2
      if (!b) continue
      b.real[bin] = (imaginary + mirrorImaginary) / 2
      b.imaginary[bin] = (mirrorReal - real) / 2
    }
  }

  /** The inverse of `#forward`, for targets. */
  #inverse(first: number): void {
    const [a, b = SILENCE] = [this.#targets[first]!, this.#targets[first + 1]]
    for (let bin = 0; bin < BINS; bin += 1) {
      const mirror = (WINDOW - bin) % WINDOW
      this.#packed[2 * mirror] = a.real[bin]! + b.imaginary[bin]!
      this.#packed[2 * mirror + 1] = b.real[bin]! - a.imaginary[bin]!
      this.#packed[2 * bin] = a.real[bin]! - b.imaginary[bin]!
      this.#packed[2 * bin + 1] = b.real[bin]! + a.imaginary[bin]!
    }
    this.#fft.inverseTransform(this.#transformed, this.#packed)
    const [wave, nextWave] = [this.#mixed[first]!, this.#mixed[first + 1]]
    for (let i = 0; i < WINDOW; i += 1) {
      wave[i] = FADE[i]! * this.#transformed[2 * i]!
      if (nextWave) nextWave[i] = FADE[i]! * this.#transformed[2 * i + 1]!
    }
  }
}

const SILENCE = emptySpectrum()

function add(wave: Float64Array, sum: Float64Array): void {
  for (let i = 0; i < sum.length; i += 1) sum[i]! += wave[i]!
}

function subtract(part: Float64Array, rest: Float64Array): void {
  for (let i = 0; i < rest.length; i += 1) rest[i]! -= part[i]!
}

/** The real part of `a` times the conjugate of `b`: how much of `a` explains `b`. */
const productAt = (a: Spectrum, b: Spectrum, bin: number): number =>
  a.real[bin]! * b.real[bin]! + a.imaginary[bin]! * b.imaginary[bin]!
