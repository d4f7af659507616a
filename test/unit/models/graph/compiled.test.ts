/** What runs as a graph gives what it gave step by step. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compiled, WARM_UP_CALLS } from '../../../../models/graph/compiled.ts'
import {
  deviceKind,
  matmulTransposed,
  native,
  sliceRows,
  softmax,
  tf,
  toBfloat16,
  toFloat32,
  type Tensor,
} from '../../../../models/tensor.ts'
import { assertClose } from '../../../support/assert-close.ts'

const weight = tf.randomNormal([6, 4], 0, 1, 'float32', 1)

interface Given {
  x: Tensor
  bias: Tensor | null
}

/** A bit of everything: constants, a weight, half the width, views, several outputs. */
const forward = ({ x, bias }: Given, scale: Tensor): { product: Tensor; parts: { sum: Tensor } } =>
  tf.tidy(() => {
    const rows = toFloat32(matmulTransposed(toBfloat16(x), toBfloat16(weight))) // [rows, 6]
    const product = softmax(bias ? rows.add(bias.expandDims(0)) : rows.mul(0.5))
    const [, second] = tf.split(product, 2, 1) as [Tensor, Tensor]
    return { product, parts: { sum: sliceRows(second, 0, 1).mul(scale).sum() } }
  })

/** On a GPU nothing becomes a graph. */
const ON_PROCESSORS = { skip: deviceKind() === 'gpu' }

const values = (x: Tensor): Float32Array => x.dataSync<'float32'>()

test('every call gives the same as step by step, in any shapes', () => {
  const asGraph = compiled(forward)
  const call = fc.record({
    rows: fc.integer({ min: 1, max: 3 }),
    biased: fc.boolean(),
    seed: fc.nat(),
  })
  fc.assert(
    fc.property(fc.array(call, { minLength: 60, maxLength: 120 }), (calls) => {
      const before = tf.memory().numTensors
      for (const { rows, biased, seed } of calls) {
        tf.tidy(() => {
          const x = tf.randomNormal([rows, 4], 0, 1, 'float32', seed)
          const given = { x, bias: biased ? tf.randomNormal([6], 0, 1, 'float32', seed + 1) : null }
          const scale = tf.scalar(seed % 7)
          const [actual, expected] = [asGraph(given, scale), forward(given, scale)]
          assertClose(values(actual.product), values(expected.product), { absolute: 1e-5 })
          assertClose(values(actual.parts.sum), values(expected.parts.sum), { absolute: 1e-4 })
        })
      }
      assert.equal(tf.memory().numTensors, before)
    }),
    { numRuns: 4 },
  )
})

test(
  'what reads a tensor is no graph, and says so; what comes after is computed as ever',
  ON_PROCESSORS,
  () => {
    const reads = compiled((x: Tensor) => tf.tidy(() => x.mul(values(x.add(1))[0]!)))
    const x = tf.scalar(2)
    for (let call = 1; call < WARM_UP_CALLS; call += 1) assert.equal(values(reads(x))[0], 6)
    assert.throws(() => reads(x), /must not read tensors/)
    assert.equal(values(x.add(1))[0], 3)
  },
)

test('inputs that were one and the same need not be so the next time', () => {
  const asGraph = compiled((a: Tensor, b: Tensor) => a.sub(b))
  const [x, y] = [tf.tensor1d([5, 6]), tf.tensor1d([1, 1])]
  for (let call = 0; call <= WARM_UP_CALLS; call += 1)
    assert.deepEqual([...values(asGraph(x, x))], [0, 0])
  for (let call = 0; call <= WARM_UP_CALLS; call += 1)
    assert.deepEqual([...values(asGraph(x, y))], [4, 5])
})

test('a graph within a graph is refused, and so is what is no tensor', ON_PROCESSORS, () => {
  const inner = compiled((x: Tensor) => x.add(1))
  const outer = compiled((x: Tensor) => tf.tidy(() => inner(x).mul(2)))
  const x = tf.scalar(2)
  for (let call = 0; call < WARM_UP_CALLS; call += 1) inner(x)
  const callOuter = () => Array.from({ length: WARM_UP_CALLS }, () => values(outer(x)))
  assert.throws(callOuter, /must not run graphs/)
  const withNumber = compiled((x: Tensor, factor: number) => x.mul(factor))
  assert.throws(() => withNumber(x, 3), /tensors, not a number/)
})

test(
  'graphs that were not used for long are given back, and made again when they are wanted',
  ON_PROCESSORS,
  () => {
    const asGraph = compiled((x: Tensor) => tf.tidy(() => x.mul(2).add(1)))
    const before = native.binding.getNumOfSavedModels()
    for (let round = 0; round < 2; round += 1) {
      for (let size = 1; size <= 20; size += 1) {
        for (let call = 0; call < WARM_UP_CALLS; call += 1) {
          const x = tf.fill([size], call)
          const y = asGraph(x)
          assert.deepEqual([...values(y)], Array(size).fill(2 * call + 1))
          tf.dispose([x, y])
        }
      }
      const held = native.binding.getNumOfSavedModels() - before
      assert.ok(held > 0 && held < 20, `${held} are held`)
    }
  },
)
