/** Clips of all lengths are padded to few shapes, so they run as graphs and memory stays constant. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NativeTensor } from '../../models/tensorflow/binding.ts'
import { WARM_UP_CALLS } from '../../models/graph/graph-cache.ts'
import { GRAPH_NAME } from '../../models/graph/recorder.ts'
import { loadMini } from '../../models/mini/mini.ts'
import { tokensOfBucket } from '../../models/mini/lane-bucket.ts'
import { openLane } from '../../models/model.ts'
import { native } from '../../models/tensorflow/tensor.ts'
import { TEXT_ENCODER_FOLDER } from '../support/models/golden.ts'
import { laneRequest, noise, separateOne } from '../support/models/lanes.ts'

const mini = await loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER })
const SAMPLE_RATE = 16_000

/** Returns the operations that the native library runs during `work`, with their results. */
function operationsOf(work: () => void): { name: string; answer: NativeTensor[] }[] {
  const { binding } = native
  const operations: { name: string; answer: NativeTensor[] }[] = []
  const executeOp: typeof binding.executeOp = (name, ...words) => {
    const answer = binding.executeOp(name, ...words)
    operations.push({ name, answer })
    return answer
  }
  native.binding = Object.create(binding, { executeOp: { value: executeOp } })
  try {
    work()
  } finally {
    native.binding = binding
  }
  return operations
}

test('short clips reach graphs, even with another length at each call', () => {
  const operations = operationsOf(() => {
    for (let i = 0; i < WARM_UP_CALLS; i += 1) {
      const channels = [noise(SAMPLE_RATE / 4 + 600 * i, i + 1)]
      separateOne(mini, laneRequest({ channels, sampleRate: SAMPLE_RATE }))
    }
  })
  const graphs = operations.filter(({ name }) => name.startsWith(GRAPH_NAME))
  // Graphs of the lane's input, the encoded mixture, the mask and the lane's target.
  assert.equal(graphs.length, 4)
})

test('there are few buckets, each long enough for what it holds', () => {
  const tokens = Array.from({ length: 384 }, (_, i) => i + 1)
  const buckets = tokens.map(tokensOfBucket)
  assert(buckets.every((bucket, i) => bucket >= tokens[i]!))
  assert.equal(new Set(buckets).size, 12)
})

test('prompts of all lengths are encoded in few shapes', () => {
  const prompts = Array.from({ length: 14 }, (_, i) => `rain${' again'.repeat(i)}`)
  const operations = operationsOf(() => {
    for (const prompt of prompts) {
      const channels = [noise(100, 1)]
      mini.discard(openLane(mini, laneRequest({ channels, sampleRate: SAMPLE_RATE }, prompt)))
    }
  })
  const answers = operations.flatMap(({ answer }) => answer)
  const attention = answers.filter(({ shape: [, , query, key] }) => key && query === key)
  const lengths = new Set(attention.map(({ shape }) => shape[3]))
  assert.deepEqual([...lengths], [16])
})
