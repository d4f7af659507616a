/**
 * Gives access to weights by path and exact shape. A missing, misshapen or unread weight is an
 * error.
 */
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
  /** The errors found so far among the weights read; null if the first one is thrown at once. */
  readonly faults: string[] | null
  readonly scratch: Scratch
}

/** Opens the tensors of a file in any supported format; see `Weights.open`. */
export function openTensors(name: string): ReadonlyMap<string, StoredTensor> {
  const opened = weightFiles(name).map((file) =>
    file.endsWith('.safetensors') ? openSafetensors(file) : openTorchCheckpoint(file),
  )
  return new Map(opened.flatMap((tensors) => [...tensors]))
}

/**
 * Returns the files that contain the tensors of `name`: the file itself, or those listed in an
 * index of shards.
 * @throws Error naming the index if it is invalid, or names a file in another folder
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

/** Placeholder for numbers in a dry run, which reads none. */
const NO_NUMBERS = new Float32Array(0)

/** A view of a weights file from one path down. */
export class Weights {
  readonly #file: WeightsFile
  readonly #path: string

  /** The precision for products with the matrices from here down. */
  readonly precision: Precision

  private constructor(file: WeightsFile, path: string, precision: Precision = 'float32') {
    this.#file = file
    this.#path = path
    this.precision = precision
  }

  /**
   * Opens a `.safetensors` file, an index of several (`.index.json`), or a state dict saved by
   * torch.save under any name.
   * @throws Error naming the file if it is invalid
   */
  static open(name: string): Weights {
    return Weights.of(name, openTensors(name))
  }

  /** Wraps tensors from another source; errors refer to it as `name`. */
  static of(name: string, tensors: ReadonlyMap<string, StoredTensor>): Weights {
    return new Weights(fileOf(name, tensors, null), '')
  }

  /**
   * Loads from all weights of a file, which may be any that `open` accepts.
   * @throws Error naming the file and every weight that is missing, misshapen or unread
   */
  static read<T>(name: string, load: (weights: Weights) => T): T {
    const weights = new Weights(fileOf(name, openTensors(name), []), '')
    const loaded = load(weights)
    weights.assertAllRead()
    return loaded
  }

  /** Returns the view one step down, for a layer's name or number. */
  at(step: string | number): Weights {
    return new Weights(this.#file, `${this.#path}${step}.`, this.precision)
  }

  /** Returns the same view for products of another precision. */
  in(precision: Precision): Weights {
    return new Weights(this.#file, this.#path, precision)
  }

  has(name: string): boolean {
    return this.#file.tensors.has(this.#path + name)
  }

  /**
   * Returns a weight's shape, for sizes that no configuration states.
   * @throws Error if it is missing
   */
  shapeOf(name: string): readonly number[] {
    return this.#find(name).shape
  }

  /**
   * Returns a float32 tensor that the caller owns.
   * @throws Error if it is missing or has another shape
   */
  get(name: string, shape: readonly number[]): Tensor {
    return upload(this.values(name, shape), shape)
  }

  /**
   * Like `get`, but returns the numbers, for weights that need another layout. They may be changed,
   * and are valid until the next weight of the file is read.
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

  /** The memory into which this file's weights are read. */
  get scratch(): Scratch {
    return this.#file.scratch
  }

  /** Declares a weight that the network does not use. */
  ignore(name: string): void {
    this.#file.unread.delete(this.#path + name)
  }

  /** Declares that the network does not use anything from here down. */
  ignoreAll(): void {
    for (const path of this.#file.unread) {
      if (path.startsWith(this.#path)) this.#file.unread.delete(path)
    }
  }

  /**
   * @throws Error naming weights that were not read, because a layer is missing from the network;
   *   under `read`, also those that are missing or misshapen
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

  /** How many numbers the whole file has. */
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
  ) // shapes are not checked yet
  const scratch = new Scratch(largest)
  return { name, tensors, unread: new Set(tensors.keys()), faults, scratch }
}
