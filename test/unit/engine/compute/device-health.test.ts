import assert from 'node:assert/strict'
import test from 'node:test'
import { DeviceHealth } from '../../../../engine/compute/device-health.ts'

test('a device is sick when it fails three jobs in a row, and that is said once', () => {
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
