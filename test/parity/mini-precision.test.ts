/** Compares the built-in model in bfloat16 and float32: how far its targets differ. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WARM_UP_CALLS } from '../../models/graph/graph-cache.ts'
import { loadModel } from '../../models/load-model.ts'
import type { Precision } from '../../models/tensorflow/precision.ts'
import { tf } from '../../models/tensorflow/tensor.ts'
import { relativeError } from '../support/basics/relative-error.ts'
import { TEXT_ENCODER_FOLDER } from '../support/models/golden.ts'
import { laneRequest, notes, separate, separateOne } from '../support/models/lanes.ts'

const wave = notes(45_000)
const load = (precision: Precision) =>
  loadModel({ kind: 'mini', name: 'mini' }, { textEncoderFolder: TEXT_ENCODER_FOLDER, precision })
const [wide, half] = [await load('float32'), await load('bfloat16')]
const request = () => laneRequest({ channels: [wave.slice()], sampleRate: 32_000 }, 'Piano.')

test('a target in bfloat16 matches float32 within rounding, also as a graph', (t) => {
  const expected = separateOne(wide, request()).target[0]!
  separateOne(half, request()) // fills the caches
  const tensors = tf.memory().numTensors
  for (let call = 0; call < WARM_UP_CALLS; call += 1) {
    const error = relativeError(separateOne(half, request()).target[0]!, expected)
    if (call === WARM_UP_CALLS - 1) t.diagnostic(`${error.toExponential(2)} of its RMS`)
    assert(error < 0.02, `call ${call}: ${error}`)
    assert(error > 1e-5, `call ${call}: ${error}, was it bfloat16 at all?`)
  }
  assert.equal(tf.memory().numTensors, tensors)
  assert.equal(half.description.precision, 'bfloat16')
  assert.equal(wide.description.precision, 'float32')
})

test('in bfloat16 a batch changes a target only slightly', () => {
  const alone = separateOne(half, request()).target[0]!
  const [first] = separate(half, [request(), { ...request(), prompt: 'speech' }])
  assert(relativeError(first!.target[0]!, alone) < 0.02)
})
