/** Records operations of the native library as a graph. */
import type { Attribute, Binding, NativeTensor } from '../tensorflow/binding.ts'
import { shapeBinding, ShapeMemory } from '../memory/shape-binding.ts'
import { nodesForXla, usesXla, type GraphNode } from './xla.ts'

/** Prefix of the names of functions made from graphs. */
export const GRAPH_NAME = 'winnow_graph_'

/** An input of a graph: which tensor it gets at every run, and under which name. */
export interface Feed {
  name: string
  id: number
}

/**
 * Stands in for the binding while a graph is recorded: computes only shapes, and records
 * operations.
 */
export class Recorder {
  readonly binding: Binding
  readonly nodes: GraphNode[] = []
  /** First the inputs in order, then other tensors that were used, such as weights. */
  readonly feeds: Feed[] = []
  readonly #native: Binding
  readonly #shapes: Binding
  /** The node output that produces the tensor with an id. */
  readonly #values = new Map<number, string>()
  /** Tensors that existed before, by id. */
  readonly #existing = new Map<number, NativeTensor>()

  constructor(native: Binding, inputs: readonly NativeTensor[]) {
    this.#native = native
    this.#shapes = shapeBinding(native, new ShapeMemory(), (id) => this.#lookUp(id))
    this.binding = Object.create(this.#shapes, {
      executeOp: { value: this.#executeOp.bind(this) },
      createTensor: { value: this.#createTensor.bind(this) },
      tensorDataSync: { value: refuse('read tensors') },
      isRecording: { value: true },
      givesShapesAlone: { value: false },
    })
    for (const input of inputs) this.#feed(input)
  }

  /** Returns the name of the node output that produces the tensor with an id. */
  readonly valueOf = (id: number): string => this.#values.get(id) ?? this.#feed(this.#lookUp(id))

  #executeOp(
    op: string,
    attributes: readonly Attribute[],
    ids: readonly number[],
    outputs: number,
  ): NativeTensor[] {
    if (op.startsWith(GRAPH_NAME)) return refuse('run graphs')()
    const answer = this.#shapes.executeOp(op, attributes, ids, outputs)
    const attr = Object.fromEntries(attributes.map((each) => [each.name, this.#attrOf(each)]))
    if (op === 'ExpandDims') attr.T = { type: answer[0]!.dtype } // tfjs leaves this to be inferred
    const name = this.#add(op, ids.map(this.valueOf), attr)
    for (const [i, { id }] of answer.entries()) this.#values.set(id, `${name}:${i}`)
    return answer
  }

  /** A tensor that JavaScript makes while recording is the same at every run. */
  #createTensor(shape: readonly number[], dtype: number, values: NodeJS.TypedArray): number {
    const id = this.#shapes.createTensor(shape, dtype, values)
    const tensorContent = Buffer.copyBytesFrom(values)
    const tensor = { dtype, tensorShape: shapeOf(shape), tensorContent }
    const name = this.#add('Const', [], { dtype: { type: dtype }, value: { tensor } })
    this.#values.set(id, `${name}:0`)
    return id
  }

  #feed(stored: NativeTensor): string {
    const { id, dtype, shape } = stored
    this.#existing.set(id, stored)
    const attr = { dtype: { type: dtype }, shape: { shape: shapeOf(shape) } }
    const name = this.#add('Placeholder', [], attr)
    this.feeds.push({ name: `${name}:0`, id })
    this.#values.set(id, `${name}:0`)
    return `${name}:0`
  }

  /** Returns type and shape of a tensor that existed before. */
  #lookUp(id: number): NativeTensor {
    const tensor = this.#existing.get(id)
    if (tensor) return tensor
    const [same] = this.#native.executeOp('Identity', [], [id], 1) as [NativeTensor]
    this.#native.deleteTensor(same.id)
    return { ...same, id }
  }

  #add(op: string, input: string[], attr: GraphNode['attr']): string {
    const name = `n${this.nodes.length}`
    const node = { name, op, input, attr }
    this.nodes.push(...(usesXla() ? nodesForXla(node) : [node]))
    return name
  }

  #attrOf({ name, type, value }: Attribute): object {
    const { TF_ATTR_STRING, TF_ATTR_INT, TF_ATTR_FLOAT, TF_ATTR_BOOL, TF_ATTR_TYPE } = this.#native
    const key = { [TF_ATTR_INT]: 'i', [TF_ATTR_FLOAT]: 'f', [TF_ATTR_BOOL]: 'b' }[type]
    if (type === TF_ATTR_STRING) return { s: Buffer.from(String(value)) }
    if (type === TF_ATTR_TYPE) return { type: value }
    if (!key) throw new Error(`A graph cannot hold the attribute ${name} of type ${type}`)
    return Array.isArray(value) ? { list: { [key]: value } } : { [key]: value }
  }
}

const shapeOf = (shape: readonly number[]) => ({ dim: shape.map((size) => ({ size })) })

const refuse = (what: string) => (): never => {
  throw new Error(`What is recorded as a graph must not ${what}`)
}
