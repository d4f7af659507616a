import assert from 'node:assert/strict'
import test from 'node:test'
import { ScratchRoom } from '../../../../engine/job/scratch-room.ts'
import { createLogger } from '../../../../shared/telemetry/log.ts'

test('jobs wait from when the disk is full until it has space', async () => {
  let bytes = 10
  const free = async () => {
    if (bytes < 0) throw new Error('the folder is gone')
    return bytes
  }
  const log = createLogger('test', 'silent')
  const room = new ScratchRoom({ scratchFolder: '/scratch', scratchFreeBytesMin: 10, log, free })
  const current = () => room.current
  assert.equal(await room.isFull(), false)
  assert.equal(current(), null)
  bytes = 9
  assert.equal(await room.isFull(), true)
  const waiting = current()
  assert.ok(waiting)
  bytes = -1
  assert.equal(await room.isFull(), true)
  assert.equal(current(), waiting, 'one wait lasts as long as the trouble')
  bytes = 10
  assert.equal(await room.isFull(), false)
  await waiting
  assert.equal(current(), null)
})
