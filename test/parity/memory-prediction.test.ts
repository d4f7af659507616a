/** Predictions from shapes alone equal TensorFlow's shapes, and come close to its allocator's bytes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Binding } from '../../models/tensorflow/binding.ts'
import { graphsHeld } from '../../models/graph/compiled.ts'
import { WARM_UP_CALLS } from '../../models/graph/graph-cache.ts'
import { GRAPH_NAME } from '../../models/graph/recorder.ts'
import { loadMini } from '../../models/mini/mini.ts'
import type { Model } from '../../models/model.ts'
import {
  bytesFor,
  framesThatFit,
  predictMemory,
  runLanes,
  type MemoryPrediction,
} from '../../models/memory/predict.ts'
import { resultsOf, type ShapedTensor } from '../../models/memory/shape-rules.ts'
import { loadSamAudio } from '../../models/sam-audio/sam-audio.ts'
import { native } from '../../models/tensorflow/tensor.ts'
import { profiledOperations } from '../support/models/profiled-operations.ts'
import { TEXT_ENCODER_FOLDER } from '../support/models/golden.ts'
import { FIXTURES } from '../support/models/tiny-sam-audio.ts'

const MIB = 2 ** 20

/** On a processor only oneDNN's allocator keeps statistics, and TensorFlow uses it only with AVX-512. */
const UNCOUNTED = native.binding.memoryStats() === null
const COUNTED = { skip: UNCOUNTED && 'the allocator counts nothing on this processor' }

/** Returns the allocator's peak in the last of `calls` runs; after the warm-up calls they run as graphs. */
function measure(model: Model, lanes: number, seconds: number, calls = 1): number {
  let most = 0
  native.binding.memoryStats()
  for (let i = 0; i < calls; i += 1) {
    most = 0
    runLanes(model, { lanes, seconds }, () => {
      most = Math.max(most, native.binding.memoryStats()!.peak)
    })
  }
  return most
}

/**
 * Allows for an allocator that may hand out blocks of up to twice the requested size, and for inputs
 * that are still in JavaScript's memory.
 */
function assertNear(measured: number, predicted: number, what: string): void {
  const [mib, of] = [measured, predicted].map((bytes) => (bytes / MIB).toFixed(1))
  assert.ok(measured < 1.5 * predicted + MIB, `${what}: ${mib} MiB, ${of} predicted`)
  assert.ok(measured > 0.6 * predicted - 2 * MIB, `${what}: ${mib} MiB, ${of} predicted`)
}

const cases: [string, () => Promise<Model>, number][] = [
  ['mini', () => loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER }), 2],
  [
    'mini in half the width',
    () => loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER, precision: 'bfloat16' }),
    2,
  ],
  ['SAM-Audio', () => loadSamAudio(FIXTURES), 40],
  ['SAM-Audio in half the width', () => loadSamAudio(FIXTURES, 'bfloat16'), 40],
]
for (const [name, load, seconds] of cases) {
  test(`${name}: weights and batches of any size match the allocator`, COUNTED, async () => {
    const prediction = await predictMemory(load, seconds)
    const before = native.binding.memoryStats()!.inUse
    const model = await load()
    runLanes(model, { lanes: 1, seconds: 1 }, () => {}) // some weights are loaded at their first use
    const weights = native.binding.memoryStats()!.inUse
    assertNear(weights - before, prediction.weightsBytes, 'weights')
    for (const lanes of [1, 2, 4, 8]) {
      const measured = measure(model, lanes, seconds) - weights
      assertNear(measured, bytesFor(lanes, prediction), `${lanes} lanes`)
    }
  })
}

test('a batch takes no more memory as graphs', COUNTED, async () => {
  const model = await loadSamAudio(FIXTURES)
  const before = graphsHeld()
  const [first, last] = [1, WARM_UP_CALLS].map((calls) => measure(model, 2, 10, calls))
  assert.ok(graphsHeld() > before, 'there are graphs')
  assert.ok(last! <= 1.05 * first!, `${last! / MIB} MiB after ${first! / MIB}`)
})

test('a batch fills most of the free memory, and holds at least one lane', () => {
  const prediction: MemoryPrediction = {
    weightsBytes: 1000 * MIB,
    chunkSeconds: 60,
    frames: 1500,
    calls: [
      { firstBytes: 400 * MIB, nextBytes: 1 * MIB }, // a lane at a time, such as decoding
      { firstBytes: 100 * MIB, nextBytes: 100 * MIB },
    ],
  }
  assert.deepEqual(
    [1, 4, 10].map((lanes) => bytesFor(lanes, prediction) / MIB),
    [400, 403, 1000],
  )
  assert.equal(framesThatFit(10, prediction), 1500)
  assert.equal(framesThatFit(1000 * MIB, prediction), 7 * 1500)
  assert.equal(framesThatFit(80_000 * MIB, prediction), 560 * 1500)
})

test('predicted shapes equal those of TensorFlow for every operation of the models', async () => {
  const { binding } = native
  const shaped = new Map<number, ShapedTensor>()
  const checked = new Set<string>()
  const createTensor: Binding['createTensor'] = (shape, dtype, values) => {
    const id = binding.createTensor(shape, dtype, values)
    shaped.set(id, { shape, dtype, values: Array.from(values as Float32Array) })
    return id
  }
  /** Looks up a tensor that was made before the binding was replaced. */
  const lookUp = (id: number): ShapedTensor => binding.executeOp('Identity', [], [id], 1)[0]!
  const executeOp: Binding['executeOp'] = (op, attributes, ids, outputs) => {
    const answer = binding.executeOp(op, attributes, ids, outputs)
    if (!op.startsWith(GRAPH_NAME)) {
      const expected = resultsOf(
        op,
        attributes,
        ids.map((id) => shaped.get(id) ?? lookUp(id)),
        outputs,
      )
      assert.deepEqual(
        expected.map(({ shape, dtype }) => [shape, dtype]),
        answer.map(({ shape, dtype }) => [shape, dtype]),
        op,
      )
      checked.add(op)
    }
    const values = op === 'Identity' ? shaped.get(ids[0]!)?.values : undefined // making a graph copies constants
    for (const { id, shape, dtype } of answer) shaped.set(id, { shape, dtype, values })
    return answer
  }
  const replacements = { createTensor: { value: createTensor }, executeOp: { value: executeOp } }
  native.binding = Object.create(binding, replacements)
  try {
    await profiledOperations()
  } finally {
    native.binding = binding
  }
  assert.ok(checked.size >= 40, `${checked.size} operations`)
})
