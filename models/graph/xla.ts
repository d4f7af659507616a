/**
 * XLA, TensorFlow's compiler: it makes one program of a graph, instead of running its operations
 * one by one. It takes seconds, so that it works on another thread, on one graph at a time, while
 * that graph goes on as it is. See docs/decisions/models.md.
 */
import type { Attribute, Binding } from '../tensorflow/binding.ts'
import type { GraphNode } from './graph-node.ts'

/** Names alone, for those who do not load TensorFlow. */
export const XLA_CHOICES = ['auto', 'on', 'off'] as const

/** Graphs that are compiled in a process: the library never frees what became of one. */
const COMPILED_MAX = 64

/** `auto` is off until it was measured on a GPU. */
export const usesXla = (env: Readonly<Record<string, string | undefined>> = process.env): boolean =>
  env.XLA === 'on'

/** A call of a graph, as `executeOp` has it. */
export interface GraphCall {
  name: string
  ids: readonly number[]
  outputs: number
}

export class XlaCompiler {
  readonly #hold: (name: string) => () => void
  /** Whether they are compiled, by the names of the graphs; one that XLA refuses never is. */
  readonly #isCompiled = new Map<string, boolean>()
  #compiling: Promise<void> | null = null
  /** Called with the reason when XLA refuses a graph, which goes on as it is. */
  onRefusal: (reason: string) => void = () => undefined

  /** @param hold keeps a graph until what is returned is called */
  constructor(hold: (name: string) => () => void) {
    this.#hold = hold
  }

  /** Resolves once the graph that is being compiled is done; null while none is. */
  get compiling(): Promise<void> | null {
    return this.#compiling
  }

  /** Attributes of a call; a graph may be compiled in the background from here on. */
  attributesFor(binding: Binding, call: GraphCall): Attribute[] {
    if (!usesXla()) return []
    const { name } = call
    const mayStart = !this.#compiling && this.#isCompiled.size < COMPILED_MAX
    if (mayStart && !this.#isCompiled.has(name)) this.#compile(binding, call)
    if (!this.#isCompiled.get(name)) return []
    return [{ name: '_XlaMustCompile', type: binding.TF_ATTR_BOOL, value: true }]
  }

  #compile(binding: Binding, { name, ids, outputs }: GraphCall): void {
    this.#isCompiled.set(name, false)
    const release = this.#hold(name)
    let isDone = false
    let done = () => {}
    const compiling = new Promise<void>((resolve) => (done = resolve))
    binding.compileFunction(name, ids, outputs, (problem) => {
      isDone = true
      this.#compiling = null
      this.#isCompiled.set(name, problem === null)
      release()
      if (problem !== null) this.onRefusal(problem)
      done()
    })
    if (!isDone) this.#compiling = compiling
  }
}

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
