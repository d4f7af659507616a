/** The filter removes infrasound from a chunk, and nothing else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { highPass } from '../../../../models/mini/high-pass.ts'

const SECONDS = 2

const filtered = (wave: Float32Array, sampleRate: number): Float32Array =>
  highPass({ channels: [wave], sampleRate }).channels[0]!

const sine = (hertz: number, sampleRate: number): Float32Array =>
  Float32Array.from({ length: SECONDS * sampleRate }, (_, i) =>
    Math.sin((2 * Math.PI * hertz * i) / sampleRate + 1),
  )

/**
 * Returns how much of `wave` is in `filteredWave`, ignoring the ends; 1 if all of it is, without a
 * shift in time.
 */
function shareOf(filteredWave: Float32Array, wave: Float32Array): number {
  const quarter = wave.length / 4
  const dot = (other: Float32Array) =>
    other
      .subarray(quarter, 3 * quarter)
      .reduce((sum, sample, i) => sum + sample * wave[quarter + i]!, 0)
  return dot(filteredWave) / dot(wave)
}

test('rumble is removed and audible sound keeps its place, at every rate', () => {
  for (const sampleRate of [8_000, 44_100, 768_000]) {
    // By the filter's formula, 1 / (1 + (20 / hertz) ** 12).
    for (const [hertz, share] of Object.entries({ 8: 0, 15: 0.031, 20: 0.5, 30: 0.992, 100: 1 })) {
      const wave = sine(Number(hertz), sampleRate)
      const found = shareOf(filtered(wave, sampleRate), wave)
      assert.ok(Math.abs(found - share) < 2e-3, `${sampleRate}: ${found} of ${hertz} Hz`)
    }
  }
})

test('NaN is read as silence', () => {
  const broken = sine(300, 8_000)
  const silenced = broken.slice()
  broken.set([Number.NaN, Number.POSITIVE_INFINITY, -1e38], 5)
  silenced.fill(0, 5, 8)
  assert.deepEqual(filtered(broken, 8_000), filtered(silenced, 8_000))
})
