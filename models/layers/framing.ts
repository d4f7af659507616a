/** Positions of the frames of a short-time Fourier transform. This file loads no TensorFlow. */

/** The usual overlap; networks with another one specify their window. */
const HOPS_PER_WINDOW = 4

/** Positions of frames: frame i is centred on sample i · hop - shift. */
export interface Framing {
  /** Samples. */
  hop: number
  frames: number
  /** In samples, from -2 · hop to less than 2 · hop. */
  shift: number
  /** Length of a window in samples, an even number (default: four hops). */
  window?: number
  /** Shape of the window (default: a periodic Hann window). */
  taper?: 'hann' | 'none'
}

export const windowLength = (hop: number): number => HOPS_PER_WINDOW * hop

/** How many frames cover the signal; without a shift, as many as torch.stft makes. */
export function frameCount(samples: number, hop: number, shift: number): number {
  return 1 + Math.floor((samples + shift) / hop)
}
