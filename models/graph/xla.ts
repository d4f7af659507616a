/**
 * XLA, TensorFlow's compiler: it makes one program of a graph, instead of running its operations
 * one by one. See docs/decisions/models.md.
 */
import type { Attribute, Binding } from '../tensorflow/binding.ts'
import type { GraphNode } from './graph-node.ts'

/** Names alone, for those who do not load TensorFlow. */
export const XLA_CHOICES = ['auto', 'on', 'off'] as const

/** `auto` is off until it was measured on a GPU. */
export const usesXla = (env: Readonly<Record<string, string | undefined>> = process.env): boolean =>
  env.XLA === 'on'

/** Attributes of a call of a graph; with XLA, a graph that it can't compile throws. */
export const callAttributes = (binding: Binding): Attribute[] =>
  usesXla() ? [{ name: '_XlaMustCompile', type: binding.TF_ATTR_BOOL, value: true }] : []

/** The node's operation in those that XLA has, of which the last has the node's name. */
export function nodesForXla(node: GraphNode): GraphNode[] {
  const { name, op, input, attr } = node
  if (op === '_MklSoftmax') {
    const { _kernel: _, ...rest } = attr
    return [{ ...node, op: 'Softmax', attr: rest }]
  }
  if (op !== 'EuclideanNorm') return [node]
  const [x, axes] = input as [string, string]
  const { T } = attr as { T: object }
  return [
    { name: `${name}_square`, op: 'Square', input: [x], attr: { T } },
    { name: `${name}_sum`, op: 'Sum', input: [`${name}_square:0`, axes], attr },
    { name, op: 'Sqrt', input: [`${name}_sum:0`], attr: { T } },
  ]
}
