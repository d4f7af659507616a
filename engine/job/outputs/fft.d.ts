/** The part of `fft.js` that is used; the package has no types of its own. */
declare module 'fft.js' {
  export default class FFT {
    /** @param size a power of two */
    constructor(size: number)
    /** Forward transform of `size` complex numbers, real and imaginary parts in turn. */
    transform(out: Float64Array, input: Float64Array): void
    /** Its inverse, divided by `size`. */
    inverseTransform(out: Float64Array, input: Float64Array): void
  }
}
