/**
 * Set-up's patches for TensorFlow.js's binding apply to the sources that npm installs, and to no
 * others.
 */
import assert from 'node:assert/strict'
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { layPatchedSources } from '../../../../scripts/setup/binding/patch.mjs'
import { native } from '../../../../models/tensorflow/tensor.ts'

const PACKAGE = 'node_modules/@tensorflow/tfjs-node-gpu'

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-binding-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('every insertion is made once, and nothing is removed', (t) => {
  const folder = temporaryFolder(t)
  layPatchedSources(PACKAGE, folder)
  const read = (root: string, name: string) => readFileSync(join(root, 'binding', name), 'utf8')
  const inserted = ['tfjs_backend.h', 'tfjs_backend.cc', 'tfjs_binding.cc'].flatMap((name) => {
    const before = read(PACKAGE, name).split('\n')
    const after = read(folder, name).split('\n')
    const added: string[] = []
    for (const line of after) {
      if (line === before[0]) before.shift()
      else added.push(line.trim())
    }
    assert.deepEqual(before, [], `${name} keeps its lines in order`)
    return added
  })
  assert.equal(inserted.length, 11)
  for (const word of [
    'context()',
    'handle(int32_t id)',
    '#include "graph_functions.h"',
    '#include "compile_function.h"',
    '"addFunction"',
    '"compileFunction"',
    '#include "memory_stats.h"',
    '#include "lstm.h"',
    '"removeFunction"',
    '"memoryStats"',
  ])
    assert.equal(inserted.filter((line) => line.includes(word)).length, 1, word)
})

test('unexpected sources are refused by name', (t) => {
  const other = temporaryFolder(t)
  cpSync(join(PACKAGE, 'binding'), join(other, 'binding'), { recursive: true })
  cpSync(join(PACKAGE, 'binding.gyp'), join(other, 'binding.gyp'))
  appendFileSync(join(other, 'binding/tfjs_binding.cc'), '\n')
  assert.throws(() => layPatchedSources(other, temporaryFolder(t)), /tfjs_binding\.cc .*npm ci/s)
})

/** A GraphDef without nodes. */
const EMPTY_GRAPH = Buffer.alloc(0)

test("a graph that can't become a function is refused and leaves none", () => {
  const { binding } = native
  const add = (graph: Buffer, inputs: string[], outputs: string[]) =>
    binding.addFunction('refused', graph, inputs, outputs)
  assert.throws(() => add(Buffer.from('not a graph'), [], []), /Invalid TF_Status: 3/)
  assert.throws(() => add(EMPTY_GRAPH, ['x:0'], []), /The graph has no output x:0/)
  assert.throws(() => add(EMPTY_GRAPH, [], [7 as unknown as string]), /not a string/)
  assert.throws(() => binding.removeFunction('refused'), /There is no function refused/)
  add(EMPTY_GRAPH, [], [])
  assert.throws(() => add(EMPTY_GRAPH, [], []), /A function refused is there already/)
  binding.removeFunction('refused')
  add(EMPTY_GRAPH, [], [])
  binding.removeFunction('refused')
})
