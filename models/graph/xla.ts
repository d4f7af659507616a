/**
 * XLA, TensorFlow's compiler, turns a graph into one program instead of running its operations one
 * by one. That takes seconds, so it happens on another thread, for one graph at a time, while the
 * graph keeps running uncompiled. See docs/decisions/models.md.
 */
import type { Attribute, Binding } from '../tensorflow/binding.ts'

/** A node of `graph-def.proto`. */
export interface GraphNode {
  name: string
  op: string
  input: string[]
  attr: Record<string, object>
}

/** Only names, for code that does not load TensorFlow. */
export const XLA_CHOICES = ['auto', 'on', 'off'] as const

/** How many graphs one process compiles; the library never frees a compiled one. */
const COMPILED_MAX = 64

/** `auto` means off until XLA has been measured on a GPU. */
export const usesXla = (env: Readonly<Record<string, string | undefined>> = process.env): boolean =>
  env.XLA === 'on'

/** A call of a graph, as `executeOp` takes it. */
export interface GraphCall {
  name: string
  ids: readonly number[]
  outputs: number
}

export class XlaCompiler {
  readonly #hold: (name: string) => () => void
  /** Whether each graph has been compiled, by name; one that XLA refuses stays uncompiled. */
  readonly #isCompiled = new Map<string, boolean>()
  #compiling: Promise<void> | null = null
  /** Called with the reason if XLA refuses a graph, which then keeps running uncompiled. */
  onRefusal: (reason: string) => void = () => undefined

  /** @param hold keeps a graph until the returned function is called */
  constructor(hold: (name: string) => () => void) {
    this.#hold = hold
  }

  /** Resolves when the graph that is being compiled is done; null if there is none. */
  get compiling(): Promise<void> | null {
    return this.#compiling
  }

  /** Returns the attributes of a call, and may start to compile its graph in the background. */
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

/** Returns nodes that XLA supports in place of `node`; the last of them keeps its name. */
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
