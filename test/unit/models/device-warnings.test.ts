import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceKind, deviceWarnings, warningsFor } from '../../../models/tensorflow/tensor.ts'

test('only a GPU build that computes on the CPU causes a warning', () => {
  assert.match(warningsFor('cpu', true).join(), /found none and computes on the CPU/)
  assert.deepEqual(warningsFor('cpu', false), [])
  assert.deepEqual(warningsFor('gpu', true), [])
  if (deviceKind() === 'gpu') assert.deepEqual(deviceWarnings(), [])
})
