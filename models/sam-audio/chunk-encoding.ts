/** Encodes a chunk, slice by slice, into the features that its candidates share. */
import { tf, type Tensor } from '../tensorflow/tensor.ts'
import { encodeSlice, encodingSlices, frameCount } from './codec/codec.ts'
import type { Encoder } from './codec/encoder.ts'
import type { Slice } from './codec/slices.ts'
import { hopOf, type CodecConfig } from './config.ts'

/** Keeps encoded slices in JavaScript memory, because they are small and need no freeing there. */
export class Encoding {
  readonly frames: number
  readonly #encoder: Encoder
  readonly #config: CodecConfig
  readonly #slices: readonly Slice[]
  readonly #parts: Float32Array[] = []

  /** Does not keep the mixture; it is passed in for each slice. */
  constructor(encoder: Encoder, config: CodecConfig, mixture: Float32Array) {
    this.#encoder = encoder
    this.#config = config
    this.frames = frameCount(mixture.length, hopOf(config))
    this.#slices = encodingSlices(encoder, this.frames)
  }

  /** How many slices are still to be encoded. */
  get left(): number {
    return this.#slices.length - this.#parts.length
  }

  /** Encodes slices until at most `left` remain. Reads from the device. */
  reduceTo(left: number, mixture: Float32Array): void {
    while (this.left > left) {
      const slice = this.#slices[this.#parts.length]!
      const features = encodeSlice(this.#encoder, this.#config, [mixture], slice)
      this.#parts.push(features.dataSync<'float32'>().slice())
      features.dispose()
    }
  }

  /** Returns all features, [1, frames, codebookDim]; the caller frees them. */
  features(): Tensor {
    if (this.left > 0) throw new Error(`${this.left} slices are not encoded yet`)
    return tf.tidy(() =>
      tf.concat(
        this.#parts.map((part, i) => {
          const { start, end } = this.#slices[i]!
          return tf.tensor3d(part, [1, end - start, part.length / (end - start)])
        }),
        1,
      ),
    )
  }
}
