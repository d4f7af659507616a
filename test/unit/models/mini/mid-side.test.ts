/** Which views of two channels the network reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewsOf } from '../../../../models/mini/prepare-chunk.ts'

const wave = Float32Array.from({ length: 1000 }, (_, i) => Math.sin(i / 7))
const scaled = (share: number) => wave.map((sample) => share * sample)

test('a view is read if it is at most 30 dB weaker than the other', () => {
  assert.deepEqual(viewsOf([wave, wave]), ['middle'])
  assert.deepEqual(viewsOf([wave, scaled(0.95)]), ['middle'])
  assert.deepEqual(viewsOf([wave, scaled(0.9)]), ['middle', 'side'])
  assert.deepEqual(viewsOf([wave, scaled(0)]), ['middle', 'side'])
  assert.deepEqual(viewsOf([wave, scaled(-0.9)]), ['middle', 'side'])
  assert.deepEqual(viewsOf([wave, scaled(-1)]), ['side'])
  assert.deepEqual(viewsOf([scaled(0), scaled(0)]), ['middle'], 'silence')
})
