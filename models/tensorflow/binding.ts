/** The part of the native binding that we use. The package does not export its types. */

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
   * Registers a serialized GraphDef as a function, which executeOp runs by name. Inputs and outputs
   * are named `node:index`. This method and the next two are our own; see scripts/setup/binding.
   */
  addFunction(
    name: string,
    graphDef: Buffer,
    inputs: readonly string[],
    outputs: readonly string[],
  ): void
  removeFunction(name: string): void
  /**
   * Compiles a function for inputs of these shapes with XLA, by running it once on another thread.
   * @param done is called on this thread, with an error message or null
   */
  compileFunction(
    name: string,
    ids: readonly number[],
    outputs: number,
    done: (problem: string | null) => void,
  ): void
  /** Set where nothing is computed, so that results have shapes but no values. See memory/. */
  readonly givesShapesAlone?: boolean
  /** Set while a graph is recorded: tensors made meanwhile belong to the graph. See graph/. */
  readonly isRecording?: boolean
  /** Statistics of the device's allocator; null if it keeps none. Our own, too. */
  memoryStats(): MemoryStats | null
}

/** In bytes. */
export interface MemoryStats {
  inUse: number
  /** The most in use since the last call. */
  peak: number
  /** The allocator's limit; 0 if it reports none. */
  limit: number
}

/** A tensor as the binding represents it; `dtype` is TensorFlow's number of the type. */
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
