/**
 * A device that needs no time: it answers each operation, and each graph, with a result of the
 * right shape. It does copy data to and from the device, because the host makes those copies.
 */
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'
import type { Attribute, Binding, NativeTensor } from '../../models/tensorflow/binding.ts'
import { shapeBinding, ShapeMemory } from '../../models/memory/shape-binding.ts'
import { resultsOf, TYPES, type ShapedTensor } from '../../models/memory/shape-rules.ts'

const GraphDef = protobuf
  .loadSync(fileURLToPath(new URL('../../models/graph/graph-def.proto', import.meta.url)))
  .lookupType('tensorflow.GraphDef')

/** A node of a graph, decoded. */
interface Node {
  name: string
  op: string
  input?: string[]
  attr?: Record<string, NodeValue>
}

interface NodeValue {
  list?: { i?: number[]; f?: number[]; b?: boolean[] }
  s?: Uint8Array
  i?: number
  f?: number
  b?: boolean
  type?: number
  shape?: NodeShape
  tensor?: { dtype: number; tensorShape?: NodeShape; tensorContent: Uint8Array }
}

interface NodeShape {
  dim?: { size: number }[]
}

/**
 * Reads return this as their first number and 0 elsewhere, so that the model is sure of the first
 * name it knows.
 */
const SURE = 100

/** @param library the native binding, whose constants are used */
export function instantDevice(library: Binding): Binding {
  const device = shapeBinding(library, new ShapeMemory())
  const functions = new Map<string, readonly ShapedTensor[]>()

  const addFunction: Binding['addFunction'] = (name, graphDef, _inputs, outputs) => {
    const values = evaluate(graphDef)
    const results = outputs.map((output) => values.get(output))
    if (results.includes(undefined)) throw new Error(`${name} gives what it does not compute`)
    functions.set(name, results as ShapedTensor[])
  }
  const executeOp: Binding['executeOp'] = (op, attributes, ids, outputs) => {
    const results = functions.get(op)
    if (!results) return device.executeOp(op, attributes, ids, outputs)
    return results.map(({ shape, dtype }): NativeTensor => {
      const id = device.createTensor(shape, dtype, NO_VALUES)
      return { id, shape: [...shape], dtype }
    })
  }
  const createTensor: Binding['createTensor'] = (shape, dtype, values) => {
    if (dtype !== TYPES.int32) values.slice()
    return device.createTensor(shape, dtype, values)
  }
  const tensorDataSync: Binding['tensorDataSync'] = (id) => {
    const values = device.tensorDataSync(id)
    // Touches all values, as a copy would.
    if (values instanceof Float32Array) values.fill(0)[0] ||= SURE
    return values
  }
  const own = {
    addFunction,
    removeFunction: (name: string) => void functions.delete(name),
    executeOp,
    createTensor,
    tensorDataSync,
    givesShapesAlone: false,
    memoryStats: () => null,
  }
  const properties = Object.entries(own).map(([name, value]) => [name, { value }])
  return Object.create(device, Object.fromEntries(properties)) as Binding
}

const NO_VALUES = new Float32Array(0)

/** Returns the shape of each node's outputs, by `node:index`. */
function evaluate(graphDef: Buffer): Map<string, ShapedTensor> {
  const { node } = GraphDef.toObject(GraphDef.decode(graphDef), { longs: Number }) as {
    node: Node[]
  }
  const values = new Map<string, ShapedTensor>()
  for (const { name, op, input = [], attr = {} } of node) {
    const inputs = input.map((name) => values.get(name)!)
    for (const [i, result] of resultsOfNode(op, attr, inputs).entries()) {
      values.set(`${name}:${i}`, result)
    }
  }
  return values
}

function resultsOfNode(
  op: string,
  attr: Readonly<Record<string, NodeValue>>,
  inputs: readonly ShapedTensor[],
): ShapedTensor[] {
  const { shape, dtype, value } = attr
  if (op === 'Placeholder') return [{ shape: sizesOf(shape), dtype: dtype!.type! }]
  if (op === 'Const') return [constant(value!.tensor!)]
  const outputs = attr.num?.i ?? attr.num_split?.i ?? 1
  const attributes = Object.entries(attr).map(([name, value]) => attributeOf(name, value))
  return resultsOf(op, attributes, inputs, outputs)
}

function constant({
  dtype,
  tensorShape,
  tensorContent,
}: NonNullable<NodeValue['tensor']>): ShapedTensor {
  const { buffer } = Uint8Array.from(tensorContent)
  const values = dtype === TYPES.int32 ? [...new Int32Array(buffer)] : undefined
  return { shape: sizesOf({ ...tensorShape }), dtype, values }
}

const sizesOf = (value?: NodeValue | NodeShape): number[] => {
  const { dim = [] } = (value && 'shape' in value ? value.shape : (value as NodeShape)) ?? {}
  return dim.map(({ size }) => size)
}

function attributeOf(name: string, { list, s, type, ...value }: NodeValue): Attribute {
  const text = s && Buffer.from(s).toString()
  const items = list?.i ?? list?.f ?? list?.b
  const content = items ?? text ?? type ?? value.i ?? value.f ?? value.b
  return { name, type: 0, value: content as Attribute['value'] }
}
