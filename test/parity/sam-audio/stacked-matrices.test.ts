/** Matrices rearranged for products while they are read: only their order and width may change. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { roundToBfloat16 } from '../../../models/tensorflow/bfloat16.ts'
import { headsSideBySide } from '../../../models/sam-audio/layers/self-attention.ts'
import { pairsInHalves } from '../../../models/layers/rotary.ts'
import { readStacked } from '../../../models/layers/stacked-matrices.ts'
import {
  uploadBfloat16,
  isBfloat16,
  tf,
  toBfloat16,
  toFloat32,
} from '../../../models/tensorflow/tensor.ts'
import { openTensors, Weights } from '../../../models/checkpoint/weights.ts'
import { fc } from '../../support/basics/property.ts'
import { CHECKPOINT } from '../../support/models/tiny-sam-audio.ts'

const stored = (values: Float32Array, shape: number[]) => ({
  shape,
  type: 'F32',
  bytes: 4 * values.length,
  values: () => values,
})

/** Two matrices with 6 columns and with 4 or 2 rows; each number encodes its position. */
const weights = Weights.of(
  'two matrices',
  new Map(
    [
      ['a', 4],
      ['b', 2],
    ].map(([name, rows], i) => [
      `${name}.weight`,
      stored(
        Float32Array.from({ length: Number(rows) * 6 }, (_, at) => 100 * i + at),
        [Number(rows), 6],
      ),
    ]),
  ),
)
const parts = [
  { weights: weights.at('a'), outDim: 4, rowAt: (place: number) => [2, 0, 3, 1][place]! },
  { weights: weights.at('b'), outDim: 2 },
]
const rows = [
  [12, 13, 14, 15, 16, 17],
  [0, 1, 2, 3, 4, 5],
  [18, 19, 20, 21, 22, 23],
  [6, 7, 8, 9, 10, 11],
  [100, 101, 102, 103, 104, 105],
  [106, 107, 108, 109, 110, 111],
]

test('rows come in the requested order and width, and nothing else is left behind', () => {
  const before = tf.memory().numTensors
  const wide = readStacked(parts, 6)
  const narrow = readStacked(
    parts.map((part) => ({ ...part, weights: part.weights.in('bfloat16') })),
    6,
  )
  assert.equal(tf.memory().numTensors, before + 2)
  assert.deepEqual([isBfloat16(wide), isBfloat16(narrow)], [false, true])
  assert.deepEqual(wide.arraySync(), rows)
  assert.deepEqual(toFloat32(narrow).arraySync(), rows, 'whole numbers below 256 need no rounding')
})

test('tensors stay intact while later ones are read into the same buffer', () => {
  const stored = [...openTensors(CHECKPOINT)]
    .filter(([name]) => /^transformer.*weight$/.test(name))
    .slice(0, 40)
  const file = Weights.open(CHECKPOINT)
  const tensors = stored.map(([name, { shape }]) => file.get(name, shape))
  for (const [i, [name, { values }]] of stored.entries())
    assert.deepEqual(tensors[i]!.dataSync(), values(), name)
})

test('rounding equals that of TensorFlow', () => {
  const floats = fc.float32Array({ minLength: 2, maxLength: 64 })
  fc.assert(
    fc.property(floats, (some) => {
      const values = some.length % 2 ? some.slice(1) : some
      const bits = new Uint16Array(values.length)
      roundToBfloat16(values, bits, 0)
      tf.tidy(() => {
        const ours = toFloat32(uploadBfloat16(bits, [values.length])).dataSync()
        const theirs = toFloat32(toBfloat16(tf.tensor1d(values))).dataSync()
        assert.deepEqual([...ours], [...theirs])
      })
    }),
    { numRuns: 300 },
  )
})

test('heads are laid out as by a reshape and a transposition', () => {
  const [width, heads] = [6, 4]
  const indices = tf.range(0, width * heads)
  const order = (rowAt: (place: number) => number) =>
    Array.from({ length: width * heads }, (_, place) => rowAt(place))
  const sideBySide = indices.reshape([width, heads]).transpose()
  assert.deepEqual(order(headsSideBySide(width * heads, heads)), [...sideBySide.dataSync()])
  const halves = indices.reshape([heads, width / 2, 2]).transpose([0, 2, 1])
  assert.deepEqual(order(pairsInHalves(width)), [...halves.dataSync()])
})
