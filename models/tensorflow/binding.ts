/** The used part of the native library, whose types the package does not export. */

export interface Binding {
  readonly TF_Version: string
  readonly TF_ATTR_TYPE: number
  readonly TF_ATTR_BOOL: number
  readonly TF_ATTR_INT: number
  readonly TF_ATTR_FLOAT: number
  readonly TF_ATTR_STRING: number
  readonly TF_FLOAT: number
  readonly TF_INT32: number
  readonly TF_COMPLEX64: number
  createTensor(shape: readonly number[], type: number, values: NodeJS.TypedArray): number
  deleteTensor(id: number): void
  tensorDataSync(id: number): NodeJS.TypedArray
  executeOp(
    name: string,
    attributes: readonly Attribute[],
    ids: readonly number[],
    outputs: number,
  ): NativeTensor[]
  /**
   * Makes a function of a serialized GraphDef, which executeOp runs by its name. Inputs and outputs
   * are named `node:index`. This and the next two are ours: see scripts/setup/binding.
   */
  addFunction(
    name: string,
    graphDef: Buffer,
    inputs: readonly string[],
    outputs: readonly string[],
  ): void
  removeFunction(name: string): void
  /**
   * Has XLA compile a function for inputs of these shapes, by running it once on another thread.
   * @param done called on this thread, with what went wrong or null
   */
  compileFunction(
    name: string,
    ids: readonly number[],
    outputs: number,
    done: (problem: string | null) => void,
  ): void
  /** Set where nothing is computed: results have a shape, and no numbers. See memory/. */
  readonly givesShapesAlone?: boolean
  /** Set while a graph is recorded: what is made then belongs to the graph. See graph/. */
  readonly isRecording?: boolean
  /** Counts of the device's allocator; null if it does not count. Ours, too. */
  memoryStats(): MemoryStats | null
}

/** In bytes. */
export interface MemoryStats {
  inUse: number
  /** The most that was in use since the last call. */
  peak: number
  /** The allocator's limit; 0: it does not say. */
  limit: number
}

/** A tensor as the native library keeps it; `dtype` is a number of its own. */
export interface NativeTensor {
  id: number
  shape: number[]
  dtype: number
}

export interface Attribute {
  name: string
  type: number
  value: number | boolean | string | readonly number[]
}
