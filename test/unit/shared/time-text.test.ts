import assert from 'node:assert/strict'
import test from 'node:test'
import { timeText } from '../../../shared/time-text.ts'

test('a time has minutes, hours if there are any, and the requested number of decimals', () => {
  assert.equal(timeText(5), '0:05')
  assert.equal(timeText(65.25, 1), '1:05.3')
  assert.equal(timeText(59.96, 1), '1:00.0', 'no 60 seconds')
  assert.equal(timeText(3_605), '1:00:05')
})
