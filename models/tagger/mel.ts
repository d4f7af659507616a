/** Defines the tagger's frames and bands for waves of any rate. Does not load TensorFlow. */

/** Sample rate in hertz at which the network was trained, and its transform at that rate. */
const RATE = 32_000
const WINDOW = 1024
const HOP = 500
/** Windows at other rates are multiples of this many samples, which have fast transforms. */
const WINDOW_UNIT = 32

export const MELS = 64
const LOWEST_HERTZ = 50
const HIGHEST_HERTZ = 16_000

/** Added to the power of every band, so that silence is -90 dB. */
export const FLOOR = 1e-9
/** Approximate mean and spread of the logarithm for sounds of all levels. */
export const CENTRE = -10
export const SCALE = 5

/** Frames per step, which is the half second that the tagger answers for. */
const STEP_FRAMES = 32

/** The features above, with the names they have in the configuration. */
export const MEL_FEATURES = {
  sample_rate: RATE,
  n_fft: WINDOW,
  hop: HOP,
  step_frames: STEP_FRAMES,
  mels: MELS,
  lowest_hertz: LOWEST_HERTZ,
  highest_hertz: HIGHEST_HERTZ,
  floor: FLOOR,
  centre: CENTRE,
  scale: SCALE,
} as const

/** The position of frames in a wave: frame f starts at sample f · hop of the padded wave. */
export interface MelFraming {
  /** Hertz. */
  sampleRate: number
  /** Samples from one frame to the next, and in a window. */
  hop: number
  window: number
}

/**
 * Returns the same frames (in seconds) for any rate.
 * @param sampleRate hertz
 */
export function melFraming(sampleRate: number): MelFraming {
  const scaled = (samples: number) => (samples * sampleRate) / RATE
  const window = WINDOW_UNIT * Math.max(1, Math.round(scaled(WINDOW) / WINDOW_UNIT))
  return { sampleRate, hop: Math.max(1, Math.round(scaled(HOP))), window }
}

/** Returns the number of samples per step. */
export const stepSamples = ({ hop }: MelFraming): number => STEP_FRAMES * hop

/** Returns how many samples the windows extend beyond each end of the steps. */
export const edgeSamples = ({ hop, window }: MelFraming): number => Math.floor((window - hop) / 2)

/** Returns how many samples a padded wave with this many steps has. */
export function paddedSamples(framing: MelFraming, steps: number): number {
  const { hop, window } = framing
  return hop * (STEP_FRAMES * steps + Math.ceil(window / hop) - 1)
}

/**
 * Returns the weights of bins in bands, [window / 2 + 1, MELS]: triangles with a peak of 1 and
 * corners evenly spaced in mels (2595 log10(1 + Hz / 700)).
 */
export function melMatrix({ sampleRate, window }: MelFraming): Float32Array {
  const [low, high] = [melsOf(LOWEST_HERTZ), melsOf(HIGHEST_HERTZ)]
  const corners = Array.from({ length: MELS + 2 }, (_, i) =>
    hertzOf(low + ((high - low) * i) / (MELS + 1)),
  )
  const matrix = new Float32Array((window / 2 + 1) * MELS)
  for (let bin = 0; bin <= window / 2; bin += 1) {
    const hertz = (bin * sampleRate) / window
    for (let band = 0; band < MELS; band += 1) {
      const [left, peak, right] = corners.slice(band, band + 3) as [number, number, number]
      const weight = Math.min((hertz - left) / (peak - left), (right - hertz) / (right - peak))
      matrix[bin * MELS + band] = Math.max(0, weight)
    }
  }
  return matrix
}

const melsOf = (hertz: number): number => 2595 * Math.log10(1 + hertz / 700)

const hertzOf = (mels: number): number => 700 * (10 ** (mels / 2595) - 1)
