import assert from 'node:assert/strict'
import test from 'node:test'
import { assertNotTooLong } from '../../../shared/media-limits.ts'

const HOURS_2 = 7_200
const refused = (message: RegExp) => ({ code: 'MEDIA_TOO_LONG', message })

test('media at the rates of ordinary recordings may have the full length', () => {
  for (const [sampleRate, channels] of [
    [192_000, 2],
    [48_000, 8],
    [44_100, 2],
  ] as const) {
    assertNotTooLong(HOURS_2, HOURS_2, { sampleRate, channels })
    assert.throws(
      () => assertNotTooLong(HOURS_2 + 1, HOURS_2, { sampleRate, channels }),
      refused(/7201.0 s or more; the limit is 7200 s\.$/),
    )
  }
})

test('media at a higher rate may only be correspondingly shorter', () => {
  const sound = { sampleRate: 768_000, channels: 8 }
  assertNotTooLong(450, HOURS_2, sound)
  assert.throws(
    () => assertNotTooLong(451, HOURS_2, sound),
    refused(/the limit is 450\.0 s for 8 channels at 768000 Hz, and 7200 s up to 384000 samples/),
  )
})
