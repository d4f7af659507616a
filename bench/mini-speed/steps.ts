/**
 * Times the built-in model of one checkout: `steps.ts CHECKOUT`. For each line `BATCH SECONDS
 * float32|bfloat16 CHANNELS` on standard input, separates a batch once, and prints its milliseconds
 * of wall time and of CPU time.
 */
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { Precision } from '../../models/tensorflow/precision.ts'
import { noise } from '../../test/support/media/signals.ts'

const SAMPLE_RATE = 32_000

const checkout = process.argv[2]!
const { loadMini } = await moduleOf<typeof import('../../models/mini/mini.ts')>('mini/mini.ts')
const { openLane, closeLane } = await moduleOf<typeof import('../../models/model.ts')>('model.ts')
const textEncoderFolder = join(checkout, '.runtime/text-encoder')
const models = {
  float32: await loadMini({ textEncoderFolder }),
  bfloat16: await loadMini({ textEncoderFolder, precision: 'bfloat16' }),
}
for await (const line of createInterface({ input: process.stdin })) {
  const [batch, seconds, precision, channels] = line.split(' ')
  console.log(...separate(Number(batch), Number(seconds), precision as Precision, Number(channels)))
}

async function moduleOf<T>(path: string): Promise<T> {
  return (await import(pathToFileURL(join(checkout, 'models', path)).href)) as T
}

function separate(
  batch: number,
  seconds: number,
  precision: Precision,
  channels: number,
): [number, number] {
  const mini = models[precision]
  const lanes = Array.from({ length: batch }, (_, i) => {
    const waves = Array.from({ length: channels }, (_, channel) =>
      noise(seconds, SAMPLE_RATE, 1 + i * channels + channel),
    ) // different noise, because lanes with equal mixtures share work
    const chunk = { channels: waves, sampleRate: SAMPLE_RATE }
    return openLane(mini, { prompt: 'rain', spans: [], acceleration: 'fast', seed: 0, chunk })
  })
  const [startedAt, usedBefore] = [performance.now(), process.cpuUsage()]
  mini.step(lanes)
  for (const lane of lanes) closeLane(mini, lane)
  const taken = performance.now() - startedAt
  const { user, system } = process.cpuUsage(usedBefore)
  return [taken, (user + system) / 1_000]
}
