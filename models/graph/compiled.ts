/**
 * Compiles computations that recur with the same shapes into graphs. Run one by one, every
 * operation reads and writes memory. In a graph the native library fuses a matrix product with the
 * operations after it, reuses the memory of values that are no longer needed, and is called only
 * once.
 */
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'
import type { NativeTensor } from '../tensorflow/binding.ts'
import { adopt, native, storedOf, tf, type Tensor } from '../tensorflow/tensor.ts'
import { GraphCache } from './graph-cache.ts'
import { GRAPH_NAME, Recorder } from './recorder.ts'
import { SharedFunctions } from './shared-functions.ts'
import { XlaCompiler } from './xla.ts'

/** The graph version that TensorFlow 2.21 writes. */
const PRODUCER = 2400

const GraphDef = protobuf
  .loadSync(fileURLToPath(new URL('graph-def.proto', import.meta.url)))
  .lookupType('tensorflow.GraphDef')

/**
 * Returns `forward`, run as a graph after some calls with the same shapes. Its arguments and
 * results are tensors, null, and objects and lists of these. It may also use tensors that persist
 * and tensors that it makes, but must not read any values or have side effects.
 */
export function compiled<I extends readonly unknown[], O>(
  forward: (...inputs: I) => O,
): (...inputs: I) => O {
  const run = compiledBy((_: null, ...inputs: I) => forward(...inputs))
  return (...inputs) => run(null, ...inputs)
}

/**
 * Like `compiled`, but with a first argument that is not a tensor; each of its values has its own
 * graph.
 */
export function compiledBy<P, I extends readonly unknown[], O>(
  forward: (plan: P, ...inputs: I) => O,
): (plan: P, ...inputs: I) => O {
  const name = (functionsCompiled += 1)
  return (plan, ...inputs) => {
    const { givesShapesAlone, isRecording } = native.binding
    if (givesShapesAlone || isRecording) return forward(plan, ...inputs)
    const inputTensors = tensorsOf(inputs).map(storedOf)
    const shapes = `${name} ${JSON.stringify(plan)} ${placesIn(inputs)} ${shapesOf(inputTensors)}`
    const graph = graphs.graphFor(shapes, () =>
      record(() => forward(plan, ...inputs), inputTensors),
    )
    return graph ? (graph as Graph<O>).run(inputTensors) : forward(plan, ...inputs)
  }
}

/** Numbers the compiled functions, so that no two of them share a graph. */
let functionsCompiled = 0

const graphs = new GraphCache<Graph<unknown>>((graph) => graph.delete())

/** Describes where a value has tensors and nulls. */
function placesIn(value: unknown): string {
  if (value === null) return '-'
  if (value instanceof tf.Tensor) return 'x'
  return `{${Object.values(value as object)
    .map(placesIn)
    .join('')}}`
}

/**
 * Describes types and shapes, and which tensors are identical: a graph recorded from identical ones
 * could not tell them apart later.
 */
function shapesOf(inputTensors: readonly NativeTensor[]): string {
  const ids = inputTensors.map(({ id }) => id)
  return inputTensors
    .map(({ id, dtype, shape }) => `${dtype}:${shape}:${ids.indexOf(id)}`)
    .join(' ')
}

/** In the order of the properties. */
function tensorsOf(value: unknown): Tensor[] {
  if (value === null) return []
  if (value instanceof tf.Tensor) return [value]
  if (typeof value !== 'object') throw new Error(`A graph is given tensors, not a ${typeof value}`)
  return Object.values(value).flatMap(tensorsOf)
}

/** Returns `pattern` with each tensor replaced by the next one of `tensors`. */
function replaceTensors(pattern: unknown, tensors: Iterator<Tensor>): unknown {
  if (pattern === null) return null
  if (pattern instanceof tf.Tensor) return tensors.next().value
  if (Array.isArray(pattern)) return pattern.map((value) => replaceTensors(value, tensors))
  return Object.fromEntries(
    Object.entries(pattern as object).map(([name, value]) => [
      name,
      replaceTensors(value, tensors),
    ]),
  )
}

/** Records what `run` does with the given inputs as a graph. */
function record<O>(run: () => O, inputTensors: readonly NativeTensor[]): Graph<O> {
  const { binding } = native
  const recorder = new Recorder(binding, inputTensors)
  native.binding = recorder.binding
  try {
    const outputs = run()
    try {
      return new Graph(recorder, inputTensors.length, outputs)
    } finally {
      tf.dispose(tensorsOf(outputs))
    }
  } finally {
    native.binding = binding
  }
}

const functions = new SharedFunctions()

/** Compiles graphs with XLA once they are used. */
export const compiler = new XlaCompiler((name) => functions.hold(name))

let held = 0

/** How many graphs exist now. */
export const graphsHeld = (): number => held

/**
 * A graph that is registered with the native library as a function and runs like an operation, on
 * tensors where they are. Nothing is copied to or from a device.
 */
class Graph<O> {
  readonly #name: string
  readonly #release: () => void
  /** Inputs in addition to those of a call. */
  readonly #heldIds: number[]
  readonly #outputs: O
  readonly #outputCount: number

  constructor({ nodes, feeds, valueOf }: Recorder, inputs: number, outputs: O) {
    const outputNames = tensorsOf(outputs).map((output) => valueOf(storedOf(output).id))
    this.#outputs = outputs
    this.#outputCount = outputNames.length
    this.#heldIds = feeds.slice(inputs).map(({ id }) => id)
    const graphDef = GraphDef.encode({ node: nodes, versions: { producer: PRODUCER } }).finish()
    const feedNames = feeds.map(({ name }) => name)
    this.#name = `${GRAPH_NAME}${hashOf(graphDef, JSON.stringify([feedNames, outputNames]))}`
    this.#release = functions.hold(this.#name, () =>
      native.binding.addFunction(this.#name, Buffer.from(graphDef), feedNames, outputNames),
    )
    held += 1
  }

  run(inputTensors: readonly NativeTensor[]): O {
    const ids = [...inputTensors.map(({ id }) => id), ...this.#heldIds]
    const call = { name: this.#name, ids, outputs: this.#outputCount }
    const attributes = compiler.attributesFor(native.binding, call)
    const found = native.binding.executeOp(this.#name, attributes, ids, this.#outputCount)
    return replaceTensors(this.#outputs, found.map(adopt).values()) as O
  }

  delete(): void {
    this.#release()
    held -= 1
  }
}

/**
 * Identical graphs have the same name in every process, because XLA's cache on disk finds them by
 * name.
 */
function hashOf(graphDef: Uint8Array, ends: string): string {
  return createHash('sha256').update(graphDef).update(ends).digest('hex').slice(0, 32)
}
