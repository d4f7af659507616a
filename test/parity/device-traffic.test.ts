/**
 * Traffic between host and device in a step: inputs in, results out, and nothing else. On a GPU every
 * such copy waits for everything computed before it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Binding } from '../../models/tensorflow/binding.ts'
import { withConstants } from '../../models/tensorflow/constants.ts'
import { WARM_UP_CALLS } from '../../models/graph/graph-cache.ts'
import { GRAPH_NAME } from '../../models/graph/recorder.ts'
import { loadMini } from '../../models/mini/mini.ts'
import { openLane, closeLane, type Lane, type LaneRequest, type Model } from '../../models/model.ts'
import { loadSamAudio } from '../../models/sam-audio/sam-audio.ts'
import { StemsModel } from '../../models/lanes/stems-model.ts'
import { native, tf, type Tensor } from '../../models/tensorflow/tensor.ts'
import { assertClose } from '../support/basics/assert-close.ts'
import { TEXT_ENCODER_FOLDER } from '../support/models/golden.ts'
import { laneRequest, noise } from '../support/models/lanes.ts'
import { FIXTURES } from '../support/models/tiny-sam-audio.ts'

/** Copies as the native library sees them, below the cache of constants. */
interface Traffic {
  /** Shapes of the tensors sent to the device; int32 tensors stay on the host until they are used. */
  uploads: string[]
  reads: number
  /** How many numbers were read. */
  valuesRead: number
  operations: string[]
}

const noTraffic = (): Traffic => ({ uploads: [], reads: 0, valuesRead: 0, operations: [] })
let traffic = noTraffic()
watchBinding()

/** Watches the binding for the whole file, because one cache must not free another's constants. */
function watchBinding(): void {
  const library = Object.getPrototypeOf(native.binding) as Binding
  const createTensor: Binding['createTensor'] = (shape, type, values) => {
    if (type !== library.TF_INT32) traffic.uploads.push(`[${shape}]`)
    return library.createTensor(shape, type, values)
  }
  const tensorDataSync: Binding['tensorDataSync'] = (id) => {
    const values = library.tensorDataSync(id)
    traffic.reads += 1
    traffic.valuesRead += values.length
    return values
  }
  const executeOp: Binding['executeOp'] = (name, ...words) => {
    traffic.operations.push(name)
    return library.executeOp(name, ...words)
  }
  native.binding = withConstants(
    Object.create(library, {
      createTensor: { value: createTensor },
      tensorDataSync: { value: tensorDataSync },
      executeOp: { value: executeOp },
    }) as Binding,
  )
}

function trafficOf(work: () => void): Traffic {
  traffic = noTraffic()
  work()
  return traffic
}

/**
 * Operations whose GPU kernels need numbers on the host (`HostMemory` in their registrations). tfjs puts
 * these numbers on the device, so the kernels would fetch them back.
 */
const FETCHING = ['Fill', 'Range', 'PadV2', 'LinSpace', 'Where', 'Unique', 'NonZero']

function assertNoneFetches({ operations }: Traffic): void {
  const fetching = operations.filter((name) => FETCHING.includes(name))
  assert.deepEqual(fetching, [])
}

const mini = await loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER })
/** Groups lanes of one shape, as on a GPU. */
const miniTogether = await loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER, together: true })
const samAudio = await loadSamAudio(FIXTURES)

/** Runs lanes to their end often enough for every shape to have a graph and every constant a tensor. */
function warmUp(model: Model, requests: () => LaneRequest[]): void {
  for (let i = 0; i < WARM_UP_CALLS; i += 1) {
    const lanes = requests().map((request) => openLane(model, request))
    while (lanes[0]!.stepsDone < lanes[0]!.steps) model.step(lanes)
    for (const lane of lanes) closeLane(model, lane)
  }
}

/** Returns requests of one, two and three seconds, in turn. */
const miniRequests = (channels: readonly number[]): LaneRequest[] =>
  channels.map((count, i) => {
    const waves = [0, 1].map((channel) => noise((1 + (i % 3)) * 32_000, 2 * i + channel))
    return laneRequest({ channels: waves.slice(0, count), sampleRate: 32_000 })
  })

/**
 * Returns the traffic of a warmed-up batch, from opening its first lane to closing its last.
 * @param channels the number of channels of each lane
 */
function batchTraffic(model: Model, channels: readonly number[]): Traffic & { graphs: number } {
  warmUp(model, () => miniRequests(channels))
  const traffic = trafficOf(() => {
    const lanes = miniRequests(channels).map((request) => openLane(model, request))
    model.step(lanes)
    for (const lane of lanes) closeLane(model, lane)
  })
  assertNoneFetches(traffic)
  const graphs = traffic.operations.filter((name) => name.startsWith(GRAPH_NAME))
  return { ...traffic, graphs: graphs.length }
}

for (const lanes of [1, 8]) {
  test(`on a GPU a batch of ${lanes} mini lanes has two uploads, a launch and a read`, () => {
    for (const channels of [1, 2]) {
      const batch = batchTraffic(miniTogether, Array<number>(lanes).fill(channels))
      assert.deepEqual([batch.uploads.length, batch.operations.length, batch.reads], [2, 1, 1])
      assert.equal(batch.graphs, 1)
    }
  })
}

test('a batch in parts has two uploads and one read, and every part runs as a graph', () => {
  const channels = [1, 2, 1, 1, 2, 1, 1]
  for (const [model, groups] of [
    [miniTogether, 3], // of four, one and two lanes
    [mini, channels.length],
  ] as const) {
    const batch = batchTraffic(model, channels)
    assert.deepEqual([batch.uploads.length, batch.reads], [2, 1])
    assert.equal(batch.graphs, 2 * groups + 2) // two per group, and two of the network
  }
})

const hop = samAudio.description.frameSamples
const samRequest = (frames: number): LaneRequest => {
  const channels = [noise(frames * hop, frames)]
  return laneRequest({ channels, sampleRate: samAudio.description.sampleRate! })
}

test('a step of the flow uploads only its masks and sizes, and reads nothing', () => {
  const requests = () => [20, 13].map(samRequest)
  warmUp(samAudio, requests)
  const lanes = requests().map((request) => openLane(samAudio, request))
  const stepAll = () => samAudio.step(lanes)
  assert.equal(trafficOf(stepAll).reads, 2) // encodes both lanes
  stepAll() // takes in their noise
  while (lanes[0]!.stepsDone < 8) {
    const step = trafficOf(stepAll)
    // The mask of the frames, their counts, and the sizes of the steps.
    assert.deepEqual(step.uploads.sort(), ['[2,1,1]', '[2,1,1]', '[2,20,1]'])
    assert.equal(step.reads, 0)
    assertNoneFetches(step)
    const graphs = step.operations.filter((name) => name.startsWith(GRAPH_NAME))
    assert.equal(graphs.length, 2) // a midpoint step has two evaluations
  }
  for (const lane of lanes) samAudio.discard(lane)
})

test('encoding reads back only features, and decoding only waves', () => {
  warmUp(samAudio, () => [samRequest(20)])
  const lane = openLane(samAudio, samRequest(29)) // one slice
  const encoding = trafficOf(() => stepUntil(lane, 1))
  assert.equal(encoding.reads, 1)
  assertNoneFetches(encoding)
  stepUntil(lane, lane.steps - 1)
  const decoding = trafficOf(() => stepUntil(lane, lane.steps))
  assert.deepEqual([decoding.uploads, decoding.reads], [[], 1])
  assertNoneFetches(decoding)
  samAudio.discard(lane)
})

function stepUntil(lane: Lane, stepsDone: number): void {
  while (lane.stepsDone < stepsDone) samAudio.step([lane])
}

test('only stems that some lane asks for are read from a network', () => {
  const [sources, samples] = [['drums', 'bass', 'vocals'], 100]
  const times = (mixture: Tensor) => sources.map((_, i) => mixture.mul(i + 1))
  const network = { sources, stems: sources, separate: (x: Tensor) => tf.stack(times(x), 1) }
  const { description } = mini
  const model = new StemsModel(
    { ...description, answers: 'stems', stems: sources, sampleRate: 32_000 },
    [network],
    { width: 1, samples, frames: 1 },
  )
  const wave = noise(samples, 1)
  const request = laneRequest({ channels: [wave], sampleRate: 32_000 })
  for (const [stemsOfLanes, outputs] of [
    [[['vocals']], 1],
    [[['bass', 'vocals'], ['vocals']], 2],
    [[['drums'], ['vocals', 'bass']], 3],
  ] as const) {
    const heads = stemsOfLanes.map((stems) => ({ prompt: stems.join(), stems, seed: 0 }))
    const lanes = heads.map((head) => model.open(request, [head])[0]!)
    assert.equal(trafficOf(() => model.step(lanes)).valuesRead, lanes.length * outputs * samples)
    for (const [i, lane] of lanes.entries()) {
      const gain = heads[i]!.stems.reduce((sum, stem) => sum + sources.indexOf(stem) + 1, 0)
      const expected = wave.map((x) => x * gain)
      assertClose(model.close(lane)[0]!.target[0]!, expected, { absolute: 1e-5 })
    }
  }
})

test('equal constants share a tensor, and 0 is not -0', () => {
  const product = () => tf.tidy(() => tf.tensor1d([1, -1]).mul(0.123_456).mul(0).add(-0).dataSync())
  product()
  assert.deepEqual(trafficOf(product).uploads, ['[2]'])
  const signs = tf.tidy(() => tf.tensor1d([1, -1]).mul(-0).dataSync())
  assert.deepEqual(
    [...signs].map((x) => Object.is(x, -0)),
    [true, false],
  )
})

test('the number of constants kept is limited', () => {
  const held = () => (native.binding as unknown as { getNumOfTensors(): number }).getNumOfTensors()
  const before = held()
  for (let i = 0; i < 1_000; i += 1) tf.dispose(tf.tidy(() => tf.tensor1d([1]).mul(i + 0.5)))
  assert.ok(held() - before <= 256, `${held() - before} are held`)
})
