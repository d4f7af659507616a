import assert from 'node:assert/strict'
import test from 'node:test'
import { chunkCount, planChunks, Stitcher, type ChunkPlan } from '../../../../engine/job/chunks.ts'
import { cutChunks } from '../../../support/engine/cut-chunks.ts'
import { fc } from '../../../support/basics/property.ts'

/** Distinct values, so that any misplaced sample shows. */
const ramp = (samples: number, channels = 1) =>
  Array.from({ length: channels }, (_, c) =>
    Float32Array.from({ length: samples }, (_unused, i) => i + 1 + c * 100_000),
  )

async function* inBlocks(signal: Float32Array[], sizes: readonly number[]) {
  const samples = signal[0]?.length ?? 0
  for (let start = 0, i = 0; start < samples; i += 1) {
    const end = Math.min(samples, start + (sizes[i % sizes.length] ?? 1))
    yield signal.map((channel) => channel.slice(start, end))
    start = end
  }
}

async function cutAndJoin(signal: Float32Array[], plan: ChunkPlan, sizes: readonly number[]) {
  const stitcher = new Stitcher(plan)
  const parts: Float32Array[][] = []
  const lengths: number[] = []
  const starts: number[] = []
  for await (const chunk of cutChunks(inBlocks(signal, sizes), signal.length, plan)) {
    lengths.push(chunk.channels[0]?.length ?? 0)
    starts.push(chunk.startSample)
    parts.push(stitcher.push(chunk.startSample, chunk.channels))
  }
  parts.push(stitcher.finish())
  const joined = signal.map((_, c) => parts.flatMap((part) => [...(part[c] ?? [])]))
  return { joined, lengths, starts }
}

/** Any plan in whole frames. */
const plans = fc
  .record({ frames: fc.integer({ min: 1, max: 60 }), frameSamples: fc.integer({ min: 1, max: 7 }) })
  .chain(({ frames, frameSamples }) =>
    fc
      .integer({ min: 0, max: Math.floor(frames / 2) })
      .map((overlap) => ({
        chunkSamples: frames * frameSamples,
        overlapSamples: overlap * frameSamples,
        frameSamples,
      })),
  )

test('a mixture of any length that is cut and joined is unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(
      plans,
      fc.integer({ min: 0, max: 400 }),
      fc.integer({ min: 1, max: 2 }),
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 }),
      async (plan, samples, channels, sizes) => {
        const signal = ramp(samples, channels)
        const { joined, lengths, starts } = await cutAndJoin(signal, plan, sizes)
        for (const [c, channel] of joined.entries()) {
          assert.equal(channel.length, samples)
          // Exact, because gains sum to 1 within 2^-53 and outputs have 24 bits.
          for (const [i, value] of channel.entries()) {
            assert.equal(value, signal[c]?.[i], `channel ${c} sample ${i}`)
          }
        }
        assert.equal(lengths.length, chunkCount(samples, plan))
        const { frameSamples } = plan
        assert.ok(
          starts.every((start) => start % frameSamples === 0),
          `chunks start at ${starts}`,
        )
        const frames = new Set(lengths.map((length) => Math.ceil(length / frameSamples)))
        assert.ok(frames.size <= 1, `chunks have ${[...frames]} frames`)
      },
    ),
    { numRuns: 300 },
  )
})

test('neighbors that disagree are cross-faded over the overlap, with gains that sum to 1', () => {
  const stitcher = new Stitcher({ overlapSamples: 4 })
  const first = stitcher.push(0, [new Float32Array(8).fill(1)])
  const second = stitcher.push(4, [new Float32Array(8).fill(0)])
  assert.deepEqual([...(first[0] ?? [])], [1, 1, 1, 1])
  const faded = [...(second[0] ?? [])]
  assert.equal(faded.length, 4)
  assert.ok(faded.every((value, i) => value > 0 && value < 1 && value < (faded[i - 1] ?? 1)))
  assert.ok(Math.abs((faded[0] ?? 0) + (faded[3] ?? 0) - 1) < 1e-6)
  assert.deepEqual([...(stitcher.finish()[0] ?? [])], [0, 0, 0, 0])
})

const planOptions = {
  sampleRate: 100,
  channels: 1,
  chunkSecondsMax: 60,
  overlapSeconds: 5,
  modelChunkSecondsMax: 10,
  modelOverlapSecondsMax: 2,
  frameSamples: 1,
}

const PLANS: [
  title: string,
  options: Partial<typeof planOptions>,
  chunk: number,
  overlap: number,
][] = [
  ['the model, where it takes less', {}, 1_000, 200],
  ['the request, where it asks for less', { chunkSecondsMax: 3, overlapSeconds: 0.5 }, 300, 50],
  ['half a chunk of overlap', { chunkSecondsMax: 1, modelOverlapSecondsMax: 30 }, 100, 50],
  ['a second at least', { chunkSecondsMax: 1e-6, overlapSeconds: 0 }, 100, 0],
  ['whole frames', { frameSamples: 96 }, 960, 192],
  ['at least one frame', { frameSamples: 96, chunkSecondsMax: 0.5 }, 96, 0],
  ['whole frames of the overlap', { frameSamples: 192 }, 960, 192],
  ['one long frame', { frameSamples: 192, chunkSecondsMax: 0.5 }, 192, 0],
]

for (const [title, options, chunkSamples, overlapSamples] of PLANS) {
  test(`a plan keeps to ${title}`, () => {
    const planInput = { ...planOptions, ...options }
    const { frameSamples } = planInput
    assert.deepEqual(planChunks(planInput), { chunkSamples, overlapSamples, frameSamples })
  })
}

/**
 * Any plan that the API allows, for media of up to a day at the accepted rates and channel counts.
 */
const anyPlan = fc.record({
  sampleRate: fc.integer({ min: 8_000, max: 768_000 }),
  channels: fc.integer({ min: 1, max: 8 }),
  chunkSecondsMax: fc.oneof(
    fc.double({ min: Number.MIN_VALUE, max: 300, noNaN: true }),
    fc.constant(1e-6),
  ),
  overlapSeconds: fc.double({ min: 0, max: 30, noNaN: true }),
  modelChunkSecondsMax: fc.constantFrom(10, 60),
  modelOverlapSecondsMax: fc.constantFrom(0, 1, 2, 5),
  frameSamples: fc.constantFrom(1, 1_920),
})

test('whatever the options, the chunks and the samples in them are bounded by the length of the media', () => {
  fc.assert(
    fc.property(anyPlan, fc.double({ min: 0, max: 86_400, noNaN: true }), (options, seconds) => {
      const plan = planChunks(options)
      const samples = Math.ceil(seconds * options.sampleRate)
      const chunks = chunkCount(samples, plan)
      // A chunk may be shortened by less than a frame, and overlaps by at most half.
      const leastSeconds = 1 - options.frameSamples / options.sampleRate
      assert.equal(chunks <= Math.ceil((2 * seconds) / leastSeconds) + 1, true, `${chunks} chunks`)
      const longest = Math.min(samples, plan.chunkSamples)
      assert.equal(
        chunks * longest <= 2 * samples + plan.chunkSamples,
        true,
        `${chunks} of ${longest} samples`,
      )
    }),
    { numRuns: 2_000 },
  )
})

test('no more than a few chunks are in memory, whatever the length', async () => {
  const plan = { chunkSamples: 100, overlapSamples: 20, frameSamples: 1 }
  let produced = 0
  let consumed = 0
  let heldMax = 0
  async function* endless() {
    for (let i = 0; i < 2_000; i += 1) {
      produced += 10
      heldMax = Math.max(heldMax, produced - consumed)
      yield [new Float32Array(10)]
    }
  }
  for await (const { startSample, channels } of cutChunks(endless(), 1, plan)) {
    consumed = startSample + (channels[0]?.length ?? 0)
  }
  assert.equal(consumed, 20_000)
  assert.ok(heldMax <= 3 * plan.chunkSamples, `held ${heldMax}`)
})

test('a chunk of many channels at a high rate is shortened to fit in memory', () => {
  const { chunkSamples } = planChunks({
    ...planOptions,
    sampleRate: 192_000,
    channels: 8,
    chunkSecondsMax: 300,
    modelChunkSecondsMax: 300,
  })
  assert.equal(chunkSamples * 8, 2 ** 24)
})
