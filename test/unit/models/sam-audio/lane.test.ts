import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planSlices } from '../../../../models/sam-audio/codec/slices.ts'
import type { Encoding } from '../../../../models/sam-audio/chunk-encoding.ts'
import { SamAudioLane } from '../../../../models/sam-audio/sam-audio-lane.ts'
import { tf } from '../../../../models/tensorflow/tensor.ts'

test('a lane waits for its encoding, flows through its strides, then takes what its slices decode to', () => {
  const before = tf.memory().numTensors
  const mixture = new Float32Array(9)
  const lane = new SamAudioLane({
    index: 0,
    channels: [mixture],
    request: { prompt: '', spans: [], acceleration: 'fast', seed: 0 },
    mixture,
    hop: 2,
    encoding: { frames: 5, left: 2 } as Encoding,
    previous: undefined,
    slices: planSlices(5, 2, 1),
  })
  assert.deepEqual([lane.frames, lane.steps], [5, 12])
  for (const left of [1, 0]) {
    assert.deepEqual([lane.leftToEncode, lane.stride], [left, undefined])
    assert.throws(() => lane.state, /begins when its chunk is encoded/)
    lane.endEncodingStep()
  }
  assert.equal(lane.leftToEncode, undefined)
  const flow = { base: tf.zeros([1, 5, 2]), memory: tf.zeros([1, 1, 2]) }
  lane.begin(flow, lane.entered(tf.zeros([1, 5, 4])), undefined)
  for (let i = 0; i < 8; i += 1) {
    assert.deepEqual(lane.stride, { time: i / 8, step: 1 / 8 })
    lane.advance(lane.entered(tf.zeros([1, 5, 4])))
  }
  assert.equal(lane.stride, undefined)
  assert.deepEqual(lane.slice, { from: 0, to: 4, start: 0, end: 3 })
  lane.append(Float32Array.of(1, 2, 3, 4, 5, 6), Float32Array.of(-1, -2, -3, -4, -5, -6))
  assert.deepEqual(lane.slice, { from: 1, to: 5, start: 3, end: 5 })
  lane.append(Float32Array.of(7, 8, 9, 10), Float32Array.of(-7, -8, -9, -10))
  assert.throws(() => lane.slice, /cannot be stepped/)
  assert.deepEqual([...lane.wave('target')], [1, 2, 3, 4, 5, 6, 7, 8, 9])
  assert.deepEqual([...lane.wave('residual')], [-1, -2, -3, -4, -5, -6, -7, -8, -9])
  assert.equal(lane.stepsDone, lane.steps)
  lane.dispose()
  assert.equal(tf.memory().numTensors, before)
})
