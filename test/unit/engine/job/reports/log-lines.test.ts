import assert from 'node:assert/strict'
import test from 'node:test'
import { LogLines } from '../../../../../engine/job/reports/log-lines.ts'
import { LOG_LINES_MAX } from '../../../../../shared/messages.ts'

function logged(count: number) {
  const lines = new LogLines()
  for (let i = 0; i < count; i += 1) lines.add({ timestamp: `t${i}`, message: `line ${i}` })
  return lines
}

test('log lines come out once, in the order they were added', () => {
  const lines = logged(LOG_LINES_MAX - 1)
  assert.deepEqual(
    lines.take().map(({ message }) => message),
    Array.from({ length: LOG_LINES_MAX - 1 }, (_, i) => `line ${i}`),
  )
  assert.deepEqual(lines.take(), [])
})

test('if there are too many log lines the first and last are kept, with the number of the others', () => {
  const lines = logged(10_000).take()
  assert.equal(lines.length, LOG_LINES_MAX)
  assert.deepEqual(
    [lines[0], lines.at(-1)],
    [
      { timestamp: 't0', message: 'line 0' },
      { timestamp: 't9999', message: 'line 9999' },
    ],
  )
  assert.deepEqual(
    lines.slice(126, 129).map(({ message }) => message),
    ['line 126', '9745 lines are left out here.', 'line 9872'],
  )
})

test('a log line is cut to the length that an event allows', () => {
  const lines = new LogLines()
  lines.add({ timestamp: 't', message: 'x'.repeat(10_000) })
  assert.equal(lines.take()[0]?.message.length, 2_000)
})
