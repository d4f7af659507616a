/**
 * Reads the weights of a PyTorch network from an ONNX file, by their names in PyTorch. The exporter
 * keeps most names. A matrix that it transposed, or a norm that it split up, gets a number for a
 * name, and only the node that uses it reveals what it is.
 */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'

export interface NamedTensor {
  shape: readonly number[]
  values: Float32Array
}

interface Graph {
  node: { input: string[]; name: string; opType: string }[]
  initializer: { dims: unknown[]; dataType: number; name: string; rawData: Uint8Array }[]
}

/** TensorProto.DataType.FLOAT. */
const FLOAT = 1
/** The exporter's names for unnamed tensors. */
const UNNAMED = /^onnx::/

/** Returns the name of the parameter that a node of a module uses; the module may be the root. */
type ParameterName = (module: string, operation: string) => string

/** @throws Error naming a tensor whose numbers can't be read */
export function readOnnxWeights(file: string, nameOf: ParameterName): Map<string, NamedTensor> {
  const root = protobuf.loadSync(fileURLToPath(new URL('onnx.proto', import.meta.url)))
  const model = root.lookupType('onnx.ModelProto').decode(readFileSync(file))
  const { node, initializer } = (model as unknown as { graph: Graph }).graph
  const stored = new Map(initializer.map((tensor) => [tensor.name, tensor]))
  const weights = new Map(
    initializer
      .filter(({ name }) => !UNNAMED.test(name))
      .map((tensor) => [tensor.name, tensorOf(tensor)]),
  )
  for (const { input, name, opType } of node) {
    for (const source of input.filter((each) => UNNAMED.test(each) && stored.has(each))) {
      const parameter = nameOf(moduleOf(name), opType)
      const part = turned(tensorOf(stored.get(source)!))
      weights.set(parameter, joined(weights.get(parameter), part))
    }
  }
  return weights
}

/** Returns the module of a node: `a.0.b.layers.1.4` for `/a.0/b/layers.1/layers.1.4/Mul`. */
function moduleOf(node: string): string {
  const steps = node.split('/').slice(1, -1)
  return steps.filter((step, i) => !steps[i + 1]?.startsWith(`${step}.`)).join('.')
}

function tensorOf({ name, dims, dataType, rawData }: Graph['initializer'][number]): NamedTensor {
  const shape = dims.map(Number)
  const count = shape.reduce((product, size) => product * size, 1)
  if (dataType !== FLOAT || rawData.length !== 4 * count) {
    throw new Error(`${name}: is not ${count} numbers of 32 bits`)
  }
  return { shape, values: new Float32Array(Uint8Array.from(rawData).buffer) }
}

/**
 * Removes axes of size one and transposes matrices, which are [in, out] in ONNX and [out, in] in
 * PyTorch.
 */
function turned({ shape, values }: NamedTensor): NamedTensor {
  const sizes = shape.filter((size) => size !== 1)
  if (sizes.length !== 2) return { shape: sizes, values }
  const [rows, columns] = sizes as [number, number]
  const result = Float32Array.from(
    values,
    (_, i) => values[(i % rows) * columns + ((i / rows) | 0)]!,
  )
  return { shape: [columns, rows], values: result }
}

/** Concatenates the parts of one parameter along the first axis. */
function joined(first: NamedTensor | undefined, second: NamedTensor): NamedTensor {
  if (!first) return second
  const values = new Float32Array(first.values.length + second.values.length)
  values.set(first.values)
  values.set(second.values, first.values.length)
  return { shape: [first.shape[0]! + second.shape[0]!, ...first.shape.slice(1)], values }
}
