/** Resampling in threads gives the same results as `Resampler`, for several streams in turn. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Resampler, type ResamplerOptions } from '../../../../engine/media/resampler.ts'
import { ResamplingThreads } from '../../../../engine/media/resampling-threads.ts'
import { ThreadLostError } from '../../../../engine/threads/task-thread.ts'
import { noise } from '../../../support/media/signals.ts'

const BLOCK = 5_000

function threadsOf(t: TestContext): ResamplingThreads {
  const threads = new ResamplingThreads(8)
  t.after(() => threads.stop())
  return threads
}

function blocksOf(channels: number, rate: number): Float32Array[][] {
  const waves = Array.from({ length: channels }, (_, c) => noise(0.5, rate, c + 1))
  const starts = Array.from({ length: Math.ceil(waves[0]!.length / BLOCK) }, (_, i) => i * BLOCK)
  return starts.map((start) => waves.map((wave) => wave.slice(start, start + BLOCK)))
}

function inOneThread(options: ResamplerOptions, blocks: Float32Array[][]): Float32Array[][] {
  const resampler = new Resampler(options)
  const resampled = [...blocks.flatMap((block) => resampler.add(block)), ...resampler.finish()]
  resampler.close()
  return resampled
}

test('streams taking turns give what each gives alone, and blocks stay with their owner', async (t) => {
  const threads = threadsOf(t)
  const streams = [
    { from: 44_100, to: 32_000, channels: 2 },
    { from: 32_000, to: 44_100, channels: 1 },
    { from: 44_100, to: 48_000, channels: 2 },
  ].map((options) => {
    const blocks = blocksOf(options.channels, options.from)
    const made: Float32Array[][] = []
    return { options, blocks, made, resampler: threads.open(options) }
  })
  for (let i = 0; i < Math.max(...streams.map(({ blocks }) => blocks.length)); i += 1) {
    for (const { blocks, made, resampler } of streams) {
      if (blocks[i]) made.push(...(await resampler.add(blocks[i]!)))
    }
  }
  for (const { options, blocks, made, resampler } of streams) {
    made.push(...(await resampler.finish()))
    await resampler.close()
    assert.deepEqual(made, inOneThread(options, blocks))
    assert.ok(
      blocks.every(([first]) => first!.length > 0),
      'no memory was taken',
    )
  }
})

test('a stream whose thread has ended gives no partial result', async (t) => {
  const threads = threadsOf(t)
  const resampler = threads.open({ from: 44_100, to: 32_000, channels: 1 })
  const [first, second] = blocksOf(1, 44_100)
  await resampler.add(first!)
  const underWay = assert.rejects(resampler.add(second!), ThreadLostError)
  await Promise.all([underWay, threads.stop()])
  await assert.rejects(resampler.add(second!), ThreadLostError)
  await resampler.close()
})
