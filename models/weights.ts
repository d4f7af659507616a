/** Weights by path and exact shape: a missing, misshapen or unread weight is an error. */
import { openSafetensors } from './safetensors.ts'
import { countOf, type StoredTensor } from './stored-tensor.ts'
import { tf, type Tensor } from './tensor.ts'
import { openTorchCheckpoint } from './torch-checkpoint.ts'

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

  /**
   * Opens a `.safetensors` file, or a state dict by torch.save, whatever that file is called.
   * @throws Error naming the file when it is not sound
   */
  static open(name: string): Weights {
    const open = name.endsWith('.safetensors') ? openSafetensors : openTorchCheckpoint
    return Weights.of(name, open(name))
  }

  /** Tensors from elsewhere; errors call them `name`. */
  static of(name: string, tensors: ReadonlyMap<string, StoredTensor>): Weights {
    return new Weights({ name, tensors, unread: new Set(tensors.keys()) }, '')
  }

  /** The view one step further down: a layer's name or number. */
  at(step: string | number): Weights {
    return new Weights(this.#file, `${this.#path}${step}.`)
  }

  has(name: string): boolean {
    return this.#file.tensors.has(this.#path + name)
  }

  /** A weight's shape, for sizes that nothing else tells. @throws Error when it is absent */
  shapeOf(name: string): readonly number[] {
    return this.#find(name).shape
  }

  /** A float32 tensor that the caller owns. @throws Error when it is absent or shaped otherwise */
  get(name: string, shape: readonly number[]): Tensor {
    const stored = this.#find(name)
    const path = this.#path + name
    if (String(stored.shape) !== String(shape)) {
      const found = `has shape [${stored.shape}], expected [${shape}]`
      throw new Error(`${this.#file.name}: weight ${path} ${found}`)
    }
    this.#file.unread.delete(path)
    return tf.tensor(stored.values(), [...shape], 'float32')
  }

  /** Declares a weight that the network does not use. */
  ignore(name: string): void {
    this.#file.unread.delete(this.#path + name)
  }

  /** Declares that the network uses nothing from here downwards, whatever there is. */
  ignoreAll(): void {
    for (const path of this.#file.unread) {
      if (path.startsWith(this.#path)) this.#file.unread.delete(path)
    }
  }

  /** @throws Error naming weights that nobody asked for: a layer is missing from the network */
  assertAllRead(): void {
    const unread = [...this.#file.unread]
    if (unread.length === 0) return
    throw new Error(
      `${this.#file.name}: ${unread.length} weights were not read: ${unread.join(', ')}`)
  }

  /** Numbers in the whole file. */
  get parameters(): number {
    const sizes = [...this.#file.tensors.values()].map(({ shape }) => countOf(shape))
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  #find(name: string): StoredTensor {
    const path = this.#path + name
    const stored = this.#file.tensors.get(path)
    if (!stored) throw new Error(`${this.#file.name}: weight ${path} is missing`)
    return stored
  }
}
