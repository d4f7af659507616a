/** Weights by path and exact shape: a missing, misshapen or unread weight is an error. */
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Precision } from '../tensorflow/precision.ts'
import { openSafetensors } from './safetensors.ts'
import { countOf, Scratch, type StoredTensor } from './stored-tensor.ts'
import { native, upload, type Tensor } from '../tensorflow/tensor.ts'
import { openTorchCheckpoint } from './torch-checkpoint.ts'

interface WeightsFile {
  readonly name: string
  readonly tensors: ReadonlyMap<string, StoredTensor>
  readonly unread: Set<string>
  /** Faults of weights asked for so far; null: the first is thrown at once. */
  readonly faults: string[] | null
  readonly scratch: Scratch
}

/** The tensors of a file in any of the formats; see `Weights.open`. */
export function openTensors(name: string): ReadonlyMap<string, StoredTensor> {
  const opened = weightFiles(name).map((file) =>
    file.endsWith('.safetensors') ? openSafetensors(file) : openTorchCheckpoint(file),
  )
  return new Map(opened.flatMap((tensors) => [...tensors]))
}

/**
 * The files that the tensors of `name` lie in: itself, or those that an index of shards names.
 * @throws Error naming the index when it is unsound, or names a file elsewhere
 */
export function weightFiles(name: string): string[] {
  if (!name.endsWith('.index.json')) return [name]
  const shards = shardsOf(name)
  const isBeside = (shard: unknown) =>
    typeof shard === 'string' && basename(shard) === shard && shard.endsWith('.safetensors')
  if (shards.length > 0 && shards.every(isBeside)) {
    return shards.map((shard) => join(dirname(name), String(shard)))
  }
  throw new Error(`${name}: its weight_map must name safetensors files in its folder`)
}

function shardsOf(name: string): unknown[] {
  try {
    const { weight_map: map } = JSON.parse(readFileSync(name, 'utf8'))
    return [...new Set(Object.values(map))]
  } catch (cause) {
    throw new Error(`${name}: can't be read as an index of weights`, { cause })
  }
}

/** Stands for numbers when nothing is computed: none are read. */
const NO_NUMBERS = new Float32Array(0)

/** A view of a weights file from one path downwards. */
export class Weights {
  readonly #file: WeightsFile
  readonly #path: string

  /** How wide products with the matrices from here downwards are meant to be. */
  readonly precision: Precision

  private constructor(file: WeightsFile, path: string, precision: Precision = 'float32') {
    this.#file = file
    this.#path = path
    this.precision = precision
  }

  /**
   * Opens a `.safetensors` file, an index of several (`.index.json`), or a state dict by
   * torch.save, whatever that file is called.
   * @throws Error naming the file when it is not sound
   */
  static open(name: string): Weights {
    return Weights.of(name, openTensors(name))
  }

  /** Tensors from elsewhere; errors call them `name`. */
  static of(name: string, tensors: ReadonlyMap<string, StoredTensor>): Weights {
    return new Weights(fileOf(name, tensors, null), '')
  }

  /**
   * Loads from all weights of a file, as `open` takes it.
   * @throws Error naming the file and every weight that is missing, misshapen or unread
   */
  static read<T>(name: string, load: (weights: Weights) => T): T {
    const weights = new Weights(fileOf(name, openTensors(name), []), '')
    const loaded = load(weights)
    weights.assertAllRead()
    return loaded
  }

  /** The view one step further down: a layer's name or number. */
  at(step: string | number): Weights {
    return new Weights(this.#file, `${this.#path}${step}.`, this.precision)
  }

  /** The same view, for products of another precision. */
  in(precision: Precision): Weights {
    return new Weights(this.#file, this.#path, precision)
  }

  /**
   * The same weights under other names; call it before any weight is read.
   * @param rename a stored name to the name that the network asks for
   * @throws Error when two weights would have one name
   */
  renamed(rename: (name: string) => string): Weights {
    const { name, tensors: stored, unread } = this.#file
    const tensors = new Map([...stored].map(([path, tensor]) => [rename(path), tensor]))
    if (tensors.size < stored.size) throw new Error(`${name}: two weights have one name`)
    unread.clear()
    for (const path of tensors.keys()) unread.add(path)
    return new Weights({ ...this.#file, tensors }, this.#path, this.precision)
  }

  has(name: string): boolean {
    return this.#file.tensors.has(this.#path + name)
  }

  /** A weight's shape, for sizes that no configuration states. @throws Error when it is absent */
  shapeOf(name: string): readonly number[] {
    return this.#find(name).shape
  }

  /** A float32 tensor that the caller owns. @throws Error when it is absent or shaped otherwise */
  get(name: string, shape: readonly number[]): Tensor {
    return upload(this.values(name, shape), shape)
  }

  /**
   * As `get`, the numbers themselves, for what is laid otherwise than it is stored. They may be
   * changed, and are good until the next weight of the file is read.
   */
  values(name: string, shape: readonly number[]): Float32Array {
    const { faults, unread } = this.#file
    unread.delete(this.#path + name)
    try {
      return this.#valuesOf(name, shape)
    } catch (error) {
      if (!faults) throw error
      faults.push((error as Error).message)
      return new Float32Array(countOf(shape)) // `assertAllRead` will throw
    }
  }

  /** The room that this file's weights are read into. */
  get scratch(): Scratch {
    return this.#file.scratch
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

  /**
   * @throws Error naming weights that were not read: a layer is missing from the network. Under
   *   `read`, also those that were asked for and are not there, or not as they should be
   */
  assertAllRead(): void {
    const { name, unread, faults } = this.#file
    const paths = [...unread]
    const lines = [...(faults ?? [])]
    if (paths.length > 0) {
      lines.push(`${name}: ${paths.length} weights were not read: ${paths.join(', ')}`)
    }
    if (lines.length > 0) throw new Error(lines.join('\n'))
  }

  /** Numbers in the whole file. */
  get parameters(): number {
    const sizes = [...this.#file.tensors.values()].map(({ shape }) => countOf(shape))
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  #valuesOf(name: string, shape: readonly number[]): Float32Array {
    const stored = this.#find(name)
    if (String(stored.shape) === String(shape)) {
      if (native.binding.givesShapesAlone) return NO_NUMBERS
      const values = stored.values(this.#file.scratch)
      return values instanceof Float32Array ? values : Float32Array.from(values)
    }
    const found = `has shape [${stored.shape}], expected [${shape}]`
    throw new Error(`${this.#file.name}: weight ${this.#path + name} ${found}`)
  }

  #find(name: string): StoredTensor {
    const path = this.#path + name
    const stored = this.#file.tensors.get(path)
    if (!stored) throw new Error(`${this.#file.name}: weight ${path} is missing`)
    return stored
  }
}

const fileOf = (
  name: string,
  tensors: ReadonlyMap<string, StoredTensor>,
  faults: string[] | null,
): WeightsFile => {
  const largest = [...tensors.values()].reduce(
    (most, { shape, bytes }) => Math.max(most, Math.min(countOf(shape), bytes)),
    0,
  ) // what a shape says is not checked yet
  const scratch = new Scratch(largest)
  return { name, tensors, unread: new Set(tensors.keys()), faults, scratch }
}
