import assert from 'node:assert/strict'
import test from 'node:test'
import type { Waveform } from '../../../../clients/typescript/client.ts'
import { lengthen } from '../../../../web/audio/lengthen.ts'

const waveform: Waveform = {
  version: 2,
  channels: 2,
  sample_rate: 8,
  samples_per_pixel: 4,
  bits: 8,
  length: 3,
  data: [-1, 1, -2, 2, -3, 9, -4, 4, -5, 5, -6, 6],
}

test('a waveform of short media gets silence', () => {
  const { length, data } = lengthen(waveform, 2)
  assert.equal(length, 4)
  assert.deepEqual(data, [...waveform.data, 0, 0, 0, 0])
  assert.deepEqual(lengthen(waveform, 1), waveform) // never less than there is
})

test('a waveform of long media stays small, and keeps its extremes', () => {
  const { length, samples_per_pixel: bucket, data } = lengthen(waveform, 8_192)
  assert.deepEqual([length, bucket, data.length], [8_192, 8, 4 * 8_192])
  assert.deepEqual(data.slice(0, 12), [-3, 9, -4, 4, -5, 5, -6, 6, 0, 0, 0, 0])
  assert.ok(lengthen(waveform, 1e7).length <= 8_192)
})
