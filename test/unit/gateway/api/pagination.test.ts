import assert from 'node:assert/strict'
import test from 'node:test'
import {
  cursorOf,
  flagOf,
  intervalMsOf,
  limitOf,
  pageStartOf,
} from '../../../../gateway/api/pagination.ts'
import { fc } from '../../../support/basics/property.ts'

test('a flag is true only if it says so', () => {
  for (const value of ['true', '1']) assert.equal(flagOf(value), true)
  for (const value of ['false', '', 'maybe', 'TRUE', undefined, ['true', 'true']]) {
    assert.equal(flagOf(value), false)
  }
})

test('an interval is clamped to 1 to 10 seconds; nonsense becomes 2', () => {
  const cases = { '0.2': 1, '1': 1, '2.5': 2.5, '10': 10, '11': 10, '-3': 1, Infinity: 10 }
  for (const [value, seconds] of Object.entries(cases)) {
    assert.equal(intervalMsOf(value), seconds * 1_000, value)
  }
  for (const value of ['abc', '', ' ', undefined, ['3', '4'], '3s']) {
    assert.equal(intervalMsOf(value), 2_000, String(value))
  }
})

test('whatever the input, an interval and a limit are within their ranges', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double().map(String)), (value) => {
      const [interval, limit] = [intervalMsOf(value), limitOf(value)]
      assert.ok(interval >= 1_000 && interval <= 10_000)
      assert.ok(Number.isInteger(limit) && limit >= 1 && limit <= 100)
    }),
  )
})

test('a cursor leads back to where it was made; nonsense leads to the first page', () => {
  const start = { created_at: '2026-01-02T03:04:05.678Z', id: 'req_1' }
  assert.deepEqual(pageStartOf(cursorOf(start)), start)
  const cursor = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url')
  const nonsense = [
    '',
    'x',
    '%',
    'W10',
    cursor([1, 2]),
    undefined,
    cursor(['2026-01-02T03:04:05.678Z', 'a\0']),
    cursor(['\0', 'req_1']),
  ]
  for (const cursor of nonsense) assert.equal(pageStartOf(cursor), undefined)
})
