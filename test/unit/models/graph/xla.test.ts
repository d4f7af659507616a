/** XLA compiles a graph on another thread while the uncompiled graph keeps running. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { compiled, compiler } from '../../../../models/graph/compiled.ts'
import { WARM_UP_CALLS } from '../../../../models/graph/graph-cache.ts'
import { XlaCompiler } from '../../../../models/graph/xla.ts'
import type { Binding } from '../../../../models/tensorflow/binding.ts'
import {
  lastAxisNorm,
  native,
  softmax,
  tf,
  type Tensor,
} from '../../../../models/tensorflow/tensor.ts'
import { assertClose } from '../../../support/basics/assert-close.ts'

const before = process.env.XLA
process.env.XLA = 'on'
after(() => {
  if (before === undefined) delete process.env.XLA
  else process.env.XLA = before
})

interface Call {
  name: string
  isCompiled: boolean
}

/** Returns the graphs called while `work` runs. */
async function callsDuring(work: () => Promise<void>): Promise<Call[]> {
  const { binding } = native
  const calls: Call[] = []
  const executeOp: Binding['executeOp'] = (name, attributes, ...words) => {
    const isCompiled = attributes.some((each) => each.name === '_XlaMustCompile')
    if (name.startsWith('winnow_graph_')) calls.push({ name, isCompiled })
    return binding.executeOp(name, attributes, ...words)
  }
  native.binding = Object.create(binding, { executeOp: { value: executeOp } }) as Binding
  try {
    await work()
  } finally {
    native.binding = binding
  }
  return calls
}

test('calls are answered while XLA compiles; later calls use the compiled graph', async () => {
  const forward = (x: Tensor) => tf.tidy(() => softmax(x).div(lastAxisNorm(x)).add(1))
  const expected = forward(tf.tensor2d([[1, 2, 3]])).dataSync<'float32'>()
  const [one, same] = [compiled(forward), compiled((x: Tensor) => forward(x))]
  const call = (asGraph: typeof one) =>
    assertClose(asGraph(tf.tensor2d([[1, 2, 3]])).dataSync<'float32'>(), expected, {
      absolute: 1e-6,
    })
  const calls = await callsDuring(async () => {
    for (let i = 0; i <= WARM_UP_CALLS; i += 1) call(one)
    assert.ok(compiler.compiling, 'what was answered did not wait')
    await compiler.compiling
    call(one)
    for (let i = 0; i < WARM_UP_CALLS; i += 1) call(same)
  })
  assert.deepEqual(
    calls.map(({ isCompiled }) => isCompiled),
    [false, false, true, true],
  )
  assert.equal(new Set(calls.map(({ name }) => name)).size, 1, 'what does the same is one graph')
})

/** Makes a compiler, and a binding that reports a result when the test calls `done`. */
function stub() {
  const [held, started]: [string[], string[]] = [[], []]
  let done: (problem: string | null) => void = () => undefined
  const compiler = new XlaCompiler((name) => {
    held.push(name)
    return () => void held.splice(held.indexOf(name), 1)
  })
  const compileFunction: Binding['compileFunction'] = (name, _ids, _outputs, onDone) => {
    started.push(name)
    done = onDone
  }
  const binding = { TF_ATTR_BOOL: 1, compileFunction } as unknown as Binding
  const call = (name: string) =>
    compiler.attributesFor(binding, { name, ids: [], outputs: 1 }).length > 0
  return { compiler, held, started, call, end: (problem: string | null) => done(problem) }
}

test('graphs are compiled one at a time, and kept meanwhile; a refused one keeps running uncompiled', async () => {
  const { compiler, held, started, call, end } = stub()
  const refusals: string[] = []
  compiler.onRefusal = (reason) => refusals.push(reason)
  for (const name of ['a', 'b', 'a']) assert.equal(call(name), false)
  assert.deepEqual([started, held], [['a'], ['a']])
  const { compiling } = compiler
  end('no such kernel')
  await compiling
  assert.deepEqual([held, refusals, compiler.compiling], [[], ['no such kernel'], null])
  for (const name of ['a', 'b']) assert.equal(call(name), false)
  end(null)
  assert.deepEqual([call('a'), call('b'), started], [false, true, ['a', 'b']])
})

test('a process compiles no more graphs than it may keep', () => {
  const { started, call, end } = stub()
  for (let i = 0; i < 100; i += 1) {
    call(`${i}`)
    end(null)
  }
  assert.equal(started.length, 64)
  assert.equal(call('63'), true)
})
