/** Clips of all lengths are padded to few shapes, so they run as graphs and memory stays constant. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { NativeTensor } from '../../models/tensorflow/binding.ts'
import { Weights } from '../../models/checkpoint/weights.ts'
import { WARM_UP_CALLS } from '../../models/graph/graph-cache.ts'
import { GRAPH_NAME } from '../../models/graph/recorder.ts'
import { loadBatch } from '../../models/mini/batch-graph.ts'
import { factsOf, samplesOf } from '../../models/mini/batch-input.ts'
import { laneOutputs } from '../../models/mini/batch-output.ts'
import { planBatch } from '../../models/mini/batch-plan.ts'
import { PATCH, readConfig } from '../../models/mini/config.ts'
import { prepareChunk } from '../../models/mini/prepare-chunk.ts'
import { MiniLane } from '../../models/mini/mini-lane.ts'
import { loadMini } from '../../models/mini/mini.ts'
import { tokensOfBucket } from '../../models/mini/lane-bucket.ts'
import { loadNetwork, type Network } from '../../models/mini/network/network.ts'
import { TextEncoder } from '../../models/mini/text/text-encoder.ts'
import { openLane, type LaneRequest, type HeadResult } from '../../models/model.ts'
import { native, tf, type Tensor } from '../../models/tensorflow/tensor.ts'
import { assertClose } from '../support/basics/assert-close.ts'
import { TEXT_ENCODER_FOLDER, WEIGHTS_FOLDER } from '../support/models/golden.ts'
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

const textEncoder = await TextEncoder.load(TEXT_ENCODER_FOLDER)
const config = await readConfig(join(WEIGHTS_FOLDER, 'config.json'))
const network = loadNetwork(Weights.open(join(WEIGHTS_FOLDER, 'model.safetensors')), config)

/** Separates with a network that gets only the lane's own tokens, without padding. */
function separateUnpadded(request: LaneRequest): HeadResult {
  const chunk = prepareChunk(request.chunk)
  const lane = new MiniLane({ ...request, chunk }, [{ ...request, index: 0 }], {
    embedding: textEncoder.embed(request.prompt).dataSync<'float32'>(),
    isRest: false,
  })
  const { plan, members } = planBatch([lane], false)
  const { tokens } = lane.pass
  const missing = plan.tokens - tokens
  assert(missing > 0)
  const withoutPadding = (x: Tensor) =>
    tf.slice(
      x,
      x.shape.map(() => 0),
      x.shape.map((size, axis) => (axis === 1 ? tokens : size)),
    )
  const padded = (x: Tensor, count: number, value = 0) =>
    tf.pad(
      x,
      x.shape.map((_, axis): [number, number] => [0, axis === 1 ? count : 0]),
      value,
    )
  const unpadded: Network = {
    ...network,
    encodeMixture: (features) => network.encodeMixture(withoutPadding(features), null),
    decodeMask: (encoded, { embedding, spans }) => {
      const answer = network.decodeMask(encoded, { embedding, spans: withoutPadding(spans) }, null)
      return {
        maskLogits: padded(answer.maskLogits, PATCH * missing),
        activityLogits: padded(answer.activityLogits, missing, -100),
      }
    },
  }
  const [samples, facts] = [samplesOf(plan, members), factsOf(plan, members)]
  const output = tf.tidy(() =>
    loadBatch(unpadded, config).inParts(plan, tf.tensor1d(samples), tf.tensor1d(facts)),
  )
  lane.advance(laneOutputs(output, plan.groups)[0]!)
  const [result] = lane.results()
  lane.dispose()
  return result!
}

/** Above 32 kHz there are bins beyond those of the network. */
for (const sampleRate of [SAMPLE_RATE, 44_100]) {
  test(`rows give the same with and without padding, at ${sampleRate} Hz`, () => {
    for (const seconds of [0.3, 1.37, 2.9]) {
      const channels = [7, 8].map((seed) => noise(Math.round(seconds * sampleRate), seed))
      const request = () =>
        laneRequest({ channels: channels.map((wave) => wave.slice()), sampleRate }, 'rain')
      const padded = separateOne(mini, request())
      const plain = separateUnpadded(request())
      assert(plain.target[0]!.some((value) => Math.abs(value) > 1e-2)) // there is sound to compare
      for (const [c, wave] of padded.target.entries()) {
        assertClose(wave, plain.target[c]!, { absolute: 1e-5 })
      }
    }
  })
}
