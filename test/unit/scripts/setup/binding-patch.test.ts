/**
 * Set-up's patches for TensorFlow.js's binding are made to the sources that npm installs and to no
 * others, and its graph functions refuse what can't be one.
 */
import assert from 'node:assert/strict'
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
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
