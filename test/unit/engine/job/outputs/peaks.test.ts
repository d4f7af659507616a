import assert from 'node:assert/strict'
import test from 'node:test'
import { Peaks, PEAKS_MAX, type Waveform } from '../../../../../engine/job/outputs/peaks.ts'
import { fc } from '../../../../support/basics/property.ts'
import { concatenate } from '../../../../support/media/signals.ts'
import type { OutputName } from '../../../../../shared/messages.ts'

const RATE = 44_100

type Blocks = readonly (readonly Float32Array[])[]

function waveformsOf(blocks: ReadonlyMap<OutputName | 'mixture', Blocks>, channels: number) {
  const names = [...blocks.keys()].filter((name) => name !== 'mixture')
  const peaks = new Peaks(names, { sampleRate: RATE, channels })
  for (const [name, list] of blocks) for (const planes of list) peaks.add(name, planes)
  return JSON.parse(peaks.toJson(1)) as {
    mixture: Waveform
    targets: Waveform[]
    residual: Waveform
  }
}

/** Peaks of whole planar samples, in buckets of one size. */
function directly(planes: readonly Float32Array[], bucketSamples: number): number[] {
  const data: number[] = []
  for (let at = 0; at < planes[0]!.length; at += bucketSamples) {
    for (const plane of planes) {
      const bucket = plane.slice(at, at + bucketSamples)
      data.push(Math.round(Math.min(...bucket) * 127), Math.round(Math.max(...bucket) * 127))
    }
  }
  return data
}

const joined = (blocks: Blocks, channels: number) =>
  Array.from({ length: channels }, (_, channel) =>
    concatenate(blocks.map((planes) => planes[channel]!)),
  )

test('whatever the blocks, the peaks are those of the whole, in at most so many buckets', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 30 })
  const withBucketsOfTwo: [number[], number] = [Array(20).fill(30_000), 4]
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 8 }), (lengths, channels) => {
      let seed = 1
      // a high power, so that buckets differ in what is greatest in them
      const next = () => (((seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647) * 2 - 1) ** 99
      const blocks = lengths.map((length) =>
        Array.from({ length: channels }, () => Float32Array.from({ length }, next)),
      )
      const { residual } = waveformsOf(new Map([['residual', blocks]]), channels)
      const expected = directly(joined(blocks, channels), residual.samples_per_pixel)
      // -0 is 0 in JSON
      assert.deepEqual(
        residual.data,
        expected.map((value) => value + 0),
      )
      assert.equal(residual.data.length, 2 * channels * residual.length)
      assert.ok(residual.length * channels <= PEAKS_MAX)
    }),
    { numRuns: 10, examples: [withBucketsOfTwo] },
  )
})

test('a long file has as many buckets as a short one, and at least half of those that it may', () => {
  const block = [new Float32Array(RATE).fill(0.5), new Float32Array(RATE).fill(-0.5)]
  const minutes = Array.from({ length: 300 }, () => block)
  const { residual } = waveformsOf(new Map([['residual', minutes]]), 2)
  assert.ok(residual.length <= PEAKS_MAX / 2 && residual.length > PEAKS_MAX / 4)
  assert.deepEqual(residual.data.slice(0, 4), [64, 64, -63, -63])
})

test('the mixture has its own peaks, and targets are in their order', () => {
  const constant = (value: number): Blocks => [[new Float32Array(1_000).fill(value)]]
  const { mixture, targets, residual } = waveformsOf(
    new Map<OutputName | 'mixture', Blocks>([
      ['mixture', constant(-0.3)],
      ['target', constant(0.1)],
      ['target_2', constant(0.2)],
      ['residual', constant(-0.6)],
    ]),
    1,
  )
  const firstOf = ({ data }: Waveform) => data[0]
  assert.deepEqual(targets.map(firstOf), [13, 25])
  assert.deepEqual([firstOf(residual), firstOf(mixture)], [-76, -38])
  const { data, ...head } = mixture
  assert.deepEqual(head, {
    version: 2,
    channels: 1,
    sample_rate: RATE,
    samples_per_pixel: 256,
    bits: 8,
    length: 4,
  })
})

test('samples beyond full scale are drawn at full scale', () => {
  const { residual } = waveformsOf(new Map([['residual', [[Float32Array.of(3, -3)]]]]), 1)
  assert.deepEqual(residual.data, [-128, 127])
})

test('a first piece without samples, of a chunk no longer than its overlap, changes nothing', () => {
  const blocks = [[], [0.5, -0.5]].map((samples) => [Float32Array.from(samples)])
  const { residual } = waveformsOf(new Map([['residual', blocks]]), 1)
  assert.deepEqual(residual.data, [-63, 64])
})
