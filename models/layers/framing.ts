/** Places of the frames of a short-time Fourier transform; loads no TensorFlow. */

/** The usual overlap; networks with another state their window. */
const HOPS_PER_WINDOW = 4

/** Places frames: frame i is centred on sample i · hop - shift. */
export interface Framing {
  /** Samples. */
  hop: number
  frames: number
  /** Samples, from -2 · hop to less than 2 · hop. */
  shift: number
  /** Samples of a window, an even number (absent: four hops). */
  window?: number
  /** Its shape (absent: a periodic Hann window). */
  taper?: 'hann' | 'none'
}

export const windowLength = (hop: number): number => HOPS_PER_WINDOW * hop

/** Frames that cover the signal; with no shift it is torch.stft's number. */
export function frameCount(samples: number, hop: number, shift: number): number {
  return 1 + Math.floor((samples + shift) / hop)
}
