/** Measures the effect of bfloat16 by comparing separations with those in float32. */
import { fileURLToPath } from 'node:url'
import type { Model } from '../../../models/model.ts'
import { loadSamAudio } from '../../../models/sam-audio/sam-audio.ts'
import { noise, separateOne } from '../../../test/support/models/lanes.ts'
import type { Run } from '../options.ts'

const FIXTURES = fileURLToPath(new URL('../../../test/fixtures/sam-audio', import.meta.url))

export const halfWidthPart: Run = async function* (options) {
  const [whole, half] = [await loadSamAudio(FIXTURES), await loadSamAudio(FIXTURES, 'bfloat16')]
  const rate = whole.description.sampleRate!
  const separate = (model: Model, acceleration: 'fast' | 'quality') =>
    separateOne(model, {
      chunk: { channels: [noise(options.seconds * rate, 1)], sampleRate: rate },
      prompt: 'rain',
      spans: [],
      acceleration,
      seed: 1,
    })
  for (const acceleration of ['fast', 'quality'] as const) {
    const [exact] = separate(whole, acceleration).target
    const [rounded] = separate(half, acceleration).target
    yield { acceleration, 'signal to difference, dB': ratio(exact!, rounded!) }
  }
}

/** Returns the power of a signal over the power of the difference, in decibels. */
function ratio(signal: Float32Array, other: Float32Array): number {
  const power = (values: Float32Array) => values.reduce((sum, x) => sum + x * x, 0)
  return 10 * Math.log10(power(signal) / power(signal.map((x, i) => x - other[i]!)))
}
