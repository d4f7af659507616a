/**
 * Compiles repeated computations of one shape into a graph. Step by step, the native library goes
 * through memory for every sum and every product; in a graph it joins a matrix product with the
 * operations after it, writes results over values no longer needed, and is called once.
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

/** The version of graphs that TensorFlow 2.21 makes. */
const PRODUCER = 2400

const GraphDef = protobuf
  .loadSync(fileURLToPath(new URL('graph-def.proto', import.meta.url)))
  .lookupType('tensorflow.GraphDef')

/**
 * `forward`, as a graph once it has been called some times with inputs of the same shapes. What it
 * takes and gives are tensors, null, and objects and lists of these. Besides its inputs it may use
 * tensors that stay, and what it makes itself; it must not read any, nor do anything else.
 */
export function compiled<I extends readonly unknown[], O>(
  forward: (...inputs: I) => O,
): (...inputs: I) => O {
  const run = compiledBy((_: null, ...inputs: I) => forward(...inputs))
  return (...inputs) => run(null, ...inputs)
}

/** As `compiled`, with a first argument that is no tensor: a graph is made for each value of it. */
export function compiledBy<P, I extends readonly unknown[], O>(
  forward: (plan: P, ...inputs: I) => O,
): (plan: P, ...inputs: I) => O {
  const name = (made += 1)
  return (plan, ...inputs) => {
    const { givesShapesAlone, isRecording } = native.binding
    if (givesShapesAlone || isRecording) return forward(plan, ...inputs)
    const given = tensorsOf(inputs).map(storedOf)
    const shapes = `${name} ${JSON.stringify(plan)} ${placesIn(inputs)} ${shapesOf(given)}`
    const graph = graphs.graphFor(shapes, () => record(() => forward(plan, ...inputs), given))
    return graph ? (graph as Graph<O>).run(given) : forward(plan, ...inputs)
  }
}

/** Count of functions that have graphs, so that no two of them share one. */
let made = 0

const graphs = new GraphCache<Graph<unknown>>((graph) => graph.delete())

/** Marks the places of tensors and of null. */
function placesIn(value: unknown): string {
  if (value === null) return '-'
  if (value instanceof tf.Tensor) return 'x'
  return `{${Object.values(value as object)
    .map(placesIn)
    .join('')}}`
}

/**
 * Types and shapes, and which are one and the same: a graph that was made of such could not tell
 * them apart.
 */
function shapesOf(given: readonly NativeTensor[]): string {
  const ids = given.map(({ id }) => id)
  return given.map(({ id, dtype, shape }) => `${dtype}:${shape}:${ids.indexOf(id)}`).join(' ')
}

/** In the order of the properties. */
function tensorsOf(value: unknown): Tensor[] {
  if (value === null) return []
  if (value instanceof tf.Tensor) return [value]
  if (typeof value !== 'object') throw new Error(`A graph is given tensors, not a ${typeof value}`)
  return Object.values(value).flatMap(tensorsOf)
}

/** As `pattern`, with the next of `tensors` for each tensor. */
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

/** Makes a graph of what `run` does with the inputs that are given. */
function record<O>(run: () => O, given: readonly NativeTensor[]): Graph<O> {
  const { binding } = native
  const recorder = new Recorder(binding, given)
  native.binding = recorder.binding
  try {
    const outputs = run()
    try {
      return new Graph(recorder, given.length, outputs)
    } finally {
      tf.dispose(tensorsOf(outputs))
    }
  } finally {
    native.binding = binding
  }
}

const functions = new SharedFunctions()

/** Compiles graphs once they are called, with XLA. */
export const compiler = new XlaCompiler((name) => functions.hold(name))

let held = 0

/** Graphs that there are now. */
export const graphsHeld = (): number => held

/**
 * A graph in the hands of the native library, which knows it as a function: run like an operation,
 * of tensors where they are. Nothing is copied, on no device.
 */
class Graph<O> {
  readonly #name: string
  readonly #release: () => void
  /** Inputs besides those of a call. */
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

  run(given: readonly NativeTensor[]): O {
    const ids = [...given.map(({ id }) => id), ...this.#heldIds]
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
 * Graphs that do the same have one name, in every process: what XLA keeps of them on the disk is
 * found by it.
 */
function hashOf(graphDef: Uint8Array, ends: string): string {
  return createHash('sha256').update(graphDef).update(ends).digest('hex').slice(0, 32)
}
