import assert from 'node:assert/strict'
import test from 'node:test'
import { DeviceHealth } from '../../../../engine/compute/device-health.ts'

test('a device that fails three jobs in a row is sick, which is reported once', () => {
  let sick = 0
  const health = new DeviceHealth(() => {
    sick += 1
  })
  health.jobFailed()
  health.jobFailed()
  health.computed()
  health.jobFailed()
  health.jobFailed()
  assert.equal(sick, 0)
  health.jobFailed()
  health.jobFailed()
  assert.equal(sick, 1)
})
