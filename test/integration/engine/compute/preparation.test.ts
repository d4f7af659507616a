/** Threads prepare chunks as the model does, and keep working after refusing a chunk. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ModelError } from '../../../../engine/compute/compute-errors.ts'
import { Preparation } from '../../../../engine/compute/preparation.ts'
import { prepareChunk } from '../../../../models/mini/prepare-chunk.ts'
import { noise } from '../../../support/media/signals.ts'

const SAMPLE_RATE = 44_100
const CORES = 8 // gives two threads

function start(t: TestContext): Preparation {
  const preparation = new Preparation(CORES)
  t.after(() => preparation.stop())
  return preparation
}

const chunkOf = (seed: number) => ({
  channels: [noise(1, SAMPLE_RATE, seed), noise(1, SAMPLE_RATE, seed + 1)],
  sampleRate: SAMPLE_RATE,
})

test('a chunk is what the model makes of it, and its memory is transferred', async (t) => {
  const preparation = start(t)
  const seeds = [1, 2, 3, 4]
  const chunks = seeds.map(chunkOf)
  const prepared = await Promise.all(chunks.map((chunk) => preparation.prepare('mini', chunk)))
  assert.deepEqual(
    prepared,
    seeds.map((seed) => prepareChunk(chunkOf(seed))),
  )
  assert.ok(chunks.every(({ channels }) => channels.every(({ length }) => length === 0)))
})

test('a chunk that the model refuses is refused, and the next is prepared', async (t) => {
  const preparation = start(t)
  const refused = { channels: [new Float32Array(0)], sampleRate: SAMPLE_RATE }
  await assert.rejects(preparation.prepare('mini', refused), ModelError)
  await preparation.prepare('mini', chunkOf(1))
  await preparation.prepare('mini', chunkOf(1))
})

test('chunks for models that prepare nothing stay as they are', async (t) => {
  const chunk = chunkOf(1)
  assert.equal(await start(t).prepare('htdemucs', chunk), chunk)
  assert.equal(chunk.channels[0]!.length, SAMPLE_RATE)
})
