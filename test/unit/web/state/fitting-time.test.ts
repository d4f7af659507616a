import assert from 'node:assert/strict'
import test from 'node:test'
import { fittingTime } from '../../../../web/state/fitting-time.ts'

const NOW = new Date(2026, 10, 26, 0, 30)
const CASES: [Date, string][] = [
  [new Date(2026, 10, 26, 0, 5), 'today 00:05'],
  [new Date(2026, 10, 25, 23, 59), 'yesterday 23:59'],
  [new Date(2026, 10, 25, 0, 0), 'yesterday 00:00'],
  [new Date(2026, 10, 24, 23, 59), '24 Nov'],
  [new Date(2026, 0, 1, 0, 0), '1 Jan'],
  [new Date(2025, 11, 31, 23, 59), '31 Dec 2025'],
]

test('a time is as short as the day allows', () => {
  for (const [time, text] of CASES) assert.equal(fittingTime(time, NOW, 'en-GB'), text)
})
