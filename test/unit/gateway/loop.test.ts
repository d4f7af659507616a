import assert from 'node:assert/strict'
import test from 'node:test'
import { createLogger } from '../../../shared/telemetry/log.ts'
import { Loop } from '../../../gateway/loop.ts'

const log = createLogger('test', 'silent')
const LONG_MS = 60_000

/** A loop that counts its turns and lets a test wait for them. */
function countedLoop({ fail = false, everyMs = LONG_MS } = {}) {
  let turns = 0
  let arrived = () => {}
  const loop = new Loop({
    name: 'test',
    everyMs,
    log,
    turn: async () => {
      turns += 1
      arrived()
      if (fail) throw new Error('no luck')
    },
  })
  const turn = async (count: number) => {
    while (turns < count)
      await new Promise<void>((resolve) => {
        arrived = resolve
      })
  }
  return { loop, turn, turns: () => turns }
}

test('a loop takes its first turn at once, and the next when it is woken', async () => {
  const { loop, turn, turns } = countedLoop()
  loop.start()
  await turn(1)
  loop.wake()
  await turn(2)
  await loop.stop()
  assert.equal(turns(), 2)
})

test('a loop that is woken in the middle of a turn takes another', async () => {
  const { loop, turn } = countedLoop()
  loop.start()
  loop.wake() // the first turn is running, so the loop is not resting yet
  await turn(2)
  await loop.stop()
})

test('a loop continues after a failed turn', async () => {
  const { loop, turn } = countedLoop({ fail: true, everyMs: 1 })
  loop.start()
  await turn(3)
  await loop.stop()
})

test('after a failure waking does not cause a busy loop', async () => {
  const { loop, turn, turns } = countedLoop({ fail: true })
  loop.start()
  await turn(1)
  loop.wake()
  await loop.stop()
  assert.equal(turns(), 1)
})

test('a loop that stops while it rests before its first turn takes none', async () => {
  const { loop, turns } = countedLoop()
  loop.start(LONG_MS)
  await loop.stop()
  assert.equal(turns(), 0)
})
