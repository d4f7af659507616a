/** Weights by path and exact shape: a missing, misshapen or unread weight is an error. */
import { openSafetensors, type StoredTensor } from './safetensors.ts'
import { tf, type Tensor } from './tensor.ts'

interface WeightsFile {
  readonly name: string
  readonly tensors: ReadonlyMap<string, StoredTensor>
  readonly unread: Set<string>
}

/** A view of a weights file from one path downwards. */
export class Weights {
  readonly #file: WeightsFile
  readonly #path: string

  private constructor(file: WeightsFile, path: string) {
    this.#file = file
    this.#path = path
  }

  /** @throws Error naming the file when it is not a sound safetensors file */
  static open(name: string): Weights {
    const tensors = openSafetensors(name)
    return new Weights({ name, tensors, unread: new Set(tensors.keys()) }, '')
  }

  /** The view one step further down: a layer's name or number. */
  at(step: string | number): Weights {
    return new Weights(this.#file, `${this.#path}${step}.`)
  }

  /** A float32 tensor that the caller owns. @throws Error when it is absent or shaped otherwise */
  get(name: string, shape: readonly number[]): Tensor {
    const path = this.#path + name
    const stored = this.#find(name)
    if (String(stored.shape) !== String(shape)) {
      const found = `has shape [${stored.shape}], expected [${shape}]`
      throw new Error(`${this.#file.name}: weight ${path} ${found}`)
    }
    this.#file.unread.delete(path)
    return tf.tensor(stored.values(), [...shape], 'float32')
  }

  has(name: string): boolean {
    return this.#file.tensors.has(this.#path + name)
  }

  /** The shape of a weight whose size is said nowhere else. @throws Error when it is absent */
  shapeOf(name: string): readonly number[] {
    return this.#find(name).shape
  }

  /** Declares a weight that the network does not use. */
  ignore(name: string): void {
    this.#file.unread.delete(this.#path + name)
  }

  /** @throws Error naming weights that nobody asked for: a layer is missing from the network */
  assertAllRead(): void {
    const unread = [...this.#file.unread]
    if (unread.length === 0) return
    const some = unread.slice(0, 5).join(', ')
    throw new Error(`${this.#file.name}: ${unread.length} weights were not read: ${some}`)
  }

  #find(name: string): StoredTensor {
    const path = this.#path + name
    const stored = this.#file.tensors.get(path)
    if (!stored) throw new Error(`${this.#file.name}: weight ${path} is missing`)
    return stored
  }

  /** Numbers in the whole file. */
  get parameters(): number {
    const sizes = [...this.#file.tensors.values()].map(({ shape }) =>
      shape.reduce((product, size) => product * size, 1))
    return sizes.reduce((sum, size) => sum + size, 0)
  }
}
