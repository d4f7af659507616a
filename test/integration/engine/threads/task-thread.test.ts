/** A thread answers tasks, passes on errors, and is replaced after it has exited. */

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { isDiskFull } from '../../../../engine/media/ffmpeg.ts'
import { memoryOf, TaskThread, ThreadLostError } from '../../../../engine/threads/task-thread.ts'
import { noise } from '../../../support/media/signals.ts'
import type { EchoTask } from './echo-thread.ts'

const PROGRAM = new URL('./echo-thread.ts', import.meta.url)

function start(t: TestContext): TaskThread<EchoTask> {
  const thread = new TaskThread<EchoTask>(PROGRAM)
  t.after(() => thread.stop())
  return thread
}

test('memory is transferred to the thread and back, once for channels that share it', async (t) => {
  const thread = start(t)
  const both = noise(1, 20)
  const planes = [both.subarray(0, 10), both.subarray(10)]
  const expected = planes.map((plane) => [...plane])
  const answer = await thread.call<Float32Array[]>({ planes }, memoryOf(planes))
  assert.deepEqual(
    answer.map((plane) => [...plane]),
    expected,
  )
  assert.equal(both.length, 0)
})

test('errors keep their message and code, so a full disk is still recognized', async (t) => {
  const thread = start(t)
  for (const [code, isFull] of [
    ['ENOSPC', true],
    [-28, true], // FFmpeg's code
    ['EACCES', false],
    [undefined, false],
  ] as const) {
    await assert.rejects(thread.call({ code }), (error: Error) => {
      assert.equal(error.message, 'refused')
      assert.equal(isDiskFull(error), isFull)
      return true
    })
  }
})

test('a thread that exits fails its open tasks, and a new one answers the next', async (t) => {
  const thread = start(t)
  const ended = [thread.call('end'), thread.call({ planes: [] })]
  for (const task of ended) await assert.rejects(task, ThreadLostError)
  assert.deepEqual(await thread.call({ planes: [] }), [])
})
