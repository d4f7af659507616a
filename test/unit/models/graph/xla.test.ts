/**
 * Which graphs XLA compiles, and when. What it makes of them is compared in test/parity/xla.test.ts, and
 * test/integration/engine/compute/compute-thread.test.ts checks that calls are answered meanwhile.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { XlaCompiler } from '../../../../models/graph/xla.ts'
import type { Binding } from '../../../../models/tensorflow/binding.ts'

process.env.XLA = 'on'

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
