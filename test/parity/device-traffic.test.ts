/**
 * Traffic between host and device in a step: inputs in, results out, and nothing else. On a GPU
 * every such copy waits for all that was computed before it.
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

/** Copies, as the native library sees them: below the cache of constants. */
interface Traffic {
  /** Shapes of what goes to the device; int32 tensors stay on the host until they are used. */
  uploads: string[]
  /** Lists of whole numbers: shapes and axes, which stay on the host, and indices. */
  integers: number
  reads: number
  /** Numbers that were read. */
  valuesRead: number
  operations: string[]
}

const nothing = (): Traffic => ({
  uploads: [],
  integers: 0,
  reads: 0,
  valuesRead: 0,
  operations: [],
})
let traffic = nothing()
watch()

/** For the whole file: constants that one cache holds another must not free. */
function watch(): void {
  const library = Object.getPrototypeOf(native.binding) as Binding
  const createTensor: Binding['createTensor'] = (shape, type, values) => {
    if (type === library.TF_INT32) traffic.integers += 1
    else traffic.uploads.push(`[${shape}]`)
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
  traffic = nothing()
  work()
  return traffic
}

/**
 * Operations that want numbers on the host which tfjs lays on the device: their kernels would fetch
 * them back. (`HostMemory` in the registrations of their GPU kernels.)
 */
const FETCHING = ['Fill', 'Range', 'PadV2', 'LinSpace', 'Where', 'Unique', 'NonZero']

function assertNoneFetches({ operations }: Traffic): void {
  assert.deepEqual(
    operations.filter((name) => FETCHING.includes(name)),
    [],
  )
}

const mini = await loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER })
/** As on a GPU. */
const miniTogether = await loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER, together: true })
const samAudio = await loadSamAudio(FIXTURES)

/** Runs lanes to their ends so often that every shape has a graph and every constant its tensor. */
function warmUp(model: Model, requests: () => LaneRequest[]): void {
  for (let i = 0; i < WARM_UP_CALLS; i += 1) {
    const lanes = requests().map((request) => openLane(model, request))
    while (lanes[0]!.stepsDone < lanes[0]!.steps) model.step(lanes)
    for (const lane of lanes) closeLane(model, lane)
  }
}

/** Lanes of one, two and three seconds. */
const miniRequests = (channels: readonly number[]): LaneRequest[] =>
  channels.map((count, i) => {
    const waves = [0, 1].map((channel) => noise((1 + (i % 3)) * 32_000, 2 * i + channel))
    return laneRequest({ channels: waves.slice(0, count), sampleRate: 32_000 })
  })

/**
 * The traffic of a batch whose shapes have graphs, from when its lanes, of so many channels, are
 * opened to when the last of them is closed.
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

for (const lanes of [1, 4, 8]) {
  test(`on a GPU a batch of ${lanes} of mini has two uploads, one launch, one read`, () => {
    for (const channels of [1, 2]) {
      const batch = batchTraffic(miniTogether, Array<number>(lanes).fill(channels))
      assert.deepEqual([batch.uploads.length, batch.operations.length, batch.reads], [2, 1, 1])
      assert.equal(batch.graphs, 1)
    }
  })
}

test('a batch in parts has two uploads and one read, and every part is a graph', () => {
  const channels = [1, 2, 1, 1, 2, 1, 1]
  for (const [model, groups] of [
    [miniTogether, 3], // of four, one and two lanes
    [mini, channels.length],
  ] as const) {
    const batch = batchTraffic(model, channels)
    assert.deepEqual([batch.uploads.length, batch.reads], [2, 1])
    assert.equal(batch.graphs, 2 * groups + 2) // what goes in and comes out; the network's two
  }
})

const hop = samAudio.description.frameSamples
const samRequest = (frames: number): LaneRequest => ({
  ...laneRequest({ channels: [noise(frames * hop, frames)], sampleRate: 48_000 }),
  chunk: { channels: [noise(frames * hop, frames)], sampleRate: samAudio.description.sampleRate! },
})

test('a step of the flow takes sizes and times, and reads nothing', () => {
  const requests = () => [20, 13].map(samRequest)
  warmUp(samAudio, requests)
  const lanes = requests().map((request) => openLane(samAudio, request))
  const stepAll = () => samAudio.step(lanes)
  assert.equal(trafficOf(stepAll).reads, 2) // they are encoded
  stepAll() // and their noise comes in
  while (lanes[0]!.stepsDone < 8) {
    const step = trafficOf(stepAll)
    // The mask of frames, their counts, and the sizes of the steps.
    assert.deepEqual(step.uploads.sort(), ['[2,1,1]', '[2,1,1]', '[2,20,1]'])
    assert.equal(step.reads, 0)
    assertNoneFetches(step)
    const graphs = step.operations.filter((name) => name.startsWith(GRAPH_NAME))
    assert.equal(graphs.length, 2) // a midpoint step has two evaluations
  }
  for (const lane of lanes) samAudio.discard(lane)
})

test('encoding takes a slice of the mixture and gives its features; decoding gives waves', () => {
  warmUp(samAudio, () => [samRequest(20)])
  const lane = openLane(samAudio, samRequest(29)) // of one slice
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

test('of the outputs of a network of stems only those are read that some lane wants', () => {
  const [sources, samples] = [['drums', 'bass', 'vocals'], 100]
  const separate = (mixture: Tensor) =>
    tf.stack(
      sources.map((_, i) => mixture.mul(i + 1)),
      1,
    )
  const network = { sources, stems: sources, separate }
  const { description } = mini
  const model = new StemsModel(
    { ...description, answers: 'stems', stems: sources, sampleRate: 32_000 },
    [network],
    { width: 1, samples, frames: 1 },
  )
  const wave = noise(samples, 1)
  const request = laneRequest({ channels: [wave], sampleRate: 32_000 })
  for (const [wanted, outputs] of [
    [[['vocals']], 1],
    [[['bass', 'vocals'], ['vocals']], 2],
    [[['drums'], ['vocals', 'bass']], 3],
  ] as const) {
    const heads = wanted.map((stems) => ({ prompt: stems.join(), stems, seed: 0 }))
    const lanes = heads.map((head) => model.open(request, [head])[0]!)
    assert.equal(trafficOf(() => model.step(lanes)).valuesRead, lanes.length * outputs * samples)
    for (const [i, lane] of lanes.entries()) {
      const gain = heads[i]!.stems.reduce((sum, stem) => sum + sources.indexOf(stem) + 1, 0)
      const expected = wave.map((x) => x * gain)
      assertClose(model.close(lane)[0]!.target[0]!, expected, { absolute: 1e-5 })
    }
  }
})

test('the same number is one tensor, and 0 is not -0', () => {
  const product = () => tf.tidy(() => tf.tensor1d([1, -1]).mul(0.123_456).mul(0).add(-0).dataSync())
  product()
  assert.deepEqual(trafficOf(product).uploads, ['[2]'])
  const signs = tf.tidy(() => tf.tensor1d([1, -1]).mul(-0).dataSync())
  assert.deepEqual(
    [...signs].map((x) => Object.is(x, -0)),
    [true, false],
  )
})

test('of numbers without end not all are kept', () => {
  const held = () => (native.binding as unknown as { getNumOfTensors(): number }).getNumOfTensors()
  const before = held()
  for (let i = 0; i < 1_000; i += 1) tf.dispose(tf.tidy(() => tf.tensor1d([1]).mul(i + 0.5)))
  assert.ok(held() - before <= 256, `${held() - before} are held`)
})
