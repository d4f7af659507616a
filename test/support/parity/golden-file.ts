/** Reads the tensors in one file of a reference run, and compares results with them. */
import { openSafetensors } from '../../../models/checkpoint/safetensors.ts'
import type { StoredTensor } from '../../../models/checkpoint/stored-tensor.ts'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { largestDifference, type Comparison } from './comparison.ts'

export interface ManifestEntry {
  suggested_atol?: number
  suggested_atol_all?: number
  suggested_atol_final?: number
  final_outputs?: readonly string[]
  /** For open models: the tolerance of each tensor. */
  tensors?: Readonly<Record<string, { atol?: number }>>
}

/** The usual value of `Comparison.against`: computed the way the reference does. */
const AS_THERE = 'as there'

export class GoldenFile {
  readonly #file: string
  readonly #stored: ReadonlyMap<string, StoredTensor>
  readonly #entry: ManifestEntry
  readonly #untouched: Set<string>

  constructor(path: string, file: string, entry: ManifestEntry = {}) {
    this.#file = file
    this.#stored = openSafetensors(path)
    this.#entry = entry
    this.#untouched = new Set(this.#stored.keys())
  }

  /** Tensors that no stage has used yet, either as an input or in a comparison. */
  get untouched(): readonly string[] {
    return [...this.#untouched]
  }

  get names(): string[] {
    return [...this.#stored.keys()]
  }

  has(name: string): boolean {
    return this.#stored.has(name)
  }

  shape(name: string): readonly number[] {
    return this.#find(name).shape
  }

  values(name: string): Float32Array | Int32Array {
    return this.#find(name).values()
  }

  /** Returns the waves `name.0`, `name.1` and so on. */
  waves(name: string, count: number): Float32Array[] {
    return Array.from({ length: count }, (_, row) =>
      Float32Array.from(this.values(`${name}.${row}`)),
    )
  }

  /** Returns the stored tensor as float32, converting int32. The caller frees it. */
  tensor(name: string): Tensor {
    const { shape, values } = this.#find(name)
    return tf.tensor(Float32Array.from(values()), [...shape], 'float32')
  }

  /**
   * Returns a tensor transposed from the reference's [batch, channels, frames] to [batch, frames,
   * channels].
   */
  turned(name: string): Tensor {
    return tf.tidy(() => tf.transpose(this.tensor(name), [0, 2, 1]))
  }

  /** Returns the manifest's tolerance for this tensor. */
  tolerance(name: string): number {
    const { final_outputs: outputs, suggested_atol: any, tensors } = this.#entry
    const isFinal = outputs?.includes(name)
    const key = isFinal ? 'suggested_atol_final' : 'suggested_atol_all'
    const allowed = tensors?.[name]?.atol ?? this.#entry[key] ?? any
    if (allowed !== undefined) return allowed
    throw new Error(`the manifest states no tolerance for ${name} of ${this.#file}`)
  }

  /** Compares with a stored tensor, and frees `actual`. */
  compare(name: string, actual: Tensor, against = AS_THERE): Comparison {
    const { shape, values } = this.#find(name)
    const isShaped = String(actual.shape) === String(shape)
    const error = isShaped ? largestDifference(actual.dataSync<'float32'>(), values()) : Infinity
    actual.dispose()
    return { file: this.#file, name, against, error, allowed: this.tolerance(name) }
  }

  /**
   * Like `compare`, for our [batch, frames, channels] and the reference's [batch, channels,
   * frames].
   */
  compareTurned(name: string, actual: Tensor, against = AS_THERE): Comparison {
    const turned = tf.tidy(() => tf.transpose(actual, [0, 2, 1]))
    actual.dispose()
    return this.compare(name, turned, against)
  }

  /** Like `compare`, for one row of a batch, cut to the shape of `actual` [1, length, ...]. */
  compareRow(name: string, row: number, actual: Tensor, against: string): Comparison {
    const expected = tf.tidy(() => {
      const rest = actual.shape.slice(1)
      return tf.slice(this.tensor(name), [row, ...rest.map(() => 0)], [1, ...rest])
    })
    const [ours, theirs] = [actual, expected].map((x) => x.dataSync<'float32'>())
    tf.dispose([actual, expected])
    const error = largestDifference(ours!, theirs!)
    return { file: this.#file, name, against, error, allowed: this.tolerance(name) }
  }

  /** Like `compare`, but ignores the padding: frames where `valid` [batch, length] is 0. */
  compareReal(name: string, actual: Tensor, valid: Tensor): Comparison {
    const padding = tf.tidy(() => tf.sub(1, valid).expandDims(-1))
    const ours = tf.tidy(() => actual.mul(tf.sub(1, padding)).add(this.tensor(name).mul(padding)))
    tf.dispose([padding, actual])
    return this.compare(name, ours, 'as there, but for padding')
  }

  #find(name: string): StoredTensor {
    const stored = this.#stored.get(name)
    if (!stored) throw new Error(`${this.#file} has no ${name}`)
    this.#untouched.delete(name)
    return stored
  }
}
