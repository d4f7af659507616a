/** The part of `fft.js` that we use; the package has no types. */
declare module 'fft.js' {
  export default class FFT {
    /** @param size a power of two */
    constructor(size: number)
    /** Transforms `size` complex numbers with alternating real and imaginary parts. */
    transform(out: Float64Array, input: Float64Array): void
    /** The inverse, divided by `size`. */
    inverseTransform(out: Float64Array, input: Float64Array): void
  }
}
